-- SPDX-License-Identifier: MIT
--
-- Tables of a report. Those with the class "sortable" are sorted by script.js; the number of
-- a cell that is not its text alone stands beside it (data-v), so that nobody parses units.
-- Depends on report.html.

local html = require "moonwarp.report.html"

local tables = {}

--- A table that may be wider than the page: it scrolls by itself, by the keyboard too.
---@param label string      what it is, for who does not see it
---@param columns table[]   { heading =, number = (right aligned), unsorted = }
---@param rows table[]      lists of cells: a text, markup, false, or { text or markup, value = number }
---@return table markup
function tables.draw(label, columns, rows)
  local heads, body = {}, {}
  for i, column in ipairs(columns) do
    heads[i] = html.th { scope = "col", class = column.number and "n", data_plain = column.unsorted,
      column.heading }
  end
  for i, row in ipairs(rows) do
    local cells = {}
    for c, column in ipairs(columns) do cells[c] = tables.cell(row[c], column) end
    body[i] = html.tr { cells }
  end
  return html.div { class = "scroll", tabindex = "0", role = "region", aria_label = label,
    html.table { class = "sortable", html.thead { html.tr { heads } }, html.tbody { body } } }
end

--- One cell.
---@param cell any
---@param column table
---@return table markup
function tables.cell(cell, column)
  local value = type(cell) == "table" and not html.is_markup(cell) and cell.value
  local shown = type(cell) == "table" and not html.is_markup(cell) and cell[1] or cell
  if value and tonumber(shown) == value then value = nil end
  return html.td { class = column.number and "n", data_v = value and ("%.6g"):format(value), shown or false }
end

local function is_finite(value)
  return type(value) == "number" and value - value == 0
end

-- The columns that hold numbers are aligned as such.
local function shape_of(given)
  local numbers = type(given.numbers) == "table" and given.numbers or {}
  for _, value in pairs(numbers) do
    if is_finite(value) then return { heading = tostring(given.heading or ""), number = true } end
  end
  return { heading = tostring(given.heading or "") }
end

local function texts_of(given)
  return type(given.texts) == "table" and given.texts or {}
end

local function cell_of(given, row)
  local number = type(given.numbers) == "table" and given.numbers[row]
  local text = tostring(texts_of(given)[row] or "")
  return { text, value = is_finite(number) and not tonumber(text) and number or nil }
end

--- A table that a study printed, from its record.
---@param record table   name, columns, notes
---@return table markup
function tables.recorded(record)
  local columns, rows, given = {}, {}, {}
  for _, column in ipairs(type(record.columns) == "table" and record.columns or {}) do
    if type(column) == "table" then given[#given + 1] = column end
  end
  for c, column in ipairs(given) do
    columns[c] = shape_of(column)
    for r = 1, #texts_of(column) do
      rows[r] = rows[r] or {}
      rows[r][c] = cell_of(column, r)
    end
  end
  local name, notes = tostring(record.name or "table"), {}
  for i, note in ipairs(type(record.notes) == "table" and record.notes or {}) do
    notes[i] = html.li { (tostring(note):gsub("^note: ", "")) }
  end
  return html.div { class = "tabled", html.h4 { name }, tables.draw(name, columns, rows),
    #notes > 0 and html.ul { class = "notes", notes } }
end

return tables
