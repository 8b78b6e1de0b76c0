-- SPDX-License-Identifier: MIT
--
-- Records as charts: a .dat file, a gnuplot script that needs no other file, SVG and PNG where
-- gnuplot is installed, and a chart in the terminal.

local failure = require "moonwarp.base.failure"
local figures = require "moonwarp.plot.figure"
local lists = require "moonwarp.base.lists"
local measurement = require "moonwarp.results.measurement"
local quantity = require "moonwarp.measure.quantity"
local record = require "moonwarp.results.record"
local schema = require "moonwarp.base.schema"
local sweep = require "moonwarp.plot.sweep"

local plot = {}

local SPEC = {
  x = "string", y = "string table", by = "string", logx = "number boolean", logy = "number boolean",
  peak = "number table", lines = schema.list "number table", title = "string", xlabel = "string", ylabel = "string",
  name = "string", unit = "string", xunit = "string", records = "table", low = "string",
  high = "string", quiet = "boolean", pictures = "boolean", square = "boolean", points = "boolean string",
}
local NEEDED = { { "x", "the field along the x axis" }, { "y", "the field, or list of fields, to show" } }

-- ---- from records to series ---------------------------------------------------------------------

local function series_name(entry, field, spec, varying)
  local parts = {}
  local group = spec.by and record.field(entry, spec.by)
  if group ~= nil then parts[1] = tostring(group) end
  parts[#parts + 1] = sweep.text(entry.params or {}, varying)
  if #parts == 0 then return field end
  if type(spec.y) == "table" then parts[#parts + 1] = field end
  return table.concat(parts, ", ")
end

local is_number = figures.is_number

-- Points that an axis cannot show are left out like records without the field; so are bounds. A benchmark is its
-- median with its interval, unless the options name fields for the bounds.
local function point_of(entry, field, spec)
  local x, y, low, high = quantity.read(record.field(entry, spec.x)), quantity.read(record.field(entry, field))
  if not (is_number(x, spec.logx) and is_number(y, spec.logy)) then return nil end
  if spec.low then low = quantity.read(record.field(entry, spec.low)) end
  if spec.high then high = quantity.read(record.field(entry, spec.high)) end
  return { x = x, y = y, low = is_number(low, spec.logy) and low or nil,
           high = is_number(high, spec.logy) and high or nil }
end

local function collect(spec, entries)
  local list, by_name = {}, {}
  -- In a sweep each combination of the parameters that vary is a series, or one of each group's.
  local varying = figures.varying(entries, { spec.x, spec.by })
  for _, field in ipairs(type(spec.y) == "table" and spec.y or { spec.y }) do
    for _, entry in ipairs(entries) do
      local point = point_of(entry, field, spec)
      local name = point and series_name(entry, field, spec, varying)
      if point then table.insert(lists.entry(list, by_name, name, { name = name, points = {} }).points, point) end
    end
  end
  for _, one in ipairs(list) do -- a path keeps its order
    if not spec.square then table.sort(one.points, function(a, b) return a.x < b.x end) end
  end
  return list
end

local function has_bounds(list)
  return lists.find(list, function(one)
    return lists.find(one.points, function(point) return point.low or point.high end)
  end) ~= nil
end

-- ---- mw.plot ------------------------------------------------------------------------------------

-- gnuplot's names of the styles of a series.
local STYLES = { alone = "points", [true] = "linespoints", [false] = "lines" }

local function figure_of(spec, entries)
  local y = type(spec.y) == "table" and spec.y[1] or spec.y
  local unit = spec.unit or measurement.common_unit(entries, y)
  local logx, logy = figures.base_of(spec.logx), figures.base_of(spec.logy)
  local about = figures.about(spec, ("%s-%s"):format(y, spec.x), ("%s against %s"):format(y, spec.x),
    record.devices(entries), entries)
  local list = collect(spec, entries)
  return lists.merged(about, {
    series = list, levels = figures.levels("mw.plot", spec.peak, "peak", spec.lines, logy, unit),
    xlabel = spec.xlabel or spec.x, ylabel = spec.ylabel or y, unit = unit,
    xunit = spec.xunit or measurement.common_unit(entries, spec.x),
    logx = logx, logy = logy, spread = has_bounds(list), square = spec.square,
    style = STYLES[spec.points == nil or spec.points],
  }), y
end

--- Draws records as a chart: in the terminal, and as RUN/NAME.dat, .gp, .svg and .png. In a sweep
--- the session's records are drawn in its last pass, each combination a series, and a chart of
--- `records` in every pass, whose values are in its title and its name.
--- Options: x, y (fields; y may be a list), by (a field: one series for each of its values), logx,
--- logy (base, or true for 10), peak (a level: number or { value =, label = }), lines (a list of
--- such), title, xlabel, ylabel, name, unit, xunit (base units: "s", "B", "B/s", ...; else those of the
--- records), records (all of the session), low, high (fields of error bars; a benchmark or a
--- quantity has its interval), square (a path in
--- a plane: points in the order of the records, one scale for both axes), points (false: only
--- lines; "alone": no lines between them), quiet, pictures (false: no SVG and PNG).
---@param spec table
---@return table made  dat, gp, svg, png (paths; the pictures only where gnuplot drew them),
---                    chart (text), reason (why there are no pictures; in a sweep only the last run
---                    draws the session's records)
function plot.draw(spec)
  figures.check("mw.plot", spec, SPEC, NEEDED)
  if spec.points and not STYLES[spec.points] then
    failure.invalid("mw.plot: option 'points' must be true, false or 'alone', got '%s'", spec.points)
  end
  local figure, y = figure_of(spec, spec.records or record.all())
  if #figure.series == 0 then
    failure.invalid("mw.plot: no record has both '%s' and '%s' as numbers", spec.x, y)
  end
  return figures.leave(spec, figure)
end

return plot
