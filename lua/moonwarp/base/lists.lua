-- SPDX-License-Identifier: MIT
--
-- Lists and keys of tables.
-- Depends on nothing.

local lists = {}

--- Whether a list has a value.
---@param list any[]
---@param value any
---@return boolean
function lists.has(list, value)
  for _, one in ipairs(list) do
    if one == value then return true end
  end
  return false
end

--- The keys of a table, sorted as text.
---@param values table
---@return any[]
function lists.keys(values)
  local keys = {}
  for key in pairs(values) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return keys
end

return lists
