/* SPDX-License-Identifier: MIT
 *
 * One launch while it runs: what a block is for its engine, and handing out blocks in chunks. */
#include "core/backend/cpu/run/machine.h"

/* ---- what a grid runs ------------------------------------------------------------------------------------------ */

static void run_fast(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  grid->unit->run(&grid->abi, &worker->ctx, first, last);
}

static void run_plain_thread(cpu_grid *grid, mw_thread *thread, unsigned x, unsigned y, unsigned z) {
  thread->thread_idx = (mw_dim3){x, y, z};
  if (grid->observer) grid->observer->thread(thread, cpu_current);
  grid->unit->thread(&grid->abi);
  if (grid->watch) cpu_fault_check_redzone(cpu_current, grid->watch);
}

static void run_plain_block(cpu_grid *grid, mw_thread *thread) {
  const mw_dim3 size = grid->abi.block;
  thread->rank = 0;
  for (unsigned z = 0; z < size.z; z++)
    for (unsigned y = 0; y < size.y; y++)
      for (unsigned x = 0; x < size.x; x++, thread->rank++) run_plain_thread(grid, thread, x, y, z);
}

static void run_shuffled_block(cpu_grid *grid, mw_thread *thread, uint64_t seed) {
  const mw_dim3 size = grid->abi.block;
  const unsigned plane = size.x * size.y, threads = plane * size.z;
  for (unsigned place = 0; place < threads; place++) {
    const unsigned rank = thread->rank = (unsigned)cpu_permuted(seed, threads, place);
    run_plain_thread(grid, thread, rank % size.x, rank % plane / size.x, rank / plane);
  }
}

static void set_block(cpu_grid *grid, cpu_worker *worker, unsigned long long block) {
  worker->ctx.block = block;
  worker->ctx.blocks = 1;
  if (grid->observer) grid->observer->block(grid, worker);
}

/* A barrier-free kernel in the fiber flavor: one call for each thread, no fibers. Which thread runs is kept in the
 * worker, off the stack that a kernel may overrun. */
static void run_plain(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  mw_thread *thread = &worker->alone;
  *thread = (mw_thread){.grid = &grid->abi, .worker = &worker->ctx};
  worker->plain = thread;
  *grid->table->self() = thread;
  for (unsigned long long block = first; block < last; block++) {
    set_block(grid, worker, block);
    thread->block_idx = cpu_block_index(grid, block);
    if (grid->seed)
      run_shuffled_block(grid, thread, cpu_block_seed(grid->seed, block));
    else
      run_plain_block(grid, thread);
  }
  worker->plain = NULL;
}

static void run_fibers(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  for (unsigned long long block = first; block < last; block++) {
    if (!worker->fibers->paused) set_block(grid, worker, block);
    if (!cpu_fibers_run(worker->fibers, grid, block)) return;
  }
}

/* ---- beginning ------------------------------------------------------------------------------------------------- */

/* Field by field: a launch need not clear the text of a fault. */
static void begin(cpu_grid *grid, unsigned long long blocks, double block_seconds, int priority) {
  grid->blocks = blocks;
  grid->block_seconds = block_seconds;
  grid->priority = priority;
  grid->grid_barrier = NULL;
  grid->cooperative = false;
  grid->chunk = 1;
  grid->launcher_sleeps = false;
  grid->link = NULL;
  grid->watch = NULL;
  grid->observer = NULL;
  grid->strict = false;
  grid->seed = 0;
  grid->help = NULL;
  grid->interleave = NULL;
  atomic_init(&grid->next, 0);
  atomic_init(&grid->users, 0);
  cpu_stop_begin(&grid->stop);
}

void cpu_grid_begin(cpu_grid *grid, const mw_grid *abi, const mw_unit_kernel *unit, const mw_unit_table *table,
                    int priority) {
  grid->abi = *abi;
  grid->unit = unit;
  grid->table = table;
  grid->fibers = !unit->run && unit->needs_fibers;
  grid->on_kernel_stack = !grid->fibers;
  grid->run = unit->run ? run_fast : grid->fibers ? run_fibers : run_plain;
  grid->data = NULL;
  begin(grid, (unsigned long long)abi->grid.x * abi->grid.y * abi->grid.z, 0, priority);
}

void cpu_grid_leave_fibers(cpu_grid *grid) {
  grid->fibers = false;
  grid->on_kernel_stack = true;
  grid->run = run_plain;
}

void cpu_grid_take_fibers(cpu_grid *grid) {
  grid->fibers = true;
  grid->on_kernel_stack = false;
  grid->run = run_fibers;
}

void cpu_grid_begin_work(cpu_grid *grid, cpu_grid_run_function *run, const void *data, unsigned long long blocks,
                         double block_seconds, int priority) {
  grid->unit = NULL;
  grid->table = NULL;
  grid->fibers = grid->on_kernel_stack = false;
  grid->run = run;
  grid->data = data;
  begin(grid, blocks, block_seconds, priority);
}

/* ---- taking part ----------------------------------------------------------------------------------------------- */

bool cpu_grid_run(cpu_grid *grid, cpu_worker *worker, unsigned long long first, unsigned long long last) {
  if (grid->observer) grid->observer->take_turn(grid, worker);
  const bool whole = cpu_worker_run(worker, first, last);
  if (grid->observer) grid->observer->give_turn(grid, worker);
  if (!whole) cpu_stop_by(&grid->stop, &worker->fault);
  return whole;
}

unsigned long long cpu_grid_take_part(cpu_grid *grid, cpu_worker *worker) {
  unsigned long long ran = 0;
  while (!cpu_stopped(&grid->stop)) {
    unsigned long long first = atomic_fetch_add(&grid->next, grid->chunk);
    if (first >= grid->blocks) break;
    unsigned long long last = grid->blocks - first < grid->chunk ? grid->blocks : first + grid->chunk;
    cpu_grid_run(grid, worker, first, last);
    if (grid->grid_barrier) cpu_grid_barrier_leave(grid->grid_barrier);
    ran += last - first;
  }
  return ran;
}
