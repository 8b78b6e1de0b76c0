-- SPDX-License-Identifier: MIT
--
-- The measurements of a stored run: each benchmark of each record, by a key that the same
-- measurement of another run has too. The key is made of what the script chose (the record's fields
-- named in `chosen`, and parameters), not of what it measured. And what holds of the fields of any record: values by
-- path, and units.

local lists = require "moonwarp.base.lists"
local units = require "moonwarp.base.units"

local measurement = {}

local NOT_CHOSEN = { device = true, device_name = true }

--- Whether a stored value is a result of mw.bench.
---@param value any
---@return boolean
function measurement.is_result(value)
  return type(value) == "table" and type(value.median) == "number" and type(value.samples) == "table"
    and type(value.samples[1]) == "number"
end

-- ---- fields --------------------------------------------------------------------------------------

local function at_path(value, path)
  for key in path:gmatch "[^.]+" do
    if type(value) ~= "table" then return nil end
    value = value[key]
  end
  return value
end

local function parameter(value)
  return type(value) == "table" and table.concat(lists.map(value, tostring), ",") or value
end

--- A field of a record by its path, as in "t.median"; else the parameter of that name, of several values the list as
--- a text; else nil.
---@param record table
---@param field string
---@return any
function measurement.field(record, field)
  local value = record[field]
  if value == nil then value = at_path(record, field) end
  if value ~= nil or type(record.params) ~= "table" then return value end
  return parameter(record.params[field])
end

local function is_in_result(record, path)
  repeat
    if measurement.is_result(measurement.field(record, path)) then return true end
    path = path:match "^(.+)%."
  until not path
end

local ENDS = { value = true, low = true, high = true } -- of a quantity

--- The base unit of a record's field: as the record's `units` give it, else of a benchmark and its fields the known
--- one, else by the last name of the path.
---@param record table
---@param field string  a path
---@return string unit  "s", "B/s", ... or ""
function measurement.unit(record, field)
  local given = type(record.units) == "table" and record.units[field]
  if type(given) == "string" then return given end
  if measurement.is_result(measurement.field(record, field)) then return "s" end
  local path, name = field:match "^(.+)%.([^.]+)$"
  if path and is_in_result(record, path) then return units.of_bench(name) end
  return ENDS[name] and measurement.unit(record, path) or units.of(name or field)
end

--- The same of several records: the unit of the first that has the field, and a unit for it.
---@param records table[]
---@param field string
---@return string unit
function measurement.common_unit(records, field)
  for _, record in ipairs(records) do
    local unit = measurement.field(record, field) ~= nil and measurement.unit(record, field)
    if unit and unit ~= "" then return unit end
  end
  return ""
end

-- ---- choices -------------------------------------------------------------------------------------

--- The parameters of a record by name; of several values the list as a text.
---@param record table
---@return table<string, any>
function measurement.parameters(record)
  local values = {}
  for name, value in pairs(record.params or {}) do values[name] = parameter(value) end
  return values
end

--- What the script chose for a record, by name; parameters included.
---@param record table
---@return table<string, any>
function measurement.choices(record)
  local chosen = measurement.parameters(record)
  for _, name in ipairs(record.chosen or {}) do
    if not NOT_CHOSEN[name] then chosen[name] = record[name] end
  end
  return chosen
end

-- Names of choices that differ between the records: the others say nothing.
local function varying(records)
  local first, differs = measurement.choices(records[1] or {}), {}
  for _, record in ipairs(records) do
    local here = measurement.choices(record)
    for name in pairs(lists.merged(first, here)) do
      differs[name] = differs[name] or here[name] ~= first[name]
    end
  end
  return differs
end

local function words(record, wanted)
  local chosen = measurement.choices(record)
  local parts = lists.map(lists.keys(chosen), function(name)
    if wanted and not wanted[name] then return nil end
    return type(chosen[name]) == "string" and chosen[name] or ("%s = %s"):format(name, tostring(chosen[name]))
  end)
  return (table.concat(parts, ", "):gsub("%c+", " "))
end

-- { field, result } of each benchmark, and of its other modes.
local function results_of(record)
  local list = {}
  for name, value in pairs(record) do
    if measurement.is_result(value) then
      list[#list + 1] = { name, value }
      for _, mode in ipairs { "cold", "graph" } do
        if measurement.is_result(value[mode]) then list[#list + 1] = { name .. " " .. mode, value[mode] } end
      end
    end
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

-- Records of several devices in one run are told apart by it; a run of one can be held against a run
-- of another.
local function device_of(run)
  local first
  for _, record in ipairs(run.records) do
    first = first or record.device
    if record.device ~= first then return function(one) return tostring(one.device) .. ": " end end
  end
  return function() return "" end
end

--- The measurements of a run, in its order. Two of one key are told apart by their number.
---@param run table
---@return table[] list  { key =, label = (what differs within the run), field =, result =, record = }
function measurement.of(run)
  local list, seen, differs, device = {}, {}, varying(run.records), device_of(run)
  for _, record in ipairs(run.records) do
    for _, one in ipairs(results_of(record)) do
      local field, result = one[1], one[2]
      local key = ("%s%s | %s"):format(device(record), words(record), field)
      seen[key] = (seen[key] or 0) + 1
      if seen[key] > 1 then key = ("%s #%d"):format(key, seen[key]) end
      local label = words(record, differs)
      if label == "" then label = field elseif field ~= "t" then label = ("%s, %s"):format(label, field) end
      list[#list + 1] = { key = key, label = device(record) .. label, field = field, result = result, record = record }
    end
  end
  return list
end

return measurement
