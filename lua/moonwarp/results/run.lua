-- SPDX-License-Identifier: MIT
--
-- The run in progress: the folder OUT/STUDY/DATE-DEVICE that its results go to, and its journal.
-- The folder is made when the first result comes, so that a script without results leaves nothing.
-- Whatever is noted becomes a line of journal.jsonl at once; when the run ends, all lines are folded
-- into record.json, which appears whole or not at all, and the journal goes. So a killed run leaves
-- a journal: all of its lines but perhaps the last are readable, and that it is there says that the
-- run did not end (store.lua). docs/record.md describes both files.
-- Depends on moonwarp.core (options, files), environment, files, json, path, recent,
-- results.export, results.fold, results.sources, lfs.

local core = require "moonwarp.core"
local environment = require "moonwarp.measure.environment"
local files = require "moonwarp.base.files"
local fold = require "moonwarp.results.fold"
local json = require "moonwarp.base.json"
local path = require "moonwarp.base.path"
local current_device = require "moonwarp.current_device"
local sources = require "moonwarp.results.sources"

local run = {}

local MOST_WAITING = 1000
local waiting = {} -- what was mentioned before the folder was there

local state -- of the run in progress: folder, journal (a file), lines, started, root, script

-- When this run began, and where: the process, or the end of the run before; a script may change its
-- working folder later.
local began, started = os.time(), core.clock()
local has_lfs, lfs = pcall(require, "lfs")
local home = has_lfs and lfs.currentdir()

-- A path that is right now.
local function here(name)
  if name:match("^/") or not home then return name end
  return lfs.currentdir() == home and name or ("%s/%s"):format(home, name)
end

-- ---- the folder ---------------------------------------------------------------------------------

-- "cpu", "nvidia-h200", and "nvidia-h200-1" for cuda:1.
local function device_word(device)
  if not device then return "no-device" end
  local id = device:id()
  if not id:find(":", 1, true) then return id end
  local number = id:match(":([1-9]%d*)$")
  return path.safe(device:name()):lower() .. (number and "-" .. number or "")
end

-- lfs.mkdir fails where the folder is there: two runs of one second do not share one.
local function make_folder(root, study, device)
  local problem = path.make(("%s/%s"):format(root, study))
  if problem then error(problem, 0) end
  local base = ("%s/%s/%s-%s"):format(root, study, os.date("!%Y%m%d-%H%M%S"), device_word(device))
  local folder, number = base, 1
  while true do
    local made, reason = require("lfs").mkdir(folder)
    if made then return folder end
    if not reason:find "exists" then
      error(("cannot make the folder %s: %s; choose another place with --out DIR"):format(folder,
        reason), 0)
    end
    number = number + 1
    folder = ("%s-%d"):format(base, number)
  end
end

-- ---- the journal --------------------------------------------------------------------------------

local function append(line)
  local written, reason = state.journal:write(line, "\n")
  if written then written, reason = state.journal:flush() end
  if not written then
    error(("%s/journal.jsonl: %s; choose another place with --out DIR"):format(state.folder,
      reason), 0)
  end
end

local function note(kind, values, contender)
  local line = { kind = kind, value = values, contender = contender }
  state.lines[#state.lines + 1] = line
  append(json.encode(line, { "kind" }))
end

local function header(device)
  return {
    schema = fold.SCHEMA, study = path.script(), device = device and device:id() or nil,
    device_name = device and device:name() or nil,
    date = os.date("!%Y-%m-%dT%H:%M:%SZ", began), moonwarp = core.version,
    argv = core.options.argv, rerun_of = core.options.rerun_of,
    params = next(core.options.sweep or {}) and core.options.sweep or nil,
    lab = os.getenv "MOONWARP_LAB", environment = environment.collect(device),
  }
end

local function open()
  local root, device = core.options.out or "out", current_device.device()
  local first = header(device) -- before there is a journal, which is never without it
  local folder = make_folder(here(root), path.script(), device)
  local journal, reason = io.open(folder .. "/journal.jsonl", "w")
  if not journal then
    error(("cannot write to %s: %s; choose another place with --out DIR"):format(folder, reason), 0)
  end
  state = { folder = folder, journal = journal, lines = {}, root = root, script = core.options.script,
            sources = sources.none() }
  -- A stock interpreter does not say when a script ends; its collector does, and takes what came
  -- last first: this before the journal.
  local mine = state
  state.guard = setmetatable({}, { __gc = function()
    if state == mine then pcall(run.finish, { status = "ended" }) end
  end })
  note("run", first)
  for _, one in ipairs(waiting) do note(one[1], one[2]) end
  waiting = {}
end

-- Whether results still belong to the run that is open: a stock interpreter may go on to another.
local function is_current()
  return state and state.root == (core.options.out or "out") and state.script == core.options.script
end

local function ensure()
  if is_current() then return end
  run.finish { status = "complete", exit = 0 }
  open()
end

local function keep_sources()
  for _, entry in ipairs(sources.keep(here(state.folder), state.sources)) do note("source", entry) end
end

--- The folder of this run; made if need be.
---@return string
function run.folder()
  ensure()
  return here(state.folder)
end

--- The path of a file in this run's folder.
---@param name string
---@return string
function run.file(name)
  return run.folder() .. "/" .. name
end

--- Notes a result, at once and for good.
---@param kind string   "record", "chart", "remark" or "picture"
---@param values table  what JSON can hold
---@param contender integer?  of a record, whose turns were noted before and count no more
function run.note(kind, values, contender)
  ensure()
  note(kind, values, contender)
  keep_sources()
end

--- Notes what alone makes no run, as a check or a table: it waits for a result that does.
---@param kind string   "check" or "table"; "remark" where a pass was skipped
---@param values table  what JSON can hold
function run.mention(kind, values)
  if is_current() then return note(kind, values) end
  if #waiting < MOST_WAITING then waiting[#waiting + 1] = { kind, values } end
end

-- ---- the end ------------------------------------------------------------------------------------

--- Ends the run: record.json and data.dat appear, the journal goes. Does nothing where no result
--- came.
---@param ending table       status ("complete", "failed", "check failed", "interrupted"), exit,
---                          message
---@return string? folder    nil: there were no results
---@return string? problem   why the record could not be written; the journal stays then
function run.finish(ending)
  if not state then return nil end
  keep_sources()
  ending.seconds = core.clock() - started
  began, started = os.time(), core.clock()
  note("end", ending)
  state.journal:close()
  local folded = fold.lines(state.lines)
  local folder = here(state.folder)
  local problem = files.replace(folder .. "/record.json", json.encode(folded, fold.ORDER))
    or files.replace(folder .. "/data.dat", require("moonwarp.results.export").dat { folded })
  state = nil
  if problem then return folder, problem .. "; journal.jsonl has what was measured" end
  os.remove(folder .. "/journal.jsonl")
  return folder
end

-- A script that leaves by os.exit has ended its run.
local leave = os.exit
os.exit = function(code, close) -- luacheck: ignore 122
  local status = code == nil or code == true or code == 0
  pcall(run.finish, { status = status and "complete" or "failed", exit = math.tointeger(code) or (status and 0 or 1) })
  leave(code, close)
end

return run
