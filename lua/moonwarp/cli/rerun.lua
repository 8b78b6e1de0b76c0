-- SPDX-License-Identifier: MIT
--
-- moonwarp rerun DIR: what a run kept in its source folder, with its parameters, on its device.

local command = require "moonwarp.cli.run"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local runs = require "moonwarp.cli.runs"

local rerun = { most = 1, least = 1, wants = "rerun wants the folder of a run; moonwarp rerun --help says more" }

rerun.options = command.plain

rerun.usage = [[
usage: moonwarp rerun DIR [options of moonwarp run]

Runs the script and the kernels that a run kept, with the parameters it had and on the device it
used, unless the options say otherwise. The results are a new run.]]

rerun.example = [[
moonwarp run memcopy -p n=512 -p parts=ladder
moonwarp rerun memcopy -p n=1024]]

-- Words of the stored command line that are options: not the study, not --out and --json.
local function old_words(run)
  local params = run.params or {}
  return lists.map(lists.keys(params), function(name)
    local escaped = lists.map(params[name], function(value) return (tostring(value):gsub("[\\,]", "\\%0")) end)
    return ("%s=%s"):format(name, table.concat(escaped, ","))
  end)
end

-- How it was checked, and whether it counted or compared.
local function checking_words(run)
  local words = {}
  for _, word in ipairs(run.argv or {}) do
    if word == "--" then break end
    if word:find "^%-%-check" or word == "--counters" or word == "--engines" then words[#words + 1] = word end
  end
  return words
end

local function name_of(word) return word:match "^[%w_]+" end

local function behind_dashes(argv)
  for i, word in ipairs(argv or {}) do
    if word == "--" then return table.move(argv, i, #argv, 1, {}) end
  end
  return {}
end

local function script_of(run)
  local name = run.sources and run.sources[1] and run.sources[1].name
  if not name or not name:match("%.lua$") then
    options.fail("%s kept no script: it ran code of the command line or of another program", run.folder)
  end
  local text, reason = files.read_below(run, "source/" .. name)
  if not text then options.fail("%s keeps no file source/%s: %s", run.folder, name, reason) end
  return ("%s/source/%s"):format(run.folder, name), text
end

--- The command.
---@param parsed table
---@return integer status
function rerun.run(parsed)
  local run = runs.latest(parsed[1])
  local script, text = script_of(run)
  local given, line = lists.set(lists.map(parsed.p or {}, name_of)), { script }
  for _, word in ipairs(old_words(run)) do
    if not given[name_of(word)] then lists.append(line, { "-p", word }) end
  end
  if run.device and not parsed.device then lists.append(line, { "--device", run.device }) end
  if not (parsed.check or parsed.counters or parsed.engines) then lists.append(line, checking_words(run)) end
  local folder = parsed[1]
  for _, word in ipairs(parsed.words) do -- all but the one that names the run
    if word == folder then folder = nil else line[#line + 1] = word end
  end
  if not parsed.rest then lists.append(line, behind_dashes(run.argv)) end
  return command.run(options.parse(line, command.plain, 1), run.folder, text)
end

return rerun
