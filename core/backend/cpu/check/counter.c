/* SPDX-License-Identifier: MIT
 *
 * What the warps of a launch ask of memory, by place in the code; when it has ended, by line. */
#include "core/backend/cpu/check/check.h"

#include <stdio.h>
#include <string.h>

typedef struct tally { /* of a place; of a line, by its file */
  const void *place;   /* NULL: known by its line */
  const char *file;
  int line;
  mw_counters counters;
} tally;

typedef struct logs { /* of the block that a worker runs */
  const cpu_worker *worker;
  cpu_log warps[CPU_WARPS];
} logs;

typedef struct known_place { /* of code that is loaded */
  unsigned long long module;
  const void *place;
  const char *file; /* where there is no place */
  int number;
  mw_counter_line line; /* line 0: nobody knows */
} known_place;

struct cpu_counter {
  cpu_checker *checker;
  logs **logs; /* of each worker */
  unsigned nlogs;
  logs *recent;   /* of the worker that ran last */
  tally *tallies; /* open addressing, by place or by file and line */
  unsigned room, used;
  known_place *places;
  size_t nplaces;
  char **texts; /* files and lines of sources, each once */
  size_t ntexts;
  cpu_counter_list *launches;
  bool is_long; /* a warp of the launch had many requests open */
};

/* ---- tallies --------------------------------------------------------------------------------------------------- */

static tally *slot_of(const cpu_counter *counter, const void *place, const char *file, int line) {
  const uint64_t key = (uintptr_t)place ^ (uintptr_t)file ^ (uint64_t)line << 32;
  unsigned at = (unsigned)(key * 0x9E3779B97F4A7C15ull >> 32) & (counter->room - 1);
  for (;; at = (at + 1) & (counter->room - 1)) {
    tally *it = &counter->tallies[at];
    if ((!it->place && !it->file) || (it->place == place && it->file == file && it->line == line)) return it;
  }
}

static void grow(cpu_counter *counter) {
  tally *old = counter->tallies;
  const unsigned room = counter->room;
  counter->room = room ? 2 * room : 64;
  counter->tallies = mw_calloc(counter->room, sizeof *counter->tallies);
  for (unsigned i = 0; i < room; i++)
    if (old[i].place || old[i].file) *slot_of(counter, old[i].place, old[i].file, old[i].line) = old[i];
  mw_free(old);
}

static mw_counters *counters_of(cpu_counter *counter, const void *place, const char *file, int line) {
  if (2 * counter->used >= counter->room) grow(counter);
  tally *it = slot_of(counter, place, file, line);
  if (!it->place && !it->file) {
    *it = (tally){.place = place, .file = file, .line = line};
    counter->used++;
  }
  return &it->counters;
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

/* Constant memory has a path of its own on a GPU. */
static bool is_constant(const cpu_checker *checker, uintptr_t address) {
  const mw_unit_table *table = checker->grid->table;
  for (unsigned i = 0; i < table->nvariables; i++) {
    const mw_unit_variable *variable = &table->variables[i];
    if (variable->is_const && address - (uintptr_t)variable->address < variable->bytes) return true;
  }
  return false;
}

typedef struct warp_access { /* of a warp */
  enum mw_count_kind kind;
  unsigned bytes; /* of each lane */
  uint32_t lanes;
  const uint64_t *addresses;
} warp_access;

static void add_global(mw_counters *counters, const warp_access *a) {
  if (a->kind == MW_COUNT_ATOMIC) {
    const cpu_contention found = cpu_request_contention(a->lanes, a->addresses);
    counters->atomic_requests++;
    counters->atomic_addresses += found.addresses;
    if (found.most > counters->atomic_contention) counters->atomic_contention = found.most;
    return;
  }
  const cpu_moved moved = cpu_request_moved(a->lanes, a->addresses, a->bytes);
  const bool load = a->kind == MW_COUNT_LOAD;
  *(load ? &counters->load_requests : &counters->store_requests) += 1;
  *(load ? &counters->load_sectors : &counters->store_sectors) += moved.sectors;
  *(load ? &counters->load_bytes : &counters->store_bytes) += moved.bytes;
  *(load ? &counters->load_lane_bytes : &counters->store_lane_bytes) += (size_t)__builtin_popcount(a->lanes) * a->bytes;
}

static void add_shared(mw_counters *counters, const warp_access *a) {
  if (a->kind == MW_COUNT_ATOMIC) {
    const cpu_contention found = cpu_request_contention(a->lanes, a->addresses);
    counters->shared_atomic_requests++;
    counters->shared_atomic_addresses += found.addresses;
    if (found.most > counters->shared_atomic_contention) counters->shared_atomic_contention = found.most;
    return;
  }
  const cpu_wavefronts found = cpu_request_wavefronts(a->lanes, a->addresses, a->bytes);
  const bool load = a->kind == MW_COUNT_LOAD;
  *(load ? &counters->shared_load_requests : &counters->shared_store_requests) += 1;
  *(load ? &counters->shared_load_wavefronts : &counters->shared_store_wavefronts) += found.all;
  *(load ? &counters->shared_load_conflicts : &counters->shared_store_conflicts) += found.conflicts;
}

typedef struct closing {
  cpu_counter *counter;
  const cpu_worker *worker;
} closing;

/* Of a request that has all its lanes. */
static void count_request(void *owner, const mw_request *request) {
  const closing *now = owner;
  const cpu_checker *checker = now->counter->checker;
  const uint64_t *addresses = (const uint64_t *)request->addresses;
  const uintptr_t address = (uintptr_t)addresses[__builtin_ctz(request->lanes)];
  const warp_access it = {request->what >> MW_COUNT_BYTES & ((1 << MW_COUNT_KIND) - 1),
                          request->what & ((1 << MW_COUNT_BYTES) - 1), request->lanes, addresses};
  if (is_constant(checker, address)) return;
  mw_counters *counters =
      counters_of(now->counter, (const void *)(uintptr_t)(request->what >> MW_COUNT_PLACE), NULL, 0);
  if (cpu_is_shared(checker->grid, &now->worker->ctx, address))
    add_shared(counters, &it);
  else
    add_global(counters, &it);
  counters->requests++;
  counters->lanes += (size_t)__builtin_popcount(request->lanes);
}

static logs *make_logs(cpu_counter *counter, const cpu_worker *worker) {
  counter->logs = mw_grow(counter->logs, counter->nlogs, sizeof *counter->logs);
  logs *made = counter->logs[counter->nlogs++] = mw_calloc(1, sizeof *made);
  made->worker = worker;
  for (unsigned w = 0; w < CPU_WARPS; w++) cpu_log_open(&made->warps[w]);
  return made;
}

static logs *logs_of(cpu_counter *counter, const cpu_worker *worker) {
  if (counter->recent && counter->recent->worker == worker) return counter->recent;
  for (unsigned i = 0; i < counter->nlogs; i++)
    if (counter->logs[i]->worker == worker) return counter->recent = counter->logs[i];
  return counter->recent = make_logs(counter, worker);
}

static void close_warp(cpu_counter *counter, const cpu_worker *worker, cpu_log *log) {
  if (cpu_log_is_empty(log)) return;
  counter->is_long |= log->newer->count >= CPU_LOG_SHORT;
  cpu_log_close(log, count_request, &(closing){counter, worker});
}

bool cpu_counter_is_short(cpu_counter *counter) {
  for (unsigned i = 0; i < counter->nlogs; i++) cpu_counter_block(counter, counter->logs[i]->worker);
  return !counter->is_long;
}

cpu_log *cpu_counter_logs(cpu_counter *counter, const cpu_worker *worker) {
  return logs_of(counter, worker)->warps;
}

void cpu_counter_warp(cpu_counter *counter, const cpu_worker *worker, unsigned w) {
  close_warp(counter, worker, &logs_of(counter, worker)->warps[w]);
}

void cpu_counter_block(cpu_counter *counter, const cpu_worker *worker) {
  logs *own = logs_of(counter, worker);
  for (unsigned w = 0; w < CPU_WARPS; w++) close_warp(counter, worker, &own->warps[w]);
}

void cpu_counter_barrier(cpu_counter *counter, const char *file, int line) {
  counters_of(counter, NULL, file, line)->barriers++;
}

/* Lanes that are behind catch up first, so that what the others have opened is still open. */
void cpu_counter_full(cpu_counter *counter, const cpu_worker *worker, unsigned w, const mw_thread *behind,
                      unsigned long long furthest) {
  cpu_log *log = &logs_of(counter, worker)->warps[w];
  counter->is_long = true;
  log->until = furthest;
  if (cpu_log_is_full(log, behind, true)) cpu_log_close_older(log, count_request, &(closing){counter, worker});
}

/* Threads without stacks of their own cannot wait for each other; more of their requests may be open. */
void cpu_check_count(unsigned long long what, const void *address) {
  const mw_thread *thread = cpu_checker_thread();
  cpu_worker *worker = cpu_current;
  cpu_log *log = (cpu_log *)thread->log;
  const unsigned lane = thread->rank % MW_CUDA_WARP;
  mw_request *request = cpu_log_find(log, what, thread->path, lane);
  while (!request && worker->in_fibers && cpu_log_is_full(log, thread, true)) {
    cpu_fibers_rest(worker->fibers);
    request = cpu_log_find(log, what, thread->path, lane);
  }
  worker->busy++; /* not to be ended in the middle of an update */
  if (!request && cpu_log_is_full(log, thread, false))
    cpu_counter_full(cpu_checker_now()->counter, worker, thread->rank / MW_CUDA_WARP, thread, thread->rounds);
  cpu_log_join(log, request ? request : cpu_log_add(log, what, thread->path), lane, (uintptr_t)address);
  worker->busy--;
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static const char *text_once(cpu_counter *counter, const char *text) {
  for (size_t i = 0; i < counter->ntexts; i++)
    if (!strcmp(counter->texts[i], text)) return counter->texts[i];
  counter->texts = mw_grow(counter->texts, counter->ntexts, sizeof *counter->texts);
  return counter->texts[counter->ntexts++] = mw_strdup(text);
}

static const mw_counter_line *find_known(const cpu_counter *counter, const tally *it) {
  const unsigned long long module = counter->checker->launch->module;
  for (size_t i = 0; i < counter->nplaces; i++) {
    const known_place *known = &counter->places[i];
    if (known->module == module && known->place == it->place && known->file == it->file && known->number == it->line)
      return &known->line;
  }
  return NULL;
}

static void note_line(cpu_counter *counter, const tally *it, const char *file, int line) {
  const cpu_checked_launch *launch = counter->checker->launch;
  char text[256] = "";
  if (line) cpu_place_text(launch, file, line, text, sizeof text);
  counter->places = mw_grow(counter->places, counter->nplaces, sizeof *counter->places);
  counter->places[counter->nplaces++] =
      (known_place){.module = launch->module,
                    .place = it->place,
                    .file = it->file,
                    .number = it->line,
                    .line = {.file = text_once(counter, line ? file : launch->source_name),
                             .text = text_once(counter, text),
                             .line = line}};
}

static void note_place(void *owner, const void *place, const char *file, int line) {
  note_line(owner, &(tally){.place = place}, file, line);
}

/* Asks for all places of the launch that are not known yet at once. */
static void find_lines(cpu_counter *counter) {
  const void **wanted = mw_calloc(counter->used + 1, sizeof *wanted);
  size_t count = 0;
  for (unsigned i = 0; i < counter->room; i++) {
    const tally *it = &counter->tallies[i];
    if ((!it->place && !it->file) || find_known(counter, it)) continue;
    if (it->place)
      wanted[count++] = it->place;
    else
      note_line(counter, it, it->file, it->line);
  }
  if (count) cpu_places_find(counter->checker->launch, wanted, count, note_place, counter);
  mw_free(wanted);
}

static mw_counter_launch launch_of(const cpu_counter *counter, const cpu_grid *grid) {
  const mw_dim3 g = grid->abi.grid, b = grid->abi.block;
  mw_counter_launch launch = {.launch = counter->checker->launches,
                              .launches = 1,
                              .grid = {g.x, g.y, g.z},
                              .block = {b.x, b.y, b.z},
                              .blocks = grid->blocks,
                              .blocks_run = counter->checker->idle.begun};
  snprintf(launch.kernel, sizeof launch.kernel, "%s", counter->checker->launch->kernel);
  return launch;
}

void cpu_counter_end(cpu_counter *counter, const cpu_grid *grid) {
  for (unsigned i = 0; i < counter->nlogs; i++) cpu_counter_block(counter, counter->logs[i]->worker);
  find_lines(counter);
  mw_counter_launch launch = launch_of(counter, grid);
  for (unsigned i = 0; i < counter->room; i++) {
    const tally *it = &counter->tallies[i];
    if (!it->place && !it->file) continue;
    mw_counter_line line = *find_known(counter, it);
    line.counters = it->counters;
    cpu_counter_list_add(&launch, &line);
  }
  cpu_counter_list_append(counter->launches, &launch, counter->checker->launch->module);
  if (counter->room) memset(counter->tallies, 0, counter->room * sizeof *counter->tallies);
  counter->used = 0;
  counter->is_long = false;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

cpu_counter *cpu_counter_make(cpu_checker *checker) {
  cpu_counter *counter = mw_calloc(1, sizeof *counter);
  counter->checker = checker;
  counter->launches = cpu_counter_list_make();
  return counter;
}

const mw_counter_launch *cpu_counter_launches(const cpu_counter *counter, bool newest) {
  return newest ? cpu_counter_list_newest(counter->launches) : cpu_counter_list_all(counter->launches);
}

static void free_logs(logs *own) {
  for (unsigned w = 0; w < CPU_WARPS; w++) cpu_log_free(&own->warps[w]);
  mw_free(own);
}

void cpu_counter_free(cpu_counter *counter) {
  if (!counter) return;
  cpu_counter_list_free(counter->launches);
  for (unsigned i = 0; i < counter->nlogs; i++) free_logs(counter->logs[i]);
  for (size_t i = 0; i < counter->ntexts; i++) mw_free(counter->texts[i]);
  mw_free(counter->texts);
  mw_free(counter->places);
  mw_free(counter->tallies);
  mw_free(counter->logs);
  mw_free(counter);
}
