-- SPDX-License-Identifier: MIT
--
-- Whose mistake an error is: an entry of a description (a rung, a part, ...), with the line of its call. The innermost
-- entry is named, once:
--   mine.lua:19: rung 2 'a loop', grid: mine.lua:21: attempt to perform arithmetic on a nil value (global 'n')

local failure = require "moonwarp.base.failure"
local nearest = require "moonwarp.base.nearest"

local blame = {}

-- Ctrl-C and mw.skip are no mistakes.
local ENDS = { interrupted = true, skipped = true }

local function name_of(entry, field)
  return field and ("%s, %s"):format(entry.title, field) or entry.title
end

local function passed(entry, field, ok, ...)
  if ok then return ... end
  local problem = ...
  local status = failure.status(problem)
  if status and not ENDS[status] and not problem.blamed then
    local place = problem.where and problem.where .. ": " or ""
    problem.text = ("%s: %s%s"):format(name_of(entry, field), place, problem.text)
    problem.where, problem.blamed = entry.at, true
  end
  error(problem, 0)
end

--- Calls a function on behalf of an entry, which its errors name.
---@param entry table     at (the line of its call), title ("rung 2 'a loop'")
---@param field string?   of the entry
---@param fn function
---@param ... any         its arguments
---@return any ...        its results
function blame.on(entry, field, fn, ...)
  return passed(entry, field, failure.catch(fn, ...))
end

--- Raises a mistake of an entry.
---@param entry table
---@param field string?
---@param text string   a format
---@param ... any
function blame.fail(entry, field, text, ...)
  local problem = failure.new("invalid", ("%s: %s"):format(name_of(entry, field), text:format(...)), entry.at)
  problem.blamed = true
  error(problem, 0)
end

--- Raises if a name is not a known one.
---@param entry table
---@param field string?
---@param what string    "there is no rung"
---@param name string
---@param known table    by name
function blame.unknown(entry, field, what, name, known)
  if known[name] then return end
  blame.fail(entry, field, "%s '%s'; %s", what, tostring(name), nearest.hint(tostring(name), known))
end

return blame
