-- SPDX-License-Identifier: MIT
--
-- What Lua's compiler says, with the line that it says it about. Long strings [[ ... ]] may end early: a kernel's
-- h[x[i]] holds the ]] that ends the string, and the message is about what follows.

local utf8text = require "moonwarp.base.utf8text"

local syntax = {}

local WORDS = { "__global__", "__device__", "threadIdx", "blockIdx", "#include" }

local MOST <const> = 200 -- letters of a line that are shown

local function holds_kernel(body)
  for _, word in ipairs(WORDS) do
    if body:find(word, 1, true) then return true end
  end
  return false
end

local function line_feeds(text)
  return select(2, text:gsub("\n", ""))
end

-- "\n      x = = 3"; nothing of a text of one line, as of -e, which who wrote it sees.
local function source_of(text, line)
  local number = 0
  for one in utf8text.lines(text) do
    number = number + 1
    if number == line and one:find "%S" then return "\n      " .. utf8text.cut(utf8text.trim(one), MOST, "…") end
  end
  return ""
end

--- A message of Lua's compiler, with the line's text, and with a hint if it may be due to a kernel's text that ended
--- early.
---@param text string     the source
---@param problem string  "script.lua:5: '}' expected near ..."
---@return string
function syntax.explain(text, problem)
  local line, ended, at = tonumber(problem:match ":(%d+): "), 1, 1
  problem = problem .. source_of(text, line)
  for first, body, last in utf8text.spans(text, "[[", "]]") do
    local begun = ended + line_feeds(text:sub(at, first))
    ended, at = begun + line_feeds(body), last
    if holds_kernel(body) and (line == ended or line == ended + 1) then
      return ("%s\n  the text that [[ begins in line %d ends at the first ]], in line %d: a text that holds ]] goes "
        .. "between [=[ and ]=]"):format(problem, begun, ended)
    end
  end
  return problem
end

return syntax
