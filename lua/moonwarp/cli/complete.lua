-- SPDX-License-Identifier: MIT
--
-- Completion at the prompt: the name before the cursor, as in "mw.dev", "A:sh" or "whi". Tables are
-- only looked at; an __index that is a function is not called, so that completing never runs
-- anything.
-- Depends on utf8text.

local utf8text = require "moonwarp.base.utf8text"

local complete = {}

local KEYWORDS = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto",
                   "if", "in", "local", "nil", "not", "or", "repeat", "return", "then", "true",
                   "until", "while" }

local function index_of(value)
  local meta = debug.getmetatable(value)
  return type(meta) == "table" and rawget(meta, "__index") or nil
end

-- The tables that value.name looks through.
local function sources(value)
  local list, seen = {}, {}
  local current = value
  while current ~= nil and not seen[current] do
    seen[current] = true
    if type(current) == "table" then list[#list + 1] = current end
    current = index_of(current)
    if type(current) ~= "table" then break end
  end
  return list
end

local function field(value, name)
  for _, source in ipairs(sources(value)) do
    local found = rawget(source, name)
    if found ~= nil then return found end
  end
  return nil
end

-- What "a.b.c" is; nil where it cannot be told without running something.
local function evaluate(path)
  local value = _G
  for name in path:gmatch("[%w_]+") do
    value = field(value, name)
    if value == nil then return nil end
  end
  return value
end

local function add_names(into, source, stem, only_functions)
  for key, value in pairs(source) do
    if type(key) == "string" and key:match("^[%a_][%w_]*$") and key:sub(1, #stem) == stem
      and (not only_functions or type(value) == "function") then
      into[key] = value
    end
  end
end

-- Names that go on from stem, sorted; a function's own value is kept to know it by.
local function candidates(path, separator, stem)
  local names = {}
  if separator == "" then
    for _, word in ipairs(KEYWORDS) do
      if word:sub(1, #stem) == stem then names[word] = false end
    end
  end
  local value = evaluate(path)
  for _, source in ipairs(value ~= nil and sources(value) or {}) do
    add_names(names, source, stem, separator == ":")
  end
  local list = {}
  for name in pairs(names) do
    if stem ~= "" or name:sub(1, 1) ~= "_" then list[#list + 1] = name end
  end
  table.sort(list)
  return list, names
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
    lines[#lines + 1] = line:match("^(.-)%s*$")
  end
  return table.concat(lines, "\n")
end

--- What to insert at the cursor, and what to list above the prompt where there are several ways to
--- go on.
---@param before string  the line up to the cursor
---@return string insert
---@return string? list
function complete.line(before)
  if before:match("^%s*$") then return "  " end
  local expression = before:match("[%w_%.:]*$")
  local path, separator, stem = expression:match("^(.-)([%.:]?)([%w_]*)$")
  if before:sub(1, #before - #expression):match("[%)%]\"']$") then return "" end
  local list, values = candidates(path, separator, stem)
  if #list == 0 then return "" end
  local insert = common_start(list):sub(#stem + 1)
  if #list > 1 then return insert, insert == "" and columns(list) or nil end
  return insert .. (type(values[list[1]]) == "function" and "(" or "")
end

return complete
