-- SPDX-License-Identifier: MIT
--
-- Which device the script opened last: whose clock mw.bench takes, and whom records and charts are
-- about, where the script does not say. Held weakly: it keeps no device open.
-- Depends on moonwarp.core.

local core = require "moonwarp.core"

local recent = {}

local held = setmetatable({}, { __mode = "v" })

--- Notes that a device was opened.
---@param device userdata
---@return userdata device  the same
function recent.note(device)
  held.device = device
  return device
end

--- The last device opened that is still open, or nil.
---@return userdata?
function recent.device()
  local device = held.device
  return device and core.type(device) == "device" and device or nil
end

return recent
