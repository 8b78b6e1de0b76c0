-- SPDX-License-Identifier: MIT
--
-- MPI jobs of the built program. $MPI names the implementation as Debian's commands do, "openmpi" (the standard) or
-- "mpich"; where there is no mpirun of that name, mpirun itself is taken.

local busted = require "busted"
local labs = require "tests.support.labs"
local support = require "tests.support"

local mpi = {}

mpi.name = os.getenv "MPI" or "openmpi"

local function command(name)
  local own = ("%s.%s"):format(name, mpi.name)
  return labs.shell("command -v " .. own) == 0 and own or labs.shell("command -v " .. name) == 0 and name or nil
end

local MPIRUN <const>, MPICC <const> = command "mpirun", command "mpicc"
local FLAGS <const> = mpi.name == "openmpi" and "--allow-run-as-root --oversubscribe " or ""

--- `it` of a test that starts a job: it is skipped where no MPI is installed.
---@param name string
---@param body function
function mpi.it(name, body)
  local lacks = not MPIRUN and "mpirun" or not MPICC and "mpicc"
  if lacks then
    busted.pending(("%s (%s of %s is not installed: make check-cluster)"):format(name, lacks, mpi.name))
  else
    busted.it(name, body)
  end
end

--- The words that start so many ranks, and what is in the environment.
---@param ranks integer
---@return string
function mpi.mpirun(ranks)
  return ("env MOONWARP_MPICC=%s %s %s-n %d"):format(MPICC, MPIRUN, FLAGS, ranks)
end

--- Runs a script as a job in a folder; the device is the CPU.
---@param folder string
---@param ranks integer
---@param text string    of Lua; knows mw, mpi, dev, rank and size
---@param words string?  further words of moonwarp run
---@return integer status
---@return string output  both streams of all ranks
function mpi.run(folder, ranks, text, words)
  support.write(folder .. "/job.lua", [[local mw, mpi = require "moonwarp", require "moonwarp.mpi"; local dev = ]]
    .. [[mw.device(); local rank, size = mpi.rank(), mpi.size(); ]] .. text)
  return labs.shell(("cd %s && %s %s run job.lua --mpi --device cpu --out out %s </dev/null"):format(
    labs.quoted(folder), mpi.mpirun(ranks), labs.quoted(labs.program), words or ""))
end

--- The same in a folder of its own, which ends well.
---@return string output  lines in order, without those of results
function mpi.lines(ranks, text, words)
  local lines
  support.with_folder(function(folder)
    local status, output = mpi.run(folder, ranks, text, words)
    assert(status == 0, output)
    lines = {}
    for line in output:gmatch "[^\n]+" do
      if not line:find "results: " then lines[#lines + 1] = line end
    end
    table.sort(lines)
  end)
  return table.concat(lines, "\n")
end

--- The stored runs of a folder.
---@param folder string
---@return table[]
function mpi.runs(folder)
  local store = require "moonwarp.results.store"
  local runs = {}
  for i, place in ipairs(store.below(folder .. "/out")) do runs[i] = assert(store.read(place)) end
  return runs
end

--- Waits until nothing runs that has a folder in its command.
---@param folder string
function mpi.none_left(folder)
  support.eventually("the end of all ranks", function()
    return labs.shell(("pgrep -f %s"):format(labs.quoted(folder:gsub("^/", "[/]", 1)))) ~= 0
  end)
end

return mpi
