-- SPDX-License-Identifier: MIT
--
-- A script from the beginning of its session to the exit status of the process: all its passes (passes.lua), or one of
-- them; then the run's record and the closing lines.

local core = require "moonwarp.core"
local exit = require "moonwarp.base.exit"
local failure = require "moonwarp.base.failure"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local passes = require "moonwarp.sweep.passes"
local session = require "moonwarp.session"

local execution = {}

-- Loaded when there is a file to write: moonwarp -e has none.
local function files() return require "moonwarp.base.files" end

-- ---- before the script --------------------------------------------------------------------------

local function check_places(parsed)
  local problem = parsed.out and require("moonwarp.base.path").make(parsed.out)
  if problem then options.fail("%s", problem) end
  problem = parsed.json and files().write(parsed.json, "", "ab")
  if problem then options.fail("cannot write the file of --json: %s", problem) end
end

local function begin_pass(parsed, parameters)
  local count = passes.count(parameters)
  if parsed.pass > count then
    options.fail("option '--pass': the values of -p have %d combinations, got %d", count, parsed.pass)
  end
  local folder = parsed.out or "out"
  local problem = require("moonwarp.base.path").make(folder) or require("moonwarp.sweep.part").begin(folder)
  if problem then options.fail("%s", problem) end
end

-- ---- its passes ---------------------------------------------------------------------------------

-- Names that nothing asked for, if nothing was measured.
local function check_names(current)
  local known, problem = failure.catch(current.check_names, current, {})
  return known and exit.OK or passes.status("failed", tostring(problem), problem)
end

local function run_passes(chunk, parameters, words, number)
  if number then return passes.run_one(chunk, parameters, words, number) end
  return passes.run(chunk, parameters, words)
end

local function run_all(current, chunk, parameters, words)
  local status, reason = run_passes(chunk, parameters, words, current.options.pass)
  if current.is_prepared then return status, reason end
  if status == exit.OK and not reason then status = check_names(current) end
  if status ~= exit.USAGE then current:empty_json() end
  return status, reason
end

-- ---- its end ------------------------------------------------------------------------------------

-- The closing line of a mode that looks for something.
local function conclude_mode(current)
  local given = current.options
  if given.quiet or current.outcome then return end
  if given.engines then print(require("moonwarp.measure.engines").summary(current.found)) end
  if not given.check or current.has_counters or current.found > 0 or current.is_above then return end
  local limits = current.is_sanitized and "; " .. require("moonwarp.tools.sanitizer").LIMITS or ""
  print("check mode: no errors found" .. limits)
end

local function complain_found(current)
  local found, is_compared = current.found, current.options.engines
  local one, many = is_compared and "a difference" or "an error", is_compared and " differences" or " errors"
  exit.complain("%s found %s", is_compared and "--engines" or "check mode", found == 1 and one or found .. many)
end

-- Failed checks, findings and passes were printed as they failed; the status informs the caller.
local function final_status(current, status)
  current:settle_findings()
  current:settle_counters()
  local found, failed = current.found, current.failed_passes
  local checks = current.failed_checks - found
  if status ~= exit.OK then return status end
  if not current.left then conclude_mode(current) end
  if checks + found + failed == 0 then return status end
  if current.is_part then return exit.CHECK end
  if found > 0 then complain_found(current) end
  if checks > 0 then exit.complain(checks == 1 and "a check failed" or checks .. " checks failed") end
  if failed > 0 then exit.complain(failed == 1 and "a pass failed" or failed .. " passes failed") end
  return exit.CHECK
end

-- What the record says: a failed check may be one of an earlier run of this process.
local function record_status(current, status)
  if status == exit.OK or status == exit.CHECK and current.failed_checks > 0 then return current:ending().status end
  return status == exit.INTERRUPTED and "interrupted" or "failed"
end

-- A script whose output is lost has not done what it was run for. The program says why at its end.
local function output_status(current, status)
  if status ~= exit.OK or host.arrived() then return status end
  current.message = "standard output could not be written"
  return exit.FAILED
end

local function has_own_kernels()
  for _, from in ipairs { core.files, core.texts } do
    if lists.find(lists.keys(from), function(name) return not name:find "^moonwarp/" end) then return true end
  end
end

-- A race may well give right results. Said once, with the first run of a script of one's own.
local function hint_check(current, folder)
  local options_of, around = current.options, folder:match "^(.*)/" or "."
  local script = options_of.script
  if options_of.quiet or options_of.pass or not script or os.getenv "MOONWARP_LAB" then return end
  local is_shipped = script:sub(1, #core.home() + 1) == core.home() .. "/"
  local is_checked = require("moonwarp.measure.checking").is_on(current:device())
  if is_shipped or is_checked or #files().entries(around) > 1 or not has_own_kernels() then return end
  local path = require "moonwarp.base.path"
  local word = (path.folder(script) or script):gsub("(.)/$", "%1")
  print(("races and bad accesses are not looked for: moonwarp run %s --check does"):format(path.word(word)))
end

-- Closes the run's record, however the script ended. A batch takes no record for no answer of check mode.
local function finish(current, status)
  if current.checking and os.getenv "MOONWARP_LAB" and not (current.run or current.left) then current:folder() end
  local folder, problem = current:finish { status = record_status(current, status), exit = status,
                                           message = current.message }
  if problem then
    exit.complain(problem)
    return status == exit.OK and exit.FAILED or status
  end
  if folder then hint_check(current, folder) end
  if folder and not (current.options.quiet or current.is_part) then print("results: " .. folder) end
  return status
end

-- A lab that did nothing but skip says so to its batch.
local function tell_batch(current, reason)
  if reason and os.getenv "MOONWARP_LAB" and not current.opens and #current.records == 0 then
    files().write(current:out() .. "/skipped", reason)
  end
end

-- Ends the run and gives the status of the process: where the script ends, and where it leaves by os.exit; once more
-- as the state closes, since finalizers may have checked something.
local function leave(current, status)
  if (current.left or exit.OK) ~= exit.OK then return current.left end
  local job = not current.left and current.job
  if job and job.rank > 0 then
    current.left = require("moonwarp.sweep.ranks").report(current, status)
    return current.left
  end
  if job then status = require("moonwarp.sweep.ranks").collect(current, status) end
  status = output_status(current, final_status(current, status))
  local problem = current.outcome and not current.left and require("moonwarp.sweep.part").leave(current)
  if problem then exit.complain(problem) end
  current.left = finish(current, status)
  if job then require("moonwarp.sweep.ranks").conclude(job, current.left) end
  return current.left
end

-- ---- all of it ----------------------------------------------------------------------------------

local KEPT <const> = { "device", "check", "counters", "engines", "out", "json", "quiet", "pass", "p", "rest" }

--- Runs a script.
---@param chunk function
---@param parsed table   of the command line
---@param more table     script, argv, and what else the session is to know
---@return integer status
function execution.run(chunk, parsed, more)
  local parameters = parsed.p and require("moonwarp.base.parameter").read(parsed.p) or {}
  check_places(parsed)
  if parsed.counters then parsed.check = lists.merged(parsed.check or {}, { counters = true }) end
  if parsed.pass then begin_pass(parsed, parameters) end
  for _, name in ipairs(KEPT) do more[name] = parsed[name] end
  local job = parsed.mpi and require("moonwarp.sweep.ranks").open(more)
  local current = session.begin(more)
  if job then require("moonwarp.sweep.ranks").join(current, job) end
  current.given, current.leave = passes.values(parameters), leave
  current.is_part = parsed.pass and os.getenv "MOONWARP_LAB" ~= nil
  local words = parsed.rest or {}
  _G.arg = table.move(words, 1, #words, 1, { [0] = more.script })
  local status, reason = run_all(current, chunk, parameters, words)
  tell_batch(current, reason)
  return current:leave(status)
end

return execution
