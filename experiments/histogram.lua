-- SPDX-License-Identifier: MIT
--
-- histogram: how do threads count in the same 256 places?
--
-- Bytes are counted by atomics in main memory, in a table of the block in main or shared memory, in several such
-- tables, in a table per lane, and in counters of each thread without atomics: for random bytes, for bytes of which
-- most are the same, and for one value. T_tot = n / t, each byte is read once; shares are of a copy of as many bytes.
-- "passes" is computed from the addresses of some warps: the lanes in the fullest bank, of which each takes its turn.
-- How many addresses the lanes of an atomic have, and how many lanes want one, the CPU device counts in check mode.
-- See docs/studies/histogram.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

local PERIOD <const> = 65537 -- a prime: no block or grid walks the bytes in step
local ANDS <const> = { uniform = 1, skewed = 4 } -- random bytes that are combined by AND; else 255

local study, p, gpu = mw.study {
  question = "how do threads count in the same 256 places?", kernels = "histogram.cu", rate = "T_tot", output = "bins",
  course = { week = 4.2, level = 2, hours = 3, about = "atomics and private tables",
             without_gpu = "contention by counters" },
  type = "u32", level = "library copy", seconds = { 0.02, gpu = 0.05 },
  odd = { { n = { 1, 15, 527, 100003 }, data = "uniform" }, { n = 100003, data = { "skewed", "one value" } },
          { n = 100003, data = "one value", most = 2 }, -- so few blocks that counters of 8 bits wrap on any device
          { n = 20001, data = "uniform", copies = { 1, 2, 4, 8, 16, 32 } } },
  params = {
    { "n", 1 << 18, "bytes", gpu = 1 << 30, min = 1, max = 1 << 32 },
    { "data", { "uniform", "skewed", "one value" }, "the bytes", choices = { "uniform", "skewed", "one value" } },
    { "blocks", { 256, 512, 1024 }, "threads per block of rungs 4, 8 and 11", min = 1, max = 1024 },
  },
}

-- ---- the bytes, and their counts --------------------------------------------------------------------
-- One period of bytes, by the upper bits of a congruential generator (P. L'Ecuyer, 1999).
local periods = {}
local function period_of(data)
  if periods[data] then return periods[data] end
  local bytes, state = {}, 12345
  for i = 1, PERIOD do
    bytes[i] = 255
    for _ = 1, ANDS[data] or 0 do
      state = state * 2862933555777941757 + 3037000493
      bytes[i] = bytes[i] & (state >> 56)
    end
  end
  periods[data] = bytes
  return bytes
end

-- As many blocks as run at once, or the case's `most`: they add up their tables once.
local function blocks_of(c, kernel, threads, each)
  return math.min(c.most or c:resident(kernel, threads), ceil_div(c.n, threads * each))
end

function study.arrays(c)
  local x, have = c:keep(c.dev:array("u8", math.max(c.n, PERIOD))), PERIOD
  c.period = period_of(c.data)
  x:view(1, PERIOD):upload(c.period)
  while have < c.n do
    x:copy(x, { to = have + 1, count = math.min(have, c.n - have) })
    have = 2 * have
  end
  c.source, c.bytes = c:keep(x:view(1, ceil_div(c.n, 2))), c.n
  return { x = x, weight = 1, bins = c.dev:array("u32", 256), target = c.dev:array("u8", ceil_div(c.n, 2)),
           tables = c.dev:array("u32", 256 * blocks_of(c, "histogram_tables", 256, 1)) }
end

study:library(1, "source", "target")
study:answer("counts", { bytes = function(c) return c.n end, tolerance = function() return { absolute = 0 } end,
  host = function(c)
    local counts = {}
    for bin = 1, 256 do counts[bin] = 0 end
    for i, byte in ipairs(c.period) do counts[byte + 1] = counts[byte + 1] + (c.n - i) // PERIOD + 1 end
    return counts
  end })

-- ---- the rungs --------------------------------------------------------------------------------------
-- Lanes in the fullest bank, on average over 256 accesses; word(byte, lane): where a lane counts. Each takes a cycle.
local function passes(c, word)
  local sum = 0
  for access = 0, 255 do
    local lanes, most = {}, 0
    for lane = 0, 31 do
      local bank = word(c.period[access // 16 * 512 + lane * 16 + access % 16 + 1], lane) % 32
      lanes[bank] = (lanes[bank] or 0) + 1
      most = math.max(most, lanes[bank])
    end
    sum = sum + most
  end
  return { passes = sum / 256 }
end

local function in_copies(copies)
  return function(byte, lane) return byte * copies + lane % copies end
end

-- each: bytes per thread and turn, 16 if left out.
local function rung(number, name, kernel, blocks, word, others, each)
  study:rung { number, name, answer = "counts", blocks = blocks, launches = function(c, threads)
    local own = kernel:format(c.copies)
    return { { "histogram_clear", { block = 256, grid = 1 } },
             { own, { block = threads, grid = blocks_of(c, own, threads, each or 16) } } }
  end,
    when = function(c) return (c.copies ~= nil) == (name == "copies") end,
    fields = function(c) return word and passes(c, word(c.copies)) end, -- `others`: accesses of a warp besides these
    bound = function(c, _, r) return r.passes and c:per_cycle(32 / (r.passes + (others or 0))) end,
    sides = function(c) -- 2^24 atomics on one word take a GPU's L2 cache about 10 ms
      return gpu and number == 2 and c.n > 1 << 24 and { n = 1 << 24, data = c.data } or nil
    end }
end

local function always(word) return function() return word end end

rung(2, "global memory", "histogram_global", { 256 }, nil, 0, 1)
rung(3, "a table", "histogram_bytes", { 256 }, always(in_copies(1)), 1, 1)
rung(4, "a table, 16 bytes", "histogram_copies<1>", p.blocks, always(in_copies(1)))
rung(5, "a table per warp", "histogram_warps<8>", { 256 }, always(in_copies(1)))
rung(6, "merged by warps", "histogram_merged", { 256 })
rung(7, "8 tables", "histogram_copies<8>", { 256 }, always(in_copies(8)))
rung(8, "a table per lane", "histogram_copies<32>", p.blocks, always(in_copies(32)))
rung(9, "8 bits per thread", "histogram_private", { 128 }, always(function(byte, lane) return byte * 32 + lane end), 1)
rung(10, "a table, weighted", "histogram_weighted<1>", { 256 }, always(in_copies(1)))
rung(11, "a table per lane, weighted", "histogram_weighted<32>", p.blocks, always(in_copies(32)))
rung(12, "copies", "histogram_copies<%d>", { 512 }, in_copies)
rung(13, "a table, global memory", "histogram_tables", { 256 }, nil, 0, 1)

-- ---- parts ------------------------------------------------------------------------------------------
study:part { "ladder", cases = { { n = p.n, data = p.data } }, each = "data",
  charts = { { kind = "ladder", logx = not gpu } },
  rungs = function(one) return one.name ~= "copies" end,
  counters = { "atomic_contention", "shared_addresses_per_atomic", "shared_atomic_contention", at = { n = 1 << 14 } },
  table = { { "number", title = "no." }, "rung", "block", { "passes", digits = 3 }, "t", "bound", "T_tot",
            { "share", title = "of the copy", unit = "%", digits = 3 } },
  ratios = { "a table / global memory", "a table, global memory / global memory", "a table / a table, global memory",
             "a table, 16 bytes / a table", "a table per lane / a table, 16 bytes",
             "8 bits per thread / a table per lane", "a table, weighted / a table, 16 bytes",
             "a table per lane, weighted / a table per lane", "best counts / library copy" } }

study:part { "copies", cases = { { n = p.n, data = p.data, copies = { 1, 2, 4, 8, 16, 32 } } },
  rungs = { "library copy", "copies" }, rows = "all",
  table = { "data", "copies", "passes", "t", "bound", "T_tot", { "share", unit = "%", digits = 3 } },
  charts = { { x = "copies", logx = 2, logy = 10, by = "data", xlabel = "tables",
               of = function(r) return r.rung == "copies" end } } }
return study
