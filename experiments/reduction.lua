-- SPDX-License-Identifier: MIT
--
-- reduction: what stands between a kernel that makes one number out of an array and the memory's rate?
--
-- Rungs 1 to 7 sum within a block: with one element per thread, where the tree dominates, and with a few
-- blocks per multiprocessor, where the loads hide it. Rungs 8 to 15 join what the blocks have: the sum, the
-- least, the greatest, the greatest |v|^2 of v = (x, y), the dot product of x and y. T_tot = bytes of x
-- (and y) / t, each read once. Shares are of a copy of as many bytes, which finds the same caches. H200
-- CUB: DeviceReduce, for this project (tests/bench/reduction.lua). See docs/studies/reduction.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

local PERIOD, ODD = 65537, 100003 -- primes: no block or grid walks them in step
local OPERATIONS = { "sum", "min", "max", "length", "dot" }
local ADDS = { sum = true, dot = true }
local ALONE, WIDTHS = "one element per thread", { 32, 64, 128, 256, 512, 1024 }

local study, p, gpu = mw.study {
  question = "how do a million threads agree on one number?", kernels = "reduce.cu", rate = "T_tot",
  course = { week = 5.1, level = 2, hours = 4, about = "trees, shuffles, rounding",
             without_gpu = "results, rounding, barriers" },
  output = "out", level = "library copy", seconds = { 0.01, gpu = 0.02 },
  defines = function(type) return { REAL = type == "f64" and "double" or "float" } end,
  odd = function(v) return {
    { n = { 1, 33, ODD }, op = v.ops }, { n = ODD, op = v.ops, blocks = 37 },
    { n = ODD, op = "sum", grid = ALONE }, { n = ODD, op = "sum", threads = WIDTHS },
    { n = ODD, op = "sum", blocks = 37, threads = { 1, 31, 96, 97 } } } end,
  params = {
    { "n", 1 << 22, "elements", gpu = 1 << 28, min = 1, max = 1 << 31 },
    { "block", 256, "threads per block of rungs 8 to 13", choices = WIDTHS },
    { "per", 256, "blocks per multiprocessor", gpu = 8, min = 1, max = 65536 },
    { "per_once", 64, "the same for rung 14, whose blocks have 1024 threads", gpu = 2, min = 1, max = 65536 },
    { "types", { "f32", "f64" }, "element types", choices = { "f32", "f64" } },
    { "ops", { "sum", "max" }, "operations", gpu = OPERATIONS, choices = OPERATIONS },
    { "repeats", 10, "runs of a rung whose bits are compared", min = 1 },
  },
}

-- ---- the arrays, and what is right ------------------------------------------------------------------
-- x and y by place: the extremes stand once each, so that whoever misses one of them is found out.
local function planted(n)
  return { [1] = { -2.5, 1 }, [n // 3 + 1] = { -2, 2 }, [n - n // 7] = { -3, 0 }, [n] = { 3, 2.5 } }
end

-- Between them random numbers that repeat, so that the host can sum any length. x has seed 1, y has seed 2.
local function repeating(c, seed)
  local x, have = c:array(c.n):random { seed = seed, min = -1, max = 1 }, PERIOD
  while have < c.n do
    x:copy(x, { to = have + 1, count = math.min(have, c.n - have) })
    have = 2 * have
  end
  for at, values in pairs(planted(c.n)) do x:set(at, values[seed]) end
  return x
end

local function processors(c) return c.dev:properties().multiprocessors end

function study.arrays(c)
  local takes_two, most = c.op == "length" or c.op == "dot", 8 * processors(c) * math.max(p.per, p.per_once, c.per or 0)
  c.x, c.y = repeating(c, 1), takes_two and repeating(c, 2) or mw.null
  c.out, c.parts, c.others = c:array(1), c:array(ceil_div(c.n, 32) + most), c:array(most)
  c.ticket, c.bytes = c:keep(c.dev:zeros("u32", 1)), c.x:nbytes() * (takes_two and 2 or 1)
  c.total = c:keep(c.dev:zeros("u64", 1))
  c.lock, c.source = c.ticket, c:keep(c.x:view(1, takes_two and c.n or ceil_div(c.n, 2)))
  c.target = c:array(#c.source)
end

local function by_host(c)
  local period <close> = c.dev:array(c.type, PERIOD):random { seed = 1, min = -1, max = 1 }
  local other <close> = c.dev:array(c.type, PERIOD):random { seed = 2, min = -1, max = 1 }
  local is_dot, xs, ys = c.op == "dot", period:totable(), other:totable()
  local sum, least, most, longest = 0.0, math.huge, -math.huge, 0.0
  local function term(x, y) return is_dot and x * y or x end
  for i, x in ipairs(xs) do sum = sum + term(x, ys[i]) * ((c.n - i) // PERIOD + 1) end
  for at, v in pairs(planted(c.n)) do
    local i = (at - 1) % PERIOD + 1
    sum = sum + term(v[1], v[2]) - term(xs[i], ys[i])
    least, most, longest = math.min(least, v[1]), math.max(most, v[1]), math.max(longest, v[1] ^ 2 + v[2] ^ 2)
  end
  return { ({ sum = sum, dot = sum, min = least, max = most, length = longest })[c.op] }
end

study:library("source", "target")
study:answer("reduction", { host = by_host, bytes = function(c) return c.bytes end,
  start = function(c) -- a lock that a rung left taken would keep the next one waiting for ever
    for _, array in ipairs { c.out, c.parts, c.others } do array:fill(0 / 0) end
    c.lock:fill(0)
    c.total:fill(0)
  end,
  also = function(c, check) check(c.lock, 0, { name = "its lock or ticket" }) end,
  tolerance = function(c, rung) -- a minimum is an element; the sum of |x| is about n / 2, of |x y| n / 4
    if not ADDS[c.op] then return { relative = c.op == "length" and 4 * c.eps or 0 } end
    local list = rung.launches(c, rung.block(c))
    return { absolute = 4 * c.eps * math.sqrt(list.additions) * (c.n / 2 + 10) + c.n * (list.unit or 0) / 2 }
  end })

-- ---- the rungs --------------------------------------------------------------------------------------
-- As many blocks as the case says; else those of this many threads per multiprocessor, but none without work.
local function blocks_of(c, block, threads, each)
  if c.blocks or c.per then return c.blocks or c.per * processors(c) end
  local most = ceil_div(c.n, block * each)
  return c.grid == ALONE and most or math.min(most, ceil_div(threads * processors(c), block))
end

-- Within a block; reduce_shuffle then sums what the blocks leave, or their warps. `additions`: in a row.
for number, name in ipairs { "reduce_tree", "reduce_strided", "reduce_dynamic", "reduce_last_warp",
                             "reduce_down", "reduce_butterfly", "reduce_shuffle" } do
  local function launches(c, block)
    local blocks, is_by_warp = blocks_of(c, block, p.per * 256, 1), number == 5 or number == 6
    local sums = is_by_warp and blocks * block // 32 or blocks
    local some = math.min(8 * processors(c), ceil_div(sums, 1024))
    local shared = number == 3 and block * 16 // c.vector or 0
    return { { name, { block = block, grid = blocks, shared = shared }, { sums = c.parts } },
      { "reduce_shuffle", { block = 256, grid = some }, { sums = c.others, x = c.parts, n = sums } },
      { "reduce_shuffle", { block = 256, grid = 1 }, { sums = c.out, x = c.others, n = some } },
      additions = ceil_div(c.n, blocks * block) + ceil_div(sums, some * 256) + ceil_div(some, 256) + 30 }
  end
  study:rung { number, name, launches = launches,
    block = function(c) return number > 2 and number ~= 4 and c.threads or 256 end,
    when = function(c) return c.op == "sum" and ((c.threads or 32) % 32 == 0 or number == 3) end }
end

-- How many results of `repeats` runs differ in a bit: one, where the order is fixed or nothing is rounded.
local function different(c, _, rung, check)
  local go, seen, count = study:launcher(rung.name, c:with { n = math.min(c.n, 1 << 20) }), {}, 0
  for _ = 1, p.repeats do
    go()
    local bits = c.out:bytes()
    count, seen[bits] = seen[bits] and count or count + 1, true
  end
  if not ADDS[c.op] or rung.number < 10 or rung.number > 12 then check({ count }, 1, { name = "results" }) end
  return { results = count }
end

local function add(a, b) return a + b end
local JOIN = { sum = add, dot = add, min = math.min, max = math.max, length = math.max }

local function on_host(c, count)
  return function()
    local parts <close>, value = c.parts:view(1, count), nil
    for i, part in ipairs(parts:totable()) do value = i == 1 and part or JOIN[c.op](value, part) end
    c.out:set(1, value)
  end
end

-- Over the grid, by operation; `begins`: what the blocks join their parts with is set before.
local function join(number, name, kernel, begins)
  local unit, width, threads, each = 32, p.block, p.per * p.block, 1
  if number == 14 then unit, width, threads, each = 128, 1024, p.per_once * 1024, 16 end
  local function launches(c, block)
    local op, blocks = c.op:upper(), blocks_of(c, block, threads, each)
    local list, whole = {}, { block = block, grid = blocks }
    if begins then list[1] = { ("reduce_begin<%%s,%s>"):format(op), { block = 1, grid = 1 } } end
    list[#list + 1] = { kernel:format(op, (op == "LENGTH" or op == "DOT") and 2 or 4, block), whole }
    if name == "second launch" then
      list[2] = { kernel:format(({ LENGTH = "MAX", DOT = "SUM" })[op] or op), { block = block, grid = 1 },
                  { parts = c.out, x = c.parts, y = mw.null, n = blocks } }
    end
    if name == "host" then list[2] = on_host(c, blocks) end
    list.additions = ceil_div(c.n, blocks * block) + blocks + 20
    return list
  end
  study:rung { number, name, launches = launches, observe = different,
    block = function(c) return c.threads or width end,
    when = function(c) -- of types after the first little is compiled for the CPU device
      local is_in_full = gpu or c.type == p.types[1] or c.op == "sum" or number == 9 or number == 14
      return is_in_full and (c.threads or unit) % unit == 0
    end }
end

join(8, "host", "reduce_parts<%%s,%s>")
join(9, "second launch", "reduce_parts<%%s,%s>")
join(10, "atomic", "reduce_atomic<%%s,%s>", true)
join(11, "compare and swap", "reduce_cas<%%s,%s>", true)
join(12, "lock", "reduce_lock<%%s,%s>", true)
join(13, "last block", "reduce_last<%%s,%s>")
join(14, "16 bytes, last block", "reduce_once<%%s,%s,%d,%d>")

-- A sum whose order does not matter: each element is rounded once, to a multiple of 2^-32.
study:rung { 15, "integers", observe = different, block = function(c) return c.threads or p.block end,
  when = function(c) return c.op == "sum" and (c.threads or 32) % 32 == 0 end,
  launches = function(c, block)
    local grid = blocks_of(c, block, p.per * p.block, 1)
    return { { "reduce_integers<%s>", { block = block, grid = grid } }, additions = 1, unit = 2.0 ^ -32 }
  end }

study:source { "H200 CUB", field = "cub", when = gpu, values = { ["16 bytes, last block"] = function(c)
  return c.n == 1 << 28 and c.op == "sum" and (c.type == "f32" and 4384e9 or 4468e9) or nil
end } }

-- ---- parts ------------------------------------------------------------------------------------------
local share = { "share", title = "of the copy", unit = "%", digits = 3 }
local function is_number(r) return r.rung ~= "library copy" end

study:part { "tree", each = "grid", rows = "all", charts = { { kind = "ladder" } },
  cases = { { n = p.n, type = p.types, op = "sum", grid = { ALONE, p.per .. " blocks per multiprocessor" } } },
  rungs = function(one) return (one.number or 1) <= 7 end,
  table = { { "number", title = "no." }, "rung", "type", "t", "T_tot", share },
  ratios = { "reduce_strided / reduce_tree", "reduce_dynamic / reduce_tree", "reduce_last_warp / reduce_tree",
             "reduce_down / reduce_tree", "reduce_butterfly / reduce_tree", "reduce_shuffle / reduce_tree" } }

study:part { "grid", each = "type", rows = "all", charts = { { kind = "ladder" } },
  cases = { { n = p.n, type = p.types, op = p.ops } }, rungs = function(one) return (one.number or 8) > 7 end,
  table = { { "number", title = "no." }, "rung", "op", "t", "T_tot", share,
            { "results", digits = 1, title = ("results of %d runs"):format(p.repeats) } },
  ratios = { "16 bytes, last block / last block", "second launch / last block", "atomic / last block",
             "lock / last block", "best reduction / library copy" } }

study:part { "threads", cases = { { n = p.n, op = "sum", threads = WIDTHS } },
  rungs = { "copy", "reduce_dynamic", "reduce_butterfly", "reduce_shuffle", "16 bytes, last block" },
  charts = { { x = "threads", logx = 2, logy = 10, of = is_number, xlabel = "threads per block" } } }

local PER <const> = gpu and { 1, 2, 4, 8, 16, 32, 64 } or { 1, 4, 16, 64, 256 }
while #PER > 1 and PER[#PER] * p.block > p.n do PER[#PER] = nil end -- so many have no work

study:part { "blocks", rungs = { "copy", "atomic", "lock", "last block", "16 bytes, last block" },
  cases = { { n = p.n, op = "sum", per = PER } },
  charts = { { x = "per", logx = 2, logy = 10, of = is_number, name = "blocks",
               xlabel = "blocks per multiprocessor" } } }

study:part { "size", table = { "rung", "n", "t", "T_tot" },
  cases = { { n = mw.geometric(p.n, math.min(p.n, 1024), 8), op = "sum" } },
  rungs = { "copy", "host", "second launch", "atomic", "lock", "last block", "16 bytes, last block" },
  charts = { { x = "n", logx = 10, logy = 10, of = is_number, xlabel = "elements", name = "size" } },
  ratios = { "best reduction / last block", "host / second launch" } }
return study
