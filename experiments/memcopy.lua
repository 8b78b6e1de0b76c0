-- SPDX-License-Identifier: MIT
--
-- memcopy: how fast can main memory be read and written, and what does a kernel need to get there?
--
-- The rungs: the library's own copy; one thread and one warp in all; blocks of one thread, of one
-- warp, and of 32 x 2^k threads; 16-byte loads, one to four in flight a thread; the triad; copies
-- between host and device, pinned and pageable, both ways. Then the array's size is swept.
-- T_tot = bytes moved / t: 2 arrays for a copy, 3 for the triad, 1 for a copy between host and
-- device.
--
-- What others measured, for comparison:
--   Tesla P100 (ETH Zurich, "Solving PDEs in parallel on GPUs"): best block 561 GB/s, library 522,
--   one
--   warp a block 302, triad 561; theoretical peak 732
--   H200 (CUDA C++, for this project): library 4270, 32x1 851, 32x2 1701, 32x4 3358, 32x8 3881,
--   32x16 3646, 32x32 3272, 16-byte vectors 4260, triad 4333; pinned to device 55.5, pageable 9.5

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

local n = mw.arg("n", gpu and 16384 or 4096, "points along each side of the square arrays of f64",
  { min = 256, max = 1 << 20 })
local seconds = mw.arg("seconds", 0.2, "least time of a measurement; three times that at most",
  { min = 0, max = 3600 })
local smallest = mw.arg("smallest", gpu and 256 or 64, "least side of the array-size sweep", { min = 1 })
local vector_block = mw.arg("vector_block", 256, "threads a block of the 16-byte rungs",
  { min = 1, max = 1024 })

local copy = dev:module "memcopy.cu"
local triad = dev:module("triad.cu").triad
local stream = dev:stream()
local most_threads = dev:properties().max_threads_per_block

local A = dev:array("f64", n, n):random(1)
local B = dev:array("f64", n, n)

-- ---- measuring ----------------------------------------------------------------------------------

-- Benches fn, which is to make `to` equal to `from`, and records it. What was in `to` is poisoned
-- first, so that a kernel that writes nothing does not pass. arrays: how many of them move.
local function measure(group, rung, to, from, arrays, fn, fields)
  to:fill(0 / 0)
  local t = mw.bench(fn, { min_time = seconds, max_time = 3 * seconds, device = dev,
                           stream = fields.stream })
  if fields.undo then fields.undo() end
  mw.check(to, from, { absolute = fields.absolute or 0, name = rung })
  local bytes = arrays * to:nbytes()
  return mw.record { study = "memcopy", group = group, rung = rung, threads = fields.threads,
                     bytes = to:nbytes(), T_tot = bytes / t.median, t = t, series = fields.series }
end

local function ceil_div(a, b)
  return (a + b - 1) // b
end

local function library(group, to, from, series)
  return measure(group, "library copy", to, from, 2, function()
    to:copy(from, { stream = stream })
  end, { stream = gpu and stream or nil, series = series })
end

-- The first ny rows, in blocks of bx x by threads.
local function blocks(group, bx, by, to, from, series)
  local nx, ny = to:shape()
  local go = copy.memcopy:prepare { block = { bx, by }, grid = { ceil_div(nx, bx),
    ceil_div(ny, by) } }
  return measure(group, ("block %d x %d"):format(bx, by), to, from, 2, function()
    go(to, from, nx, ny)
  end, { threads = bx * by, series = series })
end

-- A grid of one block copies the first `count` elements: little, for it is slow.
local function alone(threads, name, count)
  local to, from = B:view(1, count), A:view(1, count)
  local go = copy.memcopy_stride:prepare { block = threads, grid = 1 }
  return measure("rungs", name, to, from, 2, function() go(to, from, count) end, {})
end

local function vectors(kernel, per_thread, name)
  local pairs_of = #A // 2
  local go = copy[kernel]:prepare { block = vector_block,
                                    grid = ceil_div(pairs_of, per_thread * vector_block) }
  return measure("rungs", name, B, A, 2, function() go(B, A, pairs_of) end,
    { threads = vector_block })
end

-- B = A + 2 C; subtracting 2 C again must give A, up to the rounding of A + 2.
local function triads(bx, by)
  local C <close> = dev:full(1, "f64", n, n)
  local go = triad:prepare { block = { bx, by }, grid = { ceil_div(n, bx), ceil_div(n, by) } }
  return measure("rungs", "triad", B, A, 3, function() go(B, A, C, 2, n, n) end,
    { threads = bx * by, absolute = 2.0 ^ -50, undo = function() go(B, B, C, -2, n, n) end })
end

local function host_copies(kind)
  local count = math.min(#A, 1 << 25)
  local host <close> = dev[kind](dev, "f64", count)
  local to, from = B:view(1, count), A:view(1, count)
  local out = measure("host", kind .. ", device to host", host, from, 1,
    function() host:copy(from) end, {})
  local back = measure("host", kind .. ", host to device", to, from, 1,
    function() to:copy(host) end, {})
  return out, back
end

local function best(records)
  local most = records[1]
  for _, r in ipairs(records) do
    if r.T_tot > most.T_tot then most = r end
  end
  return most
end

-- ---- the rungs ----------------------------------------------------------------------------------

local rungs = { library("rungs", B, A) }
rungs[#rungs + 1] = alone(1, "one thread in all", 1 << 14)
rungs[#rungs + 1] = alone(32, "one warp in all", 1 << 16)

local shapes = {}
local few = math.min(n, 1024) -- blocks of one thread are slow: a part of the rows will do
shapes[1] = blocks("rungs", 1, 1, B:view(1, n, few), A:view(1, n, few), "memcopy")
for k = 0, 10 do
  if 32 << k <= most_threads then
    shapes[#shapes + 1] = blocks("rungs", 32, 1 << k, B, A, "memcopy")
  end
end
table.move(shapes, 1, #shapes, #rungs + 1, rungs)

local best_threads = best(shapes).threads
local best_by = math.max(1, best_threads // 32)
local vector = {
  vectors("memcopy_vector1", 1, "16 bytes a thread"),
  vectors("memcopy_vector2", 2, "2 x 16 bytes a thread"),
  vectors("memcopy_vector4", 4, "4 x 16 bytes a thread"),
  vectors("memcopy_stream4", 4, "4 x 16 bytes, streaming"),
}
table.move(vector, 1, #vector, #rungs + 1, rungs)
rungs[#rungs + 1] = triads(32, best_by)

-- The level to reach. Where the device does not say, the fastest copy of the whole array.
local whole = {}
for _, r in ipairs(rungs) do
  if r.bytes == A:nbytes() then whole[#whole + 1] = r end
end
local peak, fastest = dev:peak_bandwidth(), best(whole)
local top = peak and { value = peak, label = "theoretical peak" }
  or { value = fastest.T_tot, label = fastest.rung .. ", peak unknown" }
for _, r in ipairs(rungs) do r.share = r.T_tot / top.value end

local host = {}
for _, kind in ipairs { "pinned", "pageable" } do
  host[#host + 1], host[#host + 2] = host_copies(kind)
end

-- ---- the array's size ---------------------------------------------------------------------------

local sweep = {}
local side = smallest
while side <= n do
  local to, from = B:view(1, side, side), A:view(1, side, side)
  sweep[#sweep + 1] = blocks("size", 32, best_by, to, from, ("block 32 x %d"):format(best_by))
  sweep[#sweep + 1] = library("size", to, from, "library copy")
  side = side * 2
end

-- ---- what it shows ------------------------------------------------------------------------------

mw.table { "rung", { "threads", title = "threads a block" }, "bytes", "t", "T_tot",
           { "share", title = "of " .. (peak and "the peak" or fastest.rung), unit = "%", digits = 3 },
           title = "memcopy", records = rungs }
mw.table { "rung", "bytes", "t", "T_tot", title = "memcopy between host and device",
  records = host }
local levels = {}
for _, r in ipairs { rungs[1], best(vector) } do
  if r.T_tot ~= top.value then levels[#levels + 1] = { value = r.T_tot, label = r.rung } end
end
mw.plot { x = "threads", y = "T_tot", by = "series", logx = 2, records = shapes, peak = top,
          lines = levels, title = "memcopy: T_tot against threads a block",
          xlabel = "threads a block", name = "memcopy-threads" }
mw.plot { x = "bytes", y = "T_tot", by = "series", logx = 2, records = sweep, peak = top,
          title = "memcopy: T_tot against array size", xlabel = "bytes of one array",
          name = "memcopy-size" }

-- ---- in words -----------------------------------------------------------------------------------

local function GB(rate)
  return rate / 1e9
end

local block, wide = best(shapes), best(vector)
local warp = shapes[2] -- 32 x 1
mw.remark("The best block of one element a thread, %s, moves %.0f GB/s; blocks of one warp reach %.0f %% of that. The "
  .. "best 16-byte rung, %s, is at %.0f %% of the library's copy (%.0f GB/s)%s.",
  block.rung, GB(block.T_tot), 100 * warp.T_tot / block.T_tot, wide.rung, 100 * wide.T_tot / rungs[1].T_tot,
  GB(rungs[1].T_tot), peak and (" and at %.0f %% of the theoretical peak"):format(100 * wide.T_tot / peak) or "")
mw.remark("Between host and device, pinned memory gives %.3g times the rate of pageable memory towards the host and "
  .. "%.3g times towards the device%s.", host[1].T_tot / host[3].T_tot, host[2].T_tot / host[4].T_tot,
  gpu and ", since pageable memory is copied once more, by the processor"
    or "; on this device both are ordinary memory")
