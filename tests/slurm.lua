-- SPDX-License-Identifier: MIT
--
-- A folder with labs and stand-ins for Slurm's commands: tests/slurm/stand_in.sh under their names runs the elements of
-- job arrays as processes. What may go wrong between a submission, a queue and a shared file system is made to.

local assert = require "luassert"

local core = require "moonwarp.core"
local labs = require "tests.labs"
local support = require "tests.support"

local slurm = {}

local quoted, shell = labs.quoted, labs.shell

local COMMANDS = { "sbatch", "squeue", "scancel", "scontrol", "srun", "slurmctld" }

-- $1 is the folder: the stand-ins come first on PATH. A copy of the program finds no files beside it.
local ENVIRONMENT =
  "env -u SLURM_JOB_ID STAND_IN=%s/queue PATH=%s/bin:$PATH HOME=%s MOONWARP_CACHE=%s/cache MOONWARP_HOME=%s"

--- Words of a batch on Slurm.
slurm.WORDS = "labs.lua --slurm --sandbox off"

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
  os.execute(("%s slurmctld $PPID >/dev/null 2>&1 </dev/null &"):format(slurm.environment(folder)))
end

-- Jobs that a test left are ended with its folder.
local function end_jobs(folder)
  shell(("cd %s/queue && touch stop && for job in [0-9]*; do STAND_IN=$PWD ../bin/scancel $job; done"):format(folder))
end

-- No element of any job waits or runs.
local IDLE <const> = "! grep -qs -e PENDING -e RUNNING %s/queue/*/state/*"

--- Waits until no job is in the queue.
---@param folder string
function slurm.drain(folder)
  support.eventually("an empty queue", function() return shell(IDLE:format(folder)) == 0 end)
end

--- Labs in a folder with stand-ins.
---@param list table[]  the labs, as of labs.with
---@param body fun(folder: string, calls: table)  submit(words) returns status and output; resume(words) too, and the
---  result; batch(words) submits, waits for the end of the jobs and resumes, and returns what resume does, with both
---  outputs; put(name, text) writes a file of the queue, nil removes it
function slurm.with(list, body)
  labs.with(list, function(folder, run)
    local calls = {}
    stand_in(folder)
    function calls.submit(words)
      return shell(("cd %s && %s timeout -k 5 120 %s batch %s --out out </dev/null"):format(quoted(folder),
        slurm.environment(folder), quoted(labs.program), words or slurm.WORDS))
    end
    function calls.resume(words)
      return run("--resume " .. (words or ""), slurm.environment(folder) .. " timeout -k 5 120")
    end
    function calls.batch(words)
      local status, said = calls.submit(words)
      assert.are.equal(0, status, said)
      slurm.drain(folder)
      local output, result
      status, output, result = calls.resume()
      return status, said .. output, result
    end
    function calls.put(name, text)
      if text then support.write(folder .. "/queue/" .. name, text) else os.remove(folder .. "/queue/" .. name) end
    end
    local ok, problem = xpcall(body, debug.traceback, folder, calls)
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

return slurm
