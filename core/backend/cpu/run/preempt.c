/* SPDX-License-Identifier: MIT
 *
 * Where threads of an interleaved grid are preempted. Two threads see each other's order only where they do what others
 * see: at atomic and volatile accesses, at fences, and at plain accesses of memory that another thread has used. These
 * are the points; elsewhere a switch would change nothing (M. Musuvathi et al., "Finding and reproducing Heisenbugs in
 * concurrent programs", 2008). At some of them another thread runs first, or the thread or its block is held for a while:
 * errors in orders want a thread that stands still while others go far (S. Burckhardt et al., "A randomized scheduler
 * with probabilistic guarantees of finding bugs", 2010). */
#include "core/backend/cpu/run/machine.h"

#include <stddef.h>
#include <string.h>

enum { LONGEST = 12 };         /* a hold lasts 1 to 2^11 points */
enum { QUIET_MOST = 1 << 20 }; /* rounds of waiting in which nobody has done anything, after which nobody will */
enum { STILL_MOST = 1 << 27 }; /* the same of points, where loops wait that are not known for it */
enum { WORK_POINTS = 64 };     /* a thread that passes so many and does not wait in between does something */
enum { REST_POINTS = 256 };    /* until others run in any case: a loop may wait and not be known for it */
enum { STOP_POINTS = 1024 };   /* between two looks at Ctrl-C */

uint64_t cpu_interleave_draw(cpu_interleave *it) {
  return it->random = cpu_mixed(it->random);
}

static unsigned long long draw_hold(cpu_interleave *it) {
  return it->points + (1ull << cpu_interleave_draw(it) % LONGEST);
}

/* ---- has memory changed? --------------------------------------------------------------------------------------- */

static void look_at_memory(cpu_interleave *it) {
  if (!it->written.at) return;
  if (memcmp(it->written.at, it->written.was, it->written.bytes)) {
    it->quiet = 0;
    it->changed = it->points;
  }
  it->written.at = NULL;
}

static bool is_hang(cpu_interleave *it, cpu_lane *lane, bool waits) {
  lane->worked = waits ? 0 : lane->worked + 1;
  if (waits) it->quiet++;
  if (lane->worked >= WORK_POINTS) it->quiet = 0;
  return it->quiet >= QUIET_MOST || it->points - it->changed >= STILL_MOST;
}

void cpu_preempt_written(cpu_interleave *it, const void *at, unsigned bytes) {
  look_at_memory(it);
  it->written.at = at;
  it->written.bytes = bytes < sizeof it->written.was ? bytes : sizeof it->written.was;
  memcpy(it->written.was, at, it->written.bytes);
}

__attribute__((noreturn)) static void tell_hang(cpu_block_fibers *fibers) {
  const cpu_breach breach = {.hang = true,
                             .lanes = {cpu_fibers_lane(fibers)},
                             .verbs = {"wait"},
                             .text = "threads wait, and none changes memory any more"};
  fibers->grid->observer->breach(fibers, &breach);
  cpu_fibers_abandon(fibers, "hang: this thread waits, as others may, and none changes memory any more");
}

/* ---- who runs -------------------------------------------------------------------------------------------------- */

/* Nobody else of the block can run. */
static bool is_alone(const cpu_block_fibers *fibers) {
  const unsigned w = fibers->current / MW_CUDA_WARP;
  return !(fibers->ready_warps & ~(1u << w)) && fibers->warps[w].ready == 1u << fibers->current % MW_CUDA_WARP;
}

static void pause_block(cpu_interleave *it, cpu_block_fibers *fibers, unsigned long long until) {
  it->running->until = until;
  cpu_fibers_pause(fibers);
}

static void hold_thread(cpu_block_fibers *fibers, unsigned long long until) {
  cpu_fibers_lane(fibers)->until = until;
  cpu_fibers_stop(fibers, offsetof(cpu_warp, held), "an access", "", 0);
  cpu_fibers_wait(fibers);
}

static void let_others_run(cpu_interleave *it, cpu_block_fibers *fibers) {
  const bool alone = is_alone(fibers), other_block = it->live > 1 && (alone || cpu_interleave_draw(it) % 4 == 0);
  if (other_block)
    pause_block(it, fibers, 0);
  else if (!alone)
    cpu_fibers_yield(fibers);
}

static void preempt(cpu_interleave *it, cpu_block_fibers *fibers) {
  const bool alone = is_alone(fibers);
  const uint64_t how = cpu_interleave_draw(it) % 4;
  if (how == 0)
    let_others_run(it, fibers);
  else if (it->live > 1 && (alone || how == 1))
    pause_block(it, fibers, draw_hold(it));
  else if (!alone)
    hold_thread(fibers, draw_hold(it));
}

void cpu_preempt(cpu_block_fibers *fibers, bool waits) {
  cpu_interleave *it = fibers->grid->interleave;
  it->points++;
  look_at_memory(it);
  if (is_hang(it, cpu_fibers_lane(fibers), waits)) tell_hang(fibers);
  if (it->points % STOP_POINTS == 0 && cpu_stopped(&fibers->grid->stop)) cpu_fibers_pause(fibers);
  cpu_fibers_wake_held(fibers, it->points);
  if (waits || it->points % REST_POINTS == 0)
    let_others_run(it, fibers);
  else if (cpu_interleave_draw(it) % (1ull << it->rarity) == 0)
    preempt(it, fibers);
}

const char *cpu_preempt_at_grid(cpu_block_fibers *fibers) {
  cpu_interleave *it = fibers->grid->interleave;
  it->running->at_grid = true;
  cpu_fibers_pause(fibers);
  return it->wrong;
}
