-- SPDX-License-Identifier: MIT
--
-- Where the labels of a chart's levels stand: at an end of the line, where no curve, no other label and no frame is in
-- the way. Places are parts of the axes, from 0 to 1.

local levels = {}

local SAMPLES <const>, MOST_POINTS <const> = 12, 200 -- of a line between two points, of a series
local BLOCKED <const>, MARKER <const>, LINE <const> = 1e6, 5, 5 -- what covering one costs; a sample of a curve: 1

-- Points on the curves, and what covering each of them costs.
local function dots_of(fitted, x, y)
  local dots = {}
  local function add(ax, ay, cost) dots[#dots + 1] = { ax, ay, cost } end
  for _, one in ipairs(fitted.series) do
    local before
    for i = 1, #one.points, math.max(1, #one.points // MOST_POINTS) do
      local ax, ay = x.at(one.points[i].x), y.at(one.points[i].y)
      for k = 1, before and fitted.style ~= "points" and SAMPLES or 0 do
        local part = k / (SAMPLES + 1)
        add(before[1] + part * (ax - before[1]), before[2] + part * (ay - before[2]), 1)
      end
      add(ax, ay, MARKER)
      before = { ax, ay }
    end
  end
  return dots
end

local function overlaps(a, b)
  return a.left < b.right and b.left < a.right and a.low < b.high and b.low < a.high
end

-- What a label would cover.
local function cost_of(label, dots, lines, placed)
  local cost = (label.low < 0 or label.high > 1 or label.left < 0 or label.right > 1) and BLOCKED or 0
  for _, dot in ipairs(dots) do
    if overlaps(label, { left = dot[1], right = dot[1], low = dot[2], high = dot[2] }) then cost = cost + dot[3] end
  end
  for _, at in ipairs(lines) do
    if at > label.low and at < label.high and at ~= label.line then cost = cost + LINE end
  end
  for _, other in ipairs(placed) do
    if overlaps(label, other) then cost = cost + BLOCKED end
  end
  return cost
end

--- The places of levels' labels.
---@param fitted table  of series.fitted
---@param x table       axes
---@param y table
---@param box table     height, of a label; letter, the width of one; offsets of a label's middle from its line, the
---                     best first; most, how much of curves and lines it may cover
---@return table[] places  by level: { line, at = its middle, is_right = }, or false if there is no place
function levels.places(fitted, x, y, box)
  local dots, places, placed, lines = dots_of(fitted, x, y), {}, {}, {}
  for i, level in ipairs(fitted.levels) do lines[i] = y.at(level.value) end
  for i, level in ipairs(fitted.levels) do
    local best, least, width = false, box.most + 1, (utf8.len(level.label) or #level.label) * box.letter
    for _, offset in ipairs(box.offsets) do
      for _, is_right in ipairs { true, false } do
        local at, left = lines[i] + offset, is_right and 1 - width or 0
        local label = { at = at, is_right = is_right, line = lines[i], left = left, right = left + width,
                        low = at - box.height / 2, high = at + box.height / 2 }
        local cost = cost_of(label, dots, lines, placed)
        if cost < least then best, least = label, cost end
      end
    end
    places[i] = best
    if best then placed[#placed + 1] = best end
  end
  return places
end

return levels
