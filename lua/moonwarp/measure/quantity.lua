-- SPDX-License-Identifier: MIT
--
-- A quantity: a measured value with its 95 % interval, { value =, low =, high = }. A result of mw.bench counts as its
-- median, so that `bytes / t` is a rate with its interval; records keep a quantity as a table of these three fields.
--
-- The interval of f(median) for a monotone f is f of the median's interval, exactly: it lies between percentiles of the
-- bootstrap, which f maps to percentiles, in reverse order where f falls (B. Efron and R. Tibshirani, "An introduction
-- to the bootstrap", 1993, section 13.6: the percentile interval respects transformations). That covers sums, products
-- and quotients with a number. For two quantities it says nothing.

local failure = require "moonwarp.base.failure"
local units = require "moonwarp.base.units"

local quantity = {}

local quantity_type = { __name = "quantity" }
quantity_type.__index = quantity_type

--- Makes a quantity.
---@param value number
---@param low number    of its 95 % interval
---@param high number
---@return table
function quantity.new(value, low, high)
  return setmetatable({ value = value, low = low, high = high }, quantity_type)
end

--- Whether a value is a quantity, and not its stored form.
---@param value any
---@return boolean
function quantity.is(value)
  return getmetatable(value) == quantity_type
end

local function number_at(values, key)
  local value = rawget(values, key)
  return type(value) == "number" and value or nil
end

--- A field of a record as a number: of a quantity its value, of a result of mw.bench its median, also as stored.
---@param value any
---@return number? value   nil if it is none of these
---@return number? low     of its interval; nil if it has none
---@return number? high
function quantity.read(value)
  if type(value) == "number" then return value end
  if type(value) ~= "table" then return nil end
  local low, high = number_at(value, "low"), number_at(value, "high")
  if rawget(value, "samples") then return number_at(value, "median"), low, high end
  if low or high then return number_at(value, "value"), low, high end
end

--- Half of an interval in percent of its value; nil if it has no width, or the value is 0.
---@param value number
---@param low number?
---@param high number?
---@return number?
function quantity.percent(value, low, high)
  if not (low and high) or low == high or value == 0 then return nil end
  return 50.0 * (high - low) / math.abs(value)
end

--- Whether an interval reaches so far from its value, on either side, that its half width would not tell.
---@param value number
---@param low number?
---@param high number?
---@return boolean
function quantity.is_wide(value, low, high)
  return low and high and math.max(value - low, high - value) > 0.5 * math.abs(value) or false
end

--- The end of a value's text: " ± 0.2 %", of a wide interval " (1.0 to 4.1)", or "" if it has none.
---@param value number
---@param low number?
---@param high number?
---@param show fun(number: number): string   as the value is shown
---@return string
function quantity.suffix(value, low, high, show)
  if quantity.is_wide(value, low, high) then return (" (%s to %s)"):format(show(low), show(high)) end
  local percent = quantity.percent(value, low, high)
  return percent and (" ± %s %%"):format(units.digits(percent, 2)) or ""
end

local function short(number) return (("%.4g"):format(number):gsub("e%+?(%-?)0*", "e%1")) end

-- "4.31e12 ± 0.2 %"
function quantity_type:__tostring()
  if self.value ~= self.value then return "not timed" end
  return short(self.value) .. quantity.suffix(self.value, self.low, self.high, short)
end

-- ---- arithmetic ---------------------------------------------------------------------------------

local OPERATIONS = {
  __add = function(a, b) return a + b end, __sub = function(a, b) return a - b end,
  __mul = function(a, b) return a * b end, __div = function(a, b) return a / b end,
}

local TWO = "two values with intervals have no interval together; for a ratio with one: "
  .. "mw.bench { a = f, b = g }:ratio(\"a\", \"b\"); without: .value, of a benchmark .median"

-- The value and the interval of an operand; a number is its own.
local function operand(given)
  local value, low, high = quantity.read(given)
  if not value then failure.invalid("arithmetic with a measured value: a number is wanted, got %s", type(given)) end
  return value, low or value, high or value
end

-- An operation on a quantity and a number, whose ends change places where the operation falls.
local function combined(operation, a, b)
  if type(a) == "table" and type(b) == "table" then failure.invalid("%s", TWO) end
  local value, low, high = operand(a)
  local by, by_low, by_high = operand(b)
  if operation == OPERATIONS.__div and by_low < 0 and by_high > 0 then
    failure.invalid("division by a measured value whose interval, %g to %g, contains 0", by_low, by_high)
  end
  local one, other = operation(low, by_low), operation(high, by_high)
  return quantity.new(operation(value, by), math.min(one, other), math.max(one, other))
end

local function reject_order()
  failure.invalid "a measured value is an interval and has no order; compare its .value, of a benchmark its .median"
end

local function reject_other()
  failure.invalid("a measured value takes + - * / with a number; for other operations take its .value, of a benchmark "
    .. ".median")
end

--- Gives the objects of a metatable the arithmetic of quantities: + - * / with a number, and unary minus. `..` takes
--- their text.
---@param meta table   of quantities, or of results of mw.bench
function quantity.install(meta)
  for name, operation in pairs(OPERATIONS) do
    meta[name] = function(a, b) return combined(operation, a, b) end
  end
  meta.__unm = function(a) return combined(OPERATIONS.__mul, a, -1) end
  meta.__lt, meta.__le = reject_order, reject_order
  meta.__pow, meta.__mod, meta.__idiv = reject_other, reject_other, reject_other
  meta.__concat = function(a, b) return tostring(a) .. tostring(b) end
end

quantity.install(quantity_type)

return quantity
