-- SPDX-License-Identifier: MIT
--
-- The measurements of a stored run: each benchmark of each record, and each other number that has a unit and was not
-- chosen. A measurement is
--   key     the same in another run: what the script chose (the record's fields named in `chosen`, and parameters) and
--           the field, not what it measured
--   label   what differs within the run, or among the runs of a list, for people
--   value   in its base unit, with low and high if it has an interval
--   unit    "s", "B/s", ...
--   better  "lower" of seconds, "higher" of what is per second; nil: neither
--   samples, result  of a benchmark

local fields = require "moonwarp.results.fields"
local lists = require "moonwarp.base.lists"
local quantity = require "moonwarp.measure.quantity"
local units = require "moonwarp.base.units"

local measurement = {}

local NOT_CHOSEN = { device = true, device_name = true }
local COURSE = { best = true, elapsed = true } -- of a tuning's row: how far the search was, not what was measured
local HOW = { "seconds", "rungs", "parts" } -- parameters of every study: how long and which, not what is measured

-- ---- choices -------------------------------------------------------------------------------------

-- Which way is better: fewer seconds, more per second.
local function better_of(unit)
  return unit == "s" and "lower" or unit:find "/s$" and "higher" or nil
end

-- A whole number that the record calls a time or a rate.
local function is_measured(record, name)
  local unit = type(record.units) == "table" and record.units[name]
  return type(unit) == "string" and better_of(unit) ~= nil
end

local function choice(value)
  return type(value) == "table" and fields.text(value) or value
end

--- What the script chose for a record, by name; parameters included. Blocks and grids are texts: "32 x 8".
---@param record table
---@return table<string, any>
function measurement.choices(record)
  local chosen = fields.parameters(record)
  if record.group and record.rung then -- of a study
    for _, name in ipairs(HOW) do chosen[name] = nil end
  end
  for _, name in ipairs(record.chosen or {}) do
    if not NOT_CHOSEN[name] and not is_measured(record, name) then chosen[name] = choice(record[name]) end
  end
  return chosen
end

-- Whether a text tells a choice as well: all records that have the same text have the same choice.
local function tells(list, text, name)
  local values = {}
  for _, chosen in ipairs(list) do
    local key, value = chosen[text], tostring(chosen[name])
    if type(key) ~= "string" and key ~= nil then return false end
    key = tostring(key)
    if (values[key] or value) ~= value then return false end
    values[key] = value
  end
  return true
end

--- Names of the choices that tell records apart: those that differ, but for what a text among them tells as well, as
--- the name of a rung tells its number.
---@param records table[]
---@return table<string, boolean>
function measurement.differing(records)
  local list = lists.map(records, measurement.choices)
  local differs = {}
  for _, chosen in ipairs(list) do
    for name in pairs(lists.merged(list[1], chosen)) do
      differs[name] = differs[name] or chosen[name] ~= list[1][name] or nil
    end
  end
  for _, name in ipairs(lists.keys(differs)) do
    for _, text in ipairs(lists.keys(differs)) do
      if text ~= name and tells(list, text, name) then
        differs[name] = nil
        break
      end
    end
  end
  return differs
end

local function words(record, wanted)
  local chosen = measurement.choices(record)
  local parts = lists.map(lists.keys(chosen), function(name)
    if wanted and not wanted[name] then return nil end
    local value = chosen[name]
    return type(value) == "string" and not tonumber(value) and value or ("%s = %s"):format(name, tostring(value))
  end)
  return (table.concat(parts, ", "):gsub("%c+", " "))
end

local function add(list, field, value, unit)
  local number, low, high = quantity.read(value)
  local result = fields.is_result(value) and value or nil
  list[#list + 1] = { field = field, value = number, low = low, high = high, unit = unit, better = better_of(unit),
                      samples = result and result.samples, result = result }
end

local function add_benchmarks(list, record)
  for name, value in pairs(record) do
    if fields.is_result(value) then
      add(list, name, value, "s")
      for _, mode in ipairs { "cold", "graph" } do
        if fields.is_result(value[mode]) then add(list, name .. " " .. mode, value[mode], "s") end
      end
    end
  end
end

-- A number whose name has a unit (T_tot) is a benchmark's rate if the record has a benchmark; one that the record gives
-- another unit counts in any case.
local function add_numbers(list, record)
  local chosen, has_benchmark = measurement.choices(record), #list > 0
  for name, value in pairs(record) do
    local is_course = record.tuning and COURSE[name]
    local number = not (is_course or fields.is_result(value)) and chosen[name] == nil and quantity.read(value)
    local given = type(record.units) == "table" and record.units[name]
    if number and number - number == 0 and (not has_benchmark or given and given ~= units.of(name)) then
      local unit = fields.unit(record, name)
      if unit ~= "" and unit ~= "iB" then add(list, name, value, unit) end
    end
  end
end

-- What was measured of a record, by the names of its fields.
local function measured(record)
  local list = {}
  add_benchmarks(list, record)
  add_numbers(list, record)
  table.sort(list, function(a, b) return a.field < b.field end)
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

-- What differs within the run, and the field, unless it is the usual one.
local function label_of(record, differs, field)
  local label = words(record, differs)
  if label == "" then return field end
  return field == "t" and label or ("%s, %s"):format(label, field)
end

--- The measurements of a run, in its order. Two of one key are told apart by their number.
---@param run table
---@param differs table<string, boolean>?  of measurement.differing; else what differs within the run
---@return table[] list  as above; record: the one that it is of
function measurement.of(run, differs)
  local list, seen, device = {}, {}, device_of(run)
  differs = differs or measurement.differing(run.records)
  for _, record in ipairs(run.records) do
    for _, one in ipairs(measured(record)) do
      local key = ("%s%s | %s"):format(device(record), words(record), one.field)
      seen[key] = (seen[key] or 0) + 1
      if seen[key] > 1 then key = ("%s #%d"):format(key, seen[key]) end
      one.key, one.label, one.record = key, device(record) .. label_of(record, differs, one.field), record
      list[#list + 1] = one
    end
  end
  return list
end

--- Those that are benchmarks.
---@param run table
---@return table[] list
function measurement.benchmarks(run)
  return lists.map(measurement.of(run), function(one) return one.result and one end)
end

-- ---- selecting -----------------------------------------------------------------------------------

local WORD = "[%w_.]"

-- Whether the characters from first to last are no part of a longer word.
local function is_whole(text, first, last)
  local before, after = text:sub(first - 1, first), text:sub(last, last + 1)
  return not (first > 1 and before:find("^" .. WORD .. WORD)) and not after:find("^" .. WORD .. WORD)
end

local function has_word(text, word)
  local first, last = text:find(word, 1, true)
  while first and not is_whole(text, first, last) do first, last = text:find(word, first + 1, true) end
  return first ~= nil
end

local function is_choice(chosen, value)
  return chosen ~= nil and (tostring(chosen) == value or tonumber(chosen) == tonumber(value) and tonumber(value) ~= nil)
end

--- Whether a measurement fits a selection: whole words of its key, and choices as in "block = 2".
---@param one table     of measurement.of
---@param text string
---@return boolean
function measurement.matches(one, text)
  local fits, choices = true, measurement.choices(one.record)
  local rest = text:gsub("([^%s=,]+)%s*=%s*([^%s=,]+)", function(name, value)
    fits = fits and is_choice(choices[name], value)
    return ""
  end)
  for word in rest:gmatch "[^%s,]+" do fits = fits and has_word(one.key, word) end
  return fits
end

return measurement
