-- SPDX-License-Identifier: MIT
--
-- What became of a lab: from how its process ended, from the record that its run left, and from its
-- gates.

local exit = require "moonwarp.base.exit"
local files = require "moonwarp.base.files"
local gate = require "moonwarp.lab.gate"
local lists = require "moonwarp.base.lists"
local units = require "moonwarp.base.units"

local verdict = {}

local TAIL, LONGEST = 4096, 2000 -- bytes of a log's end, and of a message
local DEPTH = 2 -- STUDY/DATE-DEVICE; links that a lab left lead no further

-- Why the supervisor ended a process, as a verdict and in words; %s is the limit.
local REASONS = {
  time = { "timed out", "it was still running after %s", "time_limit" },
  memory = { "out of memory", "its processes held more than %s", "memory_limit" },
  output = { "too much output", "it printed more than %s", "output_limit" },
  processes = { "too many processes", "it had more than %s processes", "processes" },
  disk = { "too much on disk", "its folder held more than %s", "disk_limit" },
  files = { "too much on disk", "it had more than %s files, folders too deep in each other or that nobody else can "
    .. "read, or too many files open", "files" },
  interrupted = { "interrupted", "interrupted with the batch" },
}

local SIGNALS = { [4] = "SIGILL", [6] = "SIGABRT", [7] = "SIGBUS", [8] = "SIGFPE", [9] = "SIGKILL",
                  [11] = "SIGSEGV", [13] = "SIGPIPE", [15] = "SIGTERM", [2] = "SIGINT" }

local KINDS = { skipped = "skipped", ["not run"] = "skipped", queued = "skipped",
                ["check failed"] = "failure", ["gate failed"] = "failure", unclear = "failure" }

--- What kind of outcome a verdict is: "skipped", "failure" (the lab did what it should, but its results are not good
--- enough) or "error"; nil of a lab that passed.
---@param word string
---@return string?
function verdict.kind(word)
  return KINDS[word] or word ~= "passed" and "error" or nil
end

local CUT = { interrupted = true, killed = true } -- by the batch or its job, which says nothing about the lab

--- What an attempt means for a lab. What is unclear is measured again once.
---@param word string      its verdict
---@param tries integer    attempts before it that count
---@param retries integer  of the step
---@return integer tries   with this one
---@return boolean is_final  whether the lab has its verdict
function verdict.after(word, tries, retries)
  if CUT[word] then return tries, false end
  local allowed = word == "unclear" and math.max(retries, 1) or retries
  return tries + 1, word == "passed" or word == "skipped" or tries >= allowed
end

-- ---- what the run left --------------------------------------------------------------------------

-- The run of an attempt: the last below its folder, since a sweep is one run.
local function run_folder(folder)
  local found = require("moonwarp.results.store").below(folder, DEPTH)
  return found[#found]
end

-- A lab writes its record itself: one that is not in order counts as none, with a reason.
local function read_run(folder)
  if not folder then return nil end
  local run, problem = require("moonwarp.results.store").read(folder)
  return run, problem and "its run" .. problem:sub(#folder + 1)
end

--- How many of some gates held.
---@param gates table[]
---@return string? text   "2 of 3"; nil: no gates
---@return number? share
function verdict.gates(gates)
  local ok = #lists.map(gates, function(one) return one.ok == true or nil end)
  if #gates > 0 then return ("%d of %d"):format(ok, #gates), ok / #gates end
end

--- The end of a lab's output.
---@param log string   its file
---@return string
function verdict.tail(log)
  return files.tail(log, TAIL)
end

-- The last complaint of the program, or its last line.
local function last_words(log)
  local complaint, last
  for line in verdict.tail(log):gmatch("[^\n]+") do
    complaint = line:match("^moonwarp: (.+)$") or complaint
    last = line:match("%S") and line or last
  end
  return complaint or last
end

local function is_finding(run, check)
  return lists.find(run.findings or {}, function(one) return one.kind == check.what end) ~= nil
end

local function text_of(check)
  return check.text or ("check '%s' failed"):format(check.what or "?")
end

-- The first failed check, with its first element: "check y: 1 of 4 elements are wrong; [3]: expected 3, got nan". If it
-- is of a result, the first finding of check mode as well, which may be why.
local function failed_check(run)
  local failed = lists.filter(run and run.checks or {}, function(one) return one.ok == false end)
  if #failed == 0 then return nil end
  local words, more = text_of(failed[1]):gsub("\n%s*", "; ", 1):match "[^\n]*", #failed - 1
  local finding = not is_finding(run, failed[1]) and lists.find(failed, function(one) return is_finding(run, one) end)
  if finding then words, more = words .. "; " .. text_of(finding):match "[^\n]*", more - 1 end
  return more == 0 and words or ("%s; %s failed"):format(words, units.count(more, "more check"))
end

-- ---- the verdict --------------------------------------------------------------------------------

local function shown(key, value)
  if not value then return "its limit" end -- the supervisor's note belongs to another lab
  if key == "processes" or key == "files" then return ("%d"):format(value) end
  if key == "time_limit" then return require("moonwarp.lab.amount").clock(value) end
  return units.format(value, "iB", 3)
end

local function of_reason(step, reason)
  local word, text, key = table.unpack(REASONS[reason])
  return word, key and text:format(shown(key, step[key])) or text
end

-- What check mode found is likelier to be why a program failed than what it said itself.
local function of_exit(step, ending, run, log)
  local is_pass = run and run.status == "failed" -- of a sweep
  if ending.exit == exit.CHECK and not is_pass then return "check failed", failed_check(run) or last_words(log) end
  local message = step.check and failed_check(run) or run and run.message or last_words(log)
  if ending.exit == exit.INTERRUPTED then message = "it interrupted itself" end
  return "failed", message and message:match("[^\n]*") or ("exit status %d"):format(ending.exit)
end

-- What a record says of a run that has not come to a good end, whatever the status of its process.
local function of_record(run)
  local text = failed_check(run)
  if text or run and run.status == "check failed" then return "check failed", text or "its record says so" end
  if not run or run.status == "complete" and run.exit == exit.OK then return nil end
  if run.message then return "failed", run.message:match "[^\n]*" end
  return "failed", run.status ~= "complete" and "its run is " .. run.status
    or "its record has exit status " .. tostring(run.exit)
end

--- Why a process did not come to its end: a verdict, and in words; nil if it did.
---@param ending table  exit, signal, reason, lost
---@param limits table  time_limit, memory_limit, output_limit, processes, for the words
---@return string? verdict
---@return string? text
function verdict.cut_short(ending, limits)
  if ending.reason and REASONS[ending.reason] then return of_reason(limits, ending.reason) end
  if ending.lost then return "crashed", "its supervisor was killed or stopped" end
  if ending.signal ~= 0 then
    local name = SIGNALS[ending.signal]
    return "crashed", ("killed by signal %d%s"):format(ending.signal, name and (" (%s)"):format(name) or "")
  end
end

local function word_of(step, ending, run, problem, folder)
  local word, text = verdict.cut_short(ending, step)
  if word then return word, text end
  if ending.exit ~= exit.OK then return of_exit(step, ending, run, folder .. "/output.txt") end
  if problem then return "failed", problem end
  word, text = of_record(run)
  if word then return word, text end
  local note = folder .. "/skipped" -- of cli/run.lua
  local reason = files.is_plain(note) and (files.read_plain(note, LONGEST) or "it gives a reason that is too long")
  if reason then return "skipped", reason end
  if step.check and not run then return "check failed", "it left no record of what check mode has found" end
  return "passed"
end

-- A lab that passed so far, by the number of its checks, none of which failed.
local function judge_checks(step, run)
  local count, wanted = run and #run.checks or 0, step.checks or 0
  if count < wanted then
    return "check failed", ("%s; the curriculum wants %s at least"):format(count == 0 and "it checked nothing"
      or "it made " .. units.count(count, "check"), units.count(wanted, "check"))
  end
  return "passed", count == 0 and #step.gates == 0 and not step.expected and "nothing checked" or nil
end

--- Judges an attempt that ended.
---@param step table       of the plan
---@param ending table     exit, signal, reason, seconds, peak, output, log_error
---@param folder string    of the attempt
---@return table  the ending with verdict, message, gates, and run (its folder) added
function verdict.of(step, ending, folder)
  ending.run = run_folder(folder)
  local run, problem = read_run(ending.run)
  ending.verdict, ending.message = word_of(step, ending, run, problem, folder)
  if ending.verdict == "passed" then ending.verdict, ending.message = judge_checks(step, run) end
  if ending.verdict == "passed" and #step.gates > 0 then
    run = run or { records = {} }
    ending.gates = lists.map(step.gates, function(one) return gate.judge(one, run.records, run.counters) end)
    local failed = lists.find(ending.gates, function(one) return not (one.ok or one.unclear) end)
    local open = failed or lists.find(ending.gates, function(one) return one.unclear end)
    if open then ending.verdict, ending.message = failed and "gate failed" or "unclear", open.message end
  end
  ending.message = ending.message and ending.message:sub(1, LONGEST)
  return ending
end

-- ---- after a killed batch -----------------------------------------------------------------------

-- The supervisor's note: "exit 0", "signal 0", ..., one per line. A value that should be a number and is not
-- is absent.
local function note_in(folder)
  local text, ending = files.read_plain(folder .. ".ended", TAIL), {}
  if not text then return nil end
  for key, value in text:gmatch("(%a+) ([^\n]*)\n") do
    if key == "reason" then ending.reason = value ~= "none" and value or nil else ending[key] = tonumber(value) end
  end
  ending.exit, ending.signal = math.tointeger(ending.exit or 0.5), math.tointeger(ending.signal or 0.5)
  return ending.exit and ending.signal and ending or nil
end

-- A record that is whole says that the script came to its end, whoever was killed then.
local function record_in(folder)
  local run = read_run(run_folder(folder))
  if not run or not run.exit or run.status == "unfinished" then return nil end
  return { exit = run.exit, signal = 0, seconds = run.seconds }
end

--- How an attempt ended that the ledger does not have; nil if it did not end.
---@param folder string
---@return table? ending
function verdict.recover(folder)
  local ending = note_in(folder) or record_in(folder)
  if not ending or ending.reason == "interrupted" then return nil end
  if ending.exit == exit.INTERRUPTED and ending.signal == 0 and not ending.reason then return nil end
  return ending
end

return verdict
