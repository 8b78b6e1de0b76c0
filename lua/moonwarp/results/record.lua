-- SPDX-License-Identifier: MIT
--
-- Records: one a measurement, kept in the run's journal as soon as it is there, so that nothing
-- measured is lost. A record holds what the script gives (benchmark results with all their samples
-- included) and where it comes from: date, script, device, version, parameters.

local core = require "moonwarp.core"
local bench = require "moonwarp.measure.bench"
local contest = require "moonwarp.measure.contest"
local failure = require "moonwarp.base.failure"
local fields = require "moonwarp.results.fields"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local quantity = require "moonwarp.measure.quantity"
local units = require "moonwarp.base.units"

local record = {}

-- The order of a line's leading keys; the script's own follow by name.
local ORDER = { "date", "script", "moonwarp", "device", "device_name", "params" }

-- As JSON can hold it.
local function plain(entry)
  local flat = {}
  for key, value in pairs(entry) do
    flat[key] = bench.is_result(value) and bench.fields(value) or value == math.huge and "inf" or value
  end
  return flat
end

local RESERVED = { date = "string", device = "string device", device_name = "string", params = "table",
                   script = "string", moonwarp = "string", chosen = "nil", units = "table" }
local DEEP = 20

local function reject(where, what)
  failure.invalid("mw.record: field '%s' %s", where, what)
end

local KINDS = "; numbers, texts, truth values, and lists or tables of them are kept"

local function check_keys(value, where)
  local listed
  for key in pairs(value) do
    local is_listed = math.type(key) == "integer"
    if not is_listed and type(key) ~= "string" then reject(where, "has a key of type " .. type(key) .. KINDS) end
    if listed == not is_listed then reject(where, "is a list and a table of names at once" .. KINDS) end
    listed = is_listed
  end
end

local function check_value(value, where, depth)
  local kind = core.type(value) or type(value)
  if kind == "number" or kind == "string" or kind == "boolean" then return end
  if kind ~= "table" then reject(where, "is of type " .. kind .. KINDS) end
  if bench.is_result(value) then return end
  if contest.is_results(value) then
    reject(where, "is the results of several contenders: keep one per record, as in for _, r in ipairs(t) do "
      .. "mw.record { kernel = r.name, t = r } end")
  end
  if depth > DEEP then reject(where, "is a table in itself, or too deep" .. KINDS) end
  check_keys(value, where)
  for key, inner in pairs(value) do check_value(inner, ("%s.%s"):format(where, key), depth + 1) end
end

local function check_fields(values)
  for name, value in pairs(values) do
    if type(name) ~= "string" then reject(tostring(name), "has no name" .. KINDS) end
    local kind, wanted = core.type(value) or type(value), RESERVED[name]
    if wanted and not wanted:find(kind, 1, true) then
      failure.invalid("mw.record: field '%s' is moonwarp's own and must be a %s, got %s", name,
        wanted:gsub(" ", " or a "), kind)
    end
    if kind ~= "device" then check_value(value, name, 1) end
    if name == "params" and next(value) and type(next(value)) ~= "string" then
      reject(name, "is moonwarp's own and must be a table of names, got a list")
    end
  end
end

-- A unit of a field that is not there is one of a mistyped field.
local function check_units(entry)
  for field, unit in pairs(entry.units or {}) do
    local problem = units.problem(field, unit)
    if problem then failure.invalid("mw.record: %s", problem) end
    if fields.value(entry, field) == nil then
      failure.invalid("mw.record: 'units' has '%s', which is no field of the record; %s", field,
        nearest.hint(field, entry))
    end
  end
end

-- Whether a value has the form of a block or a grid: up to three whole numbers.
local function is_sizes(value)
  local count = 0
  for _, one in pairs(type(value) == "table" and value or {}) do
    if math.type(one) ~= "integer" then return false end
    count = count + 1
  end
  return count >= 1 and count <= 3
end

-- The values that the script chose and did not measure distinguish a measurement from others (see
-- results/measurement.lua): texts, whole numbers, truth values, blocks and grids. JSON has one kind of number.
local function chosen(values)
  return lists.map(lists.keys(values), function(name)
    local value = values[name]
    local kind = math.type(value) or type(value)
    local is_chosen = kind == "string" or kind == "integer" or kind == "boolean"
      or is_sizes(value) and not RESERVED[name] and not quantity.read(value)
    return is_chosen and name or nil
  end)
end

-- The device of a benchmark in the record, else the one opened last.
local function device_of(session, values)
  if values.device then return values.device end
  for _, value in pairs(values) do
    if bench.is_result(value) and value.device then return value.device, value.device_name end
  end
  return session:device()
end

local function complete(session, values)
  local params = session:values()
  local entry = lists.merged({ date = os.date("!%Y-%m-%dT%H:%M:%SZ"), script = session:script(),
                               moonwarp = core.version, params = next(params) and params or nil }, values)
  local device, name = device_of(session, values)
  if core.type(device) == "device" then device, name = device:id(), device:name() end
  entry.device, entry.device_name = device, values.device_name or name
  return entry
end

-- The file given with --json.
local function append(file, line)
  local problem = files.write(file, line .. "\n", "ab")
  if problem then failure.raise_as("io", "mw.record: %s; choose another file with --json FILE", problem) end
end

--- Keeps one measurement in the run's record, and in the file given with --json as a line of JSON.
--- Tables, numbers, strings, booleans, quantities and results of mw.bench are kept; the device is that of the
--- benchmark in the record, else the one opened last, else what the field device says.
---@param session table  whose record it is
---@param values table   as in { threads = 256, T_tot = 2 * A:nbytes() / t, t = t }; units: base units by field
---@param number integer?  of the contender, whose turns were noted before (record.slice)
---@return table record  with date, script, moonwarp, device, device_name, params added
function record.write(session, values, number)
  session:check_known()
  if type(values) ~= "table" then failure.invalid("mw.record: a table is wanted, got " .. type(values)) end
  check_fields(values)
  local job = session.job
  if job and job.size > 1 then values = lists.merged({ rank = job.rank }, values) end
  local entry = complete(session, values)
  check_units(entry)
  table.insert(session.records, setmetatable(entry, core.result))
  local flat = plain(entry)
  local line = session.options.json and json.encode(flat, ORDER)
  flat.chosen = chosen(values)
  session:note("record", flat, number)
  if line then append(session.options.json, line) end
  return entry
end

-- A table that is a benchmark's as a record keeps it.
local function is_plain_result(value)
  return fields.is_result(value) or type(value) == "table" and value.n == 0 and next(value, next(value)) == nil
end

--- Keeps a measurement of another process.
---@param session table
---@param flat table  as the journal of its run has it
function record.take(session, flat)
  session.run:append("record", flat)
  local entry = lists.merged(flat)
  entry.chosen = nil
  if session.options.json then append(session.options.json, json.encode(entry, ORDER)) end
  for key, value in pairs(entry) do
    if is_plain_result(value) then entry[key] = bench.restore(lists.merged(value)) end
  end
  table.insert(session.records, setmetatable(entry, core.result))
end

--- Notes that an error ended a pass of a sweep: a row of the sweep's tables.
---@param session table
---@param problem table  the error
function record.fail(session, problem)
  local header = session.run and session.run.header
  local device = header and { device = header.device, device_name = header.device_name }
  local entry, text = complete(session, device or {}), failure.text(problem)
  table.insert(session.records, entry)
  session.failures[entry], session.failed_passes = text, session.failed_passes + 1
  session:mention("failure", { params = entry.params, status = problem.status, message = text })
end

-- ---- turns of contenders ------------------------------------------------------------------------

--- Notes the samples of one turn of a contender, whose record comes when all turns of all contenders are
--- over. Of a run that is killed before, the turns that were noted become records (results/fold.lua).
---@param session table
---@param number integer?   what this returned at the contender's turn before
---@param values table      fields of the record, as far as they are known
---@param samples number[]  seconds per call
---@param work table        the work of a call by the name of its rate: { T_eff = bytes }
---@return integer number
function record.slice(session, number, values, samples, work)
  local first
  if not number then
    session.contenders = session.contenders + 1
    number, first = session.contenders, plain(complete(session, values))
    first.chosen = chosen(values)
  end
  session:note("slice", { contender = number, record = first, work = first and work, samples = samples })
  return number
end

--- Notes that the turns of a contender count no more: it is wrong.
---@param session table
---@param number integer   of record.slice
function record.drop_slices(session, number)
  session:note("slices_dropped", { contender = number })
end

--- The devices that records come from, as words for a title: "NVIDIA H200 (cuda:0)".
---@param entries table[]
---@return string
function record.devices(entries)
  local named = lists.filter(entries, function(entry) return entry.device end)
  local first = lists.unique(named, function(entry) return entry.device end)
  return #first > 0 and table.concat(lists.map(first, function(entry)
    return entry.device_name and ("%s (%s)"):format(entry.device_name, entry.device) or entry.device
  end), ", ") or "no device"
end

return record
