-- SPDX-License-Identifier: MIT
--
-- Stored runs in other forms: CSV, JSON, Markdown, and columns for gnuplot. A row is a record; a
-- benchmark becomes the columns t (its median), t.low, t.high and so on, in seconds, and a quantity
-- T_tot, T_tot.low, T_tot.high. Only the JSON has samples.

local core = require "moonwarp.core"
local counters = require "moonwarp.measure.counters"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local fields = require "moonwarp.results.fields"
local quantity = require "moonwarp.measure.quantity"
local sheet = require "moonwarp.base.sheet"
local units = require "moonwarp.base.units"

local export = {}

local LEADING, CHOSEN, MEASURED = { study = 1, device = 2, device_name = 3, date = 4 }, 10, 11
local LEFT_OUT = { script = true, moonwarp = true, params = true, units = true, chosen = true }
local STATISTICS = { "low", "high", "min", "max", "mean", "sd", "mad", "p05", "p95", "noise", "n" }

-- ---- rows ---------------------------------------------------------------------------------------

local function add_result(row, name, result)
  row[name] = result.median
  for _, key in ipairs(STATISTICS) do row[("%s.%s"):format(name, key)] = result[key] end
  for _, inner in ipairs { "cold", "graph" } do
    if fields.is_result(result[inner]) then
      row[("%s.%s"):format(name, inner)] = result[inner].median
    end
  end
  if result.flags and #result.flags > 0 then row[name .. ".flags"] = table.concat(result.flags, "; ") end
end

local function text_of(value)
  return type(value) == "table" and fields.text(value) or value
end

local function row_of(run, record)
  local row = lists.merged({ study = run.study }, fields.parameters(record))
  for name, value in pairs(record) do
    if fields.is_result(value) then
      add_result(row, name, value)
    elseif not LEFT_OUT[name] then
      local number, low, high = quantity.read(value)
      row[name], row[name .. ".low"], row[name .. ".high"] = number or text_of(value), low, high
    end
  end
  return row
end

-- Leading columns first, then choices, then measured values, each by name; a benchmark's
-- statistics after it.
local function columns_of(rows)
  local rank = {}
  for _, row in ipairs(rows) do
    for name, value in pairs(row) do
      local measured = math.type(value) == "float" or name:find(".", 1, true)
      rank[name] = LEADING[name] or measured and MEASURED or rank[name] or CHOSEN
    end
  end
  local names = lists.keys(rank)
  table.sort(names, function(a, b)
    if rank[a] ~= rank[b] then return rank[a] < rank[b] end
    return a < b
  end)
  return names
end

-- A value that readers see in its unit, with its interval.
local function cell_of(row, name, unit)
  local value = row[name]
  if type(value) ~= "number" or math.type(value) == "integer" and unit == "" then
    return value ~= nil and { tostring(value), value = value }
  end
  local function show(number) return units.format(number, unit) end
  return { show(value) .. quantity.suffix(value, row[name .. ".low"], row[name .. ".high"], show), value = value }
end

-- Records as a table; is_shown(name) chooses columns; else all.
local function table_of(runs, is_shown)
  local records, rows = {}, {}
  for _, run in ipairs(runs) do
    lists.append(records, run.records)
    lists.append(rows, lists.map(run.records, function(record) return row_of(run, record) end))
  end
  return sheet.of(lists.map(columns_of(rows), function(name)
    if is_shown and not is_shown(name) then return nil end
    local unit = fields.common_unit(records, name)
    return { heading = name, unit = unit, number = type((rows[1] or {})[name]) ~= "string",
             cell = function(row) return cell_of(row, name, unit) end }
  end), rows)
end

-- ---- forms --------------------------------------------------------------------------------------

--- Comma-separated values (RFC 4180) with a heading.
---@param runs table[]   of store.read
---@return string
function export.csv(runs)
  return sheet.csv(table_of(runs))
end

-- The counters of a row or of a line of it, with the figures, as a record of the run.
local function counter_record(run, row, line)
  local record = { device = row.device, device_name = run.device == row.device and run.device_name or nil,
                   date = run.date, kernel = row.kernel, source = row.source, grid = row.grid, block = row.block,
                   launches = row.launches, file = line and line.file, line = line and line.line }
  for _, one in ipairs(counters.list) do record[one.name] = (line or row)[one.name] end
  for _, one in ipairs(counters.figures) do record[one.name] = counters.value(line or row, one.name) end
  return lists.merged(record, not line and row.metrics or nil)
end

--- The same runs with their structural counters instead of their records: one for each kernel and configuration, then
--- one for each of its lines.
---@param runs table[]
---@return table[]
function export.counters(runs)
  return lists.map(runs, function(run)
    local records = {}
    for _, row in ipairs(run.counters or {}) do
      records[#records + 1] = counter_record(run, row)
      for _, line in ipairs(row.lines) do records[#records + 1] = counter_record(run, row, line) end
    end
    return lists.merged(run, { records = records })
  end)
end

local function without_folder(run)
  local copy = lists.merged(run)
  copy.folder, copy.identity = nil, nil
  return copy
end

--- The records as they are stored, samples and all: a list of runs.
---@param runs table[]
---@return string
function export.json(runs)
  return json.encode(json.as_list(lists.map(runs, without_folder))) .. "\n"
end

local SHOWN = lists.set { "flags", "cold", "graph" }

-- The columns that a reader wants: no statistics, of which a cell has the interval.
local function is_for_readers(name)
  local statistic = name:match("%.([%w_]+)$")
  return name ~= "date" and name ~= "device" and (not statistic or SHOWN[statistic])
end

--- A Markdown table with units.
---@param runs table[]
---@return string
function export.md(runs)
  return sheet.md(table_of(runs, is_for_readers))
end

local function dat_cell(cell)
  local text, is_text = sheet.value(cell)
  if not text then return "?" end
  return is_text and '"' .. text:gsub('"', "'"):gsub("\n", " ") .. '"' or text
end

--- Columns for gnuplot, under comments and the columns' names: texts in quotation marks, "?" if a
--- record has no such field.
---@param runs table[]
---@return string
function export.dat(runs)
  local lines = lists.map(runs, function(run)
    return ("# %s, %s (%s), %s, %s"):format(run.study or "", run.device_name or "no device", run.device or "-",
      run.date or "", run.status)
  end)
  local made = table_of(runs)
  local words = lists.map(made.columns, function(column)
    local unit = column.unit
    return unit ~= "" and ("%s in %s"):format(column.heading, unit == "iB" and "B" or unit) or nil
  end)
  table.insert(words, "missing: ?")
  lines[#lines + 1] = ("# moonwarp %s; %s"):format(core.version, table.concat(words, ", "))
  return table.concat(lists.append(lines, sheet.join(made, dat_cell, " ")), "\n") .. "\n"
end

return export
