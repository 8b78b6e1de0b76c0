-- SPDX-License-Identifier: MIT
--
-- The arrays that are reduced, and what each operation gives for them, on the host. A chunk that is
-- called with the study's settings and returns what the other parts use of it.

local set = ...
local dev, n = set.dev, set.n

local PERIOD = 65537 -- a prime: no block or grid walks it in step
local AWKWARD = math.min(n, 100003) -- a prime as well: every rung is right here too

-- An array of n elements that repeats its first PERIOD ones.
local function repeating(dtype, seed)
  local x = dev:array(dtype, n)
  local filled = math.min(n, PERIOD)
  local tile <close> = x:view(1, filled)
  tile:random { seed = seed, min = -1, max = 1 }
  local values = tile:totable()
  while filled < n do
    local count = math.min(filled, n - filled)
    local to <close> = x:view(filled + 1, count)
    local from <close> = x:view(1, count)
    to:copy(from)
    filled = filled + count
  end
  return x, values
end

-- A. Neumaier's compensated sum (1974).
local function compensated(values, count, of)
  local sum, lost = 0.0, 0.0
  for i = 1, count do
    local v = of(values[i])
    local next_sum = sum + v
    lost = lost + (math.abs(sum) >= math.abs(v) and (sum - next_sum) + v or (v - next_sum) + sum)
    sum = next_sum
  end
  return sum + lost
end

local function same(v) return v end

-- Of count elements: whole periods and a rest.
local function long_sum(values, count, of)
  local whole = count // #values
  local rest = compensated(values, count % #values, of)
  return whole > 0 and whole * compensated(values, #values, of) + rest or rest
end

-- What each operation gives for the first count elements, with sum |x| for the tolerance.
local function references(pair, count)
  local r = { magnitude = long_sum(pair.xs, count, math.abs), sum = long_sum(pair.xs, count, same),
              min = math.huge, max = -math.huge, length = -math.huge }
  local function see(x, y)
    r.min, r.max = math.min(r.min, x), math.max(r.max, x)
    r.length = math.max(r.length, x * x + y * y)
  end
  for i = 1, math.min(count, #pair.xs) do
    local covered = pair.taken[i] and i + PERIOD > count -- by a plant, and not repeated
    if not covered then see(pair.xs[i], pair.ys[i]) end
  end
  for _, planted in ipairs(pair.plants) do
    if planted.at <= count then
      local before = pair.xs[(planted.at - 1) % #pair.xs + 1]
      r.sum, r.magnitude = r.sum + (planted.x - before), r.magnitude + math.abs(planted.x)
      see(planted.x, planted.y)
    end
  end
  return r
end

-- The extremes stand once each, so that whoever misses an element can be seen to.
local function plant(pair)
  local at = { { 1, -2.5, 1 }, { AWKWARD, 2.5, -1 }, { n // 3 + 1, -2, 3 }, { n - n // 7, -3, 0 },
               { n, 3, 2 } }
  pair.taken, pair.plants = {}, {}
  for _, p in ipairs(at) do
    if not pair.taken[p[1]] then
      pair.taken[p[1]] = true
      pair.x:set(p[1], p[2])
      pair.y:set(p[1], p[3])
      pair.plants[#pair.plants + 1] = { at = p[1], x = p[2], y = p[3] }
    end
  end
end

-- x and y of an element type, with the values on the host that references() needs.
local function of(dtype)
  local pair = {}
  pair.x, pair.xs = repeating(dtype, 1)
  pair.y, pair.ys = repeating(dtype, 2)
  plant(pair)
  return pair
end

return { of = of, references = references, awkward = AWKWARD }
