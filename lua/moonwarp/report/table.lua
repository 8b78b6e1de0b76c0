-- SPDX-License-Identifier: MIT
--
-- Tables of a report. Those with the class "sortable" are sorted by script.js; the number of
-- a cell with a unit is in the attribute data-v, so that the script parses no units.

local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local units = require "moonwarp.base.units"

local tables = {}

-- One cell. A value that differs from the shown text is in an attribute; so is a word of the column, for screens that
-- are too narrow for columns.
local function cell_of(cell, column)
  local value, shown = nil, cell
  if type(cell) == "table" and not html.is_markup(cell) then value, shown = cell.value, cell[1] end
  if value and tonumber(shown) == value then value = nil end
  return html.td { class = column.number and "n", data_v = value and ("%.6g"):format(value),
    data_of = cell and column.short, shown }
end

--- A table that may be wider than the page: it scrolls by itself, by the keyboard too.
---@param label string    what it is, for who does not see it
---@param made table      of base/sheet.lua; cells may be markup, or { text or markup, value = number }; a column may be
---                       unsorted, and a row have a class and an id
---@param class string?   of one that is not sorted
---@return table markup
function tables.draw(label, made, class)
  local heads = lists.map(made.columns, function(column)
    return html.th { scope = "col", class = column.number and "n", data_plain = column.unsorted, column.heading }
  end)
  local body = lists.map(made.rows, function(row)
    return html.tr { class = row.class, id = row.id,
      lists.map(made.columns, function(column, c) return cell_of(row[c], column) end) }
  end)
  return html.div { class = "scroll" .. (class and " " .. class or ""), tabindex = "0", role = "region",
    aria_label = label, html.table { class = not class and "sortable", html.thead { html.tr { heads } },
    html.tbody { body } } }
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
  local made = { columns = {}, rows = {} }
  for c, given in ipairs(record.columns) do
    local number = lists.find(given.numbers, function(value) return type(value) == "number" end)
    made.columns[c] = { heading = given.heading, number = number ~= nil } -- false: a column of texts
    for r, text in ipairs(given.texts) do
      made.rows[r] = made.rows[r] or {}
      made.rows[r][c] = { text, value = not tonumber(text) and tonumber(given.numbers[r]) or nil }
    end
  end
  local notes = lists.map(record.notes, function(note) return html.li { (note:gsub("^note: ", "")) } end)
  return html.div { class = "tabled", html.h4 { record.name }, tables.draw(record.name, made),
    #notes > 0 and html.ul { class = "notes", notes } }
end

return tables
