-- SPDX-License-Identifier: MIT
--
-- recurrence: can v[i] = s[i] * v[i - 1] + u[i] be computed at the rate of a running sum?
--
-- Both by the same kernels over different elements, a number or a pair: blocks in shared memory or by warps, whose
-- totals the host scans; blocks in order with a running total; tiles in rounds. T_eff = (2 or 3 arrays) / t; shares are
-- of the library's copy. After M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford), lecture 4, p. 20 to
-- 37. The study scan has the running sum's own ladder. See docs/studies/recurrence.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

local study, p = mw.study {
  question = "can v[i] = s[i] v[i-1] + u[i] be computed at the rate of a running sum?", kernels = "recurrence.cu",
  rate = "T_eff", output = "v", level = "library copy", seconds = { 0.03, gpu = 0.05 },
  odd = { { op = { "sum", "recurrence" }, n = { 1, 1000, 70001 } } },
  params = {
    { "n", 1 << 16, "elements", gpu = 1 << 26, min = 1, max = 1 << 30 },
    { "type", "f32", "of the elements", choices = { "f32", "f64" } },
    { "block", 256, "threads per block of the rungs with one element per thread", gpu = 1024,
      choices = { 32, 64, 128, 256, 512, 1024 } },
    { "tile_block", 128, "threads per block in rounds", gpu = 512, choices = { 128, 256, 512 } },
    { "smallest", 1 << 13, "elements of the shortest array of the sweep", min = 1 },
  },
}

-- s is below 1: a step forgets, and what is 200 elements back is below any rounding.
function study.arrays(c)
  c.is_sum = c.op == "sum"
  return { s = c.is_sum and mw.null or c:array(c.n):random(1), u = c:array(c.n):random(2), v = c:array(c.n) }
end

-- ---- what is right ----------------------------------------------------------------------------------
-- v from one element to another, beginning with 0 before the first.
local function host_values(c, s, u, first, last)
  local v, list = 0.0, {}
  for i = first, last do
    v = (c.is_sum and 1 or s(i)) * v + u(i)
    list[i] = v
  end
  return list
end

local function host_all(c)
  local s, u = not c.is_sum and c.s:totable(), c.u:totable()
  return host_values(c, function(i) return s[i] end, function(i) return u[i] end, 1, c.n)
end

local function spots(c)
  local list = {}
  for k = 0, 20 do
    local i = 1 + k * (c.n - 1) // 20
    local function at(name) return function(j) return c[name]:get(j) end end
    list[#list + 1] = { i, value = host_values(c, at "s", at "u", math.max(1, i - 200), i)[i] }
  end
  return list
end

-- A running sum of ones is 1, 2, 3, ...
local function prove_ones(c, go, check)
  local counted <close> = c.dev:array(c.type, c.n):linspace(1, c.n)
  c.u:fill(1)
  c.v:fill(0 / 0)
  go()
  check(c.v, counted)
  c.u:random(2)
end

study:library("u", "v")
study:answer("sum", { bytes = "u v", host = host_all, prove = prove_ones,
  tolerance = function(c) return { relative = 8 * c.eps * math.sqrt(100 + ceil_div(c.n, 1024)) } end })
study:answer("recurrence", { bytes = "s u v", host = host_all, spot = spots,
  tolerance = function(c) return { relative = 64 * c.eps } end })

-- ---- the rungs --------------------------------------------------------------------------------------
local OPS = { sum = { element = "element<%s,1>", size = 1, loads = 8, early = "false" },
              recurrence = { element = "element<%s,2>", size = 2, loads = 4, early = "true" } }
local AHEAD = 2 -- rounds from the load of a tile to its scan

local function named(kernel, op, ...) return (kernel:format(OPS[op].element, ...)) end

-- What is before each block, from what the blocks come to: u after u, and for pairs s after s.
local function host_scan(totals, blocks)
  local before, v = { 0.0 }, 0.0
  for b = 1, blocks - 1 do
    v = (totals[blocks + b] or 1) * v + totals[b]
    before[b + 1] = v
  end
  return before
end

local function three_steps(op, method)
  return function(c, block)
    local blocks, size = ceil_div(c.n, block), OPS[op].size
    local totals, before = c:array(blocks * size), c:array(blocks)
    local more = { totals = totals, before = before, slopes = size > 1 and c:array(c.n) or mw.null }
    local shared = block * size * (c.type == "f64" and 8 or 4)
    return { { named("recurrence_blocks<%s,%s>", op, method), { block = block, grid = blocks, shared = shared }, more },
             function() before:upload(host_scan(totals:totable(), blocks)) end,
             { named("recurrence_finish<%s>", op), { block = block, grid = blocks }, more } }
  end
end

-- The counters are cleared before each launch, which is part of its time.
local function in_order(op)
  return function(c, block)
    local more = { counters = c:keep(c.dev:array("u32", 2)), total = c:array(1) }
    return { { "recurrence_clear", { block = 32, grid = 1 }, more },
             { named("recurrence_in_order<%s>", op), { block = block, grid = ceil_div(c.n, block) }, more } }
  end
end

local function in_rounds(op)
  local loads, size = OPS[op].loads, OPS[op].size
  local kernel = named("recurrence_rounds<%s,%d,%d,%d,%s>", op, p.tile_block, loads, AHEAD, OPS[op].early)
  return function(c, block)
    local tiles = ceil_div(c.n, block * loads * c.vector)
    local words, shared = tiles * size * (c.type == "f64" and 2 or 1), (AHEAD + 1) * size * loads * block * 16
    local grid, number = math.max(1, math.min(tiles, block, c:resident(kernel, block, shared))), 0
    local function flag()
      number = number + 1
      return number
    end
    return { { kernel, { block = block, grid = grid, shared = shared, cooperative = true },
               { status = c:keep(c.dev:zeros("u64", words)), flag = flag } } }
  end
end

for _, op in ipairs { "sum", "recurrence" } do
  local function add(number, name, block, launches)
    study:rung { number, ("%s, %s"):format(op, name), answer = op, launches = launches, block = block,
                 when = function(c) return c.op == op end }
  end
  add(1, "barriers, host", p.block, three_steps(op, "BARRIERS"))
  add(2, "warps, host", p.block, three_steps(op, "WARPS"))
  add(3, "in order", p.block, in_order(op))
  add(4, "in rounds", p.tile_block, in_rounds(op))
end

-- ---- parts ------------------------------------------------------------------------------------------
study:part { "ladder", cases = { { n = p.n, op = { "sum", "recurrence" } } }, rows = "all", each = "op",
  table = { { "number", title = "no." }, "rung", "block", "t", "T_eff",
            { "share", title = "of the copy", unit = "%", digits = 3 } },
  charts = { { kind = "ladder" } } }

study:part { "lengths",
  cases = { { n = mw.geometric(p.n, math.min(p.n, p.smallest), 8), op = { "sum", "recurrence" } } },
  rungs = { "copy", "sum, in order", "sum, in rounds", "recurrence, in order", "recurrence, in rounds" },
  charts = { { x = "n", logx = 10, logy = 10, by = "rung", xlabel = "elements" } } }
return study
