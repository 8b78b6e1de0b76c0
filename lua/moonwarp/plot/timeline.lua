-- SPDX-License-Identifier: MIT
--
-- Who was busy when: spans in lanes, as a chart (SVG, PNG), as rows of letters in the terminal, and as
-- a trace that Perfetto and chrome://tracing open (Trace Event Format: complete events, in microseconds).

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local schema = require "moonwarp.base.schema"
local figure = require "moonwarp.plot.figure"
local gnuplot = require "moonwarp.plot.gnuplot"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local palette = require "moonwarp.plot.palette"
local terminal = require "moonwarp.plot.chart"
local units = require "moonwarp.base.units"
local utf8text = require "moonwarp.base.utf8text"

local timeline = { name = "timeline", form = schema.fields {
  lanes = schema.list "string", kinds = schema.list "string",
  spans = { least = 1, list = schema.fields { lane = "integer", kind = "integer", from = "number", to = "number" } },
} }

--- The problem of a span of a lane or kind that is not listed, or nil.
---@param about table
---@param where string
---@return string?
function timeline.problem(about, where)
  return schema.numbers(about.spans, "lane", #about.lanes, where .. ".spans")
    or schema.numbers(about.spans, "kind", #about.kinds, where .. ".spans")
end

local SPEC = {
  name = "string", title = "string", spans = schema.list "table", engines = "boolean", device = "device",
  quiet = "boolean", pictures = "boolean",
}
local SPAN = { lane = "string", kind = "string", from = "number", to = "number", label = "string" }
local MOST_KINDS = 8 -- as many as there are colours
local MOST_LETTERS = 32 -- of a lane's name, in the terminal and the chart; the trace has all
local THIN = 1 / 400 -- of the chart's width: a shorter span is drawn this wide, to be visible
local ROUNDING = 1e-6 -- of a column: 10.003 - 10.001 is not quite 0.002
-- px: a lane, all of them at least and at most, and what a name needs.
local LANE <const>, LANES_LEAST <const>, LANES_MOST <const>, FIT <const> = 34, 100, 300, 17

local function check_span(span, i)
  schema.options(("mw.timeline: span %d"):format(i), span, SPAN)
  for _, name in ipairs { "lane", "kind", "from", "to" } do
    local value = span[name]
    if value == nil then failure.invalid("mw.timeline: span %d has no '%s'", i, name) end
    if type(value) == "number" and value - value ~= 0 then
      failure.invalid("mw.timeline: span %d: '%s' must be a finite time", i, name)
    end
  end
  if span.to < span.from then
    failure.invalid("mw.timeline: span %d ends before it begins: from %g to %g s", i, span.from, span.to)
  end
end

-- Spans with seconds for events, counted from the first one that is met.
local function in_seconds(spans)
  local origin
  local function seconds(at)
    if core.type(at) ~= "event" then return at end
    origin = origin or at
    return at:since(origin)
  end
  return lists.map(spans, function(span)
    return lists.merged(span, { from = seconds(span.from), to = seconds(span.to) })
  end)
end

-- An event marks when its stream reaches it, not when an engine begins the work. If one engine serves each
-- kind, a span begins at the end of the previous one of its kind.
local function on_engines(spans)
  local by_end, free = table.move(spans, 1, #spans, 1, {}), {}
  table.sort(by_end, function(a, b) return a.to < b.to end)
  for _, span in ipairs(by_end) do
    span.from = math.min(span.to, math.max(span.from, free[span.kind] or span.from))
    free[span.kind] = span.to
  end
end

-- The names in the order of their first spans, and their numbers.
local function numbered(spans, field)
  local names, numbers = lists.unique(lists.map(spans, function(span) return span[field] end)), {}
  for i, name in ipairs(names) do numbers[name] = i end
  return names, numbers
end

-- Times from the first begin, lanes and kinds as numbers.
local function arrange(spans, engines)
  for i, span in ipairs(spans) do check_span(span, i) end
  if engines then on_engines(spans) end
  local start, lanes, lane_numbers = math.huge, numbered(spans, "lane")
  local kinds, kind_numbers = numbered(spans, "kind")
  if #kinds > MOST_KINDS then
    failure.invalid("mw.timeline: %d kinds of spans, a chart shows %d at most", #kinds, MOST_KINDS)
  end
  for _, span in ipairs(spans) do start = math.min(start, span.from) end
  return { kind = "timeline", lanes = lanes, kinds = kinds, spans = lists.map(spans, function(span)
    return { lane = lane_numbers[span.lane], kind = kind_numbers[span.kind], from = span.from - start,
             to = span.to - start, label = span.label }
  end) }
end

local function length_of(chart)
  local length = 0
  for _, span in ipairs(chart.spans) do length = math.max(length, span.to) end
  return length
end

-- ---- the terminal -------------------------------------------------------------------------------

-- A lane's letters, in the colours of their kinds.
local function row_of(chart, lane, signs, length, columns, colour)
  local cells, scale = {}, length > 0 and columns / length or 0
  for c = 1, columns do cells[c] = "." end
  for _, span in ipairs(chart.spans) do
    if span.lane == lane then
      local first = math.min(columns, math.floor(span.from * scale + ROUNDING) + 1)
      local last = math.min(columns, math.max(first, math.ceil(span.to * scale - ROUNDING)))
      local sign = signs[span.kind]
      for c = first, last do cells[c] = colour and palette.paint(sign, span.kind) or sign end
    end
  end
  return table.concat(cells)
end

--- A timeline in the terminal: one row of letters per lane, a letter per kind, and a legend.
---@param chart table    as record.json has it
---@param size table?    width (letters), unicode, colour; by default the terminal's
---@return string        lines joined by newlines, none wider than that
function timeline.text(chart, size)
  local width, unicode, colour = terminal.size(size)
  local length, signs, cut = length_of(chart), terminal.signs(chart.kinds), unicode and "…" or "."
  local names = lists.map(chart.lanes, function(lane)
    return utf8text.cut(utf8text.clean(lane):gsub("%c+", " "), math.min(MOST_LETTERS, width // 3), cut)
  end)
  local wide = utf8text.widest(names)
  local lines = { utf8text.shorten(chart.title, width, cut) }
  for i, name in ipairs(names) do
    lines[#lines + 1] = ("  %s %s"):format(utf8text.left(name, wide),
      row_of(chart, i, signs, length, width - wide - 3, colour))
  end
  local parts = lists.map(chart.kinds, function(kind, k) return ("%s %s"):format(signs[k], kind) end)
  table.insert(parts, 1, "0 to " .. units.format(length, "s"))
  local paints = colour and lists.map(parts, function(_, i) return i > 1 and i - 1 end)
  for _, line in ipairs(terminal.legend(parts, width - wide - 3, cut, paints)) do
    lines[#lines + 1] = (" "):rep(wide + 3) .. line
  end
  return table.concat(lines, "\n")
end

-- ---- files --------------------------------------------------------------------------------------

-- A block a kind; lanes are counted from below.
local function blocks_of(chart, scale)
  local blocks = lists.map(chart.kinds, function(kind) return { name = kind } end)
  for _, span in ipairs(chart.spans) do
    table.insert(blocks[span.kind], ("%.9g %.9g %d"):format(span.from / scale.factor, span.to / scale.factor,
      #chart.lanes - span.lane + 1))
  end
  return blocks
end

-- The settings, and the height of the picture.
local function settings(chart, scale)
  local list, add = gnuplot.list()
  local tics, count, length = {}, #chart.lanes, length_of(chart)
  for i, lane in ipairs(chart.lanes) do
    -- gnuplot formats the text of a mark as printf does
    tics[i] = ("%s %d"):format(gnuplot.quote((utf8text.cut(lane, MOST_LETTERS, "…"):gsub("%%", "%%%%"))), count - i + 1)
  end
  local long = length > 0 and length / scale.factor or 1
  local height = gnuplot.frame(add, math.max(LANES_LEAST, math.min(count * LANE, LANES_MOST)), chart.kinds)
  add("set xlabel 'time (%s)'", scale.name)
  add("set ytics (%s)%s", table.concat(tics, ", "),
    count * FIT > LANES_MOST and (" font ',%d'"):format(math.max(3, gnuplot.FONT * LANES_MOST // (FIT * count))) or "")
  add("least = %.9g\nset xrange [0:%.9g<*]", long * THIN, long * (1 + THIN))
  add("set yrange [0.4:%g]", count + 0.6)
  add "set grid noytics xtics\nset style fill solid 0.85 border lc rgb 'white'"
  return list, height
end

local function plots_of(chart)
  local list, add = gnuplot.list()
  for k, kind in ipairs(chart.kinds) do
    add("data index %d using 1:3:1:($2 - $1 < least ? $1 + least : $2):($3 - 0.35):($3 + 0.35) "
      .. "with boxxyerror lc rgb '%s' lw 0.5 title %s", k - 1, palette.colour("k" .. k), gnuplot.shortened(kind))
  end
  return list
end

--- A timeline as gnuplot draws it.
---@param chart table     as record.json has it
---@return table drawing  of gnuplot.script
function timeline.drawing(chart)
  local scale = units.choose("s", length_of(chart))
  local list, height = settings(chart, scale)
  return { what = "kind", blocks = blocks_of(chart, scale), settings = list, plots = plots_of(chart),
    columns = { ("from (%s)"):format(scale.name), ("to (%s)"):format(scale.name), "lane, counted from below" },
    height = height }
end

local function trace_of(chart)
  local events = { { name = "process_name", ph = "M", pid = 1, args = { name = chart.title } } }
  for i, lane in ipairs(chart.lanes) do
    events[#events + 1] = { name = "thread_name", ph = "M", pid = 1, tid = i, args = { name = lane } }
  end
  for _, span in ipairs(chart.spans) do
    local kind = chart.kinds[span.kind]
    events[#events + 1] = { name = span.label or kind, cat = kind, ph = "X", pid = 1, tid = span.lane,
      ts = span.from * 1e6, dur = (span.to - span.from) * 1e6 }
  end
  return json.encode({ displayTimeUnit = "ms", traceEvents = events }) .. "\n"
end

--- Draws spans of time in lanes: RUN/NAME.dat, .gp, .svg, .png, a trace as RUN/NAME.trace.json (open it
--- at ui.perfetto.dev), and rows of letters in the terminal.
--- Options: spans, a list of { lane =, kind =, from =, to = [, label =] } with times in seconds of one
--- clock, or events that have been reached; engines (true: one engine serves each kind, so that a span
--- begins at the end of the previous one of its kind), name (of the files), title, device (named in the
--- title), quiet, pictures.
---@param session table
---@param spec table
---@return table made  chart (text), dat, gp, svg, png, trace (paths); reason where there are no pictures
function timeline.draw(session, spec)
  local options = schema.options("mw.timeline", spec, SPEC)
  if not options.spans or #options.spans == 0 then
    failure.invalid("mw.timeline: option 'spans' is needed: a list of { lane =, kind =, from =, to = }")
  end
  local chart = arrange(in_seconds(options.spans), options.engines)
  chart = lists.merged(figure.describe(session, options, "timeline"), chart)
  figure.say(session, options, timeline.text(chart))
  local made = figure.write(session, options, chart, timeline.drawing(chart))
  made.chart = timeline.text(chart, { colour = false })
  made.trace = files.put(session:file(chart.name .. ".trace.json"), trace_of(chart))
  figure.say(session, options, ("written: %s (ui.perfetto.dev opens it)"):format(made.trace), made)
  return made
end

return timeline
