-- SPDX-License-Identifier: MIT
--
-- Charts of several runs on one: those of one name, kind and quantity (CPU beside GPU), in the largest
-- of their units, each series with its run's label; the bars of ladders side by side.
-- Depends on ladder.bars, path.

local bars = require "moonwarp.plot.ladder.bars"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"

local overlay = {}

local FAR_APART <const> = 20 -- runs whose largest values differ so much share a logarithmic axis
local BARS_A_SERIES <const> = 6 -- a ladder's bars take so much less room than series

local function rescaled(point, xfactor, yfactor)
  return { x = point.x * xfactor, y = point.y * yfactor, low = point.low and point.low * yfactor,
           high = point.high and point.high * yfactor }
end

local function add_series(into, chart, label, alone)
  local xfactor = (chart.xfactor or 1) / (into.xfactor or 1)
  local yfactor = (chart.yfactor or 1) / (into.yfactor or 1)
  for _, one in ipairs(chart.series) do
    local points = {}
    for i, point in ipairs(one.points) do points[i] = rescaled(point, xfactor, yfactor) end
    table.insert(into.series, { points = points, name = alone and label or ("%s: %s"):format(label, one.name) })
  end
  for _, level in ipairs(chart.levels or {}) do
    table.insert(into.levels, { value = level.value * yfactor, label = ("%s: %s"):format(label, level.label) })
  end
end

local function copy_for(chart, devices)
  local title = ("%s, %s"):format(chart.title:gsub(", [^,]*%)$", ""), devices)
  return lists.merged(chart, { title = title, device = devices })
end

local function devices_of(entries)
  local names, seen = {}, {}
  for _, entry in ipairs(entries) do
    local name = entry.run.device_name or entry.run.device or "no device"
    if not seen[name] then names[#names + 1] = name end
    seen[name] = true
  end
  return table.concat(names, ", ")
end

-- Runs of different devices are told apart by the device, others by their dates, or by both.
local function labels_of(entries)
  local labels, devices, count, names = {}, {}, {}, 0
  for _, entry in ipairs(entries) do
    local name = entry.run.device_name or "no device"
    names = names + (devices[name] and 0 or 1)
    devices[name] = (devices[name] or 0) + 1
  end
  for i, entry in ipairs(entries) do
    local name, date = entry.run.device_name or "no device", (entry.run.date or ""):gsub("T", " "):gsub("Z$", "")
    if devices[name] == 1 and names > 1 then date = nil end
    labels[i] = entry.run.tag or not date and name or names > 1 and ("%s, %s"):format(name, date) or date
  end
  for i, label in ipairs(labels) do
    count[label] = (count[label] or 0) + 1
    if count[label] > 1 then labels[i] = ("%s (%d)"):format(label, count[label]) end
  end
  return labels
end

local function ladders(into, entries, labels)
  local list = {}
  for i, entry in ipairs(entries) do list[i] = entry.chart end
  return bars.merge(into, list, labels)
end

-- In the largest unit.
local function series(into, entries, labels)
  local alone, largest = true, entries[1].chart
  for _, entry in ipairs(entries) do
    alone = alone and #entry.chart.series == 1
    if (entry.chart.yfactor or 1) > (largest.yfactor or 1) then largest = entry.chart end
  end
  for _, name in ipairs { "xlabel", "ylabel", "xfactor", "yfactor" } do into[name] = largest[name] end
  into.series, into.levels = {}, {}
  for i, entry in ipairs(entries) do add_series(into, entry.chart, labels[i], alone) end
  return into
end

local KINDS = { plot = series, ladder = ladders }

-- The largest of what a chart's lengths and heights show, in base units, and whether all are above 0.
local function largest_of(chart)
  local most, least = 0, math.huge
  local function take(value) most, least = math.max(most, value), math.min(least, value) end
  for _, bar in ipairs(chart.bars or {}) do take(bar.value) end
  for _, one in ipairs(chart.series or {}) do
    for _, point in ipairs(one.points) do take(point.y * (chart.yfactor or 1)) end
  end
  return most, least > 0
end

-- A linear axis would press the slower device's points to the floor.
local function are_far_apart(entries)
  local high, low = 0, math.huge
  for _, entry in ipairs(entries) do
    local most, is_positive = largest_of(entry.chart)
    if not is_positive then return false end
    high, low = math.max(high, most), math.min(low, most)
  end
  return high > FAR_APART * low
end

local function merged(entries)
  local chart = entries[1].chart
  if #entries == 1 then return chart end
  local into = KINDS[chart.kind or "plot"](copy_for(chart, devices_of(entries)), entries, labels_of(entries))
  local axis = chart.kind == "ladder" and "logx" or "logy"
  if not into[axis] and not into.square and are_far_apart(entries) then
    into[axis], into.note = 10, "logarithmic, because the runs are far apart"
    for i = #into.levels, 1, -1 do
      if into.levels[i].value <= 0 then table.remove(into.levels, i) end
    end
  end
  return into
end

-- "T_tot (GB/s)" without the prefix of its unit, where the chart says in what unit a number is worth its factor.
local function quantity(label, factor)
  local name, unit = tostring(label):match "^(.-) %((%S+)%)$"
  if not (unit and factor and factor ~= 1) then return label end
  return ("%s (%s)"):format(name, unit:gsub("^[kMGTPmnp]i?", ""):gsub("^µ", ""))
end

-- Charts that can share one; a ladder's bars are in base units, so those of another unit cannot.
local function key_of(chart)
  return table.concat({ chart.name, chart.kind or "plot", tostring(chart.unit), quantity(chart.xlabel, chart.xfactor),
    tostring(quantity(chart.ylabel, chart.yfactor)), tostring(chart.logx), tostring(chart.logy),
    tostring(chart.square) }, "\0")
end

-- A name of its own for each figure, as their files are called after it.
local function apart(figures)
  local count = {}
  for i, figure in ipairs(figures) do
    local name = path.safe(figure.name)
    count[name] = (count[name] or 0) + 1
    if count[name] > 1 then name = ("%s-%d"):format(name, count[name]) end
    if name ~= figure.name then figures[i] = setmetatable({ name = name }, { __index = figure }) end
  end
  return figures
end

local function weight_of(chart)
  return chart.bars and #chart.bars / BARS_A_SERIES or #chart.series
end

--- The charts of runs, those of one name and kind laid over each other. A chart of a kind that is not
--- known is left out.
---@param runs table[]   of results.store; with `tag` where a run's label is known already
---@param most number?   series on a figure of several runs, until another begins; nil: any number
---@return table[] figures  as figure.text and figure.files take them; note: what is to be said of it
---@return table[] sources  of a figure of one run: { run =, name = } as that run has it; else false
function overlay.charts(runs, most)
  local order, by_key = {}, {}
  for _, run in ipairs(runs) do
    for _, chart in ipairs(run.charts or {}) do
      local key = KINDS[chart.kind or "plot"] and key_of(chart)
      local group = by_key[key]
      if key and not (group and group.weight + weight_of(chart) <= (most or math.huge)) then
        group = { weight = 0 }
        by_key[key], order[#order + 1] = group, group
      end
      if key then
        group.weight = group.weight + weight_of(chart)
        table.insert(group, { run = run, chart = chart })
      end
    end
  end
  local alone = {}
  for i, entries in ipairs(order) do
    local first = entries[1]
    order[i], alone[i] = merged(entries), #entries == 1 and { run = first.run, name = first.chart.name }
  end
  return apart(order), alone
end

return overlay
