-- SPDX-License-Identifier: MIT
--
-- The state of the device over a run: from what each benchmark noted before and after, the range of
-- every number (clocks, temperature, power) and all the reasons why the clock was not higher.
-- Depends on report.facts.

local facts = require "moonwarp.report.facts"

local state = {}

local function take_number(all, name, value)
  local range = all.ranges[name]
  if not range then
    range = { low = value, high = value }
    all.ranges[name], all.names[#all.names + 1] = range, name
  end
  range.low, range.high = math.min(range.low, value), math.max(range.high, value)
end

local function take(all, moment)
  for name, value in pairs(type(moment) == "table" and moment or {}) do
    if type(value) == "number" and value - value == 0 then take_number(all, tostring(name), value) end
  end
  local reasons = type(moment) == "table" and type(moment.reasons) == "table" and moment.reasons or {}
  for _, reason in ipairs(reasons) do
    local words = tostring(reason)
    if not all.seen[words] then all.reasons[#all.reasons + 1] = words end
    all.seen[words] = true
  end
end

local function range_text(name, range)
  local low, high = facts.amount(name, range.low), facts.amount(name, range.high)
  if low == high then return low end
  local number, unit = low:match("^(%S+)( .+)$")
  if unit and high:sub(-#unit) == unit then low = number end
  return ("%s to %s"):format(low, high)
end

--- The state over a run, as names and texts.
---@param measurements table[]   of measurement.of
---@return table[]               { name, text }; empty where nothing was noted
function state.of(measurements)
  local all, list = { ranges = {}, names = {}, reasons = {}, seen = {} }, {}
  for _, one in ipairs(measurements) do
    local noted = one.result.state
    for _, moment in ipairs { "before", "after" } do take(all, type(noted) == "table" and noted[moment]) end
  end
  table.sort(all.names)
  for i, name in ipairs(all.names) do
    list[i] = { ("measured: %s"):format((name:gsub("_", " "))), range_text(name, all.ranges[name]) }
  end
  table.sort(all.reasons)
  if #all.reasons > 0 then list[#list + 1] = { "clock held by", table.concat(all.reasons, ", ") } end
  return list
end

return state
