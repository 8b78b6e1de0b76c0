-- SPDX-License-Identifier: MIT
--
-- The measurements of a stored run: each benchmark of each record, by a key that the same
-- measurement of another run has too. The key is made of what the script chose (the record's fields
-- named in `chosen`, and parameters), not of what it measured.
-- Depends on lists.

local lists = require "moonwarp.base.lists"

local measurement = {}

local NOT_CHOSEN = { device = true, device_name = true }

--- Whether a stored value is a result of mw.bench.
---@param value any
---@return boolean
function measurement.is_result(value)
  return type(value) == "table" and type(value.median) == "number" and type(value.samples) == "table"
    and type(value.samples[1]) == "number"
end

--- What the script chose for a record, as sorted { name, value } pairs; parameters included.
---@param record table
---@return table[]
function measurement.choices(record)
  local chosen, choices = {}, {}
  for name, value in pairs(record.params or {}) do
    chosen[name] = type(value) == "table" and table.concat(value, ",") or value
  end
  for _, name in ipairs(record.chosen or {}) do
    if not NOT_CHOSEN[name] then chosen[name] = record[name] end
  end
  for i, name in ipairs(lists.keys(chosen)) do choices[i] = { name, chosen[name] } end
  return choices
end

-- Names of choices that differ between the records: the others say nothing.
local function varying(records)
  local first, differs = {}, {}
  for i, record in ipairs(records) do
    local here = {}
    for _, choice in ipairs(measurement.choices(record)) do
      local name, value = choice[1], tostring(choice[2])
      here[name] = true
      if i > 1 and first[name] ~= value then differs[name] = true end
      first[name] = first[name] or value
    end
    for name in pairs(first) do
      if not here[name] then differs[name] = true end
    end
  end
  return differs
end

local function words(record, wanted)
  local parts = {}
  for _, choice in ipairs(measurement.choices(record)) do
    local name, value = choice[1], choice[2]
    if not wanted or wanted[name] then
      parts[#parts + 1] = type(value) == "string" and value or ("%s = %s"):format(name, tostring(value))
    end
  end
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
