-- SPDX-License-Identifier: MIT
--
-- A table as one value, and its printers: lines for a terminal, Markdown and CSV. report/table.lua prints it as HTML.
--
--   { columns = { { heading =, unit =, number =, width =, gap = }, ... }, rows = { { cell, ... }, ... } }
--
--   heading   text; where no column has one there is no line of headings
--   unit      the base unit of the column's values
--   number    true: at the right of its column
--   width     in a terminal: its letters, whatever its cells have; else those of the widest
--   gap       in a terminal: the text before it, if not two blanks
--
-- A cell is false (nothing), a text, a number, or { text, value = } where programs read another value than people.

local lists = require "moonwarp.base.lists"
local utf8text = require "moonwarp.base.utf8text"

local sheet = {}

--- The table of some entries. A column that no entry fills is left out.
---@param columns table[]   with cell: a field of the entries, or a function(entry, ...); nil, false and "" are nothing
---@param entries any[]
---@return table made
function sheet.of(columns, entries, ...)
  local made = { columns = {}, rows = lists.map(entries, function() return {} end) }
  for _, column in ipairs(columns) do
    local cells, is_filled, of = {}, false, column.cell
    for i, entry in ipairs(entries) do
      local cell
      if type(of) == "function" then cell = of(entry, ...) else cell = entry[of] end
      cells[i] = cell ~= "" and cell or false
      is_filled = is_filled or cells[i] ~= false
    end
    if is_filled then
      table.insert(made.columns, column)
      for i, cell in ipairs(cells) do made.rows[i][#made.columns] = cell end
    end
  end
  return made
end

local function plain(value)
  return math.type(value) == "float" and ("%.10g"):format(value) or tostring(value)
end

--- What a cell shows.
---@param cell any
---@return string
function sheet.text(cell)
  return cell and plain(type(cell) == "table" and cell[1] or cell) or ""
end

-- ---- a terminal ---------------------------------------------------------------------------------

-- A column's texts, its heading first where the table has headings.
local function texts_of(made, c, has_headings, style)
  local texts = lists.map(made.rows, function(row) return sheet.text(row[c]) end)
  if has_headings then table.insert(texts, 1, made.columns[c].heading or "") end
  return style.ascii and lists.map(texts, utf8text.ascii) or texts
end

--- Lines for a terminal, without blanks at their ends.
---@param made table
---@param style table?  rule (true: a line under the headings), indent (the text before the first column), room (letters
---                     of a line: columns that do not fit are left out), ascii (true: ASCII for our signs)
---@return string[]
function sheet.lines(made, style)
  style = style or {}
  local has_headings = lists.find(made.columns, function(column) return column.heading end) ~= nil
  local lines, used = {}, 0
  for c, column in ipairs(made.columns) do
    local texts, gap = texts_of(made, c, has_headings, style), c == 1 and (style.indent or "") or column.gap or "  "
    local width = column.width or utf8text.widest(texts)
    used = used + #gap + width
    if c > 1 and used > (style.room or math.huge) then break end
    if style.rule then table.insert(texts, 2, ("-"):rep(width)) end
    local place = column.number and utf8text.right or utf8text.left
    for i, text in ipairs(texts) do lines[i] = (lines[i] or "") .. gap .. place(text, width) end
  end
  return lists.map(lines, utf8text.trim_end)
end

--- Prints a table.
---@param columns table[]  of sheet.of
---@param entries any[]
---@param style table?     of sheet.lines
function sheet.print(columns, entries, style)
  for _, line in ipairs(sheet.lines(sheet.of(columns, entries), style)) do print(line) end
end

-- ---- files --------------------------------------------------------------------------------------

--- The line of headings and those of rows.
---@param made table
---@param write fun(cell: any): string
---@param separator string
---@return string[]
function sheet.join(made, write, separator)
  local function line(cells)
    return table.concat(lists.map(made.columns, function(_, c) return write(cells[c]) end), separator)
  end
  local headings = lists.map(made.columns, function(column) return column.heading end)
  return lists.append({ line(headings) }, lists.map(made.rows, line))
end

--- The value of a cell for programs.
---@param cell any
---@return string? text   "%.10g" of a float; nil: nothing
---@return boolean is_text
function sheet.value(cell)
  local value = cell or nil
  if type(cell) == "table" then value = cell.value end
  if type(cell) == "table" and value == nil then value = cell[1] end
  return value ~= nil and plain(value) or nil, type(value) == "string"
end

local function csv_cell(cell)
  local text = sheet.value(cell) or ""
  return text:find('[",\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

--- Comma-separated values (RFC 4180) with a heading.
---@param made table
---@return string
function sheet.csv(made)
  return table.concat(sheet.join(made, csv_cell, ","), "\r\n") .. "\r\n"
end

local function md_cell(cell)
  return (sheet.text(cell):gsub("|", "\\|"):gsub("%c+", " "))
end

--- A Markdown table.
---@param made table
---@return string
function sheet.md(made)
  local lines = lists.map(sheet.join(made, md_cell, " | "), function(line) return ("| %s |"):format(line) end)
  local rule = lists.map(made.columns, function(column) return column.number and "---:" or "---" end)
  table.insert(lines, 2, ("|%s|"):format(table.concat(rule, "|")))
  return table.concat(lines, "\n") .. "\n"
end

return sheet
