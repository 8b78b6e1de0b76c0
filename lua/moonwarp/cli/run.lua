-- SPDX-License-Identifier: MIT
--
-- moonwarp run, and moonwarp -e: a script with its parameters; lists of values make a sweep. All
-- combinations run in this process, one after the other, so that their records meet in one table
-- and one chart (passes.lua).

local core = require "moonwarp.core"
local exit = require "moonwarp.base.exit"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local passes = require "moonwarp.cli.passes"
local session = require "moonwarp.session"

local run = { most = 1, least = 1, wants = "run wants a study or a file; moonwarp list names the studies" }

-- ---- options ------------------------------------------------------------------------------------

local function check_number(text)
  local number = math.tointeger(tonumber(text))
  if number and number >= 1 then return number end
  options.fail("option '--pass' wants a number of at least 1, got '%s'", text)
end

local function check_words(text)
  local mode, problem = require("moonwarp.measure.checking").read(text)
  if problem then options.fail("option '--check': %s", problem) end
  return mode
end

--- Those that rerun and -e take as well.
run.plain = {
  { flag = "-p", show = "NAME=V[,V...]", value = "name=value", many = true,
    help = "a parameter of the script; several values are a sweep" },
  { flag = "--pass", show = "N", value = "a number", check = check_number,
    help = "only the Nth combination of a sweep, as an element of an array" },
  { flag = "--device", show = "ID", value = "a device", check = options.device,
    help = core.device_forms() .. "; else the first of these that is usable" },
  { flag = "--check", show = "[=HOW]", value = "words", optional = true, check = check_words,
    help = "check mode: judges every access to memory, times nothing; HOW: strict, schedule:16, seed:7, blocks:64" },
  { flag = "--engines",
    help = "CPU device: each launch by its engine and by fibers in two orders, compared; times nothing" },
  { flag = "--counters",
    help = "what accesses are made of: sectors, bank conflicts, lanes; by kernel and line, in check mode or by ncu" },
  { flag = "--out", show = "DIR", value = "a folder",
    help = "results go to DIR/STUDY/DATE-DEVICE; else out" },
  { flag = "--json", show = "FILE", value = "a file", help = "every record as a line of JSON" },
  { flag = "--quiet", help = "no tables and charts on the terminal" },
}

run.options = lists.append(lists.append({}, run.plain), {
  { flag = "--dry-run", key = "dry", help = "with --slurm: print the script of the job array, and queue nothing" },
  table.unpack(options.SLURM) })

run.notes = [[
exit status: 0 done, 1 error in the script, 2 wrong use, 3 a check or a pass of a sweep failed,
4 no such device, 130 interrupted
words after -- go to the script in the table arg]]

run.usage = [[
usage: moonwarp run STUDY|FILE.lua [options] [-- words]
       moonwarp run STUDY|FILE.lua [options] --slurm [-- options of sbatch]

Runs a study of experiments/ (moonwarp list) or a file. -p n=1024,2048 -p by=4,8 runs it four
times. moonwarp run STUDY --help lists its parameters.]]

run.example = "moonwarp run memcopy -p n=512,1024 -p parts=ladder"

local CODE_USAGE = [[
usage: moonwarp -e CODE [options] [-- words]

Runs CODE; mw is moonwarp.]]

local CODE_EXAMPLE = [[moonwarp -e 'print(mw.device():name())']]

local HIDDEN, SHOWN = { [","] = "\0c", ["\\"] = "\0b" }, { c = ",", b = "\\" }

-- "a,b\,c" is a list of two; \\ is a backslash, as is one before anything else. A command line has no "\0".
local function split(text)
  local values = {}
  for value in (text:gsub("\\([\\,])", HIDDEN) .. ","):gmatch "([^,]*)," do
    values[#values + 1] = value:gsub("%z(.)", SHOWN)
  end
  return values
end

--- The parameters of a command line, in the order given.
---@param given string[]?  words after -p
---@return table[]         { name =, values = } each
function run.parameters(given)
  local seen = {}
  return lists.map(given or {}, function(text)
    local name, values = text:match("^([%a_][%w_]*)=(.*)$")
    local most <const> = require("moonwarp.base.json").MOST_TEXT
    if #text > most then options.fail("option '-p' takes %d bytes at most, got %d", most, #text) end
    if not name then options.fail("option '-p' wants name=value, got '%s'", text) end
    if seen[name] then options.fail("parameter '%s' is given twice; a list is -p %s=1,2", name, name) end
    seen[name] = true
    return { name = name, values = split(values) }
  end)
end

-- ---- running ------------------------------------------------------------------------------------

local function check_places(parsed)
  local problem = parsed.out and require("moonwarp.base.path").make(parsed.out)
  if problem then options.fail("%s", problem) end
  problem = parsed.json and files.write(parsed.json, "", "ab")
  if problem then options.fail("cannot write the file of --json: %s", problem) end
end

-- Names that nothing asked for, if nothing was measured.
local function check_names()
  local known, problem = failure.catch(require("moonwarp.arg").check_names, {})
  return known and exit.OK or passes.status("failed", tostring(problem), problem)
end

local function run_passes(chunk, parameters, words, number)
  if number then return passes.run_one(chunk, parameters, words, number) end
  return passes.run(chunk, parameters, words)
end

local function run_all(current, chunk, parameters, words)
  local status, reason = run_passes(chunk, parameters, words, current.options.pass)
  if current.is_prepared then return status, reason end
  if status == exit.OK and not reason then status = check_names() end
  if status ~= exit.USAGE then current:empty_json() end
  return status, reason
end

-- The closing line of a mode that looks for something.
local function conclude_mode(current)
  local given = current.options
  if given.quiet or current.outcome then return end
  if given.engines then print(require("moonwarp.measure.engines").summary(current.found)) end
  if not given.check or current.is_counted or current.found > 0 or current.is_above then return end
  local limits = current.is_sanitized and "; " .. require("moonwarp.measure.sanitizer").LIMITS or ""
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
  if is_shipped or session.is_checked(current:device()) or #files.entries(around) > 1 or not has_own_kernels() then
    return
  end
  local path = require "moonwarp.base.path"
  local word = (path.folder(script) or script):gsub("(.)/$", "%1")
  if word:find "[^%w_./-]" then word = path.quote(word) end
  print(("races and bad accesses are not looked for: moonwarp run %s --check does"):format(word))
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
  if folder and not current.options.quiet then print("results: " .. folder) end
  return status
end

-- A lab that did nothing but skip says so to its batch.
local function tell_batch(current, reason)
  if reason and os.getenv "MOONWARP_LAB" and #current.records == 0 then
    files.write(current:out() .. "/skipped", reason)
  end
end

-- Ends the run and gives the status of the process: where the script ends, and where it leaves by os.exit; once more
-- as the state closes, since finalizers may have checked something.
local function leave(current, status)
  if (current.left or exit.OK) ~= exit.OK then return current.left end
  status = output_status(current, final_status(current, status))
  local problem = current.outcome and not current.left and require("moonwarp.cli.part").leave(current)
  if problem then exit.complain(problem) end
  current.left = finish(current, status)
  return current.left
end

local function begin_pass(parsed, parameters)
  local count = passes.count(parameters)
  if parsed.pass > count then
    options.fail("option '--pass': the values of -p have %d combinations, got %d", count, parsed.pass)
  end
  local problem = require("moonwarp.cli.part").begin(parsed.out or "out")
  if problem then options.fail("%s", problem) end
end

local KEPT <const> = { "device", "check", "engines", "out", "json", "quiet", "pass", "p", "rest" }

-- Both are ways to run each launch, of which there is one.
local function reject_with_engines(parsed)
  for _, name in ipairs { "check", "counters", "slurm" } do
    if parsed[name] then
      options.fail("options '--engines' and '--%s' do not go together; run the script twice", name)
    end
  end
  local word = parsed.device and core.device_word(parsed.device)
  if word and not word.compares then
    options.fail("option '--engines' compares the engines of the CPU device, got --device %s", parsed.device)
  end
end

-- more: script, argv, and what else the session is to know; work: gives the status of all passes, and the reason if
-- they were skipped.
local function execute(parsed, more, work)
  local parameters = run.parameters(parsed.p)
  check_places(parsed)
  if parsed.engines then reject_with_engines(parsed) end
  if parsed.counters then parsed.check = lists.merged(parsed.check or {}, { counters = true }) end
  if parsed.pass then begin_pass(parsed, parameters) end
  for _, name in ipairs(KEPT) do more[name] = parsed[name] end
  local current = session.begin(more)
  current.given, current.leave = passes.values(parameters), leave
  local words = parsed.rest or {}
  _G.arg = table.move(words, 1, #words, 1, { [0] = more.script })
  local status, reason = work(current, parameters, words)
  tell_batch(current, reason)
  return current:leave(status)
end

local function execute_chunk(chunk, parsed, more)
  return execute(parsed, more, function(current, parameters, words)
    return run_all(current, chunk, parameters, words)
  end)
end

--- Behind the help text, what a study says of itself.
---@param parsed table
function run.help(parsed)
  local studies, list = require "moonwarp.lab.studies", require "moonwarp.cli.list"
  if parsed[1] then print("\n" .. list.text(studies.describe({ parsed[1] })[1], true)) end
end

--- The command run.
---@param parsed table
---@param rerun_of string?   the folder of the run that is run again
---@param kept string?       the script's text that it kept
---@return integer status
function run.run(parsed, rerun_of, kept)
  if parsed.engines then reject_with_engines(parsed) end
  if parsed.slurm then return require("moonwarp.cli.sweep").run(parsed) end
  options.reject_slurm(parsed)
  if parsed.dry then options.fail("option '--dry-run' is for --slurm") end
  local studies = require "moonwarp.lab.studies"
  local path = studies.script(parsed[1])
  if path:match("%.cuh?$") then
    options.fail("'%s' holds kernels: moonwarp new %s %s writes a script that runs them", path,
      path:match "([^/]*)%.", path)
  end
  local chunk, text = require("moonwarp.study.folder").load(path, kept)
  if not chunk then failure.raise_as("script", text) end
  return execute_chunk(chunk, parsed, { script = path, text = text, rerun_of = rerun_of, start = { "run", path },
                                  argv = lists.append({ "run" }, parsed.words) })
end

--- Makes one run of a sweep whose passes other processes have run.
---@param path string     of the script
---@param parsed table    of the command line
---@param parts table[]   of cli/join.lua
---@return integer status
function run.join(path, parsed, parts)
  local more = { script = path, text = files.read(path), argv = lists.append({ "run" }, parsed.words) }
  return execute(parsed, more, function(_, parameters) return require("moonwarp.cli.join").run(parts, parameters) end)
end

-- mw needs no require, and costs nothing if it is not used.
local function offer_mw()
  setmetatable(_G, { __index = function(globals, name)
    if name ~= "mw" then return nil end
    local mw = require "moonwarp"
    rawset(globals, "mw", mw)
    return mw
  end })
end

local function run_code(words, parsed)
  local chunk, message = load(words[2], "=(-e)")
  if not chunk then failure.raise_as("script", require("moonwarp.base.syntax").explain(words[2], message)) end
  offer_mw()
  return execute_chunk(chunk, parsed, { script = "-e", argv = words, start = { "-e", words[2] } })
end

--- moonwarp -e CODE.
---@param words string[]   "-e", CODE, and options
---@return integer status
function run.code(words)
  if words[2] == nil then options.fail("option '-e' wants a piece of Lua") end
  local command = { usage = CODE_USAGE, example = CODE_EXAMPLE, options = run.plain, notes = run.notes, most = 0,
                    run = function(parsed) return run_code(words, parsed) end }
  return options.execute(command, table.move(words, words[2] == "--help" and 2 or 3, #words, 1, {}))
end

return run
