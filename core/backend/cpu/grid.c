/* SPDX-License-Identifier: MIT
 *
 * Blocks to threads. A grid begins on the launching thread alone; once what is left is worth more than waking others
 * (an estimate from earlier launches of the same kernel, else from the blocks just run) the pool takes part. */
#include "core/backend/cpu/grid.h"

#include "core/backend/cpu/block.h"
#include "core/backend/cpu/fault.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

/* ---- floating point: CUDA rounds to nearest and keeps denormals, whatever the host program has set ------------- */

#if defined(__x86_64__)
typedef unsigned control;
enum { DEFAULT_CONTROL = 0x1f80, STATUS_FLAGS = 0x3f };

static bool enter_float(control *before) {
  *before = _mm_getcsr();
  if ((*before & ~(unsigned)STATUS_FLAGS) == DEFAULT_CONTROL) return false;
  _mm_setcsr(DEFAULT_CONTROL);
  return true;
}

static void leave_float(const control *before) {
  _mm_setcsr(*before);
}
#else
typedef fenv_t control;

static bool enter_float(control *before) {
  fegetenv(before);
  fesetenv(FE_DFL_ENV);
  return true;
}

static void leave_float(const control *before) {
  fesetenv(before);
}
#endif

/* ---- what a grid runs ------------------------------------------------------------------------------------------ */

mw_dim3 cpu_grid_block(const cpu_grid *grid, unsigned long long linear) {
  unsigned long long x = grid->abi.grid.x, y = grid->abi.grid.y;
  return (mw_dim3){(unsigned)(linear % x), (unsigned)(linear / x % y), (unsigned)(linear / (x * y))};
}

static void run_fast(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  grid->unit->run(&grid->abi, &worker->lent, first, last);
}

static void run_plain_block(cpu_grid *grid, mw_thread *thread) {
  const mw_dim3 size = grid->abi.block;
  for (unsigned z = 0; z < size.z; z++)
    for (unsigned y = 0; y < size.y; y++)
      for (unsigned x = 0; x < size.x; x++) {
        thread->thread_idx = (mw_dim3){x, y, z};
        grid->unit->thread(&grid->abi);
        if (grid->watch) cpu_fault_watch(cpu_current, grid->watch);
        thread->rank++;
      }
}

/* A barrier-free kernel in the fiber flavor: one call for each thread, no fibers. Which thread runs is kept in the
 * worker, off the stack that a kernel may overrun. */
static void run_plain(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  mw_thread *thread = &worker->alone;
  *thread = (mw_thread){.grid = &grid->abi, .worker = &worker->lent};
  worker->plain = thread;
  *grid->table->self() = thread;
  for (unsigned long long block = first; block < last; block++) {
    worker->lent.block = block;
    worker->lent.blocks = 1;
    thread->block_idx = cpu_grid_block(grid, block);
    thread->rank = 0;
    run_plain_block(grid, thread);
  }
  worker->plain = NULL;
}

static void run_fibers(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  for (unsigned long long block = first; block < last; block++) {
    worker->lent.block = block;
    worker->lent.blocks = 1;
    if (!cpu_crew_run(worker->crew, grid, block)) return;
  }
}

static cpu_grid_run_function *how_to_run(const mw_unit_kernel *unit) {
  if (unit->run) return run_fast;
  return unit->needs_fibers ? run_fibers : run_plain;
}

/* ---- taking part ----------------------------------------------------------------------------------------------- */

bool cpu_grid_stopped(cpu_grid *grid) {
  if (atomic_load_explicit(&mw_interrupted, memory_order_relaxed) ||
      atomic_load_explicit(&cpu_interrupts, memory_order_relaxed) != grid->interrupts) {
    int going = CPU_GOING;
    atomic_compare_exchange_strong(&grid->stop, &going, CPU_STOP_INTERRUPT);
  }
  return atomic_load_explicit(&grid->stop, memory_order_relaxed) != CPU_GOING;
}

void cpu_grid_caught(cpu_grid *grid, cpu_worker *worker) {
  int going = CPU_GOING;
  if (worker->fault.kind == CPU_FAULT_ABORTED) return;
  if (atomic_compare_exchange_strong(&grid->stop, &going, CPU_STOP_FAULT)) grid->fault = worker->fault;
}

unsigned long long cpu_grid_take_part(cpu_grid *grid, cpu_worker *worker) {
  unsigned long long ran = 0;
  while (!cpu_grid_stopped(grid)) {
    unsigned long long first = atomic_fetch_add(&grid->next, grid->chunk);
    if (first >= grid->blocks) break;
    unsigned long long last = grid->blocks - first < grid->chunk ? grid->blocks : first + grid->chunk;
    if (!cpu_worker_run(worker, grid, first, last)) cpu_grid_caught(grid, worker);
    ran += last - first;
  }
  return ran;
}

/* ---- running a grid -------------------------------------------------------------------------------------------- */

static const double SLICE = 1e-3, PROBE = 5e-6; /* seconds between two looks at the clock: alone, with others at hand */

static unsigned long long slice_blocks(double block_seconds, double seconds, unsigned long long left) {
  if (block_seconds <= 0) return 1;
  double blocks = seconds / block_seconds;
  return blocks < 1 ? 1 : blocks > (double)left ? left : (unsigned long long)blocks;
}

/* Runs blocks here until none is left (true) or the rest is worth sharing (false). */
static bool run_alone(cpu_device *device, cpu_grid *grid, cpu_worker *me) {
  const double begin = cpu_now(), worth = cpu_pool_worth(&device->pool), look = device->pool.helpers ? PROBE : SLICE;
  while (grid->next < grid->blocks && !cpu_grid_stopped(grid)) {
    unsigned long long first = grid->next, left = grid->blocks - first;
    if (left > 1 && grid->block_seconds * (double)left > worth) return false;
    unsigned long long last = first + slice_blocks(grid->block_seconds, look, left);
    grid->next = last;
    if (!cpu_worker_run(me, grid, first, last)) {
      cpu_grid_caught(grid, me);
      return true;
    }
    grid->block_seconds = (cpu_now() - begin) / (double)last;
  }
  return true;
}

static void run_grid(cpu_device *device, cpu_grid *grid, cpu_worker *me) {
  cpu_worker *outer = cpu_current;
  control before;
  bool changed = enter_float(&before);
  cpu_current = me;
  cpu_worker_enter(me, grid);
  if (!run_alone(device, grid, me)) cpu_pool_run(&device->pool, grid, me);
  cpu_worker_leave(me);
  cpu_current = outer;
  if (changed) leave_float(&before);
}

static mw_status run_cooperative(cpu_device *device, cpu_grid *grid, cpu_worker *me, mw_error *err) {
  if (grid->blocks > CPU_GANG_MOST)
    return mw_fail(err, MW_INVALID,
                   "kernel '%s': too many blocks for a cooperative launch: %llu, on the cpu device %d at most",
                   grid->kernel->base.name, grid->blocks, CPU_GANG_MOST);
  cpu_worker *outer = cpu_current;
  control before;
  bool changed = enter_float(&before);
  cpu_meeting meeting = {.blocks = (unsigned)grid->blocks};
  pthread_mutex_init(&meeting.lock, NULL);
  pthread_cond_init(&meeting.changed, NULL);
  grid->meeting = &meeting;
  cpu_current = me;
  bool ran = cpu_gang_run(&device->gang, grid, me);
  cpu_current = outer;
  pthread_cond_destroy(&meeting.changed);
  pthread_mutex_destroy(&meeting.lock);
  if (changed) leave_float(&before);
  if (ran) return MW_OK;
  return mw_fail(err, MW_NO_MEMORY, "kernel '%s': the system has no threads for a cooperative launch of %llu blocks",
                 grid->kernel->base.name, grid->blocks);
}

static void begin_grid(cpu_grid *grid, int priority) {
  grid->priority = priority;
  grid->interrupts = atomic_load_explicit(&cpu_interrupts, memory_order_relaxed);
  grid->meeting = NULL;
  grid->chunk = 1;
  grid->launcher_sleeps = false;
  grid->link = NULL;
  grid->watch = NULL;
  atomic_init(&grid->next, 0);
  atomic_init(&grid->stop, CPU_GOING);
  atomic_init(&grid->users, 0);
}

static void set_launch(cpu_grid *grid, const cpu_launch *launch) {
  grid->abi = (mw_grid){launch->args, launch->grid, launch->block, (unsigned)launch->shared};
  grid->kernel = launch->kernel;
  grid->unit = launch->kernel->unit;
  grid->table = launch->kernel->owner->table;
  grid->run = how_to_run(grid->unit);
  grid->data = NULL;
  grid->blocks = (unsigned long long)launch->grid.x * launch->grid.y * launch->grid.z;
  grid->block_seconds = atomic_load_explicit(&launch->kernel->block_seconds, memory_order_relaxed);
}

static void remember(cpu_kernel *kernel, double seconds) {
  double before = atomic_load_explicit(&kernel->block_seconds, memory_order_relaxed);
  atomic_store_explicit(&kernel->block_seconds, before > 0 ? 0.5 * (before + seconds) : seconds, memory_order_relaxed);
}

static mw_status outcome(cpu_device *device, cpu_worker *me, cpu_grid *grid, mw_error *err) {
  switch (atomic_load(&grid->stop)) {
  case CPU_STOP_FAULT:
    return cpu_fault_report(device, me, grid, err);
  case CPU_STOP_INTERRUPT:
    return mw_fail(err, MW_INTERRUPTED, "interrupted");
  default:
    return MW_OK;
  }
}

mw_status cpu_grid_launch(cpu_device *device, cpu_worker *me, const cpu_launch *launch, int priority, mw_error *err) {
  cpu_grid grid;
  set_launch(&grid, launch);
  begin_grid(&grid, priority);
  if (launch->cooperative) {
    mw_status status = run_cooperative(device, &grid, me, err);
    if (status != MW_OK) return status;
  } else {
    run_grid(device, &grid, me);
  }
  mw_status status = outcome(device, me, &grid, err);
  if (status != MW_OK) return status;
  if (!launch->cooperative) remember(launch->kernel, grid.block_seconds);
  if (!atomic_load_explicit(&device->memory.slacks, memory_order_relaxed)) return MW_OK;
  return cpu_fault_check_slack(device, me, &grid, err);
}

mw_status cpu_grid_work(cpu_device *device, cpu_worker *me, cpu_grid_run_function *run, void *data,
                        unsigned long long blocks, double block_seconds, int priority, mw_error *err) {
  cpu_grid grid = {.run = run, .data = data, .blocks = blocks, .block_seconds = block_seconds};
  begin_grid(&grid, priority);
  run_grid(device, &grid, me);
  return outcome(device, me, &grid, err);
}

void cpu_grid_again(cpu_grid *grid, const cpu_grid *like, const mw_unit_kernel *unit, const mw_unit_table *table) {
  grid->abi = like->abi;
  grid->kernel = like->kernel;
  grid->unit = unit;
  grid->table = table;
  grid->run = how_to_run(unit);
  grid->data = NULL;
  grid->blocks = like->blocks;
  grid->block_seconds = 0;
  begin_grid(grid, like->priority);
}
