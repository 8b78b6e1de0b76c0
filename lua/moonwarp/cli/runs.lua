-- SPDX-License-Identifier: MIT
--
-- Words of a command line that name stored runs.

local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local overlay = require "moonwarp.plot.overlay"
local session = require "moonwarp.session"
local store = require "moonwarp.results.store"

local runs = {}

local function look_in(folder)
  session.current.options.out = folder
  return folder
end

--- The option that says where runs are: in the session, as soon as it is read.
runs.OUT = { flag = "--out", show = "DIR", value = "a folder", check = look_in,
             help = "the folder of stored runs; else out" }

local function folders_of(word)
  local folders = store.named(word, session.current:out())
  if #folders == 0 then
    options.fail("there is no run in '%s': the folder of a run, a folder with runs below it, or a study "
      .. "with runs in %s is wanted", word, session.current:out())
  end
  return folders
end

-- The runs of the folders that can be read. One that cannot is told, and costs no other.
local function read(folders)
  local problems = {}
  local list = lists.map(folders, function(folder)
    local run, problem = store.read(folder)
    problems[#problems + 1] = problem
    return run
  end)
  if #list == 0 then options.fail("%s", table.concat(problems, "; ")) end
  for _, problem in ipairs(problems) do io.stderr:write("note: left out: ", problem, "\n") end
  return list
end

--- All runs that the words name, each once, in the order of the words.
---@param words string[]
---@return table[]
function runs.all(words)
  local list = {}
  for _, word in ipairs(words) do lists.append(list, read(folders_of(word))) end
  return lists.unique(list, function(run) return run.folder end)
end

--- The newest runs that a word names.
---@param word string
---@param count integer  how many are wanted
---@return table[] runs  the newest last
function runs.newest(word, count)
  local list = read(folders_of(word))
  if #list < count then
    options.fail("'%s' holds %d %s, %d are wanted", word, #list, #list == 1 and "run" or "runs", count)
  end
  local at = {}
  for i, run in ipairs(list) do at[run] = i end
  table.sort(list, function(a, b)
    local first, second = a.date or "", b.date or ""
    return first < second or first == second and at[a] < at[b]
  end)
  return table.move(list, #list - count + 1, #list, 1, {})
end

--- The newest run that a word names.
---@param word string
---@return table run
function runs.latest(word)
  return runs.newest(word, 1)[1]
end

--- How a run is told from others on a chart or in a heading: "NVIDIA H200, 2026-11-21 09:30".
---@param run table
---@return string
function runs.label(run)
  local date = (run.date or ""):gsub("T", " "):gsub(":%d%dZ$", "")
  return ("%s, %s"):format(overlay.device(run), date)
end

--- What a reader of a run has to know first; nil if it ended well.
---@param run table
---@return string?
function runs.caution(run)
  if run.status == "complete" or run.status == "ended" then return nil end
  return ("%s is %s: %s"):format(run.folder, run.status,
    run.status == "unfinished" and "it has what was measured before it ended" or
    run.message and run.message:match "[^\n]*" or "see its checks")
end

return runs
