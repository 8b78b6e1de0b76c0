-- SPDX-License-Identifier: MIT
--
-- The runs that are stored: finding their folders and reading their records. A folder with a
-- record.json holds a run that ended; one with only a journal was killed, and has what its complete
-- lines say.

local files = require "moonwarp.base.files"
local fold = require "moonwarp.results.fold"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.results.record_schema"
local utf8text = require "moonwarp.base.utf8text"

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

-- The lines of a journal as a run. Half of a line at its end is what the process was killed over.
local function folded(text)
  local lines = {}
  for line in utf8text.lines(text) do
    local value, reason = json.decode(line)
    if value == nil then return nil, ("line %d: %s"):format(#lines + 1, reason or "null") end
    lines[#lines + 1] = value
  end
  local problem = schema.lines_problem(lines)
  if problem then return nil, problem end
  return fold.lines(lines)
end

local FILES = { { "record.json", json.decode }, { "journal.jsonl", folded } }

-- The run of a folder, whatever its form, or why not.
local function load_run(folder)
  for _, one in ipairs(FILES) do
    local name, read = table.unpack(one)
    if require("lfs").symlinkattributes(("%s/%s"):format(folder, name), "mode") then
      local text, reason, identity = files.read_below({ folder = folder }, name, fold.MOST_BYTES)
      if not text then return nil, "holds no record that can be read: " .. reason:sub(#folder + 2) end
      local run, problem = read(text)
      if problem then return nil, ("holds no record that can be read: %s: %s"):format(name, problem) end
      return run, nil, identity
    end
  end
  return nil, "holds no record of a run"
end

local function problem_of(run)
  if type(run) ~= "table" or type(run.schema) ~= "string" then return "holds no record that can be read" end
  if run.schema ~= fold.SCHEMA then
    return ("has a record of schema '%s'; this moonwarp reads '%s'"):format(run.schema, fold.SCHEMA)
  end
  local problem = schema.problem(run)
  return problem and "has a record that is not in order: " .. problem
end

local BLOCKS <const> = lists.set { "text", "message" } -- what may have several lines

--- Reads a run, as far as it is in order: anybody may have written it. status is "unfinished" if it was killed.
---@param folder string
---@return table? run       as docs/record.md says, and its place: folder, identity
---@return string? problem  begins with the folder
function store.read(folder)
  local run, problem, identity = load_run(folder)
  problem = problem or problem_of(run)
  if problem then return nil, ("%s %s"):format(folder, problem) end
  run = utf8text.in_lines(run, BLOCKS)
  run.folder, run.identity = folder, identity
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
      local is_ours = not name:find "%c" and name == utf8text.clean(name) -- as no other may be on a terminal
      if is_ours and not files.exists(inner .. store.PART) then search(inner, depth - 1, found, seen) end
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
---@param out string   OUT
---@return string[] folders  sorted; may be empty
function store.named(word, out)
  local around = files.exists(word) and word:match "^(.+)/"
  if around and store.is_run(around) then word = around end
  local found = store.below(word)
  if #found > 0 or word:find("/") then return found end
  return lists.filter(store.below(out), function(folder) return folder:match("([^/]+)/[^/]+$") == word end)
end

return store
