-- SPDX-License-Identifier: MIT
--
-- A gate on structural counters: of each configuration in which the lab's pass in check mode has launched a kernel, a
-- counter or a figure of measure/counters.lua must be at least, or at most, a number:
--   { kernel = "transpose_tile<float,1>", field = "shared_conflicts_per_request", at_most = 0 }
-- What accesses are made of does not depend on the machine, so the number is absolute.

local counters = require "moonwarp.measure.counters"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local units = require "moonwarp.base.units"

local counter_gate = {}

local KEYS <const> = { "kernel", "field", "at_least", "at_most", "devices", "name" }
local EXAMPLE <const> = "as in { kernel = \"sum\", field = \"sectors_per_request\", at_most = 4.5 }"

--- Whether a gate is one of these.
---@param given table
---@return boolean
function counter_gate.is(given)
  return given.kernel ~= nil
end

--- Whether a gate is meant as one of these, and does not say of which kernel.
---@param given table
---@return boolean
function counter_gate.lacks_kernel(given)
  return given.of == nil and given.record == nil and given.field ~= nil and not counters.problem(given.field)
end

local function is_number(value)
  return type(value) == "number" and value - value == 0
end

--- The problem of a gate, or nil.
---@param given table
---@return string?
function counter_gate.problem(given)
  for _, key in ipairs(lists.keys(given)) do
    if not lists.has(KEYS, key) then
      return ("a gate of a kernel has no '%s'; %s"):format(tostring(key), nearest.hint(key, KEYS))
    end
  end
  if type(given.kernel) ~= "string" or given.kernel == "" then
    return "a gate on counters wants kernel, its name; " .. EXAMPLE
  end
  if type(given.field) ~= "string" then return "a gate of a kernel wants field, a counter; " .. EXAMPLE end
  local least, most = given.at_least, given.at_most
  if not (least or most) or least and not is_number(least) or most and not is_number(most) then
    return "a gate of a kernel wants at_most or at_least, a number; " .. EXAMPLE
  end
  if least and most and least > most then
    return ("a gate of a kernel has at_least %s above at_most %s, which no number fulfils"):format(least, most)
  end
  return counters.problem(given.field)
end

local function without_arguments(kernel) return kernel:match "^[^<]+" end

-- The rows of a kernel; a template's name without arguments is all of its instances.
local function rows_of(rows, kernel)
  return lists.filter(rows, function(row) return row.kernel == kernel or without_arguments(row.kernel) == kernel end)
end

local function unknown_kernel(rows, kernel)
  local names = lists.unique(lists.map(rows, function(row) return row.kernel end))
  if #names == 0 then return ("kernel '%s': the pass in check mode has counted no launch"):format(kernel) end
  local near = nearest.find(kernel, lists.unique(lists.map(names, without_arguments)))
  return ("no kernel '%s' was launched; %s"):format(kernel, near and ("did you mean '%s'?"):format(near)
    or nearest.hint(kernel, names))
end

local function is_within(one, value)
  return value >= (one.at_least or -math.huge) and value <= (one.at_most or math.huge)
end

-- "at least 2 and at most 4.5"
local function bounds(one)
  local words = {}
  for _, key in ipairs { "at_least", "at_most" } do
    if one[key] then words[#words + 1] = ("%s %g"):format(key:gsub("_", " "), one[key]) end
  end
  return table.concat(words, " and ")
end

local function dims(list) return table.concat(list, " x ") end

-- Why a row does not hold; nil if it does.
local function failure_of(one, row)
  local value, reason = counters.value(row, one.field)
  if not value then return ("kernel '%s' %s"):format(row.kernel, reason) end
  if is_within(one, value) then return nil end
  return ("%s of kernel '%s' is %s (grid %s, block %s), wanted %s"):format(one.field, row.kernel,
    units.digits(value, 3), dims(row.grid), dims(row.block), bounds(one))
end

--- Holds a gate against what a run has counted: each configuration of the kernel must pass.
---@param one table      as the curriculum has it
---@param rows table[]   the record's counters
---@return table outcome { text =, ok =, message = (where it failed) }
function counter_gate.judge(one, rows)
  local text = one.name or ("%s of kernel %s %s"):format(one.field, one.kernel, bounds(one))
  local mine = rows_of(rows, one.kernel)
  if #mine == 0 then return { text = text, ok = false, message = unknown_kernel(rows, one.kernel) } end
  local message
  for _, row in ipairs(mine) do message = message or failure_of(one, row) end
  return { text = text, ok = not message, message = message }
end

return counter_gate
