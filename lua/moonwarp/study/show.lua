-- SPDX-License-Identifier: MIT
--
-- What a part shows when its cases are measured: a table with the sources' columns, charts with the
-- level, the peak and the sources' points, and the ratios that were asked for, with intervals.

local answers = require "moonwarp.study.answers"
local contest = require "moonwarp.measure.contest"
local counter_cases = require "moonwarp.study.counter_cases"
local counters = require "moonwarp.measure.counters"
local figure = require "moonwarp.plot.figure"
local kinds = require "moonwarp.plot.kinds"
local ladder = require "moonwarp.plot.ladder"
local lists = require "moonwarp.base.lists"
local measure = require "moonwarp.study.measure"
local plot = require "moonwarp.plot.plot"
local quantity = require "moonwarp.measure.quantity"
local fields = require "moonwarp.results.fields"
local remark = require "moonwarp.results.remark"
local session = require "moonwarp.session"
local tables = require "moonwarp.plot.table"

local show = {}

-- ---- variants -----------------------------------------------------------------------------------

-- The best variant of each rung, in the order of the rungs.
local function best_of_rungs(list)
  local best = {}
  for _, one in ipairs(list) do
    if not best[one.rung] or one.rate > best[one.rung].rate then best[one.rung] = one end
  end
  local firsts = lists.unique(list, function(one) return one.rung end)
  return lists.map(firsts, function(one) return best[one.rung] end)
end

-- The best variant of a rung, or of an answer's rungs ("naive", "best step"), but for one of them.
local function best_named(list, name, except)
  local answer = name:match "^best (.+)$"
  return measure.fastest(list, function(one)
    return one.rung.name == name or answer and one.rung.answer == answer and one.rung.name ~= except
  end)
end

-- What cases have in common.
local function common_text(results)
  local sides, ty = lists.merged(results[1].sides), results[1].type
  for _, result in ipairs(results) do
    ty = ty == result.type and ty or nil
    for name, value in pairs(sides) do sides[name] = result.sides[name] == value and value or nil end
  end
  return answers.sides_text { sides = sides, type = ty }
end

-- ---- the table ----------------------------------------------------------------------------------

local function has_field(records, field)
  return lists.find(records, function(entry) return fields.value(entry, field) ~= nil end) ~= nil
end

-- The counters that the part asks for and its table does not name.
local function counter_columns(study, part)
  local named = lists.set(lists.map(part.table, function(column) return lists.of(column)[1] end))
  return lists.map(counter_cases.asked(study, part) or {}, function(name)
    return not named[name] and { name, title = counters.title(name), digits = 3 } or nil
  end)
end

-- The columns that some record has: the part's, counters, and the sources'.
local function columns_of(study, part, records)
  local asked = lists.append(lists.append({}, part.table), counter_columns(study, part))
  local columns = lists.filter(asked, function(column) return has_field(records, lists.of(column)[1]) end)
  for _, source in ipairs(study.source_list) do
    if source.field and has_field(records, source.field) then
      columns[#columns + 1] = { source.field, title = source.name .. " (source)" }
    end
  end
  return columns
end

local function show_table(study, part, list, title)
  local records = lists.map(part.rows == "best" and best_of_rungs(list) or list, function(one)
    return one.rung.mistake and lists.merged(one.record, { rung = one.rung.name .. ", wrong" }) or one.record
  end)
  local columns = columns_of(study, part, records)
  if #columns == 0 then return end
  columns.title, columns.records = title, records
  tables.print(session.current, columns)
end

-- ---- charts -------------------------------------------------------------------------------------

-- The levels of a chart, topmost first.
local function levels_of(study, level)
  local peak, lines = measure.peak(study), {}
  local own = level and { value = level.rate, label = level.rung.name }
  if peak and own then lines[1] = own end
  return peak or own, lines
end

local function bar_name(one)
  local name = one.rung.name .. (one.rung.mistake and ", wrong" or "")
  if #one.rung.blocks > 1 then name = ("%s, %s"):format(name, one.record.block) end
  return one.partial and ("%s, %s"):format(name, answers.sides_text(one.case)) or name -- a bar of another size
end

-- The bound as a line, if it is that of all bars.
local function floor_of(bars)
  local bounds = lists.unique(lists.map(bars, function(one) return one.record.of_bound and one.record.bound or 0 end))
  return #bounds == 1 and bounds[1] > 0 and { value = bounds[1], label = "bound" } or nil
end

-- What sources have of a rung next to its bar, and what they have of an answer next to the best of its bars.
local function marks_of(study, bars)
  local marks = {}
  for _, one in ipairs(floor_of(bars) and {} or bars) do
    local bound = one.record.of_bound and one.record.bound
    marks[#marks + 1] = bound and { bar = bar_name(one), value = bound, label = "bound" } or nil
  end
  for _, source in ipairs(study.source_list) do
    local label = source.name .. ", source"
    for _, one in ipairs(bars) do
      local value = measure.source_value(source, one)
      local of_answer = best_named(bars, "best " .. one.rung.answer) == one
        and measure.source_value(source, one, one.rung.answer)
      for _, known in ipairs { value or false, of_answer or false } do
        if known then marks[#marks + 1] = { bar = bar_name(one), value = known, label = label } end
      end
    end
  end
  return marks
end

-- The record of a variant for a chart: with the interval of its rate, and further fields.
local function shown_record(study, one, more)
  more[study.rate] = one.work / one.t
  return setmetatable(more, { __index = one.record })
end

local function bars_of(study, list)
  return lists.map(list, function(one) return shown_record(study, one, { bar = bar_name(one) }) end),
    marks_of(study, list)
end

-- Without the library's copy where it has no place in the rate's unit: only as the level it is a bar among others.
local function without_copy(study, list, level)
  return lists.filter(list, function(one) return not (study.work and one.rung.is_library and one ~= level) end)
end

-- The variants whose records a chart shows.
local function shown(spec, list)
  return lists.filter(list, function(one) return not spec.of or spec.of(one.record) end)
end

local function draw_ladder(study, part, spec, groups, suffix)
  local group = groups[1]
  local list, level = group.list, group.level
  local best = best_of_rungs(without_copy(study, shown(spec, list), level))
  local bars, marks = bars_of(study, best)
  if #bars == 0 then return end
  local top, lines = levels_of(study, level)
  lines = level and top.value ~= level.rate and { top } or lines
  lines[#lines + 1] = floor_of(best)
  ladder.draw(session.current, { x = study.rate, by = "bar", records = bars, marks = marks,
    share = has_field(bars, "share") and "share" or nil,
    level = level and { value = level.rate, label = level.rung.name } or nil,
    lines = lines, logx = spec.logx, xmin = spec.xmin, xmax = spec.xmax,
    title = ("%s %s, %s"):format(study.state.name, part.name, group.text),
    name = ("%s-%s%s"):format(study.state.name, spec.name or part.name, suffix.name) })
end

local function source_point(study, spec, source, entry, series, value)
  local name = ("%s, source: %s"):format(source.name, series)
  local point = { [spec.x] = fields.value(entry, spec.x), [study.rate] = value, series = name }
  if type(spec.by) == "string" then point[spec.by] = name end
  return point
end

-- The records that a chart shows, with the sources' points.
local function points_of(study, spec, list)
  local points = {}
  for _, one in ipairs(shown(spec, list)) do
    local entry = one.record
    local by = type(spec.by) == "function" and spec.by(entry) or nil
    points[#points + 1] = shown_record(study, one, { series = by })
    for _, source in ipairs(spec.x and spec.y == nil and study.source_list or {}) do
      local is_one = type(source.values[one.rung.name]) == "number" -- which is not a point along an axis
      local value = not is_one and measure.source_value(source, one)
      if value then points[#points + 1] = source_point(study, spec, source, entry, by or entry.series, value) end
    end
  end
  return points
end

-- "mine-sizes-bytes"; a part with one chart of its own name is named once.
local function chart_name(study, part, spec, suffix)
  local own = spec.name or spec.x or spec.kind
  return ("%s-%s%s%s"):format(study.state.name, part.name, own == part.name and "" or "-" .. own, suffix.name)
end

-- Whether the level changes along the x axis and is a line of its own there, so that one of its values says nothing.
local function is_curve(level, spec, groups, points)
  return level and #groups > 1 and lists.find(points, function(point)
    return point.rung == level.rung.name and fields.value(point, spec.x) ~= nil
  end) ~= nil
end

-- Whether an axis can show the field of some record: a logarithmic one shows no 0.
local function has_place(records, field, base)
  return lists.find(records, function(entry)
    local value = fields.value(entry, field)
    local number = quantity.read(value)
    return value ~= nil and (type(number) ~= "number" or figure.is_number(number, base))
  end) ~= nil
end

local function title_of(study, part, spec, groups)
  local sides = common_text(groups)
  return ("%s %s: %s%s"):format(study.state.name, part.name, spec.title or spec.kind
    or ("%s against %s"):format(spec.ylabel or spec.y or study.rate, spec.xlabel or spec.x),
    sides ~= "" and ", " .. sides or "")
end

-- What a chart's function of mw gets: the options of the description, and others.
local function drawn(spec, more)
  local given = lists.merged(spec, more)
  given.kind, given.of = nil, nil
  return given
end

-- A chart of a kind that has its own options.
local function draw_own(study, part, spec, groups, suffix)
  local all = {}
  for _, group in ipairs(groups) do lists.append(all, group.list) end
  kinds.named[spec.kind].draw(session.current, drawn(spec, { records = points_of(study, spec, all),
    title = title_of(study, part, spec, groups), name = chart_name(study, part, spec, suffix) }))
end

local function draw_chart(study, part, spec, groups, suffix)
  local all, level = {}, nil
  for _, group in ipairs(groups) do
    lists.append(all, group.list)
    local is_larger = group.level and not (level and level.values.bytes >= group.level.values.bytes)
    level = is_larger and group.level or level -- of the largest case, if there are several
  end
  local points, y = points_of(study, spec, all), spec.y or study.rate
  local missing = not has_place(points, spec.x, spec.logx) and spec.x or not has_place(points, y, spec.logy) and y
  if missing and has_field(points, missing) then
    remark.say(session.current, "No chart of part '%s' has '%s': no axis can show its values.", part.name, missing)
  end
  if missing then return end
  local top, lines
  if y == study.rate then top, lines = levels_of(study, not is_curve(level, spec, groups, points) and level or nil) end
  plot.draw(session.current, drawn(spec, { y = y, by = type(spec.by) == "string" and spec.by or "series",
    records = points, peak = top, lines = spec.lines or lines, title = title_of(study, part, spec, groups),
    name = chart_name(study, part, spec, suffix) }))
end

local DRAW <const> = { ladder = draw_ladder, plot = draw_chart }

local function show_charts(study, part, groups, suffix)
  for _, spec in ipairs(part.charts or {}) do
    local draw = DRAW[spec.kind or "plot"] or draw_own
    draw(study, part, spec, groups, suffix)
  end
end

-- ---- ratios -------------------------------------------------------------------------------------

local function ratio_row(text, list)
  local above, below = text:match "^(.-) / (.+)$"
  local over, under = best_named(list, above, below), best_named(list, below, above)
  if not over or not under then return nil end
  local ratio = contest.ratio(over.t, under.t) * (over.work / under.work)
  return lists.merged(ratio, { ratio = text, over = bar_name(over), under = bar_name(under),
                               device = over.record.device, device_name = over.record.device_name })
end

local function show_ratios(part, list, title)
  local rows = lists.map(part.ratios or {}, function(text) return ratio_row(text, list) end)
  if #rows == 0 then return end
  tables.print(session.current, { "ratio", { "value", digits = 3 }, { "low", digits = 3 }, { "high", digits = 3 },
    "over", "under", title = title .. ": ratios of the rates, with 95 % intervals", records = rows })
end

-- ---- a part --------------------------------------------------------------------------------------

-- The cases that have been measured, by the value of the side that `each` names, in order: lists with a suffix for
-- names and one for titles.
local function grouped(part, results)
  local groups, known = {}, {}
  for _, result in ipairs(results) do
    local value = part.each and tostring(result.sides[part.each])
    local group = known[value or ""]
    if not group then
      group = { suffix = { name = value and "-" .. value or "", text = value and ", " .. value or "" } }
      groups[#groups + 1], known[value or ""] = group, group
    end
    if #result.list > 0 then table.insert(group, result) end
  end
  return groups
end

local function say_drift(part, results)
  local first = lists.find(results, function(result) return result.level and result.level.is_drifting end)
  if not first then return end
  remark.say(session.current, "The pace changed by %+.0f %% while part '%s' was measured for %s, as the turns of '%s' "
    .. "show. The rungs of this case took turns; smaller differences to other cases, parts or runs say nothing.",
    100 * first.level.values.drift, part.name, first.text, first.level.rung.name)
end

--- Shows a part.
---@param study table
---@param part table
---@param results table[]  of measure.case, of each case
function show.part(study, part, results)
  for _, mine in ipairs(grouped(part, results)) do
    if #mine > 0 then
      local title, rows = "%s %s, %s", {}
      for _, group in ipairs(part.rows == "all" and mine or { mine[1] }) do
        lists.append(rows, group.list)
      end
      if part.table then
        local sides = part.rows == "all" and common_text(mine) or mine[1].text
        show_table(study, part, rows, title:format(study.state.name, part.name, sides))
      end
      show_charts(study, part, mine, mine.suffix)
      show_ratios(part, mine[1].list, title:format(study.state.name, part.name, mine[1].text))
    end
  end
  say_drift(part, results)
end

return show
