-- SPDX-License-Identifier: MIT
--
-- Parameters of a script that the command line can set: -p name=value.
-- Depends on moonwarp.core (options.params, options.sweep), fields, nearest.

local core = require "moonwarp.core"
local fields = require "moonwarp.fields"
local nearest = require "moonwarp.nearest"

local arg = {}

--- What the running script has declared, in order: { name =, default =, help =, value = }.
arg.declared = {}

local TRUTH = { ["true"] = true, yes = true, on = true, ["1"] = true,
                ["false"] = false, no = false, off = false, ["0"] = false }

--- What was last wrong with a value of the command line: the program ends with the status of wrong
--- use where that is why the script failed.
arg.refused = nil

local function refuse(name, text, wanted, hint)
  arg.refused = ("parameter '%s' must be %s, got '%s'%s"):format(name, wanted, text, hint or "")
  error(arg.refused, 0)
end

local convert = {}

function convert.string(_, text) return text end

function convert.boolean(name, text)
  local value = TRUTH[text:lower()]
  if value == nil then refuse(name, text, "true or false") end
  return value
end

function convert.float(name, text)
  local value = tonumber(text)
  return value and value + 0.0 or refuse(name, text, "a number")
end

-- 1e6 and 2^20 are integers to whoever types them.
function convert.integer(name, text)
  local base, power = text:match("^(%d+)^(%d+)$")
  local value = base and (tonumber(base) ^ tonumber(power)) or tonumber(text)
  local is_large = value and math.abs(value) >= 2.0 ^ 63
  return value and math.tointeger(value)
    or refuse(name, text, is_large and "an integer of less than 2^63" or "an integer")
end

local function kind_of(value)
  return math.type(value) or type(value)
end

local LIMITS = { min = "number", max = "number", choices = "table", check = "function" }

-- "from 1 to 8", "of at least 1", "of at most 8".
local function range_text(limits)
  if limits.min and limits.max then return ("from %s to %s"):format(limits.min, limits.max) end
  return limits.min and ("of at least %s"):format(limits.min) or ("of at most %s"):format(limits.max)
end

local function check_range(name, value, text, limits)
  local min, max = limits.min or -math.huge, limits.max or math.huge
  if type(value) == "number" and (limits.min or limits.max) and not (value >= min and value <= max) then
    refuse(name, text, "a number " .. range_text(limits))
  end
end

local function check_choice(name, value, text, limits)
  if not limits.choices then return end
  local texts = {}
  for i, choice in ipairs(limits.choices) do
    if choice == value then return end
    texts[i] = tostring(choice)
  end
  local near = nearest.find(text, texts)
  refuse(name, text, "one of " .. table.concat(texts, ", "),
    near and ("; did you mean '%s'?"):format(near))
end

-- What a script alone can tell: its function returns what is wanted, where the value is not that.
local function check_own(name, value, text, limits)
  local wanted = limits.check and limits.check(value)
  if wanted then refuse(name, text, wanted) end
end

local function convert_one(name, default, text, limits)
  local value = convert[kind_of(default)](name, text)
  check_range(name, value, text, limits)
  check_choice(name, value, text, limits)
  check_own(name, value, text, limits)
  return value
end

local function convert_list(name, default, texts, limits)
  local list = {}
  for i, text in ipairs(texts) do list[i] = convert_one(name, default[1] or "", text, limits) end
  return list
end

local function check_default(name, default)
  local sample = default
  if type(default) == "table" then sample = default[1] or "" end
  if not convert[kind_of(sample)] then
    error(("mw.arg: the default of '%s' must be a number, string, boolean or a list of those, got %s")
      :format(name, kind_of(sample)), 3)
  end
end

local function value_of(name, default, limits)
  local texts = (core.options.params or {})[name]
  if texts == nil then return default end
  if type(texts) ~= "table" then texts = { texts } end
  if type(default) == "table" then return convert_list(name, default, texts, limits) end
  if #texts > 1 then refuse(name, table.concat(texts, ","), "one value here") end
  return convert_one(name, default, texts[1], limits)
end

-- The first run of a sweep refuses what a later one would stumble over.
local function check_sweep(name, default, limits)
  if type(default) == "table" then return end
  for _, text in ipairs((core.options.sweep or {})[name] or {}) do
    convert_one(name, default, text, limits)
  end
end

local function remember(entry)
  for i, known in ipairs(arg.declared) do
    if known.name == entry.name then
      arg.declared[i] = entry
      return
    end
  end
  arg.declared[#arg.declared + 1] = entry
end

--- A parameter of the script. The text given with -p is converted to the default's type; a default
--- that is a list takes all values given, in order.
---@param name string
---@param default number|string|boolean|table
---@param help string?
---@param limits table?   min and max of numbers, choices (a list), check (a function that returns what
---                        is wanted where a value is wrong); other values are refused
---@return any value
function arg.get(name, default, help, limits)
  if type(name) ~= "string" then
    error("mw.arg: the name must be a string, got " .. type(name), 2)
  end
  if help ~= nil and type(help) ~= "string" then
    error("mw.arg: the help must be a string, got " .. type(help), 2)
  end
  check_default(name, default)
  limits = fields.check("mw.arg", limits, LIMITS)
  -- Known before its text is read, so that a wrong value is not reported as a wrong name as well.
  local entry = { name = name, default = default, help = help, value = default }
  remember(entry)
  check_sweep(name, default, limits)
  entry.value = value_of(name, default, limits)
  return entry.value
end

--- The values in force, by name.
---@return table
function arg.values()
  local values = {}
  for _, entry in ipairs(arg.declared) do values[entry.name] = entry.value end
  return values
end

return arg
