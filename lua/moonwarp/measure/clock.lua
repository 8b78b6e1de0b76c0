-- SPDX-License-Identifier: MIT
--
-- Clocks: clock.measure(fn, batch, lead) returns the seconds of that many calls, the host's seconds
-- to issue one, and whether the device had to be let go early. The first `lead` calls are queued
-- behind a shut gate if the clock has one; 0 measures without it.

local core = require "moonwarp.core"
local gate = require "moonwarp.measure.gate"

local clock = {}

local EVENT_RESOLUTION = 0.5e-6 -- cuEventElapsedTime, CUDA Driver API reference
local HOST_RESOLUTION = 0.1e-6

local function repeat_call(fn, count)
  for _ = 1, count do fn() end
end

-- ---- the host's ---------------------------------------------------------------------------------

--- The host's clock. A device is synchronised before, so that the time has no work which was
--- queued earlier, and after.
---@param device userdata?
---@return table clock  to be closed
function clock.host(device)
  local self = { name = "host clock", resolution = HOST_RESOLUTION }
  function self.measure(fn, batch)
    if device then device:synchronize() end
    local start = core.clock()
    repeat_call(fn, batch)
    local issued = core.clock() - start
    if device then device:synchronize() end
    return core.clock() - start, issued / batch, false
  end
  return setmetatable(self, { __close = function() end })
end

-- ---- the device's -------------------------------------------------------------------------------

local OPENS = { __close = function(held) held.gate:open() end }

-- The calls behind the gate; it is opened whatever happens, or the device would wait until its limit. If
-- all calls are behind it, so is the end of the sample.
local function issue_held(self, fn, lead, is_all)
  local _ <close> = setmetatable({ gate = self.gate }, OPENS)
  local start = core.clock()
  repeat_call(fn, lead)
  local issued = (core.clock() - start) / lead
  if is_all then self.to:record(self.stream) end
  return issued
end

local function measure_held(self, fn, batch, lead)
  self.gate:shut()
  self.from:record(self.stream)
  local issued = issue_held(self, fn, lead, lead == batch)
  if lead < batch then
    repeat_call(fn, batch - lead)
    self.to:record(self.stream)
  end
  self.to:synchronize()
  return self.to:since(self.from), issued, self.gate:was_forced()
end

local function measure_free(self, fn, batch)
  self.from:record(self.stream)
  local start = core.clock()
  repeat_call(fn, batch)
  local issued = (core.clock() - start) / batch
  self.to:record(self.stream)
  self.to:synchronize()
  return self.to:since(self.from), issued, false
end

local function close_events(self)
  self.from:close()
  self.to:close()
  if self.gate then self.gate:close() end
end

--- The device's clock: two events about the calls, behind a gate if the device can have one. unblocked is why
--- there is none.
---@param device userdata
---@param stream userdata
---@return table clock  to be closed
function clock.events(device, stream)
  local self = { name = "device events", resolution = EVENT_RESOLUTION, stream = stream,
                 from = device:event(), to = device:event() }
  if device:properties().queue_gate then self.gate, self.unblocked = gate.new(device, stream) end
  function self.measure(fn, batch, lead)
    if self.gate and lead > 0 then return measure_held(self, fn, batch, lead) end
    return measure_free(self, fn, batch)
  end
  return setmetatable(self, { __close = close_events })
end

--- A clock of all ranks of an MPI job: a sample begins at all of them, and its time is the greatest. So what is decided
--- by times is decided alike. What one has no gate for, none has.
---@param self table   a clock, which becomes it
---@param job table?   session.job; nil: it stays as it is
---@return table self
function clock.of_all(self, job)
  if not job then return self end
  local own = self.measure
  if job.max(self.gate and 0.0 or 1.0) > 0 then clock.unblock(self, self.unblocked or "another rank has no gate") end
  function self.measure(fn, batch, lead)
    job.meet "mw.bench, before a sample"
    local t, issue, forced = own(fn, batch, lead)
    t, issue, forced = job.max(t, issue, forced and 1.0 or 0.0)
    return t, issue, forced > 0
  end
  return self
end

--- From now on measures without the gate.
---@param self table   a clock
---@param why string
function clock.unblock(self, why)
  if self.gate then self.gate:close() end
  self.gate, self.unblocked = nil, why
end

return clock
