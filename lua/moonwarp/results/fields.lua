-- SPDX-License-Identifier: MIT
--
-- The fields of a record, of this session or as stored: their values by path, their units, and whether a name is one.
-- A parameter is a field, unless the record has its own of that name.

local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local quantity = require "moonwarp.measure.quantity"
local schema = require "moonwarp.base.schema"
local units = require "moonwarp.base.units"

local fields = {}

--- The form of records that a script gives: what is not its own to choose.
fields.RECORDS = schema.list(schema.fields { params = schema.optional(schema.map "any"), device = "string?",
                                             device_name = "string?" })

--- Whether a stored value is a result of mw.bench.
---@param value any
---@return boolean
function fields.is_result(value)
  return type(value) == "table" and type(value.median) == "number" and type(value.samples) == "table"
    and type(value.samples[1]) == "number"
end

local RATES <const> = { throughput = true, rate = true }

-- A benchmark keeps its rates as numbers: work per median. They have its interval.
local function field_of(value, key)
  local rate = value[key]
  if not (RATES[key] and type(rate) == "number" and fields.is_result(value)) then return rate end
  return rate * value.median / quantity.new(quantity.read(value))
end

-- A number in a path is a place in a list, as in "block.1". Also says whether the path leads through a result.
local function at_path(value, path)
  local is_within = false
  for key in (path .. "."):gmatch "([^.]*)%." do
    if type(value) ~= "table" then return nil, is_within end
    local inner = field_of(value, key)
    if inner == nil then inner = value[math.tointeger(key)] end
    value, is_within = inner, is_within or fields.is_result(inner)
  end
  return value, is_within
end

local function parameter(value)
  return type(value) == "table" and table.concat(lists.map(value, tostring), ",") or value
end

--- A field of a record by its path, as in "t.median"; else the parameter of that name, of several values the list as
--- a text; else nil.
---@param record table
---@param field string
---@return any
function fields.value(record, field)
  local value = record[field]
  if value == nil then value = (at_path(record, field)) end
  if value ~= nil or type(record.params) ~= "table" then return value end
  return parameter(record.params[field])
end

local ENDS = { value = true, low = true, high = true } -- of a quantity

--- A value as a text: the name of a bar or a series, a cell of a table. A list is written as the sizes of a block are,
--- "32 x 8", and names with their values as "x = 32, y = 8".
---@param value any
---@return string
function fields.text(value)
  if type(value) ~= "table" then return (tostring(value):gsub("%c+", " ")) end
  if value[1] ~= nil then return table.concat(lists.map(value, fields.text), " x ") end
  return table.concat(lists.map(lists.keys(value), function(key)
    return ("%s = %s"):format(key, fields.text(value[key]))
  end), ", ")
end

-- ---- units ---------------------------------------------------------------------------------------

--- The base unit of a record's field: as the record's `units` give it, else of a benchmark and its fields the known
--- one, else by the last name of the path.
---@param record table
---@param field string  a path
---@return string unit  "s", "B/s", ... or ""
function fields.unit(record, field)
  local given = type(record.units) == "table" and record.units[field]
  if type(given) == "string" then return given end
  if fields.is_result(fields.value(record, field)) then return "s" end
  local path, name = field:match "^(.+)%.([^.]+)$"
  if path and select(2, at_path(record, path)) then return units.of_bench(name) end
  return ENDS[name] and fields.value(record, path) and fields.unit(record, path) or units.of(name or field)
end

--- The same of several records: the unit of the first that has the field, and a unit for it.
---@param records table[]
---@param field string
---@return string unit
function fields.common_unit(records, field)
  for _, record in ipairs(records) do
    local unit = fields.value(record, field) ~= nil and fields.unit(record, field)
    if unit and unit ~= "" then return unit end
  end
  return ""
end

--- The unit in which a chart or a table shows a field: that of an option, else the records'. An option does not
--- convert: it is for fields without a unit.
---@param who string        "mw.plot"
---@param given string?     the option
---@param records table[]
---@param field string
---@return string unit
function fields.shown_unit(who, given, records, field)
  local known = fields.common_unit(records, field)
  if not given or known == "" then return given or known end
  if known:gsub("^iB$", "B") ~= given:gsub("^iB$", "B") then
    failure.invalid("%s: the unit of '%s' is '%s', got '%s'; values are shown with the prefix that suits them", who,
      field, known, given)
  end
  return given
end

-- ---- parameters and names ------------------------------------------------------------------------

--- The parameters of a record by name; of several values the list as a text.
---@param record table
---@return table<string, any>
function fields.parameters(record)
  local values = {}
  for name, value in pairs(record.params or {}) do values[name] = parameter(value) end
  return values
end

-- What records can be asked for besides a field: "t.median" next to "t.medain".
local function names_beside(entries, field)
  local names, within = {}, field:match "^(.+)%."
  for _, entry in ipairs(entries) do
    local inner = within and fields.value(entry, within)
    if type(inner) == "table" then
      for name in pairs(inner) do names[("%s.%s"):format(within, name)] = true end
    else
      for name in pairs(lists.merged(entry.params or {}, entry)) do names[name] = true end
    end
  end
  return names
end

--- Rejects fields that no record has: they are mistyped. One that only some have is not.
---@param who string        "mw.table"
---@param names string[]
---@param entries table[]
function fields.check(who, names, entries)
  if #entries == 0 then failure.invalid("%s: there are no records; mw.record makes them", who) end
  for _, field in ipairs(names) do
    if not lists.find(entries, function(entry) return fields.value(entry, field) ~= nil end) then
      failure.invalid("%s: no record has a field '%s'; %s", who, field,
        nearest.hint(field, names_beside(entries, field)))
    end
  end
end

return fields
