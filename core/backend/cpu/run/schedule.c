/* SPDX-License-Identifier: MIT
 *
 * Which fiber of a block runs next. One that must wait clears its ready bit and switches straight to the next one that
 * can run: first in its own warp (warp operations stay in the cache), then in the next warp that has one. When nobody
 * can run, the switch goes home: either all have exited or the block is divergent. */
#include "core/backend/cpu/run/machine.h"

#include "core/base/memory.h"

#include <sched.h>
#include <stdio.h>

enum { YIELDS = 1024 }; /* of a block's threads to each other, until the whole CPU thread yields */

/* ---- fibers of a crew ------------------------------------------------------------------------------------------ */

cpu_crew *cpu_crew_make(cpu_worker *worker) {
  cpu_crew *crew = mw_calloc(1, sizeof *crew);
  crew->worker = worker;
  return crew;
}

void cpu_crew_free(cpu_crew *crew) {
  for (unsigned w = 0; w < CPU_WARPS; w++) {
    cpu_warp *warp = &crew->warps[w];
    for (unsigned i = 0; warp->lanes && i < CPU_WARP; i++) cpu_fiber_drop(&warp->lanes[i].fiber);
    mw_free(warp->lanes);
    cpu_slab_free(&warp->slab);
  }
  mw_free(crew);
}

static void make_fibers(cpu_warp *warp, void (*entry)(void *)) {
  for (unsigned i = 0; i < CPU_WARP; i++) {
    cpu_lane *lane = &warp->lanes[i];
    cpu_fiber_make(&lane->fiber, cpu_slab_stack(&warp->slab, i), lane->thread.rank, entry, lane);
  }
}

static bool make_warp(cpu_crew *crew, unsigned w, void (*entry)(void *)) {
  cpu_warp *warp = &crew->warps[w];
  if (cpu_slab_make(&warp->slab)) return false;
  warp->lanes = mw_calloc(CPU_WARP, sizeof *warp->lanes);
  for (unsigned i = 0; i < CPU_WARP; i++) warp->lanes[i].thread.rank = w * CPU_WARP + i;
  make_fibers(warp, entry);
  return true;
}

/* All are then at their beginning or at the end of a block. */
bool cpu_crew_prepare(cpu_crew *crew, unsigned warps, void (*entry)(void *)) {
  crew->worker->busy = 1;
  for (unsigned w = 0; crew->dirty && w < crew->made; w++) make_fibers(&crew->warps[w], entry);
  crew->dirty = false;
  while (crew->made < warps && make_warp(crew, crew->made, entry)) crew->made++;
  crew->worker->busy = 0;
  return crew->made >= warps;
}

/* ---- choosing who runs ----------------------------------------------------------------------------------------- */

void cpu_crew_wake(cpu_crew *crew, unsigned w, uint32_t lanes) {
  crew->warps[w].ready |= lanes;
  if (lanes) crew->ready_warps |= 1u << w;
}

/* The first set bit after `from`, going round; bits is not 0. */
static unsigned next_bit(uint32_t bits, unsigned from) {
  uint32_t above = from < 31 ? bits & (~0u << (from + 1)) : 0;
  return (unsigned)__builtin_ctz(above ? above : bits);
}

/* Nobody else in the warp can run: those who asked for the active mask at one place are the ones converged there. */
static void answer_mask(cpu_crew *crew, unsigned w) {
  cpu_warp *warp = &crew->warps[w];
  const void *site = warp->lanes[__builtin_ctz(warp->asking)].site;
  uint32_t together = 0;
  for (uint32_t rest = warp->asking; rest; rest &= rest - 1) {
    unsigned i = (unsigned)__builtin_ctz(rest);
    if (warp->lanes[i].site == site) together |= 1u << i;
  }
  for (uint32_t rest = together; rest; rest &= rest - 1) warp->lanes[__builtin_ctz(rest)].result = together;
  warp->asking &= ~together;
  cpu_crew_wake(crew, w, together);
}

/* False: nobody can run. */
static bool pick_next(cpu_crew *crew) {
  unsigned w = crew->current / CPU_WARP, from = crew->current % CPU_WARP;
  cpu_warp *warp = &crew->warps[w];
  if (!warp->ready && warp->asking) answer_mask(crew, w);
  if (!warp->ready) {
    crew->ready_warps &= ~(1u << w);
    if (!crew->ready_warps) return false;
    w = next_bit(crew->ready_warps, w);
    warp = &crew->warps[w];
    from = 31;
  }
  crew->current = w * CPU_WARP + next_bit(warp->ready, from);
  return true;
}

static void resume(cpu_crew *crew, cpu_fiber *from) {
  cpu_lane *next = cpu_crew_lane(crew);
  *crew->self = &next->thread;
  if (&next->fiber != from) cpu_fiber_switch(from, &next->fiber);
}

void cpu_crew_start(cpu_crew *crew) {
  resume(crew, &crew->worker->home);
}

void cpu_crew_wait(cpu_crew *crew) {
  if (crew->grid->watch) cpu_fault_watch(crew->worker, crew->grid->watch);
  cpu_lane *lane = cpu_crew_lane(crew);
  if (pick_next(crew))
    resume(crew, &lane->fiber);
  else
    cpu_fiber_switch(&lane->fiber, &crew->worker->home);
}

void cpu_crew_abandon(cpu_crew *crew, const char *format, ...) {
  cpu_worker *worker = crew->worker;
  cpu_lane *lane = cpu_crew_lane(crew);
  va_list args;
  va_start(args, format);
  vsnprintf(worker->fault.text, sizeof worker->fault.text, format, args);
  va_end(args);
  worker->fault.kind = CPU_FAULT_RULE;
  worker->fault.block = worker->lent.block;
  worker->fault.has_thread = true;
  worker->fault.thread = lane->thread.thread_idx;
  crew->abandoned = true;
  cpu_fiber_switch(&lane->fiber, &crew->worker->home);
  __builtin_unreachable();
}

/* All of the block in turn: a thread may spin on what another one writes. */
void cpu_crew_yield(cpu_crew *crew) {
  if (++crew->yields % YIELDS == 0) sched_yield(); /* what is waited for may be on a thread that does not run */
  cpu_lane *lane = cpu_crew_lane(crew);
  unsigned w = crew->current / CPU_WARP, i = crew->current % CPU_WARP;
  uint32_t later = crew->warps[w].ready & (i < 31 ? ~0u << (i + 1) : 0);
  if (!later && crew->ready_warps & ~(1u << w)) {
    unsigned other = next_bit(crew->ready_warps, w);
    crew->current = other * CPU_WARP + (unsigned)__builtin_ctz(crew->warps[other].ready);
  } else {
    crew->current = w * CPU_WARP + next_bit(crew->warps[w].ready, i);
  }
  resume(crew, &lane->fiber);
}
