-- SPDX-License-Identifier: MIT
--
-- laplace: what does the shape of a block cost a step of Jacobi's iteration, and what do several steps per pass gain?
--
-- In 2-D: blocks of many shapes with the 32-byte sectors that each reads, 16 bytes per thread, rows that begin
-- anywhere, temporal blocking. T_eff = steps * 2 arrays / t; shares are of the faster of the library copy and a triad.
-- The results are equal bit for bit. The step in 3-D is the study laplace3. After M. Giles and W. Armour, "CUDA
-- Programming on NVIDIA GPUs" (Oxford), lecture 3, p. 26 to 35, and lecture 7, p. 21 (the small grids). See
-- docs/studies/laplace.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

-- Grids that no block divides, and those of the lecture, in blocks of 8 x 4 and 8 x 8.
local ODD = {
  { nx = 131, ny = 43 }, { nx = 132, ny = 41 }, { nx = 8, ny = 4, grid = "one warp" },
  { nx = 8, ny = 8, grid = "two warps" }, { nx = 5, ny = 3, grid = "less than a block" },
  { nx = 16, ny = 4, grid = "two blocks" },
}

local study, p = mw.study {
  question = "what does the shape of a block cost a Jacobi step, and what do several steps per pass gain?",
  course = { week = 6.2, level = 2, hours = 3, about = "the shape of a block",
             without_gpu = "sectors by counters" },
  kernels = "laplace.cu", rate = "T_eff", output = "u2", level = { "copy", "triad" }, odd = ODD,
  seconds = { 0.02, gpu = 0.03 },
  defines = function(type) return { REAL = type == "f64" and "double" or "float" } end,
  params = {
    { "n", 1536, "points along each side of the square", gpu = 16384, min = 8, max = 65535 },
    { "type", "f32", "of the elements", choices = { "f32", "f64" } },
    { "shapes", { "512x1", "256x2", "128x4", "64x8", "32x16", "16x32", "8x64" }, "blocks of the step by cells",
      kind = "blocks" },
    { "levels", { 2, 4 }, "steps per pass", gpu = { 2, 4, 8 }, min = 1, max = 12 },
    { "rows", 256, "rows per warp of these", gpu = 512, min = 1 },
  },
}

local deepest = math.max(table.unpack(p.levels))

function study.arrays(c)
  local function array() return c.dev:array(c.type, c.nx, c.ny) end
  c.n = c.nx * c.ny
  return { u1 = array():random(1), u2 = array(), u3 = array():random(2), s = 2 }
end

-- ---- what is right ----------------------------------------------------------------------------------
-- As the device rounds it.
local function rounded(c, x) return c.type == "f64" and x or (string.unpack("f", string.pack("f", x))) end

-- Additions in the kernels' order.
local function one_step(c, at, i, j)
  local u = at.u1
  if i == 1 or j == 1 or i == c.nx or j == c.ny then return u(i, j) end
  local sum = rounded(c, u(i - 1, j) + u(i + 1, j))
  return rounded(c, rounded(c, sum + u(i, j - 1)) + u(i, j + 1)) / 4
end

study:library("u1", "u2")
study:answer("triad", { bytes = "u1 u2 u3", tolerance = function(c) return { absolute = 4 * c.eps } end,
  cell = function(c, at, ...) return at.u1(...) + c.s * at.u3(...) end })
study:answer("step", { bytes = "u1 u2", tolerance = function() return { exact = true } end, cell = one_step })
for _, steps in ipairs(p.levels) do
  study:answer(steps .. " steps", { steps = steps, of = "step", from = "u1", needs = { "a cell per thread" } })
end

-- ---- the rungs --------------------------------------------------------------------------------------
study:rung { "triad", answer = "triad", kernel = "triad_wide", block = 256, over = { "n" }, always = true,
             each = function(c) return c.vector end }

-- The instance of a kernel for rows of whole vectors of 16 bytes, or for others.
local function named(kernel)
  return function(c) return kernel:format(c.nx % c.vector == 0) end
end

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

study:rung { 1, "a cell per thread", kernel = "laplace2<%s>", answer = "step", blocks = p.shapes, over = { "nx", "ny" },
             odd_blocks = { { 8, 4 }, { 8, 8 } }, fields = sectors_of }
study:rung { 2, "0.25 as a double", kernel = "laplace2<double>", answer = "step", block = { 64, 8 },
             over = { "nx", "ny" } }
study:rung { 3, "the slide's guard", kernel = "laplace2_slide", answer = "step", block = { 8, 4 },
             over = { "nx", "ny" }, mistake = true }
study:rung { 4, "16 bytes per thread", answer = "step", blocks = { { 32, 8 } }, over = { "nx", "ny" },
  kernel = named "laplace2_wide<%s>", each = function(c) return { c.vector, 1 } end }

local function strips(c, steps) return ceil_div(c.nx, 32 * c.vector - 2 * ceil_div(steps, c.vector) * c.vector) end

local WARPS = 2
for _, steps in ipairs(p.levels) do
  study:rung { 5, steps .. " steps per pass", kernel = named("laplace2_levels<" .. steps .. ",%s>"),
    answer = steps .. " steps", block = 32 * WARPS, fields = { steps = steps }, series = "temporal blocking",
    args = { rows = p.rows },
    grid = function(c) return { ceil_div(strips(c, steps), WARPS), ceil_div(c.ny, p.rows) } end }
end

-- ---- parts ------------------------------------------------------------------------------------------
local function columns(...)
  return { { "number", title = "no." }, "rung", "block", "t", "T_eff", { "share", unit = "%", digits = 3 }, ... }
end

local function is_plain(r) return r.number == 1 end
local function is_deep(r) return r.steps ~= nil end

study:part { "square", cases = { { nx = p.n, ny = p.n } }, rows = "all",
  table = columns { "sectors", title = "sectors per cell", digits = 3 },
  charts = { { kind = "ladder" },
             { x = "sectors", of = is_plain, by = "block", title = "by the sectors that a block reads",
               xlabel = "32-byte sectors per cell" },
             { x = "steps", of = is_deep, logx = 2, xlabel = "steps per pass" } },
  ratios = { "best step / triad", "0.25 as a double / a cell per thread", deepest .. " steps per pass / best step" } }

study:part { "rows", cases = { { nx = { p.n, p.n - 1 }, ny = p.n } }, blocks = "best", rows = "all",
  rungs = { "copy", "step", deepest .. " steps" }, table = columns { "nx", title = "row" } }

return study
