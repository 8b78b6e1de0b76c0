-- SPDX-License-Identifier: MIT
--
-- Records as charts: a .dat file, a gnuplot script that needs nothing beside it, SVG and PNG where
-- gnuplot is installed, and a chart in the terminal.
-- Depends on schema, figure, path, record, sweep, ticks, units.

local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"
local figures = require "moonwarp.plot.figure"
local path = require "moonwarp.base.path"
local record = require "moonwarp.results.record"
local sweep = require "moonwarp.plot.sweep"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"

local plot = {}

local SPEC = {
  x = "string", y = "string table", by = "string", logx = "number boolean", logy = "number boolean",
  peak = "number table", lines = "table", title = "string", xlabel = "string", ylabel = "string",
  name = "string", unit = "string", xunit = "string", records = "table", low = "string",
  high = "string", quiet = "boolean", pictures = "boolean", square = "boolean", points = "boolean string",
}

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

-- Points that an axis cannot show are left out like records without the field; so are bounds.
local function point_of(entry, field, spec)
  local x, y = record.field(entry, spec.x), record.field(entry, field)
  if not (is_number(x) and is_number(y)) then return nil end
  if not (ticks.holds(x, spec.logx) and ticks.holds(y, spec.logy)) then return nil end
  local low, high = spec.low and record.field(entry, spec.low), spec.high and record.field(entry, spec.high)
  return { x = x, y = y, low = is_number(low) and low or nil, high = is_number(high) and high or nil }
end

local function collect(spec, entries)
  local list, by_name = {}, {}
  -- In a sweep each combination of the parameters that vary is a series, or one of each group's.
  local varying = figures.varying(entries, { spec.x, spec.by })
  for _, field in ipairs(type(spec.y) == "table" and spec.y or { spec.y }) do
    for _, entry in ipairs(entries) do
      local point = point_of(entry, field, spec)
      local name = point and series_name(entry, field, spec, varying)
      if point and not by_name[name] then
        by_name[name] = { name = name, points = {} }
        list[#list + 1] = by_name[name]
      end
      if point then table.insert(by_name[name].points, point) end
    end
  end
  for _, one in ipairs(list) do -- a path goes where it goes
    if not spec.square then table.sort(one.points, function(a, b) return a.x < b.x end) end
  end
  return list
end

-- ---- scales, labels, titles ---------------------------------------------------------------------

local function scaled(series, xscale, yscale)
  local list = {}
  for i, one in ipairs(series) do
    list[i] = { name = one.name, points = {} }
    for j, p in ipairs(one.points) do
      list[i].points[j] = { x = p.x / xscale.factor, y = p.y / yscale.factor,
                            low = p.low and p.low / yscale.factor, high = p.high
                              and p.high / yscale.factor }
    end
  end
  return list
end

local function scaled_levels(levels, yscale)
  local list = {}
  for i, level in ipairs(levels) do list[i] = { value = level.value / yscale.factor, label = level.label } end
  return list
end

local function first_field(spec)
  return type(spec.y) == "table" and spec.y[1] or spec.y
end

-- The value whose unit an axis takes: the largest, or on a logarithmic axis the one in its middle, so
-- that neither end gets a label of many digits.
local function typical_x(e, log)
  local most = math.max(math.abs(e.x0), math.abs(e.x1))
  return log and math.sqrt(e.x0 * most) or most
end

-- How gnuplot calls what is drawn of a series.
local function style_of(spec)
  if spec.points == "alone" then return "points" end
  return spec.points == false and "lines" or "linespoints"
end

-- Everything that the writers need, with numbers in the units that the axes show.
local function figure_of(spec, entries)
  local series, yfield = collect(spec, entries), first_field(spec)
  local unit = spec.unit or units.of(yfield)
  local levels = figures.levels("mw.plot", spec.peak, "peak", spec.lines, spec.logy, unit)
  local e = ticks.extent(series)
  local most = math.max(math.abs(e.y0), math.abs(e.y1))
  for _, level in ipairs(levels) do most = math.max(most, level.value) end
  local xscale = units.choose(spec.xunit or units.of(spec.x), typical_x(e, spec.logx))
  local yscale = units.choose(unit, most)
  local title = spec.title or ("%s against %s"):format(yfield, spec.x)
  local name = spec.name or ("%s-%s-%s"):format(path.script(), yfield, spec.x)
  local pass = figures.pass_of(spec, entries)
  return {
    name = path.safe(figures.of_pass(name, "-", pass)),
    title = ("%s, %s"):format(figures.of_pass(title, ", ", pass), record.devices(entries)),
    series = scaled(series, xscale, yscale), levels = scaled_levels(levels, yscale),
    xlabel = units.label(spec.xlabel or spec.x, xscale), ylabel = units.label(spec.ylabel or yfield, yscale),
    xfactor = xscale.factor, yfactor = yscale.factor,
    logx = figures.base_of(spec.logx), logy = figures.base_of(spec.logy),
    spread = spec.low ~= nil and spec.high ~= nil,
    device = record.devices(entries), script = path.script(), date = os.date("!%Y-%m-%d %H:%M UTC"),
    square = spec.square, style = style_of(spec),
  }
end

-- ---- mw.plot ------------------------------------------------------------------------------------

local function check_spec(spec)
  if type(spec) ~= "table" then failure.invalid("mw.plot: a table is wanted, got " .. type(spec)) end
  schema.options("mw.plot", spec, SPEC)
  if not spec.x then failure.invalid("mw.plot: option 'x' is needed: the field along the x axis") end
  if not spec.y then
    failure.invalid("mw.plot: option 'y' is needed: the field, or list of fields, to show")
  end
  figures.check_base("mw.plot", "logx", spec.logx)
  figures.check_base("mw.plot", "logy", spec.logy)
  if type(spec.points) == "string" and spec.points ~= "alone" then
    failure.invalid("mw.plot: option 'points' must be true, false or 'alone', got '%s'", spec.points)
  end
end

--- Draws records as a chart: in the terminal, and as RUN/NAME.dat, .gp, .svg and .png. In a sweep
--- the session's records are drawn in its last pass, each combination a series, and a chart of
--- `records` in every pass, whose values are in its title and its name.
--- Options: x, y (fields; y may be a list), by (a field: one series for each of its values), logx,
--- logy (base, or true for 10), peak (a level: number or { value =, label = }), lines (a list of
--- such), title, xlabel, ylabel, name, unit, xunit (base units: "s", "B", "B/s", ...; known for the
--- usual fields), records (all of the session), low, high (fields of error bars), square (a path in
--- a plane: points in the order of the records, one scale for both axes), points (false: lines
--- alone; "alone": no lines between them), quiet, pictures (false: no SVG and PNG).
---@param spec table
---@return table made  dat, gp, svg, png (paths; the pictures only where gnuplot drew them),
---                    chart (text), reason (why there are no pictures; in a sweep only the last run
---                    draws the session's records)
function plot.draw(spec)
  check_spec(spec)
  local figure = figure_of(spec, spec.records or record.all())
  if #figure.series == 0 then
    failure.invalid("mw.plot: no record has both '%s' and '%s' as numbers", spec.x, first_field(spec))
  end
  return figures.leave(spec, figure)
end

return plot
