-- SPDX-License-Identifier: MIT
--
-- Exit statuses of the program, and which one an error has.

local failure = require "moonwarp.base.failure"

local exit = { OK = 0, FAILED = 1, USAGE = 2, CHECK = 3, NO_DEVICE = 4, SLOWER = 5, UNCLEAR = 6,
               INTERRUPTED = 130 }

local stdout, stderr = io.stdout, io.stderr -- a script may put others in their places

local STATUSES = { usage = exit.USAGE, no_device = exit.NO_DEVICE, interrupted = exit.INTERRUPTED }

--- The status of what host.call gives.
---@param outcome string   "done", "failed" or "interrupted"
---@param problem any      the error
---@return integer
function exit.of(outcome, problem)
  if outcome == "done" then return exit.OK end
  return outcome == "interrupted" and exit.INTERRUPTED or STATUSES[failure.status(problem)] or exit.FAILED
end

--- Says the problem, on standard error.
---@param text string   a format where values come after it
---@param ... any
function exit.complain(text, ...)
  if select("#", ...) > 0 then text = text:format(...) end
  stdout:flush()
  stderr:write("moonwarp: " .. text .. "\n") -- at once: other ranks print to the same place
end

--- The message of the program: of a usage error only the text, without place and traceback.
---@param message string   with its traceback
---@param problem any
---@return string
function exit.text(message, problem)
  return failure.status(problem) == "usage" and problem.text or message
end

return exit
