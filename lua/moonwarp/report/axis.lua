-- SPDX-License-Identifier: MIT
--
-- An axis of a drawn chart: range, ticks that do not touch each other, labels. Powers that would be
-- long are written 2¹⁶ and 10⁻⁶.
-- Depends on letters, ticks.

local utf8text = require "moonwarp.base.utf8text"
local ticks = require "moonwarp.plot.ticks"

local axis = {}

local LETTER <const> = 0.64 -- of the text's size, at most: a digit of a wide typeface
local SIZE <const> = 12 -- px of ticks and labels
local AIR <const> = 12 -- px between labels
local RAISED = { ["-"] = "⁻", ["0"] = "⁰", ["1"] = "¹", ["2"] = "²", ["3"] = "³", ["4"] = "⁴",
                 ["5"] = "⁵", ["6"] = "⁶", ["7"] = "⁷", ["8"] = "⁸", ["9"] = "⁹" }

--- How wide a text of a chart is at most, in px.
---@param text string
---@param size number?  px; that of ticks if left out
---@return number
function axis.width(text, size)
  return utf8text.count(text) * LETTER * (size or SIZE)
end

local function power(base, exponent)
  local digits = ("%d"):format(exponent):gsub(".", function(c) return RAISED[c] end)
  return ("%d%s"):format(base, digits)
end

-- A whole power of a whole base, or nil.
local function exponent_of(value, base)
  if not base or base ~= math.floor(base) then return nil end
  local exponent = math.log(value, base)
  local whole = math.floor(exponent + 0.5)
  return math.abs(exponent - whole) < 1e-9 and whole or nil
end

-- Of one kind all along an axis: powers where all ticks are powers and one would be long, else plain.
local function labels_of(values, base)
  local plain, powers, are_powers, is_long = {}, {}, true, false
  for i, value in ipairs(values) do
    local exponent = exponent_of(value, base)
    plain[i], powers[i] = ticks.label(value), exponent and power(base, exponent)
    is_long, are_powers = is_long or #plain[i] > 5, are_powers and exponent ~= nil
  end
  return is_long and are_powers and powers or plain
end

-- ---- ticks --------------------------------------------------------------------------------------

local function decimal_steps(low, high)
  local list = {}
  for exponent = math.floor(math.log(low, 10)), math.ceil(math.log(high, 10)) do
    for _, factor in ipairs { 1, 2, 5 } do
      local value = factor * 10.0 ^ exponent
      if value >= low * (1 - 1e-9) and value <= high * (1 + 1e-9) then list[#list + 1] = value end
    end
  end
  return list
end

-- A short logarithmic axis has too few powers on it to be read by.
local function candidates(range, count)
  if not range.base then return ticks.axis(range.low, range.high, nil, count, true).ticks end
  local powers = ticks.axis(range.low, range.high, range.base, 99, true).ticks
  if #powers >= 3 then return powers end
  local steps = decimal_steps(range.low, range.high)
  if #steps >= 2 then return steps end
  return ticks.axis(range.low, range.high, nil, count, true).ticks
end

-- Every n-th, so that no two labels touch; room(label) is what one takes along the axis.
local function thinned(values, range, length, room)
  local labels = labels_of(values, range.base)
  for stride = 1, #values do
    local list, last, fits = {}, nil, true
    for i = 1, #values, stride do
      local at, label = range.at(values[i]), labels[i]
      local half = room(label) / 2
      fits = fits and (not last or at * length - half >= last)
      last = at * length + half
      list[#list + 1] = { value = values[i], at = at, label = label }
    end
    if fits then return list end
  end
  return {}
end

-- ---- ranges -------------------------------------------------------------------------------------

local function place(range)
  local function on(value) return range.base and math.log(value) or value end
  local from, span = on(range.low), on(range.high) - on(range.low)
  function range.at(value) return (on(value) - from) / span end
  return range
end

-- Along x an axis keeps to its values; along y it goes out to round numbers, and begins at 0.
local function range_of(low, high, base, tight)
  if base and tight and low == high then low, high = low / base, high * base end
  local found = ticks.axis(low, high, base, 5, tight)
  local range = { low = found.low, high = found.high, base = base }
  if not base and not tight and low < 0 then
    local step = found.ticks[2] and found.ticks[2] - found.ticks[1] or 1
    range.low = math.floor(low / step + 1e-9) * step
  end
  return place(range)
end

--- An axis along x.
---@param low number
---@param high number
---@param base number?  nil: linear
---@param length number px
---@param whole boolean? all values are whole numbers
---@return table axis   low, high, at(value) from 0 to 1, ticks ({ value =, at =, label = })
function axis.along(low, high, base, length, whole)
  local range = range_of(low, high, base, true)
  local count = math.max(2, length // 45)
  if whole then count = ticks.most_whole(low, high, count) end
  range.ticks = thinned(candidates(range, count), range, length,
    function(label) return axis.width(label) + AIR end)
  return range
end

--- An axis up y.
---@param low number
---@param high number
---@param base number?
---@param length number px
---@return table axis
function axis.up(low, high, base, length)
  local range = range_of(low, high, base, false)
  range.ticks = thinned(candidates(range, 5), range, length, function() return 22 end)
  return range
end

--- An axis of exactly this range, linear: for charts with one scale along both.
---@param low number
---@param high number
---@param length number px
---@return table axis
function axis.exact(low, high, length)
  local range = place { low = low, high = high }
  range.ticks = thinned(candidates(range, 6), range, length,
    function(label) return math.max(22, axis.width(label) + AIR) end)
  return range
end

return axis
