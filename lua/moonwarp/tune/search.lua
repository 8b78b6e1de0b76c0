-- SPDX-License-Identifier: MIT
--
-- The order in which variants are tried. A search is a coroutine: it asks for the values of some variants, which are
-- least where they are best and infinite where a variant does not work, and is left alone where no more may be tried.
-- Nothing here measures, so that a search can be run over any function. The same seed gives the same order.
--
-- Sources: groups of parameters: Oxford's course on CUDA (M. Giles), practical 10; greedy local search, annealing: B.
-- van Werkhoven, "Kernel Tuner" (2019); successive halving: K. Jamieson and A. Talwalkar, "Non-stochastic best arm
-- identification" (2016).

local lists = require "moonwarp.base.lists"

local search = {}

-- Uniform numbers, by Marsaglia's xorshift (2003): math.random is the script's.
local function random_of(seed)
  local state = (seed * 0x9E3779B97F4A7C15) ~ 0x2545F4914F6CDD1D
  if state == 0 then state = 1 end
  return function(most) -- an integer up to it; without it a number below 1
    state = state ~ (state << 13)
    state = state ~ (state >> 7)
    state = state ~ (state << 17)
    local number = (state >> 11) * 2.0 ^ -53
    return most and math.floor(number * most) + 1 or number
  end
end

local function shuffled(list, random)
  for i = #list, 2, -1 do
    local j = random(i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

local function all_of(space)
  return lists.map(space.variants, function(_, i) return i end)
end

-- The best of some variants and of one whose value is known; of equal ones the first.
local function best_of(list, values, i, value)
  for k, other in ipairs(list) do
    if values[k] < value or values[k] == value and other < i then i, value = other, values[k] end
  end
  return i, value
end

-- ---- the searches: how(space, ask, random, most, start) -----------------------------------------

local searches = {}

searches["brute force"] = function(space, ask)
  ask(all_of(space))
end

searches.random = function(space, ask, random)
  ask(shuffled(all_of(space), random))
end

local WIDTH <const> = 4 -- neighbours that are compiled side by side

-- Steps to the first neighbour that is better, until there is none; where it ends, and its value.
local function descend(space, ask, random, i)
  local value = ask({ i })[1]
  repeat
    local before, around = i, shuffled(space:neighbours(i), random)
    for from = 1, #around, WIDTH do
      local some = table.move(around, from, math.min(from + WIDTH - 1, #around), 1, {})
      i, value = best_of(some, ask(some), i, value)
      if i ~= before then break end
    end
  until i == before
  return i, value
end

local KICK <const> = 3 -- steps away from the best, from which it is looked for again

-- Iterated: where no neighbour is better, anew from a few steps away from the best.
searches["local"] = function(space, ask, random, _, start)
  local best, least = descend(space, ask, random, start)
  for _ = 1, #space.variants do
    local i = best
    for _ = 1, KICK do
      local around = space:neighbours(i)
      i = around[random(math.max(#around, 1))] or i
    end
    local found, value = descend(space, ask, random, i)
    if value < least then best, least = found, value end
  end
end

-- Again while that changes something: what is best of one group may depend on another. Where not all variants may be
-- tried, the rest is spent on the neighbours of what was found.
searches.groups = function(space, ask, random, most, start)
  local i, value = start, math.huge
  repeat
    local before = i
    for _, group in ipairs(space.groups) do
      local list = space:along(i, group)
      i, value = best_of(list, ask(list), i, value)
    end
  until i == before
  if most < #space.variants then searches["local"](space, ask, random, most, i) end
end

local WARM <const>, COLD <const> = 0.5, 0.005 -- relative losses that are taken with a probability of 1/e
local RUNS <const> = 10

-- A step to another neighbour, of which a worse one is taken the more rarely the later it is; cold, it begins again.
local function anneal(space, ask, random, most, i)
  local value = ask({ i })[1]
  for step = 1, most do
    local around = space:neighbours(i)
    if #around == 0 then return end
    local other = around[random(#around)]
    local found = ask({ other })[1]
    local loss = (found - value) / math.abs(value)
    if found <= value or random() < math.exp(-loss / (WARM * (COLD / WARM) ^ (step / most))) then
      i, value = other, found
    end
  end
end

searches.annealing = function(space, ask, random, most, start)
  for _ = 1, RUNS do
    anneal(space, ask, random, most, start)
    start = random(#space.variants)
  end
end

-- Many variants in little time each, then the better half in twice the time, until one is left.
searches.halving = function(space, ask, random, most)
  local list, effort = shuffled(all_of(space), random), 0.25
  list = table.move(list, 1, math.min(most, #list), 1, {})
  while #list > 0 do
    local values, value_of = ask(list, effort), {}
    for k, i in ipairs(list) do value_of[i] = values[k] end
    table.sort(list, function(a, b)
      return value_of[a] < value_of[b] or value_of[a] == value_of[b] and a < b
    end)
    local half = #list // 2
    list, effort = table.move(list, 1, half, 1, {}), 2 * effort
  end
end

--- The names of the searches.
search.NAMES = lists.keys(searches)

--- Runs a search until it ends, or `measure` says that no more may be tried.
---@param name string     of search.NAMES
---@param space table
---@param options table   seed; most: variants; start: the number of the first one
---@param measure fun(list: integer[], effort: number): number[]?   the values of variants, the least is the best; nil:
---                       no more. effort: how long each is measured, relative to 1. It is asked for known ones as well
function search.run(name, space, options, measure)
  local run = coroutine.wrap(function()
    local function ask(list, effort) return coroutine.yield(list, effort or 1) end
    searches[name](space, ask, random_of(options.seed), options.most, options.start)
  end)
  local list, effort = run()
  while list do
    local values = measure(list, effort)
    if not values then return end
    list, effort = run(values)
  end
end

return search
