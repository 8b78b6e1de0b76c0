-- SPDX-License-Identifier: MIT
--
-- Who was busy when: spans in lanes, as a chart (SVG, PNG), as rows of letters in the terminal, and as
-- a trace that Perfetto and chrome://tracing open (Trace Event Format: complete events, in microseconds).

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"
local figure = require "moonwarp.plot.figure"
local gnuplot = require "moonwarp.plot.gnuplot"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local palette = require "moonwarp.plot.palette"
local session = require "moonwarp.session"
local terminal = require "moonwarp.plot.chart"
local units = require "moonwarp.base.units"
local utf8text = require "moonwarp.base.utf8text"

local timeline = {}

local SPEC = {
  name = "string", title = "string", spans = schema.list "table", engines = "boolean", device = "device",
  quiet = "boolean", pictures = "boolean",
}
local SPAN = { lane = "string", kind = "string", from = "number", to = "number", label = "string" }
local COLUMNS = 88 -- of the terminal's rows
local MOST_KINDS = 8 -- as many as there are colours
local MOST_LETTERS = 32 -- of a lane's name, in the terminal and the chart; the trace has all
local THIN = 1 / 400 -- of the chart's width: a shorter span is drawn this wide, to be visible
local ROUNDING = 1e-6 -- of a column: 10.003 - 10.001 is not quite 0.002
local ROOMY = 17 -- lanes whose names fit below each other in the usual size

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

-- Lanes and kinds in the order of their first spans; times from the first begin.
local function arrange(spans, engines)
  local lanes, kinds, start, finish = {}, {}, math.huge, -math.huge
  for i, span in ipairs(spans) do check_span(span, i) end
  if engines then on_engines(spans) end
  for _, span in ipairs(spans) do
    for list, name in pairs { [lanes] = span.lane, [kinds] = span.kind } do
      if not list[name] then
        list[#list + 1] = name
        list[name] = #list
      end
    end
    start, finish = math.min(start, span.from), math.max(finish, span.to)
  end
  if #kinds > MOST_KINDS then
    failure.invalid("mw.timeline: %d kinds of spans, a chart shows %d at most", #kinds, MOST_KINDS)
  end
  return { spans = spans, lanes = lanes, kinds = kinds, start = start, length = finish - start }
end

local function shortened(text)
  return utf8text.cut(text, MOST_LETTERS, "…")
end

-- ---- the terminal -------------------------------------------------------------------------------

local function text_of(chart, title)
  local signs, rows, names = terminal.signs(chart.kinds), {}, {}
  for i, lane in ipairs(chart.lanes) do
    rows[i], names[i] = {}, shortened(lane)
    for c = 1, COLUMNS do rows[i][c] = "." end
  end
  for _, span in ipairs(chart.spans) do
    local scale = chart.length > 0 and COLUMNS / chart.length or 0
    local first = math.min(COLUMNS, math.floor((span.from - chart.start) * scale + ROUNDING) + 1)
    local last = math.max(first, math.ceil((span.to - chart.start) * scale - ROUNDING))
    for c = first, math.min(last, COLUMNS) do rows[chart.lanes[span.lane]][c] = signs[chart.kinds[span.kind]] end
  end
  local lines, legend, wide = { title }, {}, utf8text.widest(names)
  for i, name in ipairs(names) do
    lines[#lines + 1] = ("  %s %s"):format(utf8text.left(name, wide), table.concat(rows[i]))
  end
  for i, kind in ipairs(chart.kinds) do legend[i] = ("%s %s"):format(signs[i], kind) end
  lines[#lines + 1] = ("  %s 0 to %s; %s"):format((" "):rep(wide), units.format(chart.length, "s"),
    table.concat(legend, ", "))
  return table.concat(lines, "\n")
end

-- ---- files --------------------------------------------------------------------------------------

-- A block a kind; lanes are counted from below.
local function blocks_of(chart, scale)
  local blocks = lists.map(chart.kinds, function(kind) return { name = kind } end)
  for _, span in ipairs(chart.spans) do
    table.insert(blocks[chart.kinds[span.kind]], ("%.9g %.9g %d"):format((span.from - chart.start) / scale.factor,
      (span.to - chart.start) / scale.factor, #chart.lanes - chart.lanes[span.lane] + 1))
  end
  return blocks
end

local function settings(chart, scale)
  local list, add = gnuplot.list()
  local tics, font = {}, math.max(3, gnuplot.FONT * ROOMY // #chart.lanes)
  for i, lane in ipairs(chart.lanes) do
    -- gnuplot formats the text of a mark as printf does
    tics[i] = ("%s %d"):format(gnuplot.quote((shortened(lane):gsub("%%", "%%%%"))), #chart.lanes - i + 1)
  end
  local long = chart.length > 0 and chart.length / scale.factor or 1
  add("set xlabel 'time (%s)'", scale.name)
  add("set ytics noenhanced (%s)%s", table.concat(tics, ", "),
    #chart.lanes > ROOMY and (" font ',%d'"):format(font) or "")
  add("least = %.9g\nset xrange [0:%.9g]", long * THIN, long * (1 + THIN))
  add("set yrange [0.4:%g]", #chart.lanes + 0.6)
  add "set grid noytics xtics\nset style fill solid 0.85 border lc rgb 'white'"
  return list
end

local function plots_of(chart)
  local list, add = gnuplot.list()
  for k, kind in ipairs(chart.kinds) do
    add("data index %d using 1:3:1:($2 - $1 < least ? $1 + least : $2):($3 - 0.35):($3 + 0.35) "
      .. "with boxxyerror lc rgb '%s' lw 0.5 title %s", k - 1, palette.colour("k" .. k), gnuplot.shortened(kind))
  end
  return list
end

local function trace_of(chart, about)
  local events = { { name = "process_name", ph = "M", pid = 1, args = { name = about.title } } }
  for i, lane in ipairs(chart.lanes) do
    events[#events + 1] = { name = "thread_name", ph = "M", pid = 1, tid = i, args = { name = lane } }
  end
  for _, span in ipairs(chart.spans) do
    events[#events + 1] = { name = span.label or span.kind, cat = span.kind, ph = "X", pid = 1,
      tid = chart.lanes[span.lane], ts = (span.from - chart.start) * 1e6, dur = (span.to - span.from) * 1e6 }
  end
  return json.encode({ displayTimeUnit = "ms", traceEvents = events }) .. "\n"
end

--- Draws spans of time in lanes: RUN/NAME.dat, .gp, .svg, .png, a trace as RUN/NAME.trace.json (open it
--- at ui.perfetto.dev), and rows of letters in the terminal.
--- Options: spans, a list of { lane =, kind =, from =, to = [, label =] } with times in seconds of one
--- clock, or events that have been reached; engines (true: one engine serves each kind, so that a span
--- begins at the end of the previous one of its kind), name (of the files), title, device (named in the
--- title), quiet, pictures.
---@param spec table
---@return table made  chart (text), dat, gp, svg, png, trace (paths); reason where there are no pictures
function timeline.draw(spec)
  local options = schema.options("mw.timeline", spec, SPEC)
  if not options.spans or #options.spans == 0 then
    failure.invalid("mw.timeline: option 'spans' is needed: a list of { lane =, kind =, from =, to = }")
  end
  local chart = arrange(in_seconds(options.spans), options.engines)
  local scale = units.choose("s", chart.length)
  local about = figure.describe(options, "timeline")
  local text = text_of(chart, about.title)
  figure.say(options, text)
  local made = figure.write(options, about, { what = "kind", blocks = blocks_of(chart, scale),
    columns = { ("from (%s)"):format(scale.name), ("to (%s)"):format(scale.name), "lane, counted from below" },
    settings = settings(chart, scale), plots = plots_of(chart) })
  made.chart = text
  made.trace = gnuplot.write(session.current:file(about.name .. ".trace.json"), trace_of(chart, about))
  figure.say(options, ("written: %s (ui.perfetto.dev opens it)"):format(made.trace))
  return made
end

return timeline
