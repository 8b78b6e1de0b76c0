-- SPDX-License-Identifier: MIT
--
-- Records: one JSON line a measurement, written as soon as it is there, so that nothing measured is
-- lost. A record holds what the script gives (benchmark results included) and where it comes from:
-- date, script, device, version, parameters.
-- Depends on moonwarp.core, arg, bench, json, path, recent.

local core = require "moonwarp.core"
local arg = require "moonwarp.arg"
local bench = require "moonwarp.bench"
local json = require "moonwarp.json"
local path = require "moonwarp.path"
local recent = require "moonwarp.recent"

local record = {}

-- The order of a line's leading keys; the script's own follow by name.
local ORDER = { "date", "script", "moonwarp", "device", "device_name", "params" }

-- What a benchmark result is on a line. Single samples stay in the script: there may be 100 000 of
-- them.
local RESULT_ORDER = { "median", "min", "max", "mean", "sd", "mad", "p05", "p95", "noise", "n",
  "batch", "first",
                       "clock", "warnings" }

local session = {}

local function bench_fields(result)
  local short = {}
  for _, key in ipairs(RESULT_ORDER) do short[key] = result[key] end
  if #result.warnings == 0 then short.warnings = nil end
  return short
end

local function line_of(entry)
  local flat = {}
  for key, value in pairs(entry) do
    flat[key] = bench.is_result(value) and bench_fields(value) or value
  end
  return json.encode(flat, ORDER)
end

-- The device of a benchmark in the record, else the one opened last.
local function device_of(values)
  if values.device then return values.device end
  for _, value in pairs(values) do
    if bench.is_result(value) and value.device then return value.device, value.device_name end
  end
  return recent.device()
end

local function complete(values)
  local entry = { date = os.date("!%Y-%m-%dT%H:%M:%SZ"), script = path.script(),
    moonwarp = core.version,
                  params = next(arg.values()) and arg.values() or nil }
  for key, value in pairs(values) do entry[key] = value end
  local device, name = device_of(values)
  if core.type(device) == "device" then device, name = device:id(), device:name() end
  entry.device, entry.device_name = device, values.device_name or name
  return entry
end

local function append(file_path, line)
  local file, reason = io.open(file_path, "a")
  if not file then
    error(("mw.record: %s; choose another folder with --out DIR"):format(reason), 3)
  end
  local written
  written, reason = file:write(line, "\n")
  local closed, late = file:close()
  if not (written and closed) then
    error(("mw.record: %s: %s"):format(file_path, reason or late), 3)
  end
end

--- Writes one measurement as a line of JSON to OUT/SCRIPT.jsonl, and to the file given with --json.
--- Tables, numbers, strings, booleans and results of mw.bench are kept; the device is that of the
--- benchmark in the record, else the one opened last, else what the field device says.
---@param values table   as in { threads = 256, T_tot = 2 * A:nbytes() / t.median, t = t }
---@return table record  with date, script, moonwarp, device, device_name, params added
function record.write(values)
  if type(values) ~= "table" then error("mw.record: a table is wanted, got " .. type(values), 2) end
  local entry = complete(values)
  session[#session + 1] = setmetatable(entry, core.result)
  local line = line_of(entry)
  append(path.out(path.script() .. ".jsonl"), line)
  if core.options.json then append(core.options.json, line) end
  return entry
end

--- All records of this session, in order.
---@return table[]
function record.all()
  return session
end

--- A field of a record by its path, as in "t.median"; nil where it is absent.
---@param entry table
---@param field string
---@return any
function record.field(entry, field)
  local value = entry[field]
  if value ~= nil then return value end
  value = entry
  for key in field:gmatch("[^.]+") do
    if type(value) ~= "table" then return nil end
    value = value[key]
  end
  return value
end

--- The devices that records come from, as words for a title: "NVIDIA H200 (cuda:0)".
---@param entries table[]
---@return string
function record.devices(entries)
  local names, seen = {}, {}
  for _, entry in ipairs(entries) do
    local id, name = entry.device, entry.device_name
    if id and not seen[id] then
      seen[id] = true
      names[#names + 1] = name and ("%s (%s)"):format(name, id) or id
    end
  end
  return #names > 0 and table.concat(names, ", ") or "no device"
end

return record
