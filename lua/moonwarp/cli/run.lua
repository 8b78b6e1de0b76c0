-- SPDX-License-Identifier: MIT
--
-- moonwarp run, and moonwarp -e: a script with its parameters; lists of values make a sweep. All
-- combinations run in this process, one after the other, so that their records meet in one table
-- and one chart.
-- Depends on moonwarp.core (options, last_status), moonwarp.host, cli.list, cli.options, cli.studies,
-- path.

local core = require "moonwarp.core"
local host = require "moonwarp.host"
local options = require "moonwarp.cli.options"

local run = {}

local OK, FAILED, WRONG_USE, CHECK, NO_DEVICE, INTERRUPTED = 0, 1, 2, 3, 4, 130

-- ---- options ------------------------------------------------------------------------------------

local function check_device(text)
  for _, form in ipairs { "^cpu$", "^cuda$", "^cuda:%d+$", "^cuda:sm_%d+%a?$" } do
    if text:match(form) then return text end
  end
  options.fail_unknown("device", text, { "cpu", "cuda" },
    "devices are cpu, cuda, cuda:N; moonwarp info lists them")
end

local SPECS = {
  { flag = "-p", show = "NAME=V[,V...]", value = "name=value", many = true,
    help = "a parameter of the script; several values are a sweep" },
  { flag = "--device", show = "ID", value = "a device", check = check_device,
    help = "cpu, cuda or cuda:N; else the first CUDA device, else the CPU" },
  { flag = "--out", show = "DIR", value = "a folder",
    help = "results go to DIR/STUDY/DATE-DEVICE; else out" },
  { flag = "--json", show = "FILE", value = "a file", help = "every record as a line of JSON" },
  { flag = "--quiet", help = "no tables and charts on the terminal" },
}

local NOTES = [[
exit status: 0 done, 1 error in the script, 2 wrong use, 3 a check failed, 4 no such device,
130 interrupted
words behind -- go to the script, in the table arg]]

local USAGE = [[
usage: moonwarp run STUDY|FILE.lua [options] [-- words]

Runs a study of experiments/ (moonwarp list) or a file. -p n=1024,2048 -p by=4,8 runs it four
times. moonwarp run STUDY --help tells its parameters.]]

local CODE_USAGE = [[
usage: moonwarp -e CODE [options] [-- words]

Runs CODE; mw is moonwarp.]]

-- "a,b\,c" is a list of two; \\ is a backslash, as is one before anything else.
local function split(text)
  local values, value = {}, ""
  for escaped, plain in text:gmatch("(\\?)(.)") do
    if plain == "," and escaped == "" then
      values[#values + 1] = value
      value = ""
    elseif plain == "," or plain == "\\" then
      value = value .. plain
    else
      value = value .. escaped .. plain
    end
  end
  values[#values + 1] = value
  return values
end

-- { { name =, values = }, ... } in the order given.
local function parameters_of(given)
  local list, seen = {}, {}
  for _, text in ipairs(given or {}) do
    local name, values = text:match("^([%a_][%w_]*)=(.*)$")
    if not name then options.fail("option '-p' wants name=value, got '%s'", text) end
    if seen[name] then
      options.fail("parameter '%s' is given twice; a list is -p %s=1,2", name, name)
    end
    seen[name] = true
    list[#list + 1] = { name = name, values = split(values) }
  end
  return list
end

-- The cartesian product, the last parameter fastest. A parameter whose default is a list takes all
-- values at once.
local function combinations(parameters, takes_list)
  local all = { {} }
  for _, parameter in ipairs(parameters) do
    local next_all = {}
    for _, before in ipairs(all) do
      local choices = takes_list[parameter.name] and { parameter.values } or parameter.values
      for _, choice in ipairs(choices) do
        local combination = {}
        for name, values in pairs(before) do combination[name] = values end
        combination[parameter.name] = type(choice) == "table" and choice or { choice }
        next_all[#next_all + 1] = combination
      end
    end
    all = next_all
  end
  return all
end

-- ---- running ------------------------------------------------------------------------------------

local function complain(...)
  io.stdout:flush()
  io.stderr:write("moonwarp: ", ...)
  io.stderr:write("\n")
end

local KEPT = { record = true, plot = true, ladder = true, remark = true, roofline = true, film = true, timeline = true }

-- Whether a script means to leave results; one that does not needs no folder for them.
local function keeps_results(text)
  for name in text:gmatch "mw%.(%a+)" do
    if KEPT[name] then return true end
  end
  return false
end

-- Told before anything is measured, and not when the first result is to be kept.
local function check_folder(out, text)
  local path, problem = require "moonwarp.path", nil
  if out then
    problem = path.make(out)
  elseif keeps_results(text) then
    problem = path.obstacle("out/" .. path.script())
  end
  if problem then options.fail("%s", problem) end
end

-- The JSON file holds one run's records, so it starts empty.
local function set_options(parsed, script, text)
  local into = core.options
  into.device, into.out = parsed.device, parsed.out
  into.json, into.quiet = parsed.json, parsed.quiet
  into.script, into.failed_checks = script, 0
  into.argv = parsed.argv
  check_folder(parsed.out, text)
  if not parsed.json then return end
  local file, reason = io.open(parsed.json, "w")
  if not file then options.fail("cannot write the file of --json: %s", reason) end
  file:close()
end

local function is_refused_value(message)
  local loaded = package.loaded["moonwarp.arg"]
  return loaded and loaded.refused and message:find(loaded.refused, 1, true) ~= nil
end

local function status_of(outcome, message)
  if outcome == "done" then return OK end
  core.options.message = tostring(message)
  complain(message)
  if outcome == "interrupted" then return INTERRUPTED end
  if core.last_status(message) == "no_device" then return NO_DEVICE end
  return is_refused_value(message) and WRONG_USE or FAILED
end

-- Refuses parameters given that are not among the script's, a list of { name = }.
local function check_known(given, entries)
  local names, known = {}, {}
  for i, entry in ipairs(entries) do
    names[i] = entry.name
    known[entry.name] = true
  end
  for _, parameter in ipairs(given) do
    if not known[parameter.name] then
      options.fail_unknown("parameter", parameter.name, names,
        #names == 0 and "the script asks for none with mw.arg" or nil)
    end
  end
end

-- What the script asked for when it ran, too: for scripts that cannot be read beforehand.
local function check_asked(given, declared)
  local loaded = package.loaded["moonwarp.arg"]
  local all, seen = {}, {}
  for _, list in ipairs { declared, loaded and loaded.declared or {} } do
    for _, entry in ipairs(list) do
      if not seen[entry.name] then all[#all + 1] = entry end
      seen[entry.name] = true
    end
  end
  check_known(given, all)
end

local function run_all(chunk, all, words)
  for i, combination in ipairs(all) do
    core.options.params = combination
    core.options.more = i < #all
    local status = status_of(host.call(chunk, table.unpack(words)))
    if status ~= OK then return status end
    collectgarbage()
  end
  return OK
end

-- Failed checks were printed as they failed; the status tells the caller.
local function final_status(status)
  local failed = core.options.failed_checks
  if status ~= OK or failed == 0 then return status end
  complain(failed == 1 and "a check failed" or failed .. " checks failed")
  return CHECK
end

-- Every value of every parameter, by name.
local function sweep_of(parameters)
  local sweep = {}
  for _, parameter in ipairs(parameters) do sweep[parameter.name] = parameter.values end
  return sweep
end

local STATUS = { [OK] = "complete", [CHECK] = "check failed", [INTERRUPTED] = "interrupted" }

-- A script whose output is lost has not done what it was run for. The program says why at its end.
local function output_status(status)
  if status ~= OK or host.arrived() then return status end
  core.options.message = "standard output could not be written"
  return FAILED
end

-- Closes the run's record, whatever became of the script.
local function finish(status)
  local loaded = package.loaded["moonwarp.results.run"]
  if not loaded then return status end
  local folder, problem = loaded.finish { status = STATUS[status] or "failed", exit = status,
                                          message = core.options.message }
  if problem then
    complain(problem)
    return status == OK and FAILED or status
  end
  if folder and not core.options.quiet then print("results: " .. folder) end
  return status
end

local function execute(chunk, parsed, script, text, is_folder)
  local parameters, takes_list = parameters_of(parsed.p), {}
  local declared, complete = require("moonwarp.cli.studies").parameters(text, is_folder)
  if complete then check_known(parameters, declared) end
  for _, parameter in ipairs(declared) do takes_list[parameter.name] = parameter.list end
  set_options(parsed, script, text)
  core.options.sweep = sweep_of(parameters)
  local words = parsed.rest or {}
  _G.arg = table.move(words, 1, #words, 1, { [0] = script })
  local status = run_all(chunk, combinations(parameters, takes_list), words)
  -- A run that failed may not have come that far.
  if status == OK and not complete then
    local known, problem = pcall(check_asked, parameters, declared)
    if not known then
      finish(WRONG_USE)
      error(problem, 0)
    end
  end
  return finish(output_status(final_status(status)))
end

-- A #! line is a comment to Lua's own loader too.
local function load_script(path)
  local file <close> = assert(io.open(path, "r"))
  local text = file:read("a")
  core.options.text = text
  local chunk, message = load(text:gsub("^#[^\n]*", ""), "@" .. path)
  if not chunk then complain(message) end
  return chunk
end

--- The command run.
---@param words string[]
---@return integer status
function run.run(words)
  local studies = require "moonwarp.cli.studies"
  local parsed = options.parse(words, SPECS, 1)
  parsed.argv = table.move(words, 1, #words, 2, { "run" })
  if parsed.help then
    print(options.help(USAGE, SPECS, NOTES))
    if parsed[1] then print("\n" .. require("moonwarp.cli.list").text(studies.read(parsed[1]))) end
    return OK
  end
  if not parsed[1] then
    options.fail("run wants a study or a file; moonwarp list names the studies")
  end
  local path = studies.script(parsed[1])
  if path:match("%.cuh?$") then
    options.fail("'%s' holds kernels: run a script that loads it with dev:module", path)
  end
  local chunk = load_script(path)
  if not chunk then return FAILED end
  return execute(chunk, parsed, path, studies.text(path))
end

-- mw is there without a require, and costs nothing where it is not used.
local function offer_mw()
  setmetatable(_G, { __index = function(globals, name)
    if name ~= "mw" then return nil end
    local mw = require "moonwarp"
    rawset(globals, "mw", mw)
    return mw
  end })
end

--- moonwarp -e CODE.
---@param words string[]
---@return integer status
function run.code(words)
  local code = words[2]
  if code == nil then options.fail("option '-e' wants a piece of Lua") end
  if code == "--help" then
    print(options.help(CODE_USAGE, SPECS, NOTES))
    return OK
  end
  local parsed = options.parse(table.move(words, 3, #words, 1, {}), SPECS, 0)
  parsed.argv = words
  local chunk, message = load(code, "=(-e)")
  if not chunk then
    complain(message)
    return FAILED
  end
  offer_mw()
  return execute(chunk, parsed, "-e", code)
end

return run
