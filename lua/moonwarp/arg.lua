-- SPDX-License-Identifier: MIT
--
-- Parameters of a script that the command line can set: -p name=value. Several values of a parameter
-- that takes one are a sweep, which begins here: a script is not known before it runs, so its first
-- pass is given all texts, takes the first of each and says what is swept.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.base.schema"
local nearest = require "moonwarp.base.nearest"
local session = require "moonwarp.session"

local arg = {}

local TRUTH = { ["true"] = true, yes = true, on = true, ["1"] = true,
                ["false"] = false, no = false, off = false, ["0"] = false }

local function reject(name, text, wanted, hint)
  failure.raise_as("usage", "parameter '%s' must be %s, got '%s'%s", name, wanted, text, hint or "")
end

local convert = {}

function convert.string(_, text) return text end

function convert.boolean(name, text)
  local value = TRUTH[text:lower()]
  if value == nil then reject(name, text, "true or false") end
  return value
end

function convert.float(name, text)
  local value = tonumber(text)
  return value and value + 0.0 or reject(name, text, "a number")
end

-- 1e6 and 2^20 are integers to whoever types them.
function convert.integer(name, text)
  local base, power = text:match("^(%d+)^(%d+)$")
  local value = base and (tonumber(base) ^ tonumber(power)) or tonumber(text)
  local is_large = value and math.abs(value) >= 2.0 ^ 63
  return value and math.tointeger(value)
    or reject(name, text, is_large and "an integer of less than 2^63" or "an integer")
end

local function kind_of(value)
  return math.type(value) or type(value)
end

local LIMITS = { min = "number", max = "number", choices = "table", check = "function", kind = "string" }

-- "from 1 to 8", "of at least 1", "of at most 8".
local function range_text(limits)
  if limits.min and limits.max then return ("from %s to %s"):format(limits.min, limits.max) end
  return limits.min and ("of at least %s"):format(limits.min) or ("of at most %s"):format(limits.max)
end

local function check_range(name, value, text, limits)
  local min, max = limits.min or -math.huge, limits.max or math.huge
  if type(value) == "number" and (limits.min or limits.max) and not (value >= min and value <= max) then
    reject(name, text, "a number " .. range_text(limits))
  end
end

local function check_choice(name, value, text, limits)
  if not limits.choices then return end
  if lists.has(limits.choices, value) then return end
  local texts = lists.map(limits.choices, tostring)
  local near = nearest.find(text, texts)
  reject(name, text, "one of " .. table.concat(texts, ", "),
    near and ("; did you mean '%s'?"):format(near))
end

-- A condition only the script knows: its function returns what is wanted if the value does not meet it.
local function check_own(name, value, text, limits)
  local wanted = limits.check and limits.check(value)
  if wanted then reject(name, text, wanted) end
end

-- ---- kinds: texts that mean something else ------------------------------------------------

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

-- ---- values -------------------------------------------------------------------------------------

local function convert_one(name, default, text, limits)
  local value = convert[kind_of(default)](name, text)
  local kind = KINDS[limits.kind]
  if kind and not kind.fits(text) then reject(name, text, kind.wanted) end
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

local function check_default(name, default)
  local strange = strange_part(default)
  if not strange then return end
  failure.invalid("mw.arg: the default of '%s' must be a number, string, boolean or a list of those, got %s", name,
    strange)
end

-- The first of several values; the passes that follow take the others, which are rejected now if they
-- do not fit.
local function begin_sweep(name, default, texts, limits)
  local current = session.current
  if not current.swept then reject(name, table.concat(texts, ","), "one value here") end
  for _, text in ipairs(texts) do convert_one(name, default, text, limits) end
  current.swept[name], current.more = true, true
  current.pass[name] = { texts[current.picked and current.picked[name] or 1] }
end

--- Why a combination of values is none (moonwarp run --pass): a parameter takes all of its own at once.
arg.WHOLE = "a parameter of the combination takes all its values at once"

-- A list takes all values; of the combinations that differ in them only the first is one.
local function check_picked(name)
  local picked = session.current.picked
  if picked and (picked[name] or 1) > 1 then require("moonwarp.skip").raise(arg.WHOLE) end
end

-- The texts of a list; one with commas, which is a choice, is a text and not several.
local function whole(texts, default, limits)
  local list, first = {}, 1
  local function is_value(text)
    if limits.check then return limits.check(text) == nil end
    return lists.has(limits.choices or {}, text)
  end
  while type(default[1]) == "string" and first < #texts do
    local last = #texts
    while last > first and not is_value(table.concat(texts, ",", first, last)) do last = last - 1 end
    list[#list + 1], first = table.concat(texts, ",", first, last), last + 1
  end
  return table.move(texts, first, #texts, #list + 1, list)
end

local function value_of(name, default, limits)
  local texts = session.current.pass[name]
  if texts == nil then return default end
  if type(default) == "table" then
    check_picked(name)
    return lists.map(whole(texts, default, limits), function(text)
      return convert_one(name, default[1] or "", text, limits)
    end)
  end
  if #texts > 1 then begin_sweep(name, default, texts, limits) end
  return convert_one(name, default, session.current.pass[name][1], limits)
end

-- The script may change its list.
local function copied(value)
  return type(value) == "table" and lists.append({}, value) or value
end

local function remember(entry)
  local declared, at = session.current.declared, 1
  while declared[at] and declared[at].name ~= entry.name do at = at + 1 end
  declared[at] = entry
end

--- A parameter of the script. The text given with -p is converted to the default's type; a default
--- that is a list takes all values given, in order.
---@param name string
---@param default number|string|boolean|table
---@param help string?
---@param limits table?   min and max of numbers, choices (a list), check (a function that returns what
---                        is wanted if a value is wrong), kind ("blocks"); other values are rejected
---@return any value
function arg.get(name, default, help, limits)
  if type(name) ~= "string" then failure.invalid("mw.arg: the name must be a string, got %s", type(name)) end
  if help ~= nil and type(help) ~= "string" then
    failure.invalid("mw.arg: the help must be a string, got %s", type(help))
  end
  check_default(name, default)
  limits = schema.options("mw.arg", limits, LIMITS)
  local kind = kind_named(limits.kind)
  if kind then check_texts(name, default, kind) end
  -- Known before its text is read, so that a wrong value is not reported as a wrong name as well.
  local kept = copied(default)
  local entry = { name = name, default = kept, help = help, value = kept }
  remember(entry)
  entry.value = value_of(name, kept, limits)
  return kind and kind.values(entry.value) or copied(entry.value)
end

--- The values in force, by name.
---@return table
function arg.values()
  local values = {}
  for _, entry in ipairs(session.current.declared) do values[entry.name] = entry.value end
  return values
end

-- ---- names given --------------------------------------------------------------------------------

local LATE = "; a script asks for its parameters before its first measurement, at %s"

local function fail_unknown(name, names, is_late)
  local hint = #names == 0 and "the script asks for none with mw.arg" or nearest.hint(name, names)
  failure.raise_as("usage", "unknown parameter '%s'; %s%s", name, hint, is_late and LATE:format(core.where()) or "")
end

--- Rejects names given with -p that the script does not ask for.
---@param more string[]?  names known besides those that mw.arg was asked for
function arg.check_names(more)
  local names = lists.map(session.current.declared, function(entry) return entry.name end)
  lists.append(names, more)
  for _, name in ipairs(lists.keys(session.current.given)) do
    if not lists.has(names, name) then fail_unknown(name, names, not more) end
  end
end

--- The same, and makes room for what is measured from now on. Called before every measurement of a run; does its work
--- once.
---@param more string[]?
function arg.check_known(more)
  if session.current.is_prepared then return end
  arg.check_names(more)
  local problem = session.current:prepare()
  if problem then failure.raise_as("usage", "%s", problem) end
end

-- ---- as the command line has them -----------------------------------------------------------------

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
function arg.text(value)
  return table.concat(lists.map(lists.of(value), text_of), ",")
end

return arg
