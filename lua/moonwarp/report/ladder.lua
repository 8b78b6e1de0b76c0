-- SPDX-License-Identifier: MIT
--
-- Ladders of stored runs, taken leniently: what is no number or no text is left out.
-- Depends on ladder.bars.

local bars = require "moonwarp.plot.ladder.bars"

local ladder = {}

local function is_number(value)
  return type(value) == "number" and value - value == 0
end

-- The elements of what should be a list that have a number as value, made into something else.
local function list_of(given, make)
  local list = {}
  for _, one in ipairs(type(given) == "table" and given or {}) do
    if type(one) == "table" and is_number(one.value) then list[#list + 1] = make(one) end
  end
  return list
end

local function labelled(one)
  return { value = one.value, label = tostring(one.label or "unnamed") }
end

local function bar_of(one)
  local bounded = is_number(one.low) and is_number(one.high)
  return { name = tostring(one.name or "unnamed"), value = one.value, low = bounded and one.low or nil,
           high = bounded and one.high or nil, share = is_number(one.share) and one.share or nil,
           marks = list_of(one.marks, labelled) }
end

--- A ladder as docs/record.md has it.
---@param chart table  of a record
---@return table
function ladder.of(chart)
  return { kind = "ladder", xlabel = tostring(chart.xlabel or ""), unit = tostring(chart.unit or ""),
           logx = bars.base(chart), bars = list_of(chart.bars, bar_of), levels = list_of(chart.levels, labelled) }
end

--- The ladders of several runs as one, or that of one run as it is.
---@param group table[]  { run = (with its tag), about = (ladder) }
---@return table ladder
function ladder.merged(group)
  local ladders, tags = {}, {}
  for i, one in ipairs(group) do ladders[i], tags[i] = one.about.ladder, one.run.tag end
  return #group > 1 and bars.merge(ladder.of(group[1].chart), ladders, tags) or ladders[1]
end

return ladder
