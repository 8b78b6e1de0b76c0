-- SPDX-License-Identifier: MIT
--
-- The end of a script, or of a pass of a sweep, that cannot do its work here: no failure. `moonwarp run` knows it by
-- its text.

local skip = {}

--- Why, the last time.
skip.reason = nil

--- Ends the script, or this pass of a sweep.
---@param reason string
function skip.raise(reason)
  if type(reason) ~= "string" or reason == "" then
    error("mw.skip: the reason must be a text, got " .. (reason == "" and "an empty one" or type(reason)), 2)
  end
  skip.reason = reason
  error("skipped: " .. reason, 0)
end

return skip
