-- SPDX-License-Identifier: MIT
--
-- Plain values as Lua text, for files that this program writes for itself. Other than in JSON, whole floats stay
-- floats, and a list may have names beside it.

local lists = require "moonwarp.base.lists"

local literal = {}

--- The text of a value: nil, a truth value, a number, a string, or a table of them.
---@param value any
---@return string
function literal.text(value)
  if type(value) ~= "table" then return ("%q"):format(value) end
  local parts = {}
  for i, item in ipairs(value) do parts[i] = literal.text(item) end
  local count = #parts
  for _, key in ipairs(lists.keys(value)) do
    local is_listed = math.type(key) == "integer" and key >= 1 and key <= count
    if not is_listed then parts[#parts + 1] = ("[%q]=%s"):format(key, literal.text(value[key])) end
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- The value of a text of literal.text; nil if it is not one.
---@param text string
---@return any
function literal.value(text)
  local chunk = load("return " .. text, "=literal", "t", {})
  local ok, value = pcall(chunk or error)
  return ok and value or nil
end

return literal
