-- SPDX-License-Identifier: MIT
--
-- moonwarp compile FILE K N, which a tuning starts (tune/ahead.lua): compiles every N-th module of a list from the K-th
-- on, into the cache. FILE has a line of JSON with the device and the script, then one for each module. What does not
-- compile is said by who needs it.

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local options = require "moonwarp.base.options"
local session = require "moonwarp.session"

local compile = { most = 3, least = 3, wants = "compile wants a list, a number and a step" }

compile.usage = [[
usage: moonwarp compile FILE K N

For other commands: compiles modules of a list into the cache.]]

--- The command.
---@param parsed table
function compile.run(parsed)
  local from, step = math.tointeger(tonumber(parsed[2])), math.tointeger(tonumber(parsed[3]))
  local lines = json.lines(files.read(parsed[1]) or "")
  if not (from and step and from >= 1 and step >= 1 and lines[1]) then options.fail(compile.wants) end
  session.begin { script = lines[1].script }
  local device = core.device(lines[1].device)
  for i = from + 1, #lines, step do
    lines[i].options.warnings = false
    pcall(device.module, device, lines[i].options)
    files.put(lines[i].done, "")
  end
end

return compile
