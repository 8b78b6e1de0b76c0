-- SPDX-License-Identifier: MIT
--
-- tridiagonal: how should many tridiagonal systems be solved at once?
--
-- Elimination by a thread per system, its scratch in memory or in registers; parallel cyclic reduction in shared memory
-- and by shuffles; pieces in registers with an interface by shuffles. Systems lie one after the other or interleaved.
-- Then a step of a 3-D heat equation by alternating directions. T_eff = 5 arrays / t, of the heat step 9; shares are of
-- the library's copy. After M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford), lectures 5 and 7, and
-- practical 7. See docs/studies/tridiagonal.md.

local mw = require "moonwarp"
local sparse = require "moonwarp.sparse"
local ceil_div = mw.ceil_div

local study, p = mw.study {
  question = "how should many tridiagonal systems be solved at once?", kernels = "tridiagonal.cu", rate = "T_eff",
  course = { week = 11.3, level = 2, hours = 3, about = "many systems at once", without_gpu = "results" },
  output = "x", level = "library copy", seconds = { 0.02, gpu = 0.05 }, also = { "dominant<%s>", "heat_wave<%s>" },
  params = {
    { "unknowns", 1 << 15, "of all systems together", gpu = 1 << 24, min = 1, max = 1 << 30 },
    { "lengths", { 32, 256, 1024 }, "unknowns of a system", min = 1, max = 1 << 14 },
    { "each", { 8 }, "unknowns per thread of the hybrid, in part pieces", gpu = { 2, 4, 8, 16 },
      choices = { 2, 4, 8, 16 } },
    { "cube", 24, "cells along each side of the heat equation's cube", gpu = 256, min = 1, max = 512 },
    { "type", "f32", "of the elements", choices = { "f32", "f64" } },
  },
}

local LAMBDA, SHORT = 0.8, 32

-- Systems of a case; odd ones have a count. The diagonal exceeds the other two by the margin: an element's effect falls
-- by a tenth per unknown, and by a hundredth in the odd cases, so that each shows what any interface loses.
local function systems(c) return c.count or math.max(1, p.unknowns // c.n) end
local function margin(c) return c.count and 1e-4 or 1e-2 end

local function cells(c)
  return { block = { 32, 4, 2 }, grid = { ceil_div(c.nx, 32), ceil_div(c.ny, 4), ceil_div(c.nz, 2) } }
end
local function waves(n) return math.min(n, 3) end

-- The solution of the systems is known; the heat step leads from d to x.
function study.arrays(c)
  if c.nx then
    local d = c:array(c.nx, c.ny, c.nz)
    local number = { u = d, waves_x = waves(c.nx), waves_y = waves(c.ny), waves_z = waves(c.nz) }
    c:launch("heat_wave<%s>", cells(c), number)()
    return { d = d, x = c:array(c.nx, c.ny, c.nz) }
  end
  c.systems, c.step = systems(c), c.layout == "contiguous" and 1 or systems(c)
  local sides = c.layout == "contiguous" and { c.n, c.systems } or { c.systems, c.n }
  local function array() return c:array(table.unpack(sides)) end
  local function random(seed, max) return array():random { seed = seed, min = -1, max = max } end
  local made = { a = random(1, -0.8), b = array(), c = random(2, -0.8), d = array(), x = array(), known = random(3, 1) }
  c:launch("dominant<%s>", { block = 256, grid = ceil_div(#made.x, 256) },
    { a = made.a, b = made.b, c = made.c, d = made.d, x = made.known, margin = margin(c) })()
  c.copies = c.layout == "interleaved" and { a = array(), b = array(), c = array() } or {}
  return made
end

-- ---- what is right ----------------------------------------------------------------------------------
study:library(1, "d", "x")
local function known(c) return c.known end
local function solution(name, start)
  study:answer(name, { host = known, reference = known, start = start, restart = start ~= nil, bytes = "a b c d x",
                       tolerance = function(c) return { absolute = 10 * c.eps / margin(c) } end })
end
solution "solution"
-- The library takes x for d, and loses the matrix of interleaved systems.
solution("in place", function(c, x)
  x:copy(c.d)
  for name, copy in pairs(c.copies) do copy:copy(c[name]) end
end)

-- What a step makes of a product of sines: along a line of n cells -D multiplies one by `eigenvalue`.
local function factor(c)
  local sum, product = 0, 1
  for _, n in ipairs { c.nx, c.ny, c.nz } do
    local eigenvalue = 4 * math.sin(math.pi * waves(n) / (2 * (n + 1))) ^ 2
    sum, product = sum + eigenvalue, product * (1 + LAMBDA * eigenvalue)
  end
  return 1 - LAMBDA * sum / product
end
study:answer("heat step", { cell = function(c, at, i, j, k) return factor(c) * at.d(i, j, k) end,
  tolerance = function(c) return { absolute = 32 * c.eps } end, bytes = function(c) return 9 * c.d:nbytes() end })

-- ---- the rungs --------------------------------------------------------------------------------------
local function is_contiguous(c) return c.layout == "contiguous" end
local function add(number, name, how)
  how[1], how[2], how.answer = number, name, how.answer or "solution"
  how.when = how.when or function(c) return c.n ~= nil end
  study:rung(how)
end

local function lanes_for(threads)
  local lanes = 1
  while lanes < threads do lanes = lanes * 2 end
  return lanes
end

-- Unknowns per thread, and the threads of a system.
local function pieces(c)
  local each = c.each or 8
  return each, ceil_div(c.n, each)
end

local function hybrid(c)
  local each, threads = pieces(c)
  if threads > 32 then
    return { { ("hybrid_block<%%s,%d>"):format(each), { block = 32 * ceil_div(threads, 32), grid = systems(c) } } }
  end
  local lanes = lanes_for(threads)
  local how = { block = 128, grid = ceil_div(systems(c) * lanes, 128) }
  return { { ("hybrid_warp<%%s,%d>"):format(each), how, { lanes = lanes } } }
end

add(2, "Thomas", { launches = function(c)
  local function scratch() return c:array(c.n * systems(c)) end
  local how = { block = 128, grid = ceil_div(systems(c), 128) }
  return { { "thomas<%s>", how, { left = scratch(), upper = scratch() } } }
end })
add(3, "Thomas, in registers", { kernel = ("thomas_registers<%%s,%d>"):format(SHORT), block = 128,
  when = function(c) return c.n == SHORT end, grid = function(c) return ceil_div(systems(c), 128) end })
add(4, "PCR, shared memory", { kernel = "pcr_shared<%s>", grid = function(c) return systems(c) end,
  block = function(c) return 32 * ceil_div(c.n, 32) end, when = function(c) return is_contiguous(c) and c.n <= 1024 end,
  shared = function(c, block) return 6 * block * 16 // c.vector end })
add(5, "PCR, shuffles", { kernel = "pcr_shuffle<%s>", block = 256,
  args = function(c) return { lanes = lanes_for(c.n) } end,
  when = function(c) return is_contiguous(c) and c.n <= 32 end,
  grid = function(c) return ceil_div(systems(c) * lanes_for(c.n), 256) end })
add(6, "hybrid", { launches = hybrid, fields = function(c) return { each = (pieces(c)) } end,
  series = function(c) return c.n .. " unknowns" end,
  when = function(c) return is_contiguous(c) and select(2, pieces(c)) <= 1024 end })
add(7, "library, in place", { answer = "in place", when = function(c) return c.n ~= nil and c.n > 2 end,
  make = function(c)
    local m = c.copies
    if is_contiguous(c) then return function() sparse.tridiagonal(c.x, c.a, c.b, c.c) end end
    return function() sparse.tridiagonal_interleaved(c.x, m.a, m.b, m.c) end
  end })

-- ---- the heat equation ------------------------------------------------------------------------------
-- The right side, and a launch for each direction: "Thomas" or "warp" along x, y and z.
local function heat(...)
  local ways = { ... }
  return function(c)
    local function array() return c:array(c.nx, c.ny, c.nz) end
    local from, to, left, step, pivot, pivots = array(), c.x, array(), 1, 0, {}
    for i = 1, math.max(c.nx, c.ny, c.nz) do
      pivot = 1 / (1 + 2 * LAMBDA - LAMBDA * LAMBDA * pivot)
      pivots[i] = pivot
    end
    local list = { { "heat_right<%s>", cells(c), { du = from, u = c.d, lambda = LAMBDA } } }
    local factors = c.d and c:keep(c.dev:array(c.type, pivots)) or mw.null
    for d, n in ipairs { c.nx, c.ny, c.nz } do
      local lines = c.nx * c.ny * c.nz // n
      local arguments = { from = from, to = to, left = left, pivots = factors, u = d == 3 and c.d or mw.null, n = n,
                          lines = lines, step = step, lambda = LAMBDA }
      local kernel, each, block = "lines_thomas<%s>", 1, 64
      if ways[d] ~= "Thomas" then
        kernel, each, block = ("lines_warp<%%s,%d,16>"):format(2 * ceil_div(n, 64)), 32, 512
      end
      list[d + 1] = { kernel, { block = block, grid = ceil_div(lines * each, block) }, arguments }
      from, to, step = to, from, step * n
    end
    return list
  end
end

local function is_heat(c) return c.nx ~= nil end
add(8, "heat, Thomas", { answer = "heat step", when = is_heat, launches = heat("Thomas", "Thomas", "Thomas") })
add(9, "heat, a warp per line", { answer = "heat step", when = is_heat, launches = heat() })
add(10, "heat, a warp along x", { answer = "heat step", when = is_heat, launches = heat("warp", "Thomas", "Thomas") })

-- ---- parts ------------------------------------------------------------------------------------------
local COLUMNS = { { "number", title = "no." }, "rung", "n", "t", "T_eff",
                  { "share", title = "of the copy", unit = "%", digits = 3 } }

-- The odd cases, or those measured.
local function odd(layout, each)
  return { { n = { 1, 2, 7, 31, 32 }, count = 5, layout = layout, each = each },
           { n = { 33, 100, 260, 1000 }, count = 3, layout = layout, each = each } }
end
for _, layout in ipairs { "contiguous", "interleaved" } do
  study:part { layout, cases = { { n = p.lengths, layout = layout } }, odd = odd(layout), rows = "all", each = "n",
    rungs = function(rung) return rung.number < 8 end, table = COLUMNS, charts = { { kind = "ladder" } } }
end
study:part { "pieces", cases = { { n = p.lengths, layout = "contiguous", each = p.each } },
  odd = odd("contiguous", p.each), rungs = { "hybrid" },
  charts = { { x = "each", logx = 2, xlabel = "unknowns per thread" } } }
study:part { "heat", cases = { { nx = p.cube, ny = p.cube, nz = p.cube } }, rungs = { "library copy", "heat step" },
  odd = { { nx = 5, ny = 7, nz = 3 }, { nx = 64, ny = 1, nz = 4 }, { nx = 2, ny = 33, nz = 60 } },
  table = COLUMNS, charts = { { kind = "ladder" } } }
return study
