/* SPDX-License-Identifier: MIT
 *
 * The pool and the gang. pool->lock guards the list of grids and who sleeps; blocks are handed out without it. */
#include "core/backend/cpu/pool.h"

#include "core/backend/cpu/device.h"
#include "core/backend/cpu/fault.h"
#include "core/backend/cpu/grid.h"

static const double SPIN = 50e-6;                 /* a helper without work spins so long before it sleeps */
static const double AWAKE = 4e-6, ASLEEP = 25e-6; /* what it takes to get help from spinning and from sleeping ones */
static const double GRACE = 0.2;                  /* after a stop, blocks have so long to end by themselves */
enum { CHUNKS = 16 };                             /* a thread's share comes in so many pieces */

void cpu_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("" ::: "memory");
#endif
}

void cpu_wait_briefly(pthread_cond_t *cond, pthread_mutex_t *lock, double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  long long nanoseconds = until.tv_nsec + (long long)(seconds * 1e9);
  until.tv_sec += nanoseconds / 1000000000;
  until.tv_nsec = nanoseconds % 1000000000;
  pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &until);
}

/* Threads that are still in a block of a stopped grid are taken out of it. */
static void evict(cpu_worker **workers, unsigned count, cpu_grid *grid) {
  for (unsigned i = 0; i < count; i++)
    if (atomic_load(&workers[i]->grid) == grid) pthread_kill(workers[i]->thread, cpu_fault_abort_signal());
}

/* ---- helpers --------------------------------------------------------------------------------------------------- */

static bool has_blocks(cpu_grid *grid) {
  return atomic_load_explicit(&grid->next, memory_order_relaxed) < grid->blocks &&
         atomic_load_explicit(&grid->stop, memory_order_relaxed) == CPU_GOING;
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
  double until = cpu_now() + SPIN;
  bool news = false;
  while (!news && cpu_now() < until) {
    for (int i = 0; i < 32; i++) cpu_pause();
    news = atomic_load(&pool->posted) != seen;
  }
  pthread_mutex_lock(&pool->lock);
  if (atomic_load(&pool->posted) != seen || pool->quit) return;
  pool->sleeping++;
  pthread_cond_wait(&pool->wake, &pool->lock);
  pool->sleeping--;
}

/* With the lock: everyone woken wakes two more, so that the launching thread does not pay for all of them. */
static void wake_two(cpu_pool *pool, cpu_grid *grid) {
  unsigned long long next = atomic_load(&grid->next);
  unsigned long long wanted = next < grid->blocks ? (grid->blocks - next) / grid->chunk : 0;
  for (int i = 0; i < 2 && i < pool->sleeping && (unsigned long long)i < wanted; i++) pthread_cond_signal(&pool->wake);
}

/* With the lock; gives it up while it works. */
static void help(cpu_pool *pool, cpu_grid *grid, cpu_worker *me) {
  wake_two(pool, grid);
  atomic_fetch_add(&grid->users, 1);
  pthread_mutex_unlock(&pool->lock);
  cpu_worker_enter(me, grid);
  cpu_grid_take_part(grid, me);
  cpu_worker_leave(me);
  pthread_mutex_lock(&pool->lock);
  bool awaited = grid->launcher_sleeps; /* the grid may be gone once users is 0 */
  if (atomic_fetch_sub(&grid->users, 1) == 1 && awaited) pthread_cond_broadcast(&pool->done);
}

static void *helper(void *argument) {
  cpu_worker *me = argument;
  cpu_pool *pool = &me->device->pool;
  cpu_worker_attach(me, false);
  cpu_current = me;
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
  cpu_worker_detach(me);
  return NULL;
}

/* ---- the pool -------------------------------------------------------------------------------------------------- */

void cpu_pool_open(cpu_pool *pool, cpu_device *device, int helpers) {
  pool->device = device;
  pool->helpers = helpers;
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
  for (int i = 0; pool->started && i < pool->helpers; i++) {
    pthread_join(pool->threads[i], NULL);
    cpu_worker_free(pool->workers[i]);
  }
  mw_free(pool->workers);
  mw_free(pool->threads);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
}

/* With the lock. Fewer threads than wanted are no error. */
static void start(cpu_pool *pool) {
  pool->started = true;
  pool->workers = mw_calloc((size_t)pool->helpers, sizeof *pool->workers);
  pool->threads = mw_calloc((size_t)pool->helpers, sizeof *pool->threads);
  int started = 0;
  while (started < pool->helpers) {
    cpu_worker *worker = pool->workers[started] = cpu_worker_make(pool->device);
    if (cpu_thread_start(&pool->threads[started], helper, worker)) {
      cpu_worker_free(worker);
      break;
    }
    started++;
  }
  pool->helpers = started;
}

double cpu_pool_worth(cpu_pool *pool) {
  if (!pool->helpers) return 1e300;
  return pool->sleeping || !pool->started ? ASLEEP : AWAKE;
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
  if (!pool->started) start(pool);
  grid->chunk = chunk_for(pool, grid);
  cpu_grid **place = &pool->grids;
  while (*place && (*place)->priority <= grid->priority) place = &(*place)->link;
  grid->link = *place;
  *place = grid;
  atomic_fetch_add(&pool->posted, 1);
  wake_two(pool, grid);
  pthread_mutex_unlock(&pool->lock);
}

static void wait_for_helpers(cpu_pool *pool, cpu_grid *grid) {
  double begin = 0;
  grid->launcher_sleeps = true;
  while (atomic_load(&grid->users)) {
    cpu_wait_briefly(&pool->done, &pool->lock, 0.02);
    if (!cpu_grid_stopped(grid)) continue;
    if (begin == 0) begin = cpu_now();
    if (cpu_now() - begin > GRACE) evict(pool->workers, (unsigned)pool->helpers, grid);
  }
}

static void withdraw(cpu_pool *pool, cpu_grid *grid) {
  pthread_mutex_lock(&pool->lock);
  cpu_grid **place = &pool->grids;
  while (*place != grid) place = &(*place)->link;
  *place = grid->link;
  pthread_mutex_unlock(&pool->lock);
  double until = cpu_now() + SPIN;
  while (atomic_load(&grid->users) && cpu_now() < until) cpu_pause();
  pthread_mutex_lock(&pool->lock);
  if (atomic_load(&grid->users)) wait_for_helpers(pool, grid);
  pthread_mutex_unlock(&pool->lock);
}

void cpu_pool_run(cpu_pool *pool, cpu_grid *grid, cpu_worker *me) {
  post(pool, grid);
  const double begin = cpu_now();
  const unsigned long long left = grid->blocks - grid->next;
  unsigned long long mine = cpu_grid_take_part(grid, me);
  const double seconds = cpu_now() - begin;
  withdraw(pool, grid);
  if (mine && left) grid->block_seconds = seconds / (double)mine;
}

/* ---- the gang -------------------------------------------------------------------------------------------------- */

void cpu_gang_open(cpu_gang *gang, cpu_device *device) {
  gang->device = device;
  pthread_mutex_init(&gang->use, NULL);
  pthread_mutex_init(&gang->lock, NULL);
  pthread_cond_init(&gang->start, NULL);
  pthread_cond_init(&gang->done, NULL);
}

void cpu_gang_close(cpu_gang *gang) {
  pthread_mutex_lock(&gang->lock);
  gang->quit = true;
  pthread_cond_broadcast(&gang->start);
  pthread_mutex_unlock(&gang->lock);
  for (unsigned i = 0; i < gang->members; i++) {
    pthread_join(gang->threads[i], NULL);
    cpu_worker_free(gang->workers[i]);
  }
  mw_free(gang->workers);
  mw_free(gang->threads);
  pthread_cond_destroy(&gang->done);
  pthread_cond_destroy(&gang->start);
  pthread_mutex_destroy(&gang->lock);
  pthread_mutex_destroy(&gang->use);
}

/* Tells the others of the grid barrier that this block comes no more. */
static void finish_block(cpu_meeting *meeting) {
  pthread_mutex_lock(&meeting->lock);
  meeting->finished++;
  pthread_cond_broadcast(&meeting->changed);
  pthread_mutex_unlock(&meeting->lock);
}

static void run_block(cpu_grid *grid, cpu_worker *me, unsigned block) {
  cpu_worker_enter(me, grid);
  if (!cpu_grid_stopped(grid) && !cpu_worker_run(me, grid, block, block + 1)) cpu_grid_caught(grid, me);
  cpu_worker_leave(me);
  finish_block(grid->meeting);
}

static void *member(void *argument) {
  cpu_worker *me = argument;
  cpu_gang *gang = &me->device->gang;
  cpu_worker_attach(me, false);
  cpu_current = me;
  pthread_mutex_lock(&gang->lock);
  while (!gang->quit) {
    if (!gang->left) {
      pthread_cond_wait(&gang->start, &gang->lock);
      continue;
    }
    unsigned block = gang->next++;
    cpu_grid *grid = gang->grid;
    gang->left--;
    pthread_mutex_unlock(&gang->lock);
    run_block(grid, me, block);
    pthread_mutex_lock(&gang->lock);
    if (--gang->running == 0) pthread_cond_broadcast(&gang->done);
  }
  pthread_mutex_unlock(&gang->lock);
  cpu_worker_detach(me);
  return NULL;
}

/* With the lock. */
static bool grow(cpu_gang *gang, unsigned members) {
  if (members > gang->room) {
    gang->workers = mw_realloc(gang->workers, members * sizeof *gang->workers);
    gang->threads = mw_realloc(gang->threads, members * sizeof *gang->threads);
    gang->room = members;
  }
  while (gang->members < members) {
    cpu_worker *worker = cpu_worker_make(gang->device);
    gang->workers[gang->members] = worker;
    if (cpu_thread_start(&gang->threads[gang->members], member, worker)) {
      cpu_worker_free(worker);
      return false;
    }
    gang->members++;
  }
  return true;
}

static void wait_for_members(cpu_gang *gang, cpu_grid *grid) {
  double begin = 0;
  pthread_mutex_lock(&gang->lock);
  while (gang->running) {
    cpu_wait_briefly(&gang->done, &gang->lock, 0.02);
    if (!cpu_grid_stopped(grid)) continue;
    if (begin == 0) begin = cpu_now();
    if (cpu_now() - begin > GRACE) evict(gang->workers, gang->members, grid);
  }
  pthread_mutex_unlock(&gang->lock);
}

bool cpu_gang_run(cpu_gang *gang, cpu_grid *grid, cpu_worker *me) {
  unsigned others = (unsigned)grid->blocks - 1;
  pthread_mutex_lock(&gang->use);
  pthread_mutex_lock(&gang->lock);
  bool enough = grow(gang, others);
  if (enough) {
    gang->grid = grid;
    gang->next = 1;
    gang->left = gang->running = others;
    pthread_cond_broadcast(&gang->start);
  }
  pthread_mutex_unlock(&gang->lock);
  if (enough) {
    run_block(grid, me, 0);
    wait_for_members(gang, grid);
  }
  pthread_mutex_unlock(&gang->use);
  return enough;
}
