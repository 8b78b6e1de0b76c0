-- SPDX-License-Identifier: MIT
--
-- A run: the folder OUT/STUDY/DATE-DEVICE that results go to, and its journal. A session opens one when
-- its first result comes, so that a script without results leaves nothing.
-- Whatever is noted becomes a line of journal.jsonl at once; when the run ends, all lines are folded
-- into record.json, which appears whole or not at all, and the journal goes. So a killed run leaves
-- a journal: all of its lines but perhaps the last are readable, and that it is there says that the
-- run did not end (store.lua). docs/record.md describes both files.

local core = require "moonwarp.core"
local environment = require "moonwarp.measure.environment"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local fold = require "moonwarp.results.fold"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"
local sources = require "moonwarp.results.sources"

local run = {}

local Run = {}
Run.__index = Run

-- ---- the folder ---------------------------------------------------------------------------------

-- A path that is right now, of one that was right in the folder `home`.
local function here(name, home)
  if name:match("^/") or not home then return name end
  return require("lfs").currentdir() == home and name or ("%s/%s"):format(home, name)
end

-- "cpu", "cpu-check", "nvidia-h200", and "nvidia-h200-1" for cuda:1.
local function device_word(device)
  if not device then return "no-device" end
  local id = device:id()
  if not id:find(":", 1, true) then return id end
  if core.device_word(id).checked then return (id:gsub("[:/]", "-")) end
  local number = id:match(":([1-9]%d*)$") or id:match(":(%d+/%d+)$")
  return path.safe(device:name()):lower() .. (number and "-" .. number:gsub("/", "-") or "")
end


-- ---- the journal --------------------------------------------------------------------------------

local CUT <const> = "note: a text of a %s has more than 64 KiB: the record keeps its beginning\n"

--- Notes a line in the journal.
---@param kind string
---@param values table
---@param contender integer?
function Run:append(kind, values, contender)
  local line = { kind = kind, value = values, contender = contender }
  local text, is_cut = json.stored(line, { "kind" })
  self.lines[#self.lines + 1] = line
  if is_cut then io.stderr:write(CUT:format(kind)) end
  local written, reason = self.journal:write(text, "\n")
  if written then written, reason = self.journal:flush() end
  if not written then
    failure.raise_as("io", "%s/journal.jsonl: %s; choose another place with --out DIR", self.folder, reason)
  end
end

--- Copies the source files that are new since it was called last.
function Run:keep_sources()
  for _, entry in ipairs(sources.keep(self:place(), self.script, self.sources)) do self:append("source", entry) end
end

--- Notes a result and its source.
---@param kind string
---@param values table
---@param contender integer?
function Run:note(kind, values, contender)
  self:append(kind, values, contender)
  self:keep_sources()
end

--- The folder; a script may change its working folder.
---@return string
function Run:place()
  return here(self.folder, self.home)
end

-- ---- beginning and end ----------------------------------------------------------------------------

-- What a run has of its session.
local function own_fields(session)
  local options = session.options
  return {
    schema = fold.SCHEMA, study = session:script(), date = os.date("!%Y-%m-%dT%H:%M:%SZ", session.date),
    moonwarp = core.version, argv = options.argv, rerun_of = options.rerun_of,
    params = next(session.given) and session.given or nil, lab = os.getenv "MOONWARP_LAB",
  }
end

-- And of the device that it works on; before there is a journal, which is never without it.
local function device_fields(session, device)
  return { device = device and device:id() or nil, device_name = device and device:name() or nil,
           check = session:check_words(),
           environment = lists.merged(environment.collect(device, session.options.script), {
             mpi = session.job and ("%d ranks, %s"):format(session.job.size, session.job.version) }) }
end

--- Opens a run, whose folder is made.
---@param session table
---@param part table?  of a run of another process, whose device and environment the new one has: header (device,
---                    device_name, check, environment) and word (for the folder's name)
---@return table run
function run.open(session, part)
  local root, device = session:out(), session.measured or session:device()
  local first = lists.merged(own_fields(session), part and part.header or device_fields(session, device))
  local parent = ("%s/%s"):format(here(root, session.home), session:script())
  local word = part and part.word or device_word(device)
  local folder, problem = path.make_new(parent, word) -- two runs of one second do not share one
  if not folder then failure.raise_as("io", "%s", problem) end
  local journal, reason = io.open(folder .. "/journal.jsonl", "w")
  if not journal then
    failure.raise_as("io", "cannot write to %s: %s; choose another place with --out DIR", folder, reason)
  end
  -- A stock interpreter does not say when a script ends; its collector does, and takes what came
  -- last first: the run before the journal.
  local self = setmetatable({ session = session, folder = folder, journal = journal, lines = {}, root = root,
                              word = word, home = session.home, script = session:script_file(),
                              header = part and part.header,
                              sources = sources.none(session.options.text), remarks = {} }, Run)
  self:append("run", first)
  return self
end

--- Ends the run: record.json and data.dat appear, the journal goes.
---@param ending table       status, exit, message, seconds
---@return string folder
---@return string? problem   why the record could not be written, and the journal stays, or why it cannot be read
function Run:finish(ending)
  self:keep_sources()
  self:append("end", ending)
  self.journal:close()
  self.is_over = true
  local folded, folder = fold.lines(self.lines), self:place()
  local text = json.stored(folded, fold.ORDER)
  local problem = files.replace(folder .. "/record.json", text)
    or files.replace(folder .. "/data.dat", require("moonwarp.results.export").dat { folded })
  if problem then return folder, problem .. "; journal.jsonl has what was measured" end
  os.remove(folder .. "/journal.jsonl")
  if #text <= fold.MOST_BYTES then return folder end
  return folder, ("record.json has %.1f MiB, and %d MiB at most are read: data.dat has its rows; record less, or in "
    .. "several runs"):format(#text / 1048576, fold.MOST_BYTES >> 20)
end

function Run:__gc()
  if self.is_over then return end
  pcall(self.session.settle_findings, self.session)
  pcall(self.session.settle_counters, self.session)
  self.session.run = nil
  pcall(self.finish, self, { status = "ended" })
end

return run
