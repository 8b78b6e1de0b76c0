-- SPDX-License-Identifier: MIT
--
-- Measurements: every rung goes through `measure`, which checks it before. A chunk that is called with
-- the study's settings and returns what init.lua asks.

local mw = require "moonwarp"

local study = ...
local dev, n, seconds, block, ceil_div = study.dev, study.n, study.seconds, study.block, study.ceil_div
local blocks, blocks_once, multiprocessors = study.blocks, study.blocks_once, study.multiprocessors
local arrays, methods = study.arrays, study.methods

local EPS = { f32 = 2.0 ^ -23, f64 = 2.0 ^ -52 }
local BLOCKS = { 32, 64, 128, 256, 512, 1024 }
local BITS = 1 << 20 -- elements, where only the bits matter

-- Sums: 4 eps sqrt(chain) of sum |x|, chain being the longest row of additions. The others pick an
-- element, or round x^2 + y^2 twice.
local function verify(set, m, count, right)
  set.out:fill(0 / 0)
  set.parts:fill(0 / 0)
  set.flag:fill(0) -- a kernel that leaves it wrong is told once; a lock that it left taken would wait for ever
  m.run(count)
  local eps, tolerance = EPS[set.dtype], { absolute = 0 }
  tolerance.name = ("%s, %s of %d %s"):format(m.name, m.op, count, set.dtype)
  if m.op == "sum" then tolerance.absolute = 4 * eps * math.sqrt(m.chain) * right.magnitude end
  if m.op == "length" then tolerance.relative = 4 * eps end
  mw.check(set.out, { right[m.op] }, tolerance)
  mw.check(set.flag, 0, { exact = true, name = m.name .. ": its lock or ticket" })
end

-- Trees over numbers that are no powers of 2: of threads, of warps, of blocks. Few elements a thread,
-- so that the tolerance is too narrow for a value that is left out.
local function check_odd(set)
  local count, grid = arrays.awkward, 37
  for _, kernel in ipairs(methods.chosen { "reduce_dynamic", "reduce_down", "reduce_butterfly", "reduce_shuffle" }) do
    for _, threads in ipairs(kernel == "reduce_dynamic" and { 97, 31, 1 } or { 96 }) do
      local m = methods.within(set, kernel, threads, grid)
      m.name, m.chain = ("%s, %d threads"):format(kernel, threads), ceil_div(count, grid * threads) + 20
      verify(set, m, count, set.awkward)
    end
  end
  for _, name in ipairs(methods.names) do
    local m = methods.method(set, name, "sum", grid)
    m.name, m.chain = ("%s, %d blocks"):format(name, grid), ceil_div(count, grid * block) + 20 + grid
    verify(set, m, count, set.awkward)
  end
end

-- How many different results `repeats` runs give. More than one fails where the order is fixed.
local function different_bits(set, m)
  local seen, count = {}, 0
  set.flag:fill(0)
  for _ = 1, study.repeats do
    m.run(math.min(n, BITS))
    local bits = set.out:bytes()
    if not seen[bits] then seen[bits], count = true, count + 1 end
  end
  if m.fixed then
    local array <close> = dev:array("i32", { count })
    mw.check(array, 1, { exact = true,
                         name = ("%s, %s of %s: results"):format(m.name, m.op, set.dtype) })
  end
  return count
end

local function bytes_of(set, op, count)
  return count * (set.dtype == "f32" and 4 or 8) * (op == "length" and 2 or 1)
end

-- Benches a method over the first count elements, checked there and at the awkward size.
local function measure(set, group, m, fields)
  local count = fields.n or n
  verify(set, m, arrays.awkward, set.awkward)
  verify(set, m, count, count == n and set.whole or arrays.references(set, count))
  local t = mw.bench(function() m.run(count) end, { min_time = seconds, max_time = 3 * seconds,
    device = dev, name = m.name, bytes = bytes_of(set, m.op, count) })
  fields.study, fields.group, fields.method, fields.type, fields.op, fields.t =
    "reduction", group, m.name, set.dtype, m.op, t
  fields.number, fields.n, fields.bytes = methods.numbers[m.name], count, bytes_of(set, m.op, count)
  fields.T_tot = fields.bytes / t.median
  return mw.record(fields)
end

-- Main memory as a triad of f64 has it, where the device does not say.
local function triad_rate()
  local side = math.max(256, math.min(2048, math.floor(math.sqrt(n))))
  local B <close> = dev:array("f64", side, side)
  local A <close> = dev:full(1, "f64", side, side)
  local C <close> = dev:full(2, "f64", side, side)
  local go = dev:module("triad.cu").triad:prepare { block = { 32, 8 },
    grid = { ceil_div(side, 32), ceil_div(side, 8) } }
  local t = mw.bench(function() go(B, A, C, 3, side, side) end,
    { min_time = 5 * seconds, max_time = 15 * seconds, device = dev })
  mw.check(B, 7, { name = "triad" })
  return 3 * A:nbytes() / t.median
end

-- ---- the questions ------------------------------------------------------------------------------

local function trees(set, into)
  for _, kernel in ipairs(methods.trees) do
    for _, shape in ipairs { { study.alone, ceil_div(n, 256) }, { study.few, blocks } } do
      into[#into + 1] = measure(set, "within a block", methods.within(set, kernel, 256, shape[2]),
        { grid = shape[1] })
    end
  end
end

local function finishes(set, into)
  for _, op in ipairs(study.operations) do
    local list = {}
    for _, name in ipairs(methods.names_of(set.dtype, op)) do
      list[#list + 1] = methods.method(set, name, op, blocks)
    end
    if methods.has_once then list[#list + 1] = methods.once(set, op, 1024, blocks_once) end
    for _, m in ipairs(list) do
      local results = different_bits(set, m)
      into[#into + 1] = measure(set, "over the grid", m, { results = results })
    end
  end
end

-- As many threads whatever the block.
local function by_block_size(set)
  local list = {}
  for _, threads in ipairs(BLOCKS) do
    local grid = ceil_div(blocks * 256, threads)
    for _, kernel in ipairs(methods.chosen { "reduce_dynamic", "reduce_butterfly", "reduce_shuffle" }) do
      list[#list + 1] = measure(set, "block size", methods.within(set, kernel, threads, grid),
        { threads = threads })
    end
    if methods.has_once and threads >= 128 then
      local wide = methods.once(set, "sum", threads, blocks_once * 1024 // threads)
      list[#list + 1] = measure(set, "block size", wide, { threads = threads })
    end
  end
  return list
end

local function by_blocks(set)
  local list = {}
  for _, count in ipairs(study.counts) do
    for _, name in ipairs(methods.chosen { "atomic", "lock", "last block" }) do
      list[#list + 1] = measure(set, "blocks", methods.method(set, name, "sum", count * multiprocessors),
        { per = count })
    end
    if methods.has_once then
      list[#list + 1] = measure(set, "blocks", methods.once(set, "sum", 1024, count * multiprocessors),
        { per = count })
    end
  end
  return list
end

-- No more blocks than there is work for.
local function by_size(set)
  local list, count = {}, math.min(n, 1024)
  repeat
    local grid = math.min(blocks, ceil_div(count, block))
    for _, name in ipairs(methods.chosen { "host", "second launch", "atomic", "lock", "last block" }) do
      list[#list + 1] = measure(set, "size", methods.method(set, name, "sum", grid), { n = count })
    end
    if methods.has_once then
      grid = math.min(blocks_once, ceil_div(count, 1024 * 16))
      list[#list + 1] = measure(set, "size", methods.once(set, "sum", 1024, grid), { n = count })
    end
    local whole = count == n
    count = math.min(n, count * 8)
  until whole
  return list
end

return { triad_rate = triad_rate, check_odd = check_odd, trees = trees, finishes = finishes,
         by_block_size = by_block_size, by_blocks = by_blocks, by_size = by_size }
