-- SPDX-License-Identifier: MIT
--
-- The first step of every function that a script may call: counts its arguments and, if it is a
-- method, looks at its object.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"

local api = {}

local function check_count(name, most, got)
  if got <= most then return end
  if most == 0 then failure.invalid("%s takes no arguments, got %d", name, got) end
  failure.invalid("%s takes %d argument%s at most, got %d", name, most, most == 1 and "" or "s", got)
end

--- A function that rejects surplus arguments.
---@param name string    as messages say it: "mw.check"
---@param most integer
---@param f function
---@return function
function api.func(name, most, f)
  return function(...)
    local got = select("#", ...)
    if got > 0 and rawequal((...), package.loaded.moonwarp) then -- mw:device() for mw.device()
      failure.invalid("%s is a function: write a dot before its name, not a colon", name)
    end
    check_count(name, most, got)
    return f(...)
  end
end

-- "array", "FILE*", "number".
local function kind_of(value)
  local meta = getmetatable(value)
  return core.type(value) or type(meta) == "table" and meta.__name or type(value)
end

local function check_object(class, name, object)
  local kind = core.type(object)
  if kind == class then return end
  if kind == "closed " .. class then
    failure.invalid("calling '%s' on bad self (attempt to use a closed %s)", name, class)
  end
  failure.invalid("bad argument #1 to '%s' (%s expected, got %s; methods take a colon, as in %s:%s(...))", name, class,
    kind_of(object), class, name)
end

--- A method that looks at its object and rejects surplus arguments.
---@param class string   "array"
---@param name string
---@param most integer   arguments besides the object
---@param f function
---@return function
function api.method(class, name, most, f)
  return function(object, ...)
    check_object(class, name, object)
    check_count("'" .. name .. "'", most, select("#", ...))
    return f(object, ...)
  end
end

return api
