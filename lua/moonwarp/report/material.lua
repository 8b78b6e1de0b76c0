-- SPDX-License-Identifier: MIT
--
-- What a report is made of: the runs that the words of the command line name, by study; the batches
-- they belong to; and what could not be read, with the reason. Records are in order: results.store sees to
-- it.

local batch = require "moonwarp.report.labs"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local overlay = require "moonwarp.plot.overlay"
local store = require "moonwarp.results.store"

local material = {}

local BATCH_DEPTH = 3 -- OUT/batch/NAME/batch.json, seen from OUT

-- What a record may lack, by its form.
local function complete(run)
  run.environment, run.params = run.environment or {}, run.params or {}
  for _, name in ipairs { "alarms", "flags" } do
    if type(run[name]) ~= "table" then run[name] = {} end
  end
  return run
end

-- One folder by several paths is one run.
local function identity(folder)
  local attributes = require("lfs").attributes(folder) or {}
  return ("%s:%s"):format(attributes.dev or folder, attributes.ino or folder)
end

-- ---- folders ------------------------------------------------------------------------------------

local function add_batches(list, folder, depth)
  local found = batch.read(folder)
  list[#list + 1] = found
  if found or depth == 0 or store.is_run(folder) then return end
  for _, name in ipairs(files.entries(folder)) do add_batches(list, ("%s/%s"):format(folder, name), depth - 1) end
end

-- ---- runs ---------------------------------------------------------------------------------------

local function add_run(found, folder)
  local key = identity(folder)
  if found.seen[key] then return end
  found.seen[key] = true
  local ok, run, problem = pcall(store.read, folder)
  if ok and run then
    found.runs[#found.runs + 1] = complete(run)
  else
    local reason = tostring(ok and problem or run)
    if reason:sub(1, #folder + 1) == folder .. " " then reason = "it " .. reason:sub(#folder + 2) end
    found.missing[#found.missing + 1] = { folder = folder, word = "unreadable", reason = reason }
  end
end

-- Why a word names no run.
local function reason_for(word, out)
  if require("lfs").attributes(word) then return "it holds no run" end
  return word:find "/" and "there is no such folder"
    or ("there is no such folder, and no study of this name in %s"):format(out)
end

--- The runs that words name, oldest first.
---@param words string[]  folders, or names of studies in OUT
---@param out string      OUT
---@return table found    runs, missing ({ folder =, word =, reason = })
function material.runs(words, out)
  local found = { runs = {}, missing = {}, seen = {} }
  for _, word in ipairs(words) do
    local folders = store.named(word, out)
    for _, folder in ipairs(folders) do add_run(found, folder) end
    if #folders == 0 then
      found.missing[#found.missing + 1] = { folder = word, word = "missing", reason = reason_for(word, out) }
    end
  end
  table.sort(found.runs, function(a, b)
    local one, other = a.date or "", b.date or ""
    if one ~= other then return one < other end
    return a.folder < b.folder
  end)
  return found
end

-- ---- names for runs -----------------------------------------------------------------------------

--- When a run began, as a reader writes it.
---@param run table
---@return string
function material.when(run)
  local day, time = (run.date or ""):match("^(%d+%-%d+%-%d+)T(%d+:%d+:%d+)")
  return day and ("%s %s UTC"):format(day, time) or run.date or "no date"
end

local function by_study(runs)
  local studies, at = {}, {}
  for _, run in ipairs(runs) do
    table.insert(lists.entry(studies, at, run.study, { name = run.study, runs = {} }).runs, run)
  end
  table.sort(studies, function(a, b) return a.name < b.name end)
  for _, study in ipairs(studies) do
    local tags = overlay.tags(study.runs)
    for i, run in ipairs(study.runs) do run.tag = tags[i] end
  end
  return studies
end

-- An anchor for each: letters, digits and "-", never the same twice.
local function add_anchors(studies)
  local taken = {}
  for _, study in ipairs(studies) do
    local word = "study-" .. study.name:gsub("[^%w]+", "-"):lower()
    taken[word] = (taken[word] or 0) + 1
    study.anchor = taken[word] > 1 and ("%s-%d"):format(word, taken[word]) or word
    for i, run in ipairs(study.runs) do run.anchor = ("%s-run-%d"):format(study.anchor, i) end
  end
end

--- Devices of runs, each once.
---@param runs table[]
---@return string[]
function material.devices(runs)
  return lists.unique(lists.map(runs, function(run)
    local id = run.device and run.device ~= run.device_name and (" (%s)"):format(run.device) or ""
    return (run.device_name or run.device or "no device") .. id
  end))
end

-- A folder of a batch that has left no run is not missing.
local function without_batches(missing, batches)
  return lists.map(missing, function(one)
    local word = one.folder:gsub("(.)/+$", "%1") .. "/"
    local function is_in(found) return (found.folder .. "/"):sub(1, #word) == word end
    return not lists.find(batches, is_in) and one or nil
  end)
end

--- Everything for a report.
---@param words string[]
---@return table material  studies ({ name =, anchor =, runs = }), runs, missing, batches
function material.gather(words, out)
  local found = material.runs(words, out)
  local batches = {}
  for _, word in ipairs(words) do add_batches(batches, word:gsub("(.)/+$", "%1"), BATCH_DEPTH) end
  local studies = by_study(found.runs)
  add_anchors(studies)
  return { studies = studies, runs = found.runs, missing = without_batches(found.missing, batches),
           batches = batches }
end

return material
