-- SPDX-License-Identifier: MIT
--
-- The .dat and .gp files of a ladder: horizontal bars with their names on the y axis, intervals, values
-- and shares in columns at the right, levels as dashed vertical lines, marks as points. The more bars,
-- the higher the picture.
-- Depends on gnuplot, ladder.bars, letters, units.

local bars = require "moonwarp.ladder.bars"
local gnuplot = require "moonwarp.gnuplot"
local letters = require "moonwarp.letters"
local units = require "moonwarp.units"

local script = {}

local MOST_NAME <const>, MOST_LABEL <const> = 44, 96 -- letters on the y axis, and in the key
local THICK <const> = 0.72 -- of the room between two names
local BAR_HEIGHT <const>, AROUND <const>, KEY_HEIGHT <const>, LEAST_HEIGHT <const> = 24, 120, 24, 240 -- px

-- The unit of the axis: that of the largest value, or on a logarithmic axis of the one in its middle.
local function scale_of(ladder)
  local low, high = bars.range(ladder)
  return units.choose(ladder.unit, bars.base(ladder) and math.sqrt(low * high) or high)
end

-- Where a bar's middle is along y: places count from the top, and bars of one name share one.
local function places_of(ladder)
  local list = {}
  for place, group in ipairs(bars.groups(ladder)) do
    for i, bar in ipairs(group) do
      list[#list + 1] = { bar = bar, y = place + THICK * ((i - 0.5) / #group - 0.5), half = THICK / 2 / #group }
    end
  end
  return list
end

-- ---- data ---------------------------------------------------------------------------------------

local function number(value, factor)
  return value and ("%.10g"):format(value / factor) or "?"
end

local function quoted(text)
  return '"' .. text:gsub('"', "'"):gsub("%c+", " ") .. '"'
end

local function bar_line(one, scale)
  local bar, spread = one.bar, one.bar.low and one.bar.high
  return ("%.10g %s %s %s %s %.10g %s"):format(one.y, number(bar.value, scale.factor),
    number(spread and bar.low, scale.factor), number(spread and bar.high, scale.factor), number(bar.share, 0.01),
    one.half, quoted(bar.name))
end

-- A block of bars a run, then one of points a label of marks, then one of two points a level.
local function blocks_of(ladder, scale)
  local list, labels, numbers = {}, bars.labels(ladder)
  local runs = ladder.runs or { "bars" }
  for i, name in ipairs(runs) do list[i] = { name = name } end
  for i, label in ipairs(labels) do list[#runs + i] = { name = label } end
  for _, one in ipairs(places_of(ladder)) do
    table.insert(list[one.bar.run or 1], bar_line(one, scale))
    for _, mark in ipairs(one.bar.marks or {}) do
      local line = ("%.10g %s"):format(one.y, number(mark.value, scale.factor))
      table.insert(list[#runs + numbers[mark.label]], line)
    end
  end
  for _, level in ipairs(ladder.levels) do
    local at = number(level.value, scale.factor)
    list[#list + 1] = { name = level.label, "0.4 " .. at, ("%g %s"):format(#bars.groups(ladder) + 0.6, at) }
  end
  return list
end

local function about(ladder, scale)
  local shown = units.label(ladder.xlabel, scale)
  return setmetatable({ columns = { "place from the top", shown, "low", "high", "share (%)", "half of the height",
    "name" }, levels = {} }, { __index = ladder })
end

--- The text of the .dat file.
---@param ladder table
---@return string
function script.data(ladder)
  local scale = scale_of(ladder)
  return ("%s\n%s\n"):format(gnuplot.header(about(ladder, scale)), gnuplot.blocks(blocks_of(ladder, scale), "block"))
end

-- ---- commands -----------------------------------------------------------------------------------

local function shortened(text, width)
  return gnuplot.quote(letters.shorten(text, width, "…"))
end

local function names_command(ladder)
  local names = {}
  for place, group in ipairs(bars.groups(ladder)) do
    names[place] = ("%s %d"):format(shortened(group.name, MOST_NAME), place)
  end
  return ("set ytics scale 0 (%s)"):format(table.concat(names, ", "))
end

-- Columns right of the frame, where nothing that is drawn reaches.
local function text_commands(ladder, lines)
  local widths, places = { 0, 0, 0 }, places_of(ladder)
  for _, one in ipairs(places) do
    one.texts = bars.texts(one.bar, ladder, "±")
    for c, text in ipairs(one.texts) do
      if text ~= "" then widths[c] = math.max(widths[c], letters.count(text) + 2) end
    end
  end
  for _, one in ipairs(places) do
    local at = 0
    for c, text in ipairs(one.texts) do
      at = at + widths[c]
      if text ~= "" then
        lines[#lines + 1] = ("set label %s at graph 1, first %.10g right offset character %d, 0"):format(
          gnuplot.quote(text), one.y, at)
      end
    end
  end
  lines[#lines + 1] = ("set rmargin %d"):format(widths[1] + widths[2] + widths[3] + 2)
end

local function axis_commands(ladder, scale, lines)
  local low, high = bars.range(ladder)
  local base = bars.base(ladder)
  if base then lines[#lines + 1] = ("set logscale x %g\nset format x '%%.6g'"):format(base) end
  local air = base and (high / low) ^ 0.02 or 1.02 -- what ends at the frame is seen to end
  lines[#lines + 1] = ("set xrange [%.10g:%.10g]"):format(low / scale.factor, high / scale.factor * air)
end

local function key_of(ladder)
  local list = {}
  for _, part in ipairs { ladder.runs or {}, (bars.labels(ladder)), ladder.levels } do
    for _, one in ipairs(part) do list[#list + 1] = one.label or one end
  end
  local columns = letters.widest(list) <= MOST_LABEL // 2 and 2 or 1
  return columns, math.ceil(#list / columns)
end

local function commands_of(ladder, scale)
  local lines = {
    "set datafile missing '?'",
    ("set xlabel %s noenhanced"):format(gnuplot.quote(units.label(ladder.xlabel, scale))),
    "unset grid\nset grid xtics lc rgb '#dddddd' lt 1 lw 0.5",
    ("set key vertical maxcols %d"):format((key_of(ladder))),
    ("set yrange [%g:0.4]"):format(#bars.groups(ladder) + 0.6),
    names_command(ladder),
  }
  axis_commands(ladder, scale, lines)
  text_commands(ladder, lines)
  return table.concat(lines, "\n")
end

local function has_spread(ladder, run)
  for _, bar in ipairs(ladder.bars) do
    if (bar.run or 1) == run and bar.low and bar.high then return true end
  end
  return false
end

local function run_parts(ladder, i, low, parts)
  local data, label = ("$data index %d"):format(i - 1), ladder.runs and ladder.runs[i]
  parts[#parts + 1] = ("%s using 2:1:(%.10g):2:($1-$6):($1+$6) with boxxyerror ls %d fs solid 1 noborder %s"):format(
    data, low, (i - 1) % 6 + 1, label and "title " .. shortened(label, MOST_LABEL) or "notitle")
  if has_spread(ladder, i) then
    parts[#parts + 1] = ("%s using 2:1:3:4 with xerrorbars ls 10 dt 1 lw 1.2 ps 0 notitle"):format(data)
  end
end

local function draw_command(ladder, scale)
  local parts, labels, runs = {}, bars.labels(ladder), #(ladder.runs or { "bars" })
  local low = bars.range(ladder) / scale.factor
  for i = 1, runs do run_parts(ladder, i, low, parts) end
  for i, level in ipairs(ladder.levels) do
    parts[#parts + 1] = ("$data index %d using 2:1 with lines ls %d title %s"):format(runs + #labels + i - 1,
      10 + (i - 1) % 6, shortened(level.label, MOST_LABEL))
  end
  for i, label in ipairs(labels) do
    parts[#parts + 1] = ("$data index %d using 2:1 with points ls %d title %s"):format(runs + i - 1,
      (runs + i - 1) % 6 + 1, shortened(label, MOST_LABEL))
  end
  return "plot " .. table.concat(parts, ", \\\n     ")
end

--- The text of the .gp file.
---@param ladder table
---@return string
function script.script(ladder)
  local scale, rows = scale_of(ladder), select(2, key_of(ladder))
  local height = AROUND + BAR_HEIGHT * #ladder.bars + KEY_HEIGHT * rows
  return gnuplot.frame(about(ladder, scale), gnuplot.blocks(blocks_of(ladder, scale), "block"),
    commands_of(ladder, scale), draw_command(ladder, scale), math.max(LEAST_HEIGHT, height))
end

return script
