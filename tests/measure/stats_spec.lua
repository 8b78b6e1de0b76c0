-- SPDX-License-Identifier: MIT
--
-- Statistics, units, axis ticks and option checks: pure Lua, degenerate input first.

local support = require "tests.support"
local schema = require "moonwarp.base.schema"
local stats = require "moonwarp.measure.stats"
local ticks = require "moonwarp.plot.ticks"
local units = require "moonwarp.base.units"
local fails = support.fails

local function near(expected, got)
  assert.is_true(math.abs(expected - got) <= 1e-12 * math.max(1, math.abs(expected)),
    ("expected %.17g, got %.17g"):format(expected, got))
end

describe("a summary", function()
  it("of one sample has no spread and no NaN", function()
    local s = stats.summary { 5 }
    for _, key in ipairs { "median", "min", "max", "mean", "p05", "p95" } do assert.are.equal(5, s[key]) end
    for _, key in ipairs { "sd", "mad", "noise" } do assert.are.equal(0, s[key]) end
    assert.are.equal(1, s.n)
  end)

  it("of equal samples, of zeros too, has no noise", function()
    for _, value in ipairs { 3, 0 } do
      local s = stats.summary { value, value, value, value }
      assert.are.equal(value, s.median)
      assert.are.equal(0, s.sd)
      assert.are.equal(0, s.noise)
    end
  end)

  it("agrees with values worked out by hand", function()
    local s = stats.summary { 4, 1, 3, 2, 100 }
    assert.are.equal(3, s.median)
    assert.are.equal(1, s.mad)
    assert.are.equal(22, s.mean)
    near(math.sqrt((18 ^ 2 + 21 ^ 2 + 19 ^ 2 + 20 ^ 2 + 78 ^ 2) / 4), s.sd)
    near(1.2, s.p05)
    near(80.8, s.p95)
    near(1.2533141373155001 * 1.4826022185056018 / math.sqrt(5) / 3, s.noise)
  end)

  it("has a noise although most samples are equal", function()
    assert.is_true(stats.summary({ 1, 1, 1, 1, 2 }).noise > 0)
  end)

  it("keeps its digits if the spread is small beside the mean", function()
    near(1, stats.summary({ 1e9 + 1, 1e9 + 2, 1e9 + 3 }).sd)
  end)

  it("leaves the list as it was", function()
    local list = { 3, 1, 2 }
    stats.summary(list)
    assert.are.same({ 3, 1, 2 }, list)
  end)

  it("needs a sample", function()
    fails(function() stats.summary {} end, "stats.summary: at least one sample is needed, got none")
  end)
end)

describe("outliers", function()
  it("are counted", function()
    assert.are.equal(1, stats.outliers { 1, 1.01, 0.99, 1, 1.02, 3 })
  end)

  it("are found if the MAD is 0", function()
    assert.are.equal(1, stats.outliers { 1, 1, 1, 1, 9 })
  end)

  it("are not made of tiny spreads", function()
    assert.are.equal(0, stats.outliers { 1, 1.0001, 1, 0.9999, 1.002 })
    assert.are.equal(0, stats.outliers { 7 })
  end)
end)

describe("units", function()
  it("are chosen by size and say so", function()
    assert.are.equal("1.235 ms", units.format(1.23456e-3, "s"))
    assert.are.equal("561.0 GB/s", units.format(561e9, "B/s"))
    assert.are.equal("5.500 T/s", units.format(5.5e12, "1/s"))
    assert.are.equal("55.00 1/s", units.format(55.0, "1/s"))
    assert.are.equal("2.000 GiB", units.format(2.0 ^ 31, "iB"))
    assert.are.equal("0 s", units.format(0, "s"))
    assert.are.equal("12", units.format(12, ""))
    assert.are.equal("96.5 %", units.format(0.965, "%", 3))
    assert.are.equal("3600 s", units.format(3600, "s"))
  end)

  it("never break on values that are not numbers", function()
    assert.are.equal("nan s", units.format(0 / 0, "s"))
    assert.are.equal("inf", units.format(math.huge, ""))
  end)

  it("are known for the usual fields", function()
    assert.are.equal("B/s", units.of "T_tot")
    assert.are.equal("s", units.of "t")
    assert.are.equal("flop/s", units.of_bench "rate")
    assert.are.equal("", units.of "rate")
    assert.are.equal("iB", units.of "bytes")
    assert.are.equal("", units.of "threads")
  end)
end)

describe("an axis", function()
  it("of positive values begins at 0 and ends at a round number", function()
    local axis = ticks.axis(16, 732, nil, 5)
    assert.are.equal(0, axis.low)
    assert.are.equal(800, axis.high)
    assert.are.same({ 0, 200, 400, 600, 800 }, axis.ticks)
  end)

  it("of base 2 has its ticks at powers of 2", function()
    assert.are.same({ 32, 64, 128, 256, 512, 1024 }, ticks.axis(32, 1024, 2, 10, true).ticks)
  end)

  it("of one value still has an extent", function()
    for _, base in ipairs { 2, 10 } do
      local axis = ticks.axis(5, 5, base, 5, true)
      assert.is_true(axis.low < axis.high)
    end
    assert.is_true(ticks.axis(0, 0, nil, 5).high > 0)
    assert.are.equal(0.5, ticks.axis(4, 4, nil, 5, true).at(4))
  end)

  it("labels its ticks shortly", function()
    local function labels(...) return table.concat(ticks.axis(...).labels, " ") end
    assert.are.equal("0 0.5 1 1.5", labels(0, 1.3, nil, 3))
    assert.are.equal("512 1024 2048", labels(512, 2048, 2, 5))
    assert.are.equal("2^20 2^21 2^22", labels(2 ^ 20, 2 ^ 22, 2, 5))
    assert.are.equal("0 0.5e6 1e6", labels(0, 9e5, nil, 2))
    assert.are.equal("1e-5 1e-4 1e-3", labels(1e-5, 1e-3, 10, 5))
    assert.are.equal("0.001 0.01 0.1", labels(1e-3, 0.1, 10, 5))
    assert.are.equal("0 20e-6 40e-6 60e-6 80e-6 100e-6", labels(0, 1e-4, nil, 5))
  end)
end)

describe("an option table", function()
  local spec = { noise = "number", title = "string", y = "string table" }
  local function check(options) schema.options("f", options, spec) end

  it("may be left out", function() assert.are.same({}, schema.options("f", nil, spec)) end)

  it("is rejected with the nearest name, or all of them", function()
    fails(function() check { nose = 1 } end, "f: unknown option 'nose'; did you mean 'noise'?")
    fails(function() check { qqq = 1 } end, "f: unknown option 'qqq'; it takes noise, title, y")
    fails(function() check { 1 } end, "f: unknown option '1'; it takes noise, title, y")
  end)

  it("is rejected for values of the wrong type", function()
    fails(function() check { noise = "x" } end, "f: option 'noise' must be a number, got string")
    fails(function() check { y = 1 } end, "f: option 'y' must be a string or table, got number")
    fails(function() check(7) end, "f: options must be a table, got number")
  end)
end)
