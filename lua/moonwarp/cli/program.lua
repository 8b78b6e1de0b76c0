-- SPDX-License-Identifier: MIT
--
-- moonwarp run PROGRAM.cu: a CUDA program with its main (program.lua), for the command run.

local execution = require "moonwarp.sweep.execution"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"

local program = {}

-- Options of scripts that a program has no use for, by their keys.
local OF_SCRIPTS <const> = { p = "-p", pass = "--pass", mpi = "--mpi", slurm = "--slurm", dry = "--dry-run",
                             json = "--json" }

local function has_main(file)
  local text, problem = files.read(file)
  if not text then options.fail("%s", problem) end
  return text:gsub("//[^\n]*", ""):gsub("/%*.-%*/", ""):find "%f[%w_]main%s*%(" ~= nil
end

local function check(parsed)
  for key, flag in pairs(OF_SCRIPTS) do
    if parsed[key] then options.fail("option '%s' is of scripts; '%s' is a program", flag, parsed[1]) end
  end
  options.reject_slurm(parsed)
  if lists.find(parsed, has_main) then return end
  local word = path.word
  options.fail("'%s' has no main: moonwarp new %s %s writes a script that runs its kernels; of a program all sources "
    .. "are given", parsed[1], word(parsed[1]:match "([^/]*)%."), word(parsed[1]))
end

--- Runs the program whose sources are the words.
---@param parsed table   of the command line of run
---@return integer status
function program.run(parsed)
  check(parsed)
  local order = { files = table.move(parsed, 1, #parsed, 1, {}), includes = parsed.includes,
                  defines = parsed.defines, libraries = parsed.libraries }
  local function chunk(...)
    require("moonwarp.program").run(require("moonwarp").device, order, { ... })
  end
  local words = parsed.out and lists.append({ "run" }, parsed.words) -- else what it finds makes no run
  return execution.run(chunk, parsed, { script = parsed[1], argv = words })
end

return program
