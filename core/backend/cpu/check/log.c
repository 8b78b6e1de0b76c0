/* SPDX-License-Identifier: MIT
 *
 * The open requests of a warp. Its lanes run one after the other; what the first one accesses opens requests, the others
 * join them (shim/check/counter.h). All are closed, and counted, where the lanes have met. Between two meetings the older
 * half is closed where too many are open; until then lanes that are ahead wait for the others. */
#include "core/backend/cpu/check/check.h"

#include <string.h>

enum { BUCKETS = 1024, CHUNK = 64 };
/* That are opened until lanes wait for those that are behind, until all wait, and where none can. */
enum { MOST = 2048, MOST_BEHIND = 1 << 15, MOST_ALONE = 1 << 18 };

static mw_request **bucket_of(const cpu_log *log, mw_count_what what, unsigned long long path) {
  const uint64_t mixed = ((what >> MW_COUNT_PLACE) * 0x9E3779B97F4A7C15ull ^ what ^ path) * 0xBF58476D1CE4E5B9ull;
  return &log->buckets[mixed >> 32 & (BUCKETS - 1)];
}

/* ---- halves ---------------------------------------------------------------------------------------------------- */

static mw_request *request_of(const cpu_log_half *half, unsigned i) {
  return &half->chunks[i / CHUNK][i % CHUNK];
}

static mw_request *take(cpu_log_half *half) {
  if (half->count == half->nchunks * CHUNK) {
    half->chunks = mw_grow(half->chunks, half->nchunks, sizeof *half->chunks);
    half->chunks[half->nchunks++] = mw_malloc(CHUNK * sizeof **half->chunks);
  }
  return request_of(half, half->count++);
}

static void free_half(cpu_log_half *half) {
  for (unsigned i = 0; i < half->nchunks; i++) mw_free(half->chunks[i]);
  mw_free(half->chunks);
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static void forget_found(cpu_log *log) {
  if (log->has_found) memset(log->found, 0, sizeof log->found);
  log->has_found = false;
}

static void forget_lanes(cpu_log *log) {
  forget_found(log);
  for (unsigned i = 0; i < MW_CUDA_WARP; i++) log->warp.at[i] = &log->none;
  log->none.next = &log->none;
  if (log->warp.has_wholes) memset(log->warp.wholes, 0, sizeof log->warp.wholes);
  log->warp.has_wholes = 0;
}

void cpu_log_open(cpu_log *log) {
  log->buckets = mw_calloc(BUCKETS, sizeof *log->buckets);
  log->all.lanes = ~0u;
  log->newer = &log->halves[0];
  log->older = &log->halves[1];
  forget_lanes(log);
}

void cpu_log_free(cpu_log *log) {
  free_half(&log->halves[0]);
  free_half(&log->halves[1]);
  mw_free(log->buckets);
}

bool cpu_log_is_empty(const cpu_log *log) {
  return !log->newer->count && !log->older->count;
}

bool cpu_log_is_full(const cpu_log *log, const mw_thread *thread, bool waits) {
  const unsigned most = !waits ? MOST_ALONE : thread->rounds < log->until ? MOST_BEHIND : MOST;
  return log->newer->count >= most;
}

/* ---- joining --------------------------------------------------------------------------------------------------- */

/* The first of that place and path; NULL if none. */
static mw_request *find_first(const cpu_log *log, mw_count_what what, unsigned long long path) {
  mw_request *it = *bucket_of(log, what, path);
  while (it && (it->what != what || it->path != path)) it = it->link;
  return it;
}

static void link_request(cpu_log *log, mw_request *request) {
  mw_request *first = find_first(log, request->what, request->path);
  request->again = request->link = NULL;
  request->before = first ? first->last : &log->all;
  if (first) {
    first->last->again = request;
    first->last = request;
    return;
  }
  mw_request **bucket = bucket_of(log, request->what, request->path);
  request->link = *bucket;
  request->last = request;
  *bucket = request;
}

/* There are several where a structure is copied, and in a loop that is not known as such. A lane joins them in order. */
mw_request *cpu_log_find(cpu_log *log, mw_count_what what, unsigned long long path, unsigned lane) {
  mw_request *first = find_first(log, what, path);
  if (!first || first->last->lanes >> lane & 1) return NULL;
  if (!(first->lanes >> lane & 1)) return first;
  const unsigned slot = (unsigned)((uintptr_t)first / sizeof *first % CPU_LOG_FOUND);
  mw_request *it = log->found[lane][slot].first == first ? log->found[lane][slot].at : first;
  while (it->lanes >> lane & 1) it = it->again;
  log->found[lane][slot].first = first;
  log->found[lane][slot].at = it;
  log->has_found = true;
  return it;
}

mw_request *cpu_log_add(cpu_log *log, mw_count_what what, unsigned long long path) {
  mw_request *made = take(log->newer);
  made->what = what;
  made->path = path;
  made->next = &log->none;
  made->lanes = 0;
  link_request(log, made);
  return made;
}

void cpu_log_join(cpu_log *log, mw_request *request, unsigned lane, uintptr_t address) {
  request->lanes |= 1u << lane;
  request->addresses[lane] = address;
  log->warp.at[lane]->next = request;
  log->warp.at[lane] = request;
}

/* ---- closing --------------------------------------------------------------------------------------------------- */

static unsigned bytes_of(const mw_request *request) {
  return request->what & ((1 << MW_COUNT_BYTES) - 1);
}

static unsigned whole_of(const mw_request *request) {
  return request->what >> MW_COUNT_WHOLE & 31;
}

/* Whether two accesses of members of one vector are one, as its alignment permits: equally many bytes side by side. */
static bool are_one(const mw_request *low, const mw_request *high) {
  const unsigned bytes = bytes_of(low), mask = (1 << MW_COUNT_PLACE) - 1;
  if ((low->what ^ high->what) & mask || low->path != high->path || low->lanes != high->lanes) return false;
  if (2 * bytes > whole_of(low)) return false;
  for (uint32_t rest = low->lanes; rest; rest &= rest - 1) {
    const unsigned i = (unsigned)__builtin_ctz(rest);
    if (low->addresses[i] % (2 * bytes) || high->addresses[i] != low->addresses[i] + bytes) return false;
  }
  return true;
}

/* Parts of vectors wait for the next ones: 4 and 4 bytes are 8, these and 8 more 16. */
static void close_half(cpu_log_half *half, cpu_log_count *count, void *owner) {
  mw_request *parts[4];
  unsigned nparts = 0;
  for (unsigned i = 0; i <= half->count; i++) {
    mw_request *request = i < half->count ? request_of(half, i) : NULL;
    if (request && whole_of(request) && nparts < 4) parts[nparts++] = request;
    for (; nparts > 1 && are_one(parts[nparts - 2], parts[nparts - 1]); nparts--)
      parts[nparts - 2]->what += bytes_of(parts[nparts - 1]);
    if (request && whole_of(request) && nparts < 4) continue;
    for (unsigned k = 0; k < nparts; k++) count(owner, parts[k]);
    nparts = 0;
    if (request && !whole_of(request)) count(owner, request);
  }
  for (unsigned i = 0; i < half->count; i++) request_of(half, i)->what = 0;
  half->count = 0;
}

/* Where few are open, as they mostly are, not all buckets are touched. */
static void empty_buckets(cpu_log *log) {
  for (unsigned i = 0; i < log->newer->count && i < BUCKETS; i++) {
    const mw_request *request = request_of(log->newer, i);
    *bucket_of(log, request->what, request->path) = NULL;
  }
  if (log->newer->count > BUCKETS || log->older->count) memset(log->buckets, 0, BUCKETS * sizeof *log->buckets);
}

void cpu_log_close(cpu_log *log, cpu_log_count *count, void *owner) {
  empty_buckets(log);
  close_half(log->older, count, owner);
  close_half(log->newer, count, owner);
  log->until = 0;
  forget_lanes(log);
}

void cpu_log_close_older(cpu_log *log, cpu_log_count *count, void *owner) {
  cpu_log_half *closed = log->older;
  close_half(closed, count, owner);
  forget_found(log);
  memset(log->buckets, 0, BUCKETS * sizeof *log->buckets);
  for (unsigned i = 0; i < log->newer->count; i++) link_request(log, request_of(log->newer, i));
  for (unsigned i = 0; i < MW_CUDA_WARP; i++)
    if (!log->warp.at[i]->what) log->warp.at[i] = &log->none;
  log->until = 0;
  log->older = log->newer;
  log->newer = closed;
}
