-- SPDX-License-Identifier: MIT
--
-- The best variants of a search in turn, until they separate. One is tied with the best if it is not sure to be more
-- than 1 % slower; of those at most half of that slower the simplest wins, so that a second tuning, which may see a tie
-- at its edge otherwise, names one of the same ties.

local contest = require "moonwarp.measure.contest"
local lists = require "moonwarp.base.lists"
local objective = require "moonwarp.tune.objective"
local quantity = require "moonwarp.measure.quantity"

local finals = {}

local MARGIN <const>, MOST <const> = 0.05, 12    -- of the best in the search, and how many at most
local ROUNDS <const>, LONGER <const> = 3, 3      -- each twice as long; the first so many times as long as in the search

-- The least that a row's value may be: where the search was disturbed, the lower end of the time's interval.
local function least(row, name)
  local _, low = quantity.read(row.t)
  return name == "t" and low or row.value
end

-- Those that may be near the best of the search: a tenth of the space, but two at least.
local function candidates(state)
  local name, most = state.job.objectives[1], state.best.value + MARGIN * math.abs(state.best.value)
  local list = lists.map(state.order, function(row) return row.value and least(row, name) <= most and row or nil end)
  table.sort(list, function(a, b) return a.value < b.value or a.value == b.value and a.number < b.number end)
  return table.move(list, 1, math.min(#list, MOST, math.max(2, #state.job.space.variants // 10)), 1, {})
end

local function is_simpler(a, b)
  return a.rank < b.rank or a.rank == b.rank and a.number < b.number
end

-- How many times as large one's value is as the best's, with an interval where it is a time.
local function compare(job, list)
  local best
  for _, row in ipairs(list) do
    if not best or row.value < best.value then best = row end
  end
  for _, row in ipairs(list) do
    local value = row.value == best.value and 1.0 or row.value / best.value
    row.ratio = job.objectives[1] == "t" and row ~= best and contest.ratio(best.result, row.result)
      or { value = value, low = value, high = value }
  end
end

local function take(job, row)
  local result = row.result
  row.t = 1 * result
  if job.objectives[1] == "t" then row.value = result.median end
  if result.energy then row.energy = result.energy.joules end
  if job.objectives[1] == "energy" then row.value = row.energy or row.value end
end

-- A round: those that are left, and whether another one could tell more.
local function round(state, list, steps, seconds, tie)
  list = steps.time(list, seconds)
  for _, row in ipairs(list) do take(state.job, row) end
  compare(state.job, list)
  local left = lists.map(list, function(row) return row.ratio.low <= 1 + tie and row or nil end)
  return left, lists.find(left, function(row) return row.ratio.high > 1 + tie end) ~= nil
end

local function run_rounds(state, list, steps, tie)
  local is_open, number = true, 0
  while is_open and #list > 1 and number < ROUNDS do
    list, is_open = round(state, list, steps, LONGER * 2 ^ number * state.job.min_time, tie)
    number = number + 1
  end
  return list
end

-- The best ones in turn, those that are still right after it.
local function contend(state, steps, tie)
  local all = candidates(state)
  local list = lists.map(all, function(row) return steps.make(row) and row or nil end)
  list = lists.map(run_rounds(state, list, steps, tie), function(row) return steps.verify(row) and row or nil end)
  for _, row in ipairs(all) do
    row.go = nil
    if row.reason then steps.fail(row) end
  end
  return list
end

--- The winner and those that are tied with it.
---@param state table    of a tuning: job, best, order
---@param steps table    make(row), verify(row): whether it can be run, and is still right, else it gets a reason;
---                      time(rows, min_time): those that can be timed, each with its result; fail(row): notes its
---                      reason; renew(): finds the best of the rest
---@return table? best   a row; nil if none is right
---@return table[] ties  each with ratio: how many times as large its value is as the best one's
function finals.run(state, steps)
  local list, winner, tie = {}, nil, objective.TIE[state.job.objectives[1]]
  while state.best and #list == 0 do
    list = contend(state, steps, tie)
    steps.renew()
  end
  compare(state.job, list)
  for _, row in ipairs(list) do
    if row.ratio.value <= 1 + tie / 2 and not (winner and is_simpler(winner, row)) then winner = row end
  end
  return winner, lists.map(list, function(row)
    return row ~= winner and row.ratio.low <= 1 + tie and row or nil
  end)
end

return finals
