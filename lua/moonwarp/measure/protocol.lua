-- SPDX-License-Identifier: MIT
--
-- The protocol of a measurement: one call apart (compilation, first touch), warm-up, the batch that
-- each mode needs, then rounds of one sample a mode until each mode's noise, least time and least
-- number are reached, or the time limit is. Samples of the modes alternate, so that a change of the
-- machine's pace meets all of them. Contenders alternate in turns of several samples: the untimed
-- call that warms the caches before each turn would otherwise cost as much as the samples.

local core = require "moonwarp.core"
local environment = require "moonwarp.measure.environment"
local modes = require "moonwarp.measure.mode"
local range = require "moonwarp.measure.range"
local stats = require "moonwarp.measure.stats"
local trace = require "moonwarp.measure.trace"

local protocol = {}

local MOST_SAMPLES = 100000
local TURNS = 5 -- that the least time, or the given number of samples, is divided into
local LONG = 0.05 -- seconds of a call compared with which filling the caches anew is nothing
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

-- Whether a limit of time is reached: of a job rank 0 says so.
local function is_late(run, yes)
  if run.job then return run.job.decide(yes) end
  return yes
end

-- Chooses each mode's batch; then calls take(mode, its place) of each that is not done, in rounds, until all are. After
-- this many seconds no further round begins.
local function take_rounds(list, run, seconds, take)
  for _, mode in ipairs(list) do modes.calibrate(mode, run.limits) end
  local watch, start = environment.watch(run.device), core.clock()
  repeat
    local open = false
    for i, mode in ipairs(list) do
      if not mode.done then
        take(mode, i)
        open = open or not mode.done
      end
    end
  until not open or seconds < math.huge and is_late(run, core.clock() - start >= seconds)
  run.state, run.others = watch()
end

--- The first call and those that the script asks for, without a gate.
---@param mode table      gets first: the seconds of the first call; traced: what it launched and copied
---@param count integer?  further calls
function protocol.warm_up(mode, count)
  mode.traced = {}
  for i = 0, count or 0 do
    if mode.prepare then mode.prepare() end
    local _ <close> = i == 0 and trace.into(mode.traced) or nil
    local t = mode.clock.measure(mode.fn, 1, 0)
    mode.first = mode.first or t
  end
end

--- Measures until all modes have enough.
---@param list table[]     modes, each with its clock
---@param run table        limits, device; gets state and others
function protocol.measure(list, run)
  local limits = run.limits
  take_rounds(list, run, limits.samples and math.huge or limits.max_time, function(mode)
    modes.sample(mode, #list > 1)
    mode.done = is_enough(mode, limits)
  end)
end

-- A turn: samples for a share of the least time, the first one after an untimed call if that could matter. Profilers
-- show it as a range.
local function take_turn(mode, run)
  local limits = run.limits
  local _ <close> = range.open(mode.title)
  local start, sampled, before = core.clock(), mode.sampled, #mode.samples
  local is_long = (mode.samples[before] or mode.first) > LONG
  local count = limits.samples and math.ceil(limits.samples / TURNS)
  mode.turns[#mode.turns + 1] = before + 1
  repeat
    modes.sample(mode, #mode.samples == before and not is_long)
    mode.spent = mode.spent + core.clock() - start
    start = core.clock()
    local late = not limits.samples and #mode.samples >= LEAST and is_late(run, mode.spent >= limits.max_time)
    mode.done = late or is_enough(mode, limits)
    local full = count and #mode.samples - before >= count
      or not count and mode.sampled - sampled >= limits.min_time / TURNS
  until mode.done or full
end

--- Measures contenders in turn, each until it has enough or has spent the time limit.
---@param list table[]      modes, each with its title, clock and the seconds of its first call; each gets turns: where
---                         its turns begin in its samples
---@param run table         limits, device; gets state and others
---@param after function?   called with a contender's place in the list and its mode after each of its turns
function protocol.turns(list, run, after)
  for _, mode in ipairs(list) do mode.turns, mode.spent = {}, 0 end
  take_rounds(list, run, math.huge, function(mode, i)
    take_turn(mode, run)
    if after then after(i, mode) end
  end)
end

return protocol
