-- SPDX-License-Identifier: MIT
--
-- Which device the script opened last: whose clock mw.bench takes, and whom records and charts are
-- about, where the script does not say. It is held until another is opened or it is closed: a script
-- that keeps only arrays works on it all the same.
-- Depends on moonwarp.core.

local core = require "moonwarp.core"

local current_device = {}

local last

--- Opens a device, which then is the last one.
---@param id string?   else the one chosen with --device or $MOONWARP_DEVICE, else the first usable one
---@return userdata device
function current_device.open(id)
  last = core.device(id or core.options.device or os.getenv "MOONWARP_DEVICE")
  return last
end

--- The last device opened that is still open, or nil.
---@return userdata?
function current_device.device()
  return last and core.type(last) == "device" and last or nil
end

return current_device
