-- SPDX-License-Identifier: MIT
--
-- Checks of option tables: an unknown key, or a value of the wrong type, is an error of the caller.
-- Depends on moonwarp.core, nearest.

local core = require "moonwarp.core"
local nearest = require "moonwarp.nearest"

local fields = {}

local function keys_of(spec)
  local names = {}
  for name in pairs(spec) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function check_known(who, key, spec, level)
  if spec[key] then return end
  local names = keys_of(spec)
  local near = type(key) == "string" and nearest.find(key, names)
  local way = near and ("did you mean '%s'?"):format(near) or "it takes "
    .. table.concat(names, ", ")
  error(("%s: unknown option '%s'; %s"):format(who, tostring(key), way), level + 1)
end

local function check_type(who, key, value, wanted, level)
  local kind = core.type(value) or type(value)
  if wanted == "any" or (" " .. wanted .. " "):find(" " .. kind .. " ", 1, true) then return end
  error(("%s: option '%s' must be a %s, got %s"):format(who, key, wanted:gsub(" ", " or "), kind),
    level + 1)
end

--- Refuses options that are not a table, unknown keys and values of the wrong type.
---@param who string        what the message begins with, as in "mw.bench"
---@param options table?    nil counts as an empty table
---@param spec table        name to wanted types, as in { noise = "number", device = "device" };
---                           "any" takes all
---@param level integer?    which caller is blamed; 2: the one of the function that calls this
---@return table options
function fields.check(who, options, spec, level)
  level = (level or 2) + 1
  if options == nil then return {} end
  if type(options) ~= "table" then
    error(("%s: options must be a table, got %s"):format(who, type(options)), level)
  end
  for key, value in pairs(options) do
    check_known(who, key, spec, level)
    check_type(who, key, value, spec[key], level)
  end
  return options
end

return fields
