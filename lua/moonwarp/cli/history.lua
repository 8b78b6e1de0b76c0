-- SPDX-License-Identifier: MIT
--
-- moonwarp history STUDY: its measurements over all stored runs.

local drawing = require "moonwarp.cli.drawing"
local utf8text = require "moonwarp.base.utf8text"
local lists = require "moonwarp.base.lists"
local measurement = require "moonwarp.results.measurement"
local options = require "moonwarp.cli.options"
local path = require "moonwarp.base.path"
local runs = require "moonwarp.cli.runs"
local session = require "moonwarp.session"
local units = require "moonwarp.base.units"

local history = { least = 1, wants = "history wants a study; moonwarp history --help says more" }

history.options = {
  { flag = "--only", show = "WORDS", value = "words",
    help = "measurements whose name has all of the words" },
  { flag = "--device", show = "NAME", value = "a device",
    help = "runs of the device with this word in its name or id" },
  { flag = "--svg", help = "also write the chart to files in out/plots" },
  runs.OUT,
}

history.usage = [[
usage: moonwarp history STUDY|DIR... [options]

Lists the measurements of a study over all of its runs in out, oldest first. With --only, those that
match are drawn as a chart: the median time of each run, with its interval.]]

history.example = [[
moonwarp run memcopy -p n=512 -p parts=ladder
moonwarp history memcopy --only triad]]

local MOST_DRAWN = 6
local BARS = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

-- ---- collecting ---------------------------------------------------------------------------------

local function matches(text, words)
  for word in (words or ""):gmatch("%S+") do
    if not text:find(word, 1, true) then return false end
  end
  return true
end

local function of_device(run, wanted)
  local name = ("%s %s"):format(run.device or "", run.device_name or "")
  return not wanted or name:lower():find(wanted:lower(), 1, true) ~= nil
end

local function sorted_runs(parsed)
  local list = lists.map(runs.all(parsed), function(run) return of_device(run, parsed.device) and run or nil end)
  if #list == 0 then options.fail("no run is of a device with '%s' in its name", parsed.device) end
  local function place(run) return ("%s %s"):format(run.date or "", run.folder) end
  table.sort(list, function(a, b) return place(a) < place(b) end)
  return list
end

-- Series by study, device and key: { label, device, points = { { run number, result } } }.
local function series_of(list, parsed)
  local order, by_key = {}, {}
  for number, run in ipairs(list) do
    for _, one in ipairs(measurement.of(run)) do
      local key = ("%s|%s|%s"):format(run.study, run.device_name, one.key)
      if matches(one.key, parsed.only) then
        local new = { label = one.label, device = run.device_name or "no device", points = {} }
        table.insert(lists.entry(order, by_key, key, new).points, { number, one.result })
      end
    end
  end
  return order
end

-- ---- telling ------------------------------------------------------------------------------------

local function spark(points)
  local low, high = math.huge, 0
  for _, point in ipairs(points) do
    low, high = math.min(low, point[2].median), math.max(high, point[2].median)
  end
  return table.concat(lists.map(points, function(point)
    local share = high > low and (point[2].median - low) / (high - low) or 0
    return BARS[1 + math.floor(share * (#BARS - 1) + 0.5)]
  end))
end

local function print_list(series)
  local width = utf8text.widest(lists.map(series, function(one) return one.label end), #"measurement")
  print(utf8text.left("measurement", width) .. "  runs      first       last     change  course")
  for _, one in ipairs(series) do
    local first, last = one.points[1][2].median, one.points[#one.points][2].median
    print(("%s  %4d %10s %10s %10s  %s"):format(utf8text.left(one.label, width), #one.points, units.format(first, "s"),
      units.format(last, "s"), ("%+.1f %%"):format((last / first - 1) * 100), spark(one.points)))
  end
end

local function print_runs(list)
  for number, run in ipairs(list) do
    print(("%4d  %s  %s%s"):format(number, runs.label(run), run.folder,
      run.status == "complete" and "" or "  (" .. run.status .. ")"))
  end
end

local function figure_of(series, study)
  local most = 0
  for _, one in ipairs(series) do
    for _, point in ipairs(one.points) do most = math.max(most, point[2].high or point[2].median) end
  end
  local scale = units.choose("s", most)
  local device, unit = series[1].device, ("t (%s)"):format(scale.name)
  local figure = { name = path.safe("history-" .. study), title = ("%s, median times, %s"):format(study, device),
                   xlabel = "run", ylabel = unit, columns = { "run", unit, "low", "high" }, series = {},
                   levels = {}, device = device, script = study,
                   date = os.date("!%Y-%m-%d %H:%M UTC") }
  local function point_of(point)
    local result = point[2]
    return { x = point[1], y = result.median / scale.factor,
             low = (result.low or result.median) / scale.factor, high = (result.high or result.median) / scale.factor }
  end
  for i, one in ipairs(series) do figure.series[i] = { name = one.label, points = lists.map(one.points, point_of) } end
  return figure
end

local function draw(series, parsed)
  if #series > MOST_DRAWN then
    return print(("%d measurements match, %d at most fit into one chart; --only takes more words"):format(#series,
      MOST_DRAWN))
  end
  local figure = figure_of(series, parsed[1]:match("([^/]+)/*$") or parsed[1])
  drawing.show(figure)
  if parsed.svg then drawing.write(figure, session.current:out() .. "/plots") end
end

--- The command.
---@param parsed table
---@return integer? status
function history.run(parsed)
  local list = sorted_runs(parsed)
  local series = series_of(list, parsed)
  if #series == 0 then
    options.fail("no measurement %s", parsed.only and ("has '%s' in its name"):format(parsed.only)
      or "is stored: the script keeps no result of mw.bench with mw.record")
  end
  print_runs(list)
  print_list(series)
  if parsed.only or #series <= MOST_DRAWN then draw(series, parsed) end
end

return history
