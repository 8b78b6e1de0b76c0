-- SPDX-License-Identifier: MIT
--
-- Contenders: functions that are measured in turn, and their results side by side.
--   { naive = f, tiled = g }               in the order of their names and the numbers in these
--   { { "naive", f }, { "tiled", g } }     in this order

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local quantity = require "moonwarp.measure.quantity"
local stats = require "moonwarp.measure.stats"
local units = require "moonwarp.base.units"

local contest = {}

-- ---- what a script gives ------------------------------------------------------------------------

local function is_callable(value)
  return type(value) == "function" or core.type(value) == "launch"
end

local function reject(text, ...)
  failure.invalid("mw.bench: " .. text, ...)
end

local function add(list, name, fn)
  if type(name) ~= "string" then
    reject("a contender is { \"name\", function } or name = function, got one named by a %s", type(name))
  end
  if not is_callable(fn) then
    reject("contender '%s' must be a function, got %s; as in mw.bench { naive = f, tiled = g }", name,
      core.type(fn) or type(fn))
  end
  if name == "ratio" then reject "a contender cannot be named 'ratio', which is the result's method" end
  if lists.find(list, function(one) return one.name == name end) then
    reject("there are two contenders named '%s'", name)
  end
  list[#list + 1] = { name = name, fn = fn }
end

-- A name that sorts by its numbers: "10" after "9".
local function padded(name)
  return (tostring(name):gsub("%d+", function(digits) return ("0"):rep(20 - #digits) .. digits end))
end

--- The contenders that a table names, in order.
---@param given table     { name = function, ... } or { { name, function }, ... }
---@return table[] list   { name =, fn = }
function contest.read(given)
  local list = {}
  local named = lists.named(given)
  local names = lists.keys(named)
  table.sort(names, function(a, b) return padded(a) < padded(b) end)
  for _, name in ipairs(names) do add(list, name, named[name]) end
  for i, value in ipairs(given) do
    if type(value) ~= "table" then
      reject("contender %d must be { \"name\", function }, got %s", i, core.type(value) or type(value))
    end
    add(list, value[1], value[2])
  end
  if #list == 0 then reject("a function or a table of contenders is wanted, got an empty table") end
  return list
end

-- ---- ratios -------------------------------------------------------------------------------------

--- The samples of some of a contender's turns.
---@param t table         its result
---@param first integer   turns, from 1
---@param last integer
---@return number[]
function contest.samples(t, first, last)
  local to = (t.turns[last + 1] or #t.samples + 1) - 1
  return table.move(t.samples, t.turns[first], to, 1, {})
end

--- The 95 % interval of a contender's time: that of the bootstrap over samples and that over its turns. Samples of one
--- turn are not independent.
---@param t table   its result
---@return number low
---@return number high
function contest.interval(t)
  local low, high = stats.interval(lists.map(t.turns, function(_, i) return stats.median(contest.samples(t, i, i)) end))
  return math.min(t.low, low), math.max(t.high, high)
end

-- The ratio in each turn that both had: what changes from turn to turn meets both.
local function by_turns(over, under)
  local ratios = {}
  for i = 1, math.min(#over.turns, #under.turns) do
    ratios[i] = stats.median(contest.samples(under, i, i)) / stats.median(contest.samples(over, i, i))
  end
  return ratios
end

--- How many times as fast one contender is as another: the ratio of the medians of their times. Its 95 % interval holds
--- that of the bootstrap over samples and that over the turns that both had.
---@param over table    a result of mw.bench
---@param under table   another one, measured in turn with it
---@return table ratio  a quantity: value, low, high
function contest.ratio(over, under)
  if over.n == 0 or under.n == 0 then return 1 / over end -- not timed
  local effect = stats.effect(under.samples, over.samples)
  local low, high = stats.interval(by_turns(over, under))
  return quantity.new(effect.ratio, math.min(effect.low, low), math.max(effect.high, high))
end

--- A ratio as text: "1.93 (1.91 to 1.95)".
---@param ratio table
---@return string
function contest.text(ratio)
  return ("%s (%s to %s)"):format(units.digits(ratio.value, 3), units.digits(ratio.low, 3), units.digits(ratio.high, 3))
end

-- ---- the results --------------------------------------------------------------------------------

local results_type = {}
results_type.__index = results_type
results_type.__name = "results of contenders"

local function result_named(self, name)
  local result = type(name) == "string" and rawget(self, name)
  if result then return result end
  failure.invalid("ratio: there is no contender '%s'; there are %s", tostring(name),
    table.concat(lists.map(self, function(one) return one.name end), ", "))
end

--- How many times as fast a contender is as another: t:ratio("tiled", "naive").
---@param over string
---@param under string
---@return table ratio  a quantity: value, low, high (a 95 % interval)
function results_type:ratio(over, under)
  return contest.ratio(result_named(self, over), result_named(self, under))
end

-- A line each; the others next to the first.
function results_type:__tostring()
  local lines, first = {}, self[1]
  for i, one in ipairs(self) do
    lines[i] = ("%s: %s"):format(one.name, tostring(one))
    if i > 1 and one.n > 0 then
      lines[i] = ("%s, %s times as fast as %s"):format(lines[i], contest.text(contest.ratio(one, first)), first.name)
    end
  end
  return table.concat(lines, "\n")
end

--- Results in order, found by place and by name.
---@param list table[]  each with its name
---@return table
function contest.results(list)
  local results = table.move(list, 1, #list, 1, {})
  for _, one in ipairs(list) do results[one.name] = one end
  return setmetatable(results, results_type)
end

--- Whether a value is what mw.bench returns for contenders.
---@param value any
---@return boolean
function contest.is_results(value)
  return getmetatable(value) == results_type
end

return contest
