-- SPDX-License-Identifier: MIT
--
-- What every function that a script may call does first: counts its arguments and, where it is a
-- method, looks at its object. Errors of the C half name the line that called it, which for the Lua
-- half's methods would be a line of the library: they are made to name the script's.
-- Depends on moonwarp.core.

local core = require "moonwarp.core"

local api = {}

local POSITION = "^[^\n:]+:%d+: "
local OWN_POSITION = "^[^\n]-lua/moonwarp/[%w_/]+%.lua:%d+: "

local function refuse_surplus(name, most, got)
  if most == 0 then error(("%s takes no arguments, got %d"):format(name, got), 3) end
  error(("%s takes %d argument%s at most, got %d"):format(name, most, most == 1 and "" or "s", got), 3)
end

--- A function that refuses surplus arguments. Errors of f keep their levels: it is tail called.
---@param name string    as messages say it: "mw.check"
---@param most integer
---@param f function
---@return function
function api.func(name, most, f)
  return function(...)
    local got = select("#", ...)
    if got > 0 and rawequal((...), package.loaded.moonwarp) then -- mw:device() for mw.device()
      error(("%s is a function: write a dot before its name, not a colon"):format(name), 2)
    end
    if got > most then refuse_surplus(name, most, got) end
    return f(...)
  end
end

local function relocated(message)
  if type(message) ~= "string" or message == "interrupted" then return message end
  local text, own = message:gsub(OWN_POSITION, "", 1)
  return (own > 0 or not text:match(POSITION)) and core.where() .. text or text
end

local function results(ok, ...)
  if ok then return ... end
  error(relocated((...)), 0)
end

--- The same, and errors without a position, or with one of the library, get the script's.
---@param name string
---@param most integer
---@param f function
---@return function
function api.placed(name, most, f)
  return api.func(name, most, function(...) return results(pcall(f, ...)) end)
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
    error(("calling '%s' on bad self (attempt to use a closed %s)"):format(name, class), 3)
  end
  error(("bad argument #1 to '%s' (%s expected, got %s; methods take a colon, as in %s:%s(...))")
    :format(name, class, kind_of(object), class, name), 3)
end

--- A method that looks at its object and refuses surplus arguments.
---@param class string   "array"
---@param name string
---@param most integer   arguments besides the object
---@param f function
---@return function
function api.method(class, name, most, f)
  return function(object, ...)
    check_object(class, name, object)
    local got = select("#", ...)
    if got > most then refuse_surplus("'" .. name .. "'", most, got) end
    return results(pcall(f, object, ...))
  end
end

return api
