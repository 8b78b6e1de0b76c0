-- SPDX-License-Identifier: MIT
--
-- A benchmark, and what is derived from it, keeps its interval in arithmetic, records, tables, charts, gates and files.

local support = require "tests.support"
local export = require "moonwarp.results.export"
local fields = require "moonwarp.results.fields"
local gate = require "moonwarp.lab.gate"
local json = require "moonwarp.base.json"
local quantity = require "moonwarp.measure.quantity"
local mw = support.mw
local fails = support.fails

-- A result with a median of 2 ms, from 1.6 to 2.5 ms.
local function result()
  local t = mw.bench(function() end, { samples = 3, batch = 1000, clock = "host" })
  t.median, t.low, t.high, t.warnings = 2e-3, 1.6e-3, 2.5e-3, {}
  return t
end

local function near(expected, got)
  for _, field in ipairs { "value", "low", "high" } do
    assert.is_near(expected[field], got[field], 1e-9 * math.abs(expected[field]))
  end
  assert.are.equal("quantity", mw.type(got))
end

describe("a quantity", function()
  it("comes from a number and a benchmark, and goes on with numbers", function()
    local t = result()
    near({ value = 2e6, low = 1.6e6, high = 2.5e6 }, 4e3 / t)
    near({ value = 2, low = 1.6, high = 2.5 }, t * 1e3)
    near({ value = 1e-3, low = 0.8e-3, high = 1.25e-3 }, t / 2)
    near({ value = -2e-3, low = -2.5e-3, high = -1.6e-3 }, -t)
    near({ value = 3e6, low = 2.6e6, high = 3.5e6 }, 1e6 + 4e3 / t)
    near({ value = -1e6, low = -1.5e6, high = -0.6e6 }, 1e6 - 4e3 / t)
    near({ value = -2e6, low = -2.5e6, high = -1.6e6 }, 4e3 / t * -1)
    assert.are.equal(2e-3, t.median)
    assert.is_nil(mw.type(t))
  end)

  it("is a text with half of its interval in percent", function()
    assert.are.equal("4.31e12 ± 0.20 %", tostring(quantity.new(4.31e12, 4.30138e12, 4.31862e12)))
    assert.are.equal("2.5e-7 ± 10 %", tostring(quantity.new(2.5e-7, 2.25e-7, 2.75e-7)))
    assert.are.equal("rate: 3", "rate: " .. quantity.new(3, 3, 3))
    assert.are.equal("2.000 ms ± 22 % (n = 3)", tostring(result()))
    assert.are.equal("t: 2.000 ms ± 22 % (n = 3)", "t: " .. result())
  end)

  it("says what has no interval, and the way out", function()
    local t, q = result(), 1 / result()
    local two = "two values with intervals have no interval together; for a ratio with one: "
      .. "mw.bench { a = f, b = g }:ratio(\"a\", \"b\"); without: .value, of a benchmark .median"
    for _, pair in ipairs { { t, t }, { q, t }, { t, q }, { q, q } } do
      fails(function() return pair[1] / pair[2] end, two)
      fails(function() return pair[1] - pair[2] end, two)
      fails(function() return pair[1] < pair[2] end,
        "a measured value is an interval and has no order; compare its .value, of a benchmark its .median")
    end
    fails(function() return q >= 3 end,
      "a measured value is an interval and has no order; compare its .value, of a benchmark its .median")
    local other = "a measured value takes + - * / with a number; for other operations take its .value, of a benchmark "
      .. ".median"
    fails(function() return q ^ 2 end, other)
    fails(function() return t // 2 end, other)
    fails(function() return 2 % q end, other)
    fails(function() return q * "x" end, "arithmetic with a measured value: a number is wanted, got string")
    fails(function() return q + nil end, "arithmetic with a measured value: a number is wanted, got nil")
    fails(function() return 1 / quantity.new(1, -1, 2) end,
      "division by a measured value whose interval, -1 to 2, contains 0")
  end)

  it("is what contenders' ratio gives", function()
    local t = mw.bench({ a = function() end, b = function() end }, { samples = 5, quiet = true })
    local ratio = t:ratio("a", "b")
    assert.are.equal("quantity", mw.type(ratio))
    assert.is_true(ratio.low <= ratio.value and ratio.value <= ratio.high)
  end)
end)

describe("a quantity in a run", function()
  local function in_run(body)
    support.with_folder(function(folder)
      support.into(folder, function()
        local t = result()
        body { mw.record { n = 256, T_tot = 4e6 / t, t = t }, mw.record { n = 1024, T_tot = 8e6 / t, t = t } }
      end)
    end)
  end

  it("is stored as value, low and high", function()
    local entry = { T_tot = 4e3 / result() }
    local stored = json.decode(json.encode(entry)).T_tot
    near({ value = 2e6, low = 1.6e6, high = 2.5e6 }, setmetatable(stored, getmetatable(entry.T_tot)))
    local value, low, high = quantity.read(json.decode '{"value":2,"low":1,"high":null}')
    assert.are.same({ 2, 1 }, { value, low, high })
    assert.is_nil(quantity.read { low = "a", value = 1 })
  end)

  it("is a value ± x % in a table", function()
    in_run(function(records)
      local text = mw.table { "n", "T_tot", "t", records = records, quiet = true }
      assert.is_truthy(text:find(" 256  2.000 ± 22 %  2.000 ± 22 %\n1024  4.000 ± 22 %  2.000 ± 22 %", 1, true), text)
    end)
  end)

  it("has error bars in a chart, as a benchmark has", function()
    in_run(function(records)
      for _, case in ipairs { { "T_tot", "2 1.6 2.5\n1024 4 3.2 5" }, { "t", "2 1.6 2.5\n1024 2 1.6 2.5" },
                              { "T_tot.value", "2 2 2\n1024 4 4 4", "T_tot.value" } } do
        local y, data = case[1], case[2]
        local made = mw.plot { x = "n", y = y, unit = y == "t" and "s" or "B/s", quiet = true, pictures = false,
                               records = records, low = case[3], high = case[3] }
        assert.is_truthy(support.read(made.dat):find("\n256 " .. data, 1, true), support.read(made.dat))
        assert.is_truthy(support.read(made.gp):find("with yerrorbars", 1, true))
      end
      local made = mw.plot { x = "n", y = "T_tot", peak = records[2].T_tot, records = records, quiet = true,
                             pictures = false }
      assert.is_truthy(made.chart:find("peak (4.000 GB/s)", 1, true), made.chart)
      made = mw.plot { x = "n", y = "t", peak = records[1].t, lines = { { value = records[2].T_tot, label = "far" } },
                       records = records, quiet = true, pictures = false }
      assert.is_truthy(made.chart:find("peak (2.000 ms)", 1, true), made.chart)
      assert.is_truthy(made.chart:find("far (4000000000 s)", 1, true), made.chart)
      made = mw.ladder { x = "T_tot", by = "n", records = records, quiet = true, pictures = false }
      assert.is_truthy(made.chart:find("2.00 GB/s ±22 %", 1, true), made.chart)
    end)
  end)

  it("is what the rates of a benchmark are by their path", function()
    local t = result()
    t.throughput, t.rate = 2e9, 1e9
    near({ value = 2e9, low = 1.6e9, high = 2.5e9 }, fields.value({ t = t }, "t.throughput"))
    near({ value = 1e9, low = 0.8e9, high = 1.25e9 }, fields.value({ t = { cold = t } }, "t.cold.rate"))
    assert.are.equal(2e-3, fields.value({ t = t }, "t.median"))
    assert.are.equal(3, fields.value({ t = { rate = 3 } }, "t.rate"))
    local text = mw.table { "t.rate", records = { { t = t } }, quiet = true }
    assert.is_truthy(text:find("t.rate (Gflop/s)\n----------------\n    1.000 ± 22 %", 1, true), text)
  end)

  it("leaves those without an interval their points, without bars", function()
    in_run(function(records)
      local rows = { { n = 1, k = "a", T = records[1].T_tot }, { n = 2, k = "a", T = 7 }, { n = 1, k = "b", T = 5 } }
      local made = mw.plot { x = "n", y = "T", by = "k", records = rows, quiet = true, pictures = false }
      local data, script = support.read(made.dat), support.read(made.gp)
      assert.is_truthy(data:find("2 7 7 7\n\n\n# series 1: b\n\"n\" \"b, T\"\n1 5\n", 1, true), data)
      local _, count = script:gsub("%($3 < $4 %? $1 : NaN%):2:3:4 with yerrorbars", "")
      assert.are.equal(1, count, script)
    end)
  end)

  it("is its value for a gate, three columns of a file and a cell of a document", function()
    local function entry(rung, low, value, high)
      return { rung = rung, T_tot = { value = value, low = low, high = high } }
    end
    local records = { entry("naive", 1.9, 2.0, 2.1), entry("tiled", 3.9, 4.0, 4.1) }
    local one = { record = { rung = "tiled" }, field = "T_tot", at_least = 1.5, of = { rung = "naive" } }
    assert.are.same({ true, 2.0 }, { gate.judge(one, records).ok, gate.judge(one, records).share })
    local csv = export.csv { { study = "s", status = "complete", records = records } }
    one.field = "T_tot.low"
    assert.is_nil(gate.problem(one))
    assert.is_near(3.9 / 1.9, gate.judge(one, records).share, 1e-12)
    one.field = "copy.low"
    local time = { rung = "tiled", copy = { median = 2, low = 1, high = 3, samples = { 2 } } }
    assert.are.equal("'copy.low' is a time, and a gate takes rates", gate.judge(one, { time }).message)
    one.field = "t.low"
    assert.is_truthy(gate.problem(one):find("is a gate on seconds", 1, true))
    local md = export.md { { study = "s", status = "complete", records = records } }
    assert.is_truthy(md:find("| s | naive | 2.000 B/s ± 5.0 % |\n| s | tiled | 4.000 B/s ± 2.5 % |", 1, true), md)
    assert.are.equal("study,rung,T_tot,T_tot.high,T_tot.low\r\ns,naive,2,2.1,1.9\r\ns,tiled,4,4.1,3.9\r\n", csv)
  end)
end)
