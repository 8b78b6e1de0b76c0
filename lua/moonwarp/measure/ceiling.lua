-- SPDX-License-Identifier: MIT
--
-- What a device gives at most: measured where it is first needed, and kept for the user in a file:
-- $MOONWARP_CEILINGS, else ceilings.json in $XDG_CONFIG_HOME/moonwarp, else in ~/.config/moonwarp. It is { "schema":
-- "moonwarp-ceilings/1", "ceilings": [ entry, ... ] }; an entry has
--   device, driver, multiprocessors, moonwarp (its version): what it holds for
--   values   numbers by the names of ceiling_kinds.lua, in their units (B/s, flop/s, 1/s, s)
--   date     of the last one that was measured

local checking = require "moonwarp.measure.checking"
local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local kept = require "moonwarp.base.kept"
local kinds = require "moonwarp.measure.ceiling_kinds"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local schema = require "moonwarp.base.schema"

local ceiling = {}

--- The file.
ceiling.file = kept.new { variable = "MOONWARP_CEILINGS", file = "ceilings.json", schema = "moonwarp-ceilings/1",
  key = "ceilings", order = { "device", "driver", "multiprocessors", "moonwarp", "date" }, entry = schema.fields {
    device = "string", driver = "string", multiprocessors = "integer", moonwarp = "string", date = "string",
    values = schema.map "number" } }

-- ---- what is kept -------------------------------------------------------------------------------

local function head_of(device)
  local properties = device:properties()
  return { device = device:name(), driver = tostring(properties.driver), moonwarp = core.version,
           multiprocessors = properties.multiprocessors }
end

local function is_of(entry, head)
  for name, value in pairs(head) do
    if entry[name] ~= value then return false end
  end
  return true
end

-- The values that are kept of a device, by name; those that are no rates, as somebody may have written them, are not.
local function known_of(session, device)
  local head, values = head_of(device), lists.merged(session.unkept[device:id()] or {})
  local entry = lists.find(ceiling.file:read(), function(one) return is_of(one, head) end)
  for name, value in pairs(entry and entry.values or {}) do
    if value > 0 and value < math.huge then values[name] = value end
  end
  return values
end

--- What is kept of a device of that name, whatever its driver: of several entries the newest.
---@param name string?   the device's
---@return table<string, number> values
function ceiling.kept(name)
  local newest
  for _, entry in ipairs(ceiling.file:read()) do
    if entry.device == name and not (newest and newest.date > entry.date) then newest = entry end
  end
  return newest and newest.values or {}
end

local function keep(device, new)
  local head = head_of(device)
  ceiling.file:change(function(entries)
    local old = lists.find(entries, function(one) return is_of(one, head) end)
    local entry = lists.merged(head, { values = lists.merged(old and old.values or {}, new),
                                       date = os.date "!%Y-%m-%dT%H:%M:%SZ" })
    return lists.append(lists.map(entries, function(one) return one ~= old and one or nil end), { entry })
  end)
end

-- ---- what is asked ------------------------------------------------------------------------------

-- Why a device has no ceilings, or not this one.
local function reason_of(device, one)
  if device:is_offline() then return "it only compiles" end
  if checking.is_on(device) then return "in check mode nothing is timed" end
  return one.reason and one.reason(device)
end

-- Keeps what was measured; where no file can have it, for the rest of the session, and why.
local function keep_or_say(session, device, new)
  local done, problem = failure.catch(keep, device, new)
  if done then return end
  if failure.status(problem) ~= "io" then error(problem, 0) end
  local id, is_first = device:id(), next(session.unkept) == nil
  session.unkept[id] = lists.merged(session.unkept[id] or {}, new)
  if is_first then io.stderr:write(("note: ceilings are not kept: %s\n"):format(failure.text(problem))) end
  return failure.text(problem)
end

-- Values of ceilings, those that are missing (or all of them, anew) measured, and each kept at once; and why they are
-- not.
local function values_of(session, device, list, is_anew)
  local values, names, problem = known_of(session, device), {}, nil
  local missing = lists.filter(list, function(one)
    return (is_anew or not values[one.name]) and not reason_of(device, one)
  end)
  if #missing == 0 then return values end
  for i, one in ipairs(missing) do names[i] = one.name end
  io.stderr:write(("measuring what %s gives at most, which is kept: %s\n"):format(device:id(),
    table.concat(names, ", ")))
  local m <close> = kinds.new(session, device)
  for _, one in ipairs(missing) do
    values[one.name] = kinds.measure(m, one)
    problem = keep_or_say(session, device, { [one.name] = values[one.name] })
  end
  return values, problem
end

local function named(name)
  local one = lists.find(kinds.list, function(other) return other.name == name end)
  if one then return one end
  local names = lists.map(kinds.list, function(other) return other.name end)
  failure.invalid("dev:ceiling: there is no ceiling '%s'; %s", tostring(name), nearest.hint(name, names))
end

--- A ceiling of a device, measured where it is not kept.
---@param session table
---@param device userdata
---@param name string      of ceiling_kinds.lua
---@return number? value   nil where the device has none
---@return string reason   why; else the value's unit
function ceiling.value(session, device, name)
  local one = named(name)
  local reason = reason_of(device, one)
  if reason then return nil, reason end
  return (values_of(session, device, { one }))[name], one.unit
end

--- Ceilings of a device.
---@param session table
---@param device userdata
---@param names string[]?   else all
---@param is_anew boolean?  measured, whether they are kept or not
---@return table[] rows     name, unit, things, about, value or reason, sheet (the data sheet's, where it is known)
---@return string? problem  why new ones are not kept
function ceiling.all(session, device, names, is_anew)
  local list = names and lists.map(lists.unique(names), named) or kinds.list
  local values, problem = values_of(session, device, list, is_anew)
  local rows = lists.map(list, function(one)
    return { name = one.name, unit = one.unit, things = one.things, about = one.about, value = values[one.name],
             reason = reason_of(device, one), sheet = ceiling.sheet(device, one.name) }
  end)
  return rows, problem
end

-- Multiply-adds a cycle of a multiprocessor by architecture, f32 and f64 (CUDA C++ Programming Guide, "Arithmetic
-- Instructions").
local LANES <const> = { sm_60 = { 64, 32 }, sm_61 = { 128, 4 }, sm_70 = { 64, 32 }, sm_75 = { 64, 2 },
  sm_80 = { 64, 32 }, sm_86 = { 128, 2 }, sm_89 = { 128, 2 }, sm_90 = { 128, 64 }, sm_100 = { 128, 64 },
  sm_120 = { 128, 2 } }

--- What the data sheet says, by the device's clocks and multiprocessors; nil where it is not known.
---@param device userdata
---@param name string
---@return number?
function ceiling.sheet(device, name)
  local properties = device:properties()
  local lanes = LANES[properties.arch]
  if name == "read" or name == "write" or name == "copy" or name == "triad" then return device:peak_bandwidth() end
  if not lanes or name ~= "f32" and name ~= "f64" then return nil end
  return 2.0 * lanes[name == "f32" and 1 or 2] * properties.multiprocessors * properties.clock
end

--- The ceilings of a roofline, kept for the rest of the session.
---@param session table
---@param device userdata
---@return table  bandwidth (B/s, of the triad), f32, f64 (flop/s), device, device_name
function ceiling.of(session, device)
  local id, known = device:id(), session.ceilings
  if known[id] then return known[id] end
  local values = values_of(session, device, { named "triad", named "f32", named "f64" })
  known[id] = { bandwidth = values.triad, f32 = values.f32, f64 = values.f64, device = id,
                device_name = device:name() }
  return known[id]
end

return ceiling
