-- SPDX-License-Identifier: MIT
--
-- A gate: a rate of one record must be at least a share of the same rate of another record of the
-- same run. Both are from one machine and one quarter of an hour, so a gate says the same on a slow
-- machine as on a fast one; seconds do not, and are rejected. A gate with a kernel is one on its structural counters
-- (counter_gate.lua).

local compare = require "moonwarp.results.compare"
local counter_gate = require "moonwarp.lab.counter_gate"
local lists = require "moonwarp.base.lists"
local fields = require "moonwarp.results.fields"
local nearest = require "moonwarp.base.nearest"
local quantity = require "moonwarp.measure.quantity"
local units = require "moonwarp.base.units"

local gate = {}

local KEYS = { "record", "field", "at_least", "of", "devices", "name", "kernel" }
local SECONDS = lists.set { "seconds", "time", "time_limit", "max_time", "at_most", "below", "within", "t" }

-- ---- what a curriculum may say ------------------------------------------------------------------

local function problem_of_key(key)
  if SECONDS[key] then
    return ("a gate has no '%s': it is a share of another rung, never seconds; as in "):format(key)
      .. "at_least = 0.8, of = { rung = \"naive\" }"
  end
  return ("a gate has no '%s'; %s"):format(tostring(key), nearest.hint(key, KEYS))
end


--- Whether a table is meant as one gate, and not as a list of them.
---@param given table
---@return boolean
function gate.is_meant(given)
  return lists.find(lists.keys(given), function(key) return lists.has(KEYS, key) or SECONDS[key] end) ~= nil
end

local function is_selector(value)
  if type(value) ~= "table" or next(value) == nil then return false end
  for key, wanted in pairs(value) do
    if type(key) ~= "string" or type(wanted) == "table" then return false end
  end
  return true
end

local SELECTOR = "a gate wants %s, a table of fields that a record has; as in { rung = \"naive\" }"

local ENDS = lists.set { "low", "high" } -- of a benchmark or of a rate with an interval: the record says which

local function is_seconds(field)
  local within, name = field:match "^(.+)%.([^.]+)$"
  if SECONDS[field] or units.of(field) == "s" then return true end
  return name ~= nil and units.of_bench(name) == "s" and not (ENDS[name] and units.of(within) ~= "s")
end

--- The problem of a gate, or nil.
---@param given any
---@return string?
function gate.problem(given)
  if type(given) ~= "table" then return "a gate is a table, got " .. type(given) end
  if counter_gate.is(given) or counter_gate.lacks_kernel(given) then return counter_gate.problem(given) end
  for _, key in ipairs(lists.keys(given)) do
    if not lists.has(KEYS, key) then return problem_of_key(key) end
  end
  for _, key in ipairs { "record", "of" } do
    if not is_selector(given[key]) then return SELECTOR:format(key) end
  end
  if type(given.field) ~= "string" then return "a gate wants field, the name of a rate; as in \"T_tot\"" end
  if is_seconds(given.field) then
    return ("a gate on '%s' is a gate on seconds; take a rate, as in field = \"T_tot\""):format(given.field)
  end
  local share = given.at_least
  if type(share) ~= "number" or not (share > 0 and share < math.huge) then
    return "a gate wants at_least, a share of the reference above 0; as in 0.8"
  end
end

-- ---- what a run says ----------------------------------------------------------------------------

local function has(record, wanted)
  for key, value in pairs(wanted) do
    if fields.value(record, key) ~= value then return false end
  end
  return true
end

-- A rate with its interval; nil if the record has none. A plain number per second next to one benchmark is work by its
-- median.
local function rate_of(record, field)
  local value, low, high = quantity.read(fields.value(record, field))
  if value and not low and fields.unit(record, field):find "/s$" then
    local results = lists.map(lists.keys(record), function(name)
      return fields.is_result(record[name]) and record[name] or nil
    end)
    local t = #results == 1 and results[1] or {}
    if t.low and t.high then low, high = value * t.median / t.high, value * t.median / t.low end
  end
  return value and { value = value, low = low or value, high = high or value }
end

-- The best of the records that the selector takes; nil and why not.
local function best(records, wanted, field)
  local found, most = false, nil
  for _, record in ipairs(records) do
    if has(record, wanted) then
      local rate = rate_of(record, field)
      found = true
      if rate and fields.unit(record, field) == "s" then
        return nil, ("'%s' is a time, and a gate takes rates"):format(field)
      end
      if rate and not (most and most.value >= rate.value) then most = rate end
    end
  end
  if most then return most end
  return nil, found and ("no record with %s has a number '%s'"):format(gate.words(wanted), field)
    or ("no record has %s"):format(gate.words(wanted))
end

local function shown(value)
  local text = tostring(value)
  return text:find("[^%w_%-.]") and ("'%s'"):format(text) or text
end

--- A selector for people: "rung = naive, threads = 256".
---@param wanted table
---@return string
function gate.words(wanted)
  return table.concat(lists.map(lists.keys(wanted), function(key)
    return ("%s = %s"):format(key, shown(wanted[key]))
  end), ", ")
end

local function title(one)
  return one.name or ("%s of %s at least %g of %s"):format(one.field, gate.words(one.record), one.at_least,
    gate.words(one.of))
end

--- Holds a gate against a run; of several records that fit the best counts, on both sides.
---@param one table         as the curriculum has it
---@param records table[]   of the run
---@param counted table[]?  its counters
---@return table outcome   { text =, ok =, at_least =, share = (nil: no records), low =, high = (of its interval),
---                        message = (where it does not hold), unclear = (true: at_least lies inside the interval) }
function gate.judge(one, records, counted)
  if counter_gate.is(one) then return counter_gate.judge(one, counted or {}) end
  local outcome = { text = title(one), ok = false, at_least = one.at_least }
  local value, problem = best(records, one.record, one.field)
  local reference
  if value then reference, problem = best(records, one.of, one.field) end
  if reference and reference.low <= 0 then problem = "the reference is not above zero" end
  outcome.message = problem
  if problem then return outcome end
  local effect = compare.quotient(reference, value)
  local side = compare.side(effect, one.at_least)
  outcome.share, outcome.low, outcome.high = effect.ratio, effect.low, effect.high
  outcome.ok, outcome.unclear = side == "more", not side or nil
  if outcome.ok then return outcome end
  outcome.message = ("%s of %s is %.3g of %s, wanted at least %g"):format(one.field, gate.words(one.record),
    effect.ratio, gate.words(one.of), one.at_least)
  if not side then
    outcome.message = ("%s, which lies in its interval, %.3g to %.3g: measure longer, or on a quieter machine"):format(
      outcome.message, effect.low, effect.high)
  end
  return outcome
end

return gate
