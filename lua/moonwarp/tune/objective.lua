-- SPDX-License-Identifier: MIT
--
-- What a tuning looks for the least of: "t", a time; "energy" of a call; "error", the greatest one of what is compared.

local lists = require "moonwarp.base.lists"
local quantity = require "moonwarp.measure.quantity"

local objective = {}

--- Their names, and their units.
objective.NAMES = { "t", "energy", "error" }
objective.UNITS = { t = "s", energy = "J", error = "" }

--- How much worse than the best is a tie: a meter of energy is read in steps, and an error is exact.
objective.TIE = { t = 0.01, energy = 0.03, error = 0 }

--- What an objective is of a row.
---@param row table
---@param name string
---@return number?
function objective.value(row, name)
  if name == "t" then return (quantity.read(row.t)) end
  return row[name]
end

--- Rows that no other is better than in both objectives, by the first one; nil of a single one.
---@param rows table[]
---@param objectives string[]
---@return table[]?
function objective.front(rows, objectives)
  if #objectives < 2 then return nil end
  local all = lists.map(rows, function(row)
    local x, y = objective.value(row, objectives[1]), objective.value(row, objectives[2])
    return row.value and y and { x = x, y = y, row = row } or nil
  end)
  table.sort(all, function(a, b) return a.x < b.x or a.x == b.x and a.y < b.y end)
  local least = math.huge
  return lists.map(all, function(one)
    if one.y >= least then return nil end
    least = one.y
    return one.row
  end)
end

return objective
