-- SPDX-License-Identifier: MIT
--
-- A batch on disk: OUT/batch/DATE-NAME/ with batch.json (the plan, written once), a copy of
-- the curriculum, journal.jsonl (what began and what ended, a line each, at once), and a folder for
-- each step. After a kill -9 all of it is readable; what a batch knows, it knows from here.
-- docs/lab.md describes the files.

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local host = require "moonwarp.host"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"
local schema = require "moonwarp.lab.batch_schema"

local ledger = {}
ledger.__index = ledger

--- The schema's name; the number grows when a reader of the old one would be wrong.
ledger.SCHEMA = "moonwarp-batch/1"

local PATIENCE = 15 -- seconds that the last processes of a killed batch may take to go
local BATCHES = 20  -- the newest, which past times are read from

-- Lines that are not in order are left out, as one is that a kill has cut short; told where it
-- matters.
local function read_lines(folder, tell)
  local list = {}
  for _, line in ipairs(json.lines(files.read_plain(folder .. "/journal.jsonl") or "")) do
    local problem = schema.line_problem(line)
    if not problem then
      list[#list + 1] = line
    elseif tell then
      io.stderr:write(("note: %s/journal.jsonl: a line is left out: %s\n"):format(folder, problem))
    end
  end
  return list
end

-- ---- a new one ----------------------------------------------------------------------------------

local function take(folder, patience)
  local deadline = core.clock() + patience
  while true do
    local lock, reason = host.lock(folder .. "/lock")
    if lock then return lock end
    if core.clock() >= deadline then
      options.fail("%s: %s; wait for its end, or end that process", folder, reason)
    end
    host.wait({}, 0.05)
  end
end

-- A killed process may have left half of a line; what follows begins on its own.
local function open_journal(folder)
  local name = folder .. "/journal.jsonl"
  local text = files.read(name) or ""
  local file, reason = io.open(name, "a")
  if not file then options.fail("%s; choose another place with --out DIR", reason) end
  if text ~= "" and text:sub(-1) ~= "\n" then file:write("\n") end
  return file
end

local function new(folder, head, patience)
  return setmetatable({ folder = folder, head = head, lock = take(folder, patience),
                        journal = open_journal(folder), lines = read_lines(folder, true) }, ledger)
end

--- Begins a batch: its folder, batch.json, the copy of the curriculum.
---@param root string    OUT
---@param head table     name, curriculum (its path), jobs, argv, steps
---@return table
function ledger.create(root, head)
  local folder, problem = path.make_new(root .. "/batch", head.name)
  if not folder then options.fail("%s", problem) end
  head.schema, head.date, head.moonwarp = ledger.SCHEMA, os.date("!%Y-%m-%dT%H:%M:%SZ"), core.version
  local order = { "schema", "name", "date", "moonwarp", "curriculum", "argv", "jobs", "sandbox" }
  local text, is_cut = json.stored(head, order)
  if is_cut then options.fail("%s: a text has more than %d bytes", head.curriculum, json.MOST_TEXT) end
  local self = new(folder, head, 0)
  problem = files.replace(folder .. "/batch.json", text)
    or files.replace(folder .. "/curriculum.lua", files.read(head.curriculum) or "")
  if problem then options.fail("%s; choose another place with --out DIR", problem) end
  return self
end

-- ---- one that is there --------------------------------------------------------------------------

local LISTS = { "needs", "tags", "params", "gates" }

--- What a batch is to run: its batch.json, checked.
---@param folder string
---@return table
function ledger.head(folder)
  local head, reason = json.decode(files.read_plain(folder .. "/batch.json") or "")
  if type(head) ~= "table" or head.schema ~= ledger.SCHEMA then
    options.fail("%s holds no batch of schema '%s'%s", folder, ledger.SCHEMA, reason and ": " .. reason or "")
  end
  local problem = schema.head_problem(head)
  if problem then options.fail("%s has a batch.json that is not in order: %s", folder, problem) end
  for _, step in ipairs(head.steps) do
    for _, key in ipairs(LISTS) do step[key] = step[key] or {} end
  end
  return head
end

--- Opens a batch to continue it; waits a little while its last processes still run.
---@param folder string
---@return table
function ledger.open(folder)
  return new(folder, ledger.head(folder), PATIENCE)
end

local function is_over(lines)
  return #lines > 0 and lines[#lines].kind == "finish"
end

--- Whether nothing of an open batch is left to run.
---@return boolean
function ledger:is_over()
  return is_over(self.lines)
end

--- The folders of all batches below OUT, newest first.
---@param root string
---@return string[]
function ledger.all(root)
  local found = lists.map(files.entries(root .. "/batch"), function(name)
    local folder = ("%s/batch/%s"):format(root, name)
    return files.exists(folder .. "/batch.json") and folder or nil
  end)
  table.sort(found, function(a, b) return a > b end)
  return found
end

local function is_dry(lines)
  return lists.find(lines, function(line) return line.kind == "dry" end) ~= nil
end

--- Whether an open batch is a dry run, which queues nothing.
---@return boolean
function ledger:is_dry()
  return is_dry(self.lines)
end

--- The newest batch below OUT that is not finished, and no dry run.
---@param root string
---@return string?
function ledger.unfinished(root)
  for _, folder in ipairs(ledger.all(root)) do
    local lines = read_lines(folder)
    if not (is_over(lines) or is_dry(lines)) then return folder end
  end
end

--- How long steps took in earlier batches of the same OUT, as far as they passed, newest first.
---@param root string  OUT
---@return table<string, number>  seconds by the step's id
function ledger.past_seconds(root)
  local known, folders = {}, ledger.all(root)
  for i = 1, math.min(#folders, BATCHES) do
    local here = {}
    for _, line in ipairs(read_lines(folders[i])) do
      if line.kind == "end" and line.verdict == "passed" then here[line.id] = line.seconds end
    end
    known = lists.merged(here, known)
  end
  return known
end

-- ---- notes --------------------------------------------------------------------------------------

--- Appends a line to the journal, at once. A disk that is full costs the line and not the batch:
--- the problem is returned once.
---@param kind string     "begin", "end", "resume", "dry", "pause", "finish"
---@param values table
---@return string? problem
function ledger:note(kind, values)
  values.kind, values.date = kind, os.date("!%Y-%m-%dT%H:%M:%SZ")
  self.lines[#self.lines + 1] = values
  local written, reason = self.journal:write(json.stored(values, { "kind", "date", "id", "attempt", "verdict" }), "\n")
  if written then written, reason = self.journal:flush() end
  if written or self.told then return nil end
  self.told = true
  return ("%s/journal.jsonl: %s; the batch goes on, but cannot be resumed"):format(self.folder, reason)
end

-- Both in UTC, so that neither has summer time.
local function seconds_between(from, to)
  local function at(date)
    local year, month, day, hour, minute, second = date:match("^(%d%d%d%d)-(%d%d)-(%d%d)T(%d%d):(%d%d):(%d%d)Z$")
    return year and os.time { year = year, month = month, day = day, hour = hour, min = minute, sec = second,
                              isdst = false }
  end
  from, to = at(from), at(to)
  return from and to and math.max(0.0, os.difftime(to, from)) or 0.0
end

--- Seconds that the batch has worked, over all of its parts. A part says at its end how long it was;
--- of one that was killed it is the whole seconds to its last line.
---@return number
function ledger:seconds()
  local sum, from, to = 0.0, self.head.date, nil
  for _, line in ipairs(self.lines) do
    if line.kind == "resume" then
      if to then sum = sum + seconds_between(from, to) end
      from = line.date
    end
    to = line.date
    if line.kind == "pause" or line.kind == "finish" then
      sum, to = sum + (line.seconds or seconds_between(from, to)), nil
    end
  end
  return to and sum + seconds_between(from, to) or sum
end

--- How often each step began, by id, whether in a sandbox, and how each beginning ended, nil if the ledger does not
--- have it.
---@return table<string, table[]>
function ledger:attempts()
  local all = {}
  for _, line in ipairs(self.lines) do
    if line.kind == "begin" or line.kind == "end" then
      all[line.id] = all[line.id] or {}
      local attempt = all[line.id][line.attempt] or {}
      if line.kind == "end" then attempt.ending = line else attempt.sandboxed = line.sandboxed end
      all[line.id][line.attempt] = attempt
    end
  end
  return all
end

--- The folder of an attempt: ID, then ID.2, ID.3.
---@param id string
---@param attempt integer
---@return string name  below the batch's folder
function ledger.place(id, attempt)
  return attempt == 1 and id or ("%s.%d"):format(id, attempt)
end

-- ---- room ---------------------------------------------------------------------------------------

-- Bytes for all steps and for each: of a file that holds a place on the disk for what is written when all labs have
-- ended, and of the journal.
local ROOM, JOURNAL = { 1 << 20, 1 << 16 }, { 1 << 16, 1 << 14 }
local MOST_ROOM = 64 << 20

local function room_of(self, parts)
  return math.min(parts[1] + parts[2] * #self.head.steps, MOST_ROOM)
end

--- Takes room on the disk for the batch's own files, so that labs that fill it do not cost them.
function ledger:take_room()
  local room = self.folder .. "/room"
  local problem = files.write(room, ("\0"):rep(room_of(self, ROOM)))
  if not problem then problem = select(2, host.reserve(self.folder .. "/journal.jsonl", room_of(self, JOURNAL))) end
  if not problem then return end
  os.remove(room)
  options.fail("there is no room for the batch's own files: %s; choose another place with --out DIR", problem)
end

--- Gives it back, for what is then written at once.
function ledger:give_room()
  os.remove(self.folder .. "/room")
end

--- Gives the batch back to others.
function ledger:close()
  self:give_room()
  self.journal:close()
  host.reserve(self.folder .. "/journal.jsonl", 0)
  self.lock:close()
end

return ledger
