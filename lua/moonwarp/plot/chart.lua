-- SPDX-License-Identifier: MIT
--
-- A chart in the terminal: points, joined by lines of Braille dots, axes with ticks, level lines, a
-- legend. Plain ASCII if the locale is not UTF-8. Returns text; prints nothing.

local levels = require "moonwarp.plot.levels"
local lists = require "moonwarp.base.lists"
local palette = require "moonwarp.plot.palette"
local series = require "moonwarp.plot.series"
local ticks = require "moonwarp.plot.ticks"
local utf8text = require "moonwarp.base.utf8text"

local chart = {}

local STYLES = {
  [true] = { levels = { "╌", "┈", "╍" }, bar = "│", floor = "─", corner = "└", tick = "┤", foot = "┴", cut = "…" },
  [false] = { levels = { "-", "=", "~" }, bar = "|", floor = "-", corner = "+", tick = "+", foot = "+", cut = ".." },
}
local HEIGHT <const> = 16 -- lines of the canvas

-- Bit of each dot of a Braille cell, by column and row, from 0 (The Unicode Standard, U+2800 ff.).
local DOTS = { [0] = { [0] = 0x01, 0x02, 0x04, 0x40 }, { [0] = 0x08, 0x10, 0x20, 0x80 } }

-- ---- cells: a character, or the bits of its dots ------------------------------------------------

local function put_dot(rows, x, y)
  local row, column = rows[y // 4], x // 2
  local bits = row and row[column] or 0
  if row and math.type(bits) then
    row[column] = bits | DOTS[x % 2][y % 4]
    row.paints[column] = rows.series
  end
end

local function put_line(rows, x0, y0, x1, y1)
  local steps = math.max(math.abs(x1 - x0), math.abs(y1 - y0), 1)
  for i = 0, steps do
    put_dot(rows, math.floor(x0 + (x1 - x0) * i / steps + 0.5), math.floor(y0 + (y1 - y0) * i / steps + 0.5))
  end
end

local function put_text(row, column, text)
  for _, code in utf8.codes(utf8text.valid(text)) do
    row[column] = utf8.char(code)
    column = column + 1
  end
end

-- With the cells of a series in its colour: `paints` has their series.
local function row_text(row, width, unicode, paints)
  local cells = {}
  for column = 0, width - 1 do
    local cell = row[column] or " "
    if math.type(cell) then cell = unicode and utf8.char(0x2800 + cell) or "." end
    if paints and paints[column] then cell = palette.paint(cell, paints[column]) end
    cells[column + 1] = cell
  end
  return utf8text.trim_end(table.concat(cells))
end

-- ---- a canvas -----------------------------------------------------------------------------------

-- The place of a value along an axis, from 0.
local function place(at, count)
  return math.floor(math.max(0, math.min(at, 1)) * (count - 1) + 0.5)
end

local FAR <const>, EDGE <const> = 1e9, 1e-9 -- lengths of an axis

local function is_inside(at)
  return at >= -EDGE and at <= 1 + EDGE
end

-- The part of a line that lies on the canvas, from 0 to 1 along both axes; nil if none does
-- (Y.-D. Liang and B. A. Barsky, "A new concept and method for line clipping", 1984).
local function clipped(x0, y0, x1, y1)
  local from, to, dx, dy = 0, 1, x1 - x0, y1 - y0
  for _, edge in ipairs { { -dx, x0 }, { dx, 1 - x0 }, { -dy, y0 }, { dy, 1 - y0 } } do
    local step, left = edge[1], edge[2] + EDGE
    if step < 0 then from = math.max(from, left / step) elseif step > 0 then to = math.min(to, left / step) end
    if step == 0 and left < 0 then return nil end
  end
  if from <= to then return x0 + from * dx, y0 + from * dy, x0 + to * dx, y0 + to * dy end
end

local function axes_of(fitted, labels_wide)
  local e = ticks.extent(fitted)
  for _, level in ipairs(fitted.levels) do e.y0, e.y1 = math.min(e.y0, level.value), math.max(e.y1, level.value) end
  if e.x0 == math.huge then return nil end
  local y = ticks.axis(e.y0, e.y1, fitted.logy, 5, false, fitted.ymin, fitted.ymax)
  local indent = utf8text.widest(y.labels)
  local width = labels_wide - indent - 3
  local count = math.max(2, width // 6)
  if not fitted.logx and ticks.are_whole(fitted.series) then -- no tick between two whole numbers
    count = math.max(1, math.min(count, e.x1 > e.x0 and e.x1 - e.x0 or 2))
  end
  return ticks.axis(e.x0, e.x1, fitted.logx, count, true, fitted.xmin, fitted.xmax), y, width, indent
end

-- What draws on a canvas: a line between two places along both axes, and a marker at one.
local function pens_of(rows, x, y, width, height)
  local function along(axis, value) return math.max(-FAR, math.min(axis.at(value), FAR)) end
  local function dot_of(at, up) return place(at, 2 * width), place(1 - up, 4 * height) end
  local function join(xa, ya, xb, yb)
    local x0, y0, x1, y1 = clipped(along(x, xa), along(y, ya), along(x, xb), along(y, yb))
    if not x0 then return end
    local px, py = dot_of(x0, y0)
    put_line(rows, px, py, dot_of(x1, y1))
  end
  local function mark(xa, ya, sign)
    local at, up = x.at(xa), y.at(ya)
    if not (is_inside(at) and is_inside(up)) then return end
    local px, py = dot_of(at, up)
    rows[py // 4][px // 2] = sign
    rows[py // 4].paints[px // 2] = rows.series
  end
  return join, mark
end

local function sign_of(i, style)
  return style.levels[(i - 1) % #style.levels + 1]
end

-- The labels of levels, at an end of their lines; those that have no room there are left over.
local function put_labels(fitted, rows, x, y, width, height, unicode)
  local box = { height = 0.9 / height, letter = 1 / width, offsets = { 0 }, most = 0 }
  local function row_of(value) return place(1 - y.at(value), 4 * height) // 4 end
  local lines = { at = function(value) return 1 - (row_of(value) + 0.5) / height end }
  local shown = lists.map(fitted.levels, function(level)
    return { value = level.value, label = (" %s "):format(level.label) }
  end)
  local places = levels.places(lists.merged(fitted, { levels = shown }), x, lines, box)
  return lists.map(fitted.levels, function(level, i)
    local at, text = places[i], shown[i].label
    if not at then return { sign = sign_of(i, STYLES[unicode]), label = level.label } end
    put_text(rows[row_of(level.value)], at.is_right and width - utf8text.count(text) or 0, text)
  end)
end

-- Levels lie under lines and error bars, and all of them under markers.
local function rows_of(fitted, x, y, width, height, unicode)
  local rows, style = {}, STYLES[unicode]
  for row = 0, height - 1 do rows[row] = { paints = {} } end
  local join, mark = pens_of(rows, x, y, width, height)
  for i, one in ipairs(fitted.levels) do
    local row = rows[place(1 - y.at(one.value), 4 * height) // 4]
    for column = 0, width - 1 do row[column] = sign_of(i, style) end
  end
  local unplaced = put_labels(fitted, rows, x, y, width, height, unicode)
  for s, one in ipairs(fitted.series) do
    rows.series = s
    for i, p in ipairs(one.points) do
      local before = fitted.style ~= "points" and one.points[i - 1]
      if before then join(before.x, before.y, p.x, p.y) end
      if p.low or p.high then join(p.x, p.low or p.y, p.x, p.high or p.y) end
    end
  end
  for i, one in ipairs(fitted.series) do
    rows.series = i
    for _, point in ipairs(one.points) do mark(point.x, point.y, palette.marker(i, unicode)) end
  end
  return rows, unplaced
end

-- ---- the frame around it ------------------------------------------------------------------------

-- The floor with its marks, and their labels, centred; one that would touch its left neighbour is left out.
local function foot(x, width, indent, style)
  local cells, labels = {}, ""
  for column = 1, width do cells[column] = style.floor end
  for i, value in ipairs(x.ticks) do
    local column, label = place(x.at(value), width), x.labels[i]
    local free = indent + 2 + column - #label // 2 - #labels
    cells[column + 1] = style.foot
    if free >= 2 or labels == "" then labels = labels .. (" "):rep(math.max(0, free)) .. label end
  end
  return (" "):rep(indent + 1) .. style.corner .. table.concat(cells), labels
end

--- The parts of a legend on as many lines as they need.
---@param parts string[]
---@param width integer   letters of a line; a longer part loses its middle
---@param mark string     in its place
---@param paints table?   the series whose colour a part's first letter has, by the part's number
---@return string[] lines
function chart.legend(parts, width, mark, paints)
  local lines, count = {}, width
  for i, part in ipairs(parts) do
    part = utf8text.shorten(part, width, mark)
    local more = utf8text.count(part)
    if paints and paints[i] then
      part = part:gsub("^" .. utf8.charpattern, function(sign) return palette.paint(sign, paints[i]) end)
    end
    if count + 3 + more <= width then
      lines[#lines], count = ("%s   %s"):format(lines[#lines], part), count + 3 + more
    else
      lines[#lines + 1], count = part, more
    end
  end
  return lines
end

-- A single series needs no name; levels that have their label at the line need none here.
local function legend(fitted, unplaced, unicode)
  local names = #fitted.series > 1 and fitted.series or {}
  return lists.append(lists.map(names, function(one, i) return palette.marker(i, unicode) .. " " .. one.name end),
    lists.map(unplaced, function(level) return level.sign:rep(3) .. " " .. level.label end))
end

local function centred(text, width)
  return (" "):rep((width - utf8text.count(text)) // 2) .. text
end

-- By the locale's variables (POSIX: LC_ALL over LC_CTYPE over LANG).
local function shows_unicode()
  local name = lists.find({ "LC_ALL", "LC_CTYPE", "LANG" }, function(name) return (os.getenv(name) or "") ~= "" end)
  return name ~= nil and os.getenv(name):upper():find("UTF%-?8") ~= nil
end

-- The program knows its terminal; another interpreter does not.
local function host()
  return package.loaded["moonwarp.host"] or {}
end

--- The size of the terminal of our output, where it is one that moves its cursor and has colours.
---@return integer? columns
---@return integer? lines
function chart.screen()
  local terminal = host().terminal
  if not (terminal and terminal(1)) or (os.getenv "TERM" or "dumb") == "dumb" then return nil end
  local columns, lines = host().columns()
  return columns or 80, lines or 24
end

-- https://no-color.org
local function shows_colour()
  return chart.screen() ~= nil and (os.getenv "NO_COLOR" or "") == ""
end

-- $COLUMNS, the terminal's width, or 80; within 40 to 120.
local function columns()
  local width = math.tointeger(tonumber(os.getenv "COLUMNS" or "")) or host().columns and host().columns() or 80
  return math.max(40, math.min(width, 120))
end

--- The size to draw in, and whether in colour: as given, else as the terminal and the locale have it.
---@param size table?  width (letters), unicode, colour
---@return integer width
---@return boolean unicode
---@return boolean colour
function chart.size(size)
  size = size or {}
  local unicode, colour = size.unicode, size.colour
  if unicode == nil then unicode = shows_unicode() end
  if colour == nil then colour = shows_colour() end
  return size.width or columns(), unicode, colour
end

local SPARE <const> = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

--- One letter per word: its first letter that no other word has, else an unused one.
---@param words string[]
---@return string[]
function chart.signs(words)
  local signs, taken = {}, {}
  for i, word in ipairs(words) do
    for sign in (word:gsub("%W", "") .. SPARE):gmatch "." do
      signs[i] = sign
      if not taken[sign] then break end
    end
    taken[signs[i]] = true
  end
  return signs
end

--- Draws a chart.
---@param about table  as docs/record.md has it
---@param size table?  width, height (letters, lines), unicode; by default the terminal's
---@return string      lines joined by newlines; "" where no series has a point
function chart.draw(about, size)
  local width, unicode, colour = chart.size(size)
  local fitted, style, height = series.fitted(about), STYLES[unicode], size and size.height or HEIGHT
  local x, y, wide, indent = axes_of(fitted, width)
  if not x then return "" end
  local lines, labels = { centred(about.title or "", width), fitted.ylabel }, {}
  for i, value in ipairs(y.ticks) do labels[place(1 - y.at(value), height)] = y.labels[i] end
  local rows, unplaced = rows_of(fitted, x, y, wide, height, unicode)
  for row = 0, height - 1 do
    lines[row + 3] = ("%s %s%s"):format(utf8text.right(labels[row] or "", indent),
      labels[row] and style.tick or style.bar, row_text(rows[row], wide, unicode, colour and rows[row].paints))
  end
  lines[#lines + 1], lines[#lines + 2] = foot(x, wide, indent, style)
  lines[#lines + 1] = centred(fitted.xlabel, width)
  local paints = colour and lists.map(#fitted.series > 1 and fitted.series or {}, function(_, i) return i end)
  local parts = legend(fitted, unplaced, unicode)
  for _, line in ipairs(chart.legend(parts, width - indent - 2, style.cut, paints)) do
    lines[#lines + 1] = (" "):rep(indent + 2) .. line
  end
  return table.concat(lines, "\n")
end

return chart
