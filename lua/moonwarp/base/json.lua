-- SPDX-License-Identifier: MIT
--
-- Writes JSON (RFC 8259) with keys in a stable order; what JSON has no number for (NaN, infinity)
-- becomes null. Reads it with integers and nil in their places. What is read may be anybody's: numbers are finite, and
-- texts have no control characters but line feed and tab (utf8text.clean), and json.MOST_TEXT bytes at most.

local lists = require "moonwarp.base.lists"
local utf8text = require "moonwarp.base.utf8text"

local json = {}

--- The metatable of a table that is a list even if it is empty.
json.list = {}

--- The same table, written as a list even if it is empty.
---@param values table
---@return table
function json.as_list(values) return setmetatable(values, json.list) end

--- The most bytes of one text that are read.
json.MOST_TEXT = 64 << 10

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n",
                  ["\r"] = "\\r", ["\t"] = "\\t", ["\127"] = "\\u007f" }
for byte = 0, 31 do ESCAPES[string.char(byte)] = ESCAPES[string.char(byte)] or ("\\u%04x"):format(byte) end

local most, is_cut -- bytes of a text that is written; whether one had more

local function cut(text)
  local mark = ("... (cut: %d bytes)"):format(#text)
  is_cut = true
  return text:sub(1, utf8.offset(text, 0, most - #mark + 1) - 1) .. mark
end

-- JSON has no other text than UTF-8.
local function quote(text)
  if not utf8.len(text) then text = utf8text.valid(text) end
  if #text > most then text = cut(text) end
  return '"' .. (text:find '[%c"\\]' and text:gsub('[%c"\\]', ESCAPES) or text) .. '"'
end

local function number(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if value ~= value or value == math.huge or value == -math.huge then return "null" end
  local short = ("%.15g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

local encode

local function list(values)
  local parts = {}
  for i, value in ipairs(values) do parts[i] = encode(value) end
  return "[" .. table.concat(parts, ",") .. "]"
end

-- Keys named in `first` lead in that order, the others follow by name.
local function ordered_keys(object, first)
  local leading = lists.filter(first or {}, function(key) return object[key] ~= nil end)
  return lists.unique(lists.append(leading, lists.keys(object)))
end

local function object(values, first)
  local parts = {}
  for i, key in ipairs(ordered_keys(values, first)) do
    parts[i] = quote(tostring(key)) .. ":" .. encode(values[key])
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- One value as JSON text. A table with a first element, or with json.list for a metatable, is an
--- array, any other an object; what has no JSON form (a function, a handle) is written as its
--- tostring.
---@param value any
---@param first string[]?  keys that lead, in this order (of the outermost object)
---@return string
function json.encode(value, first)
  most = math.huge
  return encode(value, first)
end

function encode(value, first)
  local kind = type(value)
  if kind == "nil" then return "null" end
  if kind == "number" then return number(value) end
  if kind == "boolean" then return tostring(value) end
  if kind ~= "table" then return quote(tostring(value)) end
  if rawget(value, 1) ~= nil or getmetatable(value) == json.list then return list(value) end
  return object(value, first)
end

--- The same as it can be read again: texts that are too long are cut, and say so at their ends.
---@param value any
---@param first string[]?
---@return string
---@return boolean is_cut
function json.stored(value, first)
  most, is_cut = json.MOST_TEXT, false
  return encode(value, first), is_cut
end

-- ---- reading ------------------------------------------------------------------------------------

local DEPTH <const> = 100 -- of tables in tables

-- Keeps to the RFC, which has no NaN, no Infinity and no hexadecimal numbers.
local function new_reader()
  local cjson = require("cjson").new()
  cjson.decode_invalid_numbers(false)
  cjson.decode_max_depth(DEPTH)
  return cjson
end

local reader

local LONG <const> = "a text has more than 64 KiB, the most that is read of one"

-- What cjson gives is floats and its own null.
local function lua_value(value, absent)
  if value == reader.null then return absent end
  if type(value) == "string" then return #value <= json.MOST_TEXT and utf8text.clean(value) or error(LONG, 0) end
  if math.type(value) == "float" then
    if value - value ~= 0 then error("a number is too large", 0) end
    return math.tointeger(value) or value
  end
  if type(value) ~= "table" then return value end
  if #value > 0 then absent = false else absent = nil end
  local read = {}
  for key, inner in pairs(value) do
    read[lua_value(key)] = lua_value(inner, absent)
  end
  return read
end

--- The value of a JSON text. Whole numbers are integers; null is nil, and false in a list, whose
--- other values then keep their places.
---@param text string
---@return any value      nil if the text is not JSON
---@return string? reason
function json.decode(text)
  reader = reader or new_reader()
  local ok, value = pcall(reader.decode, text)
  if ok then ok, value = pcall(lua_value, value) end
  if not ok then return nil, value end
  return value
end

--- The objects of a text with one on each line. What a process was killed over, half of a line, is
--- left out.
---@param text string
---@return table[]
function json.lines(text)
  local objects = {}
  for line in utf8text.lines(text) do
    local value = json.decode(line)
    if type(value) == "table" then objects[#objects + 1] = value end
  end
  return objects
end

return json
