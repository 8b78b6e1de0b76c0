-- SPDX-License-Identifier: MIT
--
-- scan: can the running sum of one long array run at the rate of a copy?
--
-- By three launches (sums of tiles, a scan of the sums, the sums added), which write and read the result once
-- more than needed; in one pass, where a tile looks back at the ones before it; in one pass by as many blocks
-- as run at once, in rounds (kernels/scan.cu). T_eff = 2 * bytes(x) / t; shares are of the library's copy.
-- What others measured: CUB's DeviceScan of 2^28 elements, H200 (tests/bench/scan.lua). docs/studies/scan.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div
local study, p, gpu = mw.study {
  question = "can the running sum of one long array run at the rate of a copy?",
  course = { week = 7.2, level = 3, hours = 4, about = "one long array in one pass",
             without_gpu = "results, fences, waiting blocks" },
  kernels = "scan.cu", rate = "T_eff", output = "y", level = "library copy", seconds = { 0.02, gpu = 0.05 },
  odd = { { n = 100003 } },
  params = {
    { "length", 1 << 18, "elements of the longest array", gpu = 1 << 26, min = 4096, max = 1 << 31 },
    { "types", { "f64", "f32" }, "element types", choices = { "f64", "f32" } },
    { "scan_block", 128, "block of the scans in one pass", gpu = 512,
      choices = { 32, 64, 128, 256, 512, 1024 } },
    { "scan_loads", 8, "loads in flight per thread of these scans", min = 1, max = 16 },
  },
}

local function tiles_of(c) return ceil_div(c.n, p.scan_block * p.scan_loads * c.vector) end

function study.arrays(c)
  return { x = c.dev:array(c.type, c.n):random(5), y = c.dev:array(c.type, c.n) }
end

-- ---- what is right ----------------------------------------------------------------------------------
-- Additions in a row of a rung; the error of a sum of positive terms grows with their root.
local function additions(c, rung)
  if rung.name == "three launches" then return 100 + ceil_div(c.n, 64) // 64 end
  return 100 + tiles_of(c)
end

-- Kahan's sums of all elements, in f64: what each addition loses is put back.
local function host_sums(c)
  local sums, sum, lost = {}, 0.0, 0.0
  for i, value in ipairs(c.x:totable()) do
    local term = value - lost
    local next_sum = sum + term
    lost, sum = next_sum - sum - term, next_sum
    sums[i] = sum
  end
  return sums
end

-- A scan of ones is 1, 2, 3, ...
local function prove_ones(c, go, check)
  local counted <close> = c.dev:array(c.type, c.n):linspace(1, c.n)
  c.x:fill(1)
  c.y:fill(0 / 0)
  go()
  check(c.y, counted)
  c.x:random(5)
end

study:library("x", "y")
study:answer("sum", { bytes = "x y", host = host_sums, prove = prove_ones,
  tolerance = function(c, rung, first) -- `first`: the rung whose result this one is compared with
    return { relative = 4 * c.eps * math.sqrt(additions(c, rung) + (first and additions(c, first) or 0)) }
  end })

-- ---- the rungs --------------------------------------------------------------------------------------
-- Blocks of 64 on the odd size: more totals than one block takes at once, so that their scan has a carry.
study:rung { 1, "three launches", answer = "sum", block = 1024, odd_blocks = { 64 }, launches = function(c, block)
  local blocks = ceil_div(c.n, block)
  local more, shape = { totals = c:array(blocks), count = blocks }, { block = block, grid = blocks }
  return { { "scan_tiles<%s>", shape, more }, { "scan_totals<%s>", { block = block, grid = 1 }, more },
           { "scan_add<%s>", shape, more } }
end }

-- Status words and a ticket are cleared before each scan, which is part of its time.
local function one_pass(number, name, kernel, is_in_rounds)
  kernel = ("%s<%%s,%d,%d>"):format(kernel, p.scan_block, p.scan_loads)
  study:rung { number, name, answer = "sum", block = p.scan_block, launches = function(c, block)
    local tiles = tiles_of(c)
    local words = c.type == "f32" and tiles or 2 * tiles
    local more = { status = c:keep(c.dev:array("u64", words)), ticket = c:keep(c.dev:array("u32", 1)),
                   words = words, tiles = tiles }
    local grid = is_in_rounds and math.min(tiles, c:resident(kernel, block)) or tiles
    return { { "scan_clear", { block = 256, grid = ceil_div(words, 256) }, more },
             { kernel, { block = block, grid = grid, cooperative = is_in_rounds }, more } }
  end }
end

one_pass(2, "one pass, look-back", "scan_once")
one_pass(3, "one pass, in rounds", "scan_rounds", true)

local CUB = { f64 = 3300e9, f32 = 3112e9 }
study:source { "H200 CUB", when = gpu, values = { sum = function(c) return CUB[c.type] end } }

-- ---- the part ---------------------------------------------------------------------------------------
study:part { "lengths", each = "type",
  cases = { { n = mw.geometric(p.length, math.max(4096, p.length // 4096), 8), type = p.types } },
  table = { "rung", "n", "t", "T_eff", { "share", title = "of the copy", unit = "%", digits = 3 } },
  charts = { { kind = "ladder" }, { x = "bytes", logx = 2, logy = true, xlabel = "bytes of the array" } },
  ratios = { "one pass, look-back / three launches", "one pass, in rounds / one pass, look-back",
             "best sum / library copy" } }
return study
