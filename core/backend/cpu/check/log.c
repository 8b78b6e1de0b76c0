/* SPDX-License-Identifier: MIT
 *
 * The open requests of a warp. Its lanes run one after the other; what the first one accesses opens requests, the others
 * join them (shim/check/count.h). All are closed, and counted, where the lanes have met. */
#include "core/backend/cpu/check/check.h"

#include <string.h>

enum { FIRST_ROOM = 64 };

static uint32_t *bucket_of(const cpu_log *log, mw_count_what what, unsigned long long path) {
  const uint64_t mixed = ((what >> MW_COUNT_PLACE) * 0x9E3779B97F4A7C15ull ^ what ^ path) * 0xBF58476D1CE4E5B9ull;
  return &log->buckets[mixed >> 32 & (log->room - 1)];
}

static void link_request(cpu_log *log, uint32_t i) {
  mw_request *request = &log->warp.requests[i];
  uint32_t *bucket = bucket_of(log, request->what, request->path);
  request->link = *bucket;
  *bucket = i;
}

static void grow(cpu_log *log) {
  const unsigned before = log->room;
  log->room = before ? 2 * before : FIRST_ROOM;
  log->warp.requests = mw_realloc(log->warp.requests, log->room * sizeof *log->warp.requests);
  memset(log->warp.requests + before, 0, (log->room - before) * sizeof *log->warp.requests);
  mw_free(log->buckets);
  log->buckets = mw_calloc(log->room, sizeof *log->buckets);
  for (uint32_t i = 1; i < log->count; i++)
    if (log->warp.requests[i].last) link_request(log, i);
}

void cpu_log_open(cpu_log *log) {
  if (!log->room) grow(log);
  log->count = 1; /* the first one is none */
}

void cpu_log_free(cpu_log *log) {
  mw_free(log->warp.requests);
  mw_free(log->buckets);
}

/* The first of those of that place and path; 0: there is none. */
static uint32_t find(const cpu_log *log, mw_count_what what, unsigned long long path) {
  uint32_t i = *bucket_of(log, what, path);
  while (i && (log->warp.requests[i].what != what || log->warp.requests[i].path != path))
    i = log->warp.requests[i].link;
  return i;
}

static uint32_t add(cpu_log *log, mw_count_what what, unsigned long long path, uint32_t first) {
  if (log->count == log->room) grow(log);
  const uint32_t i = log->count++;
  mw_request *requests = log->warp.requests;
  requests[i] = (mw_request){.what = what, .path = path, .last = first ? 0 : i};
  if (!first) {
    link_request(log, i);
    return i;
  }
  requests[requests[first].last].again = i;
  requests[first].last = i;
  return i;
}

/* One that the lane has not joined: it comes there again by a loop that is not known as such. */
static uint32_t next_of(cpu_log *log, mw_count_what what, unsigned long long path, uint32_t lane) {
  const uint32_t first = find(log, what, path);
  const mw_request *requests = log->warp.requests;
  uint32_t i = first;
  if (i && requests[requests[i].last].lanes & lane) i = 0;
  while (i && requests[i].lanes & lane) i = requests[i].again;
  return i ? i : add(log, what, path, first);
}

void cpu_log_join(cpu_log *log, mw_count_what what, unsigned long long path, unsigned lane, uintptr_t address) {
  const uint32_t i = next_of(log, what, path, 1u << lane);
  mw_request *requests = log->warp.requests;
  requests[i].lanes |= 1u << lane;
  requests[i].addresses[lane] = address;
  requests[log->warp.at[lane]].next = i;
  log->warp.at[lane] = i;
}

void cpu_log_close(cpu_log *log, void (*count)(void *owner, const mw_request *), void *owner) {
  mw_request *requests = log->warp.requests;
  for (uint32_t i = 1; i < log->count; i++) {
    count(owner, &requests[i]);
    *bucket_of(log, requests[i].what, requests[i].path) = 0;
    requests[i].what = 0;
  }
  requests[0].next = 0;
  log->count = 1;
  memset(log->warp.at, 0, sizeof log->warp.at);
}
