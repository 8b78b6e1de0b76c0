-- SPDX-License-Identifier: MIT
--
-- How a function can be run for a sample: hot (many calls in a row), cold (the caches overwritten
-- before each), graph (captured once, replayed). A mode keeps what was measured in it.

local core = require "moonwarp.core"
local clocks = require "moonwarp.measure.clock"

local mode = {}

-- A sample is made this many times longer than the clock's resolution.
local RESOLUTIONS = 200
-- And so long that about this many fill the least time, unless its user says how many: the first calls behind a gate
-- begin up to 0.3 us later than the ones after them, which in 5 ms is nothing.
local SAMPLES, ROUGH = 100, 1 / 8
-- Times above this many of the wanted one are not due to a busy host.
local MOST_DOUBTED = 10
local MOST_CALLS = 1 << 20
-- Calls queued while the gate is shut: the driver takes about a thousand launches, then its caller
-- waits, and a call may be several launches.
local MOST_HELD = 256
-- A device that needs this much longer for a call than the host needs to issue it never runs dry,
-- once it is this many seconds behind.
local SAFE_PACE = 1.25
local HEAD_START = 100e-6
-- Samples that the device began too early are taken again, so often in a row.
local MOST_FORCED = 3

local WAITS = "the function waits for the device, or needs more than 50 ms to queue its work"

--- A mode with nothing measured.
---@param name string        "hot", "cold", "graph"
---@param fn function
---@param clock table        that it is measured by
---@param prepare function?  called before each sample, outside its time; a sample is one call then
---@return table
function mode.new(name, fn, clock, prepare)
  return { name = name, fn = fn, clock = clock, prepare = prepare, batch = 1, lead = 1, samples = {}, launches = {},
           sampled = 0, next_look = 0, forced = 0 }
end

--- What happens before each sample: the script's setup, then the caches are overwritten, in the
--- stream that is measured.
---@param setup function?
---@param flush userdata?   an array larger than the caches
---@param stream userdata?
---@return function?
function mode.preparation(setup, flush, stream)
  if not setup and not flush then return nil end
  return function()
    if setup then setup() end
    if flush then core.clear(flush, stream) end
  end
end

local function stop_if_interrupted()
  if core.interrupted() then core.raise("interrupted", "interrupted") end
end

-- ---- calls per sample ---------------------------------------------------------------------------

-- How many of a batch are queued behind the gate, from the seconds per call of device and host.
local function lead_of(batch, pace, issue)
  if pace < SAFE_PACE * issue then return math.min(batch, MOST_HELD) end
  return math.max(1, math.min(batch, MOST_HELD, math.ceil(HEAD_START / pace) + 1))
end

-- A host that cannot keep up must have queued everything before the device begins.
local function most_calls(self, pace, issue)
  return self.clock.gate and pace < SAFE_PACE * issue and MOST_HELD or MOST_CALLS
end

-- The device had to be let go: with one call a gate is of no use, with more there were too many.
local function shrink(self, batch)
  if batch > 1 then return batch // 2 end
  clocks.unblock(self.clock, WAITS)
  return MOST_CALLS
end

-- A batch that fills the wanted time is measured once more: the host may have been busy with
-- something else, which would leave the batch too small.
local function measure_twice(self, batch, lead, target)
  local t, issue, forced = self.clock.measure(self.fn, batch, lead)
  if forced or t < target or t > MOST_DOUBTED * target then return t, issue, forced end
  local again, issue_again, forced_again = self.clock.measure(self.fn, batch, lead)
  return math.min(t, again), math.min(issue, issue_again), forced_again
end

-- Grows the batch until it fills the wanted time, or a share of it that tells enough; what was measured on the way is
-- the warm-up.
local function grow(self, target, share)
  local batch, lead, most = 1, 1, MOST_CALLS
  while true do
    stop_if_interrupted()
    local t, issue, forced = measure_twice(self, batch, lead, target)
    if forced then
      most = shrink(self, batch)
      batch = math.min(batch, most)
      lead = batch
    else
      local pace = t / batch
      most = math.min(most, most_calls(self, pace, issue))
      if t >= target or batch >= most then return batch, lead_of(batch, pace, issue) end
      local growth = t > 0 and math.ceil(batch * target / t * 1.1) or batch * 8
      batch = math.min(growth, batch * 8, most)
      lead = lead_of(batch, pace, issue)
      if t >= share * target then return batch, lead end
    end
  end
end

-- The batch is given: how many of its calls the gate takes before the driver's queue is full, or
-- that it is of no use.
local function find_lead(self)
  while self.clock.gate do
    stop_if_interrupted()
    if self.prepare then self.prepare() end
    local _, _, forced = self.clock.measure(self.fn, self.batch, self.lead)
    if not forced then return end
    if self.lead == 1 then clocks.unblock(self.clock, WAITS) end
    self.lead = math.max(self.lead // 4, 1)
  end
end

--- Chooses the batch; the calls are the warm-up.
---@param self table
---@param limits table  batch, min_time, fill (samples that fill it)
function mode.calibrate(self, limits)
  if limits.batch or self.prepare then
    self.batch = limits.batch or 1
    self.lead = math.min(self.batch, MOST_HELD)
    find_lead(self)
    return
  end
  local target = math.max(RESOLUTIONS * self.clock.resolution, limits.min_time / (limits.fill or SAMPLES))
  self.batch, self.lead = grow(self, target, limits.fill and ROUGH or 1)
end

-- ---- samples ------------------------------------------------------------------------------------

--- Takes one sample. One that the device began before the host had queued it is taken again.
---@param self table
---@param warm boolean  another mode has run since the last sample: one call more, not timed
function mode.sample(self, warm)
  local t, issue, forced
  repeat
    stop_if_interrupted()
    if self.prepare then self.prepare() elseif warm then self.fn() end
    t, issue, forced = self.clock.measure(self.fn, self.batch, self.lead)
    self.forced = forced and self.forced + 1 or 0
    if self.forced > MOST_FORCED then clocks.unblock(self.clock, WAITS) end
  until not forced
  self.samples[#self.samples + 1] = t / self.batch
  self.launches[#self.launches + 1] = issue
  self.sampled = self.sampled + t
end

return mode
