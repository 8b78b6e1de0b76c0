-- SPDX-License-Identifier: MIT
--
-- Why a job ended before its lab: what Slurm says, or without that what the job itself left. The verdict is always
-- "killed": it says nothing about the lab, which --resume runs again.

local amount = require "moonwarp.lab.amount"
local files = require "moonwarp.base.files"
local verdict = require "moonwarp.lab.verdict"

local ending = {}

local WORDS = {
  TIMEOUT = "its job's time limit (--time) ended it", OUT_OF_MEMORY = "its job's memory limit (--mem) ended it",
  NODE_FAIL = "its node failed", CANCELLED = "its job was cancelled", PREEMPTED = "its job was preempted",
  DEADLINE = "its job's deadline ended it", BOOT_FAIL = "its node did not start", REVOKED = "its job was revoked",
}

-- What slurmstepd writes into a job's output as it ends it.
local TRACES = { { "DUE TO TIME LIMIT", "TIMEOUT" }, { "DUE TO NODE FAILURE", "NODE_FAIL" },
                 { "DUE TO PREEMPTION", "PREEMPTED" }, { "oom.kill", "OUT_OF_MEMORY" },
                 { "[Oo]ut.[Oo]f.[Mm]emory", "OUT_OF_MEMORY" }, { "CANCELLED AT", "CANCELLED" } }

--- The state that a job's output shows; nil if it shows none.
---@param log string  its file
---@return string?
function ending.traced(log)
  local text = verdict.tail(log)
  for _, trace in ipairs(TRACES) do
    if text:find(trace[1]) then return trace[2] end
  end
end

--- Whether Slurm itself ended a job in this state, and with it whatever it ran.
---@param state string?
---@return boolean
function ending.is_forced(state)
  return WORDS[state] ~= nil
end

-- The last line that the program printed; Slurm itself makes the file before a job begins.
local function last_line(log)
  if not files.exists(log) then return ": there is no " .. log .. ", so its node may not write there" end
  local last
  for line in verdict.tail(log):gmatch "[^\n]+" do last = line:match "%S" and line or last end
  return last and ": " .. last:gsub("^moonwarp: ", "") or ""
end

--- Why a job left no verdict.
---@param state string?   of squeue or sacct; nil: neither knows it
---@param log string      the job's output
---@param waited number   seconds
---@return string
function ending.text(state, log, waited)
  if WORDS[state] then return WORDS[state] end
  if state == "COMPLETED" then
    return ("its job ended, but no verdict was to be seen for %s"):format(amount.clock(waited))
  end
  return state and "its job failed" .. last_line(log) or "its job left the queue without a verdict"
end

return ending
