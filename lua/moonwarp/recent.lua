-- SPDX-License-Identifier: MIT
--
-- Which device the script opened last: whose clock mw.bench takes, and whom records and charts are
-- about, where the script does not say. It is held until another is opened or it is closed: a script
-- that keeps only arrays works on it all the same.
-- Depends on moonwarp.core.

local core = require "moonwarp.core"

local recent = {}

local last

--- Notes that a device was opened.
---@param device userdata
---@return userdata device  the same
function recent.note(device)
  last = device
  return device
end

--- The last device opened that is still open, or nil.
---@return userdata?
function recent.device()
  return last and core.type(last) == "device" and last or nil
end

return recent
