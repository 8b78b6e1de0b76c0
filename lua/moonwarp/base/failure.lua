-- SPDX-License-Identifier: MIT
--
-- Errors: what was caught, an error value of the library or whatever a script has raised; and raising one for misuse.
-- Depends on moonwarp.core.

local core = require "moonwarp.core"

local failure = {}

--- The kind of an error of the library: "no_device", "fault", "interrupted", ...; nil for any other value.
---@param problem any
---@return string?
function failure.status(problem)
  return core.type(problem) == "error" and problem.status or nil
end

--- The first line of a message, without the place where it was raised.
---@param problem any
---@return string
function failure.text(problem)
  local text = failure.status(problem) and problem.text or tostring(problem):gsub("^[^\n:]+:%d+: ", "", 1)
  return text:match "[^\n]*"
end

--- Raises an error of status "invalid", at the innermost line that is not the library's.
---@param format string
---@param ... any
function failure.invalid(format, ...)
  core.raise("invalid", format:format(...))
end

return failure
