-- SPDX-License-Identifier: MIT
--
-- Errors of the Lua half: raised, made and caught. An error is a value (core/bind/error.c); its status says of what
-- kind it is, and nothing reads its text.
--   "invalid"    misuse: of an option, an argument, a description
--   "usage"      a mistake on the command line
--   "skipped"    mw.skip, with reason
--   "script"     whatever else a script has raised: a message of Lua's, say
-- and those of devices ("no_device", "fault", ...), files ("io") and Ctrl-C ("interrupted").

local core = require "moonwarp.core"

local failure = {}

--- Raises an error of a status.
---@param status string
---@param text string   a format where values come after it
---@param ... any
function failure.raise_as(status, text, ...)
  if select("#", ...) > 0 then text = text:format(...) end
  return core.raise(status, text)
end

--- Raises misuse, at the script's line.
---@param text string   a format where values come after it
---@param ... any
function failure.invalid(text, ...)
  return failure.raise_as("invalid", text, ...)
end

--- An error that is raised later.
---@param status string
---@param text string
---@param where string?   the script's line that it is about
---@return table problem
function failure.new(status, text, where)
  local _, problem = pcall(core.raise, status, text)
  problem.where = where
  return problem
end

--- The kind of an error of the library: "no_device", "fault", "interrupted", ...; nil for any other value.
---@param problem any
---@return string?
function failure.status(problem)
  return core.type(problem) == "error" and problem.status or nil
end

--- The first line of a message, without the place where the library raised it.
---@param problem any
---@return string
function failure.text(problem)
  return (failure.status(problem) and problem.text or tostring(problem)):match "[^\n]*"
end

-- What Lua says of the library's own line is due to an argument of the script's innermost line, if there is one.
local function as_script(problem)
  local meta = debug.getmetatable(problem)
  local is_text = type(problem) == "string" or meta and meta.__tostring
  local text = is_text and tostring(problem) or ("the script raised a %s value, not a message"):format(type(problem))
  local where, rest = core.where(), text:match "^[^\n:]*lua/moonwarp/[%w_/]+%.lua:%d+: (.*)$"
  return failure.new("script", where and rest or text, rest and where)
end

-- The traceback is the program's, from where the error was raised.
local function as_value(problem)
  if not failure.status(problem) then problem = as_script(problem) end
  local host = package.loaded["moonwarp.host"]
  if host and not problem.traceback then problem.traceback = host.traceback() end
  return problem
end

--- As pcall, for who looks at an error and raises it again, by error(problem, 0): it keeps its traceback, and is an
--- error of the library also if the script has raised a message, or any other value.
---@param fn function
---@param ... any
---@return boolean ok
---@return any ...
function failure.catch(fn, ...)
  return xpcall(fn, as_value, ...)
end

return failure
