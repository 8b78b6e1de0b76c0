/* SPDX-License-Identifier: MIT
 *
 * A checker and the launches that run under it. */
#include "core/backend/cpu/check/check.h"

#include <stdio.h>
#include <string.h>

/* ---- epochs ---------------------------------------------------------------------------------------------------- */

static void next_launch(cpu_checker *checker) {
  if (++checker->stamp_launch < MW_CHECK_LAUNCHES) return;
  cpu_shadow_clear_launches(&checker->shadow);
  memset(checker->early, 0, sizeof checker->early);
  cpu_lanes_forget(checker);
  cpu_parts_forget(checker);
  checker->stamp_launch = checker->first_stamp = 1;
  checker->cleared = true;
}

static unsigned long long block_stamp(const cpu_checker *checker, unsigned long long block, unsigned epoch) {
  return (unsigned long long)checker->stamp_launch << MW_CELL_LAUNCH |
         (block & ((1ull << (MW_CELL_LAUNCH - MW_CELL_BLOCK)) - 1)) << MW_CELL_BLOCK |
         (unsigned long long)epoch << MW_CELL_EPOCH;
}

static unsigned epoch_of(const cpu_worker *worker) {
  return (unsigned)(worker->stamp >> MW_CELL_EPOCH) % MW_CHECK_EPOCHS;
}

/* A warp that has synchronised more often than a cell can count goes on in further epochs, ahead of its block. */
static inline void stamp_thread(mw_thread *thread, cpu_worker *worker) {
  const unsigned long long syncs = worker->warp_epochs[thread->rank / MW_CUDA_WARP], before = thread->stamp;
  thread->stamp = worker->stamp | (unsigned long long)thread->rank << MW_CELL_RANK;
  if (!syncs) return;
  thread->stamp = (worker->stamp + (syncs / MW_CHECK_WARP_EPOCHS << MW_CELL_EPOCH)) |
                  syncs % MW_CHECK_WARP_EPOCHS << MW_CELL_WARP_EPOCH | (unsigned long long)thread->rank << MW_CELL_RANK;
  if (!((before ^ thread->stamp) >> MW_CELL_EPOCH)) /* the thread goes on in its epoch */
    thread->stamp |= before & ((1ull << MW_CELL_RANK) - (1ull << MW_CELL_FENCES));
}

/* Shared memory ends where its pages end, but for its alignment. Next to it, in these and a page more of each guard, no
 * access is right. */
static cpu_shadow_range pages_of(const cpu_shadow_range *memory) {
  const uintptr_t page = cpu_page_bytes(), from = (memory->from & ~(page - 1)) - page;
  return (cpu_shadow_range){from, ((memory->from + memory->bytes + page - 1) & ~(page - 1)) + page - from};
}

/* It holds no values when a block begins. */
static void lend(cpu_checker *checker, const char *memory, size_t bytes) {
  const cpu_shadow_range all = {(uintptr_t)memory, bytes};
  unsigned i = 0;
  while (i < checker->nlent && checker->lent[i].from != all.from) i++;
  if (i < checker->nlent) return cpu_shadow_fresh(&checker->shadow, all.from, bytes);
  if (!cpu_shadow_add(&checker->shadow, all, pages_of(&all), false)) return;
  checker->lent = mw_grow(checker->lent, checker->nlent, sizeof *checker->lent);
  checker->lent[checker->nlent++] = all;
}

/* What lies between the variables. */
static void close_gaps(cpu_checker *checker, const mw_shared_layout *layout, uintptr_t memory) {
  for (unsigned i = 1; i < layout->nvariables; i++) {
    const mw_shared_variable *before = &layout->variables[i - 1], *next = &layout->variables[i];
    const unsigned long long end = before->offset + before->bytes;
    if (next->offset > end) cpu_shadow_close_range(&checker->shadow, memory + end, (size_t)(next->offset - end));
  }
}

static void lend_shared(cpu_checker *checker, const cpu_grid *grid, const cpu_worker *worker) {
  const mw_shared_layout *fixed = grid->table->shared;
  if (grid->abi.dynamic_shared) lend(checker, worker->ctx.dynamic_shared, grid->abi.dynamic_shared);
  if (!fixed || !fixed->bytes) return;
  lend(checker, worker->ctx.static_shared, (size_t)fixed->bytes);
  close_gaps(checker, fixed, (uintptr_t)worker->ctx.static_shared);
}

static void take_back(cpu_checker *checker) {
  for (unsigned i = 0; i < checker->nlent; i++) {
    const cpu_shadow_range pages = pages_of(&checker->lent[i]);
    cpu_shadow_remove(&checker->shadow, pages.from, pages.bytes);
  }
  checker->nlent = 0;
}

/* The block that ran last has ended. */
static void end_block(cpu_checker *checker) {
  if (checker->idle.begun && !checker->sites->place && checker->idle.blocks++ == 0)
    checker->idle.first = checker->idle.last;
  checker->sites->place = NULL;
}

static void begin_block(cpu_grid *grid, cpu_worker *worker) {
  cpu_checker *checker = grid->checker;
  end_block(checker);
  checker->idle.begun++;
  checker->idle.last = worker->ctx.block;
  worker->busy++; /* not to be ended in the middle of an update */
  if (checker->counters) cpu_counter_block(checker->counter, worker);
  worker->busy--;
  worker->stamp = block_stamp(checker, worker->ctx.block, 0);
  worker->rests = 0;
  worker->met_block = worker->met_flag = false;
  memset(worker->warp_epochs, 0, sizeof worker->warp_epochs);
  lend_shared(checker, grid, worker);
  cpu_order_begin_block(checker, worker);
  cpu_flights_begin_block(checker, worker);
}

static void begin_thread(mw_thread *thread, cpu_worker *worker) {
  const cpu_grid *grid = atomic_load_explicit(&worker->grid, memory_order_relaxed);
  cpu_checker *checker = grid->checker;
  stamp_thread(thread, worker);
  thread->locals = NULL;
  if (checker->logged != worker) {
    checker->logged = worker;
    checker->logs = checker->counters ? cpu_counter_logs(checker->counter, worker) : NULL;
  }
  if (checker->logs) thread->log = &checker->logs[thread->rank / MW_CUDA_WARP].warp;
}

static void stamp_all(cpu_block_fibers *fibers) {
  for (unsigned rank = 0; rank < fibers->threads; rank++)
    stamp_thread(&fibers->warps[rank / MW_CUDA_WARP].lanes[rank % MW_CUDA_WARP].thread, fibers->worker);
}

/* A block of more barriers than a cell can count: all that lies before becomes its first epoch. */
static void fold(cpu_checker *checker, cpu_worker *worker) {
  cpu_shadow_fold(&checker->shadow, worker->stamp);
  cpu_order_fold(checker, worker);
  cpu_lanes_forget(checker);
  cpu_parts_forget(checker);
}

/* Warps that wait there. */
static void count_barrier(cpu_block_fibers *fibers) {
  cpu_checker *checker = fibers->grid->checker;
  fibers->worker->busy++;
  cpu_counter_block(checker->counter, fibers->worker);
  for (unsigned w = 0; w * MW_CUDA_WARP < fibers->threads; w++) {
    const cpu_warp *warp = &fibers->warps[w];
    if (!warp->at_barrier) continue;
    const cpu_lane *lane = &warp->lanes[__builtin_ctz(warp->at_barrier)];
    cpu_counter_barrier(checker->counter, lane->file, lane->line);
  }
  fibers->worker->busy--;
}

/* The barrier where the lane waits, once for each block. */
static void note_missed(const cpu_block_fibers *fibers, const cpu_lane *at) {
  cpu_checker *checker = fibers->grid->checker;
  const cpu_missed *before = checker->missed, *end = before + checker->nmissed;
  const mw_dim3 block = cpu_block_index(fibers->grid, fibers->worker->ctx.block);
  while (before < end && (before->line != at->line || memcmp(&before->block, &block, sizeof block))) before++;
  if (before < end || checker->nmissed == CPU_MISSED) return;
  cpu_missed *it = &checker->missed[checker->nmissed++];
  *it = (cpu_missed){at->file, at->line, block, {0}};
  for (unsigned rank = 0; rank < fibers->threads; rank++) {
    const cpu_warp *warp = &fibers->warps[rank / MW_CUDA_WARP];
    const uint32_t bit = 1u << rank % MW_CUDA_WARP;
    const bool is_there = warp->at_barrier & bit && warp->lanes[rank % MW_CUDA_WARP].line == at->line;
    if (!is_there) it->lanes[rank / MW_CUDA_WARP] |= bit;
  }
}

/* All that still run are there. */
static void note_ended(const cpu_block_fibers *fibers) {
  for (unsigned w = 0; w * MW_CUDA_WARP < fibers->threads; w++) {
    const cpu_warp *warp = &fibers->warps[w];
    if (warp->at_barrier) return note_missed(fibers, &warp->lanes[__builtin_ctz(warp->at_barrier)]);
  }
}

static void meet_block(cpu_block_fibers *fibers) {
  cpu_worker *worker = fibers->worker;
  cpu_checker *checker = fibers->grid->checker;
  unsigned ahead = 0;
  cpu_finding_settle(checker);
  if (checker->counters) count_barrier(fibers);
  if (fibers->live < fibers->threads) note_ended(fibers);
  for (unsigned w = 0; w * MW_CUDA_WARP < fibers->threads; w++)
    if (worker->warp_epochs[w] / MW_CHECK_WARP_EPOCHS > ahead) ahead = worker->warp_epochs[w] / MW_CHECK_WARP_EPOCHS;
  const unsigned epoch = epoch_of(worker) + ahead + 1;
  if (epoch == MW_CHECK_EPOCHS) fold(checker, worker);
  worker->stamp = block_stamp(checker, worker->ctx.block, epoch < MW_CHECK_EPOCHS ? epoch : 1);
  memset(worker->warp_epochs, 0, sizeof worker->warp_epochs);
  cpu_order_next_epoch(checker, worker);
  stamp_all(fibers);
}

static void meet_warp(cpu_block_fibers *fibers, unsigned w, uint32_t lanes, bool orders) {
  cpu_worker *worker = fibers->worker;
  cpu_warp *warp = &fibers->warps[w];
  cpu_checker *checker = fibers->grid->checker;
  const bool all = lanes == cpu_warp_lanes(warp);
  cpu_finding_settle(checker);
  worker->busy++;
  if (all && checker->counters) cpu_counter_warp(checker->counter, worker, w);
  worker->busy--;
  if (!orders) return;
  if (!all) return cpu_order_lanes(fibers, w, lanes);
  const unsigned syncs = ++worker->warp_epochs[w];
  if (epoch_of(worker) + syncs / MW_CHECK_WARP_EPOCHS == MW_CHECK_EPOCHS) {
    worker->warp_epochs[w]--;
    return meet_block(fibers);
  }
  for (unsigned i = 0; i < MW_CUDA_WARP; i++) stamp_thread(&warp->lanes[i].thread, worker);
}

static unsigned rested(cpu_block_fibers *fibers, unsigned w, uint32_t lanes) {
  cpu_worker *worker = fibers->worker;
  const cpu_lane *list = fibers->warps[w].lanes;
  unsigned behind = (unsigned)__builtin_ctz(lanes), furthest = behind;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const unsigned i = (unsigned)__builtin_ctz(rest);
    if (list[i].thread.rounds < list[behind].thread.rounds) behind = i;
    if (list[i].thread.rounds > list[furthest].thread.rounds) furthest = i;
  }
  worker->busy++;
  cpu_counter_full(((cpu_checker *)fibers->grid->checker)->counter, worker, w, &list[behind].thread,
                   list[furthest].thread.rounds);
  worker->busy--;
  return behind;
}

static void meet_named(cpu_block_fibers *fibers, unsigned w, uint32_t lanes, bool last) {
  (void)w, (void)lanes;
  if (last) meet_block(fibers);
}

static void meet_grid(cpu_grid *grid) {
  next_launch(grid->checker);
}

static cpu_party party_of(const cpu_block_fibers *fibers, const cpu_lane *lane, const char *verb) {
  if (!lane) return (cpu_party){0};
  return (cpu_party){.known = true,
                     .block_known = true,
                     .block = fibers->worker->ctx.block,
                     .rank = lane->thread.rank,
                     .verb = verb,
                     .file = lane->line ? lane->file : NULL,
                     .line = (unsigned)lane->line};
}

static void note_breach(cpu_block_fibers *fibers, const cpu_breach *breach) {
  cpu_party first = party_of(fibers, breach->lanes[0], breach->verbs[0]);
  const cpu_party second = party_of(fibers, breach->lanes[1], breach->verbs[1]);
  cpu_checker *checker = fibers->grid->checker;
  if (breach->hang) first.place = checker->waits_at;
  fibers->worker->busy++; /* not to be ended in the middle */
  mw_object object = {0};
  snprintf(object.text, sizeof object.text, "%s", breach->text);
  for (int i = 0; breach->apart && i < 2; i++) note_missed(fibers, breach->lanes[i]);
  const cpu_finding_kind kind = breach->mask ? CPU_FINDING_MASK : breach->hang ? CPU_FINDING_HANG : CPU_FINDING_BARRIER;
  cpu_finding_tell(checker, kind, &first, &second, &object);
  if (breach->remedy) checker->fault->base.remedy = breach->remedy;
  char *remark = checker->fault->base.remark;
  if (breach->remark) snprintf(remark, sizeof checker->fault->base.remark, "%s", breach->remark);
  fibers->worker->busy--;
}

static const cpu_observer observer = {.take_turn = cpu_turn_take,
                                      .give_turn = cpu_turn_give,
                                      .block = begin_block,
                                      .thread = begin_thread,
                                      .barrier = meet_block,
                                      .named = meet_named,
                                      .warp = meet_warp,
                                      .grid = meet_grid,
                                      .rested = rested,
                                      .breach = note_breach};

/* The thread waits for what another one writes. */
static void wait_for_others(void) {
  cpu_order_wait(cpu_checker_now(), cpu_checker_thread());
  cpu_runtime.yield();
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

cpu_checker *cpu_checker_open(mw_error *error) {
  cpu_checker *checker = mw_calloc(1, sizeof *checker);
  pthread_mutex_init(&checker->one, NULL);
  pthread_mutex_init(&checker->turns.lock, NULL);
  pthread_cond_init(&checker->turns.next, NULL);
  checker->last = &checker->findings;
  if (!cpu_shadow_open(&checker->shadow)) {
    cpu_checker_close(checker);
    mw_fail(error, MW_NO_MEMORY, "check mode needs address space for its shadow memory: raise the limit (ulimit -v)");
    return NULL;
  }
  checker->hooks =
      (mw_check){checker->shadow.chunks, cpu_check_access, cpu_turn_rest,  cpu_check_atomic, cpu_check_fence,
                 cpu_check_copy,         cpu_check_count,  cpu_check_rule, cpu_check_local,  cpu_check_used};
  checker->runtime = cpu_runtime;
  checker->runtime.check = &checker->hooks;
  checker->runtime.yield = wait_for_others;
  return checker;
}

void cpu_checker_close(cpu_checker *checker) {
  if (!checker) return;
  cpu_findings_free(checker);
  cpu_counter_free(checker->counter);
  mw_free(checker->lanes);
  mw_free(checker->parts);
  cpu_flights_free(checker);
  cpu_shadow_close(&checker->shadow);
  mw_free(checker->lent);
  pthread_mutex_destroy(&checker->one);
  pthread_mutex_destroy(&checker->turns.lock);
  pthread_cond_destroy(&checker->turns.next);
  mw_free(checker);
}

cpu_shadow *cpu_checker_shadow(cpu_checker *checker) {
  return &checker->shadow;
}

const mw_runtime *cpu_checker_runtime(cpu_checker *checker) {
  return &checker->runtime;
}

void cpu_checker_judge(cpu_checker *checker, const mw_check_mode *mode) {
  pthread_mutex_lock(&checker->one);
  checker->mode = *mode;
  if (mode->orders && !mode->seed) checker->mode.seed = 1;
  pthread_mutex_unlock(&checker->one);
}

const mw_check_mode *cpu_checker_mode(const cpu_checker *checker) {
  return &checker->mode;
}

void cpu_checker_begin(cpu_checker *checker, cpu_grid *grid, const cpu_checked_launch *launch) {
  pthread_mutex_lock(&checker->one);
  if (!launch->seed) checker->launches++;
  checker->seed = launch->seed;
  checker->grid = grid;
  checker->launch = launch;
  checker->sites =
      memset(grid->table->sites, 0, MW_CHECK_SITES * sizeof *checker->sites); /* this launch's are enough */
  next_launch(checker);
  checker->first_stamp = checker->stamp_launch;
  checker->first_atomic = checker->atomics;
  checker->cleared = false;
  checker->nmissed = 0;
  checker->helped = launch->beside;
  checker->idle.begun = checker->idle.blocks = 0;
  checker->counters = checker->mode.counters && launch->counters;
  checker->logged = NULL;
  if (checker->counters && !checker->counter) checker->counter = cpu_counter_make(checker);
  grid->observer = &observer;
  grid->checker = checker;
  grid->strict = checker->mode.strict;
  grid->seed = checker->mode.seed ? cpu_mixed(checker->mode.seed + checker->launches) : 0;
}

bool cpu_checker_has_counters(const cpu_checker *checker) {
  return checker->counters;
}

bool cpu_checker_is_short(cpu_checker *checker) {
  return checker->counters && cpu_counter_is_short(checker->counter);
}

bool cpu_checker_shuffles(const cpu_checker *checker) {
  return checker->mode.seed || checker->mode.blocks;
}

void cpu_checker_run(cpu_checker *checker, cpu_grid *grid, cpu_worker *me) {
  const mw_check_mode *mode = &checker->mode;
  const bool sampled = mode->blocks && mode->blocks < grid->blocks;
  cpu_shuffle shuffle = {.seed = cpu_mixed(mode->seed + checker->launches),
                         .wanted = sampled ? mode->blocks : grid->blocks};
  checker->shuffle = &shuffle;
  const unsigned long long ran = cpu_shuffle_run(&shuffle, grid, me);
  checker->helped = shuffle.helper != NULL;
  checker->shuffle = NULL;
  if (ran == grid->blocks || atomic_load(&grid->stop.why) != CPU_GOING) return;
  checker->sampled = true;
  mw_object object = {0};
  snprintf(object.text, sizeof object.text, "%llu of %llu blocks", ran, grid->blocks);
  cpu_finding_tell(checker, CPU_FINDING_SAMPLED, NULL, NULL, &object);
}

/* Of blocks that run one after the other. A kernel may spare some of them, and one that does nothing is meant to. */
static void note_idle(cpu_checker *checker, const cpu_grid *grid) {
  const unsigned long long begun = checker->idle.begun;
  const cpu_party none = {0};
  const mw_dim3 first = cpu_block_index(grid, checker->idle.first);
  mw_object object = {0};
  end_block(checker);
  if (grid->grid_barrier || checker->helped || checker->idle.blocks <= begun / 2 || checker->idle.blocks == begun)
    return;
  snprintf(object.text, sizeof object.text, "%llu of %llu blocks access no memory, the first (%u,%u,%u)",
           checker->idle.blocks, begun, first.x, first.y, first.z);
  cpu_finding_tell(checker, CPU_FINDING_IDLE, &none, NULL, &object);
}

bool cpu_checker_uses(cpu_checker *checker, uintptr_t from, size_t bytes) {
  const unsigned stamps[] = {checker->first_stamp, checker->stamp_launch};
  return checker->atomics != checker->first_atomic || checker->cleared ||
         cpu_shadow_is_touched(&checker->shadow, (cpu_shadow_range){from, bytes}, stamps);
}

void cpu_checker_depends(cpu_checker *checker, const mw_object *object, uint64_t seed) {
  checker->seed = seed;
  cpu_finding_tell(checker, CPU_FINDING_ORDER, NULL, NULL, object);
}

void cpu_checker_unused(cpu_checker *checker, const mw_object *object) {
  cpu_finding_tell(checker, CPU_FINDING_UNUSED, NULL, NULL, object);
}

void cpu_checker_end(cpu_checker *checker, cpu_grid *grid) {
  const cpu_fault *fault = &grid->stop.fault;
  const bool stopped = atomic_load(&grid->stop.why) == CPU_STOP_FAULT;
  checker->doubt.open = false;
  if (stopped && fault->kind == CPU_FAULT_SIGNAL && fault->target != CPU_TARGET_UNDER &&
      (fault->signal == SIGSEGV || fault->signal == SIGBUS || !fault->signal))
    cpu_finding_fault(checker, fault);
  if (atomic_load(&grid->stop.why) == CPU_GOING) note_idle(checker, grid);
  cpu_order_end_launch(checker);
  cpu_findings_place(checker);
  if (checker->counters) cpu_counter_end(checker->counter, grid);
  take_back(checker);
  checker->launch = NULL;
  pthread_mutex_unlock(&checker->one);
}

int cpu_checker_touched(const cpu_checker *checker, uintptr_t from, size_t bytes, int most, mw_touch *out) {
  const unsigned stamps[] = {checker->first_stamp, checker->stamp_launch};
  return cpu_shadow_touched(&checker->shadow, (cpu_shadow_range){from, bytes}, stamps, most, out);
}

const mw_counter_launch *cpu_checker_counters(cpu_checker *checker, bool newest) {
  return checker->counter ? cpu_counter_launches(checker->counter, newest) : NULL;
}

const mw_finding *cpu_checker_findings(cpu_checker *checker) {
  return checker->told ? &checker->told->base : NULL;
}
