-- SPDX-License-Identifier: MIT
--
-- moonwarp rerun DIR: what a run kept in its source folder, with its parameters, on its device.
-- Depends on cli.options, cli.run, cli.runs.

local lists = require "moonwarp.base.lists"
local options = require "moonwarp.cli.options"
local runs = require "moonwarp.cli.runs"

local rerun = { is_raw = true }

rerun.usage = [[
usage: moonwarp rerun DIR [options of moonwarp run]

Runs the script and the kernels that a run kept, with the parameters it had and on the device it
used, where the options do not say otherwise. The results are a new run.]]

-- Words of the old command line that are options of its own: not the study, not --out and --json.
local function old_words(run)
  local params = run.params or {}
  return lists.map(lists.keys(params), function(name)
    local escaped = lists.map(params[name], function(value) return (tostring(value):gsub("[\\,]", "\\%0")) end)
    return ("%s=%s"):format(name, table.concat(escaped, ","))
  end)
end

local function names_given(words)
  local given = {}
  for i, word in ipairs(words) do
    given[word:match("^%-%-[%w-]+") or ""] = true
    if word == "-p" then given[(words[i + 1] or ""):match("^[%w_]+") or ""] = true end
  end
  return given
end

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
  return ("%s/source/%s"):format(run.folder, name)
end

--- The command.
---@param words string[]
---@return integer status
function rerun.run(words)
  local folder = words[1]
  if not folder or folder:sub(1, 1) == "-" then
    options.fail("rerun wants the folder of a run first; moonwarp rerun --help says more")
  end
  local run = runs.latest(folder)
  local given, line = names_given(words), { script_of(run) }
  for _, word in ipairs(old_words(run)) do
    if not given[word:match("^[%w_]+")] then lists.append(line, { "-p", word }) end
  end
  if run.device and not given["--device"] then lists.append(line, { "--device", run.device }) end
  table.move(words, 2, #words, #line + 1, line)
  if not given["--"] then lists.append(line, behind_dashes(run.argv)) end
  local command = require "moonwarp.cli.run"
  local function start(parsed) return command.run(parsed, run.folder) end
  return options.execute(lists.merged(command, { run = start }), line)
end

return rerun
