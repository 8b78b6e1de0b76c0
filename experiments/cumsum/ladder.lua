-- SPDX-License-Identifier: MIT
--
-- The ladder: the rungs, how each is launched, checked and measured along the dimensions of a cube. A
-- chunk that is called with the study's settings and returns what init.lua runs.

local mw = require "moonwarp"

local set = ...
local dev, n = set.dev, set.n
local bx, by, threads, warps = set.bx, set.by, set.threads, set.warps
local loads, tile_rows, tile_warps = set.loads, set.tile_rows, set.tile_warps
local pace_planes, pace_lag = set.pace_planes, set.pace_lag

local measurement = set.measurement
local CPP, VECTORS = measurement.CPP, measurement.VECTORS
local ceil_div, tolerance, keep = measurement.ceil_div, measurement.tolerance, measurement.keep

local LONG = 2 * math.max(32 * VECTORS.f32 * loads, tile_rows * tile_warps) + 77 -- two passes of any rung and a part

local cumsum -- the module, see below

-- ---- the ladder: how each kernel is launched ----------------------------------------------------
-- A launcher takes a kernel's name and a shape { nx, ny, nz } and returns function(B, A).

-- The kernel made ready, or nil where the device does not take so many threads or blocks.
local function prepared(name, block, grid, cooperative)
  local k = cumsum[name]
  local shape = type(block) == "table" and block or { block }
  if shape[1] * (shape[2] or 1) > k:attributes().max_threads then return nil end
  for i, blocks in ipairs(type(grid) == "table" and grid or { grid }) do
    if blocks > dev:properties().max_grid[i] then return nil end
  end
  return k:prepare { block = block, grid = grid, cooperative = cooperative }
end

-- grid(s) gives the grid over a shape, arguments(s) what the kernel takes behind B and A.
local function over(block, grid, arguments)
  return function(name, s)
    local go, rest = prepared(name, block, grid(s)), { arguments(s) }
    return go and function(B, A) go(B, A, table.unpack(rest)) end
  end
end

local function sides(s) return s.nx, s.ny, s.nz end
local function rows_of(s) return s.nx, s.ny * s.nz end
local function count_of(s) return s.nx * s.ny * s.nz end

local over_rows = over({ 32, warps }, function(s) return ceil_div(s.ny * s.nz, warps) end, rows_of)
local row_a_block = over(32, function(s) return s.ny * s.nz end, function(s) return s.nx end)
local over_vectors = over(threads, function(s) return ceil_div(count_of(s), threads * VECTORS[s.ty]) end, count_of)
local tiles_y = over({ 32, tile_warps }, function(s) return { ceil_div(s.nx, 32), s.nz } end,
  function(s) return s.nx, s.ny end)
local tiles_z = over({ 32, tile_warps }, function(s) return ceil_div(s.nx * s.ny, 32) end,
  function(s) return s.nx * s.ny, s.nz end)
local along_z = over({ bx, by }, function(s) return { ceil_div(s.nx, bx), ceil_div(s.ny, by) } end, sides)
local along_y = over(threads, function(s) return { ceil_div(s.nx, threads), 1, s.nz } end, sides)

-- All columns at once, or nil where the device cannot hold them.
local function paced(name, s)
  local inner, block = s.nx * s.ny, math.min(threads, 256)
  local grid = ceil_div(inner, block * VECTORS[s.ty])
  local most = set.gpu and cumsum[name]:occupancy(block).blocks * set.processors or set.gang
  local go = grid <= most and prepared(name, block, grid, true)
  if not go then return nil end
  local stages, runs = dev:zeros("u32", ceil_div(s.nz, pace_planes)), 0
  return function(B, A)
    runs = runs + 1
    go(B, A, inner, s.nz, stages, runs, pace_lag)
  end
end

-- dim: along which it adds up; none: a copy. p100: what the source measured of the same kernel, in GB/s;
-- its task 9 goes another way than the doubling steps.
local LADDER = {
  { kernel = "copy_3d<%s>", name = "copy, an element a thread", p100 = 538,
    launcher = over({ bx, by }, function(s) return { ceil_div(s.nx, bx), ceil_div(s.ny, by), s.nz }
    end, sides) },
  { kernel = "copy_z<%s>", name = "copy along z", p100 = 515, launcher = along_z },
  { kernel = "cumsum_z<%s>", name = "dim 3, a register", dim = 3, p100 = 516, launcher = along_z },
  { kernel = "copy_y<%s>", name = "copy along y", p100 = 511, launcher = along_y },
  { kernel = "cumsum_y<%s>", name = "dim 2, a register", dim = 2, p100 = 510, launcher = along_y },
  { kernel = "copy_x<%s>", name = "copy along x, strided", p100 = 36.6,
    launcher = over({ 1, threads }, function(s) return { 1, ceil_div(s.ny, threads), s.nz } end, sides) },
  { kernel = "copy_x32<%s>", name = "copy along x, 32 wide", p100 = 525, launcher = over_rows },
  { kernel = "cumsum_shared<%s>", name = "dim 1, shared memory", dim = 1, p100 = 336, launcher = row_a_block },
  { kernel = "cumsum_broadcast<%s>", name = "dim 1, broadcasts", dim = 1, p100 = 163, launcher = over_rows },
  { kernel = "cumsum_shuffle<%s>", name = "dim 1, doubling steps", dim = 1, launcher = over_rows },
  { kernel = ("cumsum_rows<%%s,%d>"):format(loads), name = "dim 1, 16-byte loads", dim = 1,
    launcher = over_rows, best = true },
  { kernel = ("cumsum_tile<%%s,%d,%d>"):format(tile_rows, tile_warps), name = "dim 2, tiles",
    dim = 2, launcher = tiles_y, best = true },
  { kernel = ("cumsum_tile<%%s,%d,%d>"):format(tile_rows, tile_warps), name = "dim 3, tiles",
    dim = 3, launcher = tiles_z },
  { kernel = ("cumsum_paced<%%s,%d>"):format(pace_planes), name = "dim 3, blocks in pace", dim = 3,
    launcher = paced, best = true },
}
local WIDE = { kernel = "copy_wide<%s>", name = "copy, 16 bytes a thread", launcher = over_vectors }

-- The copy runs whatever was asked for, as the library's does: they are what the sums are compared with.
local chosen, patterns = {}, { WIDE.kernel }
for number, rung in ipairs(LADDER) do
  rung.number = number
  if measurement.has(set.rungs, number) then
    chosen[#chosen + 1], patterns[#patterns + 1] = rung, rung.kernel
  end
end
cumsum = measurement.module_of("cumsum.cu", patterns)

local function launch_of(rung, s)
  return rung.launcher(rung.kernel:format(CPP[s.ty]), s)
end

-- ---- checking -----------------------------------------------------------------------------------

-- Every rung that was asked for and fits, every element, on a box, against the host.
local function check_box(ty, nx, ny, nz)
  local s = { ty = ty, nx = nx, ny = ny, nz = nz }
  local A <close> = dev:array(ty, s.nx * s.ny * s.nz):random(7)
  local B <close> = dev:array(ty, #A)
  local values, sums = A:totable(), {}
  for dim = 1, 3 do sums[dim] = set.host.cumsum(values, s, dim) end
  for _, rung in ipairs { WIDE, table.unpack(chosen) } do
    B:fill(0 / 0)
    local go = launch_of(rung, s)
    local options = rung.dim and tolerance(ty, math.max(nx, ny, nz)) or { exact = true }
    options.name = ("%s, %d x %d x %d, %s"):format(rung.name, s.nx, s.ny, s.nz, ty)
    if go then
      go(B, A)
      mw.check(B, rung.dim and sums[rung.dim] or A, options)
    end
  end
end

-- A box with odd sides; and as a rung that takes all of a side in one pass carries nothing to a next one, others that
-- are long along one dimension.
local function check_small(ty)
  for _, box in ipairs { { 67, 43, 29 }, { LONG, 3, 5 }, { 3, LONG, 5 }, { 3, 5, LONG } } do
    check_box(ty, table.unpack(box))
  end
end

-- Where line `number` along dim begins, as a position in memory, and the step from point to point.
local function line_of(s, dim, number)
  local i = number * 7919 % s.nx
  local j, k = number * 104729 % s.ny, number * 1299709 % s.nz
  if dim == 1 then return (k * s.ny + j) * s.nx, 1, s.nx end
  if dim == 2 then return k * s.ny * s.nx + i, s.nx, s.ny end
  return j * s.nx + i, s.nx * s.ny, s.nz
end

-- A few lines of the measured size against the host.
local function check_lines(name, B, A, s, dim)
  local got, expected = {}, {}
  for number = 1, 5 do
    local first, step, count = line_of(s, dim, number)
    local sum = 0.0
    for k = 0, count - 1 do
      sum = sum + A:get(1 + first + k * step)
      got[#got + 1], expected[#expected + 1] = B:get(1 + first + k * step), sum
    end
  end
  mw.check(dev:array(s.ty, got), expected, tolerance(s.ty, #got // 5, ("%s, 5 lines, %s"):format(name, s.ty)))
end

-- ---- measuring ----------------------------------------------------------------------------------

-- refs: for each dimension the result of the first rung that adds up along it, which the host has
-- looked at; the others are held against it in full.
local function check_cube(rung, B, A, s, refs)
  local dim = rung.dim
  local name = ("%s, %s"):format(rung.name, s.ty)
  if not dim then return mw.check(B, A, { exact = true, name = name }) end
  if refs[dim] then return mw.check(B, refs[dim], tolerance(s.ty, n, name)) end
  check_lines(rung.name, B, A, s, dim)
  refs[dim] = B:clone()
end

-- nil where the device cannot run the rung at this size.
local function measure(group, rung, B, A, s, refs)
  local go = launch_of(rung, s)
  if not go then return nil end
  B:fill(0 / 0)
  local t = measurement.bench(function() go(B, A) end, 2 * B:nbytes())
  check_cube(rung, B, A, s, refs)
  return keep({ group = group, rung = rung.name, number = rung.number, type = s.ty, side = s.nx,
                dim = rung.dim, best = rung.best,
                p100 = rung.p100 and s.ty == "f64" and rung.p100 * 1e9 or nil,
                series = rung.dim and ("sum, dim %d"):format(rung.dim) or "copy" }, B, t)
end

local function cube(ty, side)
  local A = dev:array(ty, side, side, side):random(1)
  return A, dev:array(ty, side, side, side), { ty = ty, nx = side, ny = side, nz = side }
end

local function close_all(list)
  for _, array in pairs(list) do array:close() end
end

local function run_ladder(ty)
  check_small(ty)
  local A, B, s = cube(ty, n)
  local refs = {}
  local records = { measurement.library("ladder", B, A, { type = ty, side = n }),
                    measure("ladder", WIDE, B, A, s, refs) }
  for _, rung in ipairs(chosen) do
    records[#records + 1] = measure("ladder", rung, B, A, s, refs)
  end
  close_all { A, B }
  close_all(refs)
  local top = measurement.fastest(records, measurement.is_copy).T_eff
  for _, r in ipairs(records) do r.share = r.T_eff / top end
  return records
end

-- The rungs that a GPU has as the fastest along each dimension, over the size of the cube.
local function run_sizes(ty)
  local records, side = {}, n
  while side >= 8 and side >= n // 16 do
    local A, B, s = cube(ty, side)
    local refs = {}
    records[#records + 1] = measure("sizes", WIDE, B, A, s, refs)
    for _, rung in ipairs(chosen) do
      if rung.best then records[#records + 1] = measure("sizes", rung, B, A, s, refs) end
    end
    close_all { A, B }
    close_all(refs)
    side = side // 2
  end
  return records
end

return { ladder = run_ladder, sizes = run_sizes }
