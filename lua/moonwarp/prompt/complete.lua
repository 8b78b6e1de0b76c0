-- SPDX-License-Identifier: MIT
--
-- Completion at the prompt: the name before the cursor, as in "mw.dev", "A:sh" or "whi". Tables are
-- only looked at; an __index that is a function is not called, so that completing never runs
-- anything.

local lists = require "moonwarp.base.lists"
local utf8text = require "moonwarp.base.utf8text"

local complete = {}

local KEYWORDS = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto",
                   "if", "in", "local", "nil", "not", "or", "repeat", "return", "then", "true",
                   "until", "while" }

-- What value.name may be, by name: the value's own fields, and those of the tables that __index leads to.
local function fields_of(value)
  local fields, seen = {}, {}
  repeat
    local own = type(value) == "table" and value or {}
    seen[own] = true
    for name, field in next, own do
      if fields[name] == nil then fields[name] = field end
    end
    local meta = debug.getmetatable(value)
    value = type(meta) == "table" and rawget(meta, "__index")
  until type(value) ~= "table" or seen[value]
  return fields
end

-- The value of "a.b.c"; nil if it cannot be known without running code.
local function evaluate(path)
  local value = _G
  for name in path:gmatch("[%w_]+") do value = fields_of(value)[name] end
  return value
end

-- Names that begin with stem, sorted, and the kind of each.
local function candidates(path, separator, stem)
  local fields = fields_of(evaluate(path))
  if separator == "" then
    for _, word in ipairs(KEYWORDS) do fields[word] = "keyword" end
  end
  return lists.map(lists.keys(fields), function(name)
    local fits = type(name) == "string" and name:match("^[%a_][%w_]*$") and name:sub(1, #stem) == stem
      and (stem ~= "" or name:sub(1, 1) ~= "_") and (separator ~= ":" or type(fields[name]) == "function")
    return fits and name or nil
  end), fields
end

local function common_start(list)
  local first, last = list[1], list[#list]
  local length = 0
  while length < #first and first:byte(length + 1) == last:byte(length + 1) do
    length = length + 1
  end
  return first:sub(1, length)
end

local function columns(list)
  local width = utf8text.widest(list) + 2
  local per_line, lines = math.max(1, 78 // width), {}
  for i = 1, #list, per_line do
    local line = ""
    for j = i, math.min(i + per_line - 1, #list) do line = line .. utf8text.left(list[j], width) end
    lines[#lines + 1] = utf8text.trim_end(line)
  end
  return table.concat(lines, "\n")
end

--- What to insert at the cursor, and what to list above the prompt if there are several ways to
--- go on.
---@param before string  the line up to the cursor
---@return string insert
---@return string? list
function complete.line(before)
  if before:match("^%s*$") then return "  " end
  local expression = before:sub(before:match "^.*[^%w_%.:]()" or 1)
  local path, separator, stem = expression:match "^(.*)([%.:])([%w_]*)$"
  if not path then path, separator, stem = "", "", expression end
  if before:sub(1, #before - #expression):match("[%)%]\"']$") then return "" end
  local list, values = candidates(path, separator, stem)
  if #list == 0 then return "" end
  local insert = common_start(list):sub(#stem + 1)
  if #list > 1 then return insert, insert == "" and columns(list) or nil end
  return insert .. (type(values[list[1]]) == "function" and "(" or "")
end

return complete
