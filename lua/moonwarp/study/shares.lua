-- SPDX-License-Identifier: MIT
--
-- What the kernels of a list of launches take of its time: each distinct one alone, times how often the list has it, as
-- a table and a ladder. Functions of the list are not in it.

local answers = require "moonwarp.study.answers"
local bench = require "moonwarp.measure.bench"
local case = require "moonwarp.study.case"
local ladder = require "moonwarp.plot.ladder"
local lists = require "moonwarp.base.lists"
local record = require "moonwarp.results.record"
local tables = require "moonwarp.plot.table"

local shares = {}

-- The distinct kernels of a variant, in the order in which they come first.
local function kernels_of(one)
  local list, by_name = {}, {}
  for _, launch in ipairs(case.launches(one.rung, one.case, one.block)) do
    local name = launch[1]
    if not by_name[name] then
      lists.entry(list, by_name, name, { name = name, fn = one.case:launch(name, launch[2], launch[3]), launches = 0 })
    end
    by_name[name].launches = by_name[name].launches + 1
  end
  return list
end

--- Measures the kernels of a variant that is a list of launches, and records them.
---@param study table
---@param one table      rung, block, case, values
---@param limits table   of bench.turns
---@return table? kernels   name (of the variant), records; nil if it is no list
function shares.measure(study, one, limits)
  local list, values, sum = kernels_of(one), one.values, 0
  if #list == 0 then return nil end
  answers.reset(study, one.rung, one.case)
  for i, t in ipairs(bench.turns(list, limits)) do
    list[i].t, list[i].together = t, list[i].launches * t
    sum = sum + list[i].together.value
  end
  return { name = answers.variant_text(one.rung, one.block), records = lists.map(list, function(kernel)
    return record.write(lists.merged({ study = values.study, group = values.group, rung = values.rung,
      block = values.block, type = values.type, kernel = kernel.name, launches = kernel.launches, t = kernel.t,
      together = kernel.together, share = kernel.together.value / sum, units = { together = "s" } }, one.case.sides))
  end) }
end

--- Shows the kernels of the variants of a case.
---@param study table
---@param part table
---@param result table   of measure.case
function shares.show(study, part, result)
  for _, kernels in ipairs(result.shares or {}) do
    local title = ("%s %s, %s: the kernels of '%s'"):format(study.state.name, part.name, result.text, kernels.name)
    tables.print { "kernel", "launches", "t", { "together", title = "all of them" },
                   { "share", unit = "%", digits = 3 }, title = title, records = kernels.records }
    ladder.draw { x = "together", by = "kernel", share = "share", xlabel = "time of all its launches", title = title,
                  records = kernels.records, name = ("%s-%s-kernels"):format(study.state.name, part.name) }
  end
end

return shares
