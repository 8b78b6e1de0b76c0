-- SPDX-License-Identifier: MIT
--
-- Shared by all drawings of a ladder: which bars form a group, where the axis begins and ends, what
-- is written next to a bar; and the ladders of several runs as one. A ladder is as docs/record.md has it,
-- all numbers in base units. One of several runs, or series, has their labels in `runs`, and each bar the
-- number of its own in `run`.

local lists = require "moonwarp.base.lists"
local quantity = require "moonwarp.measure.quantity"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"

local bars = {}

local DIGITS <const>, SHARE_DIGITS <const> = 3, 2
local LEAST_LENGTH <const> = 1.5 -- on a logarithmic axis a bar's value over the axis's beginning, at least

--- The base of a ladder's axis; nil: linear.
---@param ladder table
---@return number?
function bars.base(ladder)
  local log = ladder.logx
  return type(log) == "number" and log > 1 and log or nil
end

--- Bars by their places from the top: those of several runs with one name stand together.
---@param ladder table
---@return table[] groups  { name =, [i] = bar }
function bars.groups(ladder)
  local groups, group = {}, nil
  for _, bar in ipairs(ladder.bars) do
    if not (group and ladder.runs and group.name == bar.name and bar.run > group[#group].run) then
      group = { name = bar.name }
      groups[#groups + 1] = group
    end
    group[#group + 1] = bar
  end
  return groups
end

--- The labels of marks, in the order in which they first come.
---@param ladder table
---@return string[] labels
---@return table<string, integer> numbers  their places in it
function bars.labels(ladder)
  local labels, numbers = {}, {}
  for _, bar in ipairs(ladder.bars) do
    lists.append(labels, lists.map(bar.marks or {}, function(mark) return mark.label end))
  end
  labels = lists.unique(labels)
  for i, label in ipairs(labels) do numbers[label] = i end
  return labels, numbers
end

-- Whatever is drawn: ends of bars and of their intervals, marks, levels.
local function each_value(ladder, take)
  for _, level in ipairs(ladder.levels) do take(level.value) end
  for _, bar in ipairs(ladder.bars) do
    take(bar.value)
    if bar.low and bar.high then take(bar.low) take(bar.high) end
    for _, mark in ipairs(bar.marks or {}) do take(mark.value) end
  end
end

--- Where the axis begins, and the largest value on it. Lengths compare on a linear axis, which begins at
--- 0; a logarithmic one begins at a power of its base below the least value.
---@param ladder table
---@return number low
---@return number high
function bars.range(ladder)
  local base, least, most = bars.base(ladder), math.huge, 0
  each_value(ladder, function(value)
    if ticks.holds(value, base) then most = math.max(most, value) end
    if value > 0 then least = math.min(least, value) end
  end)
  local low, high = 0, most > 0 and most or 1
  if base then low, high = base ^ math.floor(math.log(least / LEAST_LENGTH, base)), most end
  if base and most == 0 then low, high = 1, base end
  low, high = ladder.xmin or low, ladder.xmax or high
  return low, high > low and high or 2 * low
end

--- The levels that the axis shows.
---@param ladder table
---@return table[]
function bars.levels(ladder)
  return lists.filter(ladder.levels, function(level) return ticks.within(level.value, ladder.xmin, ladder.xmax) end)
end

--- A value in words: "4.21 TB/s".
---@param value number
---@param ladder table
---@return string
function bars.value(value, ladder)
  return units.format(value + 0.0, ladder.unit, DIGITS)
end

--- The text next to a bar: its value, half of its interval or its ends, its share ("" if it has none).
---@param bar table
---@param ladder table
---@param sign string   before half of the interval: "±"
---@return string[] texts
function bars.texts(bar, ladder, sign)
  local percent, share = quantity.percent(bar.value, bar.low, bar.high), ""
  local spread = percent and ("%s%s %%"):format(sign, units.digits(percent, SHARE_DIGITS)) or ""
  if quantity.is_wide(bar.value, bar.low, bar.high) then
    spread = ("(%s to %s)"):format(bars.value(bar.low, ladder), bars.value(bar.high, ladder))
  end
  if bar.share then share = units.digits(100.0 * bar.share, SHARE_DIGITS) .. " %" end
  return { bars.value(bar.value, ladder), spread, share }
end

-- ---- several runs -------------------------------------------------------------------------------

-- What others measured is the same in all runs of a study.
local function add_marks(slot, bar)
  local list = lists.map(bar.marks or {}, function(mark)
    local key = ("%s\0%.17g"):format(mark.label, mark.value)
    local is_new = not slot.seen[key]
    slot.seen[key] = true
    return is_new and mark or nil
  end)
  return #list > 0 and list or nil
end

-- The place of a run's bar: next to those of the same name, the second of a name next to the second.
local function slot_of(slots, counts, bar)
  local own = ("%d\0%s"):format(bar.run or 1, bar.name)
  counts[own] = (counts[own] or 0) + 1
  return lists.entry(slots, slots, ("%s\0%d"):format(bar.name, counts[own]), { seen = {} })
end

-- The labels of a run's bars: its own, or with those of its series.
local function labels_of(ladder, label)
  return lists.map(ladder.runs or { false }, function(own) return own and ("%s: %s"):format(label, own) or label end)
end

--- Ladders of several runs as one: bars of one name stand together, those of the first run in its order,
--- and what only others have below.
---@param into table        the ladder; its bars, levels and runs are set
---@param ladders table[]
---@param labels string[]   of the runs
---@return table into
function bars.merge(into, ladders, labels)
  local slots = {}
  into.bars, into.levels, into.runs = {}, {}, {}
  for run, ladder in ipairs(ladders) do
    local counts, before = {}, #into.runs
    for _, bar in ipairs(ladder.bars) do
      local slot = slot_of(slots, counts, bar)
      slot[#slot + 1] = lists.merged(bar, { run = before + (bar.run or 1) })
      slot[#slot].marks = add_marks(slot, bar)
    end
    lists.append(into.runs, labels_of(ladder, labels[run]))
    for _, level in ipairs(ladder.levels) do
      table.insert(into.levels, { value = level.value, label = ("%s: %s"):format(labels[run], level.label) })
    end
  end
  for _, slot in ipairs(slots) do lists.append(into.bars, slot) end
  return into
end

return bars
