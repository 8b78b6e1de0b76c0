-- SPDX-License-Identifier: MIT
--
-- The energy of a call: what the device's counter rises by while it is called again and again, less what the device
-- uses without work. A counter moves some times in a second, so both are taken over a second at least:
--
--   joules = (energy of the window - idle power * seconds of the window) / calls
--
-- Clocks and limits are as they are found: nothing here sets them.

local core = require "moonwarp.core"

local energy = {}

local WINDOW <const> = 1    -- s
local SLICE <const> = 0.05  -- s of calls from one wait for the device to the next
local idle_power = {}       -- W by device id, once in a process

-- Joules and seconds while `work` is done again and again, how often that was, and its result each time added up.
local function window(device, work)
  device:synchronize()
  local from, start, calls = device:state().energy, core.clock(), 0
  repeat
    calls = calls + work()
    device:synchronize()
  until core.clock() - start >= WINDOW
  return device:state().energy - from, core.clock() - start, calls
end

local function idle(device)
  local id = device:id()
  if not idle_power[id] then
    local joules, seconds = window(device, function() return 0 end)
    idle_power[id] = joules / seconds
  end
  return idle_power[id]
end

--- Whether a device counts its energy.
---@param device userdata?
---@return boolean
function energy.is_counted(device)
  return device ~= nil and device:state().energy ~= nil
end

--- The energy of a call of a function.
---@param fn function
---@param device userdata   that counts its energy
---@param seconds number    about how long a call takes
---@return table            joules (of a call, without idle power), power and idle_power (W, both while it is called and
---                         without work), calls, seconds
function energy.of(fn, device, seconds)
  local resting, batch = idle(device), math.max(1, math.ceil(SLICE / seconds))
  local joules, taken, calls = window(device, function()
    for _ = 1, batch do fn() end
    return batch
  end)
  return { joules = (joules - resting * taken) / calls, power = joules / taken, idle_power = resting, calls = calls,
           seconds = taken }
end

return energy
