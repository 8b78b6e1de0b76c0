-- SPDX-License-Identifier: MIT
--
-- A chart of series along axes: its numbers as the axes show them, and as gnuplot draws it. A chart is as
-- docs/record.md has it, all numbers in base units.

local gnuplot = require "moonwarp.plot.gnuplot"
local lists = require "moonwarp.base.lists"
local palette = require "moonwarp.plot.palette"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"

local series = {}

local BODY <const> = 268 -- px, without the head and the key
local MOST_TOLD <const> = 150 -- points of a series that show their values
local STYLES = { lines = true, points = true, linespoints = true }

-- ---- what axes show -----------------------------------------------------------------------------

-- The largest value has the unit of an axis, or on a logarithmic one that in its middle, so that neither end gets a
-- label of many digits.
local function scales_of(chart, levels)
  local e = ticks.extent(chart)
  local wide, high = math.max(math.abs(e.x0), math.abs(e.x1)), math.max(math.abs(e.y0), math.abs(e.y1))
  for _, level in ipairs(levels) do high = math.max(high, level.value) end
  return units.choose(chart.xunit or "", chart.logx and math.sqrt(e.x0 * wide) or wide),
    units.choose(chart.unit or "", high)
end

--- A chart as its axes show it: in units that suit the values, without what the axes cannot show.
---@param chart table
---@return table chart  xlabel and ylabel with units; xname, yname without, of which xunit and unit are apart
function series.fitted(chart)
  local levels = lists.map(chart.levels or {}, function(level)
    return ticks.holds(level.value, chart.logy) and ticks.within(level.value, chart.ymin, chart.ymax) and level or nil
  end)
  local x, y = scales_of(chart, levels)
  levels = lists.map(levels, function(level) return { value = level.value / y.factor, label = level.label } end)
  local function scaled(value, scale, base)
    return value and ticks.holds(value, base) and value / scale.factor or nil
  end
  local function point_of(p)
    local to, at = scaled(p.x, x, chart.logx), scaled(p.y, y, chart.logy)
    return to and at and { x = to, y = at, low = scaled(p.low, y, chart.logy), high = scaled(p.high, y, chart.logy) }
  end
  local shown = lists.map(chart.series, function(one, i)
    local points = lists.map(one.points, point_of)
    return { name = one.name == "" and "series " .. i or one.name, points = points,
             has_bars = lists.find(points, function(p) return p.low or p.high end) ~= nil }
  end)
  local xname, yname = chart.xlabel or "", chart.ylabel or ""
  return lists.merged(chart, { series = shown, levels = levels, xname = xname, yname = yname, xunit = x.name,
    unit = y.name, xlabel = units.label(xname, x), ylabel = units.label(yname, y),
    xmin = scaled(chart.xmin, x), xmax = scaled(chart.xmax, x), ymin = scaled(chart.ymin, y),
    ymax = scaled(chart.ymax, y) })
end

-- ---- for gnuplot --------------------------------------------------------------------------------

local function blocks_of(chart)
  return lists.map(chart.series, function(one)
    local bounds = one.has_bars and "low" or nil
    local block = { name = one.name, columns = { chart.xlabel, chart.ylabel, bounds, bounds and "high" } }
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

-- Ticks at powers of 2: from the one at or below the least point, as gnuplot sets none below the first; one a
-- doubling if that leaves room for labels, else every n-th.
local function log_ticks(add, chart, e)
  local low, high = e.x0, e.x1
  if low > high then return add "set xtics auto" end
  if low == high then -- levels are drawn between the least and the greatest x
    low, high = low / chart.logx, high * chart.logx
    add("set xrange [%.10g:%.10g]", low, high)
  end
  if chart.logx ~= 2 then return end
  local first = math.floor(math.log(low, 2) + 1e-9)
  add("set xtics %.10g,%.10g", 2.0 ^ first, 2.0 ^ math.max(1, math.ceil((math.log(high, 2) - first) / 7)))
end

-- A tick for each of the whole numbers at which all points lie, if they are few: rungs, dimensions.
-- Isolated points have room beside them: one on the frame would look like a part of it.
local function count_ticks(add, chart, e)
  local few = not chart.square and e.x0 < e.x1 and e.x1 - e.x0 <= 20
  if not (few and ticks.are_whole(chart.series)) then return end
  add "set xtics 1"
  if chart.style == "points" then add("set xrange [%g:%g]", e.x0 - 0.5, e.x1 + 0.5) end
end

-- gnuplot would label a logarithmic axis with powers; the plain number says more to a reader.
local function add_axis(add, name, base, label)
  add("set %slabel %s noenhanced", name, gnuplot.quote(label))
  if base then add("set logscale %s %g\nset format %s '%%.6g'", name, base, name) end
end

-- A linear axis of what is not below 0 begins there, so that heights compare.
local function add_limits(add, chart, e)
  local from_zero = not chart.logy and not chart.square and e.y0 >= 0 and 0 or nil
  for _, axis in ipairs { { "x", chart.xmin, chart.xmax }, { "y", chart.ymin or from_zero, chart.ymax } } do
    local name, low, high = axis[1], axis[2], axis[3]
    local function word(value) return value and ("%.10g"):format(value) or "*" end
    if low or high then add("set %srange [%s:%s]", name, word(low), word(high)) end
  end
end

local function plots_of(chart)
  local list, add = gnuplot.list()
  local style = STYLES[chart.style] and chart.style or "linespoints"
  for i, one in ipairs(chart.series) do
    local data, look = ("data index %d"):format(i - 1), palette.series(i)
    local every = #one.points > MOST_TOLD and (" every %d"):format(math.ceil(#one.points / MOST_TOLD)) or ""
    add("%s using 1:2 with %s lw 2 %s title %s", data, style, look, gnuplot.shortened(one.name))
    if one.has_bars then -- a point without an interval has none, not even its caps
      add("%s using ($3 < $4 ? $1 : NaN):2:3:4 with yerrorbars %s dt 1 ps 0 notitle", data, look:gsub(" dt.*", ""))
    end
    add(gnuplot.hover(data .. every, "1:2", told(chart, one)))
  end
  for i, level in ipairs(chart.levels) do
    add("%.10g with lines %s title %s", level.value, palette.level(i), gnuplot.shortened(level.label))
  end
  return list
end

-- A plane with one scale is as high as it is wide, within bounds; that of a single point has no shape.
local function body_of(chart, e)
  local shape = (e.y1 - e.y0) / (e.x1 - e.x0)
  if not chart.square or shape ~= shape then return BODY end
  return math.floor(math.max(BODY // 2, math.min(420, 400 * shape))) + 60
end

--- A chart as gnuplot draws it.
---@param chart table
---@return table drawing  of gnuplot.script
function series.drawing(chart)
  chart = series.fitted(chart)
  local names, e = lists.map(chart.series, function(one) return one.name end), ticks.extent(chart)
  lists.append(names, lists.map(chart.levels, function(level) return level.label end))
  local rows, columns = gnuplot.key(names)
  local height = gnuplot.HEAD + body_of(chart, e) + rows * gnuplot.KEY_ROW
  local list, add = gnuplot.list()
  add_axis(add, "x", chart.logx, chart.xlabel)
  if chart.logx then log_ticks(add, chart, e) else count_ticks(add, chart, e) end
  add_axis(add, "y", chart.logy, chart.ylabel)
  add_limits(add, chart, e)
  add("set key maxcols %d", columns)
  add("set tmargin at screen %.4f", 1 - gnuplot.HEAD / height)
  if chart.square then add "set size ratio -1" end
  return { levels = chart.levels, what = "series", blocks = blocks_of(chart), settings = list,
    plots = plots_of(chart), height = height }
end

return series
