-- SPDX-License-Identifier: MIT
--
-- The known word nearest to a mistyped one. It counts two letters in the wrong order as one mistake
-- (F. J. Damerau, 1964: the restricted distance), the commonest in typing, and takes a beginning
-- for near.
-- Depends on failure, lists.

local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"

local nearest = {}

--- How many insertions, deletions, changes and swaps of neighbours lie between two words.
---@param a string
---@param b string
---@return integer
function nearest.distance(a, b)
  local rows = { [0] = {} }
  for j = 0, #b do rows[0][j] = j end
  for i = 1, #a do
    local row, above = { [0] = i }, rows[i - 1]
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      row[j] = math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], rows[i - 2][j - 2] + 1)
      end
    end
    rows[i] = row
  end
  return rows[#a][#b]
end

local function is_beginning(word, name)
  return #word >= 3 and name:sub(1, #word) == word
end

--- The nearest of the names, nil where none is near.
---@param word string
---@param names string[]
---@return string?
function nearest.find(word, names)
  local best, least
  for _, name in ipairs(names) do
    local d = is_beginning(word, name) and 1 or nearest.distance(word:lower(), name:lower())
    local begins = word:sub(1, #name) == name -- of a name of one letter nothing else is near
    local is_near = d <= math.max(1, #name // 3) and (d < #name or begins)
    if is_near and (not least or d < least) then best, least = name, d end
  end
  return best
end

--- Makes the reading of an unknown field an error of the reader that names the nearest one. Names
--- that begin with "__" are Lua's own and may be looked for.
---@param fields table
---@param what string     whose fields they are: "array", "moonwarp"
---@param hints table?    what others call a field: { size = "shape" }
---@param explain (fun(key: any): string?)?  a message of its own for a key, tried first
function nearest.guard(fields, what, hints, explain)
  hints = hints or {}
  setmetatable(fields, { __index = function(_, key)
    local message = explain and explain(key)
    if message then failure.invalid("%s", message) end
    if type(key) ~= "string" or key:sub(1, 2) == "__" then return nil end
    local names, known = lists.keys(fields), lists.keys(fields)
    for word in pairs(hints) do known[#known + 1] = word end
    table.sort(known)
    local near = nearest.find(key, known)
    near = hints[near] or hints[key] or near
    failure.invalid("%s has no '%s'; %s", what, key, near and ("did you mean '%s'?"):format(near)
      or "it has " .. table.concat(names, ", "))
  end })
end

--- The end of a message about an unknown name: the near one, or what there is.
---@param name any
---@param names string[]|table  a list, or a table by name, which is sorted
---@param otherwise string?     where none is near; else a list of all
---@return string
function nearest.hint(name, names, otherwise)
  local list = #names > 0 and names or lists.keys(names)
  local near = type(name) == "string" and nearest.find(name, list)
  if near then return ("did you mean '%s'?"):format(near) end
  return otherwise or #list == 0 and "there are none" or "there is " .. table.concat(list, ", ")
end

return nearest
