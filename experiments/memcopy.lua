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
-- What others measured (the columns and dashed lines called "source"):
--   Tesla P100 (ETH Zurich, "Solving PDEs in parallel on GPUs"; theoretical peak 732 GB/s)
--   H200 (CUDA C++, for this project)

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

-- At most as many rows as a grid has blocks along y: blocks of one row are among the rungs.
local n = mw.arg("n", gpu and 16384 or 4096, "points along each side of the square arrays of f64",
  { min = 256, max = 65535 })
local seconds = mw.arg("seconds", gpu and 0.2 or 0.1,
  "least time of a measurement; three times that at most",
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

-- GB/s, from the sources above.
local P100 = { ["library copy"] = 522, ["block 32 x 1"] = 302, triad = 561 }
local H200 = { ["library copy"] = 4270, ["block 32 x 1"] = 851, ["block 32 x 2"] = 1701,
  ["block 32 x 4"] = 3358, ["block 32 x 8"] = 3881, ["block 32 x 16"] = 3646,
  ["block 32 x 32"] = 3272, ["16 bytes a thread"] = 4260, triad = 4333,
  ["pinned, host to device"] = 55.5, ["pageable, host to device"] = 9.5 }
local P100_BEST_BLOCK = 561

-- ---- measuring ----------------------------------------------------------------------------------

-- Benches fn, which is to make `to` equal to `from`, and records it. What was in `to` is poisoned
-- first, so that a kernel that writes nothing does not pass. arrays: how many of them move.
local function measure(group, rung, to, from, arrays, fn, fields)
  to:fill(0 / 0)
  local bytes = arrays * to:nbytes()
  local t = mw.bench(fn, { min_time = seconds, max_time = 3 * seconds, device = dev,
                           stream = fields.stream, name = rung, bytes = bytes })
  if fields.undo then fields.undo() end
  mw.check(to, from, { absolute = fields.absolute or 0, name = rung })
  return mw.record { study = "memcopy", group = group, rung = rung, threads = fields.threads,
                     bytes = to:nbytes(), T_tot = bytes / t.median, t = t, series = fields.series,
                     p100 = P100[rung] and P100[rung] * 1e9, h200 = H200[rung] and H200[rung] * 1e9 }
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

local VECTORS = {
  { kernel = "memcopy_vector1", per_thread = 1, name = "16 bytes a thread" },
  { kernel = "memcopy_vector2", per_thread = 2, name = "2 x 16 bytes a thread" },
  { kernel = "memcopy_vector4", per_thread = 4, name = "4 x 16 bytes a thread" },
  { kernel = "memcopy_stream4", per_thread = 4, name = "4 x 16 bytes, streaming" },
}

local function vectors(rung)
  local count = #A
  local go = copy[rung.kernel]:prepare { block = vector_block,
                                         grid = ceil_div(count, 2 * rung.per_thread * vector_block) }
  return measure("rungs", rung.name, B, A, 2, function() go(B, A, count) end,
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

-- Every kernel on a small array with an odd number of elements, which no block divides: the measured
-- size is a power of two by default. The triad with a third array that the host knows: at the measured
-- size it is taken back by itself, which a mere copy would pass as well.
local function check_small()
  local nx, ny = 67, 33
  local a <close> = dev:array("f64", nx, ny):random(3)
  local b <close> = dev:array("f64", nx, ny)
  local function try(name, k, block, grid, ...)
    b:fill(0 / 0)
    k:launch(grid, block, b, a, ...)
    mw.check(b, a, { exact = true, name = ("%s, %d x %d"):format(name, nx, ny) })
  end
  try("block 32 x 8", copy.memcopy, { 32, 8 }, { ceil_div(nx, 32), ceil_div(ny, 8) }, nx, ny)
  try("one warp in all", copy.memcopy_stride, 32, 1, #a)
  for _, rung in ipairs(VECTORS) do
    try(rung.name, copy[rung.kernel], vector_block, ceil_div(#a, 2 * rung.per_thread * vector_block), #a)
  end
  local c <close> = dev:array("f64", nx, ny):random(4)
  local from, more = a:totable(), c:totable()
  b:fill(0 / 0)
  triad:launch({ ceil_div(nx, 32), ceil_div(ny, 8) }, { 32, 8 }, b, a, c, 2, nx, ny)
  mw.check(b, function(i, j) return from[j][i] + 2 * more[j][i] end, { name = ("triad, %d x %d"):format(nx, ny) })
end

-- ---- the rungs ----------------------------------------------------------------------------------

check_small()
local rungs = { library("rungs", B, A) }
rungs[#rungs + 1] = alone(1, "one thread in all", 1 << 14)
rungs[#rungs + 1] = alone(32, "one warp in all", 1 << 16)

-- Blocks of one thread are so slow on a GPU that a part of the rows must do there, and as a part may
-- stay in a cache, it is in the table only. The CPU device copies as fast by any block.
local shapes = {}
if gpu then
  local few = math.min(n, 1024)
  rungs[#rungs + 1] = blocks("rungs", 1, 1, B:view(1, n, few), A:view(1, n, few))
else
  shapes[1] = blocks("rungs", 1, 1, B, A, "memcopy")
end
for k = 0, 10 do
  if 32 << k <= most_threads then
    shapes[#shapes + 1] = blocks("rungs", 32, 1 << k, B, A, "memcopy")
  end
end
table.move(shapes, 1, #shapes, #rungs + 1, rungs)

local block = best(shapes)
local best_bx, best_by = math.min(32, block.threads), math.max(1, block.threads // 32)
local vector = {}
for i, rung in ipairs(VECTORS) do vector[i] = vectors(rung) end
table.move(vector, 1, #vector, #rungs + 1, rungs)
local triad_record = triads(best_bx, best_by)
rungs[#rungs + 1] = triad_record

-- The level to reach: the data sheet's; where the device does not tell it, the triad, unless a copy
-- of the whole array was faster, which then is the level, and not called peak.
local whole = {}
for _, r in ipairs(rungs) do
  if r.bytes == A:nbytes() then whole[#whole + 1] = r end
end
local peak, fastest = dev:peak_bandwidth(), best(whole)
local top = peak and { value = peak, label = "theoretical peak" }
  or { value = fastest.T_tot, label = fastest == triad_record and "peak: triad, 3 arrays"
       or "fastest copy: " .. fastest.rung }
local top_name = (peak or fastest == triad_record) and "the peak" or "the fastest copy"
for _, r in ipairs(whole) do r.share = r.T_tot / top.value end

local host = {}
for _, kind in ipairs { "pinned", "pageable" } do
  host[#host + 1], host[#host + 2] = host_copies(kind)
end

-- ---- the array's size ---------------------------------------------------------------------------

local sweep = {}
local side = math.min(smallest, n)
while side <= n do
  local to, from = B:view(1, side, side), A:view(1, side, side)
  sweep[#sweep + 1] = blocks("size", best_bx, best_by, to, from, block.rung)
  sweep[#sweep + 1] = library("size", to, from, "library copy")
  side = side * 2
end

-- ---- what it shows ------------------------------------------------------------------------------

local columns = { "rung", { "threads", title = "threads a block" }, "bytes", "t", "T_tot",
  { "share", title = "of " .. top_name, unit = "%", digits = 3 }, title = "memcopy", records = rungs }
local host_columns = { "rung", "bytes", "t", "T_tot", title = "memcopy between host and device",
  records = host }
if gpu then -- beside the CPU device's rates the sources' would say nothing
  columns[#columns + 1] = { "p100", title = "P100 (source)", unit = "B/s" }
  columns[#columns + 1] = { "h200", title = "H200 (source)", unit = "B/s" }
  host_columns[#host_columns + 1] = columns[#columns]
end
mw.table(columns)
mw.table(host_columns)

-- What was measured beside the blocks, and on a GPU the sources'.
local levels, points = {}, table.move(shapes, 1, #shapes, 1, {})
for _, r in ipairs { triad_record, rungs[1] } do
  if r.T_tot ~= top.value then levels[#levels + 1] = { value = r.T_tot, label = r.rung } end
end
if gpu then
  for _, r in ipairs(shapes) do
    if r.h200 then
      points[#points + 1] = { threads = r.threads, T_tot = r.h200, series = "H200, CUDA C++, source" }
    end
  end
  for _, one in ipairs { { P100_BEST_BLOCK, "best block, triad" }, { P100["library copy"], "library copy" },
                         { P100["block 32 x 1"], "32 x 1" } } do
    levels[#levels + 1] = { value = one[1] * 1e9, label = ("P100 %s, source"):format(one[2]) }
  end
end
mw.plot { x = "threads", y = "T_tot", by = "series", logx = 2, records = points, peak = top,
          lines = levels, title = "memcopy: T_tot against threads a block",
          xlabel = "threads a block", name = "memcopy-threads" }
mw.plot { x = "bytes", y = "T_tot", by = "series", logx = 2, records = sweep,
          peak = { value = top.value, label = top.label .. (peak and "" or (", %d x %d"):format(n, n)) },
          title = "memcopy: T_tot against array size", xlabel = "bytes of one array",
          name = "memcopy-size" }

-- ---- in words -----------------------------------------------------------------------------------

local function GB(rate)
  return rate / 1e9
end

local wide = best(vector)
local warp = shapes[gpu and 1 or 2] -- 32 x 1
mw.remark("The best block of one element a thread, %s, moves %.0f GB/s; blocks of one warp reach %.0f %% of that. The "
  .. "best 16-byte rung, %s, is at %.0f %% of the library's copy (%.0f GB/s)%s.",
  block.rung, GB(block.T_tot), 100 * warp.T_tot / block.T_tot, wide.rung, 100 * wide.T_tot / rungs[1].T_tot,
  GB(rungs[1].T_tot), peak and (" and at %.0f %% of the theoretical peak"):format(100 * wide.T_tot / peak) or "")
-- The sweep ends with the library's copy of the size that it began with: the machine's own pace.
local last = sweep[#sweep]
local drift = last.bytes == rungs[1].bytes and last.T_tot / rungs[1].T_tot - 1 or 0
if math.abs(drift) > 0.05 then
  mw.remark("The library's copy had %.0f GB/s at the beginning and %.0f GB/s at the end, so the machine's pace changed "
    .. "by %.0f %% on the way: rungs that differ by less are not told apart; run it again.", GB(rungs[1].T_tot),
    GB(last.T_tot), 100 * math.abs(drift))
end
mw.remark("Between host and device, pinned memory gives %.3g times the rate of pageable memory towards the host and "
  .. "%.3g times towards the device%s.", host[1].T_tot / host[3].T_tot, host[2].T_tot / host[4].T_tot,
  gpu and ", since pageable memory is copied once more, by the processor"
    or "; on this device both are ordinary memory")
