/* SPDX-License-Identifier: MIT
 *
 * The structural counters, what warps ask of memory: the one place that has their names. docs/counters.md explains them.
 * X(name; SUM, or MOST: of several launches the greatest counts; unit or NULL; title of a column if it is not the name,
 * or NULL; what it counts). A request is an access that the lanes of a warp make together. */
#ifndef MW_COUNTERS_H
#define MW_COUNTERS_H

#include <stddef.h>

// clang-format off
#define MW_COUNTERS(X) \
  X(load_requests, SUM, NULL, NULL, \
    "loads from global memory, one per warp") \
  X(load_sectors, SUM, NULL, NULL, \
    "sectors of 32 bytes that these touch, summed over requests") \
  X(load_bytes, SUM, "B", NULL, \
    "distinct bytes that the lanes ask for, summed over requests") \
  X(load_lane_bytes, SUM, "B", NULL, \
    "bytes that the lanes ask for, summed over lanes") \
  X(store_requests, SUM, NULL, NULL, \
    "stores to global memory") \
  X(store_sectors, SUM, NULL, NULL, \
    "sectors that these touch") \
  X(store_bytes, SUM, "B", NULL, \
    "distinct bytes that the lanes write") \
  X(store_lane_bytes, SUM, "B", NULL, \
    "bytes that the lanes write, summed over lanes") \
  X(shared_load_requests, SUM, NULL, NULL, \
    "loads from shared memory") \
  X(shared_load_wavefronts, SUM, NULL, NULL, \
    "passes that these take") \
  X(shared_load_conflicts, SUM, NULL, NULL, \
    "passes beyond those without bank conflicts") \
  X(shared_store_requests, SUM, NULL, NULL, \
    "stores to shared memory") \
  X(shared_store_wavefronts, SUM, NULL, NULL, \
    "passes that these take") \
  X(shared_store_conflicts, SUM, NULL, NULL, \
    "passes beyond those without bank conflicts") \
  X(atomic_requests, SUM, NULL, NULL, \
    "atomic operations on global memory") \
  X(atomic_addresses, SUM, NULL, NULL, \
    "distinct addresses of these, summed over requests") \
  X(atomic_contention, MOST, NULL, "contention", \
    "the most lanes of a request on one address") \
  X(shared_atomic_requests, SUM, NULL, NULL, \
    "atomic operations on shared memory") \
  X(shared_atomic_addresses, SUM, NULL, NULL, \
    "distinct addresses of these, summed over requests") \
  X(shared_atomic_contention, MOST, NULL, "shared contention", \
    "the most lanes of a request on one address") \
  X(requests, SUM, NULL, NULL, \
    "all of these requests") \
  X(lanes, SUM, NULL, NULL, \
    "active lanes, summed over requests") \
  X(barriers, SUM, NULL, NULL, \
    "barriers of a block, by warp")

#define MW_COUNTER_MEMBER(name, kind, unit, title, doc) size_t name;
typedef struct mw_counters {
  MW_COUNTERS(MW_COUNTER_MEMBER)
} mw_counters;
// clang-format on

#endif
