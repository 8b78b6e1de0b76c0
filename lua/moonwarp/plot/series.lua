-- SPDX-License-Identifier: MIT
--
-- A chart of series along axes: its numbers as the axes show them, and as gnuplot draws it. A chart is as
-- docs/record.md has it, all numbers in base units.

local gnuplot = require "moonwarp.plot.gnuplot"
local levels = require "moonwarp.plot.levels"
local lists = require "moonwarp.base.lists"
local palette = require "moonwarp.plot.palette"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"

local series = {}

local BODY <const> = 206 -- px, of the axes
local AIR <const> = 0.025 -- of an axis, beyond the outermost points, which the frame would cut
local DODGE <const> = 0.006 -- of an axis, between series with error bars
local HAIR <const> = 1e-7 -- of a logarithmic axis
local MOST_ALONG <const>, UPRIGHT_LETTER <const> = 60, 6 -- letters of the x axis's label, px of one of the y axis's
-- A level's label, in parts of the axes: they are about 430 px wide.
local LETTER <const>, LABEL <const>, HEAD <const> = 6.9 / 430, 18, 18 / (BODY - 18)
local MOST_TOLD <const> = 150 -- points of a series that show their values
local STYLES = { lines = true, points = true, linespoints = true }

-- ---- what axes show -----------------------------------------------------------------------------

-- The largest value has the unit of an axis, or on a logarithmic one that in its middle, so that neither end gets a
-- label of many digits.
local function scales_of(chart, lines)
  local e = ticks.extent(chart)
  local wide, high = math.max(math.abs(e.x0), math.abs(e.x1)), math.max(math.abs(e.y0), math.abs(e.y1))
  for _, level in ipairs(lines) do high = math.max(high, level.value) end
  return units.choose(chart.xunit or "", chart.logx and math.sqrt(e.x0 * wide) or wide),
    units.choose(chart.unit or "", high)
end

-- A name with 0 in place of each number, and these: "n = -1.5, 32x8" gives "n = 0, 0x0" and -1.5, 32, 8.
local function numbers_of(name)
  local numbers = {}
  local function note(text)
    numbers[#numbers + 1] = tonumber(text)
    return "0"
  end
  local shape = name:gsub("[^%s,]+", function(word)
    return tonumber(word) and note(word) or (word:gsub("%d+%.?%d*", note))
  end)
  return shape, numbers
end

-- Series whose names differ only in numbers are in the order of these: n = 64, n = 256, n = 1024.
local function by_number(list)
  local shape, keys = nil, {}
  for i, one in ipairs(list) do
    local own, numbers = numbers_of(one.name)
    if own ~= (shape or own) then return list end
    shape, keys[one] = own, numbers
    table.insert(keys[one], i) -- of equal ones the first
  end
  table.sort(list, function(a, b)
    for k, number in ipairs(keys[a]) do
      if number ~= keys[b][k] then return number < keys[b][k] end
    end
    return false
  end)
  return list
end

--- A chart as its axes show it: in units that suit the values, without what the axes cannot show.
---@param chart table
---@return table chart  xlabel and ylabel with units; xname, yname without, of which xunit and unit are apart
function series.fitted(chart)
  local lines = lists.filter(chart.levels or {}, function(level)
    return ticks.holds(level.value, chart.logy) and ticks.within(level.value, chart.ymin, chart.ymax)
  end)
  local x, y = scales_of(chart, lines)
  lines = lists.map(lines, function(level) return { value = level.value / y.factor, label = level.label } end)
  local function scaled(value, scale, base)
    return value and ticks.holds(value, base) and value / scale.factor or nil
  end
  local function point_of(p)
    local to, at = scaled(p.x, x, chart.logx), scaled(p.y, y, chart.logy)
    return to and at and { x = to, y = at, low = scaled(p.low, y, chart.logy), high = scaled(p.high, y, chart.logy) }
  end
  local shown = lists.map(chart.series, function(one, i)
    local points = lists.map(one.points, point_of)
    return { name = one.name == "" and "series " .. i or one.name, points = points, is_named = one.is_named,
             has_bars = lists.find(points, function(p) return p.low or p.high end) ~= nil }
  end)
  local xname, yname = chart.xlabel or "", chart.ylabel or ""
  return lists.merged(chart, { series = by_number(shown), levels = lines, xname = xname, yname = yname, xunit = x.name,
    unit = y.name, xlabel = units.label(xname, x), ylabel = units.label(yname, y),
    xmin = scaled(chart.xmin, x), xmax = scaled(chart.xmax, x), ymin = scaled(chart.ymin, y),
    ymax = scaled(chart.ymax, y) })
end

-- ---- for gnuplot --------------------------------------------------------------------------------

local function blocks_of(chart)
  return lists.map(chart.series, function(one)
    local bounds = one.has_bars and "low" or nil
    local label = #chart.series > 1 and ("%s, %s"):format(one.name, chart.ylabel) or chart.ylabel
    local block = { name = one.name, columns = { chart.xlabel, label, bounds, bounds and "high" } }
    return lists.append(block, lists.map(one.points, function(p)
      local line = ("%.10g %.10g"):format(p.x, p.y)
      return one.has_bars and ("%s %.10g %.10g"):format(line, p.low or p.y, p.high or p.y) or line
    end))
  end)
end

-- The hypertext of a series' points: "naive", "threads: 64", "T_tot: 480 GB/s".
local function told(chart, one)
  local function line(label, unit)
    return ("%s: %%.6g%s"):format(gnuplot.constant(label), unit ~= "" and " " .. gnuplot.constant(unit) or "")
  end
  local text = gnuplot.told({ gnuplot.constant(one.name), line(chart.xname, chart.xunit),
    line(chart.yname, chart.unit) }, "$1, $2")
  if not one.has_bars then return text end
  return ('%s.($3 < $2 || $4 > $2 ? %s : "")'):format(text, gnuplot.told({ "", "from %.6g to %.6g" }, "$3, $4"))
end

-- An axis with room beyond its points, unless its limits are given; isolated points at whole numbers have more.
local function with_air(axis, least, most, is_wide)
  local low, high = axis.low, axis.high
  if is_wide then
    low, high = low - 0.5, high + 0.5
  elseif axis.base then
    local factor = (high / low) ^ AIR
    low, high = low / factor, high * factor
  else
    low, high = low - AIR * (high - low), high + AIR * (high - low)
  end
  return ticks.between(axis, least or low, most or high)
end

-- Room for the label of a level at the upper end of an axis.
local function with_head(axis, chart)
  for _, level in ipairs(chart.ymax and {} or chart.levels) do
    if axis.at(level.value) > 1 - HEAD then
      local factor = axis.base and (axis.high / axis.low) ^ HEAD
      return ticks.between(axis, axis.low, factor and axis.high * factor or axis.high + HEAD * (axis.high - axis.low))
    end
  end
  return axis
end

-- The axes. A linear one of values that are not below 0 begins there, so that heights compare.
local function axes_of(chart)
  local e = ticks.extent(chart)
  if e.x0 > e.x1 then e = { x0 = 1, x1 = 1, y0 = 1, y1 = 1 } end
  for _, level in ipairs(chart.levels) do e.y0, e.y1 = math.min(e.y0, level.value), math.max(e.y1, level.value) end
  local count = chart.logx and 12 or 7
  local is_counted = not (chart.logx or chart.square) and ticks.are_whole(chart.series)
  if is_counted and e.x1 - e.x0 <= 20 then count = math.max(1, e.x1 - e.x0) end -- rungs, dimensions
  local x = ticks.axis(e.x0, e.x1, chart.logx, count, true, chart.xmin, chart.xmax)
  local y = ticks.axis(e.y0, e.y1, chart.logy, 6, chart.square, chart.ymin, chart.ymax)
  with_air(x, chart.xmin, chart.xmax, is_counted and chart.style == "points" and e.x1 - e.x0 <= 20)
  return x, chart.square and with_air(y, chart.ymin, chart.ymax) or with_head(y, chart), e
end

-- The ends of an axis for gnuplot, which compares logarithms: rounding would put an end beyond itself, and cut its tick
-- and the points at it.
local function ends_of(axis)
  local more = axis.base and (axis.high / axis.low) ^ HAIR or 1
  return axis.low / more, axis.high * more
end

local function add_axis(add, name, axis, label, most_letters, least, most)
  add("set %slabel %s", name, gnuplot.shortened(label, most_letters))
  if axis.base then add("set logscale %s %g", name, axis.base) end
  local low, high = ends_of(axis)
  local function word(limit, value) return limit and ("%.10g"):format(value) or "*" end
  add("set %srange [%s:%s]", name, word(least, low), word(most, high))
  add("set %stics (%s)", name, table.concat(lists.map(axis.ticks, function(value, i)
    return ("%s %.10g"):format(gnuplot.quote(axis.labels[i]), value)
  end), ", "))
end

-- Levels as lines from frame to frame, with labels at their ends; those that have no room there go into the key.
local function add_levels(add, chart, x, y, body)
  local height = LABEL / body
  local box = { height = height, letter = LETTER, offsets = { height / 2, -height / 2 }, most = 8 }
  local names = {}
  for i, place in ipairs(levels.places(chart, x, y, box)) do
    local label, value = gnuplot.shortened(chart.levels[i].label), chart.levels[i].value
    add("set arrow from graph 0, first %.10g to graph 1, first %.10g nohead %s", value, value, palette.level(i))
    if place then
      add("set label %s at graph %g, first %.10g %s offset character 0, %g textcolor rgb '%s' front", label,
        place.is_right and 0.995 or 0.01, value, place.is_right and "right" or "left",
        place.at > place.line and 0.75 or -0.7, palette.level_colour(i))
    else
      names[i] = label
    end
  end
  return names
end

-- Where gnuplot draws a series along x, as a value and as a column: series with error bars stand a little next to each
-- other, or the bars would hide each other.
local function dodged(x, place, count)
  if count < 2 or not place then return "$1", "1" end
  local part = (place - (count + 1) / 2) * DODGE
  local at = x.base and ("$1*%.6g"):format((x.high / x.low) ^ part) or ("$1+%.6g"):format((x.high - x.low) * part)
  return at, ("(%s)"):format(at)
end

-- Names at the last points of series, instead of in the key.
local function add_names(add, chart)
  for _, one in ipairs(chart.series) do
    local last = one.is_named and one.points[#one.points]
    if last then
      add("set label %s at first %.10g, first %.10g left offset character 0.6, 0.4 textcolor rgb '%s' front",
        gnuplot.shortened(one.name), last.x, last.y, palette.colour "text")
    end
  end
end

-- A single series needs no name.
local function plots_of(chart, x, level_names)
  local list, add = gnuplot.list()
  add "$frame using 1:2 with dots lc rgb '#ff000000' notitle"
  local function title(one)
    return #chart.series > 1 and not one.is_named and "title " .. gnuplot.shortened(one.name) or "notitle"
  end
  local style = STYLES[chart.style] and chart.style or "linespoints"
  local places, count = {}, 0
  for _, one in ipairs(chart.series) do
    if one.has_bars then count, places[one] = count + 1, count + 1 end
  end
  for i, one in ipairs(chart.series) do
    local at, place = dodged(x, places[one], count)
    local data, look = ("data index %d"):format(i - 1), palette.series(i)
    local every = #one.points > MOST_TOLD and (" every %d"):format(math.ceil(#one.points / MOST_TOLD)) or ""
    add("%s using %s:2 with %s lw 2 %s %s", data, place, style, look, title(one))
    if one.has_bars then -- a point without an interval has none, not even its caps
      add("%s using ($3 < $4 ? %s : NaN):2:3:4 with yerrorbars %s dt 1 ps 0 notitle", data, at,
        (look:gsub(" dt.*", "")))
    end
    add(gnuplot.hover(data .. every, place .. ":2", told(chart, one)))
  end
  for i in ipairs(chart.levels) do
    if level_names[i] then add("NaN with lines %s title %s", palette.level(i), level_names[i]) end
  end
  return list
end

-- A plane with one scale is as high as it is wide, within bounds; that of a single point has no shape.
local function body_of(chart, e)
  local shape = (e.y1 - e.y0) / (e.x1 - e.x0)
  if not chart.square or shape ~= shape then return BODY end
  return math.floor(math.max(BODY // 2, math.min(420, 400 * shape)))
end

--- A chart as gnuplot draws it.
---@param chart table
---@return table drawing  of gnuplot.script
function series.drawing(chart)
  chart = series.fitted(chart)
  local x, y, e = axes_of(chart)
  local list, add = gnuplot.list()
  local body = body_of(chart, e)
  add_axis(add, "x", x, chart.xlabel, MOST_ALONG, chart.xmin, chart.xmax)
  add_axis(add, "y", y, chart.ylabel, body // UPRIGHT_LETTER, chart.ymin, chart.ymax)
  -- Two corners make the range, as gnuplot takes no bounds of it on a logarithmic axis; what else comes into the data
  -- file widens it.
  local x0, x1 = ends_of(x)
  local y0, y1 = ends_of(y)
  add("$frame << END_OF_FRAME\n%.10g %.10g\n%.10g %.10g\nEND_OF_FRAME", x0, y0, x1, y1)
  local level_names = add_levels(add, chart, x, y, body)
  add_names(add, chart)
  local names = #chart.series > 1 and lists.map(chart.series, function(one)
    return not one.is_named and one.name or nil
  end) or {}
  for i in pairs(level_names) do names[#names + 1] = chart.levels[i].label end
  local height = gnuplot.frame(add, body, names)
  if chart.square then add "set size ratio -1" end
  return { levels = chart.levels, what = "series", blocks = blocks_of(chart), settings = list,
    plots = plots_of(chart, x, level_names), height = height }
end

--- The series of charts of several runs in one, each with its run's label.
---@param into table     the chart that gets them
---@param charts table[]
---@param labels string[]
---@return table into
function series.merge(into, charts, labels)
  local alone = not lists.find(charts, function(one) return #one.series > 1 end)
  into.series, into.levels = {}, {}
  for i, chart in ipairs(charts) do
    for _, one in ipairs(chart.series) do
      table.insert(into.series, { points = one.points, name = alone and labels[i]
        or ("%s: %s"):format(labels[i], one.name) })
    end
    for _, level in ipairs(chart.levels) do
      table.insert(into.levels, { value = level.value, label = ("%s: %s"):format(labels[i], level.label) })
    end
  end
  return into
end

return series
