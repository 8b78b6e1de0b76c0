-- SPDX-License-Identifier: MIT
--
-- Text by letters and not by bytes: widths, columns, and bytes that are no UTF-8. A letter is taken
-- to be one column wide.

local utf8text = {}

--- The number of characters of a text; its number of bytes if it is not UTF-8.
---@param text string
---@return integer
function utf8text.count(text)
  return utf8.len(text) or #text
end

--- The most letters of any of some texts.
---@param texts string[]
---@param least integer?  what it is at least; else 0
---@return integer
function utf8text.widest(texts, least)
  local width = least or 0
  for _, text in ipairs(texts) do width = math.max(width, utf8text.count(text)) end
  return width
end

local function space(text, width)
  return (" "):rep(width - utf8text.count(text))
end

--- A text at the left of a column.
---@param text string
---@param width integer  letters; a longer text stays as it is
---@return string
function utf8text.left(text, width)
  return text .. space(text, width)
end

--- A text at the right of a column.
---@param text string
---@param width integer
---@return string
function utf8text.right(text, width)
  return space(text, width) .. text
end

--- Columns of texts beside each other, two spaces apart.
---@param columns string[][]  of the same number of texts each
---@param places function[]   of each column, utf8text.left or utf8text.right
---@return string[] lines     without spaces at their ends
function utf8text.beside(columns, places)
  local lines = {}
  for c, texts in ipairs(columns) do
    local width = utf8text.widest(texts)
    for i, text in ipairs(texts) do lines[i] = (c > 1 and lines[i] .. "  " or "") .. places[c](text, width) end
  end
  for i, line in ipairs(lines) do lines[i] = line:gsub("%s+$", "") end
  return lines
end

--- A text that fits a column: a longer one ends with a mark.
---@param text string
---@param width integer
---@param mark string    one letter
---@return string
function utf8text.cut(text, width, mark)
  if utf8text.count(text) <= width then return text end
  local at = utf8.len(text) and utf8.offset(text, width) or width
  return text:sub(1, at - 1) .. mark
end

--- A text that fits a column and keeps both of its ends: of a longer one the middle is left out.
---@param text string
---@param width integer
---@param mark string    instead of the middle: "…"
---@return string
function utf8text.shorten(text, width, mark)
  local count, kept = utf8text.count(text), width - utf8text.count(mark)
  if count <= width then return text end
  local head, tail = (kept + 1) // 2, kept // 2
  if not utf8.len(text) then return text:sub(1, head) .. mark .. text:sub(#text - tail + 1) end
  return text:sub(1, utf8.offset(text, head + 1) - 1) .. mark .. text:sub(utf8.offset(text, count - tail + 1))
end

local ASCII <const> = { ["±"] = "+-", ["µ"] = "u", ["×"] = "x", ["…"] = "..", ["·"] = "*", ["−"] = "-", ["’"] = "'" }

--- A text of ours for a terminal without Unicode: signs as ASCII has them; other letters stay.
---@param text string
---@return string
function utf8text.ascii(text)
  return (text:gsub("[\xc2-\xf4][\x80-\xbf]+", ASCII))
end

--- Text that is UTF-8 throughout.
---@param bytes string
---@param instead string?  for each invalid byte; defaults to U+FFFD, the replacement character
---@return string
function utf8text.valid(bytes, instead)
  local parts, from = {}, 1
  while true do
    local length, wrong = utf8.len(bytes, from)
    if length then break end
    parts[#parts + 1] = bytes:sub(from, wrong - 1) .. (instead or "\u{FFFD}")
    from = wrong + 1
  end
  return table.concat(parts) .. bytes:sub(from)
end

--- UTF-8 without control characters but line feed, carriage return and tab, as a terminal, JSON and
--- XML accept it; other bytes become "?".
---@param bytes string
---@return string
function utf8text.clean(bytes)
  -- U+FFFE and U+FFFF are no characters of XML.
  return (utf8text.valid(bytes, "?"):gsub("[%z\1-\8\11\12\14-\31\127]", "?"):gsub("\239\191[\190\191]", "?"))
end

return utf8text
