-- SPDX-License-Identifier: MIT
--
-- Records as an aligned table: one unit a column, numbers right, words left, the device in the
-- title.

local bench = require "moonwarp.measure.bench"
local failure = require "moonwarp.base.failure"
local figure = require "moonwarp.plot.figure"
local lists = require "moonwarp.base.lists"
local fields = require "moonwarp.results.fields"
local quantity = require "moonwarp.measure.quantity"
local record = require "moonwarp.results.record"
local schema = require "moonwarp.base.schema"
local sheet = require "moonwarp.base.sheet"
local sweep = require "moonwarp.plot.sweep"
local terminal = require "moonwarp.plot.chart"
local units = require "moonwarp.base.units"

local tables = {}

-- Options next to a list, whose elements are looked at one by one.
local function beside(rules)
  return setmetatable(rules, { __index = function(_, key) return math.type(key) and "any" or nil end })
end

local SPEC = beside { title = "string", records = fields.RECORDS, quiet = "boolean" }
local COLUMN = beside { title = "string", unit = "string", digits = "number" }

-- A column as { field, title, unit, digits }, from "T_tot" or { "T_tot", title = "rate" }.
local function column_of(given, number)
  if type(given) == "string" then given = { given } end
  if type(given) ~= "table" or type(given[1]) ~= "string" then
    failure.invalid("mw.table: column %d must be a field's name or { name, title =, unit =, digits = }, got %s",
      number, type(given))
  end
  schema.options("mw.table", given, COLUMN)
  return { field = given[1], title = given.title or given[1], unit = given.unit,
           digits = given.digits }
end

-- The number by which values are compared: of a benchmark its median, of a quantity its value.
local function number_of(given)
  local value = quantity.read(given)
  return value and value - value == 0 and value or nil
end

-- The scale that suits the column's largest value, so that the others can be compared with it.
local function scale_of(column, entries)
  local largest = 0
  for _, entry in ipairs(entries) do
    largest = math.max(largest, math.abs(number_of(fields.value(entry, column.field)) or 0))
  end
  return units.choose(fields.shown_unit("mw.table", column.unit, entries, column.field), largest)
end

local function cell(value, column, factor)
  if value == nil then return "-" end
  local number, low, high = quantity.read(value)
  if not number then return fields.text(value) end
  if number ~= number and type(value) == "table" then return tostring(value) end -- not timed
  local function show(one) return units.digits(factor == 1 and one or one / factor, column.digits) end
  local text = show(number)
  if bench.is_result(value) and value.n == 1 then return text .. " (n = 1)" end -- one sample has no interval
  return text .. quantity.suffix(number, low, high, show)
end

-- A column with its cells, the values in the unit of the heading. Words are at the left.
local function filled(column, entries)
  local scale, is_words = scale_of(column, entries), true
  for _, entry in ipairs(entries) do
    local value = fields.value(entry, column.field)
    if value ~= nil and type(value) ~= "string" then is_words = false end
  end
  return { field = column.field, heading = units.label(column.title, scale), number = not is_words,
           cell = function(entry)
    local value = fields.value(entry, column.field)
    local number = number_of(value)
    return { cell(value, column, scale.factor), value = number and number / scale.factor }
  end }
end

local NAMING <const> = { string = "words", integer = "numbers", ["nil"] = "nil" }

-- The kind of a column whose cells, as shown, distinguish rows: "words" or whole "numbers" that differ; else nil. Some
-- cells may be empty.
local function naming_kind(made, c, entries)
  local found, differs
  for i, entry in ipairs(entries) do
    local value = fields.value(entry, made.columns[c].field)
    local kind = NAMING[math.type(value) or type(value)]
    if kind ~= "nil" then
      if not kind or found and kind ~= found then return nil end
      found = kind
    end
    differs = differs or made.rows[i][c][1] ~= made.rows[1][c][1]
  end
  return differs and found
end

-- The name of a row: "naive, threads 32", of as many columns as are needed to tell rows apart, those of texts first;
-- else its number.
local function row_names(made, entries)
  local naming = { words = {}, numbers = {} }
  for c, column in ipairs(made.columns) do
    local kind = column.field and naming_kind(made, c, entries)
    if kind then table.insert(naming[kind], { c, column.field, kind == "words" and "" or column.heading .. " " }) end
  end
  local names = lists.map(entries, function() return "" end)
  for _, one in ipairs(lists.append(naming.words, naming.numbers)) do
    if #lists.unique(names) == #names then break end
    for i, row in ipairs(made.rows) do
      local part = fields.value(entries[i], one[2]) ~= nil and one[3] .. row[one[1]][1] or ""
      names[i] = names[i] .. (names[i] ~= "" and part ~= "" and ", " or "") .. part
    end
  end
  return lists.map(names, function(name, i) return name ~= "" and name or ("row %d"):format(i) end)
end

-- "threads 32 and 3 others: "; nothing in a table of one row.
local function whose(note, names)
  if #names == 1 then return "" end
  local others = #note.rows - 1
  local more = others == 0 and "" or others == 1 and " and another" or (" and %d others"):format(others)
  return ("%s%s: "):format(names[note.worst], more)
end

-- Causes and remedies of the benchmarks shown, each remedy once, with the cause and the row of the noisiest.
local function notes(entries, names)
  local list, by_remedy = {}, {}
  for row, entry in ipairs(entries) do
    for _, key in ipairs(lists.keys(entry)) do
      local value = entry[key]
      for _, warning in ipairs(bench.is_result(value) and value.warnings or {}) do
        local note = lists.entry(list, by_remedy, warning.remedy, { rows = {}, noise = -1 })
        if not note.text or value.noise > note.noise then
          note.noise, note.worst, note.text = value.noise, row, ("%s; %s"):format(warning.cause, warning.remedy)
        end
        if note.rows[#note.rows] ~= row then table.insert(note.rows, row) end
      end
    end
  end
  return lists.map(list, function(note) return ("note: %s%s"):format(whose(note, names), note.text) end)
end

local function field_of(column) return column.field end

-- The records that have one of the measurements asked for, where there are any, or failed.
local function measured(session, columns, entries)
  local asked = lists.map(columns, function(column)
    return lists.find(entries, function(entry)
      local value = fields.value(entry, column.field)
      return math.type(value) == "float" or type(value) == "table" and quantity.read(value) ~= nil
    end) and column or nil
  end)
  return #asked == 0 and entries or lists.map(entries, function(entry)
    local has = lists.find(asked, function(column) return fields.value(entry, column.field) ~= nil end)
    return (has or session.failures[entry]) and entry or nil
  end)
end

-- The columns that are asked for, after those that distinguish the rows: the devices, and what a sweep varies; and the
-- records to show.
local function columns_of(session, spec, entries)
  local columns = lists.map(spec, column_of)
  fields.check("mw.table", lists.map(columns, field_of), entries)
  local varying = figure.varying(entries, lists.map(columns, field_of))
  local is_other = function(entry) return entry.device ~= entries[1].device end
  if lists.find(entries, is_other) then table.insert(varying, 1, "device") end
  return lists.append(lists.map(varying, column_of), columns), measured(session, columns, entries)
end

-- The table as a value, with a name and notes.
local function build(session, spec)
  schema.options("mw.table", spec, SPEC)
  local entries = spec.records or session.records
  local columns
  columns, entries = columns_of(session, spec, entries)
  local pass = spec.records and #sweep.varying(entries) == 0 and session:pass_words() or nil
  local title = ("%s%s, measured on %s"):format(spec.title or "records", pass and ", " .. pass or "",
    record.devices(entries))
  columns = lists.map(columns, function(column) return filled(column, entries) end)
  table.insert(columns, { heading = "failed", cell = function(entry) return session.failures[entry] end }) -- passes
  local made = sheet.of(columns, entries)
  made.name, made.notes = title, notes(entries, row_names(made, entries))
  return made
end

-- Its title, its lines with a rule under the headings, in ASCII if the locale is, and its notes.
local function text_of(made)
  local _, unicode = terminal.size()
  local lines = lists.append({ made.name }, sheet.lines(made, { rule = true, ascii = not unicode }))
  return table.concat(lists.append(lines, made.notes), "\n")
end

-- As record.json has it: by columns.
local function stored(made)
  return { name = made.name, notes = made.notes, columns = lists.map(made.columns, function(column, c)
    local cells = lists.map(made.rows, function(row) return { row[c] } end)
    return { heading = column.heading, texts = lists.map(cells, function(one) return sheet.text(one[1]) end),
             numbers = lists.map(cells, function(one) return type(one[1]) == "table" and one[1].value or false end) }
  end) }
end

--- The text of a table, which is neither printed nor kept.
---@param session table
---@param spec table  as of tables.print
---@return string
function tables.text(session, spec)
  return text_of(build(session, spec))
end

--- Prints records as an aligned table: { "threads", "T_tot", "t" }. A column is a field's name (a
--- path such as "t.median" reaches into a benchmark) or { name, title =, unit =, digits = }; the
--- units are the records'. In a sweep each parameter that is swept is a column.
---@param session table
---@param spec table    columns, and title, records (all of the session if left out), quiet
---@return string text  what was printed (with --quiet or quiet = true it is not printed)
function tables.print(session, spec)
  if type(spec) ~= "table" then
    failure.invalid("mw.table: a table of columns is wanted, got " .. type(spec))
  end
  if #spec == 0 then failure.invalid("mw.table: at least one column is needed, got none") end
  local made = build(session, spec)
  local text = text_of(made)
  local waits = session.more and not spec.records -- a sweep's last run prints for all
  if waits then
    session:leave_to_last("table", spec)
    return text
  end
  session:mention("table", stored(made))
  figure.say(session, spec, text, text)
  return text
end

return tables
