-- SPDX-License-Identifier: MIT
--
-- moonwarp rerun DIR: what a run kept in its source folder, with its parameters, on its device.
-- Depends on cli.options, cli.run, cli.runs.

local options = require "moonwarp.cli.options"
local runs = require "moonwarp.cli.runs"

local rerun = { is_raw = true }

rerun.usage = [[
usage: moonwarp rerun DIR [options of moonwarp run]

Runs the script and the kernels that a run kept, with the parameters it had and on the device it
used, where the options do not say otherwise. The results are a new run.]]

-- Words of the old command line that are options of its own: not the study, not --out and --json.
local function old_words(run)
  local words = {}
  for name, values in pairs(run.params or {}) do
    local escaped = {}
    for i, value in ipairs(values) do escaped[i] = tostring(value):gsub("[\\,]", "\\%0") end
    words[#words + 1] = ("%s=%s"):format(name, table.concat(escaped, ","))
  end
  table.sort(words)
  return words
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
    if not given[word:match("^[%w_]+")] then table.move({ "-p", word }, 1, 2, #line + 1, line) end
  end
  if run.device and not given["--device"] then table.move({ "--device", run.device }, 1, 2, #line + 1, line) end
  table.move(words, 2, #words, #line + 1, line)
  if not given["--"] then table.move(behind_dashes(run.argv), 1, 100, #line + 1, line) end
  local command = require "moonwarp.cli.run"
  local function start(parsed) return command.run(parsed, run.folder) end
  return options.execute(setmetatable({ run = start }, { __index = command }), line)
end

return rerun
