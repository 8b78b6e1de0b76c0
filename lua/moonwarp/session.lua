-- SPDX-License-Identifier: MIT
--
-- The session: what one use of moonwarp owns. What the command line chose, the script's parameters, the device opened
-- last, what was measured and said, failed checks, and the run: the folder that results go to. A command of the program
-- begins one; in another interpreter it begins with the library. It ends its run in one place, Session:finish.
--
--   options        device, check, counters (further metrics of ncu), engines, out, json, quiet, script, text (of the
--                  script), argv, rerun_of, describe;
--                  start, p and rest: words that run the script once more
--   checking       how the device opened last judges in check mode (measure/checking.lua); nil: as before, or it is not
--   given          texts of -p by name: { n = { "300", "400" } }
--   pass           those of this pass of a sweep: { n = { "300" } }
--   swept, more    names that are swept; whether another pass follows (arg.lua)
--   put_off        what this pass has left to the last one to show (sweep/passes.lua)
--   picked         of moonwarp run --pass: which value of each parameter that is swept, by name
--   outcome        of moonwarp run --pass: how the pass ended (sweep/part.lua)
--   is_part        a batch runs this pass, so who joins the passes says how it ended
--   left           the status with which the run has ended (cli/run.lua)
--   failures       why passes of the sweep failed, by their rows (results/record.lua); failed_passes: how many
--   declared       parameters that the script asked for, in order (arg.lua)
--   measured       the device of the study that runs: the run's, whatever else is opened meanwhile
--   begun          descriptions of studies that have been begun, and neither been run nor returned (study.lua)
--   failed_checks  how many; failed_before: of runs that have ended
--   found          how many findings are errors; begun_with, settled: how often each had been met when the session
--                  began and when they were noted last (measure/findings.lua)
--   counters_from  how many launches of each device had been counted when the session began; counters_until: when they
--                  were noted last (measure/counters.lua)
--   has_counters   ncu has run (tools/ncu.lua)
--   is_sanitized   the tools of compute-sanitizer have run (tools/sanitizer.lua); is_above: the user has started one
--   warned         warnings of compilers that the run has, by their texts (results/warning.lua)
--   records        all measurements, in order; contenders: how many have had a turn (results/record.lua)
--   ceilings       what mw.roofline has measured, by a device's id
--   unkept         ceilings that no file could keep, by a device's id
--   pictures       what the pictures of the run show, by the names of their files
--   tunings        which tunings the run has, but at the prompt, by their names and parameters (tune/job.lua)
--   job            of MPI that this process is a rank of (sweep/ranks.lua); opens: what a rank has for a run's folder
--   shown          at the prompt: what the calls of a line have printed and return as well
--   run            the open run (results/journal.lua); nil before the first result

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"

local session = {}

local Session = {}
Session.__index = Session

local MOST_WAITING = 1000 -- results that do not make a run by themselves
local MOST_SHOWN = 8

local function checking() return require "moonwarp.measure.checking" end

-- Loaded when something has been found: most sessions need none of it.
local function findings() return require "moonwarp.measure.findings" end

-- Those of compute-sanitizer are in that module.
local function has_findings()
  return #core.findings() > 0 or package.loaded["moonwarp.measure.findings"] and #findings().all() > 0
end

local function counts()
  return has_findings() and findings().counts() or {}
end

-- The same of structural counters.
local function counters() return require "moonwarp.measure.counters" end

-- The launches since counts of them were taken, and counts; a session without devices in check mode loads nothing.
local function counters_since(since)
  if not package.loaded["moonwarp.measure.counters"] and #core.counters() == 0 then return {}, since end
  return counters().since(since)
end

--- A session that nothing has used.
---@param options table?  see above
---@return table
function session.new(options)
  local met, _, launches = counts(), counters_since {}
  return setmetatable({ options = options or {}, given = {}, pass = {}, declared = {}, begun = {}, records = {},
                        contenders = 0, failed_checks = 0, failed_before = 0, failed_passes = 0, failures = {},
                        put_off = {}, ends = {}, ceilings = {}, unkept = {}, waiting = {}, found = 0, begun_with = met,
                        settled = met, counters_from = launches, counters_until = launches, pictures = {}, warned = {},
                        tunings = {}, home = require("lfs").currentdir(), date = os.time(),
                        started = core.clock() }, Session)
end

--- Makes a new session the current one.
---@param options table?
---@return table
function session.begin(options)
  session.current = session.new(options)
  return session.current
end

-- ---- the device opened last ---------------------------------------------------------------------

--- Opens a device, which then is the last one: whose clock mw.bench takes, and whom records and charts are about, where
--- the script does not say. It is held until another is opened or it is closed: a script that keeps only arrays works
--- on it all the same.
---@param id string?     else the first usable one
---@param check table?   in check mode; how it judges: of measure/checking.lua
---@param asked table?   how it was to judge, if a tool judges instead
---@return userdata device
function Session:open_device(id, check, asked)
  self.opened, self.checking = core.device(id, check), asked or check or self.checking
  if checking().is_on(self.opened) then self:settle_at_end() end
  return self.opened
end

--- How the last device judges in check mode, in words: "strict,seed:7"; nil: as usual, or it is in no such mode.
---@return string?
function Session:check_words()
  if not (self.checking and checking().is_on(self:device())) then return nil end
  local words = checking().words(self.checking)
  return words ~= "" and words or nil
end

--- The last device opened that is still open, or nil.
---@return userdata?
function Session:device()
  return core.type(self.opened) == "device" and self.opened or nil
end

-- ---- the script ---------------------------------------------------------------------------------

--- The path of the running script, also under a stock interpreter; nil if none.
---@return string?
function Session:script_file()
  local words = rawget(_G, "arg")
  return self.options.script or type(words) == "table" and type(words[0]) == "string" and words[0] or nil
end

--- The name of the running script; "script" without one.
---@return string
function Session:script()
  local name = self:script_file() or "script"
  return name == "-e" and "code" or require("moonwarp.base.path").study(name)
end

--- The values of its parameters in force, by name.
---@return table
function Session:values()
  local values = {}
  for _, entry in ipairs(self.declared) do values[entry.name] = entry.value end
  return values
end

--- Which pass of a sweep this is, "n = 1024"; nil if nothing is swept. A parameter that takes all its values at once is
--- not.
---@return string?
function Session:pass_words()
  local values, names = {}, {}
  for name, texts in pairs(self.given) do
    local now = self.pass[name]
    if #texts > 1 and type(now) == "table" and #now == 1 then values[name], names[name] = now[1], true end
  end
  return require("moonwarp.plot.sweep").text(values, lists.keys(names))
end

local LATE = "; a script asks for its parameters before its first measurement, at %s"

local function fail_unknown(name, names, is_late)
  local hint = #names == 0 and "the script asks for none with mw.arg" or nearest.hint(name, names)
  failure.raise_as("usage", "unknown parameter '%s'; %s%s", name, hint, is_late and LATE:format(core.where()) or "")
end

--- Rejects names given with -p that the script does not ask for.
---@param more string[]?  names known besides those that mw.arg was asked for
function Session:check_names(more)
  local names = lists.map(self.declared, function(entry) return entry.name end)
  lists.append(names, more)
  for _, name in ipairs(lists.keys(self.given)) do
    if not lists.has(names, name) then fail_unknown(name, names, not more) end
  end
end

--- The same, and makes room for what is measured from now on. Called before every measurement of a run; does its work
--- once.
---@param more string[]?
function Session:check_known(more)
  if self.is_prepared then return end
  self:check_names(more)
  local problem = self:prepare()
  if problem then failure.raise_as("usage", "%s", problem) end
end

-- ---- results ------------------------------------------------------------------------------------

--- Where results go.
---@return string
function Session:out()
  return self.options.out or "out"
end

-- A script may go on to another one (mw.run).
local function is_current(self)
  local run = self.run
  return run and run.root == self:out() and run.script == self:script_file()
end

local function open_run(self)
  if is_current(self) then return self.run end
  if self.run then self:finish(self:ending()) end
  self.run = (self.opens or require("moonwarp.results.journal").open)(self)
  for _, one in ipairs(self.waiting) do self.run:append(one[1], one[2]) end
  self.waiting = {}
  return self.run
end

--- The folder of the run; made if needed.
---@return string
function Session:folder()
  return open_run(self):place()
end

--- The path of a file in the run's folder.
---@param name string
---@return string
function Session:file(name)
  return self:folder() .. "/" .. name
end

--- The name of a picture's files: that of no other picture of the run.
---@param name string      as wanted
---@param identity string  what is the same of a picture that is drawn again
---@return string
function Session:picture_name(name, identity)
  local own, number = name, 1
  while (self.pictures[own] or identity) ~= identity do
    number = number + 1
    own = ("%s-%d"):format(name, number)
  end
  self.pictures[own] = identity
  return own
end

--- Notes a result, at once and for good.
---@param kind string   "record", "chart", "remark", "picture", "slice" or "slices_dropped"
---@param values table  what JSON can hold
---@param contender integer?  of a record, whose turns were noted before and count no more
function Session:note(kind, values, contender)
  open_run(self):note(kind, values, contender)
end

--- Notes a result that does not make a run by itself, as a check or a table: it waits for one that does.
---@param kind string   "check", "table" or "warning"; "remark" if a pass was skipped
---@param values table  what JSON can hold
function Session:mention(kind, values)
  if is_current(self) then return self.run:append(kind, values) end
  if #self.waiting < MOST_WAITING then self.waiting[#self.waiting + 1] = { kind, values } end
end

--- Notes a value that a call has printed and is about to return: the prompt does not print it again.
---@param value any
function Session:note_shown(value)
  if not self.shown then return end
  table.insert(self.shown, 1, value)
  self.shown[MOST_SHOWN + 1] = nil
end

--- Leaves it to the last pass of a sweep to show something, and to the program if that pass does not come to its end.
---@param what string  "table", or a kind of chart
---@param spec table   what it was called with
function Session:leave_to_last(what, spec)
  table.insert(self.put_off, { what = what, spec = spec, records = #self.records })
end

--- Notes a check: a script of the program, or a study, leaves a run if it only checks.
---@param values table
function Session:note_check(values)
  if self.options.argv or self.is_prepared then open_run(self) end
  self:mention("check", values)
end

--- Notes a compiler's warning, once per run.
---@param text string  the whole of it
---@param values table  file, line, text, source
function Session:note_warning(text, values)
  if not self.warned[text] then self:mention("warning", values) end
  self.warned[text] = true
end

--- Counts a failed check: the program ends with exit code 3.
function Session:fail_check()
  self.failed_checks = self.failed_checks + 1
end

-- ---- findings -----------------------------------------------------------------------------------

--- What check mode has found since the session began.
---@return table[]  of measure/findings.lua
function Session:findings()
  return findings().since(self.begun_with)
end

-- One that is not intended, and no warning, is a failed check; one that was printed when it was met is not.
local function settle(self, one, note)
  if findings().is_told(one) then return end
  local text = tostring(one)
  io.stderr:write(text, "\n")
  if one.intended or one.warning then return end
  note("check", { what = one.kind, ok = false, text = text })
  self:fail_check()
  self.found = self.found + 1
end

-- What check mode has found since this was called last, and what notes in the open run, or in one of its own as checks
-- do.
local function unsettled(self)
  local list = findings().since(self.settled)
  if #list == 0 then return list end
  self.settled = counts()
  local is_news = lists.find(list, function(one) return not findings().is_told(one) end)
  local run = self.run or is_news and (self.options.argv or self.is_prepared) and open_run(self)
  return list, function(kind, values)
    if run then run:append(kind, values) else self:mention(kind, values) end
  end
end

--- Prints and notes what check mode has found since this was called last.
---@return table[]  of measure/findings.lua
function Session:settle_findings()
  if not has_findings() then return {} end
  local list, note = unsettled(self)
  for _, one in ipairs(list) do note("finding", one) end
  for _, one in ipairs(#list > 0 and findings().grouped(list) or list) do settle(self, one, note) end
  return list
end

--- The same findings, which the script expects: they are noted as intended, not printed, and fail no run.
---@return table[]  of measure/findings.lua
function Session:expect_findings()
  local list, note = unsettled(self)
  local merged = require("moonwarp.base.lists").merged
  for _, one in ipairs(list) do note("finding", merged(one, { intended = true })) end
  return list
end

-- ---- structural counters --------------------------------------------------------------------------

--- What has been counted since the session began.
---@return table[] rows  by kernel and configuration, of measure/counters.lua
function Session:counters()
  return counters().by_configuration(counters().since(self.counters_from))
end

--- Notes what has been counted since this was called last, and shows it if the command line asked for it.
function Session:settle_counters()
  local launches
  launches, self.counters_until = counters_since(self.counters_until)
  if #launches == 0 then return end
  local run, results = self.run, require "moonwarp.plot.counter_table"
  if self.options.argv then run = open_run(self) end
  local rows = results.note(launches, function(kind, values)
    if run then run:append(kind, values) else self:mention(kind, values) end
  end)
  if self.options.check and self.options.check.counters then results.show(self, rows) end
end

-- As the state closes, before the last device, which is older, forgets what it has found. Another interpreter does not
-- say when its script ends otherwise.
function Session:settle_at_end()
  local ends = self.ends
  ends[self.opened] = ends[self.opened] or setmetatable({}, { __gc = function() self:settle_findings() end })
end

-- ---- the first measurement ----------------------------------------------------------------------

--- Empties the file of --json, which holds one run's records.
function Session:empty_json()
  if self.options.json then require("moonwarp.base.files").write(self.options.json, "") end
end

--- Makes room for the results of a command line, before the first measurement.
---@return string? problem  why what is measured cannot be kept
function Session:prepare()
  self.is_prepared = true
  self:empty_json()
  if not self.options.argv or self.options.out then return nil end
  return require("moonwarp.base.path").obstacle("out/" .. self:script())
end

-- ---- the end ------------------------------------------------------------------------------------

--- How the run ends if the script did not fail: by the checks since the run before.
---@return table ending  status, exit
function Session:ending()
  self:settle_findings()
  local failed = self.failed_checks > self.failed_before
  return { status = failed and "check failed" or "complete", exit = failed and 3 or 0 }
end

--- Ends the run: its record appears, its journal goes. Does nothing if no result came.
---@param ending table       status ("complete", "failed", "check failed", "interrupted"), exit, message
---@return string? folder    nil: there were no results
---@return string? problem   why the record could not be written; the journal stays then
function Session:finish(ending)
  self:settle_findings()
  self:settle_counters()
  local run = self.run
  if not run then return nil end
  self.run, self.pictures, self.warned, self.tunings, self.failed_before = nil, {}, {}, {}, self.failed_checks
  ending.seconds = core.clock() - self.started
  self.date, self.started = os.time(), core.clock()
  return run:finish(ending)
end

--- Ends the run of a script that leaves by os.exit. A command may have another way (cli/run.lua).
---@param status integer   of the process
---@return integer status  with which it is to end
function Session:leave(status)
  local ending = self:ending()
  self:finish { status = status == 0 and ending.status or "failed", exit = status }
  return status
end

--- The same of the current session: the program calls it when the process ends (core/host/leave.c).
---@param status integer
---@return integer? status
function session.leave(status)
  return session.current:leave(status)
end

--- Prints the warnings of a compiler that were not printed before, and notes them: the C half calls it
--- (core/bind/warning.c).
---@param log string  of mod:log()
function session.warn(log)
  require("moonwarp.results.warning").tell(session.current, log)
end

session.begin()

return session
