-- SPDX-License-Identifier: MIT
--
-- balance: how many operations are free, because memory takes as long anyway?
--
-- A ladder of k operations per number moved, 1 to 400: the time is memory's up to a knee, then the arithmetic's. Where
-- the knee is, compared with the measured ceilings' ratio and what data sheets say. Then what follows from it: a filter
-- that computes again what it could read, against one that keeps it in an array. See docs/studies/balance.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

local study, p, gpu = mw.study {
  question = "how many operations does a number cost that comes from memory, and what should be computed again?",
  course = { week = 8.1, level = 1, hours = 2, about = "operations per byte",
             without_gpu = "the same two ceilings of a CPU" },
  kernels = "balance.cu", rate = "T_eff", output = "y", level = "library copy", seconds = { 0.02, gpu = 0.02 },
  odd = { { n = 10007, steps = { 1, 400 } }, { n = 3, steps = 40 } }, units = { operations = "flop/s" },
  params = {
    { "n", 1 << 21, "elements of part operations", gpu = 1 << 27, min = 1024, max = 1 << 30 },
    { "side", 1024, "points along each side of part filter", gpu = 8192, min = 3, max = 32768 },
    { "length", 1024, "of the chains of part ceilings", gpu = 4096, min = 1 },
    { "types", { "f32", "f64" }, "element types", choices = { "f32", "f64" } },
    { "steps", { 1, 10, 20, 40, 80, 400 }, "operations per number moved", min = 1, max = 400,
      gpu = { 1, 5, 10, 20, 30, 40, 50, 60, 80, 100, 200, 400 } },
  },
}

function study.arrays(c)
  local function array() return c.nx and c:array(c.nx, c.ny) or c:array(c.n) end
  return { x = array():random(3), y = array(), a = 1, b = 1 / 1024 } -- each step is seen in the result
end

study:library("x", "y")

-- ---- the rungs --------------------------------------------------------------------------------------
study:answer("steps", { bytes = "x y", cell = function(c, at, i) return at.x(i) + c.steps * c.b end,
  tolerance = function(c) return { absolute = c.steps * c.eps } end })
for i, name in ipairs { "an element per thread", "16 bytes per thread" } do
  study:rung { i, name, answer = "steps", block = 256, over = { "n" },
    each = function(c) return i == 2 and c.vector or 1 end,
    when = function(c) return gpu or i == 1 or c.steps < 100 end, -- which the CPU device does not vectorise
    kernel = function(c) return ("steps%s<%%s,%d>"):format(i == 2 and "_wide" or "", c.steps) end }
end

study:answer("filter", { bytes = "x y", tolerance = function(c) return { absolute = 2 * c.eps } end,
  cell = function(c, at, i, j)
    local sum, weight = 0.0, { [-1] = 1, [0] = 2, [1] = 1 }
    for dj = -1, 1 do
      for di = -1, 1 do
        local x = at.x(math.max(1, math.min(c.nx, i + di)), math.max(1, math.min(c.ny, j + dj)))
        sum = sum + weight[di] * weight[dj] * x / 16
      end
    end
    return sum
  end })
local SHAPE <const> = { 32, 8 }
study:rung { 3, "two passes", answer = "filter", block = SHAPE, launches = function(c, block)
  local how = { block = block, grid = { ceil_div(c.nx, block[1]), ceil_div(c.ny, block[2]) } }
  return { { "along_x", how, { y = c.between } }, { "along_y", how, { x = c.between } } }
end }
study:rung { 4, "one pass", kernel = "binomial", answer = "filter", block = SHAPE, over = { "nx", "ny" } }
study:rung { 5, "one pass, 8 rows per thread", kernel = "binomial_march<8>", answer = "filter", block = SHAPE,
             over = { "nx", "ny" }, each = { 1, 8 } }

-- Arithmetic without memory: chains of multiplications and additions side by side, which count their steps.
study:answer("chains", { bytes = "y", host = function(c)
  return function() return c.chains * (c.chains - 1) // 2 + c.chains * p.length end
end })
study:rung { 6, "chains", file = "ceiling.cu", answer = "chains", block = 256, over = { "n" },
             kernel = function(c) return ("chains<%%s,%d>"):format(c.chains) end,
             args = function(c) return { sums = c.y, a = 1, b = 1, steps = p.length } end }

-- ---- the knee ---------------------------------------------------------------------------------------
-- The highest rates by type, of bytes and operations: of the ladder, and of the copy and the chains.
local ladder, ceilings = {}, {}

local function add_highest(list, r)
  local best = list[r.type] or { operations = 0.0, bytes = 0.0 }
  list[r.type] = best
  best.operations, best.bytes = math.max(best.operations, r.operations or 0), math.max(best.bytes, r.T_eff)
end

-- Two operations per step; a step of the ladder's element has two numbers that are moved.
local function add_operations(records, c)
  for _, r in ipairs(records) do
    if r.number == 6 then r.operations = 2 * c.chains * p.length * c.n / r.t.median
    elseif r.number then r.operations = 2 * c.steps * c.n / r.t.median end
    add_highest(r.number and r.number < 6 and ladder or ceilings, r)
  end
end

-- flop/s over B/s, of data sheets, times the bytes of a number.
local SHEETS <const> = { f64 = { { "P100, data sheet", 5300 / 732 * 8 }, { "H200, data sheet", 34 / 4.8 * 8 } },
                         f32 = { { "H100, Oxford", 100 }, { "H200, data sheet", 67 / 4.8 * 4 },
                                 { "break-even, Oxford", 40 } } }

study:finally(function()
  local rows = {}
  if not next(ladder) then return end
  for _, type in ipairs(p.types) do
    local function row(rung, balance)
      rows[#rows + 1] = mw.record { group = "knee", rung = rung, type = type, balance = balance + 0.0 }
    end
    local function knee(name, best)
      if best and best.operations > 0 and best.bytes > 0 then
        row(name, best.operations / best.bytes * (type == "f64" and 8 or 4))
      end
    end
    knee("this ladder's knee", ladder[type])
    knee("measured ceilings", ceilings[type])
    for _, sheet in ipairs(SHEETS[type]) do row(sheet[1], sheet[2]) end
  end
  mw.table { "type", "rung", { "balance", title = "operations per number", digits = 3 }, records = rows,
             title = "balance: operations in the time of a number" }
end)

-- ---- parts ------------------------------------------------------------------------------------------
local share = { "share", title = "of the copy", unit = "%", digits = 3 }

study:part { "operations", cases = { { n = p.n, type = p.types, steps = p.steps } }, each = "type", rows = "all",
  rungs = { "library copy", "steps" }, derive = add_operations,
  table = { "rung", "steps", "t", "T_eff", share, "operations" },
  charts = { { x = "steps", logx = 10, logy = 10, title = "T_eff by operations",
               xlabel = "operations per number moved" } } }

study:part { "ceilings", rungs = { "chains" }, derive = add_operations, rows = "all",
  cases = function(dev)
    local blocks, chains = 8 * dev:properties().multiprocessors, gpu and { 4, 8, 16 } or { 128, 256 }
    return { { n = 256 * blocks, type = p.types, chains = chains } }
  end,
  odd = { { n = 512, chains = gpu and 8 or 128 } }, table = { "rung", "type", "chains", "t", "operations" } }

study:part { "filter", cases = { { nx = p.side, ny = p.side, type = "f32" } }, rungs = { "library copy", "filter" },
  odd = { { nx = 67, ny = 33 }, { nx = 1, ny = 9 } },
  arrays = function(c) return { between = c:array(c.nx, c.ny) } end,
  table = { "rung", "t", "T_eff", share }, charts = { { kind = "ladder" } },
  ratios = { "one pass / two passes", "one pass, 8 rows per thread / one pass" } }
return study
