/* SPDX-License-Identifier: MIT
 *
 * The blocks of a grid side by side on one OS thread, each of whose threads are fibers: all that one order differs from
 * another in comes from a seed, so that the seed gives the order again, on any machine. */
#include "core/backend/cpu/run/machine.h"

#include "core/base/memory.h"

enum { RAREST = 5, NEVER = 63 };

/* ---- the workers ----------------------------------------------------------------------------------------------- */

static void grow_crew(cpu_crew *crew, unsigned count) {
  while (crew->count < count) {
    crew->workers = mw_grow(crew->workers, crew->count, sizeof *crew->workers);
    crew->workers[crew->count++] = cpu_worker_make();
  }
}

void cpu_crew_free(cpu_crew *crew) {
  for (unsigned i = 0; i < crew->count; i++) cpu_worker_free(crew->workers[i]);
  mw_free(crew->workers);
}

/* Ctrl-C ends the blocks of all by the timer of the thread that they run on. */
static void enter(cpu_interleave *it, const cpu_worker *me) {
  for (unsigned i = 0; i < it->count; i++) {
    cpu_worker *worker = it->residents[i].worker;
    worker->mute = me->mute;
    worker->thread = me->thread;
    worker->timer = me->timer;
    worker->has_timer = me->has_timer;
    cpu_worker_enter(worker, it->grid);
    worker->fibers->paused = false;
  }
}

static void leave(cpu_interleave *it) {
  for (unsigned i = it->count; i-- > 0;) {
    cpu_worker_leave(it->residents[i].worker);
    it->residents[i].worker->has_timer = false;
  }
}

/* ---- who runs -------------------------------------------------------------------------------------------------- */

static bool can_run(const cpu_resident *resident) {
  return !resident->ended && !resident->at_grid;
}

/* One of those that are not held; else the one that is held for the shortest time. NULL: all have ended or wait. */
static cpu_resident *pick(cpu_interleave *it) {
  cpu_resident *next = NULL;
  unsigned free = 0;
  for (unsigned i = 0; i < it->count; i++) {
    cpu_resident *resident = &it->residents[i];
    if (!can_run(resident)) continue;
    if (resident->until <= it->points)
      free++;
    else if (!next || resident->until < next->until)
      next = resident;
  }
  if (!free) return next;
  unsigned wanted = (unsigned)(cpu_interleave_draw(it) % free), i = 0;
  while (!can_run(&it->residents[i]) || it->residents[i].until > it->points || wanted--) i++;
  return &it->residents[i];
}

/* All that have not ended are at the grid barrier. If some have, one that waits says so. */
static void open_grid_barrier(cpu_interleave *it) {
  it->grid->grid_barrier->finished = it->count - it->live;
  if (it->live < it->count)
    it->wrong = "grid barrier divergence";
  else
    it->grid->observer->grid(it->grid);
  for (unsigned i = 0; i < it->count; i++) it->residents[i].at_grid = false;
}

static void run_block(cpu_interleave *it, cpu_resident *resident) {
  cpu_current = resident->worker;
  it->running = resident;
  cpu_grid_run(it->grid, resident->worker, resident->block, resident->block + 1);
  if (resident->worker->fibers->paused) return;
  resident->ended = it->next == it->grid->blocks;
  if (resident->ended)
    it->live--;
  else
    resident->block = it->next++;
}

void cpu_interleave_run(cpu_crew *crew, cpu_grid *grid, cpu_worker *me, uint64_t seed, unsigned residents,
                        bool cooperative) {
  cpu_interleave *it = mw_calloc(1, sizeof *it);
  *it = (cpu_interleave){
      .grid = grid, .random = cpu_mixed(seed), .count = residents, .live = residents, .next = residents};
  it->rarity = seed ? 1 + (unsigned)(cpu_interleave_draw(it) % RAREST) : NEVER;
  grow_crew(crew, residents);
  for (unsigned i = 0; i < residents; i++) it->residents[i] = (cpu_resident){.worker = crew->workers[i], .block = i};
  crew->grid_barrier = (cpu_grid_barrier){.blocks = residents};
  grid->grid_barrier = cooperative ? &crew->grid_barrier : NULL;
  grid->interleave = it;
  grid->seed = seed ? cpu_interleave_draw(it) : 0;
  cpu_grid_take_fibers(grid);
  enter(it, me);
  while (it->live && !cpu_stopped(&grid->stop)) {
    cpu_resident *next = pick(it);
    next ? run_block(it, next) : open_grid_barrier(it);
  }
  leave(it);
  grid->interleave = NULL;
  mw_free(it);
}
