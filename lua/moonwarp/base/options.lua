-- SPDX-License-Identifier: MIT
--
-- Checks of option tables: an unknown key, or a value of the wrong type, is an error of the caller.
-- Depends on moonwarp.core, failure, lists, nearest.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"

local fields = {}

local function keys_of(spec)
  local names = {}
  for name in pairs(spec) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function unknown(who, key, spec)
  local names = keys_of(spec)
  local near = type(key) == "string" and nearest.find(key, names)
  local way = near and ("did you mean '%s'?"):format(near) or "it takes "
    .. table.concat(names, ", ")
  return ("%s: unknown option '%s'; %s"):format(who, tostring(key), way)
end

local function is_of(kind, wanted)
  return wanted == "any" or (" " .. wanted .. " "):find(" " .. kind .. " ", 1, true) ~= nil
end

--- What is wrong with an option table: nil, or the message.
---@param who string      what the message begins with, as in "mw.bench"
---@param options any
---@param spec table      name to wanted types, as in { noise = "number", device = "device" }; "any"
---                         takes all
---@return string? problem
function fields.problem(who, options, spec)
  if type(options) ~= "table" then return ("%s: options must be a table, got %s"):format(who, type(options)) end
  for key, value in pairs(options) do
    local wanted, kind = spec[key], core.type(value) or type(value)
    if not wanted then return unknown(who, key, spec) end
    if not is_of(kind, wanted) then
      return ("%s: option '%s' must be a %s, got %s"):format(who, key, wanted:gsub(" ", " or "), kind)
    end
  end
end

--- Refuses options that are not a table, unknown keys and values of the wrong type.
---@param who string        what the message begins with, as in "mw.bench"
---@param options table?    nil counts as an empty table
---@param spec table        as of fields.problem
---@param level integer?    which caller is blamed; 2: the one of the function that calls this
---@return table options
function fields.check(who, options, spec, level)
  if options == nil then return {} end
  local problem = fields.problem(who, options, spec)
  if problem then error(problem, (level or 2) + 1) end
  return options
end

local function problem_of(value, rule)
  if not (value >= rule[1] and value < math.huge) then return ("at least %s"):format(rule[1]) end
  if rule[2] and value > rule[2] then return ("at most %d"):format(rule[2]) end
  if rule.whole and not math.tointeger(value) then return "an integer" end
end

--- Refuses numbers out of their range.
---@param who string
---@param options table
---@param rules table<string, table>  name to { least, most or nil, whole = true or nil }
function fields.check_numbers(who, options, rules)
  for _, name in ipairs(lists.keys(rules)) do
    local value = options[name]
    local wanted = value and problem_of(value, rules[name])
    if wanted then failure.invalid("%s: option '%s' must be %s, got %s", who, name, wanted, value) end
  end
end

return fields
