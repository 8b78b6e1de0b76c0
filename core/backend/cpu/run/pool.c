/* SPDX-License-Identifier: MIT
 *
 * The threads that share the blocks of a grid with the thread that launches it. A grid begins only on the latter; once
 * what is left is worth more than waking others (an estimate from earlier launches of the same kernel, else from the
 * blocks just run) the pool takes part. Its threads are started at the first grid worth it; they spin for a moment,
 * then sleep. pool->lock guards the list of grids and who sleeps; blocks are handed out without it. */
#include "core/backend/cpu/run/machine.h"

#include "core/base/memory.h"

static const double AWAKE = 4e-6, ASLEEP = 25e-6; /* what it takes to get help from spinning and from sleeping ones */
static const double SLICE = 1e-3, PROBE = 5e-6;   /* between two looks at the clock: alone, with others at hand */
static const double GRACE = 0.2;                  /* after a stop, blocks have so long to end by themselves */
enum { CHUNKS = 16 };                             /* a thread's share comes in so many pieces */

/* ---- helpers --------------------------------------------------------------------------------------------------- */

static bool has_blocks(cpu_grid *grid) {
  return atomic_load_explicit(&grid->next, memory_order_relaxed) < grid->blocks &&
         atomic_load_explicit(&grid->stop.why, memory_order_relaxed) == CPU_GOING;
}

/* With the lock. */
static cpu_grid *most_urgent(cpu_pool *pool) {
  for (cpu_grid *grid = pool->grids; grid; grid = grid->link)
    if (has_blocks(grid)) return grid;
  return NULL;
}

/* With the lock: sleeps until there may be work. */
static void rest(cpu_pool *pool, unsigned seen) {
  pthread_mutex_unlock(&pool->lock);
  double until = mw_clock() + pool->spin;
  bool news = false;
  while (!news && mw_clock() < until) {
    for (int i = 0; i < 32; i++) cpu_pause();
    news = atomic_load(&pool->posted) != seen;
  }
  pthread_mutex_lock(&pool->lock);
  if (atomic_load(&pool->posted) != seen || pool->quit) return;
  pool->sleeping++;
  pthread_cond_wait(&pool->wake, &pool->lock);
  pool->sleeping--;
}

/* With the lock: everyone woken wakes two more, so that the launching thread does not pay for all of them. A block of a
 * cooperative launch may wait for all the others, so it does. */
static void wake(cpu_pool *pool, cpu_grid *grid) {
  const unsigned long long next = atomic_load(&grid->next);
  const unsigned long long chunks = next < grid->blocks ? (grid->blocks - next) / grid->chunk : 0;
  const unsigned long long wanted = grid->grid_barrier || chunks < 2 ? chunks : 2;
  for (unsigned long long i = 0; i < wanted && i < (unsigned)pool->sleeping; i++) pthread_cond_signal(&pool->wake);
}

/* With the lock; gives it up while it works. */
static void help(cpu_pool *pool, cpu_grid *grid, cpu_worker *me) {
  if (!grid->grid_barrier) wake(pool, grid);
  atomic_fetch_add(&grid->users, 1);
  pthread_mutex_unlock(&pool->lock);
  cpu_worker_enter(me, grid);
  cpu_grid_take_part(grid, me);
  cpu_worker_leave(me);
  pthread_mutex_lock(&pool->lock);
  bool awaited = grid->launcher_sleeps; /* the grid may be gone once users is 0 */
  if (atomic_fetch_sub(&grid->users, 1) == 1 && awaited) pthread_cond_broadcast(&pool->done);
}

static void helper(void *owner, cpu_worker *me) {
  cpu_pool *pool = owner;
  pthread_mutex_lock(&pool->lock);
  while (!pool->quit) {
    unsigned seen = atomic_load(&pool->posted);
    cpu_grid *grid = most_urgent(pool);
    if (grid)
      help(pool, grid, me);
    else
      rest(pool, seen);
  }
  pthread_mutex_unlock(&pool->lock);
}

/* ---- the pool -------------------------------------------------------------------------------------------------- */

void cpu_pool_open(cpu_pool *pool, int helpers, double spin) {
  pool->helpers = helpers;
  pool->spin = spin;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->done, NULL);
}

void cpu_pool_close(cpu_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->quit = true;
  atomic_fetch_add(&pool->posted, 1);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < pool->started; i++) {
    cpu_worker_join(pool->workers[i]);
    cpu_worker_free(pool->workers[i]);
  }
  mw_free(pool->workers);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
}

bool cpu_pool_grow(cpu_pool *pool, int helpers) {
  bool all = true;
  pthread_mutex_lock(&pool->lock);
  if (pool->started < helpers) pool->workers = mw_realloc(pool->workers, (size_t)helpers * sizeof *pool->workers);
  while (all && pool->started < helpers) {
    cpu_worker *worker = pool->workers[pool->started] = cpu_worker_make();
    worker->ctx.number = (unsigned)pool->started + 1;
    all = cpu_worker_start(worker, helper, pool) == 0;
    if (all)
      pool->started++;
    else
      cpu_worker_free(worker);
  }
  pool->helpers = pool->started;
  pthread_mutex_unlock(&pool->lock);
  return all;
}

static unsigned long long chunk_for(const cpu_pool *pool, const cpu_grid *grid) {
  unsigned long long left = grid->blocks - grid->next, threads = (unsigned long long)pool->helpers + 1;
  unsigned long long chunk = left / (threads * CHUNKS);
  unsigned long long least = grid->block_seconds > 0 ? (unsigned long long)(2e-6 / grid->block_seconds) : 1;
  if (least > left / threads) least = left / threads;
  if (chunk < least) chunk = least;
  return chunk ? chunk : 1;
}

static void post(cpu_pool *pool, cpu_grid *grid) {
  pthread_mutex_lock(&pool->lock);
  grid->chunk = chunk_for(pool, grid);
  cpu_grid **place = &pool->grids;
  while (*place && (*place)->priority <= grid->priority) place = &(*place)->link;
  grid->link = *place;
  *place = grid;
  atomic_fetch_add(&pool->posted, 1);
  wake(pool, grid);
  pthread_mutex_unlock(&pool->lock);
}

static void wait_for_helpers(cpu_pool *pool, cpu_grid *grid) {
  double begin = 0;
  grid->launcher_sleeps = true;
  while (atomic_load(&grid->users)) {
    cpu_wait_briefly(&pool->done, &pool->lock, 0.02);
    if (!cpu_stopped(&grid->stop)) continue;
    if (begin == 0) begin = mw_clock();
    if (mw_clock() - begin > GRACE) cpu_worker_evict(pool->workers, pool->started, grid);
  }
}

static void withdraw(cpu_pool *pool, cpu_grid *grid) {
  pthread_mutex_lock(&pool->lock);
  cpu_grid **place = &pool->grids;
  while (*place != grid) place = &(*place)->link;
  *place = grid->link;
  pthread_mutex_unlock(&pool->lock);
  double until = mw_clock() + pool->spin;
  while (atomic_load(&grid->users) && mw_clock() < until) cpu_pause();
  pthread_mutex_lock(&pool->lock);
  if (atomic_load(&grid->users)) wait_for_helpers(pool, grid);
  pthread_mutex_unlock(&pool->lock);
}

void cpu_pool_share(cpu_pool *pool, cpu_grid *grid, cpu_worker *me) {
  post(pool, grid);
  const double begin = mw_clock();
  const unsigned long long left = grid->blocks - grid->next;
  unsigned long long mine = cpu_grid_take_part(grid, me);
  const double seconds = mw_clock() - begin;
  withdraw(pool, grid);
  if (mine && left) grid->block_seconds = seconds / (double)mine;
}

/* ---- alone, as long as that pays ------------------------------------------------------------------------------- */

/* Seconds of work from which waking others pays. */
static double worth_sharing(const cpu_pool *pool) {
  if (!pool->helpers) return 1e300;
  return pool->sleeping || !pool->started ? ASLEEP : AWAKE;
}

static unsigned long long slice_blocks(double block_seconds, double seconds, unsigned long long left) {
  if (block_seconds <= 0) return 1;
  double blocks = seconds / block_seconds;
  return blocks < 1 ? 1 : blocks > (double)left ? left : (unsigned long long)blocks;
}

/* Runs blocks here until none is left (true) or the rest is worth sharing (false). */
static bool run_alone(const cpu_pool *pool, cpu_grid *grid, cpu_worker *me) {
  const double begin = mw_clock(), worth = worth_sharing(pool), look = pool->helpers ? PROBE : SLICE;
  while (grid->next < grid->blocks && !cpu_stopped(&grid->stop)) {
    unsigned long long first = grid->next, left = grid->blocks - first;
    if (left > 1 && grid->block_seconds * (double)left > worth) return false;
    unsigned long long last = first + slice_blocks(grid->block_seconds, look, left);
    grid->next = last;
    if (!cpu_grid_run(grid, me, first, last)) return true;
    grid->block_seconds = (mw_clock() - begin) / (double)last;
  }
  return true;
}

void cpu_pool_run(cpu_pool *pool, cpu_grid *grid, cpu_worker *me) {
  cpu_worker_enter(me, grid);
  if (!run_alone(pool, grid, me)) {
    if (!pool->started) cpu_pool_grow(pool, pool->helpers); /* fewer threads than wanted are not an error */
    cpu_pool_share(pool, grid, me);
  }
  cpu_worker_leave(me);
}
