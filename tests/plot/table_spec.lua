-- SPDX-License-Identifier: MIT
--
-- mw.table: alignment, one unit a column, the device in the title.

local support = require "tests.support"
local bench = require "moonwarp.measure.bench"
local mw = support.mw
local fails = support.fails

local ROWS = {
  { device = "cuda:0", device_name = "G", rung = "one", threads = 32, T_tot = 302e9 },
  { device = "cuda:0", device_name = "G", rung = "another", threads = 1024, T_tot = 0.561e9 },
}

local function text_of(spec)
  spec.records, spec.quiet = spec.records or ROWS, true
  return mw.table(spec)
end

describe("mw.table", function()
  it("aligns words left and numbers right, in the unit of the largest", function()
    assert.are.equal(table.concat({
      "ladder, measured on G (cuda:0)",
      "rung     threads  T_tot (GB/s)",
      "-------  -------  ------------",
      "one           32         302.0",
      "another     1024        0.5610",
    }, "\n"), text_of { "rung", "threads", "T_tot", title = "ladder" })
  end)

  it("shows benchmarks as median and interval, absent fields as -", function()
    local t = mw.bench(function() end, { samples = 3, batch = 1000, clock = "host" })
    t.median, t.low, t.high, t.warnings = 2.5e-3, 2.47e-3, 2.53e-3, {}
    local text = text_of { "t", { "share", unit = "%" }, records = { { t = t, share = 0.5 }, { share = 0.25 } } }
    assert.is_truthy(text:find("\n       t (ms)  share (%)\n-------------  ---------\n2.500 ± 1.2 %      50.00\n"
      .. "            -      25.00", 1, true), text)
  end)

  it("leaves out records without any of the measurements asked for", function()
    local records = { { rung = "a", T = 1.5 }, { rung = "b" }, { rung = "c", share = 0.5 } }
    assert.are.equal(table.concat({ "records, measured on no device", "rung      T  share", "----  -----  -----",
      "a     1.500      -", "c         -  0.500" }, "\n"), text_of { "rung", "T", { "share", digits = 3 },
      records = records })
    assert.is_truthy(text_of({ "rung", records = records }):find("\nb", 1, true))
  end)

  it("shows an interval that reaches far to one side by its ends", function()
    local t = mw.bench(function() end, { samples = 3, batch = 1000, clock = "host" })
    t.median, t.low, t.high, t.warnings = 2e-3, 1.9e-3, 3.1e-3, {}
    local text = text_of { "t", records = { { t = t } } }
    assert.is_truthy(text:find("2.000 (1.900 to 3.100)", 1, true), text)
    assert.are.equal("2.000 ms (1.900 ms to 3.100 ms) (n = 3)", tostring(t))
    assert.are.equal("0.002 (0.0019 to 0.0031)", tostring(t * 1))
    t.high = 2.9e-3
    assert.is_truthy(text_of({ "t", records = { { t = t } } }):find("2.000 ± 25 %", 1, true))
  end)

  it("tells of the worst of several rows with one remedy", function()
    local function noisy(noise)
      return { t = bench.restore { n = 3, median = 1, low = 1, high = 1, noise = noise,
                                   warnings = { { cause = ("noise %g"):format(noise), remedy = "wait" } } } }
    end
    local text = text_of { "t", records = { noisy(0.1), noisy(0.7), noisy(0.3) } }
    assert.are.equal("row 2 and 2 others: noise 0.7; wait", text:match "note: (.*)")
  end)

  it("claims no noise of a single sample", function()
    local t = mw.bench(function() end, { samples = 1, batch = 1000, clock = "host" })
    local text = text_of { "t", records = { { t = t } } }
    assert.is_truthy(text:find("[%d.]+ %(n = 1%)"), text)
    assert.is_nil(text:find("±", 1, true))
  end)

  it("adds a column if the records are of several devices", function()
    local text = text_of { "x", records = { { device = "cpu", x = 1 }, { device = "cuda:0", x = 2 } } }
    assert.is_truthy(text:find("measured on cpu, cuda:0\ndevice  x", 1, true))
  end)

  it("gives the remedies of benchmarks that raised an alarm, once", function()
    local t = mw.bench(function() end, { samples = 3, batch = 1000, clock = "host" })
    t.warnings = { { cause = "it is noisy", remedy = "close the window" } }
    local text = text_of { "t", records = { { t = t }, { t = t } } }
    local _, count = text:gsub("note: row 1 and another: it is noisy; close the window", "")
    assert.are.equal(1, count)
  end)

  it("names the row of a benchmark's warning", function()
    local t = mw.bench(function() end, { samples = 3, batch = 1000, clock = "host" })
    local noisy = setmetatable({ warnings = { { cause = "noisy", remedy = "wait" } } }, { __index = t })
    for key, value in pairs(t) do noisy[key] = noisy[key] or value end
    setmetatable(noisy, getmetatable(t))
    t.warnings = {}
    local function notes(records, ...)
      return text_of { records = records, "t", ... }:match "note: (.*)"
    end
    assert.are.equal("noisy; wait", notes({ { t = noisy } }))
    assert.are.equal("row 2: noisy; wait", notes({ { t = t }, { t = noisy } }))
    assert.are.equal("b: noisy; wait", notes({ { t = t, threads = 32, rung = "a", x = 1 },
      { t = noisy, threads = 64, rung = "b", x = 1 } }, "threads", "rung", "x"))
    assert.are.equal("b, threads 64: noisy; wait", notes({ { t = t, rung = "a" }, { t = t, threads = 32, rung = "b" },
      { t = noisy, threads = 64, rung = "b" } }, "threads", "rung"))
    assert.are.equal("a and another: noisy; wait", notes({ { t = noisy, rung = "a" },
      { t = noisy, threads = 64, rung = "b" } }, "threads", "rung"))
    assert.are.equal("b and 2 others: noisy; wait", notes({ { t = t, rung = "a" }, { t = noisy, rung = "b" },
      { t = noisy, rung = "c" }, { t = noisy, rung = "d" } }, "rung"))
  end)

  it("rejects invalid columns", function()
    fails(function() mw.table {} end, "mw.table: at least one column is needed, got none")
    fails(function() mw.table(3) end, "mw.table: a table of columns is wanted, got number")
    fails(function() mw.table { 3 } end,
      "mw.table: column 1 must be a field's name or { name, title =, unit =, digits = }, got number")
    fails(function() mw.table { "x", tilte = "t" } end, "mw.table: unknown option 'tilte'; did you mean 'title'?")
  end)
end)
