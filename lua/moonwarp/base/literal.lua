-- SPDX-License-Identifier: MIT
--
-- Plain values as Lua text, for files that this program writes for itself. Other than in JSON, whole floats stay
-- floats, and a list may have names next to it.

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

-- Whether a text has nothing but what literal.text writes, so that loading it calls nothing: strings, numbers, truth
-- values and tables. The file may be anybody's.
local function is_plain(text)
  local rest = text:gsub("\\.", ""):gsub('"[^"]*"', '""'):gsub("%(0/0%)", "0"):gsub("0x[%x.]+p[+-]?%d+", "0")
  rest = rest:gsub("0x%x+", "0"):gsub("%f[%w]%d+e%d+", "0")
  for word in rest:gmatch "[%a_][%w_]*" do
    if word ~= "nil" and word ~= "true" and word ~= "false" then return false end
  end
  return not rest:find '[^%w%s{}%[%]=,.%-"]' and not rest:find "%-%-" and not rest:find "%[[%[=]"
end

--- The value of a text of literal.text; nil if it is not one.
---@param text string
---@return any
function literal.value(text)
  if not is_plain(text) then return nil end
  local chunk = load("return " .. text, "=literal", "t", {}) -- no names, no calls
  local ok, value = pcall(chunk or error)
  return ok and value or nil
end

return literal
