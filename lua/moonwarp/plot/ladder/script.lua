-- SPDX-License-Identifier: MIT
--
-- The .dat and .gp files of a ladder: horizontal bars with their names above them, error bars, values and
-- shares in columns at the right, levels as dashed vertical lines, marks as points. The more bars, the
-- higher the picture.
-- Depends on gnuplot, ladder.bars, palette, ticks, units, utf8text.

local bars = require "moonwarp.plot.ladder.bars"
local gnuplot = require "moonwarp.plot.gnuplot"
local palette = require "moonwarp.plot.palette"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"
local utf8text = require "moonwarp.base.utf8text"

local script = {}

-- Letters of a name, below the x axis, in the key.
local MOST_NAME <const>, MOST_LABEL <const> = 62, 60
local TICKS <const> = 5 -- about
-- px: a name, a bar, with the gap below it, the air around them, the x axis's labels, a row of the key.
local NAME <const>, BAR <const>, STEP <const>, AIR <const>, FOOT <const>, KEY_ROW <const> = 17, 13, 15, 5, 62, 18
local LETTER <const> = 7 -- px, at most
local DIGITS <const> = 5 -- of a value that is told

-- The unit of the axis: that of the largest value, or on a logarithmic axis of the one in its middle.
local function scale_of(ladder)
  local low, high = bars.range(ladder)
  return units.choose(ladder.unit, bars.base(ladder) and math.sqrt(low * high) or high)
end

-- px from one place to the next: a name and a bar of each run.
local function pitch_of(ladder)
  return NAME + STEP * #(ladder.runs or { "bars" }) + AIR
end

-- Where a bar's middle is along y: places count from the top, and bars of one name share one.
local function places_of(ladder)
  local list, pitch = {}, pitch_of(ladder)
  for place, group in ipairs(bars.groups(ladder)) do
    for i, bar in ipairs(group) do
      list[#list + 1] = { bar = bar, y = place + STEP / pitch * (i - (#group + 1) / 2), half = BAR / pitch / 2 }
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

-- What a bar tells: "naive", "T_eff: 4.2000 TB/s", "from 4.1 to 4.3 TB/s", "share: 91 %".
local function told_of(bar, ladder)
  local function amount(value) return units.format(value + 0.0, ladder.unit, DIGITS) end
  local lines = { ladder.runs and ("%s · %s"):format(bar.name, ladder.runs[bar.run]) or bar.name,
                  ("%s: %s"):format(ladder.xlabel, amount(bar.value)) }
  if bar.low and bar.high then lines[3] = ("from %s to %s"):format(amount(bar.low), amount(bar.high)) end
  if bar.share then lines[#lines + 1] = ("share: %s %%"):format(units.digits(100.0 * bar.share, 3)) end
  return gnuplot.told(lines)
end

local function bar_line(one, scale)
  local bar, spread = one.bar, one.bar.low and one.bar.high
  return ("%.6g %s %s %s %s %.4g %s"):format(one.y, number(bar.value, scale.factor),
    number(spread and bar.low, scale.factor), number(spread and bar.high, scale.factor), number(bar.share, 0.01),
    one.half, quoted(bar.name))
end

-- What a mark tells: "P100, source", "naive", "T_eff: 420 GB/s".
local function mark_line(mark, one, ladder, scale)
  local told = { mark.label, one.bar.name, ("%s: %s"):format(ladder.xlabel,
    units.format(mark.value + 0.0, ladder.unit, DIGITS)) }
  return ("%.6g %s"):format(one.y, number(mark.value, scale.factor)), gnuplot.told(told)
end

-- A block of bars a run, then one of points a label of marks, then one of two points a level. With `told`
-- what bars and marks tell stands in a column more.
local function blocks_of(ladder, scale, told)
  local list, labels, numbers = {}, bars.labels(ladder)
  local runs = ladder.runs or { "bars" }
  for i, name in ipairs(runs) do list[i] = { name = name } end
  for i, label in ipairs(labels) do list[#runs + i] = { name = label } end
  local function add(block, line, words)
    table.insert(block, told and ("%s %s"):format(line, words) or line)
  end
  for _, one in ipairs(places_of(ladder)) do
    add(list[one.bar.run or 1], bar_line(one, scale), told_of(one.bar, ladder))
    for _, mark in ipairs(one.bar.marks or {}) do
      add(list[#runs + numbers[mark.label]], mark_line(mark, one, ladder, scale))
    end
  end
  for _, level in ipairs(ladder.levels) do
    local at = number(level.value, scale.factor)
    list[#list + 1] = { name = level.label, "0 " .. at, ("%d %s"):format(#bars.groups(ladder) + 1, at) }
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

local function key_names(ladder)
  local list = {}
  for _, part in ipairs { ladder.runs or {}, (bars.labels(ladder)), ladder.levels } do
    for _, one in ipairs(part) do list[#list + 1] = utf8text.shorten(one.label or one, MOST_LABEL, "…") end
  end
  return list
end

-- Names stand above their bars, at the left end; values and shares right of the frame.
local function text_commands(ladder, lines)
  local pitch, places, value, share = pitch_of(ladder), places_of(ladder), 0, 0
  for place, group in ipairs(bars.groups(ladder)) do
    lines[#lines + 1] = ("set label %s at graph 0, first %.6g left offset character 0.4, 0 front"):format(
      shortened(group.name, MOST_NAME), place - (STEP * #group / 2 + NAME / 2 - 1) / pitch)
  end
  for _, one in ipairs(places) do
    one.texts = bars.texts(one.bar, ladder, "")
    value, share = math.max(value, #one.texts[1]), math.max(share, #one.texts[3])
  end
  local edge = gnuplot.WIDTH - 4 - (share > 0 and share * LETTER + 12 or 0)
  local format = "set label %s at screen %.4f, first %.6g right"
  for _, one in ipairs(places) do
    lines[#lines + 1] = format:format(gnuplot.quote(one.texts[1]), edge / gnuplot.WIDTH, one.y)
    if one.bar.share then
      lines[#lines + 1] = format:format(gnuplot.quote(one.texts[3]), 1 - 4 / gnuplot.WIDTH, one.y)
    end
  end
  lines[#lines + 1] = ("set lmargin at screen %.4f"):format(18 / gnuplot.WIDTH)
  lines[#lines + 1] = ("set rmargin at screen %.4f"):format((edge - value * LETTER - 10) / gnuplot.WIDTH)
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

-- How high the bars are, and the picture, in px.
local function heights_of(ladder)
  local pitch = pitch_of(ladder)
  local body = pitch * #bars.groups(ladder) + AIR
  return body, gnuplot.HEAD + body + FOOT + KEY_ROW * gnuplot.key(key_names(ladder)), pitch
end

local function commands_of(ladder, scale)
  local body, height, pitch = heights_of(ladder)
  local rows, above = gnuplot.key(key_names(ladder)), pitch - AIR - STEP * #(ladder.runs or { "bars" }) / 2
  local lines = {
    "set datafile missing '?'",
    ("set xlabel %s noenhanced"):format(shortened(units.label(ladder.xlabel, scale), MOST_LABEL)),
    "unset grid\nset grid xtics lt 1 lw 1 lc rgb '" .. palette.colour "grid" .. "'",
    "set bars 0.7\nunset ytics",
    rows == 0 and "unset key"
      or ("set key at screen 0.5, screen %.4f center bottom vertical maxrows %d"):format(4 / height, rows),
    ("set tmargin at screen %.4f"):format(1 - gnuplot.HEAD / height),
    ("set bmargin at screen %.4f"):format(1 - (gnuplot.HEAD + body) / height),
    ("set yrange [%.6g:%.6g]"):format(1 - (above + AIR) / pitch + body / pitch, 1 - (above + AIR) / pitch),
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
  parts[#parts + 1] = ("%s using 2:1:(%.10g):2:($1-$6):($1+$6) with boxxyerror %s fs solid 1 noborder %s"):format(
    data, low, palette.series(i):gsub(" dt.*", ""), label and "title " .. shortened(label, MOST_LABEL) or "notitle")
  if has_spread(ladder, i) then
    parts[#parts + 1] = ("%s using 2:1:3:4 with xerrorbars lc rgb '%s' lw 1.2 ps 0 notitle"):format(data,
      palette.colour "text")
  end
  parts[#parts + 1] = gnuplot.hover(data, "2:1", 8)
end

local function draw_command(ladder, scale)
  local parts, labels, runs = {}, bars.labels(ladder), #(ladder.runs or { "bars" })
  local low = bars.range(ladder) / scale.factor
  for i = 1, runs do run_parts(ladder, i, low, parts) end
  for i, level in ipairs(ladder.levels) do
    parts[#parts + 1] = ("$data index %d using 2:1 with lines %s title %s"):format(runs + #labels + i - 1,
      palette.level(i), shortened(level.label, MOST_LABEL))
  end
  for i, label in ipairs(labels) do
    local data = ("$data index %d"):format(runs + i - 1)
    parts[#parts + 1] = ("%s using 2:1 with points %s title %s"):format(data, palette.mark(i),
      shortened(label, MOST_LABEL))
    parts[#parts + 1] = gnuplot.hover(data, "2:1", 3)
  end
  return "plot " .. table.concat(parts, ", \\\n     ")
end

--- The text of the .gp file.
---@param ladder table
---@return string
function script.script(ladder)
  local scale = scale_of(ladder)
  local _, height = heights_of(ladder)
  return gnuplot.frame(about(ladder, scale), gnuplot.blocks(blocks_of(ladder, scale, true), "block"),
    commands_of(ladder, scale), draw_command(ladder, scale),
    { width = gnuplot.WIDTH, height = height, font = 12, hover = true })
end

return script
