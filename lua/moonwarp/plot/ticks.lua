-- SPDX-License-Identifier: MIT
--
-- Axes: a range and round tick positions, linear or logarithmic. Used by the terminal chart and the
-- gnuplot script.

local lists = require "moonwarp.base.lists"

local ticks = {}

-- Beyond these a span, or a power of the base, is not a finite double.
local LARGEST <const>, SMALLEST <const> = 1e300, 1e-300

--- Whether an axis can show a value: it is finite, and above 0 if the axis is logarithmic.
---@param value number
---@param base number?  nil: linear
---@return boolean
function ticks.holds(value, base)
  return value >= (base and SMALLEST or -LARGEST) and value <= LARGEST
end

--- Whether a value lies within limits, of which each may be absent.
---@param value number
---@param low number?
---@param high number?
---@return boolean
function ticks.within(value, low, high)
  return value >= (low or -math.huge) and value <= (high or math.huge)
end

--- The range of a chart's axes: its limits, else the least and the greatest of what they can show; along y with error
--- bars, of the points within the limits of x.
---@param chart table    series, logx, logy, xmin, xmax, ymin, ymax
---@return table extent  x0, x1, y0, y1; x0 above x1 if it is empty
function ticks.extent(chart)
  local x0, x1, y0, y1 = math.huge, -math.huge, math.huge, -math.huge
  for _, one in ipairs(chart.series) do
    for _, p in ipairs(one.points) do
      if ticks.holds(p.x, chart.logx) and ticks.holds(p.y, chart.logy) then
        x0, x1 = math.min(x0, p.x), math.max(x1, p.x)
        local is_seen = ticks.within(p.x, chart.xmin, chart.xmax)
        if is_seen then y0, y1 = math.min(y0, p.y, p.low or p.y), math.max(y1, p.y, p.high or p.y) end
      end
    end
  end
  if y0 > y1 then return { x0 = y0, x1 = y1, y0 = y0, y1 = y1 } end
  return { x0 = chart.xmin or x0, x1 = chart.xmax or x1, y0 = chart.ymin or y0, y1 = chart.ymax or y1 }
end

-- 1, 2 or 5 times a power of ten, so that about `count` steps cover the span
-- (P. Heckbert, "Nice numbers for graph labels", Graphics Gems, 1990).
local function nice_step(span, count)
  local raw = span / count
  local power = 10 ^ math.floor(math.log(raw, 10))
  return lists.find({ power, 2 * power, 5 * power }, function(step) return step >= raw * 0.999 end) or 10 * power
end

--- Whether all points lie at whole numbers along x, as runs, rungs and dimensions do: between those
--- there is nothing to mark.
---@param series table[]
---@return boolean
function ticks.are_whole(series)
  local function is_between(point) return point.x ~= math.floor(point.x) end
  return not lists.find(series, function(one) return lists.find(one.points, is_between) end)
end

local function linear_ticks(low, high, count)
  local step = nice_step(high - low, count)
  local list = {}
  local first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
  for i = first, last do list[#list + 1] = i * step end
  return list
end

-- Round values between those that are a power's, or both ends.
local function round_ticks(low, high)
  local list = lists.filter(linear_ticks(low, high, 4), function(value) return value >= low end)
  return #list > 1 and list or { low, high }
end

local function log_ticks(low, high, base, count)
  local first = math.ceil(math.log(low, base) - 1e-9)
  local last = math.floor(math.log(high, base) + 1e-9)
  local stride = math.max(1, math.ceil((last - first + 1) / count))
  local list = {}
  for i = first, last, stride do list[#list + 1] = base ^ i end
  if base < 10 or high > 0.999 * low * base ^ 2 then return #list > 1 and list or round_ticks(low, high) end
  list = {} -- within two powers
  for i = first - 1, last do
    for _, times in ipairs { 1, 2, 5 } do
      local value = times * base ^ i
      if ticks.within(value, low * (1 - 1e-9), high * (1 + 1e-9)) then list[#list + 1] = value end
    end
  end
  return #list > 1 and list or round_ticks(low, high)
end

-- Over less, ticks would differ in the last digits only, or not at all, and counting them not end.
local function least_span(low, high)
  return math.max(1e-12 * math.max(math.abs(low), math.abs(high)), 1e-300)
end

-- Where all values are as good as one: wide enough that labels differ.
local function room(value)
  return math.max(1, math.abs(value) / 1000)
end

local function linear_range(low, high)
  if low > 0 then low = 0 end
  if high - low < least_span(low, high) then high = low + room(low) end
  local step = nice_step(high - low, 5)
  return low, math.ceil(high / step - 1e-9) * step
end

local LEAST = 1e-307 -- and 1 / LEAST: a large base's next power may be no number any more

-- Out to whole powers of the base, unless the axis is to fit tightly around several values.
local function log_range(low, high, base, tight)
  if tight and high - low >= least_span(low, high) then return low, high end
  local first = math.floor(math.log(low, base) + 1e-9)
  local last = math.ceil(math.log(high, base) - 1e-9)
  return math.max(base ^ first, LEAST), math.min(base ^ math.max(last, first + 1), 1 / LEAST)
end

local function tight_range(low, high)
  if high - low >= least_span(low, high) then return low, high end
  return low - room(low), high + room(high)
end

local LARGE <const> = 1e6 -- labels from here on have exponents

local function with_exponent(value, power)
  return value == 0 and "0" or ("%.7ge%d"):format(value / 10.0 ^ power, power)
end

-- The labels of an axis all have exponents or none: 0.5e6 next to 1e6, 1e-5 next to 1e-4; powers of 2 are 2^20.
local function labels(values, base)
  local most, has_small = 0, false
  local plain = lists.map(values, function(value)
    local text = ("%.10g"):format(value)
    most, has_small = math.max(most, math.abs(value)), has_small or text:find("e", 1, true) ~= nil
    return math.abs(value) < 1e15 and value == math.floor(value) and ("%d"):format(value) or text
  end)
  if most < LARGE and not has_small then return plain end
  if base == 2 then return lists.map(values, function(value) return ("2^%.0f"):format(math.log(value, 2)) end) end
  local power = math.floor(math.log(most, 10) / 3 + 1e-9) * 3
  local texts = lists.map(values, function(value)
    return with_exponent(value, base and value > 0 and math.floor(math.log(value, 10) + 1e-9) or power)
  end)
  return #lists.unique(texts) == #texts and texts or plain
end

--- An axis for values in a range. A linear axis of positive values begins at 0, so that heights
--- compare.
---@param low number
---@param high number
---@param base number?   nil: linear; 2 or 10: logarithmic (low must be > 0)
---@param count integer  about how many ticks
---@param tight boolean? keep the axis to the values
---@param least number?  where the axis begins, if that is given
---@param most number?   and where it ends
---@return table axis    low, high, ticks, their labels, at(value) from 0 to 1
function ticks.axis(low, high, base, count, tight, least, most)
  local axis = { base = base }
  if base then
    low, high = log_range(low, high, base, tight)
  else
    low, high = (tight and tight_range or linear_range)(low, high)
  end
  axis.low, axis.high = least or low, most or high
  if axis.low >= axis.high then -- the only values are at the limit
    if least then axis.high = base and least * base or least + room(least) end
    if most then axis.low = base and most / base or most - room(most) end
  end
  axis.ticks = base and log_ticks(axis.low, axis.high, base, count) or linear_ticks(axis.low, axis.high, count)
  if #axis.ticks == 0 then axis.ticks = { axis.low, axis.high } end
  axis.labels = labels(axis.ticks, base)
  return ticks.between(axis, axis.low, axis.high)
end

--- The same axis with another beginning and end.
---@param axis table   of ticks.axis
---@param low number
---@param high number
---@return table axis  itself
function ticks.between(axis, low, high)
  local function place(value) return axis.base and math.log(value) or value end
  local from, span = place(low), place(high) - place(low)
  axis.low, axis.high = low, high
  function axis.at(value) return (place(value) - from) / span end
  return axis
end

return ticks
