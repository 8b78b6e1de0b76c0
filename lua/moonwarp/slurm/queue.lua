-- SPDX-License-Identifier: MIT
--
-- Slurm's commands. That one failed says nothing about a job: what is not known is nil.

local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"
local utf8text = require "moonwarp.base.utf8text"

local queue = {}

-- Without variables by which a user narrows what squeue shows: a job that it does not show would count as over.
local WHOLE <const> = "env -u SQUEUE_ACCOUNT -u SQUEUE_LICENSES -u SQUEUE_NAMES -u SQUEUE_PARTITION -u SQUEUE_QOS "
  .. "-u SQUEUE_STATES -u SQUEUE_USERS "

-- What a command prints; nil and what it complains of if it fails.
local function call(words)
  local pipe <close> = assert(io.popen(WHOLE .. table.concat(lists.map(words, path.quote), " ") .. " 2>&1 </dev/null"))
  local said = utf8text.trim_end(utf8text.clean(pipe:read "a"))
  if pipe:close() then return said end
  return nil, said:match "error: ([^\n]+)" or said:match "^%w+: ([^\n]+)" or said:match "[^\n]+" or "it says nothing"
end

--- An error where Slurm's commands are not installed.
function queue.check()
  if os.execute "command -v sbatch >/dev/null" then return end
  options.fail "there is no sbatch on PATH: --slurm wants a machine from which jobs are submitted, as a login node"
end

--- Submits a script.
---@param script string      its file
---@param words string[]     options; those of the script too, since variables of sbatch ($SBATCH_JOB_NAME) overrule a
---                          script, and the command line overrules them
---@return string? job       its number
---@return string? problem   in sbatch's words; the job may be in the queue all the same
function queue.submit(script, words)
  local said, problem = call(lists.append(lists.append({ "sbatch", "--parsable" }, words), { script }))
  return said and ("\n" .. said):match "^.*\n(%d+)", problem or "it gives no number of a job"
end

--- The user's job arrays of these names that are not over.
---@param names string[]
---@return table<string, table>? jobs  by name: job (its number) and the elements, true by index; nil: no answer
---@return string? problem             in squeue's words
function queue.look(names)
  local jobs = {}
  if #names == 0 then return jobs end
  local said, problem = call { "squeue", "--noheader", "--array", "--me", "--format=%F|%K|%j",
                               "--name=" .. table.concat(names, ",") }
  for job, index, name in (said or ""):gmatch "(%d+)|(%d+)|(%S+)" do
    jobs[name] = jobs[name] or { job = job }
    jobs[name][math.tointeger(tonumber(index))] = true
  end
  return said and jobs, problem
end

--- How many elements an array may have: the greatest index is one less than Slurm's MaxArraySize.
---@return integer
function queue.most_elements()
  local size = math.tointeger(tonumber((call { "scontrol", "show", "config" } or ""):match "MaxArraySize%s*=%s*(%d+)"))
  return math.max(1, (size or 1001) - 1) -- Slurm's own default
end

return queue
