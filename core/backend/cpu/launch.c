/* SPDX-License-Identifier: MIT
 *
 * Launches of kernels and of graphs. A launch is an operation of its stream; so is a graph's replay, which
 * runs the operations of its nodes. */
#include "core/backend/cpu/objects.h"

#include <assert.h>
#include <string.h>

/* ---- kernels --------------------------------------------------------------------------------------------------- */

static mw_status check_cooperative(const cpu_grid *grid, const char *name, mw_error *err) {
  if (grid->blocks <= CPU_COOP_MOST) return MW_OK;
  return mw_fail(err, MW_INVALID,
                 "kernel '%s': too many blocks for a cooperative launch: %llu, on the cpu device %d at most", name,
                 grid->blocks, CPU_COOP_MOST);
}

/* A launch's run over its grid. orders: NULL, or it is run in one of several orders. */
typedef struct running {
  cpu_device *device;
  const cpu_op *op;
  cpu_grid *grid;
  cpu_worker *me;
  const cpu_orders *orders;
  mw_error *err;
  mw_status status;
} running;

static const char *name_of(const running *r) {
  return r->op->launch.kernel->base.name;
}

/* Threads, each with a stack of two pages at least; side by side, where none need wait for another. */
enum { MOST_TOGETHER = 1 << 16, MOST_BESIDE = 1 << 13 };

static unsigned threads_of(const cpu_grid *grid) {
  return grid->abi.block.x * grid->abi.block.y * grid->abi.block.z;
}

/* In the order of a seed: all blocks side by side where they wait, else as many as that takes few stacks. */
static bool run_interleaved(running *r) {
  cpu_grid *grid = r->grid;
  const bool all = r->op->launch.cooperative;
  if (!r->orders) return false;
  if (all && (r->status = check_cooperative(grid, name_of(r), r->err))) return true;
  const unsigned room = (grid->unit->waits ? MOST_TOGETHER : MOST_BESIDE) / threads_of(grid);
  unsigned long long beside = all || grid->blocks < room ? grid->blocks : room;
  if (beside > CPU_COOP_MOST) beside = CPU_COOP_MOST;
  cpu_interleave_run(&r->device->crew, grid, r->me, cpu_orders_seed(r->orders), (unsigned)beside, all);
  return true;
}

static bool run_cooperative(running *r) {
  if (!r->op->launch.cooperative) return false;
  r->status = check_cooperative(r->grid, name_of(r), r->err);
  if (!r->status && !cpu_coop_run(&r->device->coop, r->grid, r->me))
    r->status =
        mw_fail(r->err, MW_NO_MEMORY, "kernel '%s': the system has no threads for a cooperative launch of %llu blocks",
                name_of(r), r->grid->blocks);
  return true;
}

/* Where a thread waits for others, they may be of any block: a barrier of the grid made of atomics. A GPU runs as many
 * blocks at once; above that number, only what waits for earlier blocks ends. */
static bool run_together(running *r) {
  const cpu_grid *grid = r->grid;
  return grid->unit->waits && grid->blocks > 1 && grid->blocks <= CPU_COOP_MOST &&
         grid->blocks * threads_of(grid) <= MOST_TOGETHER && cpu_coop_run(&r->device->coop, r->grid, r->me);
}

static bool run_shuffled(running *r) {
  if (!r->device->checker || !cpu_checker_shuffles(r->device->checker)) return false;
  cpu_checker_run(r->device->checker, r->grid, r->me);
  return true;
}

static bool run_pooled(running *r) {
  cpu_pool_run(&r->device->pool, r->grid, r->me);
  return true;
}

/* The ways to run a grid: the first that returns true has run it, or failed with a status. */
static bool (*const ways[])(running *) = {run_interleaved, run_cooperative, run_together, run_shuffled, run_pooled};

/* ---- in check mode --------------------------------------------------------------------------------------------- */

typedef struct checked {
  cpu_checked_launch launch;
  cpu_launched at;
} checked;

static void locate(void *owner, uintptr_t address, mw_object *out) {
  cpu_locate(&((checked *)owner)->at, address, out);
}

static void locate_fault(void *owner, const cpu_fault *fault, mw_object *out) {
  cpu_locate_fault(&((checked *)owner)->at, fault, out);
}

static void check_begin(checked *c, cpu_device *device, cpu_kernel *kernel, cpu_grid *grid, const cpu_orders *orders) {
  *c = (checked){.at = {device, kernel, grid}};
  c->launch =
      (cpu_checked_launch){.kernel = kernel->base.name, .owner = c, .locate = locate, .locate_fault = locate_fault};
  c->launch.module = cpu_module_source(kernel->base.module, &c->launch.source_name, &c->launch.source_text);
  c->launch.counters = kernel->owner->flavor == CPU_COUNT;
  c->launch.beside = orders != NULL;
  c->launch.seed = orders ? cpu_orders_seed(orders) : 0;
  cpu_checker_begin(device->checker, grid, &c->launch);
  if (kernel->unit->needs_fibers == MW_FIBERS_TO_COUNT &&
      (kernel->is_short || !cpu_checker_has_counters(device->checker)))
    cpu_grid_leave_fibers(grid);
}

static cpu_found array_of(const checked *c, const mw_param *param) {
  uintptr_t value;
  memcpy(&value, (const char *)c->at.grid->abi.args + param->offset, sizeof value);
  const cpu_found array = cpu_memory_nearest(c->at.device->memory, value);
  return cpu_found_distance(&array, value) == 0 ? array : (cpu_found){0};
}

/* Arrays that the kernel may write and has not even read. */
static void note_unused(const checked *c) {
  cpu_checker *checker = c->at.device->checker;
  const mw_kernel *kernel = &c->at.kernel->base;
  for (int i = 0; i < kernel->nparams; i++) {
    const mw_param *param = &kernel->params[i];
    const cpu_found array = param->pointer && !param->is_const ? array_of(c, param) : (cpu_found){0};
    if (!array.found || cpu_checker_uses(checker, array.start, array.bytes)) continue;
    mw_object object = {.kind = "array", .parameter = i + 1};
    snprintf(object.name, sizeof object.name, "%s", param->name);
    snprintf(object.text, sizeof object.text,
             "parameter %d '%s', an array of %zu bytes that the launch does not access", i + 1, param->name,
             array.bytes);
    cpu_checker_unused(checker, &object);
  }
}

static void check_end(const checked *c, cpu_grid *grid, cpu_orders *orders, mw_status status) {
  const bool whole = status == MW_OK && atomic_load(&grid->stop.why) == CPU_GOING;
  if (whole && !c->launch.seed) note_unused(c);
  if (whole && orders) cpu_orders_look(orders, &c->at);
  c->at.kernel->is_short = cpu_checker_is_short(c->at.device->checker);
  cpu_checker_end(c->at.device->checker, grid);
}

static void remember(cpu_kernel *kernel, double before, double seconds) {
  atomic_store_explicit(&kernel->block_seconds, before > 0 ? 0.5 * (before + seconds) : seconds, memory_order_relaxed);
}

/* What a grid that has been run comes to. */
static mw_status outcome_of(const running *r, double before) {
  cpu_kernel *kernel = r->op->launch.kernel;
  const int why = atomic_load(&r->grid->stop.why);
  if (r->status != MW_OK) return r->status;
  if (why == CPU_STOP_INTERRUPT) return mw_fail(r->err, MW_INTERRUPTED, "interrupted");
  if (why == CPU_STOP_FAULT) return cpu_explain(r->device, r->me, kernel, r->grid, r->err);
  if (!r->op->launch.cooperative) remember(kernel, before, r->grid->block_seconds);
  if (r->device->checker) return MW_OK; /* it has judged each access */
  if (!atomic_load_explicit(&r->device->memory->redzones, memory_order_relaxed)) return MW_OK;
  return cpu_explain_redzone(r->device, r->me, kernel, r->grid, r->err);
}

/* By the kernel's own engine, or in one of several orders. */
static mw_status run_own(const cpu_op *op, cpu_stream *stream, cpu_worker *me, cpu_orders *orders, mw_error *err) {
  cpu_device *device = cpu_device_of(&stream->base);
  cpu_kernel *kernel = op->launch.kernel;
  const double before = atomic_load_explicit(&kernel->block_seconds, memory_order_relaxed);
  cpu_grid grid;
  checked checking;
  running r = {device, op, &grid, me, orders, err, MW_OK};
  cpu_grid_begin(&grid, &op->launch.abi, kernel->unit, kernel->owner->table, stream->base.priority);
  grid.abi.args = op->args;
  grid.block_seconds = before;
  grid.cooperative = op->launch.cooperative;
  if (device->checker) check_begin(&checking, device, kernel, &grid, orders);
  for (int i = 0; !ways[i](&r);) i++;
  if (device->checker) check_end(&checking, &grid, orders, r.status);
  return outcome_of(&r, before);
}

/* What it prints it prints in the first order only. */
static mw_status run_in_orders(const cpu_op *op, cpu_stream *stream, cpu_worker *me, mw_error *err) {
  cpu_orders *orders = cpu_orders_begin(cpu_device_of(&stream->base), op->launch.kernel->base.name, err);
  if (!orders) return err->status;
  mw_status status = MW_OK;
  while (status == MW_OK && cpu_orders_next(orders)) {
    me->mute = cpu_orders_seed(orders) != 0;
    status = run_own(op, stream, me, orders, err);
  }
  me->mute = false;
  return cpu_orders_end(orders, status, err);
}

static mw_status run_in_mode(const cpu_op *op, cpu_stream *stream, cpu_worker *me, mw_error *err) {
  cpu_device *device = cpu_device_of(&stream->base);
  if (device->checker && cpu_checker_mode(device->checker)->orders) return run_in_orders(op, stream, me, err);
  if (!device->comparer) return run_own(op, stream, me, NULL, err);
  mw_grid abi = op->launch.abi;
  abi.args = op->args;
  cpu_comparison *comparison = cpu_compare_begin(device, op->launch.kernel, &abi, op->launch.cooperative);
  const mw_status status = run_own(op, stream, me, NULL, err);
  return comparison ? cpu_compare_end(comparison, me, status, err) : status;
}

static mw_status run_launch(const cpu_op *op, cpu_stream *stream, cpu_worker *me, mw_error *err) {
  cpu_worker_launches(me, op->launch.kernel->base.name);
  const mw_status status = run_in_mode(op, stream, me, err);
  cpu_worker_launches(me, NULL);
  return status;
}

static void label_launch(const cpu_op *op, FILE *out) {
  const mw_dim3 g = op->launch.abi.grid, b = op->launch.abi.block;
  fprintf(out, "%s\\ngrid %u x %u x %u, block %u x %u x %u", op->launch.kernel->base.name, g.x, g.y, g.z, b.x, b.y,
          b.z);
}

static const cpu_op_type launch_op = {.run = run_launch, .label = label_launch, .launch = true};

static void set_launch(cpu_op *op, const mw_launch *launch) {
  const uint32_t *g = launch->grid, *b = launch->block;
  op->launch.kernel = (cpu_kernel *)launch->kernel;
  op->launch.abi = (mw_grid){NULL, {g[0], g[1], g[2]}, {b[0], b[1], b[2]}, (unsigned)launch->shared};
  op->launch.cooperative = launch->cooperative;
}

mw_status cpu_launch(mw_stream *base, const mw_launch *launch, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  mw_status status = cpu_stream_take_error(stream, err);
  if (status != MW_OK) return status;
  cpu_op op;
  op.type = &launch_op;
  op.args = launch->args;
  op.args_bytes = launch->kernel->args_bytes;
  set_launch(&op, launch);
  return cpu_stream_submit(stream, &op, err);
}

/* ---- graphs ---------------------------------------------------------------------------------------------------- */

/* What another device's stream was given in the capture runs as that device's. */
static mw_status run_graph(const cpu_op *op, cpu_stream *stream, cpu_worker *me, mw_error *err) {
  mw_status status = MW_OK;
  for (int i = 0; i < op->graph->count && status == MW_OK; i++) {
    const cpu_node *node = &op->graph->nodes[i];
    cpu_stream *as = node->device == stream->base.device ? stream : (cpu_stream *)node->device->main;
    status = node->op.type->run(&node->op, as, me, err);
  }
  return status;
}

static void hold_graph(const cpu_op *op) {
  cpu_graph_hold(op->graph);
}

static void release_graph(const cpu_op *op) {
  cpu_graph_release(&op->graph->base);
}

static void label_graph(const cpu_op *op, FILE *out) {
  (void)op;
  fprintf(out, "graph");
}

static const cpu_op_type graph_op = {
    .run = run_graph, .hold = hold_graph, .release = release_graph, .label = label_graph};

mw_status cpu_graph_launch(mw_graph *graph, mw_stream *base, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  mw_status status = cpu_stream_take_error(stream, err);
  cpu_op op = {.type = &graph_op, .graph = (cpu_graph *)graph};
  return status == MW_OK ? cpu_stream_submit(stream, &op, err) : status;
}

mw_status cpu_graph_update(mw_graph *base, int index, const mw_launch *launch, mw_error *err) {
  cpu_graph *graph = (cpu_graph *)base;
  cpu_node *node = cpu_graph_nth_launch(graph, index);
  assert(node && node->op.launch.kernel == (cpu_kernel *)launch->kernel);
  mw_status status = MW_OK;
  if (atomic_load(&graph->refs) > 1) status = cpu_streams_drain((cpu_device *)base->device, false, err);
  if (status != MW_OK) return status;
  set_launch(&node->op, launch);
  if (node->op.args_bytes) memcpy((void *)node->op.args, launch->args, node->op.args_bytes);
  return MW_OK;
}
