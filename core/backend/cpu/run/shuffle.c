/* SPDX-License-Identifier: MIT
 *
 * The blocks of a grid in the order of a seed, all of them or a sample. A kernel may wait for an earlier block, which
 * in such an order comes later: where a block seems to wait, a second OS thread runs the first blocks that are left.
 * Those before them have begun or ended, so one of the two always goes on if blocks wait for earlier ones only. */
#include "core/backend/cpu/run/machine.h"

#include "core/base/memory.h"

#include <time.h>

/* ---- handing out ----------------------------------------------------------------------------------------------- */

static bool has_begun(const cpu_shuffle *shuffle, unsigned long long block) {
  return shuffle->begun[block / 8] >> block % 8 & 1;
}

static void begin(cpu_shuffle *shuffle, unsigned long long block) {
  shuffle->begun[block / 8] |= (unsigned char)(1 << block % 8);
  shuffle->ran++;
}

/* A sample has the first block and the last one. */
static unsigned long long block_at(const cpu_shuffle *shuffle, unsigned long long place) {
  const unsigned long long blocks = shuffle->grid->blocks;
  if (shuffle->wanted == blocks) return cpu_permuted(shuffle->seed, blocks, place);
  return place == 0 ? 0 : place == 1 ? blocks - 1 : cpu_permuted(shuffle->seed, blocks, place - 2);
}

/* False: as many as wanted have begun. */
static bool next_block(cpu_shuffle *shuffle, unsigned long long *block) {
  pthread_mutex_lock(&shuffle->lock);
  const bool left = shuffle->ran < shuffle->wanted;
  while (left && has_begun(shuffle, *block = block_at(shuffle, shuffle->place))) shuffle->place++;
  if (left) begin(shuffle, *block);
  pthread_mutex_unlock(&shuffle->lock);
  return left;
}

/* False if none, or no block waits any more. */
static bool first_block(cpu_shuffle *shuffle, unsigned long long *block) {
  pthread_mutex_lock(&shuffle->lock);
  const unsigned long long blocks = shuffle->grid->blocks;
  while (shuffle->first_left < blocks && has_begun(shuffle, shuffle->first_left)) shuffle->first_left++;
  const bool left = !shuffle->over && shuffle->first_left < blocks;
  *block = shuffle->first_left;
  if (left) begin(shuffle, *block);
  pthread_mutex_unlock(&shuffle->lock);
  return left;
}

static void run_blocks(cpu_shuffle *shuffle, cpu_worker *worker, bool next(cpu_shuffle *, unsigned long long *)) {
  unsigned long long block;
  while (!cpu_stopped(&shuffle->grid->stop) && next(shuffle, &block))
    cpu_grid_run(shuffle->grid, worker, block, block + 1);
}

/* ---- the helper ------------------------------------------------------------------------------------------------ */

static void help(void *owner, cpu_worker *worker) {
  cpu_shuffle *shuffle = owner;
  cpu_worker_enter(worker, shuffle->grid);
  run_blocks(shuffle, worker, first_block);
  cpu_worker_leave(worker);
  atomic_store(&shuffle->ended, true);
}

void cpu_shuffle_help(cpu_shuffle *shuffle) {
  if (atomic_exchange(&shuffle->helped, true)) return;
  cpu_worker *helper = cpu_worker_make();
  helper->mute = shuffle->mute;
  if (cpu_worker_start(helper, help, shuffle) == 0)
    shuffle->helper = helper;
  else
    cpu_worker_free(helper);
}

/* Its last block ends by itself, or with the grid. */
static void end_helper(cpu_shuffle *shuffle) {
  pthread_mutex_lock(&shuffle->lock);
  shuffle->over = true;
  pthread_mutex_unlock(&shuffle->lock);
  if (!shuffle->helper) return;
  while (!atomic_load(&shuffle->ended)) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (cpu_stopped(&shuffle->grid->stop)) cpu_worker_evict(&shuffle->helper, 1, shuffle->grid);
  }
  cpu_worker_join(shuffle->helper);
  cpu_worker_free(shuffle->helper);
}

unsigned long long cpu_shuffle_run(cpu_shuffle *shuffle, cpu_grid *grid, cpu_worker *me) {
  shuffle->grid = grid;
  shuffle->begun = mw_calloc(grid->blocks / 8 + 1, 1);
  pthread_mutex_init(&shuffle->lock, NULL);
  cpu_worker_enter(me, grid);
  run_blocks(shuffle, me, next_block);
  end_helper(shuffle);
  cpu_worker_leave(me);
  pthread_mutex_destroy(&shuffle->lock);
  mw_free(shuffle->begun);
  return shuffle->ran;
}
