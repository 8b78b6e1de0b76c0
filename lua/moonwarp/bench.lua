-- SPDX-License-Identifier: MIT
--
-- Measuring how long something takes, until the answer is steady.
--
-- The problem: a kernel's time is neither one number (caches, clocks, other processes) nor what a
-- wall clock around its launch shows (a launch returns before the kernel has run).
--   t0 = clock(); go(B, A, n); t1 = clock()      measures the launch, not the kernel
--   t = mw.bench(function() go(B, A, n) end)     the median of many samples, by the device's own
--   clock
-- Caveats: on CUDA one sample spans a batch of calls between two events, so a call that takes the
-- host longer than the device is timed at the host's pace (a warning says so); data that fits a
-- cache stays there from call to call unless { flush = true }.
--
-- The protocol: one call timed apart (compilation, first touch), warm-up, then the batch size is
-- chosen so that a sample is well above the clock's resolution, then samples until the relative
-- noise of the median, the least time and the least number are all reached, or the time limit is.
-- Depends on moonwarp.core, fields, stats, units.

local core = require "moonwarp.core"
local fields = require "moonwarp.fields"
local recent = require "moonwarp.recent"
local stats = require "moonwarp.stats"
local units = require "moonwarp.units"

local bench = {}

local DEFAULTS = { noise = 0.005, min_time = 0.5, min_samples = 10, max_time = 15 }

local SPEC = {
  noise = "number", min_time = "number", max_time = "number", min_samples = "number",
  samples = "number", batch = "number", warmup = "number", setup = "function", flush = "boolean",
  device = "device", stream = "stream", clock = "string",
}

-- A sample is made this many times longer than the clock's resolution.
local RESOLUTIONS = 200
local EVENT_RESOLUTION = 0.5e-6 -- cuEventElapsedTime, CUDA Driver API reference
local HOST_RESOLUTION = 0.1e-6
local MOST_CALLS = 1 << 20
local MOST_SAMPLES = 100000

-- ---- results ------------------------------------------------------------------------------------

local result_type = {}
result_type.__index = result_type
result_type.__name = "bench result"

-- "1.234 ms ± 0.4 % (n = 37)"
function result_type.__tostring(self)
  return ("%s ± %s %% (n = %d)"):format(units.format(self.median, "s"),
    units.digits(self.noise * 100.0, 2), self.n)
end

--- Whether a value is what mw.bench returns.
---@param value any
---@return boolean
function bench.is_result(value)
  return getmetatable(value) == result_type
end

--- A result as a record keeps it: plain numbers, texts and lists.
---@param result table
---@return table
function bench.fields(result)
  local kept = {}
  for key, value in pairs(result) do kept[key] = value end
  kept.samples = {}
  for i, value in ipairs(result.samples) do
    kept.samples[i] = tonumber(("%.7g"):format(value))
  end
  return kept
end

-- ---- clocks: measure(fn, batch) returns the seconds of the batch, and the host's seconds to issue

local function repeat_call(fn, batch)
  for _ = 1, batch do fn() end
end

local function host_clock(device)
  local clock = { name = "host clock", resolution = HOST_RESOLUTION }
  function clock.measure(fn, batch)
    local start = core.clock()
    repeat_call(fn, batch)
    if device then device:synchronize() end
    return core.clock() - start, 0
  end
  return setmetatable(clock, { __close = function() end })
end

local function event_clock(device, stream)
  local from, to = device:event(), device:event()
  local clock = { name = "device events", resolution = EVENT_RESOLUTION }
  function clock.measure(fn, batch)
    from:record(stream)
    local start = core.clock()
    repeat_call(fn, batch)
    local issued = core.clock() - start
    to:record(stream)
    to:synchronize()
    return to:since(from), issued
  end
  return setmetatable(clock, {
    __close = function()
      from:close()
      to:close()
    end,
  })
end

local function device_of(options)
  if options.device then return options.device end
  if options.stream then return options.stream:device() end
  return recent.device()
end

local function choose_clock(options, device)
  local wanted = options.clock or (device and device:id() ~= "cpu" and "device" or "host")
  if wanted == "host" then return host_clock(device) end
  if not device then error("mw.bench: clock = 'device' needs a device; none is open", 3) end
  return event_clock(device, options.stream or device:default_stream())
end

-- ---- the protocol -------------------------------------------------------------------------------

local function stop_if_interrupted()
  if core.interrupted() then error("interrupted", 0) end
end

-- Grows the batch until it fills the wanted time; what was measured on the way is the warm-up.
local function calibrate(clock, fn, target)
  local batch = 1
  while true do
    stop_if_interrupted()
    local t = clock.measure(fn, batch)
    if t >= target or batch >= MOST_CALLS then return batch end
    local growth = t > 0 and math.ceil(batch * target / t * 1.1) or batch * 8
    batch = math.min(growth, batch * 8, MOST_CALLS)
  end
end

local function flusher(options, device)
  if not options.flush then return nil end
  if not device then error("mw.bench: flush = true needs a device; none is open", 3) end
  local bytes = math.max(4 * (device:properties().l2_bytes or 0), 64 << 20)
  return device:zeros("u8", bytes)
end

-- What happens before each sample, outside its time.
local function preparation(options, flush)
  if not options.setup and not flush then return nil end
  return function()
    if options.setup then options.setup() end
    if flush then flush:fill(0) end
  end
end

local function is_enough(run, limits)
  local n = #run.samples
  if n >= MOST_SAMPLES then return true end
  if limits.samples then return n >= limits.samples end
  if core.clock() - run.start >= limits.max_time then return true end
  if n < limits.min_samples or run.sampled < limits.min_time
    or n < run.next_look then return false end
  run.next_look = math.ceil(n * 1.1)
  return stats.summary(run.samples).noise <= limits.noise
end

local function take_samples(clock, fn, batch, prepare, limits)
  local run = { samples = {}, sampled = 0, issued = 0, start = core.clock(), next_look = 0 }
  repeat
    stop_if_interrupted()
    if prepare then prepare() end
    local t, issued = clock.measure(fn, batch)
    run.samples[#run.samples + 1] = t / batch
    run.sampled, run.issued = run.sampled + t, run.issued + issued
  until is_enough(run, limits)
  return run
end

local function first_call(clock, fn, prepare)
  if prepare then prepare() end
  return (clock.measure(fn, 1))
end

local function batch_of(clock, fn, prepare, limits)
  for _ = 1, limits.warmup or 0 do
    if prepare then prepare() end
    clock.measure(fn, 1)
  end
  if limits.batch then return limits.batch end
  if prepare then return 1 end
  return calibrate(clock, fn, math.max(RESOLUTIONS * clock.resolution, limits.min_time / 200))
end

-- ---- warnings: each names the cause and what to do ----------------------------------------------

local function percent(value)
  return units.digits(value * 100.0, 2) .. " %"
end

local warnings = {}

function warnings.noisy(result, _, limits)
  if limits.samples or result.noise <= limits.noise then return end
  return ("the noise is still %s after %d samples, more than the %s asked for"):format(percent(result.noise),
    result.n, percent(limits.noise)),
      "close other programs, or give it more time with { max_time = seconds }"
end

function warnings.few(result, _, limits)
  if limits.samples or result.n >= limits.min_samples then return end
  return ("only %d samples fitted into %g s"):format(result.n, limits.max_time),
    "make the problem smaller, or give it more time with { max_time = seconds }"
end

function warnings.short(result, clock)
  if result.median * result.batch >= 10 * clock.resolution then return end
  return ("a sample takes %s, too little for a clock of %s"):format(
    units.format(result.median * result.batch, "s", 3), units.format(clock.resolution, "s", 2)),
    "leave batch out, so that calls are timed in batches"
end

function warnings.outliers(result)
  local count = stats.outliers(result.samples)
  if count * 10 <= result.n or result.n < 10 then return end
  return ("%d of %d samples lie far from the median"):format(count, result.n),
    "something else uses the machine, or its clock changes; look at result.samples"
end

function warnings.host_bound(result, clock, _, run)
  if clock.name ~= "device events" or run.issued < 0.9 * run.sampled then return end
  return ("the device waits for the host, which needs %s to issue a call"):format(
    units.format(run.issued / (result.n * result.batch), "s", 3)),
    "use a larger problem, or put the launches into a graph"
end

local WARNINGS = { "few", "noisy", "short", "outliers", "host_bound" }

local function collect_warnings(result, clock, limits, run)
  local list = {}
  for _, name in ipairs(WARNINGS) do
    local cause, remedy = warnings[name](result, clock, limits, run)
    if cause then list[#list + 1] = { cause = cause, remedy = remedy } end
  end
  return list
end

-- ---- mw.bench -----------------------------------------------------------------------------------

local function check_range(options, name, least)
  local value = options[name]
  if value and not (value >= least and value < math.huge) then
    error(("mw.bench: option '%s' must be at least %s, got %s"):format(name, least, value), 4)
  end
end

local function check_whole(options, name)
  local value = options[name]
  if value and not math.tointeger(value) then
    error(("mw.bench: option '%s' must be an integer, got %s"):format(name, value), 4)
  end
end

local function limits_of(options)
  for _, name in ipairs { "noise", "min_time", "max_time", "warmup" } do
    check_range(options, name, 0)
  end
  for _, name in ipairs { "min_samples", "samples", "batch" } do check_range(options, name, 1) end
  for _, name in ipairs { "samples", "batch", "warmup" } do check_whole(options, name) end
  if options.clock and options.clock ~= "host" and options.clock ~= "device" then
    local given = options.clock
    error(("mw.bench: option 'clock' must be 'host' or 'device', got '%s'"):format(given), 3)
  end
  local limits = setmetatable({}, { __index = DEFAULTS })
  for name in pairs(SPEC) do limits[name] = options[name] end
  return limits
end

local function run_protocol(fn, limits, clock, prepare)
  local first = first_call(clock, fn, prepare)
  local batch = batch_of(clock, fn, prepare, limits)
  local run = take_samples(clock, fn, batch, prepare, limits)
  local result = setmetatable(stats.summary(run.samples), result_type)
  result.batch, result.first, result.clock, result.samples = batch, first, clock.name, run.samples
  result.warnings = collect_warnings(result, clock, limits, run)
  return result
end

--- Measures a function: warm-up, then samples until the median is steady.
--- Options: noise (0.005, relative standard error of the median), min_time (0.5 s), min_samples
--- (10), max_time (15 s), samples (exactly so many instead), batch (calls a sample; chosen by
--- itself), warmup (further calls before), setup (function called before each sample, untimed; one
--- call a sample), flush (true: the device's caches are overwritten before each sample), device,
--- stream (whose clock; the last device opened), clock ("device" or "host").
---@param fn function         called without arguments
---@param options table?
---@return table result       seconds a call: median, min, max, mean, sd, mad, p05, p95; noise
---                           (relative); n, batch,
---                           first (the first call), samples, clock, device, device_name, warnings
---                           { cause, remedy }
function bench.run(fn, options)
  if type(fn) ~= "function" and not (getmetatable(fn) and core.type(fn) == "launch") then
    error(("mw.bench: a function is wanted, got %s; as in mw.bench(function() go(x, n) end)"):format(
      core.type(fn) or type(fn)), 2)
  end
  options = fields.check("mw.bench", options, SPEC)
  local limits, device = limits_of(options), device_of(options)
  local clock <close> = choose_clock(options, device)
  local flush <close> = flusher(options, device)
  local result = run_protocol(fn, limits, clock, preparation(options, flush))
  if device then result.device, result.device_name = device:id(), device:name() end
  return result
end

return bench
