-- SPDX-License-Identifier: MIT
--
-- moonwarp element, which the jobs of `batch --slurm` start on a node: runs the labs of an element of a job array.

local options = require "moonwarp.base.options"

local element = { most = 3, least = 2, wants = "element wants the folder of a batch and the number of an array" }

element.usage = [[
usage: moonwarp element FOLDER ARRAY [INDEX]

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
  require("moonwarp.slurm.element").run(parsed[1], number(parsed[2], "an array"),
    number(parsed[3] or os.getenv "SLURM_ARRAY_TASK_ID", "an element"))
end

return element
