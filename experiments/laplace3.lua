-- SPDX-License-Identifier: MIT
--
-- laplace3: columns or 3-D blocks for a step of Jacobi's iteration in 3-D, and what does its change cost?
--
-- 3-D blocks, columns, 16 bytes per thread, the change of a step in a pass of its own and in the same one, several
-- steps per pass. T_eff = steps * 2 arrays / t; shares are of the faster of the library copy and a triad. The results
-- are equal bit for bit. The step in 2-D is the study laplace. After M. Giles and W. Armour, "CUDA Programming on
-- NVIDIA GPUs" (Oxford), lecture 3, p. 36, and lecture 7, p. 21 (the small grids). See docs/studies/laplace3.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

-- Grids that no block divides, and those of the lecture, in blocks of 8 x 4 and 8 x 8.
local ODD = {
  { nx = 131, ny = 7, nz = 9 }, { nx = 132, ny = 19, nz = 5 }, { nx = 8, ny = 4, nz = 3, grid = "one warp" },
  { nx = 8, ny = 8, nz = 3, grid = "two warps" }, { nx = 5, ny = 3, nz = 4, grid = "less than a block" },
  { nx = 16, ny = 4, nz = 3, grid = "two blocks" },
}

local study, p, gpu = mw.study {
  question = "columns or 3-D blocks for a Jacobi step, and what does its change cost?",
  kernels = "laplace.cu", rate = "T_eff", output = "u2", level = { "copy", "triad" }, odd = ODD,
  seconds = { 0.02, gpu = 0.03 },
  defines = function(type) return { REAL = type == "f64" and "double" or "float" } end,
  params = {
    { "n", 96, "points along each side of the cube", gpu = 960, min = 8, max = 2048 },
    { "type", "f32", "of the elements", choices = { "f32", "f64" } },
    { "solids", { "32x4x4" }, "blocks of the step by cells", kind = "blocks",
      gpu = { "512x1x1", "128x4x1", "128x2x2", "64x4x2", "32x8x2", "32x4x4", "32x2x8" } },
    { "depths", { 2 }, "steps per pass", gpu = { 2, 3, 4 }, min = 1, max = 6 },
    { "period", 64, "planes between two barriers of all blocks, 16 bytes per thread", min = 1 },
    { "planes", 128, "planes per thread, several steps per pass", min = 1 },
  },
}

local ODD_BLOCKS <const> = { { 8, 4 }, { 8, 8 } }
local FLAT = gpu and { { 32, 4 }, { 32, 8 }, { 32, 16 } } or { { 32, 8 } }
local TALL, EITHER = { { 32, 16 } }, gpu and { { 32, 8 }, { 32, 16 } } or { { 32, 8 } }
local LONG = gpu and { 448, 896 } or { 256 }

function study.arrays(c)
  local function array() return c.dev:array(c.type, c.nx, c.ny, c.nz) end
  c.n = c.nx * c.ny * c.nz
  return { u1 = array():random(1), u2 = array(), u3 = array():random(2), s = 2, change = c.dev:array("f64", 1) }
end

-- ---- what is right ----------------------------------------------------------------------------------
-- As the device rounds it.
local function rounded(c, x) return c.type == "f64" and x or (string.unpack("f", string.pack("f", x))) end

-- Additions in the kernels' order.
local function one_step(c, at, i, j, k)
  local u = at.u1
  if i == 1 or j == 1 or k == 1 or i == c.nx or j == c.ny or k == c.nz then return u(i, j, k) end
  local sum = rounded(c, u(i - 1, j, k) + u(i + 1, j, k))
  sum = rounded(c, rounded(c, sum + u(i, j - 1, k)) + u(i, j + 1, k))
  sum = rounded(c, rounded(c, sum + u(i, j, k - 1)) + u(i, j, k + 1))
  return rounded(c, sum * rounded(c, 1 / 6))
end

local function scratch(c, count) return c:keep(c.dev:array("f64", count)) end -- what is needed during a launch

-- The root of the mean of (u2 - u1)^2.
local function change_launches(c)
  local n = c.nx * c.ny * c.nz
  local blocks = math.min(1024, ceil_div(n, 4096))
  local more = { sums = scratch(c, blocks), count = blocks, n = n }
  return { { "laplace_change", { block = 256, grid = blocks }, more },
           { "laplace_root", { block = 1024, grid = 1 }, more } }
end

local function change_between(c, before, after)
  if c.n > 1e5 then -- which is much work for the host
    local out <close> = c.dev:array("f64", 1)
    local with <close> = c:with { u1 = before, u2 = after, change = out, kept = {} }
    with:launches(change_launches(with))()
    return out:get(1)
  end
  local old, sum = before:view(1, c.n):totable(), 0.0
  for i, value in ipairs(after:view(1, c.n):totable()) do sum = sum + (value - old[i]) ^ 2 end
  return math.sqrt(sum / c.n)
end

-- What the last of `steps` steps must have changed.
local function check_change(steps)
  return function(c, check)
    local scope <close> = c:with { kept = {} }
    local before = study:advance("3-D blocks", scope, "u1", steps - 1)
    check(c.change, change_between(c, before, c.u2), { relative = 1e-6, name = "its change" })
  end
end

local function exact() return { exact = true } end

study:library("u1", "u2")
study:answer("triad", { bytes = "u1 u2 u3", tolerance = function(c) return { absolute = 4 * c.eps } end,
  cell = function(c, at, ...) return at.u1(...) + c.s * at.u3(...) end })
study:answer("step", { bytes = "u1 u2", tolerance = exact, cell = one_step })
study:answer("step and change", { bytes = "u1 u2", tolerance = exact, cell = one_step, also = check_change(1) })
for _, steps in ipairs(p.depths) do
  study:answer(steps .. " steps", { steps = steps, of = "step", from = "u1", needs = { "3-D blocks" },
                                    also = check_change(steps) })
end

-- ---- the rungs --------------------------------------------------------------------------------------
study:rung { "triad", answer = "triad", kernel = "triad_wide", block = 256, over = { "n" }, always = true,
             each = function(c) return c.vector end }
study:rung { 1, "3-D blocks", kernel = "laplace3", answer = "step", blocks = p.solids, over = { "nx", "ny", "nz" },
             odd_blocks = { { 8, 4 }, { 8, 8 }, { 4, 4, 4 } } }
study:rung { 2, "columns", kernel = "laplace3_column", answer = "step", blocks = FLAT, over = { "nx", "ny" },
             odd_blocks = ODD_BLOCKS }

-- The instance of a kernel for rows of whole vectors of 16 bytes, or for others.
local function named(c, kernel) return kernel:format(c.nx % c.vector == 0) end

-- Appends the launch that makes the change of the sums of squares of `count` blocks.
local function rooted(c, launches, count)
  local more = { sums = scratch(c, count), count = count, n = c.nx * c.ny * c.nz }
  for _, launch in ipairs(launches) do launch[3].sums = more.sums end
  launches[#launches + 1] = { "laplace_root", { block = 1024, grid = 1 }, more }
  return launches
end

-- All blocks run at once, with equal shares of the strips of two rows by 16 bytes, in whole lines of 128 bytes. Strips
-- that are more than threads make further launches.
local function wide(c, block, has_change)
  local kernel = named(c, ("laplace3_wide<%s,%%s>"):format(has_change))
  local strips, most = ceil_div(c.nx, c.vector) * ceil_div(c.ny, 2), c:resident(kernel, block)
  local share = 8 * ceil_div(strips, 8 * most * ceil_div(strips, most * block))
  local blocks, launches = ceil_div(strips, share), {}
  for first = 0, blocks - 1, most do
    local how = { block = block, grid = math.min(most, blocks - first), cooperative = true }
    local more = { sums = mw.null, first = first * share, share = share, period = p.period }
    launches[#launches + 1] = { kernel, how, more }
  end
  return has_change and rooted(c, launches, blocks) or launches
end

study:rung { 3, "columns, 16 bytes", answer = "step", blocks = LONG,
             launches = function(c, block) return wide(c, block, false) end }
study:rung { 4, "the change in its own pass", answer = "step and change", blocks = LONG,
  launches = function(c, block)
    local launches = wide(c, block, false)
    return table.move(change_launches(c), 1, 2, #launches + 1, launches)
  end }
study:rung { 5, "the change in the same pass", answer = "step and change", blocks = LONG,
             launches = function(c, block) return wide(c, block, true) end }

local function deep(c, block, steps, rows)
  local strip = 32 * c.vector - 2 * ceil_div(steps, c.vector) * c.vector
  local grid = { ceil_div(c.nx, strip), ceil_div(c.ny, block[2] * rows - 2 * steps), ceil_div(c.nz, p.planes) }
  local how = { block = block, grid = grid, shared = 2 * steps * block[2] * 1024 }
  local kernel = named(c, ("laplace3_levels<%d,%d,%%s>"):format(steps, rows))
  return rooted(c, { { kernel, how, { planes = p.planes } } }, grid[1] * grid[2] * grid[3])
end

for _, steps in ipairs(p.depths) do
  for rows, series in ipairs { "a row per thread", "two rows per thread" } do
    study:rung { 6, ("%d steps, %s"):format(steps, series), answer = steps .. " steps", series = series,
      blocks = rows == 1 and TALL or EITHER, fields = { steps = steps },
      launches = function(c, block) return deep(c, block, steps, rows) end }
  end
end

study:part { "cube", cases = { { nx = p.n, ny = p.n, nz = p.n } }, rows = "all",
  table = { { "number", title = "no." }, "rung", "block", "t", "T_eff", { "share", unit = "%", digits = 3 } },
  charts = { { kind = "ladder" },
             { x = "steps", of = function(r) return r.steps ~= nil end, logx = 2, xlabel = "steps per pass",
               by = function(r) return ("%s, %s"):format(r.series, r.block) end } },
  ratios = { "best step / triad", "columns / 3-D blocks",
             "the change in the same pass / the change in its own pass",
             ("best %d steps / best step"):format(p.depths[1]) } }
return study
