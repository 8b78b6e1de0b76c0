-- SPDX-License-Identifier: MIT
--
-- The charts of a study's runs, as figures to draw: charts of one name and the same axes share a
-- figure (CPU beside GPU), in one unit, until it would hold too many series to be told apart; then
-- another begins. What cannot be drawn (a point that is no number, or not above 0 on a logarithmic
-- axis) is left out here, and a chart of a kind that is not known.
-- Depends on report.ladder.

local ladder = require "moonwarp.report.ladder"

local figure = {}

local MOST_SERIES = 10 -- of several runs; one run alone has as many as it likes
local MOST_BARS = 60 -- of several runs' ladders
local FAR_APART = 20 -- runs whose largest values differ so much share a logarithmic axis

local PREFIXES = { [""] = 1, k = 1e3, M = 1e6, G = 1e9, T = 1e12, P = 1e15, m = 1e-3, ["µ"] = 1e-6,
                   n = 1e-9, p = 1e-12, Ki = 2^10, Mi = 2^20, Gi = 2^30, Ti = 2^40 }
local BASES = { s = "s", B = "B", ["B/s"] = "B/s", ["1/s"] = "1/s", ["/s"] = "1/s", ["flop/s"] = "flop/s", Hz = "Hz" }

-- ---- units --------------------------------------------------------------------------------------

--- A label's parts: "T_tot (GB/s)" is "T_tot", "GB/s", with the factor 1e9 and the base "B/s".
---@param label string?
---@return table parts  name, unit (or nil), factor, base
function figure.unit(label)
  label = tostring(label or "")
  local name, unit = label:match("^(.-)%s*%(([^()]+)%)$")
  if not name then return { name = label, factor = 1, base = "" } end
  for prefix, factor in pairs(PREFIXES) do
    local base = unit:sub(1, #prefix) == prefix and unit:sub(#prefix + 1)
    if BASES[base] then return { name = name, unit = unit, factor = factor, base = BASES[base] } end
  end
  if unit == "%" or unit:find("/", 1, true) then return { name = name, unit = unit, factor = 1, base = unit } end
  return { name = label, factor = 1, base = "" } -- words in parentheses, as "(numbers as in the table)"
end

-- ---- one chart ----------------------------------------------------------------------------------

local function is_number(value)
  return type(value) == "number" and value - value == 0
end

local function base_of(log)
  return is_number(log) and log > 1 and log or nil
end

local function point_of(given, about, xfactor, yfactor)
  if type(given) ~= "table" or not (is_number(given.x) and is_number(given.y)) then return nil end
  if about.logx and given.x <= 0 or about.logy and given.y <= 0 then return nil end
  local bounded = is_number(given.low) and is_number(given.high)
  return { x = given.x * xfactor, y = given.y * yfactor, low = bounded and given.low * yfactor or nil,
           high = bounded and given.high * yfactor or nil }
end

local function points_of(series, about, xfactor, yfactor)
  local list = {}
  for _, given in ipairs(type(series.points) == "table" and series.points or {}) do
    list[#list + 1] = point_of(given, about, xfactor, yfactor)
  end
  return list
end

-- A chart's axes; two charts with the same key can share a figure.
local function about_of(chart)
  if chart.kind == "ladder" then
    local about = { ladder = ladder.of(chart) }
    about.key = table.concat({ "ladder", tostring(chart.name), about.ladder.xlabel, about.ladder.unit,
      tostring(about.ladder.logx) }, "\0")
    return about
  end
  local x, y = figure.unit(chart.xlabel), figure.unit(chart.ylabel)
  local about = { x = x, y = y, logx = base_of(chart.logx), logy = base_of(chart.logy),
                  square = chart.square == true, lines = chart.style == "lines",
                  scattered = chart.style == "points" }
  about.key = table.concat({ tostring(chart.name), x.name, x.base, y.name, y.base,
    tostring(about.logx), tostring(about.logy), tostring(about.square) }, "\0")
  return about
end

--- A title without the device at its end, which stands beneath it or in the legend.
---@param title any
---@param device any   as the title ends: "NVIDIA H200 (cuda:0)"
---@return string
function figure.title(title, device)
  title = tostring(title)
  local ending = type(device) == "string" and ", " .. device
  return ending and title:sub(-#ending) == ending and title:sub(1, -#ending - 1) or title
end

-- ---- several runs -------------------------------------------------------------------------------

local function series_of(chart)
  local list = {}
  for _, series in ipairs(type(chart.series) == "table" and chart.series or {}) do
    if type(series) == "table" then list[#list + 1] = series end
  end
  return list
end

-- What a chart takes of a figure's most series.
local function weight_of(chart, about)
  if about.ladder then return #about.ladder.bars * MOST_SERIES / MOST_BARS end
  return #series_of(chart)
end

local function is_known(chart)
  return chart.kind == nil or chart.kind == "ladder"
end

local function add_chart(groups, open, one)
  local key, weight = one.about.key, weight_of(one.chart, one.about)
  local group = open[key]
  if not group or group.count + weight > MOST_SERIES then
    group = { count = 0, about = one.about, part = group and group.part + 1 or 1 }
    groups[#groups + 1], open[key] = group, group
  end
  group.count = group.count + weight
  group[#group + 1] = one
end

-- Groups of { run =, chart =, about = }, in the order of their first charts.
local function groups_of(runs)
  local groups, open = {}, {}
  for _, run in ipairs(runs) do
    for _, chart in ipairs(run.charts) do
      if is_known(chart) then
        add_chart(groups, open, { run = run, chart = chart, about = about_of(chart) })
      end
    end
  end
  return groups, open
end

local function largest_factor(group, axis)
  local most = 0
  for _, one in ipairs(group) do most = math.max(most, one.about[axis].factor) end
  return most
end

local function with_unit(parts)
  return parts.unit and ("%s (%s)"):format(parts.name, parts.unit) or parts.name
end

-- The axis of the largest unit; the others' numbers follow it.
local function common(group, axis)
  local factor = largest_factor(group, axis)
  for _, one in ipairs(group) do
    if one.about[axis].factor == factor then return one.about[axis] end
  end
end

local function add_series(into, one, x, y, tagged)
  local about = one.about
  local xfactor, yfactor = about.x.factor / x.factor, about.y.factor / y.factor
  local given = series_of(one.chart)
  for _, series in ipairs(given) do
    local name = tostring(series.name or "")
    if tagged then name = #given == 1 and one.run.tag or ("%s · %s"):format(name, one.run.tag) end
    local points = points_of(series, about, xfactor, yfactor)
    if #points > 0 then into.series[#into.series + 1] = { name = name, points = points, run = one.run } end
  end
  for _, level in ipairs(type(one.chart.levels) == "table" and one.chart.levels or {}) do
    if type(level) == "table" and is_number(level.value) and not (about.logy and level.value <= 0) then
      local label = tostring(level.label or "level")
      into.levels[#into.levels + 1] = { value = level.value * yfactor,
        label = tagged and ("%s · %s"):format(label, one.run.tag) or label }
    end
  end
end

-- A linear axis would press the slower device's points to the floor.
local function is_far_apart(series)
  local most, least = {}, math.huge
  for _, one in ipairs(series) do
    for _, point in ipairs(one.points) do
      most[one.run] = math.max(most[one.run] or 0, point.y)
      least = math.min(least, point.y)
    end
  end
  local high, low = 0, math.huge
  for _, value in pairs(most) do high, low = math.max(high, value), math.min(low, value) end
  return least > 0 and high > FAR_APART * low
end

local NOTE <const> = "logarithmic, because the runs are far apart"

local function along_axes(group)
  local first, tagged = group[1], #group > 1
  local x, y = common(group, "x"), common(group, "y")
  local made = { xlabel = with_unit(x), ylabel = with_unit(y), x = x, y = y,
    logx = first.about.logx, logy = first.about.logy, square = first.about.square,
    lines = first.about.lines, scattered = first.about.scattered, series = {}, levels = {} }
  for _, one in ipairs(group) do add_series(made, one, x, y, tagged) end
  if tagged and not made.logy and not made.square and is_far_apart(made.series) then
    made.logy, made.note = 10, NOTE
    for i = #made.levels, 1, -1 do
      if made.levels[i].value <= 0 then table.remove(made.levels, i) end
    end
  end
  return made
end

local function as_ladder(group)
  local made, lengths = ladder.merged(group), {}
  for i, bar in ipairs(made.bars) do lengths[i] = { run = bar.run, points = { { y = bar.value } } } end
  if #group > 1 and not made.logx and is_far_apart(lengths) then made.logx, made.note = 10, NOTE end
  return made
end

local function figure_of(group, parts)
  local first = group[1]
  local chart = first.chart
  local made = (first.about.ladder and as_ladder or along_axes)(group)
  made.title = figure.title(chart.title or chart.name or "chart", chart.device)
  if parts > 1 then made.title = ("%s (%d of %d)"):format(made.title, group.part, parts) end
  if #group == 1 then made.under = first.run.tag end
  return made
end

--- The figures of a study.
---@param runs table[]   with tags
---@return table[]       title, under (the run, where it is one), xlabel, ylabel, x, y (name, unit),
---                      logx, logy, square, lines (no markers), scattered (markers that no line
---                      joins), series, levels, note; or a ladder, as report.ladder has it
function figure.of(runs)
  local list, groups, last = {}, groups_of(runs)
  for _, group in ipairs(groups) do
    list[#list + 1] = figure_of(group, last[group.about.key].part)
  end
  return list
end

return figure
