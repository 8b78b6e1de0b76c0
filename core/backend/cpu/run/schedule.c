/* SPDX-License-Identifier: MIT
 *
 * Which fiber of a block runs next. One that must wait clears its ready bit and switches straight to the next one that
 * can run: first in its own warp (warp operations stay in the cache), then in the next warp that has one. When none can
 * run, the switch goes home: either all have exited or the block is divergent. */
#include "core/backend/cpu/run/machine.h"

#include "core/base/memory.h"

#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>

enum { TURN_YIELDS = 64 }; /* until another block has its turn in check mode, or in another order */
enum { MEETINGS = 1024 };  /* in which lanes of a warp stay behind, until they go on */
enum { SPINS = 256 };      /* of other lanes in loops that wait, until those that have met go on in any case */
enum { YIELDS = 1024 };    /* of a block's threads to each other, until the whole CPU thread yields */

/* ---- a block's fibers ------------------------------------------------------------------------------------------ */

cpu_block_fibers *cpu_fibers_make(cpu_worker *worker) {
  cpu_block_fibers *fibers = mw_calloc(1, sizeof *fibers);
  fibers->worker = worker;
  return fibers;
}

void cpu_fibers_free(cpu_block_fibers *fibers) {
  for (unsigned w = 0; w < CPU_WARPS; w++) {
    cpu_warp *warp = &fibers->warps[w];
    for (unsigned i = 0; warp->lanes && i < MW_CUDA_WARP; i++) cpu_fiber_drop(&warp->lanes[i].fiber);
    mw_free(warp->lanes);
    cpu_slab_free(&warp->slab);
  }
  mw_free(fibers);
}

static void make_fibers(cpu_warp *warp, void (*entry)(void *)) {
  for (unsigned i = 0; i < MW_CUDA_WARP; i++) {
    cpu_lane *lane = &warp->lanes[i];
    cpu_fiber_make(&lane->fiber, cpu_slab_stack(&warp->slab, i), lane->thread.rank, entry, lane);
  }
}

static bool make_warp(cpu_block_fibers *fibers, unsigned w, void (*entry)(void *)) {
  cpu_warp *warp = &fibers->warps[w];
  if (cpu_slab_make(&warp->slab)) return false;
  warp->lanes = mw_calloc(MW_CUDA_WARP, sizeof *warp->lanes);
  for (unsigned i = 0; i < MW_CUDA_WARP; i++) warp->lanes[i].thread.rank = w * MW_CUDA_WARP + i;
  make_fibers(warp, entry);
  return true;
}

/* All are then at their beginning or at the end of a block. */
bool cpu_fibers_prepare(cpu_block_fibers *fibers, unsigned warps, void (*entry)(void *)) {
  fibers->worker->busy = 1;
  for (unsigned w = 0; fibers->dirty && w < fibers->made; w++) make_fibers(&fibers->warps[w], entry);
  fibers->dirty = false;
  while (fibers->made < warps && make_warp(fibers, fibers->made, entry)) fibers->made++;
  fibers->worker->busy = 0;
  return fibers->made >= warps;
}

/* ---- choosing who runs ----------------------------------------------------------------------------------------- */

void cpu_fibers_wake(cpu_block_fibers *fibers, unsigned w, uint32_t lanes) {
  fibers->warps[w].ready |= lanes;
  if (lanes) fibers->ready_warps |= 1u << w;
}

bool cpu_fibers_wake_held(cpu_block_fibers *fibers, unsigned long long until) {
  bool any = false;
  for (unsigned w = 0; w * MW_CUDA_WARP < fibers->threads; w++) {
    cpu_warp *warp = &fibers->warps[w];
    uint32_t lanes = 0;
    for (uint32_t rest = warp->held; rest; rest &= rest - 1)
      if (warp->lanes[__builtin_ctz(rest)].until <= until) lanes |= rest & -rest;
    warp->held &= ~lanes;
    cpu_fibers_wake(fibers, w, lanes);
    any |= lanes != 0;
  }
  return any;
}

/* The first set bit after `from`, going round; bits is not 0. */
static unsigned next_bit(uint32_t bits, unsigned from) {
  uint32_t above = from < 31 ? bits & (~0u << (from + 1)) : 0;
  return (unsigned)__builtin_ctz(above ? above : bits);
}

/* The same before `from`. */
static unsigned previous_bit(uint32_t bits, unsigned from) {
  const uint32_t below = bits & (uint32_t)((1ull << from) - 1);
  return 31 - (unsigned)__builtin_clz(below ? below : bits);
}

static unsigned nth_bit(uint32_t bits, unsigned n) {
  while (n--) bits &= bits - 1;
  return (unsigned)__builtin_ctz(bits);
}

/* The lane, or the warp, that follows `from` in the block's order; 32: the first one. */
static unsigned following(cpu_block_fibers *fibers, uint32_t bits, unsigned from) {
  if (!fibers->order) return next_bit(bits, from);
  if (fibers->order == CPU_REVERSED) return previous_bit(bits, from);
  fibers->order = cpu_mixed(fibers->order);
  return nth_bit(bits, (unsigned)(fibers->order % (unsigned)__builtin_popcount(bits)));
}

/* Nobody else in the warp can run: those who asked for the active mask at one place are the ones converged there. */
static void answer_mask(cpu_block_fibers *fibers, unsigned w) {
  cpu_warp *warp = &fibers->warps[w];
  const void *site = warp->lanes[__builtin_ctz(warp->asking)].site;
  uint32_t together = 0;
  for (uint32_t rest = warp->asking; rest; rest &= rest - 1) {
    unsigned i = (unsigned)__builtin_ctz(rest);
    if (warp->lanes[i].site == site) together |= 1u << i;
  }
  for (uint32_t rest = together; rest; rest &= rest - 1) warp->lanes[__builtin_ctz(rest)].result = together;
  warp->asking &= ~together;
  cpu_fibers_wake(fibers, w, together);
}

/* All who have met at the place that is first in the text; from time to time all who have met, since one who stays may
 * set what the others ask for. */
static void end_meeting(cpu_block_fibers *fibers, unsigned w) {
  cpu_warp *warp = &fibers->warps[w];
  unsigned first = UINT_MAX;
  uint32_t lanes = 0;
  for (uint32_t rest = warp->meeting; rest; rest &= rest - 1)
    if (warp->lanes[__builtin_ctz(rest)].place < first) first = warp->lanes[__builtin_ctz(rest)].place;
  for (uint32_t rest = warp->meeting; rest; rest &= rest - 1)
    if (warp->lanes[__builtin_ctz(rest)].place == first) lanes |= rest & -rest;
  if (lanes != warp->meeting && ++warp->left % MEETINGS == 0) lanes = warp->meeting;
  warp->meeting &= ~lanes;
  warp->spins = 0;
  cpu_fibers_wake(fibers, w, lanes);
}

/* Nobody else in the warp can run. The observer says which lane goes on first. */
static unsigned end_rest(cpu_block_fibers *fibers, unsigned w) {
  cpu_warp *warp = &fibers->warps[w];
  const uint32_t lanes = warp->resting;
  warp->resting = 0;
  cpu_fibers_wake(fibers, w, lanes);
  return fibers->grid->observer->rested(fibers, w, lanes);
}

/* False: no lane can run. */
static bool pick_next(cpu_block_fibers *fibers) {
  unsigned w = fibers->current / MW_CUDA_WARP, from = fibers->current % MW_CUDA_WARP;
  cpu_warp *warp = &fibers->warps[w];
  if (!warp->ready && warp->resting) {
    fibers->current = w * MW_CUDA_WARP + end_rest(fibers, w);
    return true;
  }
  if (!warp->ready && warp->meeting && !warp->held) end_meeting(fibers, w);
  if (!warp->ready && warp->asking) answer_mask(fibers, w);
  if (!warp->ready) {
    fibers->ready_warps &= ~(1u << w);
    if (!fibers->ready_warps && !cpu_fibers_wake_held(fibers, ULLONG_MAX)) return false;
    w = following(fibers, fibers->ready_warps, w);
    warp = &fibers->warps[w];
    from = MW_CUDA_WARP;
  }
  fibers->current = w * MW_CUDA_WARP + following(fibers, warp->ready, from);
  return true;
}

static void resume(cpu_block_fibers *fibers, cpu_fiber *from) {
  cpu_lane *next = cpu_fibers_lane(fibers);
  *fibers->self = &next->thread;
  if (&next->fiber != from) cpu_fiber_switch(from, &next->fiber);
}

void cpu_fibers_start(cpu_block_fibers *fibers) {
  if (fibers->order && fibers->order != CPU_REVERSED) pick_next(fibers);
  resume(fibers, &fibers->worker->home);
}

void cpu_fibers_resume(cpu_block_fibers *fibers) {
  resume(fibers, &fibers->worker->home);
}

void cpu_fibers_pause(cpu_block_fibers *fibers) {
  fibers->paused = true;
  cpu_fiber_switch(&cpu_fibers_lane(fibers)->fiber, &fibers->worker->home);
}

void cpu_fibers_wait(cpu_block_fibers *fibers) {
  if (fibers->grid->watch) cpu_fault_check_redzone(fibers->worker, fibers->grid->watch);
  cpu_lane *lane = cpu_fibers_lane(fibers);
  if (pick_next(fibers))
    resume(fibers, &lane->fiber);
  else
    cpu_fiber_switch(&lane->fiber, &fibers->worker->home);
}

/* What it is to wait for it reaches by itself; so what a message calls the place where it waits does not matter. */
void cpu_fibers_rest(cpu_block_fibers *fibers) {
  cpu_fibers_stop(fibers, offsetof(cpu_warp, resting), "an access", "", 0);
  cpu_fibers_wait(fibers);
}

void cpu_fibers_meet(cpu_block_fibers *fibers, unsigned place) {
  cpu_fibers_stop(fibers, offsetof(cpu_warp, meeting), "an access", "", 0)->place = place;
  cpu_fibers_wait(fibers);
}

void cpu_fibers_spin(cpu_block_fibers *fibers, bool begins) {
  const unsigned w = fibers->current / MW_CUDA_WARP;
  cpu_warp *warp = &fibers->warps[w];
  warp->spinning &= ~(1u << fibers->current % MW_CUDA_WARP);
  if (begins) warp->spinning |= 1u << fibers->current % MW_CUDA_WARP;
  if (!begins || !warp->meeting) return;
  const bool all_spin = !warp->held && !(warp->ready & ~warp->spinning);
  if (++warp->spins == SPINS || all_spin) end_meeting(fibers, w);
}

void cpu_fibers_go_on(cpu_block_fibers *fibers, unsigned after) {
  cpu_lane *lane = cpu_fibers_lane(fibers);
  if (fibers->grid->watch) cpu_fault_check_redzone(fibers->worker, fibers->grid->watch);
  const unsigned w = following(fibers, fibers->ready_warps, after);
  fibers->current = w * MW_CUDA_WARP + following(fibers, fibers->warps[w].ready, MW_CUDA_WARP);
  resume(fibers, &lane->fiber);
}

void cpu_fibers_abandon(cpu_block_fibers *fibers, const char *format, ...) {
  cpu_worker *worker = fibers->worker;
  cpu_lane *lane = cpu_fibers_lane(fibers);
  va_list args;
  va_start(args, format);
  vsnprintf(worker->fault.text, sizeof worker->fault.text, format, args);
  va_end(args);
  worker->fault.kind = CPU_FAULT_RULE;
  worker->fault.block = worker->ctx.block;
  worker->fault.has_thread = true;
  worker->fault.thread = lane->thread.thread_idx;
  fibers->abandoned = true;
  cpu_fiber_switch(&lane->fiber, &fibers->worker->home);
  __builtin_unreachable();
}

/* All of the block in turn: a thread may spin on what another one writes. */
void cpu_fibers_yield(cpu_block_fibers *fibers) {
  const cpu_observer *observer = fibers->grid->observer;
  if (++fibers->yields % YIELDS == 0) sched_yield(); /* what is waited for may be on a thread that does not run */
  if (observer && fibers->yields % TURN_YIELDS == 0) {
    observer->give_turn(fibers->grid, fibers->worker);
    observer->take_turn(fibers->grid, fibers->worker);
  }
  if (fibers->grid->help && fibers->yields % TURN_YIELDS == 0) {
    fibers->worker->busy++; /* not to be ended in the middle */
    fibers->grid->help(fibers->grid->shuffle);
    fibers->worker->busy--;
  }
  cpu_lane *lane = cpu_fibers_lane(fibers);
  unsigned w = fibers->current / MW_CUDA_WARP, i = fibers->current % MW_CUDA_WARP;
  uint32_t later = fibers->warps[w].ready & (i < 31 ? ~0u << (i + 1) : 0);
  if (!later && fibers->ready_warps & ~(1u << w)) {
    unsigned other = next_bit(fibers->ready_warps, w);
    fibers->current = other * MW_CUDA_WARP + (unsigned)__builtin_ctz(fibers->warps[other].ready);
  } else {
    fibers->current = w * MW_CUDA_WARP + next_bit(fibers->warps[w].ready, i);
  }
  resume(fibers, &lane->fiber);
}
