-- SPDX-License-Identifier: MIT
--
-- The studies: experiments/NAME.lua or experiments/NAME/init.lua, and what they and other files say of themselves.
-- experiments/curriculum.lua is none: it lists them for moonwarp batch.
-- A file is described by its own process, `moonwarp describe FILE`, with limits: it is a program, and may fail, or
-- never end.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lfs = require "lfs"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local options = require "moonwarp.cli.options"
local schema = require "moonwarp.base.schema"

local studies = {}

-- What the description of a file may take, and how many are made side by side.
local LIMITS = { time_limit = 10, memory_limit = 512 << 20, output_limit = 1 << 20 }
local GRACE, AT_ONCE = 1, 8

-- A pipe is accepted, too.
local function exists(name)
  local mode = lfs.attributes(name, "mode")
  return mode ~= nil and mode ~= "directory"
end


-- Whether a word is that of a file, and not the name of a study.
local function is_file(word)
  return word:find("/", 1, true) or word:match("%.lua$")
end

--- The script of a study, or of a file; nil if there is none.
---@param word string   "memcopy", "mine.lua", "some/folder"
---@return string? path
function studies.find(word)
  local own, candidates = ("%s/experiments/%s"):format(core.home(), word), { word, word .. "/init.lua" }
  if not is_file(word) and word ~= "curriculum" then
    candidates = lists.append({ own .. ".lua", own .. "/init.lua" }, candidates)
  end
  return lists.find(candidates, exists)
end

-- The Lua files beside the one that a word names, as they are written on the command line.
local function neighbours(word)
  local folder = word:match "^(.*/)" or ""
  return lists.map(files.entries(folder == "" and "." or folder), function(name)
    return name:match "%.lua$" and folder .. name or nil
  end)
end

local function fail_none(word)
  if require("moonwarp.results.store").is_run(word) then
    options.fail("'%s' is the folder of a run; moonwarp rerun %s runs it again", word, word)
  end
  if lfs.attributes(word) then options.fail("'%s' is a folder without an init.lua", word) end
  local near = nearest.find(word, neighbours(word))
  if near then options.fail("there is no study and no file '%s'; did you mean '%s'?", word, near) end
  if is_file(word) then options.fail("there is no file '%s'", word) end
  options.fail_unknown("study", word, studies.names(), "moonwarp list names them")
end

--- The same, or an error that names what there is.
---@param word string
---@return string path
function studies.script(word)
  return studies.find(word) or fail_none(word)
end

--- Names of all studies, sorted.
---@return string[]
function studies.names()
  return lists.map(files.entries(core.home() .. "/experiments"), function(entry)
    local name = entry:match("^([%w_%-]+)%.lua$") or entry:match("^[%w_%-]+$")
    return name and studies.find(name) and name or nil
  end)
end

--- The chunk of a script; a #! line is a comment to Lua's own loader too.
---@param script string  its path
---@param text string?   of it, where it has been read
---@return function? chunk
---@return string text   of the script, or what is wrong with it
function studies.load(script, text)
  local chunk, problem
  if not text then text, problem = files.read(script) end
  if text then chunk, problem = load((text:gsub("^#[^\n]*", "")), "@" .. script) end
  if text and not chunk then problem = require("moonwarp.base.syntax").explain(text, problem) end
  return chunk, chunk and text or problem
end

-- What a folder has no file for, whatever its files are called.
local OURS <const> = lists.set { "moonwarp", "lfs", "cjson" }

--- Until it is closed the files of a study that is a folder require each other by name: FOLDER/mesh.lua is "mesh". They
--- are found after moonwarp's own modules and before what Lua finds elsewhere, and the next study loads its own.
---@param script string?   its path
---@return table? open     to be closed; nil: it is no folder's init.lua
function studies.open_folder(script)
  local folder = script and (script:match "^(.*/)init%.lua$" or script == "init.lua" and "./")
  if not folder then return nil end
  local names = {}
  local function find(name)
    local path = ("%s%s.lua"):format(folder, name)
    if OURS[name] or not name:find "^[%w_%-]+$" or not exists(path) then return nil end
    local chunk, problem = studies.load(path)
    if not chunk then failure.raise_as("script", "%s", problem) end
    names[#names + 1] = name
    return chunk, path
  end
  table.insert(package.searchers, 3, find) -- behind package.preload and moonwarp's own
  return setmetatable(names, { __close = function()
    for _, name in ipairs(names) do package.loaded[name] = nil end
    for i = #package.searchers, 1, -1 do
      if package.searchers[i] == find then table.remove(package.searchers, i) end
    end
  end })
end

-- ---- descriptions -------------------------------------------------------------------------------

local fields, list, optional = schema.fields, schema.list, schema.optional

-- What a file says of itself. It is a program: its answer may be anything.
local DESCRIPTION = fields {
  error = "string?", plain = "boolean?", question = "string?", parts = optional(list "string"),
  params = optional(list(fields { name = "string", default = "number string boolean table?",
                                  gpu = "number string boolean table?", help = "string?" })),
  rungs = optional(list(fields { name = "string", number = "integer?", answer = "string?" })),
}

-- A description says one of these.
local function is_description(answer)
  return answer.error ~= nil or answer.plain == true or answer.question ~= nil and answer.params ~= nil
end

-- The last line of the process, if it ended normally.
local function answer_of(log, ending)
  local verdict = require "moonwarp.lab.verdict"
  local _, problem = verdict.cut_short(ending, LIMITS)
  if problem then return { error = problem } end
  local last = ""
  for line in (files.read(log) or ""):gmatch "[^\n]+" do last = line end
  local answer = require("moonwarp.base.json").decode(last) -- a file may have left by os.exit
  if type(answer) ~= "table" then
    return { error = ending.exit == 0 and "it ended before it was described"
      or ("exit status %d: %s"):format(ending.exit, last) }
  end
  problem = schema.problem(answer, DESCRIPTION)
  if not (problem or is_description(answer)) then problem = "it must have a question and params" end
  return problem and { error = "its description is not in order: " .. problem } or answer
end

local function start(study, box)
  local host, log = require "moonwarp.host", os.tmpname()
  local child = host.spawn(lists.merged({ argv = { host.program(), "describe", study.path }, log = log, grace = GRACE,
                                          seconds = LIMITS.time_limit, memory = LIMITS.memory_limit,
                                          output = LIMITS.output_limit }, box))
  return { study = study, child = child, log = log }
end

local function settle(one, ending)
  local answer = require("moonwarp.base.utf8text").in_lines(answer_of(one.log, ending))
  for key in pairs(DESCRIPTION.fields) do one.study[key] = answer[key] end
  os.remove(one.log)
end

-- Waits until one of them has ended.
local function collect(running)
  local children = lists.map(running, function(one) return one.child end)
  require("moonwarp.host").wait(children, LIMITS.time_limit)
  for i = #running, 1, -1 do
    local ending = children[i]:poll()
    if ending then settle(table.remove(running, i), ending) end
  end
end

--- What studies, or files, say of themselves.
---@param words string[]
---@param boxes table[]?   what each may see, of lab.sandbox; else it is the user's own
---@return table[]   each with name and path, and what `describe` of a study says (question, params, rungs, parts), or
---                  plain = true, or error = (its problem)
function studies.describe(words, boxes)
  local running <close> = setmetatable({}, { __close = function(left)
    for _, one in ipairs(left) do os.remove(one.log) end
  end })
  local all = lists.map(words, function(word)
    local script = studies.script(word)
    return { name = script:gsub("/init%.lua$", ""):gsub("%.lua$", ""):match "[^/]+$", path = script }
  end)
  for i, study in ipairs(all) do
    running[#running + 1] = start(study, boxes and boxes[i])
    while #running == AT_ONCE do collect(running) end
  end
  while #running > 0 do collect(running) end
  return all
end

return studies
