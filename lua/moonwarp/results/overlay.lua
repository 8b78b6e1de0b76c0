-- SPDX-License-Identifier: MIT
--
-- Charts of several runs on one: the series of those that have the same name, in the units of the
-- first, each with its run's label.
-- Depends on path.

local path = require "moonwarp.path"

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

local function empty_like(chart, devices)
  local copy = {}
  for key, value in pairs(chart) do copy[key] = value end
  copy.series, copy.levels = {}, {}
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

local function merged(entries)
  local devices, labels = devices_of(entries), labels_of(entries)
  local into, alone = empty_like(entries[1].chart, devices), true
  for _, entry in ipairs(entries) do alone = alone and #entry.chart.series == 1 end
  for i, entry in ipairs(entries) do add_series(into, entry.chart, labels[i], alone) end
  return into
end

--- The charts of runs, those of one name laid over each other.
---@param runs table[]
---@return table[] figures  as gnuplot.script and chart.draw take them
function overlay.charts(runs)
  local order, by_name = {}, {}
  for _, run in ipairs(runs) do
    for _, chart in ipairs(run.charts or {}) do
      if not by_name[chart.name] then
        order[#order + 1] = chart.name
        by_name[chart.name] = {}
      end
      table.insert(by_name[chart.name], { run = run, chart = chart })
    end
  end
  local figures = {}
  for i, name in ipairs(order) do
    local entries = by_name[name]
    figures[i] = #entries == 1 and entries[1].chart or merged(entries)
  end
  return figures
end

return overlay
