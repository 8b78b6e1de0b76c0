-- SPDX-License-Identifier: MIT
--
-- Parameters of a script that the command line can set: -p name=value. Several values of a parameter
-- that takes one are a sweep, which begins here: a script is not known before it runs, so its first
-- pass is given all texts, takes the first of each and says what is swept.

local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.base.schema"
local parameter = require "moonwarp.base.parameter"
local session = require "moonwarp.session"

local arg = {}

local LIMITS = { min = "number", max = "number", choices = "table", check = "function", kind = "string" }

-- The first of several values; the passes that follow take the others, which are rejected now if they
-- do not fit.
local function begin_sweep(name, default, texts, limits)
  local current = session.current
  if not current.swept then parameter.reject(name, table.concat(texts, ","), "one value here") end
  for _, text in ipairs(texts) do parameter.value(name, default, text, limits) end
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
      return parameter.value(name, default[1] or "", text, limits)
    end)
  end
  if #texts > 1 then begin_sweep(name, default, texts, limits) end
  return parameter.value(name, default, session.current.pass[name][1], limits)
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
  limits = schema.options("mw.arg", limits, LIMITS)
  local kind = parameter.check(name, default, limits.kind)
  -- Known before its text is read, so that a wrong value is not reported as a wrong name as well.
  local kept = copied(default)
  local entry = { name = name, default = kept, help = help, value = kept }
  remember(entry)
  entry.value = value_of(name, kept, limits)
  return kind and kind.values(entry.value) or copied(entry.value)
end

return arg
