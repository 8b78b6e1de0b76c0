/* SPDX-License-Identifier: MIT
 *
 * Cooperative launches: all blocks run at once, each on its own thread, since any may wait for all others. The
 * threads are a pool as large as the largest such launch needed, which sleeps at once where it has no work. */
#include "core/backend/cpu/run/machine.h"

void cpu_coop_open(cpu_coop *coop) {
  cpu_pool_open(&coop->pool, 0, 0);
  pthread_mutex_init(&coop->use, NULL);
  pthread_mutex_init(&coop->grid_barrier.lock, NULL);
  pthread_cond_init(&coop->grid_barrier.changed, NULL);
}

void cpu_coop_close(cpu_coop *coop) {
  cpu_pool_close(&coop->pool);
  pthread_cond_destroy(&coop->grid_barrier.changed);
  pthread_mutex_destroy(&coop->grid_barrier.lock);
  pthread_mutex_destroy(&coop->use);
}

bool cpu_coop_run(cpu_coop *coop, cpu_grid *grid, cpu_worker *me) {
  pthread_mutex_lock(&coop->use);
  const bool enough = cpu_pool_grow(&coop->pool, (int)grid->blocks - 1);
  if (enough) {
    grid->grid_barrier = &coop->grid_barrier;
    grid->grid_barrier->blocks = (unsigned)grid->blocks;
    grid->grid_barrier->waiting = grid->grid_barrier->finished = 0;
    grid->grid_barrier->told = false;
    cpu_worker_enter(me, grid);
    cpu_pool_share(&coop->pool, grid, me);
    cpu_worker_leave(me);
  }
  pthread_mutex_unlock(&coop->use);
  return enough;
}
