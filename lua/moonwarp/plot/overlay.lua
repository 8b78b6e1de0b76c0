-- SPDX-License-Identifier: MIT
--
-- Charts of several runs on one: those of one name, kind and quantity (CPU next to GPU), each series with its
-- run's label; the bars of ladders side by side. And the names that distinguish runs.

local core = require "moonwarp.core"
local kinds = require "moonwarp.plot.kinds"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"
local units = require "moonwarp.base.units"

local overlay = {}

local FAR_APART <const> = 20 -- runs whose largest values differ so much share a logarithmic axis

-- ---- charts of moonwarp 0.3 ---------------------------------------------------------------------

local UNITS <const> = { "s", "B", "B/s", "1/s", "flop/s", "Hz", "%", "iB" }

-- "T_tot (GB/s)" as "T_tot", "B/s", 1e9.
local function parsed(label)
  local name, word = label:match "^(.-) %((%S+)%)$"
  for _, unit in ipairs(word and UNITS or {}) do
    for power = -12, 15, 3 do
      local scale = units.choose(unit, 2 * 10.0 ^ power)
      if scale.name == word then return name, unit, scale.factor end
    end
  end
  return label, "", 1
end

-- Such a chart has its numbers in the units that its labels name.
local function in_base_units(chart)
  if chart.unit or not chart.series then return chart end
  local xname, xunit, xfactor = parsed(chart.xlabel)
  local yname, unit, factor = parsed(chart.ylabel)
  local function point_of(p)
    return { x = p.x * xfactor, y = p.y * factor, low = p.low and p.low * factor, high = p.high and p.high * factor }
  end
  return lists.merged(chart, { xlabel = xname, ylabel = yname, xunit = xunit, unit = unit,
    series = lists.map(chart.series, function(one)
      return { name = one.name, points = lists.map(one.points, point_of) }
    end),
    levels = lists.map(chart.levels, function(one) return { value = one.value * factor, label = one.label } end) })
end

-- ---- names that distinguish runs ----------------------------------------------------------------

--- Whether a run's device was in check mode, or compared engines.
---@param run table
---@return boolean
function overlay.is_checked(run)
  local word = core.device_word(run.device or "")
  return word ~= nil and word.checked
end

--- The name of a run's device, and whether it was in check mode.
---@param run table
---@return string
function overlay.device(run)
  local name = run.device_name or run.device or "no device"
  if not overlay.is_checked(run) then return name end
  return name .. (core.device_word(run.device).compared and ", engines compared" or ", check mode")
end

--- Names that distinguish runs: the device, with the time if another run has the same, and a number if needed.
---@param runs table[]
---@param is_brief boolean?  only the time if all runs are of one device
---@return string[]
function overlay.tags(runs, is_brief)
  local count, devices, taken, tags = {}, 0, {}, {}
  for _, run in ipairs(runs) do
    local name = overlay.device(run)
    devices, count[name] = devices + (count[name] and 0 or 1), (count[name] or 0) + 1
  end
  for i, run in ipairs(runs) do
    local tag, time = overlay.device(run), (run.date or "no date"):gsub("T", " "):gsub("Z$", "")
    if is_brief and devices == 1 then tag = time elseif count[tag] > 1 then tag = ("%s, %s"):format(tag, time) end
    taken[tag] = (taken[tag] or 0) + 1
    tags[i] = taken[tag] > 1 and ("%s (%d)"):format(tag, taken[tag]) or tag
  end
  return tags
end

-- ---- several charts as one ----------------------------------------------------------------------

local function of_several(entries)
  local chart, runs = entries[1].chart, lists.map(entries, function(entry) return entry.run end)
  local tags, names = overlay.tags(runs, true), table.concat(lists.unique(lists.map(runs, overlay.device)), ", ")
  local labels = lists.map(runs, function(run, i) return run.tag or tags[i] end)
  return lists.merged(chart, { device = names, title = ("%s, %s"):format(chart.title:gsub(", [^,]*%)$", ""), names) }),
    labels
end

-- The largest of what a chart's lengths and heights show, and whether all are above 0.
local function largest_of(chart)
  local most, least = 0, math.huge
  for _, value in ipairs(kinds.of(chart).values(chart)) do
    most, least = math.max(most, value), math.min(least, value)
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
  local empty, labels = of_several(entries)
  local kind = kinds.of(chart)
  local into = kind.merge(empty, lists.map(entries, function(entry) return entry.chart end), labels)
  local axis = kind.axis
  if not into[axis] and not into.square and are_far_apart(entries) then
    into[axis], into.note = 10, "logarithmic, because the runs are far apart"
    into.levels = lists.filter(into.levels, function(level) return level.value > 0 end)
  end
  return into
end

-- Charts that can share one.
local function key_of(chart)
  local fields = { "name", "kind", "unit", "xunit", "xlabel", "ylabel", "logx", "logy", "square",
                   "xmin", "xmax", "ymin", "ymax" }
  return table.concat(lists.map(fields, function(name) return tostring(chart[name]) end), "\0")
end

--- Figures with a unique name for each, the name of its files.
---@param figures table[]
---@return table[] figures
function overlay.apart(figures)
  local taken = {}
  return lists.map(figures, function(figure)
    local name, number = path.chart(figure.name), 1
    local own = name
    while taken[own] do
      number = number + 1
      own = ("%s-%d"):format(name, number)
    end
    taken[own] = true
    return lists.merged(figure, { name = own })
  end)
end

--- The charts of runs, those of one name and kind laid over each other. A chart of an unknown
--- kind is left out.
---@param runs table[]   of results.store; with `tag` where a run's label is known already
---@param most number?   series on a figure of several runs, until another begins; nil: any number
---@return table[] figures  as figure.text and figure.files take them; note: what is to be said of it
---@return table[] sources  of a figure of one run: { run =, name = } as that run has it; else false
function overlay.charts(runs, most)
  local order, by_key = {}, {}
  for _, run in ipairs(runs) do
    for _, chart in ipairs(run.charts or {}) do
      chart = in_base_units(chart)
      local kind = kinds.of(chart)
      local key = kind and key_of(chart)
      local group = by_key[key]
      if key and not (group and group.weight + kind.weight(chart) <= (most or math.huge)) then
        group = { weight = 0 }
        by_key[key], order[#order + 1] = group, group
      end
      if key then
        group.weight = group.weight + kind.weight(chart)
        table.insert(group, { run = run, chart = chart })
      end
    end
  end
  local alone = {}
  for i, entries in ipairs(order) do
    local first = entries[1]
    order[i], alone[i] = merged(entries), #entries == 1 and { run = first.run, name = first.chart.name }
  end
  return overlay.apart(order), alone
end

return overlay
