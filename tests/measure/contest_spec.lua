-- SPDX-License-Identifier: MIT
--
-- mw.bench { naive = f, tiled = g }: contenders in turn, and their ratios.

local mw = require "moonwarp"
local support = require "tests.support"
local contest = require "moonwarp.measure.contest"
local stats = require "moonwarp.measure.stats"
local fails = support.fails

-- A contender's result from the samples of its turns.
local function result_of(turns)
  local samples, begins = {}, {}
  for i, turn in ipairs(turns) do
    begins[i] = #samples + 1
    table.move(turn, 1, #turn, #samples + 1, samples)
  end
  local t = stats.summary(samples)
  t.samples, t.turns = samples, begins
  return t
end

local function repeated(value, times)
  local list = {}
  for i = 1, times do list[i] = value + i * 1e-9 end
  return list
end

local function near(expected, got)
  assert.is_true(math.abs(got / expected - 1) < 1e-3, ("expected %g, got %g"):format(expected, got))
end

describe("contenders", function()
  local function nothing() end

  -- Two functions by a clock of their own: their times, of which the second has twice the first's pace in each turn.
  local function in_turn(options, pace)
    local order, t = {}, nil
    support.with_clock(function(pass)
      t = mw.bench({ { "slow", function() order[#order + 1] = "s" pass(0.02 * pace(#order)) end },
                     { "fast", function() order[#order + 1] = "f" pass(0.01 * pace(#order)) end } }, options)
    end)
    return t, table.concat(order)
  end

  it("are measured in turn, and found by place and name", function()
    local t, order = in_turn({ samples = 10, clock = "host" }, function() return 1 end)
    -- the first call of each, whether the batch is long enough, then turns: a call that is not timed and two that are
    assert.are.equal("sf" .. ("sssfff"):rep(5), order:gsub("^sf[sf]-(sssfff)", "sf%1"))
    assert.are.same({ "slow", "fast", 10, 10 }, { t[1].name, t[2].name, t.slow.n, t.fast.n })
    assert.are.same({ 1, 3, 5, 7, 9 }, t.fast.turns)
    assert.are.equal(t[2], t.fast)
    local names = mw.bench({ ["tile 10"] = nothing, a = nothing, ["tile 9"] = nothing }, { samples = 1, quiet = true })
    assert.are.same({ "a", "tile 9", "tile 10" }, { names[1].name, names[2].name, names[3].name })
  end)

  it("have ratios that a change of the machine's pace does not affect", function()
    local t = in_turn({ samples = 50, clock = "host" }, function(calls) return calls > 80 and 3 or 1 end)
    assert.is_true(t.slow.max > 2 * t.slow.min) -- the pace fell
    local ratio = t:ratio("fast", "slow")
    near(2, ratio.value)
    assert.is_true(ratio.low <= ratio.value and ratio.value <= ratio.high)
    near(1 / ratio.value, t:ratio("slow", "fast").value)
    local steady = in_turn({ samples = 10, clock = "host" }, function() return 1 end)
    assert.are.equal("slow: 20.00 ms ± 0 % (n = 10)\nfast: 10.00 ms ± 0 % (n = 10), 2.00 (2.00 to 2.00) times as fast "
      .. "as slow", (tostring(steady):gsub("± [%d.e-]+ %%", "± 0 %%")))
  end)

  it("end by their own limits, with three samples at least", function()
    local t = in_turn({ min_time = 0.001, max_time = 0.002, noise = 0, clock = "host" }, function() return 1 end)
    assert.are.same({ 3, 3 }, { t.slow.n, t.fast.n })
  end)

  it("are rejected with a reason if they are invalid", function()
    fails(function() mw.bench {} end, "mw.bench: a function or a table of contenders is wanted, got an empty table")
    fails(function() mw.bench { naive = 3 } end,
      "mw.bench: contender 'naive' must be a function, got number; as in mw.bench { naive = f, tiled = g }")
    fails(function() mw.bench { nothing } end, "mw.bench: contender 1 must be { \"name\", function }, got function")
    fails(function() mw.bench { { nothing } } end,
      "mw.bench: a contender is { \"name\", function } or name = function, got one named by a function")
    fails(function() mw.bench { { "a", nothing }, a = nothing } end, "mw.bench: there are two contenders named 'a'")
    fails(function() mw.bench { ratio = nothing } end,
      "mw.bench: a contender cannot be named 'ratio', which is the result's method")
    for _, name in ipairs { "cold", "graph" } do
      fails(function() mw.bench({ a = nothing }, { [name] = true }) end,
        ("mw.bench: option '%s' is for one function; contenders are measured hot"):format(name))
    end
    local t = mw.bench({ a = nothing, b = nothing }, { samples = 1, quiet = true })
    fails(function() t:ratio("a", "c") end, "ratio: there is no contender 'c'; there are a, b")
    fails(function() mw.record { t = t } end, "mw.record: field 't' is the results of several contenders: keep one per "
      .. "record, as in for _, r in ipairs(t) do mw.record { kernel = r.name, t = r } end")
  end)

  it("have a ratio whose interval holds what changes from turn to turn", function()
    local slow, fast = {}, {}
    for i, pace in ipairs { 1, 1.2, 1, 1.1, 1 } do
      slow[i], fast[i] = repeated(2 * pace, 20), repeated(i == 2 and 1.5 or pace, 20)
    end
    local ratio = contest.ratio(result_of(fast), result_of(slow))
    assert.is_near(2, ratio.value, 1e-6)
    assert.is_near(1.6, ratio.low, 1e-6)
    assert.is_true(ratio.high >= 2)
    assert.are.equal("2.03 (1.60 to 2.20)", contest.text { value = 2.03, low = 1.6, high = 2.2 })
  end)

  it("have times whose interval holds those of their turns", function()
    local t = result_of { repeated(1, 50), repeated(1, 50), repeated(1.5, 20) }
    assert.is_true(t.high < 1.1)
    local low, high = contest.interval(t)
    assert.is_near(1, low, 1e-6)
    assert.is_near(1.5, high, 1e-6)
  end)
end)
