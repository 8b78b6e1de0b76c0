-- SPDX-License-Identifier: MIT
--
-- Slurm's commands: sbatch, squeue, sacct, scancel, scontrol. Each runs under a supervisor with a limit of time, since
-- a controller that is busy or down lets them wait, and away from the terminal's Ctrl-C. That a command failed says
-- nothing about a job: what is not known is nil.

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local utf8text = require "moonwarp.base.utf8text"

local queue = {}

local PATIENCE = 60 -- seconds

-- States of squeue and sacct that no job leaves; all others are of jobs that wait, run or are about to end.
local ENDED = lists.set { "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
                          "PREEMPTED", "REVOKED", "TIMEOUT" }

-- Variables with which a user narrows what squeue shows: a job that it does not show would count as lost.
local NARROWING = { "SQUEUE_ACCOUNT", "SQUEUE_LICENSES", "SQUEUE_NAMES", "SQUEUE_PARTITION", "SQUEUE_QOS",
                    "SQUEUE_USERS" }

-- ---- commands -----------------------------------------------------------------------------------

--- The file of a program on PATH; nil if there is none.
---@param program string
---@return string?
function queue.find(program)
  for folder in (os.getenv "PATH" or ""):gmatch "[^:]+" do
    local path = folder .. "/" .. program
    if files.exists(path) then return path end
  end
end

local function await(child)
  local ending = child:poll()
  while not ending do
    host.wait({ child }, PATIENCE)
    ending = child:poll()
  end
  return ending
end

-- True and the output, or false and what the command complained of.
local function call(words)
  local program = queue.find(words[1])
  if not program then return false, words[1] .. " is not on PATH" end
  local log = os.tmpname()
  local argv = lists.append({ program }, table.move(words, 2, #words, 1, {}))
  local child <close> = host.spawn { argv = argv, env = NARROWING, log = log, seconds = PATIENCE, grace = 1 }
  local ending = await(child)
  local said = utf8text.trim_end(utf8text.clean(files.read(log) or ""))
  os.remove(log)
  if ending.exit == 0 and ending.signal == 0 then return true, said end
  if ending.reason == "time" then said = ("no answer within %d s"):format(PATIENCE) end
  return false, said == "" and ("exit status %d"):format(ending.exit) or said
end

--- An error where Slurm's commands are not installed.
function queue.check()
  for _, program in ipairs { "sbatch", "squeue" } do
    if not queue.find(program) then
      options.fail("there is no %s on PATH: --slurm wants a machine from which jobs are submitted, as a login node",
        program)
    end
  end
end

-- What the first line says after the program's name, as in "sbatch: error: Invalid account"; an error comes before what
-- is only said.
local function complaint(text)
  return text:match "%f[%w]%w+: error: ([^\n]+)" or text:match "%f[%w]%w+: fatal: ([^\n]+)"
    or text:match "^%w+: ([^\n]+)" or text:match "[^\n]+" or "it says nothing"
end

--- Submits a script. A Ctrl-C waits for sbatch's answer, so that no job is queued whose number is not known.
---@param script string      its file
---@param words string[]     options; those of the script too, since variables of sbatch ($SBATCH_JOB_NAME) overrule a
---                          script, and the command line overrules them
---@return string? job       the number; nil if it is rejected, or if there is no answer
---@return string? reason    in sbatch's words
---@return table? interruption  the error to raise when the job is written down
function queue.submit(script, words)
  local argv = lists.append(lists.append({ "sbatch", "--parsable" }, words), { script })
  local interrupted, ok, said = host.whole(call, argv)
  local interruption = interrupted and select(2, pcall(core.raise, "interrupted", "interrupted")) or nil
  local job = ok and ("\n" .. said):match "^.*\n(%d+)"
  if job then return job, nil, interruption end
  return nil, ok and ("it gives no number of a job: " .. said) or complaint(said), interruption
end

--- Cancels jobs.
---@param jobs string[]  numbers, or options of scancel that choose them
---@return string? problem
function queue.cancel(jobs)
  local ok, said = call(lists.append({ "scancel" }, jobs))
  if not ok then return complaint(said) end
end

-- ---- what is in the queue -----------------------------------------------------------------------

-- "CANCELLED by 1000", "RUNNING+"
local function state_word(text)
  return text:match "^[%u_]+" or text
end

--- Whether no job leaves a state.
---@param state string
---@return boolean
function queue.is_ended(state)
  return ENDED[state] == true
end

--- The elements of the user's job arrays with these names, the ended ones too as long as the controller knows them.
---@param names string[]
---@return table[]? rows     { name, job, index, state, reason, node }; nil if squeue does not answer
---@return string? problem   in its words
function queue.look(names)
  local ok, said = call { "squeue", "--noheader", "--array", "--states=all", "--me", "--format=%F|%K|%T|%r|%N|%j",
                          "--name=" .. table.concat(names, ",") }
  if not ok then return nil, complaint(said) end
  local rows = {}
  for line in said:gmatch "[^\n]+" do
    local job, index, state, reason, node, name = line:match "^%s*(%d+)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|(%S+)%s*$"
    if job then
      rows[#rows + 1] = { job = job, index = math.tointeger(tonumber(index)), state = state_word(state),
                          reason = reason, node = node, name = name }
    end
  end
  return rows
end

--- The states of an array's elements from Slurm's accounting, which many sites do not have.
---@param job string
---@return table<integer, string> states  by index; empty if sacct does not answer
function queue.past(job)
  local ok, said = call { "sacct", "--noheader", "--parsable2", "--allocations", "--format=JobID,State",
                          "--jobs=" .. job }
  local states = {}
  for index, state in (ok and said or ""):gmatch "%d+_(%d+)|([^\n]+)" do
    states[math.tointeger(tonumber(index))] = state_word(state)
  end
  return states
end

--- How many elements an array may have: the greatest index is one less than Slurm's MaxArraySize.
---@return integer
function queue.most_elements()
  local ok, said = call { "scontrol", "show", "config" }
  local size = ok and math.tointeger(tonumber(said:match "MaxArraySize%s*=%s*(%d+)"))
  return math.max(1, (size or 1001) - 1) -- Slurm's own default
end

return queue
