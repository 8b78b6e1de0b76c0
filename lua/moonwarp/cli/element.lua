-- SPDX-License-Identifier: MIT
--
-- moonwarp element, which the jobs of `batch --slurm` start on a node: runs the labs of an element of a job array, or
-- says which devices the node has.

local core = require "moonwarp.core"
local devices = require "moonwarp.lab.devices"
local json = require "moonwarp.base.json"
local options = require "moonwarp.base.options"

local element = { most = math.huge }

element.options = {
  { flag = "--devices", help = "say in JSON which of these devices are usable" },
}

element.usage = [[
usage: moonwarp element FOLDER ARRAY [INDEX]
       moonwarp element --devices ID...

For jobs of Slurm, which moonwarp batch --slurm writes: runs the labs of one element of a batch's array. INDEX is
$SLURM_ARRAY_TASK_ID if it is left out.]]

local function number(text, what)
  local value = math.tointeger(tonumber(text))
  if value and value >= 1 then return value end
  options.fail("element wants the number of %s, got '%s'", what, tostring(text))
end

--- The command element.
---@param parsed table
function element.run(parsed)
  if parsed.devices then
    print(json.encode { moonwarp = core.version, devices = devices.look(parsed) })
    return
  end
  if not parsed[1] then options.fail("element wants the folder of a batch") end
  require("moonwarp.slurm.element").run(parsed[1], number(parsed[2], "an array"),
    number(parsed[3] or os.getenv "SLURM_ARRAY_TASK_ID", "an element"))
end

return element
