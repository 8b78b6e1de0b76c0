-- SPDX-License-Identifier: MIT
--
-- Tables of a report. Those with the class "sortable" are sorted by script.js; the number of
-- a cell with a unit is in the attribute data-v, so that the script parses no units.

local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local units = require "moonwarp.base.units"

local tables = {}

--- A table that may be wider than the page: it scrolls by itself, by the keyboard too.
---@param label string      what it is, for who does not see it
---@param columns table[]   { heading =, number = (right aligned), unsorted = }
---@param rows table[]      lists of cells: a text, markup, false, or { text or markup, value = number }
---@return table markup
function tables.draw(label, columns, rows)
  local heads = lists.map(columns, function(column)
    return html.th { scope = "col", class = column.number and "n", data_plain = column.unsorted, column.heading }
  end)
  local body = lists.map(rows, function(row)
    return html.tr { lists.map(columns, function(column, c) return tables.cell(row[c], column) end) }
  end)
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

--- A table of entries, by columns that say what of an entry they show. A column that no entry fills is left
--- out.
---@param label string
---@param columns table[]  as of tables.draw, with cell(entry, ...)
---@param entries table[]
---@return table markup
function tables.of(label, columns, entries, ...)
  local filled, rows = {}, lists.map(entries, function() return {} end)
  for _, column in ipairs(columns) do
    local cells, any = {}, false
    for i, entry in ipairs(entries) do
      cells[i] = column.cell(entry, ...)
      any = any or cells[i]
    end
    if any then
      filled[#filled + 1] = column
      for i, cell in ipairs(cells) do rows[i][#filled] = cell end
    end
  end
  return tables.draw(label, filled, rows)
end

--- A cell with an amount: "4.21 TB/s", sorted by its number; false without a value.
---@param value any       a number, or a result, whose median counts
---@param unit string
---@param digits integer?
---@return table|false
function tables.amount(value, unit, digits)
  if type(value) == "table" then value = value.median end
  if type(value) ~= "number" or value - value ~= 0 then return false end
  return { units.format(value + 0.0, unit, digits), value = value }
end

--- A table that a study printed, from its record.
---@param record table   name, columns, notes
---@return table markup
function tables.recorded(record)
  local columns, rows = {}, {}
  for c, given in ipairs(record.columns) do
    local number = lists.find(given.numbers, function(value) return type(value) == "number" end)
    columns[c] = { heading = given.heading, number = number ~= nil } -- false: a column of texts
    for r, text in ipairs(given.texts) do
      rows[r] = rows[r] or {}
      rows[r][c] = { text, value = not tonumber(text) and tonumber(given.numbers[r]) or nil }
    end
  end
  local notes = lists.map(record.notes, function(note) return html.li { (note:gsub("^note: ", "")) } end)
  return html.div { class = "tabled", html.h4 { record.name }, tables.draw(record.name, columns, rows),
    #notes > 0 and html.ul { class = "notes", notes } }
end

return tables
