-- SPDX-License-Identifier: MIT
--
-- Charts of several runs on one: the series of those that have the same name, in the units of the
-- first, each with its run's label; the bars of ladders side by side.
-- Depends on ladder.bars, path.

local bars = require "moonwarp.plot.ladder.bars"
local path = require "moonwarp.base.path"

local overlay = {}

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
  local copy = {}
  for key, value in pairs(chart) do copy[key] = value end
  copy.title = ("%s, %s"):format(chart.title:gsub(", [^,]*%)$", ""), devices)
  copy.name, copy.device = path.safe(chart.name), devices
  return copy
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
    labels[i] = not date and name or names > 1 and ("%s, %s"):format(name, date) or date
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

local function series(into, entries, labels)
  local alone = true
  into.series, into.levels = {}, {}
  for _, entry in ipairs(entries) do alone = alone and #entry.chart.series == 1 end
  for i, entry in ipairs(entries) do add_series(into, entry.chart, labels[i], alone) end
  return into
end

local KINDS = { plot = series, ladder = ladders }

local function merged(entries)
  local chart = entries[1].chart
  if #entries == 1 then return chart end
  return KINDS[chart.kind or "plot"](copy_for(chart, devices_of(entries)), entries, labels_of(entries))
end

-- Charts that can share one; a ladder's bars are in base units, so those of another unit cannot.
local function key_of(chart)
  return ("%s\0%s\0%s"):format(chart.name, chart.kind or "plot", chart.unit or "")
end

-- A name of its own for each figure, as their files are called after it.
local function apart(figures)
  local count = {}
  for i, figure in ipairs(figures) do
    count[figure.name] = (count[figure.name] or 0) + 1
    if count[figure.name] > 1 then
      figures[i] = setmetatable({ name = ("%s-%d"):format(figure.name, count[figure.name]) }, { __index = figure })
    end
  end
  return figures
end

--- The charts of runs, those of one name and kind laid over each other. A chart of a kind that is not
--- known is left out.
---@param runs table[]
---@return table[] figures  as figure.text and figure.files take them
function overlay.charts(runs)
  local order, by_key = {}, {}
  for _, run in ipairs(runs) do
    for _, chart in ipairs(run.charts or {}) do
      local key = KINDS[chart.kind or "plot"] and key_of(chart)
      if key and not by_key[key] then
        by_key[key] = {}
        order[#order + 1] = by_key[key]
      end
      if key then table.insert(by_key[key], { run = run, chart = chart }) end
    end
  end
  for i, entries in ipairs(order) do order[i] = merged(entries) end
  return apart(order)
end

return overlay
