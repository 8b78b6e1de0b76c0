-- SPDX-License-Identifier: MIT
--
-- Where the labels of level lines go inside a chart: beside their line, over nothing else. A label
-- that finds no free place is not drawn; the legend has it in any case.
-- Depends on report.axis (width).

local axis = require "moonwarp.report.axis"

local placing = {}

local SIZE <const>, HEIGHT <const> = 10, 13 -- px of a label: letters are narrower than digits on the whole
local GAP <const> = 3 -- between a line and its label
local NEAR <const> = 6 -- what a marker takes around its point

local function overlap(a, b)
  return a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1
end

-- Boxes along a path, close enough that nothing slips between them.
local function add_path(boxes, path)
  for i, point in ipairs(path) do
    local before = path[i - 1] or point
    local dx, dy = point[1] - before[1], point[2] - before[2]
    local steps = math.max(1, math.ceil(math.max(math.abs(dx), math.abs(dy)) / NEAR))
    for s = 1, steps do
      local x, y = before[1] + dx * s / steps, before[2] + dy * s / steps
      boxes[#boxes + 1] = { x0 = x - NEAR, x1 = x + NEAR, y0 = y - NEAR, y1 = y + NEAR }
    end
  end
end

local function is_free(box, boxes, lines, own, frame)
  if box.y0 < frame.y0 or box.y1 > frame.y1 or box.x0 < frame.x0 or box.x1 > frame.x1 then return false end
  for _, other in ipairs(boxes) do
    if overlap(box, other) then return false end
  end
  for i, y in ipairs(lines) do
    if i ~= own and y > box.y0 - 1 and y < box.y1 + 1 then return false end
  end
  return true
end

-- The right end first, above the line before below it.
local function places(y, width, frame)
  local list, span = {}, frame.x1 - frame.x0 - width
  for _, share in ipairs { 1, 0, 0.75, 0.5, 0.25 } do
    local x = share == 1 and frame.x1 - width or frame.x0 + span * share
    for _, top in ipairs { y - GAP - HEIGHT, y + GAP } do
      list[#list + 1] = { x0 = x, x1 = share == 1 and frame.x1 or x + width, y0 = top, y1 = top + HEIGHT }
    end
  end
  return list
end

--- Finds places for labels.
---@param levels table[]   { y = (px), label = }
---@param paths table[]    of the series: lists of { x, y } in px
---@param frame table      x0, x1, y0, y1: where labels may stand
---@return table[] labels  { x =, y = (of the baseline), text =, ends = (at x, not begins) }
function placing.labels(levels, paths, frame)
  local boxes, lines, labels = {}, {}, {}
  for _, path in ipairs(paths) do add_path(boxes, path) end
  for i, level in ipairs(levels) do lines[i] = level.y end
  for i, level in ipairs(levels) do
    for _, box in ipairs(places(level.y, axis.width(level.label, SIZE), frame)) do
      if is_free(box, boxes, lines, i, frame) then
        boxes[#boxes + 1] = box
        local ends = box.x1 == frame.x1
        labels[#labels + 1] = { x = ends and box.x1 or box.x0, y = box.y1 - GAP, text = level.label, ends = ends }
        break
      end
    end
  end
  return labels
end

return placing
