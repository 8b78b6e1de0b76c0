-- SPDX-License-Identifier: MIT
--
-- The known word nearest to a mistyped one.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"

local nearest = {}

--- The nearest of the names, nil if none is near: two letters in the wrong order count as one mistake, and a
--- beginning is near.
---@param word string
---@param names string[]
---@return string?
nearest.find = core.nearest

--- Makes the reading of an unknown field an error of the reader that names the nearest one. Names
--- that begin with "__" are Lua's own and may be looked for.
---@param fields table
---@param what string     whose fields they are: "array", "moonwarp"
---@param hints table?    what others call a field: { size = "shape" }
---@param explain (fun(key: any): string?)?  a special message for a key, tried first
function nearest.guard(fields, what, hints, explain)
  hints = hints or {}
  setmetatable(fields, { __index = function(_, key)
    local message = explain and explain(key)
    if message then failure.invalid("%s", message) end
    if type(key) ~= "string" or key:sub(1, 2) == "__" then return nil end
    local near = nearest.find(key, lists.keys(lists.merged(fields, hints)))
    near = hints[near] or hints[key] or near
    failure.invalid("%s has no '%s'; %s", what, key, near and ("did you mean '%s'?"):format(near)
      or "it has " .. table.concat(lists.keys(fields), ", "))
  end })
end

--- The end of a message about an unknown name: the near one, or what there is.
---@param name any
---@param names string[]|table  a list, or a table by name, which is sorted
---@param otherwise string?     where none is near; else a list of all
---@return string
function nearest.hint(name, names, otherwise)
  local list = lists.keys(names)
  if #list == #names then list = names end
  if type(list[1]) ~= "string" then table.remove(list, 1) end -- the place of a rule for what has no name
  local near = type(name) == "string" and nearest.find(name, list)
  if near then return ("did you mean '%s'?"):format(near) end
  return otherwise or #list == 0 and "there are none" or "there is " .. table.concat(list, ", ")
end

return nearest
