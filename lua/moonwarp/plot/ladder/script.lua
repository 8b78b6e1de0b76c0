-- SPDX-License-Identifier: MIT
--
-- The .dat and .gp files of a ladder: horizontal bars with their names on the y axis, error bars, values
-- and shares in columns at the right, levels as dashed vertical lines, marks as points. The more bars,
-- the higher the picture.
-- Depends on gnuplot, ladder.bars, letters, ticks, units.

local bars = require "moonwarp.plot.ladder.bars"
local gnuplot = require "moonwarp.plot.gnuplot"
local utf8text = require "moonwarp.base.utf8text"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"

local script = {}

-- Letters on the y axis, below the x axis, in the key and the title.
local MOST_NAME <const>, MOST_XLABEL <const>, MOST_LABEL <const> = 32, 60, 84
local TICKS <const> = 5 -- about
local THICK <const> = 0.72 -- of the room between two names
local BAR_HEIGHT <const>, AROUND <const>, KEY_HEIGHT <const> = 26, 170, 25 -- px

-- The unit of the axis: that of the largest value, or on a logarithmic axis of the one in its middle.
local function scale_of(ladder)
  local low, high = bars.range(ladder)
  return units.choose(ladder.unit, bars.base(ladder) and math.sqrt(low * high) or high)
end

-- Where a bar's middle is along y: places count from the top, and bars of one name share one.
local function places_of(ladder)
  local list, thick = {}, THICK / #(ladder.runs or { "bars" })
  for place, group in ipairs(bars.groups(ladder)) do
    for i, bar in ipairs(group) do
      list[#list + 1] = { bar = bar, y = place + thick * (i - (#group + 1) / 2), half = thick / 2 }
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

-- What the header of a file says.
local function about(ladder, scale)
  return { name = ladder.name, title = ladder.title, device = ladder.device, script = ladder.script,
           date = ladder.date, columns = { "place from the top", units.label(ladder.xlabel, scale), "low", "high",
             "share (%)", "half of the height", "name" } }
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
  return gnuplot.quote(utf8text.shorten(text, width, "…"))
end

-- A text's width in gnuplot's characters, which are those of a wide letter; capitals are wider still.
local function width_of(text)
  return text == "" and 0 or 0.85 * utf8text.count(text) + 0.35 * select(2, text:gsub("%u", "")) + 2
end

local function name_commands(ladder, lines)
  local names, margin = {}, 0
  for place, group in ipairs(bars.groups(ladder)) do
    local name = utf8text.shorten(group.name, MOST_NAME, "…")
    names[place], margin = ("%s %d"):format(gnuplot.quote(name), place), math.max(margin, width_of(name))
  end
  lines[#lines + 1] = ("set ytics scale 0 (%s)"):format(table.concat(names, ", "))
  lines[#lines + 1] = ("set lmargin %.4g"):format(margin)
end

-- Columns right of the frame, where nothing that is drawn reaches: value and share.
local function text_commands(ladder, lines)
  local places, value, share = places_of(ladder), 0, 0
  for _, one in ipairs(places) do
    one.texts = bars.texts(one.bar, ladder, "")
    value, share = math.max(value, width_of(one.texts[1])), math.max(share, width_of(one.texts[3]))
  end
  local format = "set label %s at graph 1, first %.10g right offset character %.4g, 0"
  for _, one in ipairs(places) do
    lines[#lines + 1] = format:format(gnuplot.quote(one.texts[1]), one.y, value)
    if one.bar.share then lines[#lines + 1] = format:format(gnuplot.quote(one.texts[3]), one.y, value + share) end
  end
  lines[#lines + 1] = ("set rmargin %.4g"):format(value + share + 1)
end

local function axis_commands(ladder, scale, lines)
  local low, high = bars.range(ladder)
  local base, marks = bars.base(ladder), {}
  low, high = low / scale.factor, high / scale.factor
  for i, value in ipairs(ticks.axis(low, high, base, TICKS, true).ticks) do
    marks[i] = ("'%s' %.10g"):format(ticks.label(value), value)
  end
  if base then lines[#lines + 1] = ("set logscale x %g"):format(base) end
  lines[#lines + 1] = ("set xtics (%s)"):format(table.concat(marks, ", "))
  local air = base and (high / low) ^ 0.02 or 1.02 -- what ends at the frame is seen to end
  lines[#lines + 1] = ("set xrange [%.10g:%.10g]"):format(low, high * air)
end

-- How many rows the key has: of two columns, if both have room.
local function key_rows(ladder)
  local list = {}
  for _, part in ipairs { ladder.runs or {}, (bars.labels(ladder)), ladder.levels } do
    for _, one in ipairs(part) do list[#list + 1] = one.label or one end
  end
  return math.ceil(#list / (utf8text.widest(list) <= MOST_LABEL // 2 and 2 or 1))
end

local function commands_of(ladder, scale)
  local rows = key_rows(ladder)
  local lines = {
    "set datafile missing '?'",
    ("set xlabel %s noenhanced"):format(shortened(units.label(ladder.xlabel, scale), MOST_XLABEL)),
    "unset grid\nset grid xtics lc rgb '#dddddd' lt 1 lw 0.5",
    "set bars 0.7",
    rows == 0 and "unset key" or ("set key vertical maxrows %d"):format(rows),
    ("set yrange [%g:0.4]"):format(#bars.groups(ladder) + 0.6),
  }
  name_commands(ladder, lines)
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
  local scale = scale_of(ladder)
  local height = AROUND + BAR_HEIGHT * #ladder.bars + KEY_HEIGHT * key_rows(ladder)
  local what = about(ladder, scale)
  what.title = utf8text.shorten(what.title, MOST_LABEL, "…")
  return gnuplot.frame(what, gnuplot.blocks(blocks_of(ladder, scale), "block"),
    commands_of(ladder, scale), draw_command(ladder, scale), height)
end

return script
