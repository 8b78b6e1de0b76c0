-- SPDX-License-Identifier: MIT
--
-- What may be wrong with a measurement: warnings, each with cause and remedy, and flags, the same as
-- words for a table. Neither changes a number: a row with a flag stays a row.

local environment = require "moonwarp.measure.environment"
local lists = require "moonwarp.base.lists"
local stats = require "moonwarp.measure.stats"
local units = require "moonwarp.base.units"

local warning = {}

-- A clock that fell by more than this between the begin and the end of a measurement.
local CLOCK_FELL = 0.05
-- Others' share of all cores, above which the host is busy.
local BUSY = 0.25
-- Reasons for a lower clock that are no fault: nothing to do, or a choice of the machine's owner.
local HARMLESS = { ["idle"] = true, ["application clocks"] = true, ["display clocks"] = true,
                   ["sync boost"] = true }

local function percent(value)
  return units.digits(value * 100.0, 2) .. " %"
end

-- Each: the word for a table, if it has one, and a function that returns a cause and a remedy, or nothing; in the
-- order in which they are reported.
local WARNINGS = {
  { flag = "few samples", find = function(result, run)
    local limits = run.limits
    if limits.samples or result.n >= limits.min_samples then return end
    return ("only %d samples fitted into %g s"):format(result.n, limits.max_time),
      "make the problem smaller, or give it more time with " .. (run.more_time or "{ max_time = seconds }")
  end },
  { find = function(result, run) -- its flag does not ask whether the number of samples was given
    local limits = run.limits
    if limits.samples or result.noise <= limits.noise then return end
    return ("noise %s, not %s"):format(percent(result.noise), percent(limits.noise)),
      "close other programs, or give more time: " .. (run.more_time or "{ max_time = seconds }")
  end },
  { find = function(result, run)
    local resolution = run.clock.resolution
    if result.median * result.batch >= 10 * resolution then return end
    return ("a sample takes %s, too little for a clock of %s"):format(
      units.format(result.median * result.batch, "s", 3), units.format(resolution, "s", 2)),
      "leave batch out, so that calls are timed in batches"
  end },
  { flag = "outliers", find = function(result)
    local count = stats.outliers(result.samples)
    if count * 10 <= result.n or result.n < 10 then return end
    return ("%d of %d samples are far from the median"):format(count, result.n),
      "something else uses the machine, or its clock changes"
  end },
  { flag = "not blocked", find = function(result, run)
    if result.blocked ~= false then return end
    return ("the launches are in the times: %s"):format(run.clock.unblocked),
      "time only the kernels, or a whole phase with { clock = 'host' }"
  end },
  { find = function(result, run)
    if run.clock.name ~= "device events" or result.blocked then return end
    if result.launch.median < 0.9 * result.median then return end
    return ("the device waits for the host, which needs %s to issue a call"):format(
      units.format(result.launch.median, "s", 3)),
      "use a larger problem, or put the launches into a graph"
  end },
}

local function add_throttling(flags, state)
  for _, moment in ipairs { state.before, state.after } do
    for _, reason in ipairs(moment.reasons or {}) do
      local flag = "throttled: " .. reason
      if not HARMLESS[reason] and not lists.has(flags, flag) then flags[#flags + 1] = flag end
    end
  end
end

local function clock_fell(state)
  local before, after = state.before.clock, state.after.clock
  return before and after and after < (1 - CLOCK_FELL) * before
end

local function add_state(flags, state, run)
  add_throttling(flags, state)
  -- a processor's clock follows its work from moment to moment: so this says nothing there
  if run.device:kind() == "gpu" and clock_fell(state) then flags[#flags + 1] = "clock fell" end
end

--- What may be wrong with a result.
---@param result table      with state
---@param run table         limits, clock, device, others (the share of all cores that other programs took)
---@return table[] warnings { cause =, remedy = }
---@return string[] flags
function warning.collect(result, run)
  local warnings, flags = {}, { result.noise > run.limits.noise and "noisy" or nil }
  for _, one in ipairs(WARNINGS) do
    local cause, remedy = one.find(result, run)
    if cause then warnings[#warnings + 1], flags[#flags + 1] = { cause = cause, remedy = remedy }, one.flag end
  end
  if run.others and run.others > BUSY then flags[#flags + 1] = "busy host" end
  local allocation = environment.allocation()
  if allocation and allocation.shared then flags[#flags + 1] = "shared node" end
  if result.state then add_state(flags, result.state, run) end
  return warnings, flags
end

return warning
