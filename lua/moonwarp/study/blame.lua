-- SPDX-License-Identifier: MIT
--
-- Whose mistake an error is: the line and the name of the entry of a description before the message, once, and
-- not the place in the library that noticed it.
-- Depends on failure.

local failure = require "moonwarp.base.failure"

local blame = {}

local told -- the last message that names an entry

-- "bad argument" and what mw's functions say of their arguments are about what was given, not about the library.
local function without_place(problem)
  local rest = problem:match "^[^\n]-moonwarp/[%w_/]+%.lua:%d+: (.*)$"
  return rest and (rest:find "^bad argument" or rest:find "^mw%.") and rest or problem
end

--- Calls a function on behalf of an entry, which its errors name.
---@param who string     "mine.lua:19: rung 2 'a loop'"
---@param fn function
---@param ... any        its arguments
---@return any ...       its results
function blame.on(who, fn, ...)
  local results = table.pack(pcall(fn, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local problem = results[2]
  if failure.status(problem) and failure.status(problem) ~= "interrupted" and problem ~= told then
    problem.text, problem.where, problem.log = ("%s: %s"):format(who, problem), nil, nil
    told = problem
  end
  if type(problem) ~= "string" or problem == "interrupted" or problem == told then error(problem, 0) end
  told = ("%s: %s"):format(who, without_place(problem))
  error(told, 0)
end

--- Raises a mistake of an entry.
---@param who string
---@param text string   a format
---@param ... any
function blame.fail(who, text, ...)
  told = ("%s: %s"):format(who, text:format(...))
  error(told, 0)
end

return blame
