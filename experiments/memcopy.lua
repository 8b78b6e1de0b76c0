-- SPDX-License-Identifier: MIT
--
-- memcopy: how fast can main memory be read and written, and what does a kernel need to get there?
--
-- The rungs: 1 the library's own copy; 2 one thread and 3 one warp in all; 4 blocks of one thread and
-- of 32 x 2^k, or of other shapes; 5 to 8 16-byte loads, one to four in flight a thread; 9 the triad;
-- 10 copies between host and device, pinned and pageable, both ways. Then the array's size is swept.
-- T_tot = bytes moved / t: 2 arrays for a copy, 3 for the triad, 1 for a copy between host and
-- device.
--
-- What others measured, in f64 (the columns, points and dashed lines called "source"):
--   Tesla P100 PCIe 16 GB (S. Omlin and L. Raess, introduction notebook 1_memorycopy of the course
--   github.com/omlins/julia-gpu-course-2023, CUDA.jl, 16384 x 16384; theoretical peak 732 GB/s).
--   copyto! is as its text has it: the stored output ends at 518. ETH Zurich's lecture 10, "Solving
--   PDEs in parallel on GPUs" (2023), has 550 for a copy of one array and 561 for the triad.
--   H200 (CUDA C++, for this project)

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

-- At most as many rows as a grid has blocks along y: blocks of one row are among the rungs.
local n = mw.arg("n", gpu and 16384 or 4096, "points along each side of the square arrays",
  { min = 256, max = 65535 })
local kind = mw.arg("type", "f64", "of the elements", { choices = { "f32", "f64" } })
local seconds = mw.arg("seconds", gpu and 0.2 or 0.1,
  "least time of a measurement; three times that at most",
  { min = 0, max = 3600 })
local smallest = mw.arg("smallest", gpu and 256 or 64, "least side of the array-size sweep", { min = 1 })
local rungs = mw.arg("rungs", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 },
  "which rungs to measure; 1 and 9, the library's copy and the triad, always are", { min = 1, max = 10 })

-- The blocks that a text stands for: 32x4 for itself, 32 for all 32 x 2^k from a warp on. None where no
-- device takes it.
local function blocks_of(text)
  local most, list = 1024, {}
  local bx, by = text:match "^(%d+)x(%d+)$"
  bx, by = tonumber(bx or text:match "^%d+$"), tonumber(by)
  for k = 0, bx and (by and 0 or 10) or -1 do
    local height = by or 1 << k
    local fits = math.max(bx, height) <= most and bx * height <= most -- each, lest the product overflows
    if fits and bx * height >= (by and 1 or 32) then list[#list + 1] = { bx, height } end
  end
  return list
end

local shapes = mw.arg("shapes", { "1x1", "32" }, "blocks of rung 4: 32x4, or 32 for all that are 32 wide",
  { check = function(text)
    return #blocks_of(text) == 0 and "a block of 1 to 1024 threads such as 32x4, or a width such as 32" or nil
  end })
local vector_block = mw.arg("vector_block", 256, "threads a block of the 16-byte rungs",
  { min = 1, max = 1024 })

local size, eps = 8, 2.0 ^ -52
if kind == "f32" then size, eps = 4, 2.0 ^ -23 end
local wide = 16 // size -- elements of a 16-byte access
local defines = { REAL = kind == "f64" and "double" or "float" }

local wanted = { true, [9] = true } -- what others are compared with
for _, number in ipairs(rungs) do wanted[number] = true end

local copy = dev:module { file = "memcopy.cu", defines = defines }
local triad = dev:module({ file = "triad.cu", defines = defines }).triad
local stream = dev:stream()
local most_threads = dev:properties().max_threads_per_block

local A = dev:array(kind, n, n):random(1)
local B = dev:array(kind, n, n)

-- GB/s, from the sources above.
local P100 = { ["library copy"] = 522, ["block 1 x 1"] = 9.5, ["block 32 x 1"] = 302, ["block 32 x 2"] = 545,
  ["block 32 x 4"] = 547, ["block 32 x 8"] = 549, ["block 32 x 16"] = 543, ["block 32 x 32"] = 537, triad = 561 }
local H200 = { ["library copy"] = 4270, ["block 32 x 1"] = 851, ["block 32 x 2"] = 1701,
  ["block 32 x 4"] = 3358, ["block 32 x 8"] = 3881, ["block 32 x 16"] = 3646,
  ["block 32 x 32"] = 3272, ["16 bytes a thread"] = 4260, triad = 4333,
  ["pinned, host to device"] = 55.5, ["pageable, host to device"] = 9.5 }
if kind ~= "f64" then P100, H200 = {}, {} end

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
  return mw.record { study = "memcopy", group = group, number = fields.number, rung = rung, type = kind,
                     threads = fields.threads, bytes = to:nbytes(), T_tot = bytes / t.median, t = t,
                     series = fields.series,
                     p100 = P100[rung] and P100[rung] * 1e9, h200 = H200[rung] and H200[rung] * 1e9 }
end

local function ceil_div(a, b)
  return (a + b - 1) // b
end

local function library(group, to, from, series)
  return measure(group, "library copy", to, from, 2, function()
    to:copy(from, { stream = stream })
  end, { number = 1, stream = gpu and stream or nil, series = series })
end

-- The first ny rows, in blocks of bx x by threads.
local function blocks(group, bx, by, to, from, series)
  local nx, ny = to:shape()
  local go = copy.memcopy:prepare { block = { bx, by }, grid = { ceil_div(nx, bx),
    ceil_div(ny, by) } }
  return measure(group, ("block %d x %d"):format(bx, by), to, from, 2, function()
    go(to, from, nx, ny)
  end, { number = 4, threads = bx * by, series = series })
end

-- A grid of one block copies the first `count` elements: little, for it is slow.
local function alone(number, threads, name, count)
  local to, from = B:view(1, count), A:view(1, count)
  local go = copy.memcopy_stride:prepare { block = threads, grid = 1 }
  return measure("rungs", name, to, from, 2, function() go(to, from, count) end, { number = number })
end

local VECTORS = {
  { number = 5, kernel = "memcopy_vector1", per_thread = 1, name = "16 bytes a thread" },
  { number = 6, kernel = "memcopy_vector2", per_thread = 2, name = "2 x 16 bytes a thread" },
  { number = 7, kernel = "memcopy_vector4", per_thread = 4, name = "4 x 16 bytes a thread" },
  { number = 8, kernel = "memcopy_stream4", per_thread = 4, name = "4 x 16 bytes, streaming" },
}

local function vectors(rung)
  local count = #A
  local go = copy[rung.kernel]:prepare { block = vector_block,
                                         grid = ceil_div(count, wide * rung.per_thread * vector_block) }
  return measure("rungs", rung.name, B, A, 2, function() go(B, A, count) end,
    { number = rung.number, threads = vector_block })
end

-- B = A + 2 C; subtracting 2 C again must give A, up to the rounding of A + 2.
local function triads(bx, by)
  local C <close> = dev:full(1, kind, n, n)
  local go = triad:prepare { block = { bx, by }, grid = { ceil_div(n, bx), ceil_div(n, by) } }
  return measure("rungs", "triad", B, A, 3, function() go(B, A, C, 2, n, n) end,
    { number = 9, threads = bx * by, absolute = 4 * eps, undo = function() go(B, B, C, -2, n, n) end })
end

local function host_copies(memory)
  local count = math.min(#A, 1 << 25)
  local host <close> = dev[memory](dev, kind, count)
  local to, from = B:view(1, count), A:view(1, count)
  local out = measure("host", memory .. ", device to host", host, from, 1,
    function() host:copy(from) end, { number = 10 })
  local back = measure("host", memory .. ", host to device", to, from, 1,
    function() to:copy(host) end, { number = 10 })
  return out, back
end

-- Nil where there is none.
local function best(records)
  local most = records[1]
  for _, r in ipairs(records) do
    if r.T_tot > most.T_tot then most = r end
  end
  return most
end

-- Every kernel that is wanted on a small array with an odd number of elements, which no block divides: the measured
-- size is a power of two by default. The triad with a third array that the host knows: at the measured
-- size it is taken back by itself, which a mere copy would pass as well.
local function check_small()
  local nx, ny = 67, 33
  local a <close> = dev:array(kind, nx, ny):random(3)
  local b <close> = dev:array(kind, nx, ny)
  local function try(name, k, block, grid, ...)
    b:fill(0 / 0)
    k:launch(grid, block, b, a, ...)
    mw.check(b, a, { exact = true, name = ("%s, %d x %d"):format(name, nx, ny) })
  end
  if wanted[4] then try("block 32 x 8", copy.memcopy, { 32, 8 }, { ceil_div(nx, 32), ceil_div(ny, 8) }, nx, ny) end
  if wanted[2] or wanted[3] then try("one warp in all", copy.memcopy_stride, 32, 1, #a) end
  for _, rung in ipairs(VECTORS) do
    if wanted[rung.number] then
      try(rung.name, copy[rung.kernel], vector_block, ceil_div(#a, wide * rung.per_thread * vector_block), #a)
    end
  end
  local c <close> = dev:array(kind, nx, ny):random(4)
  local from, more = a:totable(), c:totable()
  b:fill(0 / 0)
  triad:launch({ ceil_div(nx, 32), ceil_div(ny, 8) }, { 32, 8 }, b, a, c, 2, nx, ny)
  mw.check(b, function(i, j) return from[j][i] + 2 * more[j][i] end, { name = ("triad, %d x %d"):format(nx, ny) })
end

-- ---- the rungs ----------------------------------------------------------------------------------

check_small()
local ladder = { library("rungs", B, A) }
if wanted[2] then ladder[#ladder + 1] = alone(2, 1, "one thread in all", 1 << 14) end
if wanted[3] then ladder[#ladder + 1] = alone(3, 32, "one warp in all", 1 << 16) end

-- Blocks of less than a warp are so slow on a GPU that a part of the rows must do there, and as a part
-- may stay in a cache, they are in the table only. The CPU device copies as fast by any block.
local swept, block_of = {}, {}
local function try_block(bx, by)
  local slow = gpu and bx * by < 32
  local ny = slow and math.min(n, 1024) or n
  local r = blocks("rungs", bx, by, B:view(1, n, ny), A:view(1, n, ny), ("%d wide"):format(bx))
  ladder[#ladder + 1], block_of[r] = r, { bx, by }
  if not slow then swept[#swept + 1] = r end
end

local seen = {}
for _, text in ipairs(wanted[4] and shapes or {}) do
  for _, block in ipairs(blocks_of(text)) do
    local name = table.concat(block, " x ")
    if not seen[name] and block[1] * block[2] <= most_threads then try_block(block[1], block[2]) end
    seen[name] = true
  end
end

local block, vector = best(swept), {}
local best_bx, best_by = table.unpack(block_of[block] or { 32, 8 })
for _, rung in ipairs(VECTORS) do
  if wanted[rung.number] then vector[#vector + 1] = vectors(rung) end
end
table.move(vector, 1, #vector, #ladder + 1, ladder)
local library_record, triad_record = ladder[1], triads(best_bx, best_by)
ladder[#ladder + 1] = triad_record

-- The level to reach: the data sheet's; where the device does not tell it, the triad, unless a copy
-- of the whole array was faster, which then is the level, and not called peak.
local whole = {}
for _, r in ipairs(ladder) do
  if r.bytes == A:nbytes() then whole[#whole + 1] = r end
end
local peak, fastest = dev:peak_bandwidth(), best(whole)
local top = peak and { value = peak, label = "theoretical peak" }
  or { value = fastest.T_tot, label = fastest == triad_record and "peak: triad, 3 arrays"
       or "fastest copy: " .. fastest.rung }
local top_name = (peak or fastest == triad_record) and "the peak" or "the fastest copy"
for _, r in ipairs(whole) do r.share = r.T_tot / top.value end

local host = {}
for _, memory in ipairs(wanted[10] and { "pinned", "pageable" } or {}) do
  host[#host + 1], host[#host + 2] = host_copies(memory)
end

-- ---- the array's size ---------------------------------------------------------------------------

local sweep = {}
local side = math.min(smallest, n)
while side <= n do
  local to, from = B:view(1, side, side), A:view(1, side, side)
  if block then sweep[#sweep + 1] = blocks("size", best_bx, best_by, to, from, block.rung) end
  sweep[#sweep + 1] = library("size", to, from, "library copy")
  side = side * 2
end

-- ---- what it shows ------------------------------------------------------------------------------

local columns = { { "number", title = "no." }, "rung", { "threads", title = "threads a block" }, "bytes", "t", "T_tot",
  { "share", title = "of " .. top_name, unit = "%", digits = 3 }, title = "memcopy, " .. kind,
  records = ladder }
local host_columns = { { "number", title = "no." }, "rung", "bytes", "t", "T_tot",
  title = "memcopy between host and device, " .. kind, records = host }
local known = gpu and kind == "f64" -- beside the CPU device's rates the sources' would say nothing
if known then
  columns[#columns + 1] = { "p100", title = "P100 (source)", unit = "B/s" }
  columns[#columns + 1] = { "h200", title = "H200 (source)", unit = "B/s" }
  host_columns[#host_columns + 1] = columns[#columns]
end
mw.table(columns)
if #host > 0 then mw.table(host_columns) end

-- What was measured beside the blocks, and on a GPU the sources'.
local levels, points, warp = {}, table.move(swept, 1, #swept, 1, {}), nil
for _, r in ipairs(swept) do
  if r.rung == "block 32 x 1" then warp = r end
end
for _, r in ipairs { triad_record, library_record } do
  if r.T_tot ~= top.value then levels[#levels + 1] = { value = r.T_tot, label = r.rung } end
end
if known then
  for _, r in ipairs(swept) do
    if r.h200 then
      points[#points + 1] = { threads = r.threads, T_tot = r.h200, series = "H200, CUDA C++, source" }
      points[#points + 1] = { threads = r.threads, T_tot = r.p100, series = "P100, CUDA.jl, source" }
    end
  end
  for _, rung in ipairs { "triad", "library copy" } do
    levels[#levels + 1] = { value = P100[rung] * 1e9, label = ("P100 %s, source"):format(rung) }
  end
end
if block then
  mw.plot { x = "threads", y = "T_tot", by = "series", logx = 2, records = points, peak = top,
            lines = levels, title = "memcopy: T_tot against threads a block",
            xlabel = "threads a block", name = "memcopy-threads" }
end
mw.plot { x = "bytes", y = "T_tot", by = "series", logx = 2, records = sweep,
          peak = { value = top.value, label = top.label .. (peak and "" or (", %d x %d"):format(n, n)) },
          title = "memcopy: T_tot against array size", xlabel = "bytes of one array",
          name = "memcopy-size" }

-- ---- in words -----------------------------------------------------------------------------------

local function GB(rate)
  return rate / 1e9
end

local words, fast = {}, best(vector)
if block then
  words[1] = ("%s of one element a thread%s %.0f GB/s%s."):format(#swept > 1 and "The best block" or "Blocks",
    (#swept > 1 and ", %s, moves" or ", %s, move"):format(block.rung:gsub("^block ", "")), GB(block.T_tot),
    warp and warp ~= block and ("; blocks of one warp reach %.0f %% of that"):format(100 * warp.T_tot / block.T_tot)
      or "")
end
if fast then
  words[#words + 1] = ("%s is at %.0f %% of the library's copy (%.0f GB/s)%s."):format(
    #vector > 1 and ("The best 16-byte rung, %s,"):format(fast.rung) or ("'%s'"):format(fast.rung),
    100 * fast.T_tot / library_record.T_tot, GB(library_record.T_tot),
    peak and (" and at %.0f %% of the theoretical peak"):format(100 * fast.T_tot / peak) or "")
end
if #words > 0 then mw.remark("%s", table.concat(words, " ")) end
-- The sweep ends with the library's copy of the size that it began with: the machine's own pace.
local last = sweep[#sweep]
local drift = last.bytes == library_record.bytes and last.T_tot / library_record.T_tot - 1 or 0
if math.abs(drift) > 0.05 then
  mw.remark("The library's copy had %.0f GB/s at the beginning and %.0f GB/s at the end, so the machine's pace changed "
    .. "by %.0f %% on the way: rungs that differ by less are not told apart; run it again.", GB(library_record.T_tot),
    GB(last.T_tot), 100 * math.abs(drift))
end
if #host > 0 then
  mw.remark("Between host and device, pinned memory gives %.3g times the rate of pageable memory towards the host and "
    .. "%.3g times towards the device%s.", host[1].T_tot / host[3].T_tot, host[2].T_tot / host[4].T_tot,
    gpu and ", since pageable memory is copied once more, by the processor"
      or "; on this device both are ordinary memory")
end
