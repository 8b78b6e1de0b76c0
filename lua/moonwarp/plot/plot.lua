-- SPDX-License-Identifier: MIT
--
-- Records as charts: a .dat file, a gnuplot script that needs no other file, SVG and PNG where
-- gnuplot is installed, and a chart in the terminal. Numbers along x are points of series; texts along x
-- are named bars, drawn as those of mw.ladder.

local bars = require "moonwarp.plot.bars"
local chart = require "moonwarp.plot.chart"
local failure = require "moonwarp.base.failure"
local figures = require "moonwarp.plot.figure"
local lists = require "moonwarp.base.lists"
local ladder = require "moonwarp.plot.ladder"
local fields = require "moonwarp.results.fields"
local quantity = require "moonwarp.measure.quantity"
local record = require "moonwarp.results.record"
local schema = require "moonwarp.base.schema"
local series = require "moonwarp.plot.series"
local sweep = require "moonwarp.plot.sweep"
local ticks = require "moonwarp.plot.ticks"

local POINT <const> = schema.fields { x = "number", y = "number", low = "number?", high = "number?" }

local plot = {
  name = "plot", text = chart.draw, drawing = series.drawing, merge = series.merge, axis = "logy", class = "chart",
  form = schema.fields {
    xlabel = "string", ylabel = "string", xunit = "string?", unit = "string?", logx = "number?", logy = "number?",
    style = "string?", levels = schema.list(figures.LABELLED), xmin = "number?", xmax = "number?", ymin = "number?",
    ymax = "number?", series = schema.list(schema.fields { name = "string", points = { list = POINT, least = 1 },
                                         is_named = "boolean?" }),
  },
}

function plot.values(about)
  local all = {}
  for _, one in ipairs(about.series) do
    lists.append(all, lists.map(one.points, function(point) return point.y end))
  end
  return all
end

function plot.weight(about) return #about.series end
function plot.words(about) return ("%s against %s"):format(about.ylabel, about.xlabel) end

local SPEC = {
  x = "string", y = "string table", by = "string", logx = "number boolean", logy = "number boolean",
  peak = "number table", lines = schema.list "number table", title = "string", xlabel = "string", ylabel = "string",
  name = "string", unit = "string", xunit = "string", records = fields.RECORDS, low = "string",
  high = "string", quiet = "boolean", pictures = "boolean", square = "boolean", points = "boolean string",
  xmin = "number", xmax = "number", ymin = "number", ymax = "number",
}
local NEEDED = { { "x", "the field along the x axis" }, { "y", "the field, or list of fields, to show" } }

-- ---- from records to series ---------------------------------------------------------------------

local function series_name(entry, field, spec, varying)
  local parts = {}
  local group = spec.by and fields.value(entry, spec.by)
  if group ~= nil then parts[1] = (type(group) == "number" and spec.by .. " = " or "") .. fields.text(group) end
  parts[#parts + 1] = sweep.text(entry.params or {}, varying)
  if #parts == 0 then return field end
  if type(spec.y) == "table" then parts[#parts + 1] = field end
  return table.concat(parts, ", ")
end

local is_number = figures.is_number

-- Whether the x axis has names.
local function is_named(spec, entries)
  return lists.find(entries, function(entry)
    local value = fields.value(entry, spec.x)
    local kind = type(value)
    return kind == "string" or kind == "boolean" or kind == "table" and not quantity.read(value)
  end) ~= nil
end

local function x_of(entry, spec, named)
  local value = fields.value(entry, spec.x)
  if named then return value ~= nil and fields.text(value) or nil end
  value = quantity.read(value)
  return is_number(value, spec.logx) and value or nil
end

-- Points that an axis cannot show are left out like records without the field; so are bounds. A benchmark is its
-- median with its interval, unless the options name fields for the bounds.
local function point_of(entry, field, spec, named)
  local x, y, low, high = x_of(entry, spec, named), quantity.read(fields.value(entry, field))
  if not (x and is_number(y, spec.logy)) then return nil end
  if spec.low then low = quantity.read(fields.value(entry, spec.low)) end
  if spec.high then high = quantity.read(fields.value(entry, spec.high)) end
  return { x = x, y = y, low = is_number(low, spec.logy) and low or nil,
           high = is_number(high, spec.logy) and high or nil }
end

local function collect(spec, entries, named)
  local list, by_name = {}, {}
  -- In a sweep each combination of the parameters that vary is a series, or one of each group's.
  local varying = figures.varying(entries, { spec.x, spec.by })
  for _, field in ipairs(type(spec.y) == "table" and spec.y or { spec.y }) do
    for _, entry in ipairs(entries) do
      local point = point_of(entry, field, spec, named)
      local name = point and series_name(entry, field, spec, varying)
      if point then table.insert(lists.entry(list, by_name, name, { name = name, points = {} }).points, point) end
    end
  end
  for _, one in ipairs(list) do -- a path keeps its order
    if not (spec.square or named) then table.sort(one.points, function(a, b) return a.x < b.x end) end
  end
  return list
end

-- ---- what is shown ------------------------------------------------------------------------------

-- Whether a point lies within the limits; a bar begins at 0.
local function is_shown(spec, named)
  return function(point)
    local is_along = named and point.y >= 0 or not named and ticks.within(point.x, spec.xmin, spec.xmax)
    return is_along and ticks.within(point.y, spec.ymin, spec.ymax)
  end
end

local function reject(spec, list, named)
  local y = lists.of(spec.y)[1]
  if #list == 0 then
    failure.invalid("mw.plot: no record has both '%s' and '%s'%s", spec.x, y, named and "" or " as numbers")
  end
  local limits = lists.map({ "xmin", "xmax", "ymin", "ymax" }, function(name)
    return spec[name] and ("%s = %s"):format(name, spec[name]) or nil
  end)
  if #limits == 0 then failure.invalid("mw.plot: no record has '%s' as a number of at least 0, for a bar", y) end
  failure.invalid("mw.plot: no point lies within the limits: %s", table.concat(limits, ", "))
end

-- ---- mw.plot ------------------------------------------------------------------------------------

-- gnuplot's names of the styles of a series.
local STYLES = { alone = "points", [true] = "linespoints", [false] = "lines" }

-- A chart of series along axes.
local function points_of(spec, entries, list)
  return { xlabel = spec.xlabel or spec.x, ylabel = spec.ylabel or lists.of(spec.y)[1],
    xunit = fields.shown_unit("mw.plot", spec.xunit, entries, spec.x), logx = figures.base_of(spec.logx),
    logy = figures.base_of(spec.logy), series = list, square = spec.square,
    xmin = spec.xmin, xmax = spec.xmax, ymin = spec.ymin, ymax = spec.ymax,
    style = STYLES[spec.points == nil or spec.points] }
end

-- A ladder: a bar per name, and where there are several series, those of one name side by side.
local function bars_of(spec, list)
  for _, option in ipairs { "logx", "xmin", "xmax", "square" } do
    if spec[option] then
      failure.invalid("mw.plot: option '%s' is for numbers along x, and '%s' is a text", option, spec.x)
    end
  end
  local ladders = lists.map(list, function(one)
    return { levels = {}, bars = lists.map(one.points, function(p)
      return p.y >= 0 and { name = p.x, value = p.y, low = p.low, high = p.high } or nil
    end) }
  end)
  local made = { kind = "ladder", xlabel = spec.ylabel or lists.of(spec.y)[1], logx = figures.base_of(spec.logy),
    xmin = spec.ymin, xmax = spec.ymax }
  if #list > 1 then return bars.merge(made, ladders, lists.map(list, function(one) return one.name end)) end
  return lists.merged(made, ladders[1])
end

-- The unit of all fields along y.
local function unit_of(spec, entries)
  local first, unit
  for _, field in ipairs(lists.of(spec.y)) do
    local own = fields.shown_unit("mw.plot", spec.unit, entries, field)
    if unit and unit ~= own then
      failure.invalid("mw.plot: one axis cannot show '%s' (%s) and '%s' (%s): draw a chart of each", first,
        unit == "" and "no unit" or unit, field, own == "" and "no unit" or own)
    end
    first, unit = first or field, own
  end
  return unit
end

local function figure_of(session, spec, entries)
  local y, named = lists.of(spec.y)[1], is_named(spec, entries)
  local unit, list = unit_of(spec, entries), collect(spec, entries, named)
  if not lists.find(list, function(one) return lists.find(one.points, is_shown(spec, named)) end) then
    reject(spec, list, named)
  end
  local about = figures.about(session, spec, ("%s-%s"):format(y, spec.x), ("%s against %s"):format(y, spec.x),
    record.devices(entries), entries)
  about = lists.merged(about, named and bars_of(spec, list) or points_of(spec, entries, list))
  about.unit, about.levels = unit, figures.levels("mw.plot", spec.peak, "peak", spec.lines,
    figures.base_of(spec.logy), unit)
  return about
end

local function check_names(y)
  if type(y) == "string" then return end
  local problem = #y == 0 and "option 'y' names no field" or schema.problem(y, schema.list "string", "option 'y'")
  if problem then failure.invalid("mw.plot: %s", problem) end
end

--- Draws records as a chart: in the terminal, and as RUN/NAME.dat, .gp, .svg and .png. In a sweep
--- the session's records are drawn in its last pass, each combination a series, and a chart of
--- `records` in every pass, whose values are in its title and its name.
--- Options: x, y (fields; y may be a list), by (a field: one series for each of its values), logx,
--- logy (base, or true for 10), peak (a level: number or { value =, label = }), lines (a list of
--- such), title, xlabel, ylabel, name, unit, xunit (base units: "s", "B", "B/s", ...; else those of the
--- records), records (all of the session), low, high (fields of error bars; a benchmark or a
--- quantity has its interval), xmin, xmax, ymin, ymax (limits of the axes, in base units), square (a path in
--- a plane: points in the order of the records, one scale for both axes), points (false: only
--- lines; "alone": no lines between them), quiet, pictures (false: no SVG and PNG). A text field along x
--- gives named bars, one for each series side by side; ymin, ymax and logy are then of their lengths.
---@param session table
---@param spec table
---@return table made  dat, gp, svg, png (paths; the pictures only where gnuplot drew them),
---                    chart (text), reason (why there are no pictures; in a sweep only the last run
---                    draws the session's records)
function plot.draw(session, spec)
  figures.check("mw.plot", spec, SPEC, NEEDED)
  if spec.points and not STYLES[spec.points] then
    failure.invalid("mw.plot: option 'points' must be true, false or 'alone', got '%s'", spec.points)
  end
  check_names(spec.y)
  local entries = spec.records or session.records
  figures.check_fields("mw.plot", spec, { "x", "y", "by", "low", "high" }, entries)
  local none = figures.none_of(entries)
  if none then return none end
  local about = figure_of(session, spec, entries)
  return figures.leave(session, "plot", about.kind and ladder or plot, spec, about)
end

return plot
