-- SPDX-License-Identifier: MIT
--
-- The runs that are stored: finding their folders and reading their records. A folder with a
-- record.json holds a run that ended; one with only a journal was killed, and has what its complete
-- lines say.

local session = require "moonwarp.session"
local files = require "moonwarp.base.files"
local fold = require "moonwarp.results.fold"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.results.schema"

local store = {}

local DEPTH = 5 -- of folders that are searched for runs

--- The file in a folder whose run is a pass of a sweep in another process: it is a part of the sweep's run.
store.PART = "/pass.lua"

--- Whether a folder holds a run. The journal of a batch's folder is of another kind.
---@param folder string
---@return boolean
function store.is_run(folder)
  if files.exists(folder .. "/record.json") then return true end
  return files.exists(folder .. "/journal.jsonl") and not files.exists(folder .. "/batch.json")
end

local function problem_of(folder, run)
  if type(run) ~= "table" or type(run.schema) ~= "string" then
    return ("%s holds no record that can be read"):format(folder)
  end
  if run.schema ~= fold.SCHEMA then
    return ("%s has a record of schema '%s'; this moonwarp reads '%s'"):format(folder, run.schema,
      fold.SCHEMA)
  end
  local problem = schema.problem(run)
  return problem and ("%s has a record that is not in order: %s"):format(folder, problem)
end

--- Reads a run. status is "unfinished" if it was killed.
---@param folder string
---@return table? run       as docs/record.md says, and folder
---@return string? problem
function store.read(folder)
  local whole, lines = files.read_plain(folder .. "/record.json"), files.read_plain(folder .. "/journal.jsonl")
  if not (whole or lines) then return nil, ("%s holds no record of a run"):format(folder) end
  local run = whole and json.decode(whole) or lines and fold.lines(json.lines(lines))
  local problem = problem_of(folder, run)
  if problem then return nil, problem end
  run.folder = folder
  return run
end

-- ---- finding ------------------------------------------------------------------------------------

-- Each folder once: links may lead in a circle, and a script may leave any.
local function search(folder, depth, found, seen)
  local about = require("lfs").attributes(folder)
  local identity = about and about.mode == "directory" and ("%d:%d"):format(about.dev, about.ino)
  if not identity or seen[identity] then return end
  seen[identity] = true
  if store.is_run(folder) then
    found[#found + 1] = folder
  elseif depth > 0 then
    for _, name in ipairs(files.entries(folder)) do
      local inner = ("%s/%s"):format(folder, name)
      if not files.exists(inner .. store.PART) then search(inner, depth - 1, found, seen) end
    end
  end
end

--- Folders of runs in and below a folder, sorted by name, which begins with the date. Those below it that are of
--- a pass are left out.
---@param folder string
---@param depth integer?   of folders that are searched; defaults to 5
---@return string[]
function store.below(folder, depth)
  local found = {}
  search(folder:gsub("(.)/+$", "%1"), depth or DEPTH, found, {})
  return found
end

--- What a word on the command line names: a run's folder, a folder with runs below it, or a study
--- whose runs are in OUT ("memcopy"), those of batches included; a file in a run's folder names the run.
---@param word string
---@return string[] folders  sorted; may be empty
function store.named(word)
  local around = files.exists(word) and word:match "^(.+)/"
  if around and store.is_run(around) then word = around end
  local found = store.below(word)
  if #found > 0 or word:find("/") then return found end
  return lists.map(store.below(session.current:out()), function(folder)
    return folder:match("([^/]+)/[^/]+$") == word and folder or nil
  end)
end

return store
