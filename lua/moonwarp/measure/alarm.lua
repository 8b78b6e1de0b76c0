-- SPDX-License-Identifier: MIT
--
-- Results that cannot be: faster than the device, faster than a launch, not finished when the clock
-- stopped, nothing written, nothing computed. Each alarm says why and what to do, and the run ends
-- with status 3 as after a failed check: such a number must not reach a table unseen.
--
-- What a function moves, computes, reads and writes is declared by the script: mw.bench cannot see
-- it. An undeclared thing raises no alarm.

local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local lists = require "moonwarp.base.lists"
local own_kernels = require "moonwarp.own_kernels"
local units = require "moonwarp.base.units"

local alarm = {}

-- Clocks and declared numbers are not exact: a rate is impossible from here on.
local OVER_PEAK = 1.01
-- A measured ceiling is not a hard limit: the next kernel may be a little better.
local OVER_CEILING = 1.10
-- A sample below this share of an empty launch held no launch.
local BELOW_LAUNCH = 0.5
local LAUNCHES = 128
-- Work that outlasts the clock: this share of the sample, and longer than a synchronisation takes
-- that finds nothing to wait for. On the CPU device that is the time until a thread is woken.
local LEFT_OVER = 0.25
local LEAST_LEFT = { gpu = 50e-6, cpu = 1e-3 } -- s

local PROOF = "moonwarp/proof.cu"
local SEED = 0x6d6f6f6e77617270
-- A written byte holds the pattern in one of 256 runs: this many bytes must agree before it is said
-- that an element was not written.
local PROOF_BYTES = 8
local WORDS = { [1] = "unsigned char", [2] = "unsigned short", [4] = "unsigned",
                [8] = "unsigned long long" }

-- ---- ceilings -----------------------------------------------------------------------------------

-- The rate that main memory cannot exceed, how far over it is impossible, and whose word that is.
local function memory_peak(run, options)
  if options.peak then return options.peak, OVER_PEAK, "the peak given" end
  local device = run.device
  if not device then return nil end
  local theoretical = device:peak_bandwidth()
  if theoretical then return theoretical, OVER_PEAK, device:id() .. "'s peak" end
  local measured = run.session.ceilings[device:id()] -- by mw.roofline
  if measured then return measured.bandwidth, OVER_CEILING, "the ceiling measured on " .. device:id() end
end

-- The bytes that a call touches: what fits a cache may be faster than main memory.
local function working_set(options)
  local sum = 0
  for _, name in ipairs { "output", "input" } do
    for _, array in ipairs(lists.of(options[name])) do sum = sum + array:nbytes() end
  end
  return sum > 0 and sum or options.bytes
end

local function is_cached(run, options)
  if options.peak or not run.device then return false end
  return working_set(options) <= 2 * run.device:properties().cache_bytes
end

-- ---- rates --------------------------------------------------------------------------------------

-- What a call does a second: the field and its unit, its peak (the rate, how far over it is impossible, and whose word
-- that is), why more may be right, and what else is to be counted again.
local RATES = {
  { field = "throughput", unit = "B/s", peak_of = memory_peak, is_excused = is_cached,
    what = "what a call reads and writes" },
  { field = "rate", unit = "flop/s", is_excused = function() return false end, what = "the operations of a call",
    peak_of = function(_, options) return options.peak_flops, OVER_PEAK, "the peak given" end },
}

-- The larger of what was reached of both peaks.
local function share_of(result, run, options)
  local share
  for _, one in ipairs(RATES) do
    local peak = result[one.field] and one.peak_of(run, options)
    if peak then share = math.max(share or 0, result[one.field] / peak) end
  end
  return share
end

--- Adds what follows from the declared bytes and operations: throughput, rate, intensity,
--- peak_share.
---@param result table
---@param run table      device
---@param options table  bytes, flops, peak, peak_flops
function alarm.add_rates(result, run, options)
  local t = result.median
  result.bytes, result.flops = options.bytes, options.flops
  if t <= 0 then return end
  if options.bytes then result.throughput = options.bytes / t end
  if options.flops then result.rate = options.flops / t end
  if options.bytes and options.flops and options.bytes > 0 then
    result.intensity = options.flops / options.bytes
  end
  result.peak_share = share_of(result, run, options)
end

-- The kernels that look at memory, compiled when an alarm first needs them; nil if they cannot be.
local function proof_of(device)
  local ok, module = pcall(own_kernels.module, device, PROOF)
  return ok and module or nil
end

-- ---- the alarms: each returns a cause and a remedy, or nothing ----------------------------------

local alarms = {}

function alarms.above_peak(result, run, options)
  for _, one in ipairs(RATES) do
    local rate, peak, over, whose = result[one.field], one.peak_of(run, options)
    if rate and peak and rate > over * peak and not one.is_excused(run, options) then
      return ("%s is more than %s of %s"):format(units.format(rate, one.unit), whose, units.format(peak, one.unit)),
        ("count again %s, and see that it does all of its work"):format(one.what)
    end
  end
end

-- The least seconds of an empty launch, measured as the result was; the fastest of both are compared,
-- which a busy machine slows the least.
local function empty_launch(run)
  local module = proof_of(run.device)
  if not module then return nil end
  local go <close> = module:kernel("nothing"):prepare { grid = 1, block = 1, stream = run.stream }
  local least = math.huge
  for _ = 1, 7 do
    least = math.min(least, run.clock.measure(function() go() end, LAUNCHES, LAUNCHES) / LAUNCHES)
  end
  return least
end

function alarms.too_fast(result, run, options)
  if not (run.device and (options.bytes or options.flops or options.output)) then return end
  if result.min > 1e-4 then return end -- no launch takes so long: nothing to measure
  local launch = empty_launch(run)
  if not launch or result.min >= BELOW_LAUNCH * launch then return end
  return ("a call took %s, a launch that does nothing %s"):format(units.format(result.min, "s"),
    units.format(launch, "s")),
    "see that the function launches its kernel, on the device that is measured"
end

-- Seconds that the device works after the clock has stopped, and those of the sample.
local function left_over(run)
  if run.setup then run.setup() end
  run.device:synchronize()
  local t = run.clock.measure(run.main.fn, run.main.batch, run.main.lead)
  local stopped = core.clock()
  run.device:synchronize()
  return core.clock() - stopped, t
end

-- A sample this long is not an accident of the machine.
local LONG = 0.02

-- Four tries of five must say so: any may meet a moment in which the machine did something else.
function alarms.not_synchronised(_, run)
  if run.clock.name ~= "device events" then return end -- the host's clock waits for the device
  local least = LEAST_LEFT[run.device:kind()]
  local idle, most, of = 0, 0, 0
  for _ = 1, 5 do
    local left, t = left_over(run)
    if left > math.max(LEFT_OVER * t, least) then most, of = left, t else idle = idle + 1 end
    if idle == 2 or idle == 1 and t > LONG then return end
  end
  return ("the device works for another %s after the %s that were measured"):format(
    units.format(most, "s"), units.format(of, "s")),
    "give mw.bench the stream that the work is in, or let the measured stream wait for the others"
end

-- ---- what a run writes --------------------------------------------------------------------------

local function launch_over(run, name, array, ...)
  own_kernels.launch(run.device, PROOF, ("%s<%s>"):format(name, WORDS[dtypes[array:dtype()].size]), #array, array, ...)
end

-- Kernels of the device can look at it.
local function is_in_reach(array, device)
  return device and array:device() == device
    and (array:space() ~= "pageable" or device:properties().pageable_access) and proof_of(device)
end

-- A setup may write the output, so the writes to the output in between come after it; streams may
-- be of the kind that waits for no other.
local function run_behind(run, between)
  if run.setup then run.setup() end
  run.device:synchronize()
  between()
  run.device:synchronize()
  run.main.fn()
  run.device:synchronize()
end

local function run_over_pattern(array, run, seed)
  run_behind(run, function() launch_over(run, "poison", array, seed, #array) end)
end

-- A copy of the array, if there is room for one.
local function saved(array, device)
  if device:memory() < 2 * array:nbytes() then return nil end
  local ok, copy = pcall(device.empty, device, array:dtype(), array:shape())
  return ok and copy:copy(array) or nil
end

-- Which elements keep the pattern of one more run; those of earlier runs that do not are cleared.
local function suspect_again(array, suspects, count, run, round)
  local seed = SEED + round
  if round > 1 then run_over_pattern(array, run, seed) end
  launch_over(run, "suspect", array, seed, suspects, round > 1 and 1 or 0, #array)
  count:set(1, 0)
  own_kernels.launch(run.device, PROOF, "count_suspects", #array, suspects, count, #array)
  return count:get(1)
end

-- How many elements keep the pattern of every run. Where the first one leaves none, that is all.
local function count_unwritten(array, run)
  local count <close> = run.device:zeros("u64", 1)
  run_over_pattern(array, run, SEED + 1)
  launch_over(run, "count_poisoned", array, SEED + 1, count, #array)
  if count:get(1) == 0 then return 0 end
  local suspects <close> = run.device:empty("u8", #array)
  local left
  for round = 1, math.max(2, PROOF_BYTES // dtypes[array:dtype()].size) do
    left = suspect_again(array, suspects, count, run, round)
    if left == 0 then break end
  end
  return left
end

-- How many elements a call leaves as they are, on data as it should be: no fewer are unwritten. For a
-- function that adds to its output, which the pattern's enormous values can swallow.
local function count_kept(array, run)
  local given
  run_behind(run, function() given = saved(array, run.device) end)
  if not given then return #array end
  local there <close> = given
  local count <close> = run.device:zeros("u64", 1)
  launch_over(run, "count_equal", array, there, count, #array)
  return count:get(1)
end

local function unwritten_in(array, run)
  local before <close> = saved(array, run.device)
  local count = count_unwritten(array, run)
  if count == 0 or not before then return count end
  array:copy(before)
  count = math.min(count, count_kept(array, run))
  array:copy(before)
  return count
end

function alarms.not_written(_, run, options)
  for _, array in ipairs(lists.of(options.output)) do
    local count = is_in_reach(array, run.device) and unwritten_in(array, run) or 0
    if count > 0 then
      return ("%d of %d elements of %s are not written by a call"):format(count, #array, tostring(array)),
        "see that the grid covers the array, or declare as output the view that is written; "
        .. "an array that is read as well is none"
    end
  end
end

-- The same bits, in different memory, and not one value throughout, which proves nothing.
local function is_copy(output, input, run)
  if output:dtype() ~= input:dtype() or #output ~= #input or output:address() == input:address() then
    return false
  end
  local found <close> = run.device:zeros("u64", 2)
  launch_over(run, "compare", output, input, found, #output)
  return found:get(1) == 0 and found:get(2) == 1
end

function alarms.copied(_, run, options)
  if options.copies then return end
  for _, output in ipairs(lists.of(options.output)) do
    for _, input in ipairs(lists.of(options.input)) do
      if is_in_reach(output, run.device) and is_in_reach(input, run.device) and is_copy(output, input, run) then
        return ("the output %s holds what the input %s holds"):format(tostring(output), tostring(input)),
          "see that the function computes; for one that is to copy say { copies = true }"
      end
    end
  end
end

-- The last two look at what a run leaves in the output, so the one that poisons it comes first.
local ORDER = { "above_peak", "too_fast", "not_synchronised", "not_written", "copied" }

-- These call the function as often as what they find asks for: ranks of a job would lose step.
local ALONE = { not_synchronised = true, not_written = true }

-- ---- raising them -------------------------------------------------------------------------------

--- Looks for results that cannot be, and says so on standard error.
---@param result table   of mw.bench; gets alarms { name, cause, remedy }
---@param run table      session, job (of several ranks), device, stream, clock, main (the mode), setup
---@param options table  bytes, flops, output, input, copies, peak, peak_flops, quiet, name
function alarm.check(result, run, options)
  result.alarms = {}
  for _, name in ipairs(ORDER) do
    local cause, remedy
    if not (run.job and ALONE[name]) then cause, remedy = alarms[name](result, run, options) end
    if cause then
      table.insert(result.alarms, { name = name, cause = cause, remedy = remedy })
      local text = ("mw.bench: %s%s; %s"):format(options.name and options.name .. ": " or "", cause, remedy)
      run.session:note_check { what = name, ok = false, text = text }
      run.session:fail_check()
      if not options.quiet then io.stderr:write(text, "\n") end
    end
  end
end

return alarm
