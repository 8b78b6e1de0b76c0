-- SPDX-License-Identifier: MIT
--
-- A value as the prompt prints it, and as print shows a table of results: tables one level deep,
-- strings inside them quoted.

local lists = require "moonwarp.base.lists"

local show = {}

local MOST = 40 -- entries of a table

-- Three numbers are sizes in x, y and z.
local function is_short_list(value)
  if #value < 1 or #value > 4 then return false end
  for key, item in pairs(value) do
    if math.type(key) ~= "integer" or type(item) ~= "number" then return false end
  end
  return true
end

-- A text of many lines, as a chart, is shown as it is.
local function entry(value)
  if type(value) == "string" and value:find "\n.*\n.*\n" and not value:gsub("\n", ""):find "%c" then
    return ("[[\n%s]]"):format(value)
  end
  if type(value) == "string" then return (("%q"):format(value):gsub("\\\n", "\\n")) end
  if type(value) == "table" and not getmetatable(value) then
    if is_short_list(value) then return "{ " .. table.concat(value, ", ") .. " }" end
    return next(value) == nil and "{}" or "{...}"
  end
  return tostring(value)
end

local function key_text(key)
  if type(key) == "string" and key:match("^[%a_][%w_]*$") then return key end
  return "[" .. entry(key) .. "]"
end

--- The text of a table, whatever its metatable.
---@param values table
---@return string
function show.fields(values)
  local parts = {}
  for i = 1, math.min(#values, MOST) do parts[i] = entry(values[i]) end
  for _, key in ipairs(lists.keys(values)) do
    if #parts == MOST then break end
    local in_list = math.type(key) == "integer" and key >= 1 and key <= #values
    if not in_list then parts[#parts + 1] = ("%s = %s"):format(key_text(key), entry(values[key])) end
  end
  if next(values) == nil then return "{}" end
  local one_line = "{ " .. table.concat(parts, ", ") .. " }"
  if #parts < MOST and #one_line <= 100 and not one_line:find "\n" then return one_line end
  if #parts == MOST then parts[#parts + 1] = "..." end
  return "{\n  " .. table.concat(parts, ",\n"):gsub("\n", "\n  ") .. "\n}"
end

--- The text of a value.
---@param value any
---@return string
function show.value(value)
  if type(value) ~= "table" then return tostring(value) end
  local meta = getmetatable(value)
  if type(meta) == "table" and meta.__tostring then return tostring(value) end
  return show.fields(value)
end

return show
