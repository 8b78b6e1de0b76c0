-- SPDX-License-Identifier: MIT
--
-- Records as an aligned table: one unit a column, numbers right, words left, the device in the
-- title.
-- Depends on moonwarp.core, bench, schema, letters, nearest, record, session, sweep, units.

local bench = require "moonwarp.measure.bench"
local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"
local utf8text = require "moonwarp.base.utf8text"
local nearest = require "moonwarp.base.nearest"
local record = require "moonwarp.results.record"
local session = require "moonwarp.session"
local sweep = require "moonwarp.plot.sweep"
local units = require "moonwarp.base.units"

local tables = {}

local SPEC = { title = "string", records = "table", quiet = "boolean" }
local COLUMN = { title = "string", unit = "string", digits = "number" }

-- A column as { field, title, unit, digits }, from "T_tot" or { "T_tot", title = "rate" }.
local function column_of(given, number)
  if type(given) == "string" then given = { given } end
  if type(given) ~= "table" or type(given[1]) ~= "string" then
    failure.invalid("mw.table: column %d must be a field's name or { name, title =, unit =, digits = }, got %s",
      number, type(given))
  end
  local named = {}
  for key, value in pairs(given) do
    if key ~= 1 then named[key] = value end
  end
  schema.options("mw.table", named, COLUMN)
  return { field = given[1], title = given.title or given[1], unit = given.unit
    or units.of(given[1]),
           digits = given.digits }
end

-- A field that no record has is a mistyped one.
local function check_field(field, entries)
  local names = {}
  for _, entry in ipairs(entries) do
    if record.field(entry, field) ~= nil then return end
    for name in pairs(entry) do names[name] = true end
  end
  local list = {}
  for name in pairs(names) do list[#list + 1] = name end
  table.sort(list)
  local near = nearest.find(field, list)
  failure.invalid("mw.table: no record has a field '%s'; %s", field, near
    and ("did you mean '%s'?"):format(near) or "there are " .. table.concat(list, ", "))
end

local function magnitude(value)
  if bench.is_result(value) then return math.abs(value.median) end
  return type(value) == "number" and value == value and math.abs(value) or 0
end

-- The scale that suits the column's largest value, so that the others can be compared with it.
local function scale_of(column, entries)
  local largest, unit = 0, column.unit
  for _, entry in ipairs(entries) do
    local value = record.field(entry, column.field)
    largest = math.max(largest, magnitude(value))
    if bench.is_result(value) then unit = "s" end
  end
  return units.choose(unit, largest)
end

local function number_text(value, column)
  local shown = column.scale.factor == 1 and value or value / column.scale.factor
  return units.digits(shown, column.digits)
end

local function cell(value, column)
  if value == nil then return "-" end
  if bench.is_result(value) and value.n == 1 then -- one sample has no noise to tell
    return number_text(value.median, column) .. " (n = 1)"
  end
  if bench.is_result(value) then
    return ("%s ± %s %%"):format(number_text(value.median, column),
      units.digits(value.noise * 100.0, 2))
  end
  return type(value) == "number" and number_text(value, column) or tostring(value)
end

local function heading(column)
  return column.scale.name == "" and column.title or ("%s (%s)"):format(column.title,
    column.scale.name)
end

-- A column's heading, its cells as texts, and their numbers in the unit of the heading.
local function fill(column, entries)
  column.scale = scale_of(column, entries)
  column.heading, column.texts, column.numbers, column.left = heading(column), {}, {}, true
  for i, entry in ipairs(entries) do
    local value = record.field(entry, column.field)
    if value ~= nil and type(value) ~= "string" then column.left = false end
    column.texts[i] = cell(value, column)
    local number = bench.is_result(value) and value.median or value
    local finite = type(number) == "number" and number - number == 0
    column.numbers[i] = finite and number / column.scale.factor or false
  end
end

-- A column as the list of its lines, all of one width, with a rule under the heading.
local function column_lines(column)
  local texts = table.move(column.texts, 1, #column.texts, 2, { column.heading })
  local width, place = utf8text.widest(texts), column.left and utf8text.left or utf8text.right
  for i, text in ipairs(texts) do texts[i] = place(text, width) end
  table.insert(texts, 2, ("-"):rep(width))
  return texts
end

local function join_columns(columns, count)
  local lines = {}
  for row = 1, count do
    local parts = {}
    for i, lines_of in ipairs(columns) do parts[i] = lines_of[row] end
    lines[row] = (table.concat(parts, "  "):gsub("%s+$", ""))
  end
  return lines
end

local function spread_over_devices(entries)
  for _, entry in ipairs(entries) do
    if entry.device ~= entries[1].device then return true end
  end
  return false
end

-- "'naive' and 3 others: ", of the benchmarks that have names.
local function whose(note)
  if not note.name then return "" end
  local others = note.count - 1
  local more = others == 0 and "" or others == 1 and " and another" or (" and %d others"):format(others)
  return ("'%s'%s: "):format(note.name, more)
end

-- Causes and remedies of the benchmarks shown, each remedy once, with the first cause.
local function notes(entries)
  local list, by_remedy = {}, {}
  for _, entry in ipairs(entries) do
    for _, value in pairs(entry) do
      for _, warning in ipairs(bench.is_result(value) and value.warnings or {}) do
        local note = by_remedy[warning.remedy]
        if not note then
          note = { name = value.name, count = 0, text = ("%s; %s"):format(warning.cause, warning.remedy) }
          by_remedy[warning.remedy], list[#list + 1] = note, note
        end
        note.count = note.count + 1
      end
    end
  end
  for i, note in ipairs(list) do list[i] = ("note: %s%s"):format(whose(note), note.text) end
  return list
end

-- What is shown: title, columns with their cells, notes.
local function build(spec)
  local options = {}
  for key, value in pairs(spec) do
    if math.type(key) ~= "integer" then options[key] = value end
  end
  schema.options("mw.table", options, SPEC)
  local entries = spec.records or record.all()
  local columns = {}
  for i, given in ipairs(spec) do columns[i] = column_of(given, i) end
  if #entries == 0 then failure.invalid("mw.table: there are no records; mw.record makes them") end
  for _, column in ipairs(columns) do check_field(column.field, entries) end
  if spread_over_devices(entries) then table.insert(columns, 1, column_of("device", 0)) end
  for _, column in ipairs(columns) do fill(column, entries) end
  local pass = spec.records and #sweep.varying(entries) == 0 and sweep.pass() or nil
  local title = ("%s%s, measured on %s"):format(spec.title or "records", pass and ", " .. pass or "",
    record.devices(entries))
  return { title = title, columns = columns, count = #entries, notes = notes(entries) }
end

local function text_of(built)
  local lines = {}
  for i, column in ipairs(built.columns) do lines[i] = column_lines(column) end
  lines = join_columns(lines, built.count + 2)
  table.insert(lines, 1, built.title)
  return table.concat(table.move(built.notes, 1, #built.notes, #lines + 1, lines), "\n")
end

-- As the run's record keeps it.
local function kept(built)
  local columns = {}
  for i, column in ipairs(built.columns) do
    columns[i] = { heading = column.heading, texts = column.texts, numbers = column.numbers }
  end
  return { name = built.title, columns = columns, notes = built.notes }
end

--- The text of a table of records; see mw.table.
---@param spec table
---@return string
function tables.format(spec)
  return text_of(build(spec))
end

--- Prints records as an aligned table: { "threads", "T_tot", "t" }. A column is a field's name (a
--- path such as "t.median" reaches into a benchmark) or { name, title =, unit =, digits = }; units
--- as in mw.plot.
---@param spec table    columns, and title, records (all of the session if left out), quiet
---@return string text  what was printed (with --quiet or quiet = true it is not printed)
function tables.print(spec)
  if type(spec) ~= "table" then
    failure.invalid("mw.table: a table of columns is wanted, got " .. type(spec))
  end
  if #spec == 0 then failure.invalid("mw.table: at least one column is needed, got none") end
  local built = build(spec)
  local text = text_of(built)
  local waits = session.current.more and not spec.records -- a sweep's last run prints for all
  if waits then return text end
  session.current:mention("table", kept(built))
  if not spec.quiet and not session.current.options.quiet then print(text) end
  return text
end

return tables
