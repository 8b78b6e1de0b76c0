-- SPDX-License-Identifier: MIT
--
-- What two devices have counted of the same launch, figure by figure.

local counters = require "moonwarp.measure.counters"
local lists = require "moonwarp.base.lists"

local compare = {}

-- Ncu counts passes over the banks of shared memory, and the conflicts among them, in hardware, which takes a few more
-- than the accesses need: they are equal within this part of the passes. All other figures have to be equal.
local TOLERANCE <const> = 0.02

local function margin(counted, name)
  local kind = name:match "^(shared_%a+)_conflicts$" or name:match "^(shared_%a+)_wavefronts$"
  return kind and TOLERANCE * (counted[kind .. "_wavefronts"] or 0) or 0
end

--- The counters that both devices know.
---@param cpu table  a launch of counters.lua
---@param gpu table
---@return table[] figures  name, cpu, gpu, is_equal
function compare.totals(cpu, gpu)
  return lists.map(counters.list, function(one)
    local a, b = cpu[one.name], gpu[one.name]
    if not (a and b) then return nil end
    return { name = one.name, cpu = a, gpu = b, is_equal = math.abs(a - b) <= margin(cpu, one.name) }
  end)
end

-- The lines of both, by place: { [1] =, [2] = }. Only the last part of a file's name is the same on both.
local function by_place(cpu, gpu)
  local found = {}
  for which, launch in ipairs { cpu, gpu } do
    for _, line in ipairs(launch.lines) do
      local place = ("%s:%05d"):format(line.file:match "[^/]*$", line.line)
      found[place] = found[place] or {}
      found[place][which] = line
    end
  end
  return found
end

--- The same of lines: what one device has and the other has not is 0 there. Requests are not compared: ncu counts those
--- of warps that skip an instruction by a predicate as well.
---@param cpu table
---@param gpu table
---@return table[] figures  with line, its number, and text; none if ncu has no lines
function compare.lines(cpu, gpu)
  local figures = {}
  if #gpu.lines == 0 then return figures end
  local found = by_place(cpu, gpu)
  for _, place in ipairs(lists.keys(found)) do
    local a, b = found[place][1] or {}, found[place][2] or {}
    for _, one in ipairs(counters.list) do
      local have, other = a[one.name] or 0, b[one.name] or 0
      if have + other > 0 and cpu[one.name] and gpu[one.name] and not one.name:find "requests$" then
        figures[#figures + 1] = { line = a.line or b.line, text = a.text or b.text, name = one.name, cpu = have,
                                  gpu = other, is_equal = have == other }
      end
    end
  end
  return figures
end

--- Those of a list that differ.
---@param figures table[]
---@return table[]
function compare.differing(figures)
  return lists.map(figures, function(one) return not one.is_equal and one or nil end)
end

return compare
