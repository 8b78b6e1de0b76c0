-- SPDX-License-Identifier: MIT
--
-- The ritual of a study:
--   1  rungs and parts are chosen, and all kernels of a file compiled at once
--   2  every rung in every block is checked on the odd cases of every part and type, each element
--      against the host; wrong rungs are left out from then on, and the run ends with status 3
--   3  of each part, each case: every variant is checked at the measured size, all are timed in turn and
--      checked once more, and records are written; then the part is shown
--   4  what the study does at last; what was not measured, and why
-- In check mode nothing is timed: 2, and of 3 the checks at the measured size if -p gives a size. If it counts, a part
-- with `counters` has the cases that these name instead of odd ones.

local answers = require "moonwarp.study.answers"
local blame = require "moonwarp.study.blame"
local case = require "moonwarp.study.case"
local counter_cases = require "moonwarp.study.counter_cases"
local check = require "moonwarp.measure.check"
local checking = require "moonwarp.measure.checking"
local energy = require "moonwarp.measure.energy"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local measure = require "moonwarp.study.measure"
local mistakes = require "moonwarp.study.mistakes"
local parameters = require "moonwarp.study.parameters"
local range = require "moonwarp.measure.range"
local remark = require "moonwarp.results.remark"
local session = require "moonwarp.session"
local shares = require "moonwarp.study.shares"
local show = require "moonwarp.study.show"
local tuning = require "moonwarp.study.tuning"

local runner = {}

-- ---- which rungs, which parts ----------------------------------------------------------------------

-- The rungs that can be asked for: their numbers once, then the names of those without.
local function choices_of(study)
  return lists.unique(lists.map(study.rung_list, function(rung)
    return not rung.always and tostring(rung.number or rung.name) or nil -- a number may be that of several
  end))
end

local function always_text(study)
  local names = lists.map(study.rung_list, function(rung)
    return rung.always and ("'%s'"):format(rung.name) or nil
  end)
  return #names == 0 and "" or ("; %s always"):format(table.concat(names, ", "))
end

local function is_meant(rung, text)
  return text == rung.name or rung.number ~= nil and tonumber(text) == rung.number
end

-- A rung's number or name; another text is told what there is.
local function check_rung(study)
  return function(text)
    if lists.find(study.rung_list, function(rung) return is_meant(rung, text) end) then return nil end
    return ("a rung's number or name, of %s"):format(table.concat(lists.map(choices_of(study), function(name)
      return name:find(",", 1, true) and ("'%s'"):format(name) or name
    end), ", "))
  end
end

--- Declares the runner's own parameters, rungs and parts.
---@param study table
function runner.declare(study)
  if study.p.rungs then return end
  local rungs, parts = choices_of(study), lists.map(study.part_list, function(part) return part.name end)
  if #rungs > 0 then
    parameters.add(study, "rungs", rungs, "which rungs to measure, by number or name" .. always_text(study),
      { check = check_rung(study) })
  end
  if #parts > 1 then parameters.add(study, "parts", parts, "which parts to run", { choices = parts }) end
end

local function is_in_part(part, rung)
  if not part.rungs then return true end
  if type(part.rungs) == "function" then return part.rungs(rung) end
  local named = lists.set(part.rungs)
  return named[rung.name] or named[rung.answer] or false
end

local function chosen_in(study, part)
  return lists.filter(study.rung_list, function(rung) return rung.wanted and is_in_part(part, rung) end)
end

-- The part's rungs, and those that their answers' references need: the checked rungs.
local function checked_in(study, part)
  local list = lists.append({}, part.chosen)
  for _, rung in ipairs(part.chosen) do
    for _, name in ipairs(study.answer_named[rung.answer].needs or {}) do
      local needed = study.rung_named[name]
      if not lists.has(list, needed) then table.insert(list, 1, needed) end
    end
  end
  return list
end

-- A side that is a list gives one case per value.
local function expanded(list)
  local all = {}
  for _, sides in ipairs(list) do
    local axes = lists.map(lists.keys(sides), function(name)
      return type(sides[name]) == "table" and { name, sides[name] } or nil
    end)
    lists.append(all, lists.product(sides, axes))
  end
  return all
end

-- The sides that a field lists, or its function returns.
local function sides_of(study, entry, field, ...)
  local list = case.called(entry[field], ...)
  if type(list) ~= "table" or #list == 0 and next(list) ~= nil or type(list[1] or {}) ~= "table" then
    blame.fail(entry, field, "must return a list of sides such as { { n = 1001 } }")
  end
  for _, sides in ipairs(list) do
    for name in pairs(sides) do
      if name ~= "type" then blame.on(entry, field, case.check_name, name) end
      local problem = name ~= "bytes" and parameters.problem(study, name)
      if problem then blame.fail(entry, field, "%s", problem) end
    end
  end
  return expanded(list)
end

local function choose(study)
  runner.declare(study)
  session.current:check_known {}
  local tune = session.current.options.tune
  local parts = lists.set(study.p.parts)
  for _, rung in ipairs(study.rung_list) do
    local asked = lists.find(study.p.rungs or {}, function(text) return is_meant(rung, text) end)
    rung.wanted = rung.always or asked ~= nil
    if tune then rung.wanted = rung.space ~= nil and (not tune.rung or is_meant(rung, tune.rung)) end
    local on, reason = study, nil
    if rung.wanted and rung.device then on, reason = blame.on(rung, "device", case.on, study, rung.device) end
    if on == study and rung.device then reason = ("the study's device is %s"):format(study.dev:id()) end
    if rung.wanted and reason and not checking.is_on(study.dev) then
      rung.wanted = false
      table.insert(study.state.skipped, ("%s (%s)"):format(rung.name, reason))
    end
  end
  study.state.parts = lists.map(study.part_list, function(part)
    if #study.part_list > 1 and not parts[part.name] then return nil end
    part.chosen = part.run and {} or chosen_in(study, part)
    part.checked = checked_in(study, part)
    part.list = part.run and {} or sides_of(part.study, part, "cases", study.dev)
    return part
  end)
  if not tune and not lists.find(study.state.parts, function(part) return part.run or #part.chosen > 0 end) then
    remark.say(session.current, "Nothing is measured: no part that is run has one of the chosen rungs.")
  end
end

-- ---- check mode ----------------------------------------------------------------------------------

-- Whether -p gives a number to one of the study's own parameters.
local function is_sized(study)
  return lists.find(study.params, function(parameter)
    local default = lists.of(parameter.default)[1]
    return parameter.name ~= "seconds" and type(default) == "number" and session.current.given[parameter.name]
  end) ~= nil
end

local function has_cases(study)
  return lists.find(study.part_list, function(part) return part.cases end) ~= nil
end

local function leave_out_plain_parts(state)
  local left_out = lists.map(state.parts, function(part) return part.run and ("'%s'"):format(part.name) or nil end)
  state.parts = lists.filter(state.parts, function(part) return not part.run end)
  if #left_out > 0 then
    remark.say(session.current, "Not run without a size (-p): %s.", table.concat(left_out, ", "))
  end
end

-- Counters per request depend on the size, as far as it is small.
local function tell_counters(study)
  local texts = {}
  for _, part in ipairs(study.state.parts) do
    lists.append(texts, lists.map(part.list, function(sides) return answers.sides_text(case.bare(study, sides)) end))
  end
  if #texts > 0 then remark.say(session.current, "Counted for %s.", table.concat(lists.unique(texts), "; ")) end
end

-- Of a study in check mode only the odd cases are run, unless a size is given or the study is plain Lua. What counts
-- takes cases that its blocks divide, if there are such.
local function reduce(study)
  if not checking.is_on(study.dev) then return end
  local state, counts = study.state, (session.current.checking or {}).counters
  state.is_checked = true
  if not (is_sized(study) or not has_cases(study)) then
    state.is_small = true
    leave_out_plain_parts(state)
    for _, part in ipairs(state.parts) do part.list = counts and counter_cases.cases(study, part) or {} end
    if counts then tell_counters(study) end
  end
  for _, part in ipairs(counts and state.parts or {}) do
    if #part.list > 0 then part.odd_cases = {} end
  end
end

-- ---- odd cases -----------------------------------------------------------------------------------

-- The odd cases of a part, in each type that it has.
local function odd_of(study, part)
  local types, list = lists.map(part.list, function(sides) return case.type_of(study, sides) end), {}
  for _, ty in ipairs(lists.unique(types)) do
    for _, odd in ipairs(sides_of(study, part.odd and part or study.head, "odd", study.p)) do
      list[#list + 1] = lists.merged(odd, { type = odd.type or ty })
    end
  end
  return list
end

-- ---- compiling ------------------------------------------------------------------------------------

-- Of a kernel of one dimension in a block of two each row of threads would do the same again.
local function check_dimensions(rung, block)
  local sides, over = lists.of(block), #lists.of(rung.over)
  local count = #sides
  while count > 1 and sides[count] == 1 do count = count - 1 end
  if over == 0 or count <= over then return end
  local one = table.concat(sides, "x", 1, over) .. ("x1"):rep(count - over)
  blame.fail(rung, nil, "its block %s has %d dimensions, and 'over' %d; take one as %s, or add a 1 to 'over' if the "
    .. "block's threads work together", table.concat(sides, "x"), count, over, one)
end

local function plan_rung(study, sides, rung)
  local c <close> = case.planned(case.on(study, rung.device), sides)
  for _, block in ipairs(case.blocks(rung, c)) do
    check_dimensions(rung, case.block_of(c, block))
    case.plan(rung, c, block)
  end
end

-- Every instance of every part is known before the first one is compiled.
local function plan(study)
  local seen = {}
  for _, part in ipairs(study.state.parts) do
    for _, sides in ipairs(lists.append(lists.append({}, part.odd_cases), part.list)) do
      local words = answers.sides_text(case.bare(study, sides))
      for _, rung in ipairs(part.checked) do
        local key = ("%s, %s"):format(rung.name, words)
        if not seen[key] then plan_rung(study, sides, rung) end
        seen[key] = true
      end
    end
  end
end

-- The same of a part's mistakes for the device that judges them.
local function mistakes_planner(part, sides)
  return function(judge)
    for _, rung in ipairs(part.checked) do
      if rung.mistake then plan_rung(judge, sides, rung) end
    end
  end
end

-- ---- what is left out ------------------------------------------------------------------------------

-- Adds a text that the notes do not have yet.
local function add_note(notes, rung, block, reason)
  local text = ("%s (%s)"):format(answers.variant_text(rung, block), reason)
  if not lists.has(notes, text) then notes[#notes + 1] = text end
end

-- The rungs of a part that no part before it with the same arrays had on this odd case.
local function unchecked(study, part, c, seen)
  return lists.map(part.checked, function(rung)
    local key = ("%s, %s, %s"):format(rung.name, answers.sides_text(c), part.arrays or "")
    local is_new = not study.state.wrong[rung] and not seen[key]
    seen[key] = true
    return is_new and rung or nil
  end)
end

local function leave_out(study, rung, why, reason)
  study.state.wrong[rung] = why
  add_note(study.state.skipped, rung, nil, reason)
end

-- What is known of each mistake, when all odd cases have been seen; nothing where no part that is run has it.
local function tell_mistakes(study)
  for _, rung in ipairs(study.rung_list) do
    if rung.mistake and rung.wanted and not study.state.mistakes[rung] then
      study.state.wrong[rung] = "a mistake"
    elseif rung.mistake and rung.wanted then
      local reason = mistakes.tell(study, rung)
      if reason then leave_out(study, rung, "a mistake", reason) end
    end
  end
end

-- The rungs of an odd case that are no mistakes, by the study on their device.
local function grouped(study, part, sides, seen)
  local groups, by_device = {}, {}
  for _, rung in ipairs(unchecked(study, part, case.bare(study, sides), seen)) do
    local on = case.on(study, rung.device)
    if rung.mistake then mistakes.look(study, part, rung, sides, mistakes_planner(part, sides))
    else table.insert(lists.entry(groups, by_device, on, { on = on }), rung) end
  end
  return groups
end

local function check_odd_case(study, part, sides, seen)
  local words = answers.sides_text(case.bare(study, sides))
  for _, rungs in ipairs(grouped(study, part, sides, seen)) do
    local doubtful = answers.check_odd(rungs.on, rungs, function() return case.new(rungs.on, sides, part) end,
      function(rung, reason) leave_out(study, rung, reason, reason) end,
      function(rung, block, reason)
        add_note(study.state.unchecked, rung, block, ("for %s: %s"):format(words, reason))
      end)
    for _, one in ipairs(doubtful) do
      remark.say(session.current, "All %d rungs of answer '%s' agree with each other and differ from its '%s' for %s: "
        .. "look at '%s' first.", one.count, one.answer, one.by, words, one.by)
    end
  end
end

local function check_odd(study)
  local _ <close> = range.open "odd cases"
  local seen = {}
  for _, part in ipairs(study.state.parts) do
    for _, sides in ipairs(part.odd_cases) do check_odd_case(study, part, sides, seen) end
  end
  tell_mistakes(study)
end

-- A rung whose reference is wrong says nothing.
local function leave_out_dependants(study)
  for _, rung in ipairs(study.rung_list) do
    for _, name in ipairs(study.answer_named[rung.answer].needs or {}) do
      if rung.wanted and study.state.wrong[study.rung_named[name]] and not study.state.wrong[rung] then
        leave_out(study, rung, "needs it", ("what it is compared with needs '%s', which is wrong"):format(name))
      end
    end
  end
end

-- ---- the run --------------------------------------------------------------------------------------

-- A case for which there is no memory counts as a failed check, and the others are measured.
local function measure_case(study, part, sides)
  local ok, result = failure.catch(measure.case, study, part, sides, function(rung, block, reason, is_wrong)
    add_note(study.state.skipped, rung, block, is_wrong and ("wrong: it %s"):format(reason) or reason)
  end)
  for _, one in ipairs(ok and result.list or {}) do
    if one.rung.mistake then add_note(study.state.mistaken, one.rung, nil, study.state.mistakes[one.rung].shown) end
  end
  if ok then return result end
  if failure.status(result) ~= "no_memory" then error(result, 0) end
  collectgarbage() -- what the case has made so far
  local words = answers.sides_text(case.bare(study, sides))
  table.insert(study.state.skipped, ("%s (%s)"):format(words, failure.text(result)))
  check.fail(session.current, ("%s, %s"):format(part.name, words), failure.text(result))
end

-- Cases that depend on what an earlier part has measured (study:fastest) are known only now.
local function measure_part(study, part)
  local _ <close> = range.open("part " .. part.name)
  if part.run then return part.run(study) end
  study = part.study
  if part.energy and not energy.is_counted(study.dev) then
    table.insert(study.state.skipped, ("part '%s' (device '%s' has no counter of energy)"):format(part.name,
      study.dev:id()))
    return
  end
  local cases = study.state.is_small and part.list or sides_of(study, part, "cases", study.dev)
  local results = lists.map(cases, function(sides) return measure_case(study, part, sides) end)
  study.state.results[part.name] = results
  show.part(study, part, results)
  for _, result in ipairs(results) do shares.show(study, part, result) end
end

-- What fibers run is right, and may be hundreds of times slower than it need be.
local function fibers_notes(study)
  local state = study.state
  return lists.map(study.rung_list, function(rung)
    local why = not state.is_checked and not state.wrong[rung] and state.in_fibers[rung]
    return why and ("%s (%s)"):format(rung.name, why) or nil
  end)
end

local function conclude(study)
  local state = study.state
  counter_cases.close(state.counting)
  if state.stream then state.stream:close() end
  for _, left_out in ipairs { { "Run by fibers, the slowest engine of the CPU device", fibers_notes(study) },
                              { "Not checked on an odd size", state.unchecked }, { "Not measured", state.skipped },
                              { "Measured although it is wrong", state.mistaken },
                              { "Not counted", counter_cases.notes(state) } } do
    if #left_out[2] > 0 then remark.say(session.current, "%s: %s.", left_out[1], table.concat(left_out[2], "; ")) end
  end
end

--- Runs a study.
---@param study table
function runner.run(study)
  -- parts: those to be run; results: of measured parts, by name; plans: of modules; kinds: plans by whether a device is
  -- a GPU; views: the study on other devices; wrong: rungs, with the reason; mistakes: what is known of rungs with one;
  -- mistaken: those that are measured; counters: of variants; in_fibers: rungs, with the reason; rung: the one
  -- that launches
  local plans = {}
  study.state = { name = session.current:script(), results = {}, plans = plans, kinds = { [study.gpu] = plans },
                  views = {}, wrong = {}, skipped = {}, unchecked = {}, mistakes = {}, mistaken = {}, counters = {},
                  no_counters = {}, in_fibers = {} }
  local current = session.current
  current.measured = study.dev
  local _ <close> = setmetatable({}, { __close = function() -- however the run ends
    conclude(study)
    current.measured = nil
  end })
  local _ <close> = range.open("study " .. study.state.name)
  choose(study)
  for _, part in ipairs(study.state.parts) do part.odd_cases = odd_of(study, part) end
  reduce(study)
  plan(study)
  check_odd(study)
  leave_out_dependants(study)
  if current.options.tune then return tuning.run(study, current.options.tune) end
  for _, part in ipairs(study.state.parts) do measure_part(study, part) end
  if study.last and not study.state.is_small then study.last(study) end
end

return runner
