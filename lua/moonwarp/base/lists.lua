-- SPDX-License-Identifier: MIT
--
-- Lists and keys of tables.

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

--- Returns a list unchanged, and any other value as a list of one.
---@param value any
---@return any[]
function lists.of(value)
  return type(value) == "table" and value or { value }
end

local function in_order(a, b)
  local is_number = type(a) == "number"
  if is_number ~= (type(b) == "number") then return is_number end
  if is_number then return a < b end
  return tostring(a) < tostring(b)
end

--- The keys of a table, sorted: numbers, then all others as text.
---@param values table
---@return any[]
function lists.keys(values)
  local keys = {}
  for key in pairs(values) do keys[#keys + 1] = key end
  table.sort(keys, in_order)
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

--- Whether a list has a hole, as { 16, nil, 64 } has.
---@param list table   may have fields with names as well
---@return boolean
function lists.has_hole(list)
  local count = 0
  for key in pairs(list) do
    if math.type(key) == "integer" then count = count + 1 end
  end
  for i = 1, count do
    if list[i] == nil then return true end
  end
  return false
end

--- What a function makes of each element, in order; an element of which it makes nil is left out.
---@param list any[]
---@param make fun(value: any, place: integer): any
---@return any[]
function lists.map(list, make)
  local made = {}
  for i, value in ipairs(list) do made[#made + 1] = make(value, i) end
  return made
end

--- The elements that fit, in order.
---@param list any[]
---@param fits fun(value: any): any
---@return any[]
function lists.filter(list, fits)
  return lists.map(list, function(value) return fits(value) and value or nil end)
end

--- The first element that fits; nil if none does.
---@param list any[]
---@param fits fun(value: any): any
---@return any
function lists.find(list, fits)
  for _, value in ipairs(list) do
    if fits(value) then return value end
  end
end

--- The elements of a list, each once, in the order in which they come first.
---@param list any[]
---@param name_of (fun(value: any): any)?  what is the same of two elements that are; else they themselves
---@return any[]
function lists.unique(list, name_of)
  local seen = {}
  return lists.map(list, function(value)
    local name = name_of and name_of(value) or value
    if seen[name] then return nil end
    seen[name] = true
    return value
  end)
end

--- What a key stands for: what there is, else the new value, which goes into the list and under the key.
---@param list any[]
---@param by_key table   may be the list itself where keys are no integers
---@param key any
---@param new any
---@return any
function lists.entry(list, by_key, key, new)
  if by_key[key] == nil then by_key[key], list[#list + 1] = new, new end
  return by_key[key]
end

--- The fields of a table that have names: those of { "naive", block = 256 } are { block = 256 }.
---@param values table
---@return table
function lists.named(values)
  local named = {}
  for key, value in pairs(values) do
    if math.type(key) ~= "integer" then named[key] = value end
  end
  return named
end

--- Appends the elements of one list to another.
---@param list any[]
---@param more any[]?
---@return any[] list
function lists.append(list, more)
  return table.move(more or {}, 1, #(more or {}), #list + 1, list)
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
