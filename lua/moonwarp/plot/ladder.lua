-- SPDX-License-Identifier: MIT
--
-- mw.ladder: records as named horizontal bars, one a record, each with its share of a level, its
-- interval and what others measured for it. Drawn as mw.plot's charts are: in the terminal, as
-- data, as a gnuplot script, as SVG and PNG.

local bars = require "moonwarp.plot.bars"
local bars_script = require "moonwarp.plot.bars_script"
local bars_text = require "moonwarp.plot.bars_text"
local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"
local figures = require "moonwarp.plot.figure"
local lists = require "moonwarp.base.lists"
local fields = require "moonwarp.results.fields"
local nearest = require "moonwarp.base.nearest"
local quantity = require "moonwarp.measure.quantity"
local record = require "moonwarp.results.record"
local sweep = require "moonwarp.plot.sweep"
local ticks = require "moonwarp.plot.ticks"

local BARS_A_SERIES <const> = 6 -- bars take so much less room than series

local ladder = {
  name = "ladder", text = bars_text.draw, drawing = bars_script.drawing, merge = bars.merge, axis = "logx",
  class = "chart ladder",
  form = schema.fields {
    xlabel = "string", unit = "string", logx = "number?", levels = schema.list(figures.LABELLED), xmin = "number?",
    xmax = "number?", runs = schema.optional(schema.list "string"),
    bars = { least = 1, list = schema.fields { name = "string", value = "number", low = "number?", high = "number?",
      share = "number?", run = "integer?", marks = schema.optional(schema.list(figures.LABELLED)) } },
  },
}

--- The problem of a bar of a run that is not listed, or nil.
---@param about table
---@param where string
---@return string?
function ladder.problem(about, where)
  return schema.numbers(about.bars, "run", about.runs and #about.runs or 1, where .. ".bars")
end

function ladder.values(about) return lists.map(about.bars, function(bar) return bar.value end) end
function ladder.weight(about) return #about.bars / BARS_A_SERIES end
function ladder.words(about) return about.xlabel end

local MARK = schema.fields { bar = "string", value = "number", label = "string" }
local SPEC = {
  x = "string", by = schema.list "string", low = "string", high = "string", share = "string",
  level = "number table", lines = schema.list "number table", marks = schema.list(MARK),
  records = fields.RECORDS, title = "string", name = "string", xlabel = "string",
  unit = "string", logx = "number boolean", xmin = "number", xmax = "number", quiet = "boolean", pictures = "boolean",
}
local NEEDED = { { "x", "the field that a bar's length shows" },
                 { "by", "the field, or list of fields, that names a bar" } }

-- ---- from records to bars -----------------------------------------------------------------------

local function own_name(entry, spec)
  local parts = lists.map(spec.by, function(field)
    local value = fields.value(entry, field)
    return value ~= nil and fields.text(value) or nil
  end)
  return #parts > 0 and table.concat(parts, ", ") or nil
end

local function number(entry, field)
  local value, low, high = quantity.read(field and fields.value(entry, field))
  if figures.is_number(value) then return value, low, high end
end

-- Records without a value that the axis can show, or without a name, are left out; a bar begins at 0.
local function bar_of(entry, spec, base)
  local name, value, low, high = own_name(entry, spec), number(entry, spec.x)
  if not (name and value and value >= 0 and figures.is_number(value, base)) then return nil end
  low, high = number(entry, spec.low) or low, number(entry, spec.high) or high
  if not (figures.is_number(low) and figures.is_number(high)) then low, high = nil, nil end
  return { name = name, value = value, low = low, high = high, share = number(entry, spec.share) }
end

-- The bars in the order of the records, and by the names that their fields give. In a sweep the
-- combinations of the parameters that vary are told apart by what follows the name.
local function collect(spec, entries, base)
  local list, by_name = {}, {}
  local varying = figures.varying(entries, spec.by)
  for _, entry in ipairs(entries) do
    local bar = bar_of(entry, spec, base)
    if bar then
      by_name[bar.name] = by_name[bar.name] or {}
      table.insert(by_name[bar.name], bar)
      list[#list + 1] = bar
      bar.name = table.concat({ bar.name, sweep.text(entry.params or {}, varying) }, ", ")
    end
  end
  return list, by_name
end

local function add_mark(mark, by_name, base)
  if not by_name[mark.bar] then
    failure.invalid("mw.ladder: a mark names no bar: '%s'; %s", mark.bar, nearest.hint(mark.bar, by_name))
  end
  if not figures.is_number(mark.value, base) then return end
  for _, bar in ipairs(by_name[mark.bar]) do
    bar.marks = bar.marks or {}
    table.insert(bar.marks, { value = mark.value, label = mark.label })
  end
end

local function figure_of(session, spec, entries)
  local base, unit = figures.base_of(spec.logx), fields.shown_unit("mw.ladder", spec.unit, entries, spec.x)
  local list, by_name = collect(spec, entries, base)
  local levels = figures.levels("mw.ladder", spec.level, "level", spec.lines, base, unit)
  if spec.level and spec.share and levels[1] then levels[1].label = levels[1].label .. " = 100 %" end
  for _, mark in ipairs(#list > 0 and spec.marks or {}) do add_mark(mark, by_name, base) end
  local about = figures.about(session, spec, ("%s-%s"):format(spec.x, table.concat(spec.by, "-")),
    ("%s by %s"):format(spec.x, table.concat(spec.by, ", ")), record.devices(entries), entries)
  return lists.merged(about, { kind = "ladder", xlabel = spec.xlabel or spec.x, unit = unit, logx = base, bars = list,
                               levels = levels, xmin = spec.xmin, xmax = spec.xmax })
end

-- ---- mw.ladder ----------------------------------------------------------------------------------

--- Draws records as named horizontal bars, the first on top: in the terminal, and as RUN/NAME.dat, .gp,
--- .svg and .png. In a sweep as mw.plot does: the session's records in its last pass, each combination
--- a bar, and a ladder of `records` in every pass.
--- Options: x (the field that a bar's length shows), by (the field that names a bar, or several), low,
--- high (fields of its interval), share (a field, shown in percent), level (what shares are of: number
--- or { value =, label = }), lines (a list of such), marks (a list of { bar =, value =, label = }:
--- points next to bars), title, xlabel, name, unit (base unit of x), logx (base, or true for 10),
--- xmin, xmax (limits of the axis, in base units), records (all of the session), quiet, pictures (false:
--- no SVG and PNG).
---@param session table
---@param spec table
---@return table made  as of mw.plot
function ladder.draw(session, spec)
  if type(spec) == "table" then
    spec = lists.merged(spec, { by = type(spec.by) == "string" and { spec.by } or spec.by })
  end
  figures.check("mw.ladder", spec, SPEC, NEEDED)
  if #spec.by == 0 then failure.invalid("mw.ladder: option 'by' names no field, which would name a bar") end
  local entries = spec.records or session.records
  figures.check_fields("mw.ladder", spec, { "x", "by", "low", "high", "share" }, entries)
  local none = figures.none_of(entries)
  if none then return none end
  local about = figure_of(session, spec, entries)
  if #about.bars == 0 then
    failure.invalid("mw.ladder: no record has '%s' as a number %s 0", spec.x,
      about.logx and "above" or "of at least")
  end
  if not lists.find(about.bars, function(bar) return ticks.within(bar.value, spec.xmin, spec.xmax) end) then
    failure.invalid "mw.ladder: no bar ends within the limits xmin and xmax"
  end
  return figures.leave(session, "ladder", ladder, spec, about)
end

return ladder
