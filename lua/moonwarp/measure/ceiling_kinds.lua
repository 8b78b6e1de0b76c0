-- SPDX-License-Identifier: MIT
--
-- The ceilings that there are, and how each is measured. Each is what a kernel of kernels/ceiling.cu, or a copy,
-- reaches at most: over shapes of the kernel, and over rounds, until the best two of them agree. What a kernel has
-- computed is looked at before its time counts.

local bench = require "moonwarp.measure.bench"
local check = require "moonwarp.measure.check"
local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"

local kinds = {}

local V <const> = { "double", "pair" } -- by how many f64 an access has
local BLOCK <const>, EACH <const>, SCALE <const> = 256, 16, 3
local BEYOND <const> = 4 -- arrays so many times larger than the last cache measure memory
local LEAST_BYTES <const>, MOST_SHARE <const> = 64 << 20, 1 / 16 -- of an array; of the memory that is free
local ALIKE <const>, ROUNDS <const> = { cpu = 0.02, gpu = 0.005 }, 10

-- lanes: f64 of an access. chains: independent ones that hide the latency of a multiply-add; on a CPU a chain is one
-- lane of a vector, on a GPU a thread has few registers. blocks: per multiprocessor. traffic: bytes of a launch over
-- data that stays in a cache. windows: of data per multiprocessor, where each has its own cache.
local SHAPES <const> = {
  cpu = { lanes = { 1 }, chains = { 64, 128, 256 }, blocks = 4, steps = 4096, traffic = 256 << 20, windows = 4,
          l1 = { mask = 3, times = 1 }, launches = 200 },
  gpu = { lanes = { 1, 2 }, chains = { 4, 8, 16 }, blocks = 8, steps = 16384, traffic = 4 << 30,
          l1 = { mask = 1, times = 64 }, launches = 1000 },
}
local TINY <const> = { steps = 16, chains = { 4 }, traffic = 1 << 16, launches = 2, bytes = 1 << 16 }

-- ---- what is measured with ----------------------------------------------------------------------

--- What the measurements of a device share; to be closed.
---@param session table
---@param device userdata
---@param is_tiny boolean?   small, in one round: to try the kernels, not to measure
---@return table
function kinds.new(session, device, is_tiny)
  local shape = lists.merged(SHAPES[device:kind()], is_tiny and TINY or nil)
  return setmetatable({ session = session, device = device, shape = shape, is_tiny = is_tiny, arrays = {},
                        module = device:module "ceiling.cu" }, { __close = function(m)
    for _, array in pairs(m.arrays) do array:close() end
    m.module:close()
  end })
end

-- How many f64 an array has that is larger than the caches.
local function elements(m)
  local bytes = m.shape.bytes or math.max(LEAST_BYTES, BEYOND * m.device:properties().cache_bytes)
  bytes = math.min(bytes, math.floor(MOST_SHARE * m.device:memory()))
  local unit = BLOCK * EACH * 2
  return math.max(bytes // 8 // unit, 1) * unit
end

local function array_of(m, name)
  m.arrays[name] = m.arrays[name] or m.device:empty("f64", elements(m))
  return m.arrays[name]
end

-- Of a GPU the median. Of the CPU device, whose cores do other work as well, the fastest sample: the more there are,
-- the more surely one of them met none.
local function seconds(m, fn, clock)
  local is_cpu = m.device:kind() == "cpu"
  local options = m.is_tiny and { samples = 2, batch = 1 }
    or { noise = is_cpu and 1 or 0.01, min_time = is_cpu and 0.2 or 0.1, max_time = 2 }
  options.device, options.quiet, options.clock = m.device, true, clock
  local result = bench.run(m.session, fn, options)
  return is_cpu and result.min or result.median
end

local function expect(m, name, got, expected, options)
  if check.run(m.session, got, expected, lists.merged(options or {}, { name = "the ceiling " .. name })) then return end
  failure.raise_as("fault", "the ceiling '%s' of %s: its kernel computes what is wrong, so its time counts for nothing",
    name, m.device:id())
end

local function launcher(m, kernel, grid)
  return m.module:kernel(kernel):prepare { block = BLOCK, grid = grid }
end

-- ---- memories -----------------------------------------------------------------------------------

local function log2(number) return math.floor(math.log(number, 2) + 1e-9) end

-- Where blocks find their data, in pieces of so many bytes: 2^run blocks have a window of 2^span pieces. Besides the
-- caches each block has its own piece; in L2 they go round half of it, on a CPU half of each core's; in L1 each has one
-- that it reads `times` over, or on a CPU the blocks of a run have one.
local function window_of(m, level, piece, room)
  local pieces, shape = room // piece, m.shape
  if not level then return { run = 31, span = 31, grid = pieces, pieces = pieces } end
  if level == "l1" and not shape.windows then return { run = 0, span = 0, grid = pieces, pieces = pieces } end
  local windows = math.min(shape.windows and shape.windows * m.device:properties().multiprocessors or 1, pieces)
  local most = level == "l1" and 1 or m.device:properties().l2_bytes // 2 // piece
  local span = log2(math.max(1, math.min(most, pieces // windows)))
  local run = math.max(span, log2(math.max(1, shape.traffic // windows // piece)))
  return { run = run, span = span, grid = windows << run, pieces = windows << span }
end

-- The rates of a kernel over all lanes: the best.
local function best_of(m, of_lanes)
  local most = 0
  for _, lanes in ipairs(m.shape.lanes) do most = math.max(most, of_lanes(lanes)) end
  return most
end

local STREAMS <const> = {
  write = { count = 1, args = function() return SCALE end, expected = function(a) a:fill(SCALE) end },
  copy = { count = 2, args = function(a) return a end, expected = function() end },
  triad = { count = 3, args = function(a, c) return a, c, SCALE end,
            expected = function(a) a:linspace(1 + SCALE, 2 + SCALE) end },
}

local function stream(name, level)
  local one = STREAMS[name]
  return function(m, title)
    return best_of(m, function(lanes)
      local a, b, c = array_of(m, "a"), array_of(m, "b"), array_of(m, "c")
      local w = window_of(m, level, one.count * BLOCK * 8 * lanes, one.count * b:nbytes())
      a:linspace(1, 2)
      b:fill(0)
      c:fill(1)
      local go <close> = launcher(m, ("%s<%s>"):format(name, V[lanes]), w.grid)
      local args = table.pack(b, one.args(a, c))
      table.move({ w.run, w.span }, 1, 2, args.n + 1, args)
      local t = seconds(m, function() go(table.unpack(args, 1, args.n + 2)) end)
      one.expected(a)
      local from <close> = a:view(1, w.pieces * BLOCK * lanes)
      local to <close> = b:view(1, w.pieces * BLOCK * lanes)
      expect(m, title, to, from)
      return one.count * BLOCK * 8 * lanes * w.grid / t
    end)
  end
end

local function read(level)
  return function(m, title)
    local l1 = level == "l1" and m.shape.l1 or { mask = EACH - 1, times = 1 }
    return best_of(m, function(lanes)
      local a, sums = array_of(m, "a"), array_of(m, "b")
      local w = window_of(m, level, (l1.mask + 1) * BLOCK * 8 * lanes, a:nbytes())
      a:fill(1)
      local go <close> = launcher(m, ("read<%s,%d>"):format(V[lanes], l1.times), w.grid)
      local t = seconds(m, function() go(sums, a, l1.mask, w.run, w.span) end)
      local written <close> = sums:view(1, w.pieces * BLOCK)
      expect(m, title, written, EACH * l1.times * lanes, { exact = true })
      return (EACH * l1.times * lanes + 1) * 8 * BLOCK * w.grid / t
    end)
  end
end

local function shared(m, title)
  local l1, grid = m.shape.l1, m.shape.blocks * m.device:properties().multiprocessors * (m.is_tiny and 1 or 64)
  local sums <close> = m.device:array("f64", grid * BLOCK)
  return best_of(m, function(lanes)
    local go <close> = launcher(m, ("shared<%s>"):format(V[lanes]), grid)
    local t = seconds(m, function() go(sums, 1, l1.mask, l1.times) end)
    expect(m, title, sums, EACH * l1.times * lanes, { exact = true })
    return EACH * l1.times * 8 * lanes * BLOCK * grid / t
  end)
end

-- ---- arithmetic ---------------------------------------------------------------------------------

-- Calls a second, times what a call computes, over numbers of chains: the best.
local function best_chains(m, title, dtype, kernel, sum_of, work)
  local most, grid = 0, m.shape.blocks * m.device:properties().multiprocessors
  local sums <close> = m.device:array(dtype, grid * BLOCK)
  for _, chains in ipairs(m.shape.chains) do
    local go <close> = launcher(m, kernel:format(chains), grid)
    local given = kernel:find "^chains" and { 1, 1, m.shape.steps } or { 1, m.shape.steps }
    local t = seconds(m, function() go(sums, table.unpack(given)) end)
    expect(m, title, sums, sum_of(chains, m.shape.steps), { exact = true })
    most = math.max(most, work * chains * m.shape.steps * grid * BLOCK / t)
  end
  return most
end

-- A multiply-add is two operations. Each chain ends at its number and the steps, which f32 counts exactly up to 2^24 /
-- chains.
local function arithmetic(dtype)
  return function(m, title)
    return best_chains(m, title, dtype, "chains<" .. dtypes[dtype].cpp .. ",%d>",
      function(chains, steps) return chains * (chains - 1) // 2 + chains * steps end, 2)
  end
end

local function roots(m, title)
  return best_chains(m, title, "f32", "roots<%d>", function(chains) return chains end, 1)
end

local WARP <const>, SUMS <const> = 32, 8
local TENSOR <const> = { f16 = { "F16", 16, 2 * 16 * 8 * 16 }, tf32 = { "TF32", 8, 2 * 16 * 8 * 8 },
                         f64 = { "F64", 4, 4 * 8 * 8 * 4 } } -- the kernel's type, terms, operations per step

local function tensor(type)
  local kernel, terms, operations = table.unpack(TENSOR[type])
  return function(m, title)
    local steps, grid = m.shape.steps // 8, m.shape.blocks * m.device:properties().multiprocessors
    local module <close> = m.device:module "ceiling_tensor.cu"
    local sums <close> = m.device:array("f32", grid * BLOCK)
    local go <close> = module:kernel(("products<%s,%d>"):format(kernel, SUMS)):prepare { block = BLOCK, grid = grid }
    local t = seconds(m, function() go(sums, steps) end)
    expect(m, title, sums, 4 * terms * SUMS * steps, { exact = true })
    return operations * SUMS * steps * grid * BLOCK / WARP / t
  end
end

-- ---- queues and buses ---------------------------------------------------------------------------

local function atomics(numbers)
  return function(m, title)
    local grid, calls = m.shape.blocks * m.device:properties().multiprocessors * (m.is_tiny and 1 or 64), 0
    grid = (grid * BLOCK + numbers - 1) // numbers * numbers // BLOCK
    local counts <close> = m.device:zeros("u32", numbers)
    local go <close> = launcher(m, "count", grid)
    local t = seconds(m, function()
      go(counts, numbers - 1)
      calls = calls + 1
    end)
    expect(m, title, counts, calls * grid * BLOCK // numbers % (1 << 32))
    return grid * BLOCK / t
  end
end

local function launch(m)
  local go <close> = m.module:kernel "nothing":prepare { block = 1, grid = 1 }
  local count = m.shape.launches
  return seconds(m, function() for _ = 1, count do go() end end, "host") / count
end

local function blocks(m)
  local grid = m.device:properties().multiprocessors * m.shape.launches * 16
  local go <close> = m.module:kernel "nothing":prepare { block = 32, grid = grid }
  return grid / seconds(m, function() go() end)
end

local function transfer(is_to_device)
  return function(m, title)
    local near, n = array_of(m, "a"), #array_of(m, "a")
    local host <close> = m.device:pinned("f64", n)
    host:fill(is_to_device and 7 or 0)
    near:fill(is_to_device and 0 or 7)
    local from, to = near, host
    if is_to_device then from, to = host, near end
    local t = seconds(m, function() to:copy(from) end)
    expect(m, title, to, 7, { exact = true })
    return near:nbytes() / t
  end
end

local function peer_of(device) return device:peers()[1] end

-- The other device, and what closes it where the script has not opened it.
local function opened_peer(device)
  local before = core.live().device
  local other = core.device(peer_of(device).id)
  return other, core.live().device > before and other or nil
end

local function peer(m, title)
  local other, _ <close> = opened_peer(m.device)
  local from = array_of(m, "a")
  local to <close> = other:zeros("f64", #from)
  from:fill(7)
  local t = seconds(m, function() to:copy(from) end)
  expect(m, title, to, 7, { exact = true })
  return from:nbytes() / t
end

-- ---- all of them --------------------------------------------------------------------------------

local function tensor_reason(device)
  local number = device:kind() == "gpu" and tonumber(device:properties().arch:match "%d+")
  return not (number and number >= 80) and "it has no tensor cores that this is measured by" or nil
end

local function peer_reason(device)
  return not peer_of(device) and "there is no other device of its kind" or nil
end

local function of(name, unit, measure, about, reason)
  return { name = name, unit = unit, measure = measure, about = about, reason = reason }
end

-- Of things a second.
local function each(name, things, measure, about)
  return lists.merged(of(name, "1/s", measure, about), { things = things })
end

--- All ceilings, in order: name, unit, things (that a unit of 1/s counts), about (in words), measure(m, name),
--- reason(device): why a device has none.
kinds.list = {
  of("read", "B/s", read(), "memory, read"),
  of("write", "B/s", stream "write", "memory, written"),
  of("copy", "B/s", stream "copy", "memory, read and written"),
  of("triad", "B/s", stream "triad", "memory, two reads and a write"),
  of("read_l2", "B/s", read "l2", "data in half of the L2 cache"),
  of("write_l2", "B/s", stream("write", "l2"), "the same"),
  of("copy_l2", "B/s", stream("copy", "l2"), "the same"),
  of("triad_l2", "B/s", stream("triad", "l2"), "the same"),
  of("read_l1", "B/s", read "l1", "data in the L1 caches"),
  of("shared", "B/s", shared, "shared memory, read"),
  of("f32", "flop/s", arithmetic "f32", "multiply-adds"),
  of("f64", "flop/s", arithmetic "f64", "multiply-adds"),
  each("i32", "operations", arithmetic "i32", "integer operations, by multiply-adds"),
  of("tensor_f16", "flop/s", tensor "f16", "products of f16 summed in f32, by mma.sync", tensor_reason),
  of("tensor_tf32", "flop/s", tensor "tf32", "products of tf32, by mma.sync", tensor_reason),
  of("tensor_f64", "flop/s", tensor "f64", "products of f64, by mma.sync", tensor_reason),
  each("rsqrt_f32", "roots", roots, "reciprocal square roots, a special function"),
  each("atomic", "additions", atomics(1 << 16), "atomic additions to many numbers"),
  each("atomic_same", "additions", atomics(1), "atomic additions to one number"),
  of("launch", "s", launch, "a launch of an empty kernel, one of many"),
  each("blocks", "blocks", blocks, "beginnings of blocks"),
  of("to_device", "B/s", transfer(true), "copies from pinned memory of the host"),
  of("to_host", "B/s", transfer(false), "copies to it"),
  of("peer", "B/s", peer, "copies to another device", peer_reason),
}

--- Measures one, in rounds until the best two agree: a machine that is busy makes all of them worse, and none better.
---@param m table     of kinds.new
---@param one table   of kinds.list
---@return number
function kinds.measure(m, one)
  local sign, values = one.unit == "s" and 1 or -1, {}
  local function by_value(a, b) return sign * a < sign * b end
  repeat
    values[#values + 1] = one.measure(m, one.name)
    table.sort(values, by_value)
    local are_alike = #values > 1 and math.abs(values[2] / values[1] - 1) <= ALIKE[m.device:kind()]
  until m.is_tiny or are_alike or #values == ROUNDS
  return values[1]
end

return kinds
