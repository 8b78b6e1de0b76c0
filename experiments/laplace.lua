-- SPDX-License-Identifier: MIT
--
-- laplace: what does the shape of a block cost a step of Jacobi's iteration, and what do several steps a pass gain?
--
-- In 2-D: blocks of many shapes with the 32-byte sectors that each reads, 16 bytes a thread, rows that begin anywhere,
-- temporal blocking. In 3-D: 3-D blocks, columns, 16 bytes a thread, the change of a step in a pass of its own and
-- in the same one, temporal blocking. T_eff = steps * 2 arrays / t; shares are of the faster of the library copy and a
-- triad. The results are equal bit for bit. After M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs"
-- (Oxford), lecture 3, p. 26 to 36, and lecture 7, p. 21 (the small grids). See docs/studies/laplace.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

-- Grids that no block divides, and those of the lecture, in blocks of 8 x 4 and 8 x 8.
local ODD = {
  { nx = 131, ny = 43 }, { nx = 132, ny = 41 }, { nx = 8, ny = 4, grid = "one warp" },
  { nx = 8, ny = 8, grid = "two warps" }, { nx = 5, ny = 3, grid = "less than a block" },
  { nx = 16, ny = 4, grid = "two blocks" },
  { nx = 131, ny = 7, nz = 9 }, { nx = 132, ny = 19, nz = 5 }, { nx = 8, ny = 4, nz = 3, grid = "one warp" },
  { nx = 8, ny = 8, nz = 3, grid = "two warps" }, { nx = 5, ny = 3, nz = 4, grid = "less than a block" },
  { nx = 16, ny = 4, nz = 3, grid = "two blocks" },
}

local study, p, gpu = mw.study {
  question = "what does the shape of a block cost a Jacobi step, and what do several steps a pass gain?",
  kernels = "laplace.cu", rate = "T_eff", output = "u2", level = { "copy", "triad" }, odd = ODD,
  seconds = { 0.02, gpu = 0.03 },
  defines = function(type) return { REAL = type == "f64" and "double" or "float" } end,
  params = {
    { "n", 1536, "points along each side of the square", gpu = 16384, min = 8, max = 65535 },
    { "side", 96, "points along each side of the cube", gpu = 960, min = 8, max = 2048 },
    { "type", "f32", "of the elements", choices = { "f32", "f64" } },
    { "shapes", { "512x1", "256x2", "128x4", "64x8", "32x16", "16x32", "8x64" }, "blocks of the 2-D step by cells",
      kind = "blocks" },
    { "solids", { "32x4x4" }, "blocks of the 3-D step by cells", kind = "blocks",
      gpu = { "512x1x1", "128x4x1", "128x2x2", "64x4x2", "32x8x2", "32x4x4", "32x2x8" } },
    { "levels", { 2, 4 }, "steps per pass in 2-D", gpu = { 2, 4, 8 }, min = 1, max = 12 },
    { "rows", 256, "rows per warp of these", gpu = 512, min = 1 },
    { "depths", { 2 }, "steps per pass in 3-D", gpu = { 2, 3, 4 }, min = 1, max = 6 },
    { "height", 2, "rows per thread, 16 bytes a thread", choices = { 1, 2 } },
    { "planes", 128, "planes per thread in 3-D, 16 bytes a thread", min = 1 },
  },
}

local deepest = math.max(table.unpack(p.levels))
local COARSE, TALL = { { 32, 8 } }, { { 32, 16 } }
local FLAT, EITHER = gpu and { { 32, 4 }, { 32, 8 }, { 32, 16 } } or COARSE, gpu and { { 32, 8 }, { 32, 16 } } or COARSE

local function cells(c) return c.nx * c.ny * (c.nz or 1) end

-- What is needed during a launch; nothing while kernels are planned, before a case has its arrays.
local function scratch(c, count) return c.u1 and c:keep(c.dev:array("f64", count)) or mw.null end

function study.arrays(c)
  local function array() return c.dev:array(c.type, table.unpack { c.nx, c.ny, c.nz }) end
  c.n = cells(c)
  return { u1 = array():random(1), u2 = array(), u3 = array():random(2), s = 2, change = c.dev:array("f64", 1) }
end

-- ---- what is right ----------------------------------------------------------------------------------
-- As the device rounds it.
local function rounded(c, x) return c.type == "f64" and x or (string.unpack("f", string.pack("f", x))) end

local function is_border(c, i, j, k)
  return i == 1 or j == 1 or i == c.nx or j == c.ny or k ~= nil and (k == 1 or k == c.nz)
end

-- A cell after a step, in 2-D or with a third index: additions in the kernels' order.
local function one_step(c, at, i, j, ...)
  local u, k = at.u1, ...
  if is_border(c, i, j, k) then return u(i, j, ...) end
  local sum = rounded(c, u(i - 1, j, ...) + u(i + 1, j, ...))
  sum = rounded(c, rounded(c, sum + u(i, j - 1, ...)) + u(i, j + 1, ...))
  if not k then return sum / 4 end
  sum = rounded(c, rounded(c, sum + u(i, j, k - 1)) + u(i, j, k + 1))
  return rounded(c, sum * rounded(c, 1 / 6))
end

local function single_name(c) return c.nz and "3-D blocks" or "a cell a thread" end

-- The root of the mean of (u2 - u1)^2.
local function change_launches(c)
  local blocks = math.min(1024, ceil_div(cells(c), 4096))
  local more = { sums = scratch(c, blocks), count = blocks, n = cells(c) }
  return { { "laplace_change", { block = 256, grid = blocks }, more },
           { "laplace_root", { block = 1024, grid = 1 }, more } }
end

local function change_between(c, before, after)
  if c.n > 1e5 then -- which is much work for the host
    local out <close> = c.dev:array("f64", 1)
    local with = c:with { u1 = before, u2 = after, change = out, kept = {} }
    with:launches(change_launches(with))()
    local value = out:get(1)
    with:close()
    return value
  end
  local old, sum = before:view(1, c.n):totable(), 0.0
  for i, value in ipairs(after:view(1, c.n):totable()) do sum = sum + (value - old[i]) ^ 2 end
  return math.sqrt(sum / c.n)
end

-- What the last of `steps` steps must have changed.
local function check_change(steps)
  return function(c, check)
    local scope <close> = c:with { kept = {} }
    local before = study:advance(single_name(c), scope, "u1", steps - 1)
    check(c.change, change_between(c, before, c.u2), { relative = 1e-6, name = "its change" })
  end
end

local function exact() return { exact = true } end

-- Several of the steps, and perhaps the change of the last one.
local function several(name, steps, of, by, has_change)
  study:answer(name, { steps = steps, of = of, from = "u1", needs = { by },
                       also = has_change and check_change(steps) or nil })
end

study:library("u1", "u2")
study:answer("triad", { bytes = "u1 u2 u3", tolerance = function(c) return { absolute = 4 * c.eps } end,
  cell = function(c, at, ...) return at.u1(...) + c.s * at.u3(...) end })
study:rung { "triad", answer = "triad", kernel = "triad_wide", block = 256, over = { "n" }, always = true,
             each = function(c) return c.vector end }

-- The instance of a kernel for rows of whole vectors of 16 bytes, or for others.
local function named(kernel)
  return function(c) return kernel:format(c.nx % c.vector == 0) end
end

-- ---- 2-D --------------------------------------------------------------------------------------------
local function is_2d(c) return not c.nz end
local function is_3d(c) return c.nz ~= nil end

-- The 32-byte sectors that a block within the grid reads, over its cells.
local function sectors_of(c, block)
  local width, height, seen, count = block[1], block[2], {}, 0
  local x0, y0 = c.nx // width // 2 * width, c.ny // height // 2 * height
  local function read(y, from, to)
    for x = from, to do
      local sector = (y * c.nx + x) * (16 // c.vector) // 32
      if not seen[sector] then seen[sector], count = true, count + 1 end
    end
  end
  for y = y0, y0 + height - 1 do read(y, x0 - 1, x0 + width) end
  for _, y in ipairs { y0 - 1, y0 + height } do read(y, x0, x0 + width - 1) end
  return { sectors = count / (width * height) }
end

study:answer("step", { bytes = "u1 u2", tolerance = exact, cell = one_step })
study:rung { 1, "a cell a thread", kernel = "laplace2<%s>", answer = "step", blocks = p.shapes, over = { "nx", "ny" },
             odd_blocks = { { 8, 4 }, { 8, 8 } }, when = is_2d, fields = sectors_of }
study:rung { 2, "0.25 as a double", kernel = "laplace2<double>", answer = "step", block = { 64, 8 },
             over = { "nx", "ny" }, when = is_2d }
study:rung { 3, "the slide's guard", kernel = "laplace2_slide", answer = "step", block = { 8, 4 },
             over = { "nx", "ny" }, when = is_2d, mistake = true }
study:rung { 4, "16 bytes a thread", answer = "step", blocks = COARSE, over = { "nx", "ny" }, when = is_2d,
  kernel = named("laplace2_wide<" .. p.height .. ",%s>"), each = function(c) return { c.vector, p.height } end }

local function strips(c, steps) return ceil_div(c.nx, 32 * c.vector - 2 * ceil_div(steps, c.vector) * c.vector) end

local WARPS = 2
for _, steps in ipairs(p.levels) do
  several(steps .. " steps", steps, "step", "a cell a thread")
  study:rung { 5, steps .. " steps a pass", kernel = named("laplace2_levels<" .. steps .. ",%s>"), when = is_2d,
    answer = steps .. " steps", block = 32 * WARPS, fields = { steps = steps }, series = "temporal blocking",
    args = { rows = p.rows },
    grid = function(c) return { ceil_div(strips(c, steps), WARPS), ceil_div(c.ny, p.rows) } end }
end

-- ---- 3-D --------------------------------------------------------------------------------------------
study:answer("3-D step", { bytes = "u1 u2", tolerance = exact, cell = one_step })
study:answer("3-D step and change", { bytes = "u1 u2", tolerance = exact, cell = one_step, also = check_change(1) })
study:rung { 6, "3-D blocks", kernel = "laplace3", answer = "3-D step", blocks = p.solids, over = { "nx", "ny", "nz" },
             odd_blocks = { { 8, 4 }, { 8, 8 }, { 4, 4, 4 } }, when = is_3d }
study:rung { 7, "columns", kernel = "laplace3_column", answer = "3-D step", blocks = FLAT,
             over = { "nx", "ny" }, odd_blocks = { { 8, 4 }, { 8, 8 } }, when = is_3d }

-- A launch of a kernel that may leave its blocks' sums of squares, and the one that makes the change of them.
local function summing(c, kernel, how, has_change)
  how.grid[3] = ceil_div(c.nz, p.planes)
  local blocks = how.grid[1] * how.grid[2] * how.grid[3]
  local more = { sums = has_change and scratch(c, blocks) or mw.null, count = blocks, n = cells(c), planes = p.planes }
  return { kernel, how, more }, { "laplace_root", { block = 1024, grid = 1 }, more }
end

local function wide(c, block, has_change)
  local kernel = named(("laplace3_wide<%s,%d,%%s>"):format(has_change, p.height))(c)
  local grid = { ceil_div(c.nx, block[1] * c.vector), ceil_div(c.ny, block[2] * p.height) }
  return summing(c, kernel, { block = block, grid = grid }, has_change)
end

study:rung { 8, "columns, 16 bytes", answer = "3-D step", blocks = FLAT, when = is_3d,
             launches = function(c, block) return { (wide(c, block, false)) } end }
study:rung { 9, "the change in its own pass", answer = "3-D step and change", blocks = FLAT, when = is_3d,
  launches = function(c, block)
    return { (wide(c, block, false)), table.unpack(change_launches(c)) }
  end }
study:rung { 10, "the change in the same pass", answer = "3-D step and change", blocks = FLAT, when = is_3d,
             launches = function(c, block) return { wide(c, block, true) } end }

local function deep(c, block, steps, rows)
  local grid = { strips(c, steps), ceil_div(c.ny, block[2] * rows - 2 * steps) }
  local how = { block = block, grid = grid, shared = 2 * steps * block[2] * 1024 }
  return { summing(c, named(("laplace3_levels<%d,%d,%%s>"):format(steps, rows))(c), how, true) }
end

for _, steps in ipairs(p.depths) do
  several(steps .. " 3-D steps", steps, "3-D step", "3-D blocks", true)
  for rows, series in ipairs { "a row a thread", "two rows a thread" } do
    study:rung { 11, ("%d 3-D steps, %s"):format(steps, series), answer = steps .. " 3-D steps",
      blocks = rows == 1 and TALL or EITHER, when = is_3d, fields = { steps = steps }, series = series,
      launches = function(c, block) return deep(c, block, steps, rows) end }
  end
end

-- ---- parts ------------------------------------------------------------------------------------------
local function columns(...)
  return { { "number", title = "no." }, "rung", "block", "t", "T_eff", { "share", unit = "%", digits = 3 }, ... }
end

local function is_plain(r) return r.number == 1 end
local function is_deep(r) return r.steps ~= nil end
local function tile(r) return ("%s, %s"):format(r.series, r.block) end

study:part { "square", cases = { { nx = p.n, ny = p.n } }, rows = "all",
  table = columns { "sectors", title = "sectors a cell", digits = 3 },
  charts = { { kind = "ladder" },
             { x = "sectors", of = is_plain, by = "block", title = "by the sectors that a block reads",
               xlabel = "32-byte sectors per cell" },
             { x = "steps", of = is_deep, logx = 2, xlabel = "steps a pass" } },
  ratios = { "best step / triad", "0.25 as a double / a cell a thread", deepest .. " steps a pass / best step" } }

study:part { "rows", cases = { { nx = { p.n, p.n - 1 }, ny = p.n } }, blocks = "best", rows = "all",
  rungs = { "copy", "step", deepest .. " steps" }, table = columns { "nx", title = "row" } }

study:part { "cube", cases = { { nx = p.side, ny = p.side, nz = p.side } }, rows = "all", table = columns(),
  charts = { { kind = "ladder" }, { x = "steps", of = is_deep, by = tile, logx = 2, xlabel = "steps a pass" } },
  ratios = { "best 3-D step / triad", "columns / 3-D blocks",
             "the change in the same pass / the change in its own pass",
             ("best %d 3-D steps / best 3-D step"):format(p.depths[1]) } }
return study
