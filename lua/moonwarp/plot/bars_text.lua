-- SPDX-License-Identifier: MIT
--
-- A ladder in the terminal: one line per bar, followed by its value, half of its interval and its share,
-- the levels as vertical lines, a letter a mark, a legend. Returns text; prints nothing.

local bars = require "moonwarp.plot.bars"
local chart = require "moonwarp.plot.chart"
local lists = require "moonwarp.base.lists"
local ticks = require "moonwarp.plot.ticks"
local utf8text = require "moonwarp.base.utf8text"

local text = {}

local STYLES = {
  [true] = { fills = { "█", "▓", "▒", "░", "▚", "■", "▬", "·" },
             parts = { "▏", "▎", "▍", "▌", "▋", "▊", "▉" },
             levels = { "╎", "┊", "┆" }, cut = "…", sign = "±" },
  [false] = { fills = { "#", "=", "-", "+", "*", "o", "x", "." }, parts = {}, levels = { "|", ":", "!" },
              cut = "..", sign = "+-" },
}
local LEAST_NAME <const>, LEAST_BAR <const> = 8, 10 -- letters

-- ---- one bar ------------------------------------------------------------------------------------

local function place_of(value, axis, width)
  return math.max(0, math.min(1, axis.at(value))) * width
end

-- Full cells, and in Unicode an eighth of one at the end; the least that is not nothing shows.
local function fill(cells, bar, axis, width, style)
  local length, sign = place_of(bar.value, axis, width), style.fills[((bar.run or 1) - 1) % #style.fills + 1]
  local whole = math.floor(length + 0.5)
  if sign ~= style.fills[1] or #style.parts == 0 then
    for i = 1, whole do cells[i] = sign end
    return
  end
  local eighths = math.max(bar.value > 0 and 1 or 0, math.floor(8 * length + 0.5))
  for i = 1, eighths // 8 do cells[i] = sign end
  if eighths % 8 > 0 then cells[eighths // 8 + 1] = style.parts[eighths % 8] end
end

-- A mark next to another takes the next free cell.
local function add_marks(cells, bar, axis, width, signs, numbers)
  local taken = {}
  for _, mark in ipairs(bar.marks or {}) do
    local at = math.floor(place_of(mark.value, axis, width)) + 1
    local to = at
    while taken[to] do to = to + 1 end
    while to > width + 1 or taken[to] and to > 1 do to = to - 1 end
    cells[to], taken[to] = signs[numbers[mark.label]], true
  end
end

-- One cell more than the largest value takes: a line at it is drawn after its bar.
local function cells_of(bar, ladder, axis, width, style)
  local cells = {}
  for i = 1, width + 1 do cells[i] = " " end
  fill(cells, bar, axis, width, style)
  for i = #ladder.levels, 1, -1 do
    cells[math.floor(place_of(ladder.levels[i].value, axis, width)) + 1] = style.levels[(i - 1) % #style.levels + 1]
  end
  add_marks(cells, bar, axis, width, style.signs, style.numbers)
  return table.concat(cells)
end

-- ---- columns ------------------------------------------------------------------------------------

-- Texts of each bar, and how wide each column is with the space before it; 0: no bar has such.
local function columns_of(ladder, style)
  local rows, widths = {}, { 0, 0, 0 }
  for i, bar in ipairs(ladder.bars) do
    rows[i] = bars.texts(bar, ladder, style.sign)
    for c, cell in ipairs(rows[i]) do
      if cell ~= "" then widths[c] = math.max(widths[c], utf8text.count(cell) + 1) end
    end
  end
  return rows, widths
end

-- Names get what they need up to half of the rest; where bars would be too short, the intervals go.
local function layout(ladder, widths, width)
  local widest = utf8text.widest(lists.map(ladder.bars, function(bar) return bar.name end))
  local function share()
    local left = width - widths[1] - widths[2] - widths[3] - 2
    local name = math.min(widest, math.max(LEAST_NAME, left // 2))
    return name, left - name
  end
  local name, bar = share()
  if bar < LEAST_BAR and widths[2] > 0 then
    widths[2] = 0
    name, bar = share()
  end
  return name, math.max(1, bar)
end

local function behind(cells, widths)
  return table.concat(lists.map(widths, function(width, c)
    return width > 0 and utf8text.right(cells[c], width) or nil
  end))
end

-- ---- around the bars ----------------------------------------------------------------------------

local function legend(ladder, labels, style, width)
  local parts = {}
  local function add(signs, names)
    for i, one in ipairs(names) do
      parts[#parts + 1] = ("%s %s"):format(signs[(i - 1) % #signs + 1], one.label or one)
    end
  end
  add(style.fills, ladder.runs or {})
  add(style.levels, ladder.levels)
  add(style.signs, labels)
  return chart.legend(parts, width, style.cut)
end

local function quantity(ladder, axis)
  if not axis.base then return ladder.xlabel end
  return ("%s (logarithmic, from %s)"):format(ladder.xlabel, bars.value(axis.low, ladder))
end

--- Draws a ladder.
---@param ladder table   as docs/record.md has it
---@param size table?    width (letters), unicode; by default the terminal's
---@return string        lines joined by newlines, none wider than that
function text.draw(ladder, size)
  local width, unicode = chart.size(size)
  ladder = lists.merged(ladder, { levels = bars.levels(ladder) })
  local labels, numbers = bars.labels(ladder)
  local style = setmetatable({ signs = chart.signs(labels), numbers = numbers }, { __index = STYLES[unicode] })
  local low, high = bars.range(ladder)
  local axis = ticks.axis(low, high, bars.base(ladder), 5, true)
  local rows, widths = columns_of(ladder, style)
  local name, cells = layout(ladder, widths, width)
  local lines, number = { ladder.title, quantity(ladder, axis) }, 0
  for _, group in ipairs(bars.groups(ladder)) do
    for i, bar in ipairs(group) do
      number = number + 1
      local shown = i == 1 and utf8text.shorten(group.name, name, style.cut) or ""
      lines[#lines + 1] = ("%s %s%s"):format(utf8text.left(shown, name), cells_of(bar, ladder, axis, cells, style),
        behind(rows[number], widths))
    end
  end
  lists.append(lines, legend(ladder, labels, style, width))
  return table.concat(lists.map(lines, function(line)
    return utf8text.shorten(utf8text.trim_end(line), width, style.cut)
  end), "\n")
end

return text
