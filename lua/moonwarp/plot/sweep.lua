-- SPDX-License-Identifier: MIT
--
-- A sweep (-p n=1024,2048) runs a script once for each combination of the values: what distinguishes the
-- combinations in a chart's series and in the names of what each pass leaves.

local lists = require "moonwarp.base.lists"

local sweep = {}

--- The parameters that records differ in, sorted. Lists are not compared: a script takes them whole.
---@param entries table[]
---@return string[]
function sweep.varying(entries)
  local first, names = {}, {}
  for _, entry in ipairs(entries) do
    for name, value in pairs(entry.params or {}) do
      if first[name] == nil then first[name] = value end
      if type(value) ~= "table" and value ~= first[name] then names[name] = true end
    end
  end
  return lists.keys(names)
end

--- "n = 1024, by = 4", or nil without names.
---@param values table
---@param names string[]
---@return string?
function sweep.text(values, names)
  local parts = lists.map(names, function(name) return ("%s = %s"):format(name, values[name]) end)
  return #parts > 0 and table.concat(parts, ", ") or nil
end

return sweep
