-- SPDX-License-Identifier: MIT
--
-- The state of the device over a run: from what each benchmark noted before and after, the range of
-- every number (clocks, temperature, power) and all the reasons why the clock was not higher.

local facts = require "moonwarp.report.facts"
local lists = require "moonwarp.base.lists"

local state = {}

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
  local ranges, reasons, list = {}, {}, {}
  for _, one in ipairs(measurements) do
    for _, moment in ipairs { "before", "after" } do
      local noted = facts.table(facts.table(one.result.state)[moment])
      for name, value in pairs(noted) do
        if type(value) == "number" and value - value == 0 then
          local range = ranges[name] or { low = value, high = value }
          ranges[name] = { low = math.min(range.low, value), high = math.max(range.high, value) }
        end
      end
      for _, reason in ipairs(facts.table(noted.reasons)) do reasons[tostring(reason)] = true end
    end
  end
  for i, name in ipairs(lists.keys(ranges)) do
    list[i] = { ("measured: %s"):format((tostring(name):gsub("_", " "))), range_text(name, ranges[name]) }
  end
  if next(reasons) then list[#list + 1] = { "clock held by", table.concat(lists.keys(reasons), ", ") } end
  return list
end

return state
