-- SPDX-License-Identifier: MIT
--
-- A space of variants: parameters, each with its values in an order, the simplest first, and a rule which of their
-- combinations there are. A variant is its number in the space's order: the first parameter changes slowest.

local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"

local space = {}

local Space = {}
Space.__index = Space

local MOST <const> = 100000 -- variants

--- What the records of a tuning have besides the parameters.
space.OWN = lists.set { "study", "tuning", "variant", "t", "value", "joules", "error", "best", "evaluation", "elapsed",
                        "stage", "ratio", "reason", "rung", "units", "bytes", "rate", "throughput", "date", "device",
                        "device_name", "params", "script", "moonwarp", "chosen" }

-- ---- what a script gives ------------------------------------------------------------------------

local VALUES <const> = lists.set { "number", "string", "boolean" }

local function check_whole(who, what, list)
  if lists.has_hole(list) then failure.invalid("%s: %s has a hole: one of its elements is nil", who, what) end
end

local function check_parameter(who, name, values, named)
  if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
    failure.invalid("%s: a parameter of 'space' is a name and its values, as in bx = { 16, 32 }, got '%s'", who,
      tostring(name))
  end
  if space.OWN[name] then
    failure.invalid("%s: parameter '%s': records have a '%s' of their own; take another name", who, name, name)
  end
  if named[name] then failure.invalid("%s: there are two parameters '%s'", who, name) end
  if type(values) == "table" then check_whole(who, ("parameter '%s'"):format(name), values) end
  if type(values) ~= "table" or #values == 0 then
    failure.invalid("%s: parameter '%s' must be a list of values such as { 16, 32 }, got %s", who, name,
      type(values) == "table" and "an empty table" or type(values))
  end
  local seen = {}
  for _, value in ipairs(values) do
    if not VALUES[type(value)] or value ~= value then
      failure.invalid("%s: parameter '%s': a value is a number, a text or a truth value, got %s", who, name,
        value ~= value and "nan" or type(value))
    end
    if seen[value] then failure.invalid("%s: parameter '%s' has the value %s twice", who, name, tostring(value)) end
    seen[value] = true
  end
end

-- { bx = { ... } } by the names, or { { "bx", { ... } }, ... } in this order.
local function parameters_of(who, given)
  local list, named = {}, {}
  check_whole(who, "'space'", given)
  local pairs_given = lists.map(given, function(one) return type(one) == "table" and one or { one } end)
  for _, name in ipairs(lists.keys(lists.named(given))) do pairs_given[#pairs_given + 1] = { name, given[name] } end
  for i, one in ipairs(pairs_given) do
    check_parameter(who, one[1], one[2], named)
    list[i] = { name = one[1], values = one[2] }
    named[one[1]] = i
  end
  if #list == 0 then failure.invalid("%s: 'space' is empty; give it values, as in { bx = { 16, 32 } }", who) end
  return list, named
end

local function read_group(who, group, named, seen)
  check_whole(who, "a list of 'groups'", group)
  return lists.map(group, function(name)
    if not named[name] then
      failure.invalid("%s: 'groups' names '%s', which is no parameter; %s", who, tostring(name),
        nearest.hint(tostring(name), lists.keys(named)))
    end
    seen[name] = true
    return named[name]
  end)
end

local function read_groups(who, groups, named)
  check_whole(who, "'groups'", groups)
  local seen = {}
  local list = lists.map(groups, function(group) return read_group(who, lists.of(group), named, seen) end)
  for _, name in ipairs(lists.keys(named)) do
    if not seen[name] then
      failure.invalid("%s: 'groups' leaves out '%s', which would never change; give it a group: { \"%s\" }", who, name,
        name)
    end
  end
  return list
end

-- ---- the variants -------------------------------------------------------------------------------

local function key_of(places) return table.concat(places, " ") end

-- The values by name of a combination of places.
local function values_of(parameters, places)
  local v = {}
  for d, parameter in ipairs(parameters) do v[parameter.name] = parameter.values[places[d]] end
  return v
end

-- The next combination, the last parameter fastest; false after the last one.
local function advance(parameters, places)
  for d = #parameters, 1, -1 do
    places[d] = places[d] + 1
    if places[d] <= #parameters[d].values then return true end
    places[d] = 1
  end
  return false
end

local function enumerate(self, where)
  local places = lists.map(self.parameters, function() return 1 end)
  repeat
    local v = values_of(self.parameters, places)
    if not where or where(lists.merged(v)) then
      self.variants[#self.variants + 1], self.places[#self.places + 1] = v, lists.append({}, places)
      self.number[key_of(places)] = #self.variants
    end
  until not advance(self.parameters, places)
end

--- Reads a space.
---@param who string       what messages begin with
---@param given table      values by the parameters' names, or a list of { name, values }
---@param where (fun(v: table): boolean)?  whether there is such a variant
---@param groups table?    lists of all names, which are tuned one after the other; else each parameter by itself
---@return table space     parameters, variants (values by name, in order), groups
function space.new(who, given, where, groups)
  local parameters, named = parameters_of(who, given)
  local self = setmetatable({ parameters = parameters, variants = {}, places = {}, number = {} }, Space)
  self.groups = read_groups(who, groups or lists.map(parameters, function(one) return { one.name } end), named)
  local count = 1
  for _, parameter in ipairs(parameters) do count = count * #parameter.values end
  if count > MOST then
    failure.invalid("%s: 'space' has %d combinations, %d at most are taken; give fewer values", who, count, MOST)
  end
  enumerate(self, where)
  if #self.variants == 0 then
    failure.invalid("%s: 'where' leaves none of the %d combinations of 'space'", who, count)
  end
  return self
end

--- A variant in words: "bx = 32, by = 8".
---@param i integer
---@return string
function Space:text(i)
  return table.concat(lists.map(self.parameters, function(parameter)
    return ("%s = %s"):format(parameter.name, tostring(self.variants[i][parameter.name]))
  end), ", ")
end

--- The number of the variant with these values; nil if none.
---@param v table
---@return integer?
function Space:find(v)
  local places = {}
  for d, parameter in ipairs(self.parameters) do
    for place, value in ipairs(parameter.values) do
      if value == v[parameter.name] then places[d] = place end
    end
    if not places[d] then return nil end
  end
  return self.number[key_of(places)]
end

--- The variants that differ from one only in some parameters, with itself.
---@param i integer
---@param group integer[]   places of the parameters
---@return integer[]
function Space:along(i, group)
  local is_free, here, list = lists.set(group), self.places[i], {}
  for j, places in ipairs(self.places) do
    local fits = true
    for d, place in ipairs(here) do fits = fits and (is_free[d] or places[d] == place) end
    if fits then list[#list + 1] = j end
  end
  return list
end

--- The neighbours of a variant: one parameter has another value, or two go a step in opposite directions, as the sides
--- of a block do.
---@param i integer
---@return integer[]
function Space:neighbours(i)
  local here, list = self.places[i], {}
  local function add(changes)
    list[#list + 1] = self.number[key_of(lists.merged(here, changes))]
  end
  for d, parameter in ipairs(self.parameters) do
    for place = 1, #parameter.values do
      if place ~= here[d] then add { [d] = place } end
    end
    for e = 1, #self.parameters do
      if e ~= d then add { [d] = here[d] + 1, [e] = here[e] - 1 } end
    end
  end
  return list
end

return space
