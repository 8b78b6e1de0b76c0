-- SPDX-License-Identifier: MIT
--
-- Measuring how long something takes, until the answer is steady.
--
-- The problem: a kernel's time is neither one number (caches, clocks, other processes) nor what a
-- wall clock around its launch shows (a launch returns before the kernel has run).
--   t0 = clock(); go(B, A, n); t1 = clock()      measures the launch, not the kernel
--   t = mw.bench(function() go(B, A, n) end)     the median of many samples, by the device's clock
-- On a CUDA device a sample is queued behind a gate that opens when the host is far enough ahead, so
-- that launches are not in the time; their cost is a separate number, result.launch.
-- Contenders, mw.bench { naive = f, tiled = g }, are measured in turn, so that a change of the machine's
-- pace meets all of them; a turn finds the caches as the contender before it left them, and begins
-- with one call that is not timed.
-- Data that fits a cache stays there from call to call: { cold = true } also measures with
-- the caches overwritten before each call, { graph = true } the function as a replayed graph.
--
-- clock.lua and gate.lua hold the clocks, mode.lua what a sample is, protocol.lua the order of
-- things and when it ends, contest.lua contenders, warning.lua what may be wrong.

local core = require "moonwarp.core"
local alarm = require "moonwarp.measure.alarm"
local checking = require "moonwarp.measure.checking"
local clocks = require "moonwarp.measure.clock"
local contest = require "moonwarp.measure.contest"
local energy = require "moonwarp.measure.energy"
local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"
local lists = require "moonwarp.base.lists"
local modes = require "moonwarp.measure.mode"
local protocol = require "moonwarp.measure.protocol"
local quantity = require "moonwarp.measure.quantity"
local stats = require "moonwarp.measure.stats"
local trace = require "moonwarp.measure.trace"
local units = require "moonwarp.base.units"
local warning = require "moonwarp.measure.warning"

local bench = {}

-- The results of this process with bytes and flops.
local declared = {}

local MOST = 10000000 -- samples, which are kept, or calls of one, which only Ctrl-C cuts short
local DEFAULTS = { noise = 0.005, min_time = 0.5, min_samples = 10, max_time = 15 }

local SPEC = {
  noise = "number", min_time = "number", max_time = "number", min_samples = "number",
  samples = "number", batch = "number", warmup = "number", setup = "function", flush = "boolean",
  device = "device", stream = "stream", clock = "string", cold = "boolean", graph = "boolean",
  bytes = "number", flops = "number", output = "array table", input = "array table",
  copies = "boolean", peak = "number", peak_flops = "number", dtype = "string", name = "string",
  quiet = "boolean", energy = "boolean", collective = "boolean",
}

local COUNT = { 1, MOST, whole = true }
local RANGES = { noise = { 0 }, min_time = { 0 }, max_time = { 0 }, warmup = { 0, whole = true }, bytes = { 0 },
                 flops = { 0 }, peak = { 0 }, peak_flops = { 0 }, min_samples = COUNT, samples = COUNT, batch = COUNT }
local CHOICES = { clock = { "host", "device" }, dtype = { "f32", "f64" } }

-- ---- results ------------------------------------------------------------------------------------

local result_type = {}
result_type.__index = result_type
result_type.__name = "bench result"
quantity.install(result_type)

-- "1.234 ms ± 0.4 % (n = 37)"
function result_type.__tostring(self)
  if self.n == 0 then return "not timed" end
  local function show(seconds) return units.format(seconds, "s") end
  return ("%s%s (n = %d)"):format(show(self.median), quantity.suffix(self.median, self.low, self.high, show), self.n)
end

--- Whether a value is what mw.bench returns.
---@param value any
---@return boolean
function bench.is_result(value)
  return getmetatable(value) == result_type
end

-- ---- options ------------------------------------------------------------------------------------

-- A list of arrays, or one; an output must be one that can be written.
local function check_arrays(options, name)
  for i, array in ipairs(lists.of(options[name])) do
    local kind = schema.kind(array)
    if kind ~= "array" then
      failure.invalid("mw.bench: option '%s' must be an array or a list of arrays, element %d is a %s", name, i, kind)
    end
    if name == "output" and array:is_readonly() then
      failure.invalid("mw.bench: option 'output': %s is a read-only view; give the array that is written",
        tostring(array))
    end
  end
end

local function limits_of(options)
  schema.check_numbers("mw.bench", options, RANGES)
  check_arrays(options, "output")
  check_arrays(options, "input")
  for name, choices in pairs(CHOICES) do
    local value = options[name]
    if value and not lists.has(choices, value) then
      failure.invalid("mw.bench: option '%s' must be '%s' or '%s', got '%s'", name, choices[1], choices[2], value)
    end
  end
  return lists.merged(DEFAULTS, options)
end

-- ---- the clock ----------------------------------------------------------------------------------

local function device_of(session, options)
  if options.device then return options.device end
  if options.stream then return options.stream:device() end
  local output = lists.of(options.output)[1]
  if core.type(output) == "array" then return output:device() end
  local device = session:device()
  return device and not device:is_offline() and device or nil
end

local function need_device(device, what)
  if not device then failure.invalid("mw.bench: %s needs a device; none is open", what) end
end

local function choose_clock(options, device, job)
  local wanted = options.clock or (device and device:kind() == "gpu" and "device" or "host")
  if wanted == "host" then return clocks.of_all(clocks.host(device), job) end
  need_device(device, "clock = 'device'")
  return clocks.of_all(clocks.events(device, options.stream or device:default_stream()), job)
end

-- The job whose ranks measure together, if it has several.
---@param names string   of contenders, which all ranks have in the same order
local function job_of(session, options, names)
  local job = session.job
  if not job or job.size == 1 or options.collective == false then return nil end
  job.meet("mw.bench" .. names)
  return job
end

-- ---- modes --------------------------------------------------------------------------------------

-- An array to overwrite the caches with.
local function flusher(options, device)
  if not (options.flush or options.cold) then return nil end
  need_device(device, options.cold and "cold = true" or "flush = true")
  local properties = device:properties()
  local bytes = math.max(4 * properties.l2_bytes, 3 * properties.cache_bytes // 2, 64 << 20)
  return device:zeros("u64", bytes // 8)
end

--- A function's work as a graph. That in a stream of the script joins the capture by events.
---@param fn function
---@param device userdata
---@param stream userdata?
---@return userdata graph
function bench.captured(fn, device, stream)
  if not stream then return device:capture(function() fn() end) end
  local fork <close> = device:event { timing = false }
  local join <close> = device:event { timing = false }
  return device:capture(function(s)
    stream:wait(s:record(fork))
    fn()
    s:wait(stream:record(join))
  end)
end

-- The function as a graph, or why not.
local function graph_of(fn, options, device)
  need_device(device, "graph = true")
  local ok, graph = pcall(bench.captured, fn, device, options.stream)
  if not ok then
    if failure.status(graph) == "interrupted" then error(graph, 0) end
    return nil, failure.text(graph)
  end
  if graph:dot():find "\n  n%d" then return graph end -- a node, be it a launch or a copy
  graph:close()
  return nil, "it queued no work in the captured stream"
end

-- A mode of a function; flush: an array to overwrite the caches with before each sample, or nil.
local function new_mode(name, fn, clock, options, flush)
  return modes.new(name, fn, clock, modes.preparation(options.setup, flush, options.stream))
end

-- The main mode, after the function's first call.
local function warm_mode(fn, clock, options, run)
  local mode = new_mode("hot", fn, clock, options, options.flush and run.flush)
  protocol.warm_up(mode, options.warmup)
  return mode
end

-- The modes asked for, the main one first.
local function modes_of(main, options, run)
  local list = { main }
  if options.cold then list[2] = new_mode("cold", main.fn, run.clock, options, run.flush) end
  if run.graph then
    local function replay() run.graph:launch(options.stream) end
    list[#list + 1] = modes.new("graph", replay, run.clock, main.prepare)
  end
  return list
end

-- ---- mw.bench -----------------------------------------------------------------------------------

local function blocked_of(run)
  if run.clock.name ~= "device events" or not run.device:properties().queue_gate then return nil end
  return run.clock.gate ~= nil
end

-- A mode's samples as a result.
local function result_of(mode, run, options)
  local result = setmetatable(stats.summary(mode.samples), result_type)
  result.batch, result.samples, result.clock = mode.batch, mode.samples, run.clock.name
  result.launch, result.blocked = stats.summary(mode.launches), blocked_of(run)
  result.state = run.state
  if run.device then result.device, result.device_name = run.device:id(), run.device:name() end
  result.warnings, result.flags = warning.collect(result, run)
  alarm.add_rates(result, run, options)
  return result
end

-- Adds what a call costs in energy; what is set up before each call would be in it.
local function add_energy(result, fn, options, run)
  local device = run.device
  local why = run.job and "ranks of a job would lose step"
    or not energy.is_counted(device) and "the device has no counter of energy"
    or options.setup and "'setup' comes between its calls"
  if why then
    table.insert(result.warnings, { cause = "its energy is not measured: " .. why,
                                    remedy = "leave out 'energy'" })
  else
    result.energy = energy.of(fn, device, result.median)
  end
end

-- The share of the time that is not spent on the reported samples.
local function cost_of(list, start)
  local sampled, whole = 0, core.clock() - start
  for _, mode in ipairs(list) do sampled = sampled + mode.sampled end
  return whole > 0 and math.max(0.0, 1 - sampled / whole) or 0.0
end

-- The result of a function's modes: that of the first with those of the others in it; no_graph: why one is missing.
local function results_of(list, run, options, no_graph)
  local main = list[1]
  local result = result_of(main, run, options)
  for i = 2, #list do result[list[i].name] = result_of(list[i], run, options) end
  if no_graph then
    table.insert(result.warnings, { cause = "the function cannot be captured into a graph: " .. no_graph,
                                    remedy = "keep synchronisation, reading and allocation out of it" })
  end
  run.main, run.setup = main, options.setup
  alarm.check(result, run, options)
  for _, entry in ipairs(result.alarms) do table.insert(result.flags, "alarm: " .. entry.name) end
  result.name, result.first, result.turns = options.name, main.first, main.turns
  result.launches, result.copies = trace.summary(main.traced)
  if main.turns then result.low, result.high = contest.interval(result) end
  return result
end

local function run_all(fn, options, run)
  local start = core.clock()
  local main, no_graph = warm_mode(fn, run.clock, options, run), nil
  if options.graph then run.graph, no_graph = graph_of(fn, options, run.device) end
  local list = modes_of(main, options, run)
  protocol.measure(list, run)
  local result = results_of(list, run, options, no_graph)
  result.dtype = options.dtype
  if options.energy then add_energy(result, fn, options, run) end
  if result.intensity then declared[#declared + 1] = result end
  result.cost = cost_of(list, start)
  return result
end

-- ---- check mode ---------------------------------------------------------------------------------

-- A result without samples: its numbers are NaN, and so are those that a script makes of them.
local function untimed_result(session, options, device)
  local result = setmetatable(stats.none(), result_type)
  result.samples, result.clock, result.batch, result.first, result.cost = {}, "none", 1, result.median, result.median
  result.launch, result.state = stats.none(), { before = {}, after = {} }
  result.warnings, result.flags, result.alarms = {}, {}, {}
  result.device, result.device_name, result.name, result.dtype = device:id(), device:name(), options.name, options.dtype
  alarm.add_rates(result, { session = session, device = device }, options)
  result.peak_share = result.peak_share and result.median
  return result
end

-- Runs the function once: on a device in check mode a time says nothing.
local function run_once(session, fn, options, device)
  if options.setup then options.setup() end
  fn()
  device:synchronize()
  local result = untimed_result(session, options, device)
  for _, name in ipairs { "cold", "graph" } do
    if options[name] then result[name] = untimed_result(session, options, device) end
  end
  return result
end

-- ---- contenders ---------------------------------------------------------------------------------

-- A contender, with the options of all and what it declares, and its own clock: one that cannot be held behind a
-- gate leaves the others theirs.
local function new_contender(one, options, run)
  local own = setmetatable(lists.merged(one), { __index = options })
  local clock = choose_clock(own, own.device or run.device, run.job)
  local mode = warm_mode(one.fn, clock, own, run)
  mode.title = one.name
  return { mode = mode, options = own,
           run = setmetatable({ clock = clock, stream = own.stream, device = own.device }, { __index = run }) }
end

local function names_of(list)
  return " of " .. table.concat(lists.map(list, function(one) return one.name end), ", ")
end

local function close_clocks(contenders)
  for _, contender in ipairs(contenders) do
    local _ <close> = contender.mode.clock
  end
end

--- Measures contenders in turn: for each turn a share of the least time.
---@param session table      whose device is the default, and whose checks alarms fail
---@param list table[]       { name =, fn =, and of its own: bytes (moved a call), device, stream, setup }
---@param options table      of mw.bench, but cold and graph; more_time: how warnings say it is given; fill: how many
---                          samples fill the least time
---@param after function?    called with a contender's place and its mode (samples, turns, done) after each turn
---@return table[] results   in the order of the list, as of mw.bench, and turns: where each began in samples
function bench.turns(session, list, options, after)
  local device = device_of(session, options)
  local limits = limits_of(options)
  if checking.is_on(device) then
    return lists.map(list, function(one)
      return run_once(session, one.fn, setmetatable(lists.merged(one), { __index = options }), device)
    end)
  end
  local flush <close> = flusher(options, device)
  local run = { session = session, limits = limits, device = device, flush = flush, more_time = options.more_time,
                job = job_of(session, options, names_of(list)) }
  local contenders <close> = setmetatable({}, { __close = close_clocks })
  for i, one in ipairs(list) do contenders[i] = new_contender(one, options, run) end
  protocol.turns(lists.map(contenders, function(one) return one.mode end), run, after)
  return lists.map(contenders, function(one)
    local result = results_of({ one.mode }, one.run, one.options)
    if options.energy then add_energy(result, one.mode.fn, one.options, one.run) end
    return result
  end)
end

-- mw.bench { naive = f, tiled = g }
local function run_contenders(session, given, options)
  for _, name in ipairs { "cold", "graph" } do
    if options[name] then
      failure.invalid("mw.bench: option '%s' is for one function; contenders are measured hot", name)
    end
  end
  return contest.results(bench.turns(session, contest.read(given), options))
end

-- ---- one function -------------------------------------------------------------------------------

--- Measures a function: warm-up, then samples until the median is steady.
--- Options: noise (0.005, relative standard error of the median), min_time (0.5 s), min_samples
--- (10), max_time (15 s), samples (exactly so many instead), batch (calls per sample, 1e7 at most; chosen by
--- itself), warmup (further calls before), setup (function called before each sample, untimed; one
--- call per sample), flush (true: the device's caches are overwritten before each sample), cold (true:
--- that next to the rest, as result.cold), graph (true: captured and replayed next to the rest, as
--- result.graph), device, stream (whose clock; the last device opened), clock ("device" or "host").
--- Declared by the script, for rates and for alarms on results that cannot be: bytes (moved a call),
--- flops (operations per call), output, input (an array or a list: written whole by each call; read),
--- copies (true: the output may equal the input), peak (B/s), peak_flops (flop/s), dtype (of the
--- operations, for mw.roofline), name (what alarms and mw.roofline call the function), quiet (alarms
--- are not printed), energy (true: that of a call, as result.energy, over a second of calls and a second without),
--- collective (false: in an MPI job this rank measures by itself; else all do, and a time is the greatest of theirs).
--- A table of functions, { naive = f, tiled = g } or { { "naive", f }, ... } for an order of one's own,
--- is measured in turn; the options are those of each (not cold and graph). Its result is a list of
--- results, found by name too, with ratio("tiled", "naive"): how many times as fast, as value, low and
--- high (95 %).
--- On a device in check mode nothing is timed: the function runs once, n is 0, and every time and rate is NaN.
---@param session table       whose device is the default, and whose checks alarms fail
---@param fn function|table   called without arguments
---@param options table?
---@return table result       seconds per call: median, low, high (its 95 % interval; number / result is a
---                           quantity, which keeps it), min, max, mean,
---                           sd, mad, p05, p25, p75, p95; noise (relative); n, batch, first (the
---                           first call), samples, launch (summary of the host's seconds to issue a
---                           call), blocked, cost, state { before, after }, flags, clock, device,
---                           device_name, warnings { cause, remedy }, alarms { name, cause,
---                           remedy }, name, dtype, bytes, flops, throughput, rate, intensity, peak_share, cold,
---                           graph, energy { joules, power, idle_power, calls, seconds }
function bench.run(session, fn, options)
  session:check_known()
  local is_table = type(fn) == "table" and not getmetatable(fn)
  if type(fn) ~= "function" and not is_table and not (getmetatable(fn) and core.type(fn) == "launch") then
    failure.invalid("mw.bench: a function is wanted, got %s; as in mw.bench(function() go(x, n) end)",
      schema.kind(fn))
  end
  options = schema.options("mw.bench", options, SPEC)
  if is_table then return run_contenders(session, fn, options) end
  local limits, device = limits_of(options), device_of(session, options)
  if checking.is_on(device) then return run_once(session, fn, options, device) end
  local job = job_of(session, options, "")
  local clock <close> = choose_clock(options, device, job)
  local flush <close> = flusher(options, device)
  local run = { session = session, job = job, clock = clock, limits = limits, device = device, flush = flush,
                stream = options.stream }
  local _ <close> = setmetatable({}, { __close = function() if run.graph then run.graph:close() end end })
  return run_all(fn, options, run)
end

--- The results of this process whose bytes and flops were declared, in order.
---@return table[]
function bench.declared()
  return declared
end

-- ---- for records --------------------------------------------------------------------------------

--- The keys of a result in the order in which a record shows them.
bench.order = {
  "median", "low", "high", "min", "max", "mean", "sd", "mad", "p05", "p25", "p75", "p95", "noise", "n",
  "batch", "first", "name", "dtype", "bytes", "flops", "throughput", "rate", "intensity", "peak_share", "clock",
  "blocked", "device", "device_name", "launch", "cost", "flags", "warnings", "alarms", "state",
  "cold", "graph", "energy", "launches", "copies", "turns", "samples",
}

local function plain(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, inner in pairs(value) do copy[key] = plain(inner) end
  return copy
end

local MAY_BE_EMPTY <const> = { "warnings", "flags", "alarms", "launches", "copies" }

--- A result as a plain table for a record, with all samples and the results of the other modes.
--- Empty lists are left out.
---@param result table
---@return table
function bench.fields(result)
  if result.n == 0 then return { n = 0 } end -- in check mode; JSON has no NaN
  local copy = plain(result)
  for _, one in ipairs { copy, copy.cold, copy.graph } do
    for _, name in ipairs(MAY_BE_EMPTY) do
      if one[name] and next(one[name]) == nil then one[name] = nil end
    end
  end
  return copy
end

--- The result of another process, from its plain table.
---@param copy table  of bench.fields; becomes the result
---@return table result
function bench.restore(copy)
  if copy.n == 0 then return setmetatable(stats.none(), result_type) end
  for _, one in ipairs { copy, copy.cold, copy.graph } do
    for _, name in ipairs(MAY_BE_EMPTY) do one[name] = one[name] or {} end
  end
  return setmetatable(copy, result_type)
end

return bench
