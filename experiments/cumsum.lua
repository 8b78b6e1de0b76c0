-- SPDX-License-Identifier: MIT
--
-- cumsum: what does a running sum cost beyond the copy that it includes?
--
-- The ladder (kernels/cumsum.cu) begins with copies, whose loops run along z, y and x, and turns each into a
-- sum: in a register where neighbouring threads have neighbouring columns; through shared memory, by
-- broadcasts and by doubling steps where they share a row. Then the fastest kernels over the cube's size.
-- T_eff = 2 * bytes(A) / t for copies and sums alike: a share of 1 is a sum that costs nothing.
--
-- What others measured, 512^3 f64: Tesla P100, the stored output of notebook 4 of S. Omlin and L. Raess
-- (github.com/omlins/julia-gpu-course-2023), tasks 1 to 9; H200, torch.cumsum and CuPy, for this project.
-- See docs/studies/cumsum.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div
local study, p, gpu = mw.study {
  question = "what does a running sum cost beyond the copy that it includes?",
  course = { week = 7.1, level = 2, hours = 3, about = "running sums along each dimension",
             without_gpu = "results, barriers" },
  kernels = "cumsum.cu", rate = "T_eff", output = "B", level = "copy", seconds = { 0.02, gpu = 0.05 },
  odd = function(p) -- odd sides; rows on 16 bytes, few planes; two passes of any rung, and a part, long
    local long = 2 * math.max(32 * 4 * p.loads, p.tile_rows * p.tile_warps) + 77
    return { { nx = 67, ny = 43, nz = 29 }, { nx = 68, ny = 16, nz = 3 }, { nx = long, ny = 3, nz = 5 },
             { nx = 3, ny = long, nz = 5 }, { nx = 3, ny = 5, nz = long } }
  end,
  params = {
    { "n", 160, "points along each side of the cube", gpu = 512, min = 8, max = 2048 },
    { "types", { "f64", "f32" }, "element types", choices = { "f64", "f32" } },
    { "bx", 32, "block of the kernels over x and y: threads along x", min = 1, max = 1024 },
    { "by", function(v) return math.min(8, 1024 // v.bx) end, "and along y; 1024 threads in all at most",
      min = 1, max = function(v) return 1024 // v.bx end },
    { "threads", 256, "block of the kernels over columns (in pace: 256 at most)", min = 1, max = 1024 },
    { "warps", 1, "rows per block of the kernels with one warp per row", min = 1, max = 32 },
    { "lanes", 32, "threads per row of rungs 8 to 10", choices = { 1, 2, 4, 8, 16, 32 } },
    { "loads", 4, "loads in flight per lane of cumsum_rows", min = 1, max = 16 },
    { "tile_rows", 8, "rows per warp of cumsum_tile", min = 1, max = 32 },
    { "tile_warps", 16, "warps per block of cumsum_tile", min = 1, max = 32 },
    { "pace_planes", 4, "planes in flight per thread of cumsum_paced", min = 1, max = 32 },
    { "pace_lag", 3, "most stages between its blocks", min = 1, max = 2048 },
  },
}

function study.arrays(c)
  c.n, c.rows, c.columns = c.nx * c.ny * c.nz, c.ny * c.nz, c.nx * c.ny
  return { A = c.dev:array(c.type, c.n):random(1), B = c.dev:array(c.type, c.n) }
end

-- ---- what is right ----------------------------------------------------------------------------------
study:library("A", "B")

-- Sums line k of `count` points along dim: in f64, with what each addition loses put back (W. Kahan, 1965).
local function sum_line(c, dim, count, k, get, put)
  local step = ({ 1, c.nx, c.columns })[dim]
  k = k % (c.n // count)
  local first, sum, lost = k // step * step * count + k % step + 1, 0.0, 0.0
  for i = first, first + (count - 1) * step, step do
    local term, before = get(i) - lost, sum
    sum = before + term
    lost = sum - before - term
    put(i, sum)
  end
end

for dim, side in ipairs { "nx", "ny", "nz" } do
  study:answer("sum " .. dim, { bytes = "A B",
    host = function(c)
      local all = c.A:totable()
      local function put(i, sum) all[i] = sum end
      for k = 0, c.n // c[side] - 1 do sum_line(c, dim, c[side], k, function(i) return all[i] end, put) end
      return all
    end,
    spot = function(c) -- five lines of the measured size
      local spots = {}
      local function put(i, sum) spots[#spots + 1] = { i, value = sum } end
      for k = 1, 5 do sum_line(c, dim, c[side], k * 1299709, function(i) return c.A:get(i) end, put) end
      return spots
    end,
    -- All terms are positive: the error is relative to the sum and grows with the root of its terms.
    tolerance = function(c) return { relative = 4 * c.eps * math.sqrt(math.max(c.nx, c.ny, c.nz)) } end })
end

-- ---- the rungs --------------------------------------------------------------------------------------
local P100, p100 = { 538, 515, 516, 511, 510, 36.6, 525, 336, 163, 523 }, {} -- GB/s by number, B/s by name
-- A rung of `dim`, which it sums along, or of a copy where that is nil.
local function rung(number, name, kernel, dim, launch)
  local spec = { number, name, kernel = kernel, answer = dim and "sum " .. dim or "copy",
                 series = dim and "sum, dim " .. dim or "copy", fields = { dim = dim } }
  for key, value in pairs(launch) do spec[key] = value end
  study:rung(spec)
  p100[name] = P100[number] and P100[number] * 1e9
end

local boxes = { block = { p.bx, p.by }, over = { "nx", "ny", "nz" } }
local along_z = { block = { p.bx, p.by }, over = { "nx", "ny" } }
local along_y = { block = p.threads, over = { "nx", 1, "nz" } }
local strided = { block = { 1, p.threads }, over = { 1, "ny", "nz" } }
local a_row = { block = p.lanes, grid = function(c) return c.rows end }
local lanes = { block = { p.lanes, p.warps }, grid = function(c) return ceil_div(c.rows, p.warps) end }
local rows = { block = { 32, p.warps }, grid = lanes.grid }
local tiles_y = { block = { 32, p.tile_warps }, grid = function(c) return { ceil_div(c.nx, 32), c.nz } end,
                  args = function(c) return { inner = c.nx, count = c.ny } end }
local tiles_z = { block = { 32, p.tile_warps }, over = { "columns", 1 },
                  args = function(c) return { inner = c.columns, count = c.nz } end }

-- All columns at once. The kernel's counters grow from launch to launch.
local in_pace = { block = math.min(p.threads, 256), over = { "columns" }, cooperative = true,
                  each = function(c) return c.vector end, args = function(c)
  local runs, stages = 0, c:keep(c.dev:zeros("u32", ceil_div(c.nz, p.pace_planes)))
  local function count() runs = runs + 1; return runs end
  return { inner = c.columns, count = c.nz, lag = p.pace_lag, stages = stages, runs = count }
end }

local TILE = ("cumsum_tile<%%s,%d,%d>"):format(p.tile_rows, p.tile_warps)
local ROWS, PACED = ("cumsum_rows<%%s,%d>"):format(p.loads), ("cumsum_paced<%%s,%d>"):format(p.pace_planes)

study:rung { "copy, 16 bytes per thread", kernel = "copy_wide<%s>", answer = "copy", series = "copy",
             always = true, block = p.threads, over = { "n" }, each = function(c) return c.vector end }
rung(1, "copy, an element per thread", "copy_3d<%s>", nil, boxes)
rung(2, "copy along z", "copy_z<%s>", nil, along_z)
rung(3, "dim 3, a register", "cumsum_z<%s>", 3, along_z)
rung(4, "copy along y", "copy_y<%s>", nil, along_y)
rung(5, "dim 2, a register", "cumsum_y<%s>", 2, along_y)
rung(6, "copy along x, strided", "copy_x<%s>", nil, strided)
rung(7, "copy along x, 32 wide", "copy_x32<%s>", nil, rows)
rung(8, "dim 1, shared memory", ("cumsum_shared<%%s,%d>"):format(p.lanes), 1, a_row)
rung(9, "dim 1, broadcasts", ("cumsum_broadcast<%%s,%d>"):format(p.lanes), 1, lanes)
rung(10, "dim 1, sub-chunks", ("cumsum_chunks<%%s,%d>"):format(p.lanes), 1, lanes)
rung(11, "dim 1, doubling steps", "cumsum_shuffle<%s>", 1, rows)
rung(12, "dim 1, 16-byte loads", ROWS, 1, rows)
rung(13, "dim 2, tiles", TILE, 2, tiles_y)
rung(14, "dim 3, tiles", TILE, 3, tiles_z)
rung(15, "dim 3, blocks in pace", PACED, 3, in_pace)

-- ---- what others measured ---------------------------------------------------------------------------
local function known(c) return gpu and c.type == "f64" and c.side == 512 end
study:source { "P100", field = "p100", when = known, values = p100 }

-- GB/s along each dimension, next to the fastest rung of each.
for _, one in ipairs { { "H200 torch.cumsum", 2928, 3870, 3942 }, { "H200 CuPy", 769, 433, 411 },
                       { "P100 best kernel", 523, 510, 516 }, { "P100 CUDA.cumsum!", 109, 112, 43 } } do
  study:source { one[1], when = known,
    values = { ["sum 1"] = one[2] * 1e9, ["sum 2"] = one[3] * 1e9, ["sum 3"] = one[4] * 1e9 } }
end

-- ---- parts ------------------------------------------------------------------------------------------
local function cube(side, type) return { nx = side, ny = side, nz = side, side = side, type = type } end
local sizes = mw.geometric(p.n, math.max(8, p.n // 16))
for i, side in ipairs(sizes) do sizes[i] = cube(side, p.types[1]) end

study:part { "ladder", cases = { cube(p.n, p.types) }, each = "type",
  table = { { "number", title = "rung" }, { "rung", title = "what" }, "t", "T_eff",
            { "share", title = "of the fastest copy", unit = "%", digits = 3 } },
  charts = { { kind = "ladder" } },
  ratios = { "best sum 1 / best copy", "best sum 2 / best copy", "best sum 3 / best copy",
             "dim 3, a register / copy along z", "dim 2, a register / copy along y",
             "copy along x, strided / copy along x, 32 wide", "dim 1, shared memory / copy along x, 32 wide",
             "dim 1, broadcasts / copy along x, 32 wide", "dim 1, sub-chunks / copy along x, 32 wide",
             "dim 1, doubling steps / dim 1, sub-chunks" } }

study:part { "sizes", cases = sizes,
  rungs = { "copy, 16 bytes per thread", "dim 1, 16-byte loads", "dim 2, tiles", "dim 3, blocks in pace" },
  charts = { { x = "side", logx = 2, logy = true, by = "rung", xlabel = "points along each side" } } }
return study
