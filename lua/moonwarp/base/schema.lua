-- SPDX-License-Identifier: MIT
--
-- The form of a table as data, and whether one has it: options that a script gives, and objects that were stored, which
-- may have been cut short, edited or made by another program. A rule is the name of a type ("number"; "string table"
-- is either; "integer"; "any"; "string?" may be absent) or made by schema.list, map or fields.
-- Of options each may be absent, and a name that there is not is a mistake; of stored objects each key is wanted whose
-- rule does not end with "?", and keys that are not named are let through.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"

local schema = {}

--- A list whose elements have this form.
---@param of any  a rule
---@return table rule
function schema.list(of) return { list = of } end

--- An object whose values all have this form.
---@param of any
---@return table rule
function schema.map(of) return { map = of } end

--- An object with these keys, each with its own schema.
---@param of table<string, any>
---@return table rule
function schema.fields(of) return { fields = of, names = lists.keys(of) } end

--- The same rule, of what may be absent.
---@param rule table
---@return table rule
function schema.optional(rule)
  return lists.merged(rule, { optional = true })
end

--- What a value is, as messages say it: "array", "closed array", "number".
---@param value any
---@return string
function schema.kind(value)
  return core.type(value) or type(value)
end

local check

local function check_list(value, rule, where, least)
  local count = 0
  for _ in pairs(value) do count = count + 1 end
  if count ~= #value then return where .. " must be a list" end
  if count < (least or 0) then return ("%s must have an element at least"):format(where) end
  for i, one in ipairs(value) do
    local problem = check(one, rule, ("%s[%d]"):format(where, i))
    if problem then return problem end
  end
end

local function check_fields(value, rule, where)
  for _, name in ipairs(rule.names) do
    local problem = check(value[name], rule.fields[name], where == "" and name or ("%s.%s"):format(where, name))
    if problem then return problem end
  end
end

local function check_map(value, rule, where)
  for name, one in pairs(value) do
    if type(name) ~= "string" then return where .. " must be an object, not a list" end
    local problem = check(one, rule, ("%s.%s"):format(where, name))
    if problem then return problem end
  end
end

-- wanted: "number string", say.
local function check_type(value, wanted, where)
  local kind = schema.kind(value)
  for word in wanted:gmatch "%a+" do
    if word == kind or word == "any" or word == math.type(value) then return nil end
  end
  local got = math.type(value) == "float" and wanted:find "integer" and ("%.14g"):format(value) or kind
  local words = wanted:gsub("%?$", ""):gsub(" ", " or ")
  return ("%s must be %s %s, got %s"):format(where == "" and "it" or where, words:find "^[aei]" and "an" or "a", words,
    got)
end

function check(value, rule, where)
  local is_table = type(rule) == "table"
  if value == nil and (is_table and rule.optional or rule == "any" or not is_table and rule:sub(-1) == "?") then
    return nil
  end
  local problem = check_type(value, is_table and "table" or rule, where)
  if problem or not is_table then return problem end
  if rule.list then return check_list(value, rule.list, where, rule.least) end
  return rule.map and check_map(value, rule.map, where) or rule.fields and check_fields(value, rule, where)
end

--- Why a stored object does not match the schema; nil if it does.
---@param value any
---@param rule any
---@param where string?   the object's own place, before those in it; else none
---@return string? problem  "charts[1].title must be a string, got number"
function schema.problem(value, rule, where)
  return check(value, rule, where or "")
end

--- Why numbers that the objects of a list have are not places of another list; nil if they are. Some may have none.
---@param list table[]
---@param field string   of the objects
---@param most integer   the length of the other list
---@param where string
---@return string? problem  "charts[1].bars[2].run must be from 1 to 3, got 4"
function schema.numbers(list, field, most, where)
  for i, one in ipairs(list) do
    local value = one[field]
    if value and not (value >= 1 and value <= most) then
      return ("%s[%d].%s must be from 1 to %d, got %d"):format(where, i, field, most, value)
    end
  end
end

--- Rejects options that are not a table, names that there are not and values of a wrong form.
---@param who string        what the message begins with, as in "mw.bench"
---@param given table?      nil counts as an empty table
---@param rules table       by name, as in { noise = "number", device = "device" }
---@return table given
function schema.options(who, given, rules)
  if given == nil then return {} end
  if type(given) ~= "table" then failure.invalid("%s: options must be a table, got %s", who, type(given)) end
  for name, value in pairs(given) do
    if not rules[name] then
      local names = lists.keys(rules)
      local all = "it takes " .. table.concat(names, ", ")
      failure.invalid("%s: unknown option '%s'; %s", who, tostring(name), nearest.hint(name, names, all))
    end
    local problem = check(value, rules[name], ("%s: option '%s'"):format(who, name))
    if problem then failure.invalid("%s", problem) end
  end
  return given
end

local function range_problem(value, range)
  if not (value >= range[1] and value < math.huge) then return ("at least %s"):format(range[1]) end
  if range[2] and value > range[2] then return ("at most %d"):format(range[2]) end
  if range.whole and not math.tointeger(value) then return "an integer" end
end

--- Rejects options that are numbers out of their range.
---@param who string
---@param given table
---@param ranges table<string, table>  by name: { least, most or nil, whole = true or nil }
function schema.check_numbers(who, given, ranges)
  for _, name in ipairs(lists.keys(ranges)) do
    local value = given[name]
    local wanted = value and range_problem(value, ranges[name])
    if wanted then failure.invalid("%s: option '%s' must be %s, got %s", who, name, wanted, value) end
  end
end

return schema
