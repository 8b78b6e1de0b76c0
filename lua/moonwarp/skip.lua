-- SPDX-License-Identifier: MIT
--
-- The end of a script, or of a pass of a sweep, that cannot do its work here: an error of status
-- "skipped", which is not a failure to `moonwarp run`.

local failure = require "moonwarp.base.failure"

local skip = {}

--- Ends the script, or this pass of a sweep.
---@param reason string
function skip.raise(reason)
  if type(reason) ~= "string" or reason == "" then
    failure.invalid("mw.skip: the reason must be a text, got %s", reason == "" and "an empty one" or type(reason))
  end
  local problem = failure.new("skipped", "skipped: " .. reason)
  problem.reason = reason
  error(problem, 0)
end

return skip
