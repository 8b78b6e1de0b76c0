-- SPDX-License-Identifier: MIT
--
-- What sizes need: how many blocks cover them, and which ones a sweep takes.

local failure = require "moonwarp.base.failure"

local integer = {}

local function check(who, ...)
  for i, value in ipairs { ... } do
    if not math.tointeger(value) then
      failure.invalid("%s: argument %d must be an integer, got %s", who, i, tostring(value))
    end
  end
end

--- a / b, rounded up: the blocks of b threads that a elements need.
---@param a integer
---@param b integer   not 0
---@return integer
function integer.ceil_div(a, b)
  check("mw.ceil_div", a or "nil", b or "nil")
  if b == 0 then failure.invalid("mw.ceil_div: division by 0") end
  return (a + b - 1) // b
end

--- The sizes from one to another, each `factor` times the one before; or, where the last is the smaller
--- one, that part of it, rounded down.
---@param first integer    at least 1
---@param last integer     at least 1; what comes nearest to it ends the list
---@param factor integer?  2 if left out, at least 2
---@return integer[] sizes   as in { 64, 128, 256 } or { 100, 50, 25 }
function integer.geometric(first, last, factor)
  factor = factor or 2
  check("mw.geometric", first or "nil", last or "nil", factor)
  if math.min(first, last) < 1 then
    failure.invalid("mw.geometric: sizes of at least 1 are wanted, got " .. math.min(first, last))
  end
  if factor < 2 then failure.invalid("mw.geometric: a factor of at least 2 is wanted, got " .. factor) end
  local sizes, size = {}, first
  while first <= last and size <= last or first > last and size >= last do
    sizes[#sizes + 1] = size
    if first <= last and size > last // factor then break end -- the next one may be none
    size = first <= last and size * factor or size // factor
  end
  return sizes
end

return integer
