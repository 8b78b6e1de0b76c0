-- SPDX-License-Identifier: MIT
--
-- moonwarp history STUDY: its measurements over all stored runs.

local drawing = require "moonwarp.cli.drawing"
local lists = require "moonwarp.base.lists"
local measurement = require "moonwarp.results.measurement"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"
local runs = require "moonwarp.cli.runs"
local session = require "moonwarp.session"
local sheet = require "moonwarp.base.sheet"
local units = require "moonwarp.base.units"

local history = { least = 1, wants = "history wants a study; moonwarp history --help says more" }

history.options = {
  { flag = "--only", show = "WORDS", value = "words",
    help = "measurements of these choices and words: block = 2, naive" },
  { flag = "--device", show = "NAME", value = "a device",
    help = "runs of the device with this word in its name or id" },
  { flag = "--svg", help = "also write the chart to files in out/plots" },
  runs.OUT,
}

history.usage = [[
usage: moonwarp history STUDY|DIR... [options]

Lists the measurements of a study over all of its runs in out, oldest first. With --only, those that
match are drawn as a chart for each unit: the value of each run, with its interval. Words are whole
words of a measurement's name.]]

history.example = [[
moonwarp run memcopy -p n=512 -p parts=ladder
moonwarp history memcopy --only triad]]

local MOST_DRAWN = 6
local BARS = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

-- ---- collecting ---------------------------------------------------------------------------------

local function of_device(run, wanted)
  local name = ("%s %s"):format(run.device or "", run.device_name or "")
  return not wanted or name:lower():find(wanted:lower(), 1, true) ~= nil
end

local function sorted_runs(parsed)
  local list = lists.filter(runs.all(parsed), function(run) return of_device(run, parsed.device) end)
  if #list == 0 then options.fail("no run is of a device with '%s' in its name", parsed.device) end
  local function place(run) return ("%s %s"):format(run.date or "", run.folder) end
  table.sort(list, function(a, b) return place(a) < place(b) end)
  return list
end

-- Series by study, device and key: { label, device, field, unit, points = { { run number, measurement } } }.
local function series_of(list, parsed)
  local order, by_key, records = {}, {}, {}
  for _, run in ipairs(list) do lists.append(records, run.records) end
  local differs = measurement.differing(records)
  for number, run in ipairs(list) do
    for _, one in ipairs(measurement.of(run, differs)) do
      local key = ("%s|%s|%s"):format(run.study, run.device_name, one.key)
      if not parsed.only or measurement.matches(one, parsed.only) then
        local new = { label = one.label, device = run.device_name or "no device", field = one.field, unit = one.unit,
                      points = {} }
        table.insert(lists.entry(order, by_key, key, new).points, { number, one })
      end
    end
  end
  return order
end

-- ---- telling ------------------------------------------------------------------------------------

-- Of a change of less than this share of the value a part of the height is drawn.
local LEAST_SPAN = 0.2

local function spark(points)
  local values = lists.map(points, function(point) return point[2].value end)
  local low, high = math.min(table.unpack(values)), math.max(table.unpack(values))
  local span = math.max(high - low, LEAST_SPAN * math.max(math.abs(low), math.abs(high)))
  return table.concat(lists.map(values, function(value)
    return BARS[1 + math.floor((span > 0 and (value - low) / span or 0) * (#BARS - 1) + 0.5)]
  end))
end

local function first_of(one) return one.points[1][2].value end
local function last_of(one) return one.points[#one.points][2].value end

local SERIES <const> = {
  { heading = "measurement", cell = "label" },
  { heading = "runs", number = true, cell = function(one) return #one.points end },
  { heading = "first", number = true, cell = function(one) return units.format(first_of(one), one.unit) end },
  { heading = "last", number = true, cell = function(one) return units.format(last_of(one), one.unit) end },
  { heading = "change", number = true, cell = function(one)
    return first_of(one) > 0 and units.change(last_of(one) / first_of(one)) or "-"
  end },
  { heading = "course", cell = function(one) return spark(one.points) end },
}

local RUNS <const> = {
  { number = true, width = 4, cell = "number" }, { cell = function(one) return runs.label(one.run) end },
  { cell = function(one) return one.run.folder end },
  { cell = function(one) return one.run.status ~= "complete" and ("(%s)"):format(one.run.status) end },
}

-- What the axis of series of one unit is called: their field, if they have one of that name.
local function name_of(series)
  local fields = lists.unique(lists.map(series, function(one) return one.field end))
  return #fields == 1 and fields[1] or series[1].unit == "s" and "t" or "value"
end

local function figure_of(series, study)
  local most, unit = 0, series[1].unit
  for _, one in ipairs(series) do
    for _, point in ipairs(one.points) do most = math.max(most, point[2].high or point[2].value) end
  end
  local scale = units.choose(unit, most)
  local device, label = series[1].device, units.label(name_of(series), scale)
  local name = ("history-%s%s"):format(study, unit == "s" and "" or "-" .. name_of(series))
  local figure = { name = path.safe(name), title = ("%s, %s, %s"):format(study, name_of(series), device),
                   xlabel = "run", ylabel = label, columns = { "run", label, "low", "high" }, series = {},
                   levels = {}, device = device, script = study,
                   date = os.date("!%Y-%m-%d %H:%M UTC") }
  local function point_of(point)
    local one = point[2]
    return { x = point[1], y = one.value / scale.factor, low = (one.low or one.value) / scale.factor,
             high = (one.high or one.value) / scale.factor }
  end
  for i, one in ipairs(series) do figure.series[i] = { name = one.label, points = lists.map(one.points, point_of) } end
  return figure
end

-- A chart for each unit.
local function draw(series, parsed)
  local by_unit = {}
  for _, one in ipairs(series) do table.insert(lists.entry(by_unit, by_unit, one.unit, {}), one) end
  for _, same in ipairs(by_unit) do
    if #same > MOST_DRAWN then
      print(("%d measurements match, %d at most fit into one chart; --only takes more words"):format(#same, MOST_DRAWN))
    else
      local figure = figure_of(same, parsed[1]:match("([^/]+)/*$") or parsed[1])
      drawing.show(figure)
      if parsed.svg then drawing.write(figure, session.current:out() .. "/plots") end
    end
  end
end

--- The command.
---@param parsed table
---@return integer? status
function history.run(parsed)
  local list = sorted_runs(parsed)
  local series = series_of(list, parsed)
  if #series == 0 then
    options.fail("no measurement %s", parsed.only and ("has '%s' in its name"):format(parsed.only)
      or "is stored: the script records no result of mw.bench and no number with a unit")
  end
  sheet.print(RUNS, lists.map(list, function(run, number) return { run = run, number = number } end))
  sheet.print(SERIES, series)
  if parsed.only or parsed.svg or #series <= MOST_DRAWN then draw(series, parsed) end
end

return history
