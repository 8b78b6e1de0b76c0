-- SPDX-License-Identifier: MIT
--
-- What a device gives at most, measured: main memory's rate by the triad, and multiply-adds a second
-- in f32 and f64. Kept for the rest of the session, since nothing about it changes.

local bench = require "moonwarp.measure.bench"
local check = require "moonwarp.measure.check"
local dtypes = require "moonwarp.base.dtypes"

local ceiling = {}

local BLOCK = 256
-- Arrays this many times larger than the last cache measure main memory.
local BEYOND = 4
local LEAST_BYTES, MOST_SHARE = 64 << 20, 1 / 16 -- of an array; of the memory that is free

-- Where arrays are read two elements at a time, and how many chains hide the latency of a
-- multiply-add: on a CPU a chain is one lane of a vector, on a GPU a thread has few registers.
local SHAPES = { cpu = { lanes = { 1 }, chains = { 64, 128, 256 }, blocks = 4, steps = 4096 },
                 gpu = { lanes = { 1, 2 }, chains = { 4, 8, 16 }, blocks = 8, steps = 16384 } }

-- The middle of a few steady samples; a ceiling need not be known to more than a per cent.
local function seconds(session, device, fn)
  return bench.run(session, fn, { device = device, noise = 0.01, min_time = 0.1, max_time = 2 }).median
end

local function elements(device)
  local cache = device:properties().cache_bytes
  local bytes = math.max(LEAST_BYTES, BEYOND * cache)
  bytes = math.min(bytes, math.floor(MOST_SHARE * device:memory()))
  return math.max(bytes // 16, 1) * 2
end

local function triad_seconds(session, device, module, lanes, b, a, c, scale)
  local n = #b // lanes
  local kernel = module:kernel("triad" .. lanes)
  local go <close> = kernel:prepare { block = BLOCK, grid = (n + BLOCK - 1) // BLOCK }
  return seconds(session, device, function() go(b, a, c, scale, n) end)
end

local function bandwidth_of(session, device, module)
  local n, scale, least = elements(device), 3, math.huge
  local a <close> = device:empty("f64", n)
  local b <close> = device:empty("f64", n)
  local c <close> = device:empty("f64", n)
  a:linspace(1, 2)
  c:fill(1)
  for _, lanes in ipairs(SHAPES[device:kind()].lanes) do
    least = math.min(least, triad_seconds(session, device, module, lanes, b, a, c, scale))
  end
  a:linspace(1 + scale, 2 + scale)
  check.run(session, b, a, { name = "the triad of mw.roofline" })
  return 3 * b:nbytes() / least
end

-- A multiply-add is two operations. Each chain ends at its number and the steps, which f32 counts
-- exactly up to 2^24 / chains.
local function chains_rate(session, device, module, dtype, chains, shape)
  local grid = shape.blocks * device:properties().multiprocessors
  local sums <close> = device:array(dtype, grid * BLOCK)
  local kernel = module:kernel(("chains<%s,%d>"):format(dtypes[dtype].cpp, chains))
  local go <close> = kernel:prepare { block = BLOCK, grid = grid }
  local t = seconds(session, device, function() go(sums, 1, 1, shape.steps) end)
  check.run(session, sums, chains * (chains - 1) // 2 + chains * shape.steps,
    { exact = true, name = "the multiply-adds of mw.roofline" })
  return 2 * chains * shape.steps * grid * BLOCK / t
end

local function rate_of(session, device, module, dtype)
  local most, shape = 0, SHAPES[device:kind()]
  for _, chains in ipairs(shape.chains) do
    most = math.max(most, chains_rate(session, device, module, dtype, chains, shape))
  end
  return most
end

--- The ceilings of a device.
---@param session table  that keeps them
---@param device userdata
---@return table  bandwidth (B/s), f32, f64 (flop/s), device, device_name
function ceiling.of(session, device)
  local id, known = device:id(), session.ceilings
  if known[id] then return known[id] end
  local module <close> = device:module "ceiling.cu"
  known[id] = { bandwidth = bandwidth_of(session, device, module), f32 = rate_of(session, device, module, "f32"),
                f64 = rate_of(session, device, module, "f64"), device = id, device_name = device:name() }
  return known[id]
end

return ceiling
