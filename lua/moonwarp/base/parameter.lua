-- SPDX-License-Identifier: MIT
--
-- Parameters as the command line has them: -p NAME=V[,V...]. A text becomes a value of the type that the script's
-- default has, within its limits.

local failure = require "moonwarp.base.failure"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local options = require "moonwarp.base.options"

local parameter = {}

-- ---- a command line -----------------------------------------------------------------------------

local HIDDEN, SHOWN = { [","] = "\0c", ["\\"] = "\0b" }, { c = ",", b = "\\" }

-- "a,b\,c" is a list of two; \\ is a backslash, as is one before anything else. A command line has no "\0".
local function split(text)
  local values = {}
  for value in (text:gsub("\\([\\,])", HIDDEN) .. ","):gmatch "([^,]*)," do
    values[#values + 1] = value:gsub("%z(.)", SHOWN)
  end
  return values
end

--- The parameters of a command line, in the order given.
---@param given string[]?  words after -p
---@return table[]         { name =, values = } each
function parameter.read(given)
  local seen = {}
  return lists.map(given or {}, function(text)
    local name, values = text:match("^([%a_][%w_]*)=(.*)$")
    local most <const> = json.MOST_TEXT
    if #text > most then options.fail("option '-p' takes %d bytes at most, got %d", most, #text) end
    if not name then options.fail("option '-p' wants name=value, got '%s'", text) end
    if seen[name] then options.fail("parameter '%s' is given twice; a list is -p %s=1,2", name, name) end
    seen[name] = true
    return { name = name, values = split(values) }
  end)
end

-- A number with as many digits as give it back.
local function number_text(value)
  local word = tostring(value)
  for digits = 15, 17 do
    if tonumber(word) == value then break end
    word = ("%%.%dg"):format(digits):format(value)
  end
  return word
end

local function text_of(value)
  local word = type(value) == "number" and number_text(value) or tostring(value)
  return (word:gsub("[\\,]", "\\%0"))
end

--- A value, or a list of values, as written after -p NAME=.
---@param value any
---@return string
function parameter.text(value)
  return table.concat(lists.map(lists.of(value), text_of), ",")
end

-- ---- a value ------------------------------------------------------------------------------------

local TRUTH = { ["true"] = true, yes = true, on = true, ["1"] = true,
                ["false"] = false, no = false, off = false, ["0"] = false }

--- Raises what a parameter must be.
---@param name string
---@param text string   as it was given
---@param wanted string
---@param hint string?
function parameter.reject(name, text, wanted, hint)
  failure.raise_as("usage", "parameter '%s' must be %s, got '%s'%s", name, wanted, text, hint or "")
end

local convert = {}

function convert.string(_, text) return text end

function convert.boolean(name, text)
  local value = TRUTH[text:lower()]
  if value == nil then parameter.reject(name, text, "true or false") end
  return value
end

function convert.float(name, text)
  local value = tonumber(text)
  return value and value + 0.0 or parameter.reject(name, text, "a number")
end

-- 1e6 and 2^20 are integers to whoever types them.
function convert.integer(name, text)
  local base, power = text:match("^(%d+)^(%d+)$")
  local value = base and (tonumber(base) ^ tonumber(power)) or tonumber(text)
  local is_large = value and math.abs(value) >= 2.0 ^ 63
  return value and math.tointeger(value)
    or parameter.reject(name, text, is_large and "an integer of less than 2^63" or "an integer")
end

local function kind_of(value)
  return math.type(value) or type(value)
end

-- "from 1 to 8", "of at least 1", "of at most 8".
local function range_text(limits)
  if limits.min and limits.max then return ("from %s to %s"):format(limits.min, limits.max) end
  return limits.min and ("of at least %s"):format(limits.min) or ("of at most %s"):format(limits.max)
end

local function check_range(name, value, text, limits)
  local min, max = limits.min or -math.huge, limits.max or math.huge
  if type(value) == "number" and (limits.min or limits.max) and not (value >= min and value <= max) then
    parameter.reject(name, text, "a number " .. range_text(limits))
  end
end

local function check_choice(name, value, text, limits)
  if not limits.choices then return end
  if lists.has(limits.choices, value) then return end
  local texts = lists.map(limits.choices, tostring)
  local near = nearest.find(text, texts)
  parameter.reject(name, text, "one of " .. table.concat(texts, ", "),
    near and ("; did you mean '%s'?"):format(near))
end

-- A condition only the script knows: its function returns the expectation if the value does not meet it.
local function check_own(name, value, text, limits)
  local wanted = limits.check and limits.check(value)
  if wanted then parameter.reject(name, text, wanted) end
end

-- ---- kinds: texts that mean something else ------------------------------------------------------

local KINDS = { blocks = require "moonwarp.base.blocks" }

local function kind_named(word)
  if word == nil or KINDS[word] then return KINDS[word] end
  failure.invalid("mw.arg: unknown kind '%s'; %s", word, nearest.hint(word, KINDS))
end

local function check_texts(name, default, kind)
  local texts = lists.of(default)
  local wrong = type(default) ~= "table" and kind_of(default)
  for _, text in ipairs(texts) do
    wrong = wrong or type(text) ~= "string" and kind_of(text) or not kind.fits(text) and ("'%s'"):format(text)
  end
  if wrong then failure.invalid("mw.arg: the default of '%s' must be %s, got %s", name, kind.default, wrong) end
end

-- ---- values and defaults ------------------------------------------------------------------------

--- The value of a text, of the default's type.
---@param name string
---@param default number|string|boolean
---@param text string
---@param limits table   of mw.arg
---@return number|string|boolean
function parameter.value(name, default, text, limits)
  local value = convert[kind_of(default)](name, text)
  local kind = KINDS[limits.kind]
  if kind and not kind.fits(text) then parameter.reject(name, text, kind.wanted) end
  check_range(name, value, text, limits)
  check_choice(name, value, text, limits)
  check_own(name, value, text, limits)
  return value
end

-- What a default holds that is not a parameter's value; nil if nothing.
local function strange_part(default)
  if type(default) ~= "table" then return not convert[kind_of(default)] and kind_of(default) or nil end
  for key, value in next, default do
    if math.type(key) ~= "integer" or key < 1 or key > rawlen(default) then
      return "a table with the key " .. tostring(key)
    end
    if not convert[kind_of(value)] then return "a list with a " .. kind_of(value) end
  end
end

--- Rejects a default that is no value of a parameter, or not of its kind.
---@param name string
---@param default any
---@param kind_word string?
---@return table? kind   fits, values and so on, as of blocks.lua
function parameter.check(name, default, kind_word)
  local strange = strange_part(default)
  if strange then
    failure.invalid("mw.arg: the default of '%s' must be a number, string, boolean or a list of those, got %s", name,
      strange)
  end
  local kind = kind_named(kind_word)
  if kind then check_texts(name, default, kind) end
  return kind
end

return parameter
