-- SPDX-License-Identifier: MIT
--
-- The names of structural counters (core/backend/counters.h has them), and of the figures that are computed from them:
-- data only, from which the documents are made as well. docs/counters.md explains them.

local core = require "moonwarp.core"

local SECTOR <const> = 32 -- bytes

-- Those of a launch, and of a line: name, doc; title, of a column, if it is not the name; unit; most: of several
-- launches the greatest counts, not the sum.
local list = core.counter_names()

-- Ratios of counters: name; title, of a column; over and under, names of counters that are added up, or with a "-"
-- taken away; scale, of what is under; unit; what, the accesses without which there is no such figure; doc.
local figures = {
  { name = "sectors_per_request", title = "sectors/request", over = "load_sectors store_sectors",
    under = "load_requests store_requests", what = "to global memory",
    doc = "sectors of a load or store of global memory: 4 if 32 lanes want 128 bytes that begin on a sector" },
  { name = "load_sectors_per_request", title = "sectors/load", over = "load_sectors", under = "load_requests",
    what = "that loads from global memory", doc = "the same of loads" },
  { name = "store_sectors_per_request", title = "sectors/store", over = "store_sectors", under = "store_requests",
    what = "that stores to global memory", doc = "the same of stores" },
  { name = "load_efficiency", title = "loaded bytes used", over = "load_bytes", under = "load_sectors", scale = SECTOR,
    unit = "%", what = "that loads from global memory",
    doc = "bytes that lanes ask for over those of the sectors, 1 is all" },
  { name = "store_efficiency", title = "stored bytes used", over = "store_bytes", under = "store_sectors",
    scale = SECTOR, unit = "%", what = "that stores to global memory", doc = "the same of stores" },
  { name = "shared_conflicts_per_request", title = "conflicts/request",
    over = "shared_load_conflicts shared_store_conflicts", under = "shared_load_requests shared_store_requests",
    what = "to shared memory", doc = "bank conflicts of a load or store of shared memory" },
  { name = "shared_load_conflicts_per_request", title = "conflicts/load", over = "shared_load_conflicts",
    under = "shared_load_requests", what = "that loads from shared memory", doc = "the same of loads" },
  { name = "shared_store_conflicts_per_request", title = "conflicts/store", over = "shared_store_conflicts",
    under = "shared_store_requests", what = "that stores to shared memory", doc = "the same of stores" },
  { name = "shared_efficiency", title = "passes needed",
    over = "shared_load_wavefronts shared_store_wavefronts -shared_load_conflicts -shared_store_conflicts",
    under = "shared_load_wavefronts shared_store_wavefronts", unit = "%", what = "to shared memory",
    doc = "passes over shared memory without bank conflicts over those that are taken, 1 is all" },
  { name = "addresses_per_atomic", title = "addresses/atomic", over = "atomic_addresses", under = "atomic_requests",
    what = "by atomics to global memory", doc = "distinct addresses of an atomic operation on global memory" },
  { name = "shared_addresses_per_atomic", title = "addresses/shared atomic", over = "shared_atomic_addresses",
    under = "shared_atomic_requests", what = "by atomics to shared memory", doc = "the same on shared memory" },
  { name = "lanes_per_request", title = "lanes/request", over = "lanes", under = "requests", what = "to memory",
    doc = "active lanes of a request, of 32" },
}

return { list = list, figures = figures, SECTOR = SECTOR }
