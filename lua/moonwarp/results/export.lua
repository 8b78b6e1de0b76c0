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

local function rows_of(runs)
  local rows = {}
  for _, run in ipairs(runs) do
    lists.append(rows, lists.map(run.records, function(record) return row_of(run, record) end))
  end
  return rows, columns_of(rows)
end

-- The base unit of each column.
local function units_of(runs, columns)
  local records, unit = {}, {}
  for _, run in ipairs(runs) do lists.append(records, run.records) end
  for _, name in ipairs(columns) do unit[name] = fields.common_unit(records, name) end
  return unit
end

local function plain(value)
  if math.type(value) == "float" then return ("%.10g"):format(value) end
  return tostring(value)
end

-- ---- forms --------------------------------------------------------------------------------------

local function csv_cell(value)
  if value == nil then return "" end
  local text = plain(value)
  return text:find('[",\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

-- Appends one line per row to `lines`; cell(value, name of the column, row) is a text.
local function add_rows(lines, rows, columns, cell, separator)
  return lists.append(lines, lists.map(rows, function(row)
    return table.concat(lists.map(columns, function(name) return cell(row[name], name, row) end), separator)
  end))
end

--- Comma-separated values (RFC 4180) with a heading.
---@param runs table[]   of store.read
---@return string
function export.csv(runs)
  local rows, columns = rows_of(runs)
  local lines = add_rows({ table.concat(lists.map(columns, csv_cell), ",") }, rows, columns, csv_cell, ",")
  return table.concat(lines, "\r\n") .. "\r\n"
end

-- The counters of a row or of a line of it, with the figures, as a record of the run.
local function counter_record(run, row, line)
  local record = { device = row.device, device_name = run.device == row.device and run.device_name or nil,
                   date = run.date, kernel = row.kernel, source = row.source, grid = row.grid, block = row.block,
                   launches = row.launches, file = line and line.file, line = line and line.line }
  for _, one in ipairs(counters.list) do record[one.name] = (line or row)[one.name] end
  for _, one in ipairs(counters.figures) do record[one.name] = counters.value(line or row, one.name) end
  return record
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
  return json.encode(setmetatable(lists.map(runs, without_folder), json.list)) .. "\n"
end

local SHOWN = lists.set { "flags", "cold", "graph" }

-- The columns that a reader wants: no statistics, of which a cell has the interval.
local function shown_columns(columns)
  return lists.map(columns, function(name)
    local statistic = name:match("%.([%w_]+)$")
    return name ~= "date" and name ~= "device" and (not statistic or SHOWN[statistic]) and name or nil
  end)
end

local function md_cell(name, value, unit, row)
  if value == nil then return "" end
  if math.type(value) == "float" or type(value) == "number" and unit ~= "" then
    local function show(number) return units.format(number, unit) end
    return show(value) .. quantity.suffix(value, row[name .. ".low"], row[name .. ".high"], show)
  end
  return (tostring(value):gsub("|", "\\|"):gsub("%c+", " "))
end

--- A Markdown table with units.
---@param runs table[]
---@return string
function export.md(runs)
  local rows, columns = rows_of(runs)
  columns = shown_columns(columns)
  local rule, unit = {}, units_of(runs, columns)
  for i, name in ipairs(columns) do rule[i] = type((rows[1] or {})[name]) == "string" and "---" or "---:" end
  local lines = { table.concat(columns, " | ") }
  add_rows(lines, rows, columns, function(value, name, row) return md_cell(name, value, unit[name], row) end,
    " | ")
  lines = lists.map(lines, function(line) return ("| %s |"):format(line) end)
  table.insert(lines, 2, ("|%s|"):format(table.concat(rule, "|")))
  return table.concat(lines, "\n") .. "\n"
end

local function dat_cell(value)
  if value == nil then return "?" end
  return type(value) == "string" and '"' .. value:gsub('"', "'"):gsub("\n", " ") .. '"' or plain(value)
end

--- Columns for gnuplot, under comments and the columns' names: texts in quotation marks, "?" if a
--- record has no such field.
---@param runs table[]
---@return string
function export.dat(runs)
  local rows, columns = rows_of(runs)
  local lines = lists.map(runs, function(run)
    return ("# %s, %s (%s), %s, %s"):format(run.study or "", run.device_name or "no device", run.device or "-",
      run.date or "", run.status)
  end)
  local unit = units_of(runs, columns)
  local words = lists.map(columns, function(name)
    return unit[name] ~= "" and ("%s in %s"):format(name, unit[name] == "iB" and "B" or unit[name]) or nil
  end)
  table.insert(words, "missing: ?")
  lines[#lines + 1] = ("# moonwarp %s; %s"):format(core.version, table.concat(words, ", "))
  lines[#lines + 1] = table.concat(lists.map(columns, dat_cell), " ")
  return table.concat(add_rows(lines, rows, columns, dat_cell, " "), "\n") .. "\n"
end

return export
