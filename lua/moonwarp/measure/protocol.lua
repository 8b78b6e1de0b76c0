-- SPDX-License-Identifier: MIT
--
-- The protocol of a measurement: one call apart (compilation, first touch), warm-up, the batch that
-- each mode needs, then rounds of one sample a mode until each mode's noise, least time and least
-- number are reached, or the time limit is. Samples of the modes alternate, so that a change of the
-- machine's pace meets all of them. Contenders alternate in turns of several samples: the untimed
-- call that warms the caches before each turn would otherwise cost as much as the samples.
-- Depends on moonwarp.core, measure.environment, measure.mode, measure.stats.

local core = require "moonwarp.core"
local environment = require "moonwarp.measure.environment"
local modes = require "moonwarp.measure.mode"
local stats = require "moonwarp.measure.stats"

local protocol = {}

local MOST_SAMPLES = 100000
local TURNS = 5 -- that the least time, or the given number of samples, is divided into
local LONG = 0.05 -- seconds of a call beside which filling the caches anew is nothing
local LEAST = 3 -- samples of a contender, however slow it is: fewer have no interval

local function is_enough(mode, limits)
  local n = #mode.samples
  if n >= MOST_SAMPLES then return true end
  if limits.samples then return n >= limits.samples end
  if n < limits.min_samples or mode.sampled < limits.min_time or n < mode.next_look then
    return false
  end
  mode.next_look = math.ceil(n * 1.1) -- looking sorts the samples
  return stats.noise(mode.samples) <= limits.noise
end

-- One sample of each mode that wants more; how many still do.
local function take_round(list, clock, limits)
  local open = 0
  for _, mode in ipairs(list) do
    if not mode.done then
      modes.sample(mode, clock, #list > 1)
      mode.done = is_enough(mode, limits)
      if not mode.done then open = open + 1 end
    end
  end
  return open
end

local function take_samples(list, clock, limits)
  local start = core.clock()
  repeat
    local open = take_round(list, clock, limits)
    local late = not limits.samples and core.clock() - start >= limits.max_time
  until open == 0 or late
end

--- The first call and those that the script asks for, without a gate.
---@param mode table
---@param clock table
---@param count integer?  further calls
---@return number seconds  of the first
function protocol.warm_up(mode, clock, count)
  local first
  for _ = 0, count or 0 do
    if mode.prepare then mode.prepare() end
    local t = clock.measure(mode.fn, 1, 0)
    first = first or t
  end
  return first
end

--- Measures until all modes have enough.
---@param list table[]     modes
---@param run table        clock, limits, device; gets state and others
function protocol.measure(list, run)
  for _, mode in ipairs(list) do modes.calibrate(mode, run.clock, run.limits) end
  local watch = environment.watch(run.device)
  take_samples(list, run.clock, run.limits)
  run.state, run.others = watch()
end

-- A turn: samples for a share of the least time, the first one after an untimed call, where that could show.
local function take_turn(mode, limits)
  local start, sampled, before = core.clock(), mode.sampled, #mode.samples
  local is_long = (mode.samples[before] or mode.first) > LONG
  local count = limits.samples and math.ceil(limits.samples / TURNS)
  mode.turns[#mode.turns + 1] = before + 1
  repeat
    modes.sample(mode, mode.clock, #mode.samples == before and not is_long)
    mode.spent = mode.spent + core.clock() - start
    start = core.clock()
    local late = not limits.samples and mode.spent >= limits.max_time and #mode.samples >= LEAST
    mode.done = late or is_enough(mode, limits)
    local full = count and #mode.samples - before >= count
      or not count and mode.sampled - sampled >= limits.min_time / TURNS
  until mode.done or full
end

--- Measures contenders in turn, each until it has enough or has spent the time limit.
---@param list table[]      modes, each with its clock and the seconds of its first call; each gets turns: where its
---                         turns begin in its samples
---@param run table         limits, device; gets state and others
---@param after function?   called with a contender's place in the list and its mode after each of its turns
function protocol.turns(list, run, after)
  for _, mode in ipairs(list) do
    modes.calibrate(mode, mode.clock, run.limits)
    mode.turns, mode.spent = {}, 0
  end
  local watch = environment.watch(run.device)
  repeat
    local open = 0
    for i, mode in ipairs(list) do
      if not mode.done then
        take_turn(mode, run.limits)
        if not mode.done then open = open + 1 end
        if after then after(i, mode) end
      end
    end
  until open == 0
  run.state, run.others = watch()
end

return protocol
