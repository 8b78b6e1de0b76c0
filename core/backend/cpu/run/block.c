/* SPDX-License-Identifier: MIT
 *
 * A block in the fiber engine: the barriers its threads meet at, their exits, and what units call. */
#include "core/backend/cpu/run/machine.h"

#include "core/base/clock.h"
#include "core/base/memory.h"

#include <stdio.h>
#include <string.h>

/* ---- barriers -------------------------------------------------------------------------------------------------- */

static const char *const barrier_names[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and",
                                            "__syncthreads_or"};
static const char by_count[] = "a GPU counts arrivals and may go on";

static bool same_place(const char *a, int a_line, const char *b, int b_line) {
  return a_line == b_line && (a == b || strcmp(a, b) == 0);
}

/* The first thread that has not exited, or the last that waits elsewhere than `unlike`. */
static const cpu_lane *waiting_lane(const cpu_block_fibers *fibers, const cpu_lane *unlike) {
  for (unsigned k = 0; k < fibers->threads; k++) {
    unsigned rank = unlike ? fibers->threads - 1 - k : k;
    const cpu_warp *warp = &fibers->warps[rank / MW_CUDA_WARP];
    const cpu_lane *lane = &warp->lanes[rank % MW_CUDA_WARP];
    if (warp->exited >> rank % MW_CUDA_WARP & 1) continue;
    if (!unlike || lane->what != unlike->what || lane->column != unlike->column ||
        !same_place(lane->file, lane->line, unlike->file, unlike->line))
      return lane;
  }
  return NULL;
}

/* Those of one set, which lie at so many bytes in every warp, can run again. */
static void release(cpu_block_fibers *fibers, size_t set) {
  for (unsigned w = 0; w * MW_CUDA_WARP < fibers->threads; w++) {
    uint32_t *lanes = (uint32_t *)((char *)&fibers->warps[w] + set);
    cpu_fibers_wake(fibers, w, *lanes);
    *lanes = 0;
  }
}

/* A thread that is at the barrier, of the set that lies at so many bytes in a warp, and one that has exited: legal since
 * Volta. */
static void report_missed(cpu_block_fibers *fibers, size_t set) {
  cpu_breach breach = {.verbs = {"wait", "exit"}};
  for (unsigned w = 0; w * MW_CUDA_WARP < fibers->threads; w++) {
    const cpu_warp *warp = &fibers->warps[w];
    const uint32_t waiting = *(const uint32_t *)((const char *)warp + set);
    if (!breach.lanes[0] && waiting) breach.lanes[0] = &warp->lanes[__builtin_ctz(waiting)];
    if (!breach.lanes[1] && warp->exited) breach.lanes[1] = &warp->lanes[__builtin_ctz(warp->exited)];
  }
  breach.text = breach.lanes[0]->what;
  fibers->grid->observer->breach(fibers, &breach);
}

/* CUDA does not permit it; GPUs count who arrives, at whichever barrier. */
static void report_apart(cpu_block_fibers *fibers) {
  const cpu_lane *first = waiting_lane(fibers, NULL);
  const cpu_breach breach = {.apart = true,
                             .verbs = {"wait", "wait"},
                             .lanes = {first, waiting_lane(fibers, first)},
                             .text = first->what,
                             .remark = by_count};
  fibers->grid->observer->breach(fibers, &breach);
}

/* At one barrier, or at several of the same name. */
static bool all_wait(const cpu_block_fibers *fibers) {
  return fibers->arrived && fibers->arrived + fibers->apart == fibers->live;
}

/* In check mode that several are a finding is enough. */
static bool is_complete(const cpu_block_fibers *fibers) {
  return all_wait(fibers) && (!fibers->apart || fibers->grid->observer);
}

static void release_barrier(cpu_block_fibers *fibers) {
  const unsigned truths = fibers->truths;
  fibers->result = fibers->op == MW_BARRIER_COUNT ? (int)truths
                   : fibers->op == MW_BARRIER_AND ? truths == fibers->arrived + fibers->apart
                                                  : truths > 0;
  if (fibers->apart) report_apart(fibers);
  fibers->arrived = fibers->apart = fibers->truths = 0;
  if (fibers->grid->strict && fibers->live < fibers->threads) report_missed(fibers, offsetof(cpu_warp, at_barrier));
  if (fibers->grid->observer) fibers->grid->observer->barrier(fibers);
  release(fibers, offsetof(cpu_warp, at_barrier));
}

/* Whether it is the barrier of the first who arrived. */
static bool joins(cpu_block_fibers *fibers, enum mw_barrier_op op, const char *file, int line, int column) {
  if (!fibers->arrived) {
    fibers->op = op;
    fibers->file = file;
    fibers->line = line;
    fibers->column = column;
    return true;
  }
  return fibers->op == op && fibers->column == column && same_place(fibers->file, fibers->line, file, line);
}

static int barrier(enum mw_barrier_op op, int value, const char *file, int line, int column) {
  cpu_block_fibers *fibers = cpu_current->fibers;
  cpu_fibers_stop(fibers, offsetof(cpu_warp, at_barrier), barrier_names[op], file, line)->column = column;
  if (joins(fibers, op, file, line, column))
    fibers->arrived++;
  else if (fibers->op == op)
    fibers->apart++;
  fibers->truths += value != 0;
  if (is_complete(fibers)) {
    release_barrier(fibers);
    cpu_fibers_go_on(fibers, CPU_WARPS);
  } else {
    cpu_fibers_wait(fibers);
  }
  return fibers->result;
}

/* ---- named barriers: PTX ISA, "barrier" ------------------------------------------------------------------------ */

static bool named_complete(const cpu_block_fibers *fibers, const cpu_named *named) {
  return named->arrived && named->arrived == (named->count ? named->count : fibers->live);
}

static void release_named(cpu_block_fibers *fibers, unsigned id) {
  fibers->named[id].arrived = 0;
  for (unsigned w = 0; w * MW_CUDA_WARP < fibers->threads; w++) {
    cpu_warp *warp = &fibers->warps[w];
    uint32_t free = 0;
    for (uint32_t rest = warp->at_named; rest; rest &= rest - 1)
      if (warp->lanes[__builtin_ctz(rest)].named == id) free |= rest & -rest;
    warp->at_named &= ~free;
    if (fibers->grid->observer)
      fibers->grid->observer->named(fibers, w, free, (w + 1) * MW_CUDA_WARP >= fibers->threads);
    cpu_fibers_wake(fibers, w, free);
  }
}

static void settle_named(cpu_block_fibers *fibers) {
  for (unsigned id = 0; id < CPU_NAMED; id++)
    if (named_complete(fibers, &fibers->named[id])) release_named(fibers, id);
}

/* Ends the block for what the running lane has stopped at, and makes a finding of it. */
__attribute__((noreturn, format(printf, 3, 4))) static void refuse(cpu_block_fibers *fibers, const char *remedy,
                                                                   const char *format, ...) {
  char text[sizeof fibers->worker->fault.text];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const cpu_breach breach = {.lanes = {cpu_fibers_lane(fibers)}, .verbs = {"wait"}, .text = text, .remedy = remedy};
  if (fibers->grid->observer) fibers->grid->observer->breach(fibers, &breach);
  cpu_fibers_abandon(fibers, "%s", text);
}

static void check_named(cpu_block_fibers *fibers, unsigned id, unsigned count, const char *what, const char *file,
                        int line) {
  static const char remedy[] = "let whole warps meet at one of the barriers, all with the same number of threads";
  if (id >= CPU_NAMED)
    refuse(fibers, remedy, "%s at %s:%d: barrier %u, there are 0 to %d", what, file, line, id, CPU_NAMED - 1);
  if (count % MW_CUDA_WARP)
    refuse(fibers, remedy, "%s at %s:%d: %u threads, wanted a multiple of %d", what, file, line, count, MW_CUDA_WARP);
  const cpu_named *named = &fibers->named[id];
  if (named->arrived && named->count != count)
    refuse(fibers, remedy, "%s at %s:%d: %u threads meet at barrier %u, where others wait for %u", what, file, line,
           count, id, named->count);
}

static void named_barrier(unsigned id, unsigned count, const char *what, const char *file, int line) {
  cpu_block_fibers *fibers = cpu_current->fibers;
  cpu_fibers_stop(fibers, offsetof(cpu_warp, at_named), what, file, line)->named = id;
  check_named(fibers, id, count, what, file, line);
  fibers->any_named = true;
  fibers->named[id].count = count;
  fibers->named[id].arrived++;
  if (named_complete(fibers, &fibers->named[id]))
    release_named(fibers, id);
  else
    cpu_fibers_wait(fibers);
}

/* ---- phases of a cuda::barrier, whose arrivals the unit counts ------------------------------------------------- */

static void phase_wait(const void *barrier, const char *file, int line) {
  cpu_block_fibers *fibers = cpu_current->fibers;
  cpu_fibers_stop(fibers, offsetof(cpu_warp, at_phase), "cuda::barrier", file, line)->phase = barrier;
  cpu_fibers_wait(fibers);
}

/* For check mode a barrier of the block: it may miss a race of a thread that has arrived and does not wait yet. */
static void phase_end(const void *barrier) {
  cpu_block_fibers *fibers = cpu_current->fibers;
  if (fibers->grid->observer) fibers->grid->observer->barrier(fibers);
  for (unsigned w = 0; w * MW_CUDA_WARP < fibers->threads; w++) {
    cpu_warp *warp = &fibers->warps[w];
    uint32_t free = 0;
    for (uint32_t rest = warp->at_phase; rest; rest &= rest - 1)
      if (warp->lanes[__builtin_ctz(rest)].phase == barrier) free |= rest & -rest;
    warp->at_phase &= ~free;
    cpu_fibers_wake(fibers, w, free);
  }
}

/* ---- the grid barrier ------------------------------------------------------------------------------------------ */

static const char not_cooperative[] =
    "grid sync at %s:%d outside a cooperative launch: prepare it with cooperative = true";
static const char blocks_apart[] = "%s: this block waits at %s:%d (grid sync) while %u of %u blocks have ended";

/* Of a block that does not run in fibers. */
__attribute__((noreturn, format(printf, 2, 3))) static void break_rule(cpu_fault_kind kind, const char *format, ...) {
  cpu_worker *worker = cpu_current;
  va_list args;
  worker->fault = (cpu_fault){.kind = kind};
  cpu_fault_place(worker);
  va_start(args, format);
  vsnprintf(worker->fault.text, sizeof worker->fault.text, format, args);
  va_end(args);
  worker->busy = 0;
  cpu_fault_leave(worker);
}

/* Waits for the other blocks, each on an OS thread of its own. NULL: they came; else the problem. */
static const char *await_blocks(cpu_grid *grid) {
  cpu_grid_barrier *grid_barrier = grid->grid_barrier;
  const char *wrong = NULL;
  pthread_mutex_lock(&grid_barrier->lock);
  unsigned long turn = grid_barrier->turn;
  if (++grid_barrier->waiting == grid_barrier->blocks) {
    grid_barrier->waiting = 0;
    grid_barrier->turn++;
    if (grid->observer) grid->observer->grid(grid);
    pthread_cond_broadcast(&grid_barrier->changed);
  }
  while (turn == grid_barrier->turn && !wrong) {
    if (grid_barrier->waiting + grid_barrier->finished == grid_barrier->blocks)
      wrong = "grid barrier divergence";
    else if (cpu_stopped(&grid->stop))
      wrong = "";
    else
      cpu_wait_briefly(&grid_barrier->changed, &grid_barrier->lock, 0.02);
  }
  pthread_mutex_unlock(&grid_barrier->lock);
  return wrong;
}

/* All blocks that wait say so at once: the first one is enough. */
static void give_up(cpu_block_fibers *fibers, const char *wrong) {
  cpu_grid_barrier *grid_barrier = fibers->grid->grid_barrier;
  if (!*wrong || (fibers->grid->observer && grid_barrier->told)) {
    fibers->worker->busy = 0;
    fibers->worker->fault.kind = CPU_FAULT_ABORTED;
    fibers->abandoned = true;
    cpu_fiber_switch(&cpu_fibers_lane(fibers)->fiber, &fibers->worker->home);
  }
  if (fibers->grid->observer) grid_barrier->told = true; /* it has its turn */
  refuse(fibers, "let all blocks reach the same barriers of the grid", blocks_apart, wrong, fibers->grid_file,
         fibers->grid_line, grid_barrier->finished, grid_barrier->blocks);
}

static const char *meet_blocks(cpu_block_fibers *fibers) {
  cpu_grid *grid = fibers->grid;
  if (grid->interleave) return cpu_preempt_at_grid(fibers);
  if (grid->observer) grid->observer->give_turn(grid, fibers->worker);
  const char *wrong = await_blocks(grid);
  if (grid->observer) grid->observer->take_turn(grid, fibers->worker);
  return wrong;
}

static void meet_all(cpu_block_fibers *fibers) {
  cpu_grid *grid = fibers->grid;
  fibers->worker->busy = 1;
  if (grid->strict && fibers->live < fibers->threads) report_missed(fibers, offsetof(cpu_warp, at_grid));
  const char *wrong = meet_blocks(fibers);
  if (grid->observer) grid->observer->barrier(fibers);
  if (wrong) give_up(fibers, wrong);
  fibers->worker->busy = 0;
  fibers->at_grid = 0;
  release(fibers, offsetof(cpu_warp, at_grid));
}

/* In the split engine all threads of the block are there. */
static void meet_as_block(cpu_grid *grid, const char *file, int line) {
  const cpu_grid_barrier *with = grid->grid_barrier;
  if (!with) break_rule(CPU_FAULT_RULE, not_cooperative, file, line);
  cpu_current->busy = 1;
  const char *wrong = await_blocks(grid);
  if (wrong)
    break_rule(*wrong ? CPU_FAULT_RULE : CPU_FAULT_ABORTED, blocks_apart, wrong, file, line, with->finished,
               with->blocks);
  cpu_current->busy = 0;
}

static void grid_barrier(const char *file, int line) {
  cpu_block_fibers *fibers = cpu_current->fibers;
  if (!cpu_current->in_fibers) {
    meet_as_block(cpu_current->grid, file, line);
    return;
  }
  cpu_fibers_stop(fibers, offsetof(cpu_warp, at_grid), "grid sync", file, line);
  if (!fibers->grid->grid_barrier) refuse(fibers, "launch it with cooperative = true", not_cooperative, file, line);
  fibers->grid_file = file;
  fibers->grid_line = line;
  if (++fibers->at_grid == fibers->live)
    meet_all(fibers);
  else
    cpu_fibers_wait(fibers);
}

void cpu_grid_barrier_leave(cpu_grid_barrier *grid_barrier) {
  pthread_mutex_lock(&grid_barrier->lock);
  grid_barrier->finished++;
  pthread_cond_broadcast(&grid_barrier->changed);
  pthread_mutex_unlock(&grid_barrier->lock);
}

/* ---- exits ----------------------------------------------------------------------------------------------------- */

/* The others may have waited for this one only: exited threads do not count. */
static void exit_lane(cpu_block_fibers *fibers) {
  unsigned w = fibers->current / MW_CUDA_WARP;
  uint32_t bit = 1u << fibers->current % MW_CUDA_WARP;
  fibers->warps[w].ready &= ~bit;
  fibers->warps[w].exited |= bit;
  cpu_fibers_lane(fibers)->line = 0;
  fibers->live--;
  if (fibers->warps[w].ngroups) cpu_warp_settle(fibers, w);
  if (is_complete(fibers)) release_barrier(fibers);
  if (fibers->any_named) settle_named(fibers);
  if (fibers->at_grid && fibers->at_grid == fibers->live) meet_all(fibers);
  cpu_fibers_wait(fibers);
}

/* A fiber outlives its block: it runs the same CUDA thread of the next one. A kernel may have overwritten this frame,
 * so after it everything comes from the worker. */
static void fiber_main(void *argument) {
  cpu_fiber_started(&((cpu_lane *)argument)->fiber);
  for (;;) {
    cpu_grid *grid = cpu_current->fibers->grid;
    grid->unit->thread(&grid->abi);
    exit_lane(cpu_current->fibers);
  }
}

/* ---- a block --------------------------------------------------------------------------------------------------- */

mw_dim3 cpu_block_index(const cpu_grid *grid, unsigned long long linear) {
  unsigned long long x = grid->abi.grid.x, y = grid->abi.grid.y;
  return (mw_dim3){(unsigned)(linear % x), (unsigned)(linear / x % y), (unsigned)(linear / (x * y))};
}

static void place_threads(cpu_block_fibers *fibers, cpu_grid *grid, mw_dim3 at) {
  const mw_dim3 size = grid->abi.block;
  mw_dim3 index = {0, 0, 0};
  for (unsigned rank = 0; rank < fibers->threads; rank++) {
    cpu_lane *lane = &fibers->warps[rank / MW_CUDA_WARP].lanes[rank % MW_CUDA_WARP];
    lane->thread = (mw_thread){
        .thread_idx = index, .block_idx = at, .grid = &grid->abi, .worker = &fibers->worker->ctx, .rank = rank};
    lane->request = NULL;
    if (grid->observer) grid->observer->thread(&lane->thread, fibers->worker);
    if (++index.x < size.x) continue;
    index.x = 0;
    if (++index.y < size.y) continue;
    index.y = 0;
    index.z++;
  }
}

static void line_up(cpu_block_fibers *fibers) {
  const unsigned warps = (fibers->threads + MW_CUDA_WARP - 1) / MW_CUDA_WARP;
  fibers->live = fibers->threads;
  fibers->arrived = fibers->apart = fibers->truths = fibers->at_grid = 0;
  fibers->ready_warps = warps == CPU_WARPS ? ~0u : (1u << warps) - 1;
  fibers->abandoned = fibers->any_named = false;
  memset(fibers->named, 0, sizeof fibers->named);
  fibers->order = cpu_block_seed(fibers->grid->seed, fibers->worker->ctx.block);
  fibers->current = fibers->order == CPU_REVERSED ? fibers->threads - 1 : 0;
  for (unsigned w = 0; w < warps; w++) {
    cpu_warp *warp = &fibers->warps[w];
    unsigned lanes = fibers->threads - w * MW_CUDA_WARP;
    warp->ready = lanes >= MW_CUDA_WARP ? ~0u : (1u << lanes) - 1;
    warp->at_barrier = warp->at_named = warp->at_phase = warp->at_warp = warp->at_grid = 0;
    warp->asking = warp->meeting = warp->resting = warp->held = warp->exited = 0;
    warp->spinning = warp->left = warp->spins = 0;
    warp->ngroups = 0;
  }
}

static void format_place(cpu_fault *fault, const char *before, const cpu_lane *lane) {
  const mw_dim3 t = lane->thread.thread_idx;
  mw_list_add(fault->text, sizeof fault->text, before, "thread (%u,%u,%u) waits at %.200s:%d (%s", t.x, t.y, t.z,
              lane->file, lane->line, lane->what);
  if (lane->request) mw_list_add(fault->text, sizeof fault->text, ", ", "mask 0x%08x", lane->request->mask);
}

/* The same as a finding: of a mask, where a lane waits for others of its warp. */
static void report_breach(cpu_block_fibers *fibers, const cpu_lane *first, const cpu_lane *other) {
  char text[128];
  cpu_breach breach = {.mask = first->request || (other && other->request), .lanes = {first, other}};
  breach.verbs[0] = breach.verbs[1] = "wait";
  breach.text = text;
  const bool two = other && strcmp(other->what, first->what) != 0;
  snprintf(text, sizeof text, "%s%s%s", first->what, two ? " and " : "", two ? other->what : "");
  fibers->grid->observer->breach(fibers, &breach);
}

static void report_divergence(cpu_block_fibers *fibers) {
  cpu_fault *fault = &fibers->worker->fault;
  const cpu_lane *first = waiting_lane(fibers, NULL), *other = waiting_lane(fibers, first);
  const bool one_line =
      other && other->what == first->what && same_place(first->file, first->line, other->file, other->line);
  fault->kind = CPU_FAULT_RULE;
  fault->block = fibers->worker->ctx.block;
  fault->has_thread = false;
  strcpy(fault->text, "barrier divergence");
  format_place(fault, ": ", first);
  if (other) format_place(fault, ") while ", other);
  mw_list_add(fault->text, sizeof fault->text, one_line ? ", another one on that line" : "", "%s",
              other ? ")" : ") for threads that never come");
  if (all_wait(fibers)) mw_list_add(fault->text, sizeof fault->text, "; ", "%s", by_count);
  if (fibers->grid->observer) report_breach(fibers, first, other);
}

static bool begin_block(cpu_block_fibers *fibers, cpu_grid *grid, unsigned long long block) {
  fibers->grid = grid;
  fibers->threads = grid->abi.block.x * grid->abi.block.y * grid->abi.block.z;
  if (!cpu_fibers_prepare(fibers, (fibers->threads + MW_CUDA_WARP - 1) / MW_CUDA_WARP, fiber_main)) {
    fibers->worker->fault = (cpu_fault){.kind = CPU_FAULT_RULE, .block = block};
    snprintf(fibers->worker->fault.text, sizeof fibers->worker->fault.text, "the system has no memory for its stacks");
    return false;
  }
  fibers->self = grid->table->self();
  place_threads(fibers, grid, cpu_block_index(grid, block));
  line_up(fibers);
  fibers->dirty = true; /* until all have exited */
  return true;
}

bool cpu_fibers_run(cpu_block_fibers *fibers, cpu_grid *grid, unsigned long long block) {
  const bool begins = !fibers->paused;
  if (begins && !begin_block(fibers, grid, block)) return false;
  fibers->paused = false;
  fibers->worker->in_fibers = true;
  begins ? cpu_fibers_start(fibers) : cpu_fibers_resume(fibers);
  fibers->worker->in_fibers = false;
  if (fibers->paused) return true;
  fibers->dirty = fibers->live > 0;
  if (!fibers->live) return true;
  if (!fibers->abandoned) report_divergence(fibers);
  return false;
}

/* ---- what units call ------------------------------------------------------------------------------------------- */

static unsigned active_mask(void) {
  cpu_block_fibers *fibers = cpu_current->fibers;
  if (!cpu_current->in_fibers) return 1;
  cpu_lane *lane = cpu_fibers_stop(fibers, offsetof(cpu_warp, asking), "__activemask", "", 0);
  lane->site = __builtin_return_address(0);
  cpu_fibers_wait(fibers);
  return (unsigned)lane->result;
}

static void yield(void) {
  if (!cpu_current->in_fibers) return;
  cpu_block_fibers *fibers = cpu_current->fibers;
  cpu_fibers_spin(fibers, true);
  fibers->grid->interleave ? cpu_preempt(fibers, true) : cpu_fibers_yield(fibers);
  cpu_fibers_spin(fibers, false);
}

static void meet(unsigned place) {
  if (cpu_current->in_fibers) cpu_fibers_meet(cpu_current->fibers, place);
}

static unsigned long long nanoseconds(void) {
  return (unsigned long long)(1e9 * mw_clock());
}

static unsigned long long warp_operation(const mw_warp_request *request) {
  return cpu_warp_meet(cpu_current->fibers, request);
}

__attribute__((format(printf, 1, 2))) static int print(const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = cpu_print(cpu_current, format, args);
  va_end(args);
  return length;
}

/* A loop or split kernel does not know its thread: explain.c finds it. */
__attribute__((noreturn)) static void fail(const char *what, const char *file, int line) {
  cpu_worker *worker = cpu_current;
  cpu_fault *fault = &worker->fault;
  *fault = (cpu_fault){.kind = CPU_FAULT_FAIL}; /* nothing of an earlier one */
  cpu_fault_place(worker);
  if (file)
    snprintf(fault->text, sizeof fault->text, "%s at %s:%d", what, file, line);
  else
    snprintf(fault->text, sizeof fault->text, "%s", what);
  cpu_fault_leave(worker);
}

/* In fibers it need not fail: it is not run again. */
__attribute__((noreturn)) static void spun(const char *file, int line) {
  break_rule(CPU_FAULT_RULE,
             "a thread has been in the loop at %s:%d for 2^28 rounds, and seems to wait for another thread; "
             "engine = \"fiber\" lets the others run",
             file, line);
}

/* A function's canary was overwritten, seen when it returns: in a loop or split kernel after all its blocks. */
__attribute__((noreturn)) static void overrun(void) {
  cpu_worker *worker = cpu_current;
  worker->armed = 0;
  worker->fault = (cpu_fault){.kind = CPU_FAULT_SIGNAL, .target = CPU_TARGET_LOCAL};
  cpu_fault_place(worker);
  if (!worker->fault.has_thread) {
    worker->fault.block = worker->first;
    worker->fault.blocks = worker->last - worker->first;
  }
  cpu_fault_leave(worker);
}

const mw_runtime cpu_runtime = {
    .barrier = barrier,
    .named_barrier = named_barrier,
    .phase_wait = phase_wait,
    .phase_end = phase_end,
    .grid_barrier = grid_barrier,
    .warp = warp_operation,
    .meet = meet,
    .active_mask = active_mask,
    .yield = yield,
    .nanoseconds = nanoseconds,
    .print = print,
    .fail = fail,
    .spun = spun,
    .overrun = overrun,
};
