/* SPDX-License-Identifier: MIT
 *
 * A block in the fiber engine: the barriers its threads meet at, their exits, and what units call. The last to arrive
 * at a barrier goes on without a switch. */
#include "core/backend/cpu/run/machine.h"

#include "core/base/memory.h"

#include <stdio.h>
#include <string.h>

/* ---- barriers -------------------------------------------------------------------------------------------------- */

static const char *const barrier_names[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and",
                                            "__syncthreads_or"};

static bool same_place(const char *a, int a_line, const char *b, int b_line) {
  return a_line == b_line && (a == b || strcmp(a, b) == 0);
}

/* Those of one set, which lie at so many bytes in every warp, can run again. */
static void release(cpu_crew *crew, size_t set) {
  for (unsigned w = 0; w * CPU_WARP < crew->threads; w++) {
    uint32_t *lanes = (uint32_t *)((char *)&crew->warps[w] + set);
    cpu_crew_wake(crew, w, *lanes);
    *lanes = 0;
  }
}

static void release_barrier(cpu_crew *crew) {
  const unsigned truths = crew->truths;
  crew->result = crew->op == MW_BARRIER_COUNT ? (int)truths
                 : crew->op == MW_BARRIER_AND ? truths == crew->arrived
                                              : truths > 0;
  crew->arrived = crew->truths = 0;
  release(crew, offsetof(cpu_warp, at_barrier));
}

/* One who arrives at another barrier than the first is not counted, so the block ends up divergent. */
static bool joins(cpu_crew *crew, enum mw_barrier_op op, const char *file, int line, int column) {
  if (!crew->arrived) {
    crew->op = op;
    crew->file = file;
    crew->line = line;
    crew->column = column;
    return true;
  }
  return crew->op == op && crew->column == column && same_place(crew->file, crew->line, file, line);
}

static int barrier(enum mw_barrier_op op, int value, const char *file, int line, int column) {
  cpu_crew *crew = cpu_current->crew;
  cpu_crew_stop(crew, offsetof(cpu_warp, at_barrier), barrier_names[op], file, line)->column = column;
  if (joins(crew, op, file, line, column)) {
    crew->arrived++;
    crew->truths += value != 0;
  }
  if (crew->arrived == crew->live)
    release_barrier(crew);
  else
    cpu_crew_wait(crew);
  return crew->result;
}

/* ---- named barriers: PTX ISA, "barrier" ------------------------------------------------------------------------ */

static bool named_complete(const cpu_crew *crew, const cpu_named *named) {
  return named->arrived && named->arrived == (named->count ? named->count : crew->live);
}

static void release_named(cpu_crew *crew, unsigned id) {
  crew->named[id].arrived = 0;
  for (unsigned w = 0; w * CPU_WARP < crew->threads; w++) {
    cpu_warp *warp = &crew->warps[w];
    uint32_t free = 0;
    for (uint32_t rest = warp->at_named; rest; rest &= rest - 1)
      if (warp->lanes[__builtin_ctz(rest)].named == id) free |= rest & -rest;
    warp->at_named &= ~free;
    cpu_crew_wake(crew, w, free);
  }
}

static void settle_named(cpu_crew *crew) {
  for (unsigned id = 0; id < CPU_NAMED; id++)
    if (named_complete(crew, &crew->named[id])) release_named(crew, id);
}

static void check_named(cpu_crew *crew, unsigned id, unsigned count, const char *what, const char *file, int line) {
  if (id >= CPU_NAMED)
    cpu_crew_abandon(crew, "%s at %s:%d: barrier %u, there are 0 to %d", what, file, line, id, CPU_NAMED - 1);
  if (count % CPU_WARP)
    cpu_crew_abandon(crew, "%s at %s:%d: %u threads, wanted a multiple of %d", what, file, line, count, CPU_WARP);
  const cpu_named *named = &crew->named[id];
  if (named->arrived && named->count != count)
    cpu_crew_abandon(crew, "%s at %s:%d: %u threads meet at barrier %u, where others wait for %u", what, file, line,
                     count, id, named->count);
}

static void named_barrier(unsigned id, unsigned count, const char *what, const char *file, int line) {
  cpu_crew *crew = cpu_current->crew;
  check_named(crew, id, count, what, file, line);
  cpu_crew_stop(crew, offsetof(cpu_warp, at_named), what, file, line)->named = id;
  crew->any_named = true;
  crew->named[id].count = count;
  crew->named[id].arrived++;
  if (named_complete(crew, &crew->named[id]))
    release_named(crew, id);
  else
    cpu_crew_wait(crew);
}

/* ---- the grid barrier ------------------------------------------------------------------------------------------ */

/* Waits for the other blocks. NULL: they came; else what is wrong. */
static const char *meet_blocks(cpu_grid *grid) {
  cpu_meeting *meeting = grid->meeting;
  const char *wrong = NULL;
  pthread_mutex_lock(&meeting->lock);
  unsigned long turn = meeting->turn;
  if (++meeting->waiting == meeting->blocks) {
    meeting->waiting = 0;
    meeting->turn++;
    pthread_cond_broadcast(&meeting->changed);
  }
  while (turn == meeting->turn && !wrong) {
    if (meeting->waiting + meeting->finished == meeting->blocks)
      wrong = "grid barrier divergence";
    else if (cpu_stopped(&grid->stop))
      wrong = "";
    else
      cpu_wait_briefly(&meeting->changed, &meeting->lock, 0.02);
  }
  pthread_mutex_unlock(&meeting->lock);
  return wrong;
}

static void give_up(cpu_crew *crew, const char *wrong) {
  crew->worker->busy = 0;
  if (!*wrong) {
    crew->worker->fault.kind = CPU_FAULT_ABORTED;
    crew->abandoned = true;
    cpu_fiber_switch(&cpu_crew_lane(crew)->fiber, &crew->worker->home);
  }
  cpu_crew_abandon(crew, "%s: this block waits at %s:%d (grid sync) while %u of %u blocks have ended", wrong,
                   crew->grid_file, crew->grid_line, crew->grid->meeting->finished, crew->grid->meeting->blocks);
}

static void meet_all(cpu_crew *crew) {
  crew->worker->busy = 1;
  const char *wrong = meet_blocks(crew->grid);
  if (wrong) give_up(crew, wrong);
  crew->worker->busy = 0;
  crew->at_grid = 0;
  release(crew, offsetof(cpu_warp, at_grid));
}

static void grid_barrier(const char *file, int line) {
  cpu_crew *crew = cpu_current->crew;
  if (!crew->grid->meeting)
    cpu_crew_abandon(crew, "grid sync at %s:%d outside a cooperative launch: prepare it with cooperative = true", file,
                     line);
  cpu_crew_stop(crew, offsetof(cpu_warp, at_grid), "grid sync", file, line);
  crew->grid_file = file;
  crew->grid_line = line;
  if (++crew->at_grid == crew->live)
    meet_all(crew);
  else
    cpu_crew_wait(crew);
}

void cpu_meeting_leave(cpu_meeting *meeting) {
  pthread_mutex_lock(&meeting->lock);
  meeting->finished++;
  pthread_cond_broadcast(&meeting->changed);
  pthread_mutex_unlock(&meeting->lock);
}

/* ---- exits ----------------------------------------------------------------------------------------------------- */

/* The others may have waited for this one only: exited threads do not count. */
static void exit_lane(cpu_crew *crew) {
  unsigned w = crew->current / CPU_WARP;
  uint32_t bit = 1u << crew->current % CPU_WARP;
  crew->warps[w].ready &= ~bit;
  crew->warps[w].exited |= bit;
  crew->live--;
  if (crew->warps[w].ngroups) cpu_warp_settle(crew, w);
  if (crew->arrived && crew->arrived == crew->live) release_barrier(crew);
  if (crew->any_named) settle_named(crew);
  if (crew->at_grid && crew->at_grid == crew->live) meet_all(crew);
  cpu_crew_wait(crew);
}

/* A fiber outlives its block: it runs the same CUDA thread of the next one. A kernel may have overwritten this frame,
 * so after it everything comes from the worker. */
static void fiber_main(void *argument) {
  cpu_fiber_started(&((cpu_lane *)argument)->fiber);
  for (;;) {
    cpu_grid *grid = cpu_current->crew->grid;
    grid->unit->thread(&grid->abi);
    exit_lane(cpu_current->crew);
  }
}

/* ---- a block --------------------------------------------------------------------------------------------------- */

mw_dim3 cpu_block_index(const cpu_grid *grid, unsigned long long linear) {
  unsigned long long x = grid->abi.grid.x, y = grid->abi.grid.y;
  return (mw_dim3){(unsigned)(linear % x), (unsigned)(linear / x % y), (unsigned)(linear / (x * y))};
}

static void place_threads(cpu_crew *crew, cpu_grid *grid, mw_dim3 at) {
  const mw_dim3 size = grid->abi.block;
  mw_dim3 index = {0, 0, 0};
  for (unsigned rank = 0; rank < crew->threads; rank++) {
    cpu_lane *lane = &crew->warps[rank / CPU_WARP].lanes[rank % CPU_WARP];
    lane->thread = (mw_thread){index, at, &grid->abi, &crew->worker->lent, rank};
    lane->request = NULL;
    if (++index.x < size.x) continue;
    index.x = 0;
    if (++index.y < size.y) continue;
    index.y = 0;
    index.z++;
  }
}

static void line_up(cpu_crew *crew) {
  const unsigned warps = (crew->threads + CPU_WARP - 1) / CPU_WARP;
  crew->live = crew->threads;
  crew->arrived = crew->truths = crew->at_grid = 0;
  crew->ready_warps = warps == CPU_WARPS ? ~0u : (1u << warps) - 1;
  crew->abandoned = crew->any_named = false;
  memset(crew->named, 0, sizeof crew->named);
  crew->current = 0;
  for (unsigned w = 0; w < warps; w++) {
    cpu_warp *warp = &crew->warps[w];
    unsigned lanes = crew->threads - w * CPU_WARP;
    warp->ready = lanes >= CPU_WARP ? ~0u : (1u << lanes) - 1;
    warp->at_barrier = warp->at_named = warp->at_warp = warp->at_grid = warp->asking = warp->exited = 0;
    warp->ngroups = 0;
  }
}

static const cpu_lane *waiting_lane(const cpu_crew *crew, const cpu_lane *unlike) {
  for (unsigned k = 0; k < crew->threads; k++) {
    unsigned rank = unlike ? crew->threads - 1 - k : k;
    const cpu_warp *warp = &crew->warps[rank / CPU_WARP];
    const cpu_lane *lane = &warp->lanes[rank % CPU_WARP];
    if (warp->exited >> rank % CPU_WARP & 1) continue;
    if (!unlike || lane->what != unlike->what || lane->column != unlike->column ||
        !same_place(lane->file, lane->line, unlike->file, unlike->line))
      return lane;
  }
  return NULL;
}

static void tell_place(cpu_fault *fault, const char *before, const cpu_lane *lane) {
  const mw_dim3 t = lane->thread.thread_idx;
  mw_list_add(fault->text, sizeof fault->text, before, "thread (%u,%u,%u) waits at %.200s:%d (%s", t.x, t.y, t.z,
              lane->file, lane->line, lane->what);
  if (lane->request) mw_list_add(fault->text, sizeof fault->text, ", ", "mask 0x%08x", lane->request->mask);
}

static void report_divergence(cpu_crew *crew) {
  cpu_fault *fault = &crew->worker->fault;
  const cpu_lane *first = waiting_lane(crew, NULL), *other = waiting_lane(crew, first);
  const bool one_line =
      other && other->what == first->what && same_place(first->file, first->line, other->file, other->line);
  fault->kind = CPU_FAULT_RULE;
  fault->block = crew->worker->lent.block;
  fault->has_thread = false;
  strcpy(fault->text, "barrier divergence");
  tell_place(fault, ": ", first);
  if (other) tell_place(fault, ") while ", other);
  mw_list_add(fault->text, sizeof fault->text, one_line ? ", another one on that line" : "", "%s",
              other ? ")" : ") for threads that never come");
}

bool cpu_crew_run(cpu_crew *crew, cpu_grid *grid, unsigned long long block) {
  crew->grid = grid;
  crew->threads = grid->abi.block.x * grid->abi.block.y * grid->abi.block.z;
  if (!cpu_crew_prepare(crew, (crew->threads + CPU_WARP - 1) / CPU_WARP, fiber_main)) {
    crew->worker->fault = (cpu_fault){.kind = CPU_FAULT_RULE, .block = block};
    snprintf(crew->worker->fault.text, sizeof crew->worker->fault.text, "the system has no memory for its stacks");
    return false;
  }
  crew->self = grid->table->self();
  place_threads(crew, grid, cpu_block_index(grid, block));
  line_up(crew);
  crew->dirty = true; /* until all have exited */
  crew->worker->in_crew = true;
  cpu_crew_start(crew);
  crew->worker->in_crew = false;
  crew->dirty = crew->live > 0;
  if (!crew->live) return true;
  if (!crew->abandoned) report_divergence(crew);
  return false;
}

/* ---- what units call ------------------------------------------------------------------------------------------- */

static unsigned active_mask(void) {
  cpu_crew *crew = cpu_current->crew;
  if (!cpu_current->in_crew) return 1;
  cpu_lane *lane = cpu_crew_stop(crew, offsetof(cpu_warp, asking), "__activemask", "", 0);
  lane->site = __builtin_return_address(0);
  cpu_crew_wait(crew);
  return (unsigned)lane->result;
}

static void yield(void) {
  if (cpu_current->in_crew) cpu_crew_yield(cpu_current->crew);
}

static unsigned long long warp_operation(const mw_warp_request *request) {
  return cpu_warp_meet(cpu_current->crew, request);
}

__attribute__((format(printf, 1, 2))) static int print(const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = cpu_print(cpu_current, format, args);
  va_end(args);
  return length;
}

/* A loop or split kernel does not know its thread: explain.c finds it. */
__attribute__((noreturn)) static void fail(const char *what, const char *file, int line) {
  cpu_worker *worker = cpu_current;
  cpu_fault *fault = &worker->fault;
  *fault = (cpu_fault){.kind = CPU_FAULT_FAIL}; /* nothing of an earlier one */
  cpu_fault_place(worker);
  snprintf(fault->text, sizeof fault->text, "%s at %s:%d", what, file, line);
  cpu_fault_leave(worker);
}

/* A function's canary was overwritten, seen when it returns: in a loop or split kernel after all its blocks. */
__attribute__((noreturn)) static void overrun(void) {
  cpu_worker *worker = cpu_current;
  worker->armed = 0;
  worker->fault = (cpu_fault){.kind = CPU_FAULT_SIGNAL, .target = CPU_TARGET_LOCAL};
  cpu_fault_place(worker);
  if (!worker->fault.has_thread) {
    worker->fault.block = worker->first;
    worker->fault.blocks = worker->last - worker->first;
  }
  cpu_fault_leave(worker);
}

const mw_runtime cpu_runtime = {barrier, named_barrier, grid_barrier, warp_operation, active_mask,
                                yield,   print,         fail,         overrun};
