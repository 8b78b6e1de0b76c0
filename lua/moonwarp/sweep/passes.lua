-- SPDX-License-Identifier: MIT
--
-- The passes of a script: one, or in a sweep one for each combination of the values. Which parameters are swept is
-- known after the first pass: mw.arg says so. A pass that is skipped, or that an error ends which a value can be the
-- cause of, does not end the others.

local exit = require "moonwarp.base.exit"
local failure = require "moonwarp.base.failure"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local session = require "moonwarp.session"

local passes = {}

-- Statuses of errors that a value can be the cause of: a block that the device does not take, an array too large for
-- it, a macro that does not compile. What Lua raises is the script's mistake, and ends the sweep.
local OF_A_VALUE <const> = lists.set { "invalid", "not_found", "no_memory", "compile", "unsupported", "fault",
                                       "driver", "killed" }

local NAMED <const> = 10 -- passes of a sweep that have not passed

--- Whether a pass may leave to the last one what a function of mw shows.
---@param name string
---@return boolean
function passes.is_shown_last(name)
  local kinds = require "moonwarp.plot.kinds"
  return name == "table" or lists.find(kinds.all, function(kind) return kind.name == name and kind.merge end) ~= nil
end

--- The values of every parameter, by name: what the first pass is given.
---@param parameters table[]  { name =, values = } each
---@return table
function passes.values(parameters)
  local values = {}
  for _, parameter in ipairs(parameters) do values[parameter.name] = parameter.values end
  return values
end

-- The rest of a combination when a pass took the first value of each parameter that is swept: the cartesian
-- product of those, the last parameter fastest, without its first element.
local function others(combination, parameters, swept)
  local function alone(value) return { value } end
  local all = lists.product(combination, lists.map(parameters, function(parameter)
    return swept[parameter.name] and { parameter.name, lists.map(parameter.values, alone) } or nil
  end))
  table.remove(all, 1)
  return all
end

-- ---- a pass -------------------------------------------------------------------------------------

local function complain(text)
  if not session.current.is_part then exit.complain("%s", text) end
end

--- Says why a script ended. The exit status.
---@param outcome string  of host.call
---@param message string
---@param problem any
---@return integer
function passes.status(outcome, message, problem)
  if outcome ~= "done" then
    local current = session.current
    current.message = exit.text(message, problem)
    if not current.job then complain(current.message) end -- else of all ranks one says it
  end
  return exit.of(outcome, problem)
end

-- Not a failure: it is reported, and kept if the run keeps anything.
local function say_skipped(reason, pass)
  local text = ("skipped: %s%s"):format(reason, pass and (" (%s)"):format(pass) or "")
  complain(text)
  if not session.current.outcome then session.current:mention("remark", { text = text }) end
end

local function say_failed(problem, pass)
  local current = session.current
  complain(("%s failed: %s"):format(pass, tostring(problem)))
  current.message = current.message or ("%s failed: %s"):format(pass, failure.text(problem))
  if not current.outcome then require("moonwarp.results.record").fail(current, problem) end
end

-- The script, and the study that it returns; what host.call gives.
local function attempt(chunk, words)
  return host.call(function()
    local script = session.current.options.script
    local is_folder = script and script:find "%f[^/%z]init%.lua$"
    local _ <close> = is_folder and require("moonwarp.study.folder").open(script) or nil
    local value = chunk(table.unpack(words))
    local study = package.loaded["moonwarp.study"]
    if study then study.conclude(value) end
  end)
end

-- Says how a pass ended, if not well. The status, and the error if it was skipped or its pass failed.
local function judge(outcome, message, problem)
  local status, pass, job = failure.status(problem), session.current:pass_words(), session.current.job
  if status == "skipped" and pass and job and job.size > 1 then -- nobody knows whether the others skip it
    local text = "%s, skipped: %s; a sweep of %d ranks has all its passes, so leave this value out"
    local refused = failure.new("unsupported", text:format(pass, problem.reason, job.size))
    return passes.status(outcome, failure.text(refused), refused)
  elseif status == "skipped" then
    say_skipped(problem.reason, pass)
  elseif pass and OF_A_VALUE[status] and not job then -- the other ranks would wait
    say_failed(problem, pass)
  else
    return passes.status(outcome, message, problem)
  end
  return exit.OK, problem
end

-- ---- all of them --------------------------------------------------------------------------------

-- Counts a pass that has ended, in what begins as { count = 0 }, with a text of each pass that has not passed; `failed`
-- checks are those before it.
local function note(ended, failed, problem)
  local is_wrong = session.current.failed_checks > failed
  ended.count = ended.count + 1
  if not (problem or is_wrong) then return end
  local why = not problem and "check failed" or failure.status(problem) == "skipped" and "skipped" or "failed"
  ended[#ended + 1] = ("%s (%s)"):format(session.current:pass_words() or "all values", why)
end

-- Says how many passes of a sweep have passed, and which have not; nothing of one that leaves no results.
local function sum_up(ended, left)
  local current = session.current
  local all = ended.count + left
  if all < 2 or current.options.quiet or #ended == 0 and not current.run then return end
  local shown = math.min(#ended, NAMED)
  local rest = shown > 0 and "; not passed: " .. table.concat(ended, ", ", 1, shown) or ""
  if #ended > shown then rest = ("%s and %d more"):format(rest, #ended - shown) end
  if all > ended.count then rest = ("%s, and %d not run"):format(rest, all - ended.count) end
  print(("passed %d of %d%s"):format(ended.count - #ended, all, rest))
end

-- Shows what the last pass that came to its end has left to one that did not. The status.
local function show(put_off)
  session.current.more = false
  return passes.status(host.call(function()
    for _, one in ipairs(put_off) do require("moonwarp")[one.what](one.spec) end
  end))
end

-- The status if no pass came to its end, and the reason if all were skipped.
local function end_of(problems)
  local failed = lists.find(problems, function(problem) return failure.status(problem) ~= "skipped" end)
  if failed then return exit.of("failed", failed) end
  return exit.OK, problems[#problems].reason
end

--- Runs a script in all its passes.
---@param chunk function
---@param parameters table[]  those of the command line
---@param words string[]      what the script is called with
---@return integer status
---@return string? reason     if every pass was skipped
function passes.run(chunk, parameters, words)
  local current, left, problems, ended = session.current, { passes.values(parameters) }, {}, { count = 0 }
  local status, problem, put_off
  repeat
    local combination = table.remove(left, 1)
    current.pass, current.swept, current.more = combination, {}, #left > 0
    current.put_off, current.begun = {}, {}
    local failed = current.failed_checks
    status, problem = judge(attempt(chunk, words))
    note(ended, failed, problem or status ~= exit.OK and "failed" or nil)
    if problem then problems[#problems + 1] = problem else put_off = current.put_off end
    left = lists.append(others(combination, parameters, current.swept), left)
    collectgarbage()
  until status ~= exit.OK or #left == 0
  local reason
  if status == exit.OK then
    if put_off then status = show(put_off) else status, reason = end_of(problems) end
  end
  sum_up(ended, #left)
  return status, reason
end

-- ---- one of them --------------------------------------------------------------------------------

--- How many combinations the values of all parameters have.
---@param parameters table[]
---@return integer
function passes.count(parameters)
  local count = 1
  for _, parameter in ipairs(parameters) do count = count * #parameter.values end
  return count
end

--- Which value of each parameter the combination of a number has, the last parameter fastest.
---@param parameters table[]
---@param number integer
---@return table<string, integer> picks
function passes.picked(parameters, number)
  local picks, rest = {}, number - 1
  for i = #parameters, 1, -1 do
    local count = #parameters[i].values
    picks[parameters[i].name], rest = rest % count + 1, rest // count
  end
  return picks
end

--- Runs one pass of a sweep. What it leaves to the last one is left to who joins the passes (sweep/join.lua).
---@param chunk function
---@param parameters table[]  all of the sweep
---@param words string[]
---@param number integer      of the combination, from 1
---@return integer status
---@return string? reason     if it was skipped
function passes.run_one(chunk, parameters, words, number)
  local current = session.current
  current.pass, current.swept, current.picked = passes.values(parameters), {}, passes.picked(parameters, number)
  local outcome, message, problem = attempt(chunk, words)
  current.outcome = { outcome = outcome, message = message, status = failure.status(problem),
                      text = problem and failure.text(problem), where = failure.status(problem) and problem.where,
                      reason = failure.status(problem) == "skipped" and problem.reason or nil }
  local status, cause = judge(outcome, message, problem)
  if status ~= exit.OK or not cause then return status end
  return end_of { cause }
end

return passes
