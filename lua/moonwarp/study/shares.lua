-- SPDX-License-Identifier: MIT
--
-- What the kernels of a list of launches take of its time, as a table and a ladder: each distinct launch alone, times
-- how often the list has it. Functions of the list are not in it.

local answers = require "moonwarp.study.answers"
local bench = require "moonwarp.measure.bench"
local blame = require "moonwarp.study.blame"
local case = require "moonwarp.study.case"
local ladder = require "moonwarp.plot.ladder"
local lists = require "moonwarp.base.lists"
local record = require "moonwarp.results.record"
local session = require "moonwarp.session"
local tables = require "moonwarp.plot.table"

local shares = {}

-- What a launch does depends on: names, numbers, and which objects and functions they are.
local function text_of(value)
  if type(value) == "table" then
    return "{" .. table.concat(lists.map(lists.keys(value), function(key)
      return ("%s=%s"):format(key, text_of(value[key]))
    end), ",") .. "}"
  end
  return math.type(value) and tostring(value) or type(value) == "string" and value or ("%p"):format(value)
end

-- The distinct launches of a variant, as contenders of bench.turns, in the order in which they come first.
local function launches_of(study, one)
  local list, by_text, c = {}, {}, one.case
  local restart = study.answer_named[one.rung.answer].restart
  for _, launch in ipairs(case.launches(one.rung, c, one.block)) do
    local name, how = launch[1], launch[2]
    local text, dev = text_of(launch), case.on(c.study, how.device).dev
    if dev ~= c.dev then name = ("%s, %s"):format(name, dev:id()) end
    local known = by_text[text] or lists.entry(list, by_text, text, { name = name, count = 0, device = dev,
      fn = c:launch(launch[1], how, launch[3]), stream = dev == c.dev and how.stream or nil,
      setup = restart and function() answers.reset(study, one.rung, c) end or nil })
    known.count = known.count + 1
  end
  return list
end

-- The launches of one kernel on one device together. The times of different ones have no interval together.
local function by_kernel(list)
  local kernels, known = {}, {}
  for _, launch in ipairs(list) do
    local kernel = lists.entry(kernels, known, launch.name, { name = launch.name,
      device = launch.device, launches = 0, seconds = 0 })
    local is_first = kernel.launches == 0
    kernel.launches, kernel.seconds = kernel.launches + launch.count, kernel.seconds + launch.count * launch.t.median
    kernel.t = is_first and launch.t or kernel.seconds / kernel.launches
    kernel.together = is_first and launch.count * launch.t or kernel.seconds
  end
  return kernels
end

local function measure(study, one, limits)
  local list, values, sum = launches_of(study, one), one.values, 0
  if #list == 0 then return nil end
  answers.reset(study, one.rung, one.case)
  for i, t in ipairs(bench.turns(session.current, list, limits)) do
    list[i].t, sum = t, sum + list[i].count * t.median
  end
  return { name = answers.variant_text(one.rung, one.block), records = lists.map(by_kernel(list), function(kernel)
    return record.write(session.current, lists.merged(one.case.sides, { study = values.study, group = values.group,
      rung = values.rung, block = values.block, type = values.type, kernel = kernel.name, device = kernel.device,
      launches = kernel.launches, t = kernel.t, together = kernel.together, share = kernel.seconds / sum,
      units = { t = "s", together = "s" } }))
  end) }
end

--- Measures the kernels of a variant that is a list of launches, and records them.
---@param study table
---@param one table      rung, block, case, values
---@param limits table   of bench.turns
---@return table? kernels   name (of the variant), records; nil if it is no list
function shares.measure(study, one, limits)
  return blame.on(one.rung, "the shares of its launches", measure, study, one, limits)
end

--- Shows the kernels of the variants of a case.
---@param study table
---@param part table
---@param result table   of measure.case
function shares.show(study, part, result)
  for _, kernels in ipairs(result.shares or {}) do
    local title = ("%s %s, %s: the kernels of '%s'"):format(study.state.name, part.name, result.text, kernels.name)
    tables.print(session.current, { "kernel", "launches", "t", { "together", title = "all of them" },
                                    { "share", unit = "%", digits = 3 }, title = title, records = kernels.records })
    ladder.draw(session.current, { x = "together", by = "kernel", share = "share", xlabel = "time of all its launches",
      title = title, records = kernels.records, name = ("%s-%s-kernels"):format(study.state.name, part.name) })
  end
end

return shares
