-- SPDX-License-Identifier: MIT
--
-- A chart in the terminal: points, joined by lines of Braille dots, axes with ticks, level lines, a
-- legend. Plain ASCII where the locale is not UTF-8. Returns text; prints nothing.
-- Depends on palette, ticks, utf8text.

local palette = require "moonwarp.plot.palette"
local utf8text = require "moonwarp.base.utf8text"
local ticks = require "moonwarp.plot.ticks"

local chart = {}

local STYLES = {
  [true] = { level = "╌", bar = "│", floor = "─", corner = "└", tick = "┤", foot = "┴", cut = "…" },
  [false] = { level = "-", bar = "|", floor = "-", corner = "+", tick = "+", foot = "+", cut = ".." },
}

-- Bit of each dot of a Braille cell, by column (0, 1) and row (0 to 3) (The Unicode Standard,
-- U+2800 ff.).
local DOTS = { [0] = { [0] = 0x01, 0x02, 0x04, 0x40 }, { [0] = 0x08, 0x10, 0x20, 0x80 } }

-- ---- canvas: cells that hold dots or a character ------------------------------------------------

local canvas_type = {}
canvas_type.__index = canvas_type

local function new_canvas(width, height, unicode)
  local canvas = { width = width, height = height, unicode = unicode, dots = {}, text = {} }
  for row = 0, height - 1 do canvas.dots[row], canvas.text[row] = {}, {} end
  return setmetatable(canvas, canvas_type)
end

function canvas_type:dot(x, y)
  local column, row = x // 2, y // 4
  if not (column >= 0 and column < self.width and row >= 0 and row < self.height) then return end
  self.dots[row][column] = (self.dots[row][column] or 0) | DOTS[x % 2][y % 4]
end

function canvas_type:put(column, row, character)
  if column >= 0 and column < self.width and row >= 0 and row < self.height then
    self.text[row][column] = character
  end
end

-- A straight line of dots (J. E. Bresenham, 1965, in its one-error form).
function canvas_type:line(x0, y0, x1, y1)
  local dx, dy = math.abs(x1 - x0), -math.abs(y1 - y0)
  local sx, sy = x0 < x1 and 1 or -1, y0 < y1 and 1 or -1
  local err = dx + dy
  while true do
    self:dot(x0, y0)
    if x0 == x1 and y0 == y1 then return end
    local twice = 2 * err
    if twice >= dy then err, x0 = err + dy, x0 + sx end
    if twice <= dx then err, y0 = err + dx, y0 + sy end
  end
end

function canvas_type:cell(column, row)
  local character = self.text[row][column]
  if character then return character end
  local bits = self.dots[row][column]
  if not bits then return " " end
  return self.unicode and utf8.char(0x2800 + bits) or "."
end

function canvas_type:row(row)
  local cells = {}
  for column = 0, self.width - 1 do cells[#cells + 1] = self:cell(column, row) end
  return (table.concat(cells):gsub("%s+$", ""))
end

-- ---- drawing ------------------------------------------------------------------------------------

local function dot_of(canvas, value_x, value_y, x, y)
  return math.floor(x.at(value_x) * (canvas.width * 2 - 1) + 0.5),
    math.floor((1 - y.at(value_y)) * (canvas.height * 4 - 1) + 0.5)
end

local function draw_levels(canvas, levels, y, style)
  for _, level in ipairs(levels) do
    local row = math.floor((1 - y.at(level.value)) * (canvas.height * 4 - 1) + 0.5) // 4
    for column = 0, canvas.width - 1 do canvas:put(column, row, style.level) end
  end
end

local function draw_series(canvas, points, x, y)
  local last_x, last_y
  for _, point in ipairs(points) do
    local px, py = dot_of(canvas, point.x, point.y, x, y)
    if last_x then canvas:line(last_x, last_y, px, py) end
    last_x, last_y = px, py
  end
end

local function draw_markers(canvas, points, x, y, marker)
  for _, point in ipairs(points) do
    local px, py = dot_of(canvas, point.x, point.y, x, y)
    canvas:put(px // 2, py // 4, marker)
  end
end

local function extent(spec)
  local e = ticks.extent(spec.series, spec.logx, spec.logy)
  for _, level in ipairs(spec.levels) do e.y0, e.y1 = math.min(e.y0, level.value), math.max(e.y1, level.value) end
  return e
end

-- ---- the frame around it ------------------------------------------------------------------------

local function y_labels(canvas, y)
  local labels, width = {}, 0
  for _, value in ipairs(y.ticks) do
    local row = math.floor((1 - y.at(value)) * (canvas.height - 1) + 0.5)
    labels[row] = ticks.label(value)
    width = math.max(width, utf8text.count(labels[row]))
  end
  return labels, width
end

local function body(canvas, y, style)
  local labels, width = y_labels(canvas, y)
  local lines = {}
  for row = 0, canvas.height - 1 do
    local label = labels[row]
    lines[#lines + 1] = utf8text.right(label or "", width) .. " " .. (label and style.tick or style.bar)
      .. canvas:row(row)
  end
  return lines, width
end

local function floor_line(canvas, x, style, indent)
  local marks = {}
  for _, value in ipairs(x.ticks) do marks[math.floor(x.at(value) * (canvas.width - 1) + 0.5)] = true end
  local cells = {}
  for column = 0, canvas.width - 1 do
    cells[#cells + 1] = marks[column] and style.foot or style.floor
  end
  return (" "):rep(indent + 1) .. style.corner .. table.concat(cells)
end

-- Labels centred under their ticks; one that would touch its left neighbour is left out.
local function x_labels(canvas, x, indent)
  local line = ""
  for _, value in ipairs(x.ticks) do
    local label = ticks.label(value)
    local column = indent + 2 + math.floor(x.at(value) * (canvas.width - 1) + 0.5) - #label // 2
    local free = column - #line
    if free >= 2 or line == "" then line = line .. (" "):rep(math.max(0, free)) .. label end
  end
  return line
end

--- The parts of a legend on as many lines as they need.
---@param parts string[]
---@param width integer  letters of a line; a longer part loses its middle
---@param mark string    in its place
---@return string[] lines
function chart.legend(parts, width, mark)
  local lines, current = {}, ""
  for _, part in ipairs(parts) do
    part = utf8text.shorten(part, width, mark)
    if current ~= "" and utf8text.count(current) + utf8text.count(part) + 3 > width then
      lines[#lines + 1] = current
      current = ""
    end
    current = current == "" and part or current .. "   " .. part
  end
  if current ~= "" then lines[#lines + 1] = current end
  return lines
end

local function legend(spec, style, indent)
  local parts = {}
  for i, one in ipairs(spec.series) do
    parts[#parts + 1] = palette.marker(i, spec.unicode) .. " " .. one.name
  end
  for _, level in ipairs(spec.levels) do
    parts[#parts + 1] = style.level:rep(3) .. " " .. level.label
  end
  local left = (" "):rep(indent + 2)
  return left .. table.concat(chart.legend(parts, spec.width - indent - 2, style.cut), "\n" .. left)
end

local function centred(text, width)
  return (" "):rep(math.max(0, (width - utf8text.count(text)) // 2)) .. text
end

--- Whether the terminal shows Unicode, by the locale's variables (POSIX: LC_ALL over LC_CTYPE over
--- LANG).
---@return boolean
function chart.unicode()
  for _, name in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
    local value = os.getenv(name)
    if value and value ~= "" then return value:upper():find("UTF%-?8") ~= nil end
  end
  return false
end

--- The width to draw in: $COLUMNS from 40 to 120, else 80.
---@return integer
function chart.width()
  local columns = math.tointeger(tonumber(os.getenv("COLUMNS") or "")) or 80
  return math.max(40, math.min(columns, 120))
end

-- Without what the axes cannot show.
local function shown_series(spec)
  local list = {}
  for i, one in ipairs(spec.series) do
    list[i] = { name = one.name, points = {} }
    for _, point in ipairs(one.points) do
      local fits = ticks.holds(point.x, spec.logx) and ticks.holds(point.y, spec.logy)
      if fits then table.insert(list[i].points, point) end
    end
  end
  return list
end

local function shown_levels(spec)
  local list = {}
  for _, level in ipairs(spec.levels or {}) do
    if ticks.holds(level.value, spec.logy) then list[#list + 1] = level end
  end
  return list
end

-- What was left out becomes the terminal's own.
local function with_defaults(spec)
  local unicode = spec.unicode
  if unicode == nil then unicode = chart.unicode() end
  return {
    series = shown_series(spec), levels = shown_levels(spec), title = spec.title or "",
    xlabel = spec.xlabel or "", ylabel = spec.ylabel or "", logx = spec.logx, logy = spec.logy,
    width = spec.width or chart.width(), height = spec.height or 16, unicode = unicode,
    joined = spec.style ~= "points",
  }
end

--- Draws a chart.
---@param spec table  series { { name =, points = { { x =, y = }, ... } } },
---                   levels { { value =, label = } }, title, xlabel, ylabel, logx, logy (bases),
---                   width, height (characters), unicode, style ("points": no lines between them)
---@return string     lines joined by newlines; "" where no series has a point
function chart.draw(spec)
  spec = with_defaults(spec)
  local e = extent(spec)
  if e.x0 == math.huge then return "" end
  local style = STYLES[spec.unicode]
  local y = ticks.axis(e.y0, e.y1, spec.logy, 5)
  local indent = 0
  for _, value in ipairs(y.ticks) do indent = math.max(indent, #ticks.label(value)) end
  local canvas = new_canvas(spec.width - indent - 3, spec.height, spec.unicode)
  local count = math.max(2, canvas.width // 6)
  if not spec.logx and ticks.are_whole(spec.series) then count = ticks.most_whole(e.x0, e.x1, count) end
  local x = ticks.axis(e.x0, e.x1, spec.logx, count, true)
  draw_levels(canvas, spec.levels, y, style)
  for _, one in ipairs(spec.joined and spec.series or {}) do draw_series(canvas, one.points, x, y) end
  for i, one in ipairs(spec.series) do
    draw_markers(canvas, one.points, x, y, palette.marker(i, spec.unicode))
  end
  local lines = body(canvas, y, style)
  table.insert(lines, 1, centred(spec.title, spec.width))
  table.insert(lines, 2, spec.ylabel)
  lines[#lines + 1] = floor_line(canvas, x, style, indent)
  lines[#lines + 1] = x_labels(canvas, x, indent)
  lines[#lines + 1] = centred(spec.xlabel, spec.width)
  lines[#lines + 1] = legend(spec, style, indent)
  return table.concat(lines, "\n")
end

return chart
