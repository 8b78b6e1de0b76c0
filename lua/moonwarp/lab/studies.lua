-- SPDX-License-Identifier: MIT
--
-- The studies: experiments/NAME.lua or experiments/NAME/init.lua, and what they and other files say of themselves.
-- experiments/curriculum.lua is none: it lists them for moonwarp batch.
-- A file is described by its own process, `moonwarp describe FILE`, with limits: it is a program, and may fail, or
-- never end.

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local folder = require "moonwarp.study.folder"
local lfs = require "lfs"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"
local schema = require "moonwarp.base.schema"

local studies = {}

-- What the description of a file may take, and how many are made side by side.
local LIMITS = { time_limit = 10, memory_limit = 512 << 20, output_limit = 1 << 20 }
local GRACE, AT_ONCE = 1, 8

-- Whether a word is that of a file, and not the name of a study.
local function is_file(word)
  return word:find("/", 1, true) or word:match("%.lua$")
end

--- The script of a study, or of a file; nil if none.
---@param word string   "memcopy", "mine.lua", "some/folder"
---@return string? script
function studies.find(word)
  if is_file(word) or word == "curriculum" then return folder.script(word) end
  local own = ("%s/experiments/%s"):format(core.home(), word)
  return folder.script(own .. ".lua") or folder.script(own .. "/init.lua") or folder.script(word)
end

-- The Lua files next to the one that a word names, as they are written on the command line.
local function neighbours(word)
  local around = word:match "^(.*/)" or ""
  return lists.map(files.entries(around == "" and "." or around), function(name)
    return name:match "%.lua$" and around .. name or nil
  end)
end

local function fail_none(word)
  if require("moonwarp.results.store").is_run(word) then
    options.fail("'%s' is the folder of a run; moonwarp rerun %s runs it again", word, path.word(word))
  end
  if lfs.attributes(word) then options.fail("'%s' is a folder without an init.lua", word) end
  local file = lists.find({ word .. ".lua", word .. ".cu" }, files.is_plain)
  local near = file or nearest.find(word, neighbours(word))
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

-- ---- descriptions -------------------------------------------------------------------------------

local fields, list, optional = schema.fields, schema.list, schema.optional

-- What a file says of itself. It is a program: its answer may be anything.
local DESCRIPTION = fields {
  error = "string?", plain = "boolean?", question = "string?", course = optional(schema.map "number string"),
  parts = optional(list "string"),
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
    return { name = path.study(script), path = script }
  end)
  for i, study in ipairs(all) do
    running[#running + 1] = start(study, boxes and boxes[i])
    while #running == AT_ONCE do collect(running) end
  end
  while #running > 0 do collect(running) end
  return all
end

return studies
