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

--- Each element of a list as a key that is true.
---@param list any[]?
---@return table<any, boolean>
function lists.set(list)
  local set = {}
  for _, value in ipairs(list or {}) do set[value] = true end
  return set
end

--- A new table with the fields of one and of another, which win.
---@param values table
---@param more table?
---@return table
function lists.merged(values, more)
  local copy = {}
  for key, value in pairs(values) do copy[key] = value end
  for key, value in pairs(more or {}) do copy[key] = value end
  return copy
end

--- All combinations of values by name, the last name fastest: of { n = 1 } with { { "n", { 2, 3 } } } the tables
--- { n = 2 } and { n = 3 }.
---@param first table     what each combination has besides
---@param axes table[]    { name, values } each
---@return table[]
function lists.product(first, axes)
  local all = { first }
  for _, axis in ipairs(axes) do
    local more = {}
    for _, one in ipairs(all) do
      for _, value in ipairs(axis[2]) do more[#more + 1] = lists.merged(one, { [axis[1]] = value }) end
    end
    all = more
  end
  return all
end

return lists
