-- SPDX-License-Identifier: MIT
--
-- Text by letters and not by bytes: widths, columns, and bytes that are no UTF-8. A letter is taken
-- to be one column wide.

local utf8text = {}

-- ---- in a time that grows as the text does --------------------------------------------------------

-- "%s+$", "^(.-)%s*$", "([^\n]*)\n" and "%[%[(.-)%]%]" look at a run of blanks, at a last line or at what is not closed
-- once for each place in it: minutes for 64 KiB of somebody's text. What reads such text calls these instead.

--- A text without the blanks at its end.
---@param text string
---@return string
function utf8text.trim_end(text)
  return text:match "^.*%S" or ""
end

--- A text without the blanks at both ends.
---@param text string
---@return string
function utf8text.trim(text)
  return utf8text.trim_end(text:match "^%s*(.*)$")
end

--- The lines of a text that end, one after the other: not what follows the last line feed.
---@param text string
---@return fun(): string?
function utf8text.lines(text)
  local last = 0
  return function()
    local first = last + 1
    last = text:find("\n", first, true)
    return last and text:sub(first, last - 1)
  end
end

--- The parts of a text from an opening mark to the next closing one.
---@param text string
---@param opening string
---@param closing string
---@return fun(): integer?, string?, integer?  the first byte of the opening mark, what is inside, the last of the
---                                            closing one
function utf8text.spans(text, opening, closing)
  local last = 0
  return function()
    local first, from = text:find(opening, last + 1, true)
    local to, ends = text:find(closing, (from or #text) + 1, true)
    last = ends or #text
    if to then return first, text:sub(from + 1, to - 1), ends end
  end
end

-- ---- columns --------------------------------------------------------------------------------------

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

-- What a terminal obeys, or what changes the order of the letters around it: control characters but line feed and tab
-- (C0 and C1), separators of lines and paragraphs, marks of direction; and U+FFFE and U+FFFF, which XML has not.
local UNSAFE <const> = { "[%z\1-\8\11-\31\127]", "\xc2[\x80-\x9f]", "\xe2\x80[\xa8-\xae]", "\xe2\x81[\xa6-\xa9]",
                         "\xef\xbf[\xbe\xbf]" }

--- The text of others (a lab, a node, a file) as a terminal, JSON and XML show it and nothing obeys it: UTF-8 without
--- control characters but line feed and tab. Other bytes become "?".
---@param bytes string
---@return string
function utf8text.clean(bytes)
  if not bytes:find "[^ -~\n\t]" then return bytes end -- as almost always, and six times as fast
  local text = utf8text.valid(bytes, "?"):gsub("\r\n", "\n")
  for _, pattern in ipairs(UNSAFE) do text = text:gsub(pattern, "?") end
  return text
end

--- The same in one line.
---@param bytes string
---@return string
function utf8text.line(bytes)
  return (utf8text.clean(bytes):gsub("%f[%s] *[\n\t]%s*", " "))
end

--- A copy of what others wrote in which each text is of one line: names that are printed make no lines of their own.
---@param value any
---@param blocks table<string, boolean>?  keys of texts that may have several
---@param key any                          of the value itself
---@return any
function utf8text.in_lines(value, blocks, key)
  if type(value) == "string" and not (blocks and blocks[key]) then return utf8text.line(value) end
  if type(value) ~= "table" then return value end
  local made = {}
  for name, inner in pairs(value) do made[utf8text.in_lines(name)] = utf8text.in_lines(inner, blocks, name) end
  return made
end

return utf8text
