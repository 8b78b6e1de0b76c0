-- SPDX-License-Identifier: MIT
--
-- The bootstrap of a median: against every possible resample, against drawn resamples, published
-- values, large lists; ratios and sizes of effect.

local support = require "tests.support"
local bootstrap = require "moonwarp.measure.bootstrap"
local stats = require "moonwarp.measure.stats"
local fails = support.fails

local function near(expected, got, tolerance)
  assert.is_true(math.abs(expected - got) <= (tolerance or 1e-12) * math.max(1, math.abs(expected)),
    ("expected %.17g, got %.17g"):format(expected, got))
end

-- value -> probability over all n^n resamples.
local function enumerated(list)
  local n, counts, draw = #list, {}, {}
  local function descend(depth)
    if depth > n then
      local median = stats.median(draw)
      counts[median] = (counts[median] or 0) + 1
      return
    end
    for i = 1, n do
      draw[depth] = list[i]
      descend(depth + 1)
    end
  end
  descend(1)
  for value, count in pairs(counts) do counts[value] = count / n ^ n end
  return counts
end

local function quantile_of(distribution, level)
  local values, sum = {}, 0
  for value in pairs(distribution) do values[#values + 1] = value end
  table.sort(values)
  for _, value in ipairs(values) do
    sum = sum + distribution[value]
    if sum >= level - 1e-12 then return value end
  end
end

local LISTS = { { 3 }, { 1, 4 }, { 1, 2, 7 }, { 1, 2, 4, 8 }, { 1, 2, 2, 5 }, { 1, 3, 4, 9, 11 },
                { 1, 2, 4, 8, 16, 32 }, { 2, 2, 2, 2, 2, 3 } }

describe("the bootstrap's distribution of a median", function()
  it("is that of all resamples", function()
    for _, list in ipairs(LISTS) do
      local expected, count = enumerated(list), 0
      local values, weights = bootstrap.distribution(list)
      for i, value in ipairs(values) do near(expected[value], weights[i], 1e-13) end
      for _ in pairs(expected) do count = count + 1 end
      assert.are.equal(count, #values)
    end
  end)

  it("has the interval of all resamples", function()
    for _, list in ipairs(LISTS) do
      local expected, mirrored = enumerated(list), {}
      for value, p in pairs(expected) do mirrored[-value] = p end
      for _, level in ipairs { 0.95, 0.8, 0.5 } do
        local low, high = bootstrap.interval(list, level)
        near(quantile_of(expected, (1 - level) / 2), low, 0)
        near(-quantile_of(mirrored, (1 - level) / 2), high, 0)
      end
    end
  end)

  -- Those of x(2) ... x(12), as Efron's chapter 10 prints them.
  it("has the published weights of 13 samples", function()
    local _, weights = bootstrap.distribution { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 }
    for i, p in ipairs { 0.0015, 0.0142, 0.0550, 0.1242, 0.1936, 0.2230, 0.1936, 0.1242, 0.0550, 0.0142,
                         0.0015 } do
      assert.is_true(math.abs(weights[i + 1] - p) < 1e-4, ("%d: %g, got %g"):format(i + 1, p, weights[i + 1]))
    end
  end)

  it("sums to 1 and lies about the median for every n", function()
    for _, n in ipairs { 2, 3, 10, 63, 64, 65, 399, 400, 401, 402, 5000, 100000 } do
      local list = {}
      for i = 1, n do list[i] = i + 0.0 end
      local values, weights = bootstrap.distribution(list)
      local sum, mean = 0, 0
      for i, w in ipairs(weights) do
        assert.is_true(w >= 0)
        sum, mean = sum + w, mean + w * values[i]
      end
      near(1, sum, 1e-9)
      near((n + 1) / 2, mean, 1e-7)
    end
  end)
end)

describe("the interval of a median", function()
  -- A linear congruential generator, so that the draws are the same everywhere.
  local state = 12345
  local function draw(n)
    state = (state * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
    return (state >> 20) % n + 1
  end

  it("is that of many drawn resamples", function()
    for _, n in ipairs { 25, 40 } do
      local list, medians = {}, {}
      for i = 1, n do list[i] = (i * i % 101) / 7 end
      table.sort(list)
      for i = 1, 20000 do
        local resample = {}
        for k = 1, n do resample[k] = list[draw(n)] end
        medians[i] = stats.median(resample)
      end
      table.sort(medians)
      local low, high = bootstrap.interval(list)
      local function share_below(t)
        local count = 0
        for _, value in ipairs(medians) do count = count + (value < t and 1 or 0) end
        return count / #medians
      end
      assert.is_true(share_below(low) <= 0.03 and share_below(low + 1e-9) >= 0.02)
      assert.is_true(share_below(high) <= 0.98 and share_below(high + 1e-9) >= 0.97)
    end
  end)

  it("holds the true median about as often as it says", function()
    local hits, rounds = 0, 400
    for _ = 1, rounds do
      local list = {}
      for i = 1, 31 do list[i] = draw(1 << 30) / (1 << 30) end
      local low, high = stats.interval(list)
      if low <= 0.5 and 0.5 <= high then hits = hits + 1 end
    end
    assert.is_true(hits / rounds > 0.91 and hits / rounds < 0.985, hits / rounds)
  end)

  it("narrows with the square root of n", function()
    for _, n in ipairs { 999, 1000, 99999, 100000 } do
      local list = {}
      for i = 1, n do list[i] = i / n end
      local low, high = bootstrap.interval(list)
      near(2 * 1.959964 / (2 * math.sqrt(n)), high - low, 4 / n)
    end
  end)

  it("is quick for a hundred thousand samples", function()
    for _, n in ipairs { 99999, 100000 } do
      local list, instructions = {}, 0
      for i = 1, n do list[i] = i end
      debug.sethook(function() instructions = instructions + 1000 end, "", 1000)
      bootstrap.interval(list)
      debug.sethook()
      assert.is_true(instructions < 20 * n, instructions) -- a thousand resamples would be 1000 n draws
    end
  end)

  it("is in a summary, about the median", function()
    local s = stats.summary { 5, 1, 4, 2, 3 }
    assert.is_true(s.low <= s.median and s.median <= s.high and s.p25 <= s.median and s.median <= s.p75)
    assert.are.equal(2, s.p25)
    assert.are.equal(4, s.p75)
    local one = stats.summary { 7 }
    assert.are.same({ 7, 7 }, { one.low, one.high })
  end)
end)

describe("the size of an effect", function()
  it("is nothing between a list and itself", function()
    local e = stats.effect({ 1, 2, 3, 4 }, { 1, 2, 3, 4 })
    assert.are.equal(1, e.ratio)
    assert.are.equal(0, e.delta)
    assert.are.equal(0.5, e.superiority)
    assert.is_true(e.low < 1 and 1 < e.high)
  end)

  it("is 1 where all of the one are above all of the other", function()
    local e = stats.effect({ 10, 11, 12 }, { 1, 2, 3, 3 })
    assert.are.equal(1, e.delta)
    assert.are.equal(-1, stats.effect({ 1, 2, 3, 3 }, { 10, 11, 12 }).delta)
    assert.is_true(e.low > 1)
  end)

  it("is Cliff's delta with ties", function()
    local a, b = { 1, 2, 2, 3, 9, 4 }, { 2, 2, 5, 1 }
    local sum = 0
    for _, x in ipairs(a) do
      for _, y in ipairs(b) do sum = sum + (x > y and 1 or x < y and -1 or 0) end
    end
    near(sum / (#a * #b), stats.effect(a, b).delta)
  end)

  it("has a narrow interval for steady lists, the same every time", function()
    local a, b = {}, {}
    for i = 1, 101 do a[i], b[i] = 2 + i % 7 / 1000, 1 + i % 5 / 1000 end
    local e, again = stats.effect(a, b), stats.effect(a, b)
    assert.is_true(e.low <= e.ratio and e.ratio <= e.high and e.high - e.low < 0.01)
    assert.are.same(e, again)
  end)

  it("needs samples of both", function()
    fails(function() stats.effect({}, { 1 }) end, "stats.effect: at least one sample of each is needed")
  end)
end)
