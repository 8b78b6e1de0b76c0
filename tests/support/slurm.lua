-- SPDX-License-Identifier: MIT
--
-- A folder with labs and stand-ins for Slurm's commands: tests/slurm/stand_in.sh under their names runs the elements of
-- job arrays as processes. What may go wrong between a submitter, a queue and a shared file system is made to.

local assert = require "luassert"

local core = require "moonwarp.core"
local labs = require "tests.support.labs"
local support = require "tests.support"

local slurm = {}

local quoted, shell = labs.quoted, labs.shell

local COMMANDS = { "sbatch", "squeue", "scancel", "scontrol", "sacct", "srun", "slurmctld" }

-- $1 is the folder: the stand-ins come first on PATH. A copy of the program finds no files beside it.
local ENVIRONMENT =
  "env -u SLURM_JOB_ID STAND_IN=%s/queue PATH=%s/bin:$PATH HOME=%s MOONWARP_CACHE=%s/cache MOONWARP_HOME=%s"

slurm.SITE = "return { poll = 0.05, patience = 0.2, probe = false }"

--- The words before a command that finds the stand-ins of a folder.
---@param folder string
---@return string
function slurm.environment(folder)
  return ENVIRONMENT:format(folder, folder, folder, folder, quoted(core.home()))
end

local function stand_in(folder)
  assert(shell(("mkdir -p %s/bin %s/queue"):format(folder, folder)) == 0)
  for _, name in ipairs(COMMANDS) do
    require("lfs").link(core.home() .. "/tests/slurm/stand_in.sh", ("%s/bin/%s"):format(folder, name), true)
  end
  support.write(folder .. "/site.lua", slurm.SITE)
  os.execute(("%s slurmctld $PPID >/dev/null 2>&1 </dev/null &"):format(slurm.environment(folder)))
end

-- Jobs that a test left are ended with its folder.
local function end_jobs(folder)
  shell(("cd %s/queue && touch stop && for job in [0-9]*; do STAND_IN=$PWD ../bin/scancel $job; done"):format(folder))
end

--- Labs in a folder with stand-ins.
---@param list table[]  the labs, as of labs.with
---@param body fun(folder: string, batch: function, put: function, resume: function)  batch(words) and resume(words)
---  return status, output and result; put(name, text) writes a file of the queue, nil removes it
function slurm.with(list, body)
  labs.with(list, function(folder, run)
    stand_in(folder)
    local function batch(words)
      words = words or "labs.lua --slurm --site site.lua"
      return run(words .. (words:find("--sandbox", 1, true) and "" or " --sandbox off"),
        slurm.environment(folder) .. " timeout -k 5 120")
    end
    local function resume(words)
      return run("--resume " .. (words or ""), slurm.environment(folder) .. " timeout -k 5 120")
    end
    local function put(name, text)
      if text then support.write(folder .. "/queue/" .. name, text) else os.remove(folder .. "/queue/" .. name) end
    end
    local ok, problem = xpcall(body, debug.traceback, folder, batch, put, resume)
    end_jobs(folder)
    if not ok then error(problem, 0) end
  end)
end

--- The output has each of these texts.
---@param output string
---@param ... string
function slurm.contains(output, ...)
  for _, text in ipairs { ... } do assert.is_truthy(output:find(text, 1, true), text .. "\nis not in\n" .. output) end
end

--- The labs' verdicts of a batch's result, in words.
---@param result table
---@return string
function slurm.verdicts(result)
  local words = {}
  for i, row in ipairs(result.labs) do words[i] = row.verdict end
  return table.concat(words, " ")
end

-- Labs: one that leaves a mark when it begins; one that says so to the stand-in as well, and waits for a file; one with
-- a record and a check.
slurm.MARK = 'local f = assert(io.open("marks", "a")) f:write(os.getenv "MOONWARP_LAB", " ") f:close()\n'
slurm.WAIT = slurm.MARK .. 'os.execute "touch $STAND_IN/begun-$SLURM_ARRAY_TASK_ID"\n'
  .. 'os.execute "until [ -e again ]; do sleep 0.02; done"\n'
slurm.RECORD = slurm.MARK .. 'mw.record { device = "cpu", x = 1 } mw.check(mw.device():zeros("i32", 2), 0)'

--- The marks that labs have left.
---@param folder string
---@return string
function slurm.marks(folder)
  return support.read(folder .. "/marks")
end

--- A batch whose submitter gets a signal once a condition of the shell holds.
---@param folder string
---@param signal string
---@param condition string
---@param words string?
function slurm.signalled(folder, signal, condition, words)
  local command = ("cd %s && exec %s %s batch %s --out out --json r.json --sandbox off"):format(quoted(folder),
    slurm.environment(folder), quoted(labs.program), words or "labs.lua --slurm --site site.lua")
  return support.signalled(command, signal, { condition })
end

return slurm
