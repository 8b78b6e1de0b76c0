-- SPDX-License-Identifier: MIT
--
-- The device that a script asks for. If it is a GPU in check mode, or one that counts, a tool of NVIDIA's runs all of
-- the script first (sanitizer.lua, ncu.lua): which device a script takes is not known before it asks.

local core = require "moonwarp.core"
local lists = require "moonwarp.base.lists"

local device = {}

-- Whether a device checks by its id, or because a tool runs this process.
local function is_checking(id)
  return require("moonwarp.tools.tool").above() or type(id) == "string" and (core.device_word(id) or {}).checked
end

--- Opens a device of a session, as its command line has it.
---@param session table
---@param id string?     else the one chosen with --device or $MOONWARP_DEVICE, else the first usable one
---@param check table?   in check mode, as with --check; how it judges: of measure/checking.lua
---@return userdata device
function device.open(session, id, check)
  local options = session.options
  local wanted = id or options.device or os.getenv "MOONWARP_DEVICE"
  if options.engines then wanted = require("moonwarp.measure.engines").device(wanted, check) end
  if options.share then wanted = core.device_share(wanted, table.unpack(options.share)) end
  if options.check or check then check = lists.merged(options.check or {}, check or {}) end
  local asked = check
  if check and check.counters then wanted, check = require("moonwarp.tools.ncu").prepare(session, wanted, check) end
  if check or is_checking(wanted) then
    wanted = require("moonwarp.tools.sanitizer").prepare(session, wanted, check)
  end
  return session:open_device(wanted, check, asked)
end

return device
