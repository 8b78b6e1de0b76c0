-- SPDX-License-Identifier: MIT
--
-- A figure as inline SVG with its legend. Markers are symbols that the page defines once; colours are
-- classes (k1 to k8) of the style sheet, so that light and dark need no second drawing. Every point
-- has its exact values in a title, which script.js shows on hover and focus, and a browser without
-- scripts by itself.
-- Depends on ticks, units, report.axis, report.html, report.placing.

local axis = require "moonwarp.report.axis"
local html = require "moonwarp.report.html"
local placing = require "moonwarp.report.placing"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"

local svg = {}

local WIDTH <const>, HEIGHT <const>, SQUARE <const> = 480, 300, 460
local TOP <const>, BOTTOM <const>, RIGHT <const> = 30, 44, 16
local COLOURS <const> = 8
local MOST_MARKED = 150 -- points of a line without markers that still tell their values
local DIGITS <const> = 6

-- Shapes around 0, 0 of about the same weight, told apart without their colours.
local MARKERS = {
  "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z", "M-3.6-3.6H3.6V3.6H-3.6Z", "M0-4.8L4.6 3.4H-4.6Z",
  "M0-5L5 0L0 5L-5 0Z", "M0 4.8L4.6-3.4H-4.6Z", "M-1.6-4.5H1.6V-1.6H4.5V1.6H1.6V4.5H-1.6V1.6H-4.5V-1.6H-1.6Z",
  "M-4.5-2.2L-2.2-4.5L0-2.2L2.2-4.5L4.5-2.2L2.2 0L4.5 2.2L2.2 4.5L0 2.2L-2.2 4.5L-4.5 2.2L-2.2 0Z",
  "M0-5L1.4-1.6L5-1.5L2.2.8L3.2 4.4L0 2.3L-3.2 4.4L-2.2.8L-5-1.5L-1.4-1.6Z",
}

--- The markers, for once in a page.
---@return table markup
function svg.markers()
  local list = {}
  for i, path in ipairs(MARKERS) do list[i] = html.path { id = "m" .. i, d = path } end
  return html.svg { width = "0", height = "0", class = "defs", aria_hidden = "true", html.defs { list } }
end

--- The class of a series' colour and the marker of its points. The second round of colours begins one
--- marker further on: no pair comes twice in 64 series.
---@param i integer
---@return string class
---@return string marker  what a <use> names
function svg.look(i)
  local round = (i - 1) // COLOURS
  return ("k%d"):format((i - 1) % COLOURS + 1), ("#m%d"):format((i - 1 + round) % #MARKERS + 1)
end

--- A place in px, to a tenth.
---@param value number
---@return string
function svg.px(value)
  return (("%.1f"):format(value):gsub("%.0$", ""))
end

local px = svg.px

-- ---- axes ---------------------------------------------------------------------------------------

local function extent(figure)
  local e = { x0 = math.huge, x1 = -math.huge, y0 = math.huge, y1 = -math.huge }
  for _, one in ipairs(figure.series) do
    for _, point in ipairs(one.points) do
      e.x0, e.x1 = math.min(e.x0, point.x), math.max(e.x1, point.x)
      local low, high = point.low or point.y, point.high or point.y
      if figure.logy and low <= 0 then low = point.y end
      e.y0, e.y1 = math.min(e.y0, point.y, low), math.max(e.y1, point.y, high)
    end
  end
  for _, level in ipairs(figure.levels) do
    e.y0, e.y1 = math.min(e.y0, level.value), math.max(e.y1, level.value)
  end
  return e
end

local function widest(list)
  local most = 0
  for _, tick in ipairs(list) do most = math.max(most, axis.width(tick.label)) end
  return most
end

local function frame_of(left, height)
  return { x0 = left, x1 = WIDTH - RIGHT, y0 = TOP, y1 = height - BOTTOM, height = height }
end

-- One scale for both axes: the plane is widened where there is room.
local function square_axes(e)
  local frame = frame_of(54, SQUARE)
  local wide, high = frame.x1 - frame.x0, frame.y1 - frame.y0
  local a_px = math.max((e.x1 - e.x0) / wide, (e.y1 - e.y0) / high, 1e-300) * 1.08
  local cx, cy = (e.x0 + e.x1) / 2, (e.y0 + e.y1) / 2
  return frame, axis.exact(cx - a_px * wide / 2, cx + a_px * wide / 2, wide),
    axis.exact(cy - a_px * high / 2, cy + a_px * high / 2, high)
end

local function axes_of(figure)
  local e = extent(figure)
  if figure.square then return square_axes(e) end
  local y = axis.up(e.y0, e.y1, figure.logy, HEIGHT - TOP - BOTTOM)
  local frame = frame_of(math.max(34, widest(y.ticks) + 14), HEIGHT)
  return frame, axis.along(e.x0, e.x1, figure.logx, frame.x1 - frame.x0 - 12, ticks.are_whole(figure.series)), y
end

-- Places in px. Along x there is a little room at both ends, so that no marker lies on the frame.
local function scale_of(frame, x, y, square)
  local air = square and 0 or 6
  local wide, high = frame.x1 - frame.x0 - 2 * air, frame.y1 - frame.y0
  return function(value) return frame.x0 + air + x.at(value) * wide end,
    function(value) return frame.y1 - math.max(-0.02, math.min(1.02, y.at(value))) * high end
end

local function draw_axes(frame, x, y, to_x, to_y, figure)
  local parts, grid = {}, {}
  for _, tick in ipairs(y.ticks) do
    local at = to_y(tick.value)
    grid[#grid + 1] = ("M%s %sH%s"):format(px(frame.x0), px(at), px(frame.x1))
    parts[#parts + 1] = html.text { x = px(frame.x0 - 7), y = px(at + 4), class = "ty", tick.label }
  end
  for _, tick in ipairs(x.ticks) do
    local at = to_x(tick.value)
    grid[#grid + 1] = ("M%s %sV%s"):format(px(at), px(frame.y0), px(frame.y1))
    parts[#parts + 1] = html.text { x = px(at), y = px(frame.y1 + 17), class = "tx", tick.label }
  end
  local middle = (frame.x0 + frame.x1) / 2
  return html.join {
    html.path { class = "grid", d = table.concat(grid) },
    html.path { class = "frame", d = ("M%s %sV%sH%s"):format(px(frame.x0), px(frame.y0), px(frame.y1),
      px(frame.x1)) },
    parts, html.text { class = "al", x = "4", y = "14", figure.ylabel },
    html.text { class = "tx al", x = px(middle), y = px(frame.height - 8), figure.xlabel },
  }
end

-- ---- series -------------------------------------------------------------------------------------

local function value_text(value, parts)
  local text = units.digits(value + 0.0, DIGITS)
  if text:find(".", 1, true) and not text:find("e", 1, true) then
    text = text:gsub("0+$", ""):gsub("%.$", "")
  end
  return parts.unit and ("%s %s"):format(text, parts.unit) or text
end

local function title_of(one, point, figure)
  local lines = { one.name, ("%s: %s"):format(figure.x.name, value_text(point.x, figure.x)),
                  ("%s: %s"):format(figure.y.name, value_text(point.y, figure.y)) }
  if point.low then
    lines[#lines + 1] = ("from %s to %s"):format(value_text(point.low, figure.y),
      value_text(point.high, figure.y))
  end
  return table.concat(lines, "\n")
end

-- Points less than half a px from the last one drawn add nothing but bytes.
local function path_of(one, to_x, to_y)
  local parts, places, lx, ly = {}, {}, nil, nil
  for i, point in ipairs(one.points) do
    local x, y = to_x(point.x), to_y(point.y)
    local far = not lx or math.abs(x - lx) + math.abs(y - ly) >= 0.5
    if far or i == #one.points then
      parts[#parts + 1] = ("%s%s %s"):format(lx and "L" or "M", px(x), px(y))
      places[#places + 1] = { x, y }
      lx, ly = x, y
    end
  end
  return table.concat(parts), places
end

local function bars_of(one, to_x, to_y, figure)
  local parts = {}
  for _, point in ipairs(one.points) do
    if point.low and not (figure.logy and point.low <= 0) then
      local x = to_x(point.x)
      local low, high = px(to_y(point.low)), px(to_y(point.high))
      parts[#parts + 1] = ("M%s %sV%sM%s %sh6M%s %sh6"):format(px(x), low, high, px(x - 3), low, px(x - 3), high)
    end
  end
  return #parts > 0 and html.path { class = "bar", d = table.concat(parts) }
end

-- A line of very many points tells the values of some of them; where there is none, each is drawn.
local function marks_of(one, marker, to_x, to_y, figure)
  local list, stride = {}, math.max(1, math.ceil(#one.points / MOST_MARKED))
  if figure.scattered then stride = 1 end
  for i = 1, #one.points, stride do
    local point = one.points[i]
    list[#list + 1] = html.use { href = marker, x = px(to_x(point.x)), y = px(to_y(point.y)),
      html.title { title_of(one, point, figure) } }
  end
  return list
end

-- Points that no line joins, as a path each: a label may stand between them.
local function apart(places)
  local list = {}
  for i, place in ipairs(places) do list[i] = { place } end
  return list
end

local function draw_series(figure, to_x, to_y)
  local groups, paths = {}, {}
  for i, one in ipairs(figure.series) do
    local colour, marker = svg.look(i)
    local d, places = path_of(one, to_x, to_y)
    for _, path in ipairs(figure.scattered and apart(places) or { places }) do paths[#paths + 1] = path end
    groups[i] = html.g { class = ("%s%s"):format(colour, figure.lines and " plain" or ""),
      not figure.scattered and html.path { class = "line", d = d }, bars_of(one, to_x, to_y, figure) or false,
      marks_of(one, marker, to_x, to_y, figure) }
  end
  return groups, paths
end

--- The class of a level's line.
---@param i integer
---@return string
function svg.dash(i)
  return ("level d%d"):format((i - 1) % 3 + 1)
end

local function draw_levels(figure, frame, to_y, paths)
  local levels, lines = {}, {}
  for i, level in ipairs(figure.levels) do
    local y = to_y(level.value)
    levels[i] = { y = y, label = level.label }
    lines[i] = html.path { class = svg.dash(i), d = ("M%s %sH%s"):format(px(frame.x0), px(y), px(frame.x1)),
      html.title { level.label } }
  end
  local inner = { x0 = frame.x0 + 4, x1 = frame.x1 - 2, y0 = frame.y0 - 12, y1 = frame.y1 - 2 }
  local texts = {}
  for i, label in ipairs(placing.labels(levels, paths, inner)) do
    texts[i] = html.text { class = label.ends and "ll end" or "ll", x = px(label.x), y = px(label.y), label.text }
  end
  return lines, texts
end

-- ---- the whole ----------------------------------------------------------------------------------

--- A sign of the legend.
---@param class string|false|nil  of a line across it
---@param child any               what else is in it
---@return table markup
function svg.key(class, child)
  return html.svg { class = "key", viewBox = "0 0 26 12", width = "26", height = "12", aria_hidden = "true",
    class and html.path { class = class, d = "M1 6H25" }, child }
end

local function legend(figure)
  local items = {}
  for i, one in ipairs(figure.series) do
    local colour, marker = svg.look(i)
    local mark = not figure.lines and html.use { href = marker, x = "13", y = "6" }
    local sign = svg.key(not figure.scattered and "line", mark)
    items[#items + 1] = html.li { class = colour, sign, html.span { one.name } }
  end
  for i, level in ipairs(figure.levels) do
    items[#items + 1] = html.li { svg.key(svg.dash(i), false), html.span { level.label } }
  end
  return html.ul { class = "legend", items }
end

local function drawing(figure)
  local frame, x, y = axes_of(figure)
  local to_x, to_y = scale_of(frame, x, y, figure.square)
  local groups, paths = draw_series(figure, to_x, to_y)
  local lines, texts = draw_levels(figure, frame, to_y, paths)
  return html.svg { class = "chart", viewBox = ("0 0 %d %d"):format(WIDTH, frame.height), role = "group",
    aria_label = ("%s: %s against %s"):format(figure.title, figure.ylabel, figure.xlabel),
    draw_axes(frame, x, y, to_x, to_y, figure), lines, groups, texts }
end

--- A figure's title, and what is said beneath it.
---@param figure table  title, under, note
---@return table markup
function svg.caption(figure)
  return html.figcaption { html.b { figure.title }, figure.under and html.span { class = "under", figure.under },
    figure.note and html.span { class = "under", figure.note } }
end

--- A figure with its title and legend; one line of text where it has no points.
---@param figure table   of report.figure
---@return table markup
function svg.figure(figure)
  local caption = svg.caption(figure)
  if #figure.series == 0 then
    return html.figure { caption, html.p { class = "note", "This chart has no point that can be drawn." } }
  end
  return html.figure { caption, drawing(figure), legend(figure) }
end

return svg
