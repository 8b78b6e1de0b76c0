-- SPDX-License-Identifier: MIT
--
-- reduction: one number out of an array, and what stands between a kernel and the memory's speed.
--
-- First within a block: the sum by a tree in shared memory (both orders), in dynamic shared memory,
-- by shuffles (both orders), by shuffles and one shared stage; with an element a thread, where the
-- tree is what costs, and with a few blocks a multiprocessor, where it hides behind the loads.
-- Then over the grid: the parts of the blocks joined on the host, by a second launch, by an atomic
-- operation, by compare and swap, under a lock, by the block that comes last, and that with 16-byte
-- streaming loads; each for the sum, the minimum, the maximum and the greatest |v|^2, v = (x, y).
-- On the CPU device types after the first have every method for the sum only, since each costs a
-- compilation; -p types=f64 gives that type in full.
-- T_tot = bytes of x (and y) / t: everything is read once.
--
-- What others measured, for comparison:
--   H200 (CUB 2.x DeviceReduce, for this project), sum of 2^28: f32 4384 GB/s, f64 4468 GB/s

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

local n = mw.arg("n", gpu and 1 << 28 or 1 << 22, "elements", { min = 1, max = 1 << 31 })
local seconds = mw.arg("seconds", gpu and 0.02 or 0.01,
  "least time of a measurement; three times that at most", { min = 0, max = 3600 })
local block = mw.arg("block", 256, "threads a block of the finishing methods",
  { choices = { 32, 64, 128, 256, 512, 1024 } })
local per = mw.arg("per", gpu and 8 or 256, "blocks a multiprocessor", { min = 1, max = 65536 })
local per_once = mw.arg("per_once", gpu and 2 or 64,
  "and of those with 16-byte loads, of 1024 threads", { min = 1, max = 65536 })
local types = mw.arg("types", { "f32", "f64" }, "element types", { choices = { "f32", "f64" } })
local operations = mw.arg("ops", { "sum", "min", "max", "length" }, "operations",
  { choices = { "sum", "min", "max", "length" } })
local repeats = mw.arg("repeats", 10, "runs of a method whose bits are compared", { min = 1 })

local PERIOD = 65537 -- a prime: no block or grid walks it in step
local AWKWARD = 100003 -- a prime as well: every rung is right here too
local EPS = { f32 = 2.0 ^ -23, f64 = 2.0 ^ -52 }
local C_TYPE = { f32 = "float", f64 = "double" }
local OPERATION = { sum = "SUM", min = "MIN", max = "MAX", length = "LENGTH" }
local FINISHES = { "parts", "begin", "atomic", "cas", "lock", "last" }
local FEW_FINISHES = { "parts" }
local BLOCKS = { 32, 64, 128, 256, 512, 1024 }
local COUNTS = gpu and { 1, 2, 4, 8, 16, 32, 64 } or { 1, 4, 16, 64, 256 } -- a multiprocessor
local BITS = 1 << 20 -- elements, where only the bits matter

local multiprocessors = dev:properties().multiprocessors
local blocks, blocks_once = multiprocessors * per, multiprocessors * per_once

local function ceil_div(a, b)
  return (a + b - 1) // b
end

-- ---- data, and its reference on the host --------------------------------------------------------

-- An array of n elements that repeats its first PERIOD ones.
local function repeating(dtype, seed)
  local x = dev:array(dtype, n)
  local filled = math.min(n, PERIOD)
  local tile <close> = x:view(1, filled)
  tile:random { seed = seed, min = -1, max = 1 }
  local values = tile:totable()
  while filled < n do
    local count = math.min(filled, n - filled)
    local to <close> = x:view(filled + 1, count)
    local from <close> = x:view(1, count)
    to:copy(from)
    filled = filled + count
  end
  return x, values
end

-- A. Neumaier's compensated sum (1974).
local function compensated(values, count, of)
  local sum, lost = 0.0, 0.0
  for i = 1, count do
    local v = of(values[i])
    local next_sum = sum + v
    lost = lost + (math.abs(sum) >= math.abs(v) and (sum - next_sum) + v or (v - next_sum) + sum)
    sum = next_sum
  end
  return sum + lost
end

local function same(v) return v end

-- Of count elements: whole periods and a rest.
local function long_sum(values, count, of)
  local whole = count // #values
  local rest = compensated(values, count % #values, of)
  return whole > 0 and whole * compensated(values, #values, of) + rest or rest
end

-- What each operation gives for the first count elements, with sum |x| for the tolerance.
local function references(set, count)
  local r = { magnitude = long_sum(set.xs, count, math.abs), sum = long_sum(set.xs, count, same),
              min = math.huge, max = -math.huge, length = -math.huge }
  local function see(x, y)
    r.min, r.max = math.min(r.min, x), math.max(r.max, x)
    r.length = math.max(r.length, x * x + y * y)
  end
  for i = 1, math.min(count, #set.xs) do
    local covered = set.taken[i] and i + PERIOD > count -- by a plant, and not repeated
    if not covered then see(set.xs[i], set.ys[i]) end
  end
  for _, plant in ipairs(set.plants) do
    if plant.at <= count then
      local before = set.xs[(plant.at - 1) % #set.xs + 1]
      r.sum, r.magnitude = r.sum + (plant.x - before), r.magnitude + math.abs(plant.x)
      see(plant.x, plant.y)
    end
  end
  return r
end

-- The extremes stand once each, so that whoever misses an element can be seen to.
local function plant(set)
  local size = math.min(n, AWKWARD)
  local at = { { 1, -2.5, 1 }, { size, 2.5, -1 }, { n // 3 + 1, -2, 3 }, { n - n // 7, -3, 0 },
               { n, 3, 2 } }
  set.taken = {}
  for _, p in ipairs(at) do
    if not set.taken[p[1]] then
      set.taken[p[1]] = true
      set.x:set(p[1], p[2])
      set.y:set(p[1], p[3])
      set.plants[#set.plants + 1] = { at = p[1], x = p[2], y = p[3] }
    end
  end
end

-- ---- what the measurements of one type share ----------------------------------------------------

local function unroll(op) -- two arrays: half as many loads of each in flight
  return op == "length" and 2 or 4
end

local function once_name(dtype, op, threads)
  return ("reduce_once<%s,%s,%d,%d>"):format(C_TYPE[dtype], OPERATION[op], unroll(op), threads)
end

local function instance(kind, dtype, op)
  return ("reduce_%s<%s,%s>"):format(kind, C_TYPE[dtype], OPERATION[op])
end

-- Every operation by every method on a GPU and in the first type; in another one the sum alone.
local function in_full(dtype, op)
  return gpu or dtype == types[1] or op == "sum"
end

-- The sweeps are sums of the first type, whether or not that operation was asked for.
local function operations_of(dtype)
  local list, has_sum = table.move(operations, 1, #operations, 1, {}), false
  for _, op in ipairs(list) do has_sum = has_sum or op == "sum" end
  if dtype == types[1] and not has_sum then list[#list + 1] = "sum" end
  return list
end

-- All at once: one run of the compiler.
local function module_of(dtype)
  local names = { instance("parts", dtype, "max") } -- which joins the parts of "length"
  for _, op in ipairs(operations_of(dtype)) do
    local kinds = in_full(dtype, op) and FINISHES or FEW_FINISHES
    for _, kind in ipairs(kinds) do names[#names + 1] = instance(kind, dtype, op) end
    if op ~= "sum" then names[#names + 1] = once_name(dtype, op, 1024) end
  end
  for _, threads in ipairs { 128, 256, 512, 1024 } do
    names[#names + 1] = once_name(dtype, "sum", threads)
  end
  return dev:module { file = "reduce.cu", defines = { REAL = C_TYPE[dtype] }, templates = names }
end

local function new_set(dtype)
  local set = { dtype = dtype, plants = {}, code = module_of(dtype) }
  set.x, set.xs = repeating(dtype, 1)
  set.y, set.ys = repeating(dtype, 2)
  plant(set)
  set.out = dev:array(dtype, 1)
  local most = math.max(ceil_div(n, 32) + 8, 8 * blocks, 8 * blocks_once,
    COUNTS[#COUNTS] * multiprocessors)
  set.parts, set.others = dev:array(dtype, most), dev:array(dtype, most)
  set.flag = dev:zeros("u32", 1) -- a lock, or a ticket
  set.whole, set.awkward = references(set, n), references(set, math.min(n, AWKWARD))
  return set
end

-- ---- methods: { name, op, fixed, chain, run(count) }, the result in set.out ---------------------

-- More launches of v6 add `left` sums; two at most, since a block takes as many as it must.
local function further(set, left)
  local steps = {}
  local from, to = set.parts, set.others
  while left > 1 do
    local grid = left <= 4096 and 1 or math.min(multiprocessors * 8, ceil_div(left, 1024))
    local last = grid == 1 and set.out or to
    steps[#steps + 1] = { go = set.code.reduce_shuffle:prepare { grid = grid, block = 256 },
                          to = last, from = from, count = left,
                          chain = ceil_div(left, grid * 256) + 8 }
    from, to, left = to, from, grid
  end
  return steps
end

-- v1 to v6. sums_of: how many sums a block leaves.
local function within(set, kernel, threads, grid)
  local sums_of = (kernel == "reduce_down" or kernel == "reduce_butterfly") and threads // 32 or 1
  local steps = further(set, grid * sums_of)
  local shared = kernel == "reduce_dynamic" and threads * (set.dtype == "f32" and 4 or 8) or 0
  local go = set.code[kernel]:prepare { grid = grid, block = threads, shared = shared }
  local first = #steps == 0 and set.out or set.parts
  local chain = ceil_div(n, grid * threads) + 10
  for _, step in ipairs(steps) do chain = chain + step.chain end
  local function run(count)
    go(first, set.x, count)
    for _, step in ipairs(steps) do step.go(step.to, step.from, step.count) end
  end
  return { name = kernel, op = "sum", fixed = true, chain = chain, run = run }
end

local function joined(op, values)
  local result = values[1]
  for i = 2, #values do
    if op == "sum" then result = result + values[i]
    elseif op == "min" then result = math.min(result, values[i])
    else result = math.max(result, values[i]) end
  end
  return result
end

local build = {}

local function kernel_of(set, kind, op, grid)
  return set.code[instance(kind, set.dtype, op)]:prepare { grid = grid, block = block }
end

local function y_of(set, op)
  return op == "length" and set.y or mw.null
end

build["host"] = function(set, op, grid)
  local go, y = kernel_of(set, "parts", op, grid), y_of(set, op)
  local parts = set.parts:view(1, grid)
  return function(count)
    go(parts, set.x, y, count)
    set.out:set(1, joined(op, parts:totable()))
  end
end

build["second launch"] = function(set, op, grid)
  local go, y = kernel_of(set, "parts", op, grid), y_of(set, op)
  local join = kernel_of(set, "parts", op == "length" and "max" or op, 1)
  return function(count)
    go(set.parts, set.x, y, count)
    join(set.out, set.parts, mw.null, grid)
  end
end

-- Atomic and CAS: out begins as nothing.
local function direct(kind)
  return function(set, op, grid)
    local begin = set.code[instance("begin", set.dtype, op)]:prepare { grid = 1, block = 1 }
    local go, y = kernel_of(set, kind, op, grid), y_of(set, op)
    return function(count)
      begin(set.out)
      go(set.out, set.x, y, count)
    end
  end
end

build["atomic"], build["compare and swap"] = direct "atomic", direct "cas"

build["lock"] = function(set, op, grid)
  local begin = set.code[instance("begin", set.dtype, op)]:prepare { grid = 1, block = 1 }
  local go, y = kernel_of(set, "lock", op, grid), y_of(set, op)
  return function(count)
    begin(set.out)
    go(set.out, set.flag, set.x, y, count)
  end
end

build["last block"] = function(set, op, grid)
  local go, y = kernel_of(set, "last", op, grid), y_of(set, op)
  return function(count) go(set.out, set.parts, set.flag, set.x, y, count) end
end

local METHODS = { "host", "second launch", "atomic", "compare and swap", "lock", "last block" }
local FEW_METHODS = { "second launch" }
local IN_ANY_ORDER = { ["atomic"] = true, ["compare and swap"] = true, ["lock"] = true }

local function method(set, name, op, grid)
  return { name = name, op = op, run = build[name](set, op, grid),
           chain = ceil_div(n, grid * block) + 10 + grid,
           fixed = op ~= "sum" or not IN_ANY_ORDER[name] }
end

local function once(set, op, threads, grid)
  local go = set.code[once_name(set.dtype, op, threads)]:prepare { grid = grid, block = threads }
  local y = y_of(set, op)
  return { name = "16 bytes, last block", op = op, fixed = true,
           chain = ceil_div(n, grid * threads) + 20 + grid,
           run = function(count) go(set.out, set.parts, set.flag, set.x, y, count) end }
end

-- ---- measuring ----------------------------------------------------------------------------------

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
  local count, grid = math.min(n, AWKWARD), 37
  for _, shape in ipairs { { "reduce_dynamic", 97 }, { "reduce_dynamic", 31 }, { "reduce_dynamic", 1 },
                           { "reduce_down", 96 }, { "reduce_butterfly", 96 }, { "reduce_shuffle", 96 } } do
    local m = within(set, shape[1], shape[2], grid)
    m.name, m.chain = ("%s, %d threads"):format(shape[1], shape[2]), ceil_div(count, grid * shape[2]) + 20
    verify(set, m, count, set.awkward)
  end
  for _, name in ipairs(METHODS) do
    local m = method(set, name, "sum", grid)
    m.name, m.chain = ("%s, %d blocks"):format(name, grid), ceil_div(count, grid * block) + 20 + grid
    verify(set, m, count, set.awkward)
  end
end

-- How many different results `repeats` runs give. More than one fails where the order is fixed.
local function different_bits(set, m)
  local seen, count = {}, 0
  set.flag:fill(0)
  for _ = 1, repeats do
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
  verify(set, m, math.min(n, AWKWARD), set.awkward)
  verify(set, m, count, count == n and set.whole or references(set, count))
  local t = mw.bench(function() m.run(count) end, { min_time = seconds, max_time = 3 * seconds,
    device = dev, name = m.name, bytes = bytes_of(set, m.op, count) })
  fields.study, fields.group, fields.method, fields.type, fields.op, fields.t =
    "reduction", group, m.name, set.dtype, m.op, t
  fields.n, fields.bytes = count, bytes_of(set, m.op, count)
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

local WITHIN = { "reduce_tree", "reduce_strided", "reduce_dynamic", "reduce_down",
                 "reduce_butterfly", "reduce_shuffle" }

local function trees(set, into)
  for _, kernel in ipairs(WITHIN) do
    for _, shape in ipairs { { "one element a thread", ceil_div(n, 256) },
                             { ("%d blocks a multiprocessor"):format(per), blocks } } do
      into[#into + 1] = measure(set, "within a block", within(set, kernel, 256, shape[2]),
        { grid = shape[1] })
    end
  end
end

local function finishes(set, into)
  for _, op in ipairs(operations) do
    local list = {}
    for _, name in ipairs(in_full(set.dtype, op) and METHODS or FEW_METHODS) do
      list[#list + 1] = method(set, name, op, blocks)
    end
    list[#list + 1] = once(set, op, 1024, blocks_once)
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
    for _, kernel in ipairs { "reduce_dynamic", "reduce_butterfly", "reduce_shuffle" } do
      list[#list + 1] = measure(set, "block size", within(set, kernel, threads, grid),
        { threads = threads })
    end
    if threads >= 128 then
      local wide = once(set, "sum", threads, blocks_once * 1024 // threads)
      list[#list + 1] = measure(set, "block size", wide, { threads = threads })
    end
  end
  return list
end

local function by_blocks(set)
  local list = {}
  for _, count in ipairs(COUNTS) do
    for _, name in ipairs { "atomic", "lock", "last block" } do
      list[#list + 1] = measure(set, "blocks", method(set, name, "sum", count * multiprocessors),
        { per = count })
    end
    list[#list + 1] = measure(set, "blocks", once(set, "sum", 1024, count * multiprocessors),
      { per = count })
  end
  return list
end

-- No more blocks than there is work for.
local function by_size(set)
  local list, count = {}, math.min(n, 1024)
  repeat
    local grid = math.min(blocks, ceil_div(count, block))
    for _, name in ipairs { "host", "second launch", "atomic", "lock", "last block" } do
      list[#list + 1] = measure(set, "size", method(set, name, "sum", grid), { n = count })
    end
    grid = math.min(blocks_once, ceil_div(count, 1024 * 16))
    list[#list + 1] = measure(set, "size", once(set, "sum", 1024, grid), { n = count })
    local whole = count == n
    count = math.min(n, count * 8)
  until whole
  return list
end

local peak = dev:peak_bandwidth()
local before = not peak and triad_rate()
local within_records, grid_records, sweeps = {}, {}, nil
for i, dtype in ipairs(types) do
  local set = new_set(dtype)
  if i == 1 then check_odd(set) end
  trees(set, within_records)
  finishes(set, grid_records)
  if i == 1 then
    sweeps = { threads = by_block_size(set), blocks = by_blocks(set), size = by_size(set) }
  end
  for _, name in ipairs { "x", "y", "parts", "others" } do set[name]:close() end
end

-- ---- what it shows ------------------------------------------------------------------------------

-- The better of two triads, before and after: a machine with other work has slow moments.
local top = peak and { value = peak, label = "theoretical peak" }
  or { value = math.max(before, triad_rate()), label = "triad" }
for _, list in ipairs { within_records, grid_records } do
  for _, r in ipairs(list) do r.share = r.T_tot / top.value end
end

local share = { "share", title = "of the " .. top.label, unit = "%", digits = 3 }
mw.table { "type", { "method", title = "kernel" }, "grid", "t", "T_tot", share,
           title = "reduction within a block", records = within_records }
mw.table { "type", "op", "method", "t", "T_tot", share,
           { "results", title = ("results of %d runs"):format(repeats) },
           title = "reduction over the grid", records = grid_records }

local CUB = { f32 = 4384e9, f64 = 4468e9 } -- as above

local CUB_N = 1 << 28 -- the only size that it was measured at: a point there, a line where all is that
local cub_label = "CUB, 2^28 " .. types[1] .. ", H200"

local function chart(records, x, options)
  local cub = { value = CUB[types[1]], label = cub_label }
  mw.plot { x = x, y = "T_tot", by = "method", logx = options.logx or 2, records = records,
            peak = top, lines = gpu and n == CUB_N and x ~= "n" and { cub } or nil,
            title = "reduction: sum of " .. types[1] .. ", T_tot against " .. options.xlabel,
            xlabel = options.xlabel, name = "reduction-" .. options.name, logy = options.logy }
end

chart(sweeps.threads, "threads", { xlabel = "threads a block", name = "threads" })
chart(sweeps.blocks, "per", { xlabel = "blocks a multiprocessor", name = "blocks" })
-- Six colours: CUB's point takes that of the second launch, whose line lies on the atomic one's.
local function with_cub(records)
  if not gpu or n < CUB_N then return records end
  local list = {}
  for _, r in ipairs(records) do
    if r.method ~= "second launch" then list[#list + 1] = r end
  end
  list[#list + 1] = { method = cub_label, n = CUB_N, T_tot = CUB[types[1]] }
  return list
end

chart(with_cub(sweeps.size), "n", { xlabel = "elements", name = "size", logx = 10, logy = 10 })

-- ---- in words -----------------------------------------------------------------------------------

local function find(records, wanted)
  for _, r in ipairs(records) do
    local fits = true
    for field, value in pairs(wanted) do fits = fits and r[field] == value end
    if fits then return r end
  end
end

local function fastest_and_slowest(records)
  local best, worst = records[1], records[1]
  for _, r in ipairs(records) do
    if r.t.median < best.t.median then best = r end
    if r.t.median > worst.t.median then worst = r end
  end
  return best, worst
end

local function tree_time(kernel, grid)
  return find(within_records, { type = types[1], method = kernel, grid = grid }).t.median
end

local alone, few = "one element a thread", ("%d blocks a multiprocessor"):format(per)

-- Why the kernels differ less from the smaller grid, if they do.
local function remark_on_trees()
  local tree_alone, tree_few = tree_time("reduce_tree", alone), tree_time("reduce_tree", few)
  local strided_alone = tree_time("reduce_strided", alone) / tree_alone
  local strided_few = tree_time("reduce_strided", few) / tree_few
  local shuffle_alone = tree_time("reduce_shuffle", alone) / tree_alone
  local shuffle_few = tree_time("reduce_shuffle", few) / tree_few
  local apart = math.abs(math.log(strided_alone)) + math.abs(math.log(shuffle_alone))
  local closer = math.abs(math.log(strided_few)) + math.abs(math.log(shuffle_few)) < 0.8 * apart
  local each = n // (blocks * 256)
  mw.remark("Within a block (%s): with an element a thread the strided tree takes %.2f times the "
    .. "halving tree's time, and shuffles with one shared stage %.2f times; with %s the same two "
    .. "take %.2f and %.2f times%s. From the smaller grid the halving tree takes %.2f of its time.", types[1],
    strided_alone, shuffle_alone, few, strided_few, shuffle_few, closer and each >= 2
    and (", for the tree is climbed once a block and each thread has added %d elements before"):format(each)
    or "", tree_few / tree_alone)
end

remark_on_trees()

local function only(records, wanted)
  local list = {}
  for _, r in ipairs(records) do
    if find({ r }, wanted) then list[#list + 1] = r end
  end
  return list
end

local small = only(sweeps.size, { n = sweeps.size[1].n })
local large = only(grid_records, { type = types[1], op = operations[1] })
local quick, late = fastest_and_slowest(small)
local best, worst = fastest_and_slowest(large)
local reading = small[1].bytes / top.value
mw.remark("Over the grid: of %d elements%s '%s' is the quickest with %.1f us, '%s' the slowest with %.1f us. "
  .. "Of %d elements '%s' is the best (%s of %s) with %.0f GB/s, %.0f %% of the %s; '%s' takes %.2f times as "
  .. "long.", small[1].n, reading < 0.1 * quick.t.median and ", whose reading would take next to no time,"
  or "", quick.method, quick.t.median * 1e6, late.method, late.t.median * 1e6, n, best.method, best.op,
  best.type, best.T_tot / 1e9, 100 * best.share, top.label, worst.method, worst.t.median / best.t.median)

local moved = {}
for _, r in ipairs(grid_records) do
  if r.results > 1 then
    moved[#moved + 1] = ("%s (%s, %s: %d)"):format(r.method, r.op, r.type, r.results)
  end
end
if #moved > 0 then
  mw.remark("Same bits: of %d runs each, more than one result came from %s. Joined in the order of the "
    .. "blocks a sum is the same every time; what takes the blocks as they come adds in another order, and "
    .. "that rounds otherwise. A minimum or maximum does not round, so there the order does not show.",
    repeats, table.concat(moved, ", "))
else
  mw.remark("Same bits: of %d runs each, every method gave one result. Only those that join in the order of "
    .. "the blocks, and minimum and maximum, promise that.", repeats)
end
