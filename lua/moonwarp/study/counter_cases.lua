-- SPDX-License-Identifier: MIT
--
-- Structural counters next to times. Each variant of a part with `counters` runs once on a small case on the CPU device
-- in check mode, which counts: the counters depend on the kernel, and not on the machine that is timed.

local answers = require "moonwarp.study.answers"
local case = require "moonwarp.study.case"
local counters = require "moonwarp.measure.counters"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"

local counter_cases = {}

--- What a rung raises that cannot run on the CPU device: the machine may have no compiler for it, or the kernel be one
--- for GPUs only.
counter_cases.CANNOT = lists.set { "compile", "fault", "no_device", "no_memory", "not_found", "unsupported" }

--- The counters that a part asks for, and at which sides: { "sectors_per_request", at = { n = 4096 } }; nil for none.
---@param study table
---@param part table
---@return table?
function counter_cases.asked(study, part)
  return not part.run and (part.counters or study.head.counters) or nil
end

-- at: sides, or a function of those that are measured.
local function small(sides, asked)
  local at = case.called(asked.at, sides)
  if type(at) ~= "table" then
    failure.invalid("counters: 'at' must return sides such as { n = 4096 }, got %s", type(at))
  end
  return lists.merged(sides, at)
end

local LEAST <const> = 64 -- a side that is a size, and not a number of steps
local MOST <const> = { 65536, 512, 64 } -- of such a side in a small case, by how many there are

-- Sides that stand for a case where a study does not say at which it is counted: halved as long as they are even, so
-- that what divides them still does.
local function stand_in(sides)
  local sizes, at = 0, {}
  for _, side in pairs(sides) do sizes = sizes + (math.type(side) == "integer" and side > LEAST and 1 or 0) end
  for name, side in pairs(sides) do
    local most = math.type(side) == "integer" and MOST[math.min(math.max(sizes, 1), #MOST)]
    while most and side > most and side % 2 == 0 do side = side // 2 end
    at[name] = most and math.min(side, most) or nil
  end
  return at
end

--- The small cases at which a part is counted, each once: sides. The part says which, else its own stand for them.
---@param study table
---@param part table
---@return table[]
function counter_cases.cases(study, part)
  local asked = counter_cases.asked(study, part) or { at = stand_in }
  if part.run then return {} end
  local list = lists.map(part.list, function(sides) return small(sides, asked) end)
  return lists.unique(list, function(sides) return answers.sides_text(case.bare(study, sides)) end)
end

-- ---- the study on the device that counts ----------------------------------------------------------

local function plan_part(view, part)
  local asked = counter_cases.asked(view, part)
  for _, sides in ipairs(asked and part.list or {}) do
    local c <close> = case.planned(view, small(sides, asked))
    for _, rung in ipairs(part.chosen) do
      for _, block in ipairs(rung.when and not rung.when(c) and {} or rung.blocks) do case.plan(rung, c, block) end
    end
  end
end

-- The study as its cases see it on the counting device: with modules of that device.
local function view_of(study)
  local state = study.state
  if not state.counting then
    state.counting = case.view(study, counters.device())
    state.counting.state.first = 1
    for _, part in ipairs(state.parts) do plan_part(state.counting, part) end
  end
  return state.counting
end

-- ---- counting -----------------------------------------------------------------------------------

-- The small case, which the variants that are counted one after the other share: in check mode each array reserves
-- much of the address space.
local function case_of(view, part, sides)
  local state, key = view.state, ("%s, %s"):format(part.name, answers.sides_text(case.bare(view, sides)))
  if state.key ~= key then
    counter_cases.close(view)
    state.case, state.key = case.new(view, sides, part), key
  end
  return state.case
end

--- Closes what has been made to count.
---@param view table?   state.counting of a study
function counter_cases.close(view)
  local last = view and view.state.case
  if last then last:close() end
  if view then view.state.case, view.state.key = nil, nil end
end

-- The launches that have been counted since this was called last.
local function new_launches(view)
  local list = view.dev:counters(view.state.first)
  if #list > 0 then view.state.first = list[#list].launch + 1 end
  return counters.of_scripts(list)
end

-- The sums over the launches of a variant; nil and the reason if the device does not take it.
local function run(study, part, sides, one)
  local view = view_of(study)
  local c = case_of(view, part, sides)
  local go, reason = case.launcher(one.rung, c, one.block)
  if not go then return nil, reason end
  answers.reset(view, one.rung, c)
  new_launches(view)
  go()
  return counters.total(new_launches(view))
end

local function values_of(study, part, sides, one)
  local done, total, reason = failure.catch(run, study, part, sides, one)
  if not done then
    if not counter_cases.CANNOT[failure.status(total)] then error(total, 0) end
    counter_cases.close(study.state.counting) -- the rung may have written anywhere
    total, reason = nil, failure.text(total)
  end
  if not total then
    local names = lists.entry(study.state.no_counters, study.state.no_counters, reason, { reason = reason })
    if not lists.has(names, one.rung.name) then table.insert(names, one.rung.name) end
    return {}
  end
  local values = {}
  for _, name in ipairs(counter_cases.asked(study, part)) do values[name] = counters.value(total, name) end
  return values
end

--- The rungs that could not be counted, each reason once.
---@param state table   of the study
---@return string[]
function counter_cases.notes(state)
  return lists.map(state.no_counters, function(names)
    return ("%s (%s)"):format(table.concat(names, ", "), names.reason)
  end)
end

--- The counters of a variant by name, those that the part asks for; each variant of a small case is run once.
---@param study table
---@param part table
---@param sides table   of the measured case
---@param one table     rung, block
---@return table values
function counter_cases.of(study, part, sides, one)
  local asked, known = counter_cases.asked(study, part), study.state.counters
  if not asked or one.rung.counters == false or one.rung.mistake then return {} end
  sides = small(sides, asked)
  local key = ("%s, %s, %s"):format(part.name, answers.variant_text(one.rung, one.block),
    answers.sides_text(case.bare(study, sides)))
  known[key] = known[key] or values_of(study, part, sides, one)
  return known[key]
end

return counter_cases
