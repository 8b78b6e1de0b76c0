-- SPDX-License-Identifier: MIT
--
-- Rungs that are wrong on purpose, as their source is. Such a rung may write anywhere: on the odd cases it runs on the
-- CPU device in check mode, whatever the study's device is, where at least one case must show its mistake. It is
-- measured only if it asks for that and nothing was found there that a GPU does not survive.

local core = require "moonwarp.core"
local answers = require "moonwarp.study.answers"
local case = require "moonwarp.study.case"
local check = require "moonwarp.measure.check"
local checking = require "moonwarp.measure.checking"
local counter_cases = require "moonwarp.study.counter_cases"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local session = require "moonwarp.session"

local mistakes = {}

-- What may be found of a rung that is measured. An access out of bounds and a wait without an end are not among them.
local HARMLESS <const> = lists.set { "a wrong result", "race in shared memory", "race in global memory",
                                     "race between operations", "warp-synchronous", "missing fence", "uninitialised" }

-- The study on the device that judges; of a wait without an end it hears in the second of its orders.
local function judge_of(study)
  local state = study.state
  if state.is_checked then return study end
  state.judge = state.judge or case.view(study, core.device(checking.backend(false), { schedule = 1 }))
  return state.judge
end

--- Looks what an odd case shows of a mistake.
---@param study table
---@param part table
---@param rung table
---@param sides table    of the odd case
---@param plan fun(judge: table)   plans the kernels of all of the part's mistakes, which are compiled once
function mistakes.look(study, part, rung, sides, plan)
  -- kinds: of what shows it; found: the case that does; shown: both in words; problem: why it cannot be judged
  local known = lists.entry({}, study.state.mistakes, rung, { kinds = {} })
  if known.problem or rung.when and not rung.when(case.bare(study, sides)) then return end
  local done, problem = failure.catch(function()
    local on = judge_of(study)
    plan(on)
    answers.show_mistake(on, rung, function() return case.new(on, sides, part) end, known.kinds)
    known.found = known.found or next(known.kinds) and answers.sides_text(case.bare(on, sides))
  end)
  if done then return end
  if not counter_cases.CANNOT[failure.status(problem)] then error(problem, 0) end
  known.problem = failure.text(problem)
end

local function note_check(rung, known)
  local name = ("%s: its mistake is found"):format(rung.name)
  if not known.found then return check.fail(session.current, name, "no odd case finds it") end
  local missing = lists.filter(rung.mistake == true and {} or lists.of(rung.mistake), function(kind)
    return not known.kinds[kind]
  end)
  if #missing == 0 then return check.run(session.current, true, nil, { name = name }) end
  local words = table.concat(missing, ", ")
  check.fail(session.current, name, ("check mode finds %s, and not %s"):format(known.shown, words))
end

--- Notes whether a mistake that was looked at was found as it must be, when all odd cases have been seen.
---@param study table
---@param rung table
---@return string? reason  why it is not measured
function mistakes.tell(study, rung)
  local known = study.state.mistakes[rung]
  if known.problem then return ("a mistake, which check mode cannot judge: %s"):format(known.problem) end
  local kinds = lists.keys(known.kinds)
  known.shown = ("%s for %s"):format(table.concat(kinds, ", "), known.found)
  note_check(rung, known)
  if not known.found then return "a mistake, which is not found" end
  if study.state.is_checked or not rung.measure then return "a mistake, which is found for " .. known.found end
  local is_harmful = lists.find(kinds, function(kind) return not HARMLESS[kind] end)
  return is_harmful and "a mistake that is not safe to measure: " .. known.shown or nil
end

return mistakes
