-- SPDX-License-Identifier: MIT
--
-- What the options of a chart name: fields that no record has, texts along x, limits of the axes.

local support = require "tests.support"
local bars = require "moonwarp.plot.bars"
local chart = require "moonwarp.plot.chart"
local export = require "moonwarp.results.export"
local form = require "moonwarp.results.record_schema"
local kinds = require "moonwarp.plot.kinds"
local mw = support.mw
local fails = support.fails

local ROWS = {}
for i = 0, 10 do ROWS[i + 1] = { n = i, rate = (i - 5) ^ 2 + 1.0, version = i % 2 == 0 and "even" or "odd" } end

local function spec_of(more)
  local spec = { x = "n", y = "rate", records = ROWS, quiet = true, pictures = false }
  for key, value in pairs(more) do spec[key] = value or nil end
  return spec
end

-- What a script and a terminal get, and the chart as it is stored.
local function drawn(more)
  local made, stored
  support.with_folder(function(folder)
    made = support.into(folder, mw.plot, spec_of(more))
    made.script, made.data = support.read(made.gp), support.read(made.dat)
    stored = require("moonwarp.results.store").read(support.run(folder))
  end)
  assert.is_nil(form.problem(stored))
  return made, stored.charts[1]
end

describe("a field that no record has", function()
  it("is an error with the near name, in every kind of chart", function()
    local function rejected(draw, who, more, text)
      fails(function() draw(spec_of(more)) end, ("%s: no record has a field %s"):format(who, text))
    end
    local near = "'versoin'; did you mean 'version'?"
    rejected(mw.plot, "mw.plot", { by = "versoin" }, near)
    rejected(mw.plot, "mw.plot", { y = "rat" }, "'rat'; did you mean 'rate'?")
    rejected(mw.plot, "mw.plot", { y = { "rate", "rat" } }, "'rat'; did you mean 'rate'?")
    rejected(mw.plot, "mw.plot", { low = "lo" }, "'lo'; there is n, rate, version")
    rejected(mw.ladder, "mw.ladder", { x = "rate", by = "versoin", y = false }, near)
    rejected(mw.ladder, "mw.ladder", { x = "rate", by = "version", share = "sahre", y = false },
      "'sahre'; there is n, rate, version")
    fails(function() mw.roofline { by = "versoin", records = ROWS, device = mw.device "cpu", quiet = true } end,
      "mw.roofline: no record has a field " .. near)
    fails(function() mw.table { "versoin", records = ROWS, quiet = true } end,
      "mw.table: no record has a field " .. near)
    fails(function() mw.plot(spec_of { y = "t.medain", records = { { n = 1, t = { median = 1, mean = 2 } } } }) end,
      "mw.plot: no record has a field 't.medain'; did you mean 't.median'?")
  end)

  it("is an error if a part of its path is empty", function()
    for _, field in ipairs { "", ".", "version.", ".version" } do
      support.fails_with(function() drawn { x = field } end, ("mw.plot: no record has a field '%s'"):format(field))
    end
  end)

  -- Each was an error inside the library; a list of parameters made the end of a run fail.
  it("may not be what is no name, nor stand for parameters that are none", function()
    fails(function() drawn { y = { 3 } } end, "mw.plot: option 'y'[1] must be a string, got number")
    fails(function() drawn { y = {} } end, "mw.plot: option 'y' names no field")
    for who, spec in pairs { plot = { x = "n", y = "n" }, ladder = { x = "n", by = "n" }, table = { "n" },
                             roofline = {} } do
      spec.records = { { n = 1, params = 3 } }
      fails(function() mw[who](spec) end, ("mw.%s: option 'records'[1].params must be a table, got number"):format(who))
    end
    fails(function() mw.record { n = 1, params = { 1, 2 } } end,
      "mw.record: field 'params' is moonwarp's own and must be a table of names, got a list")
  end)

  it("is none if some records have it", function()
    assert.is_truthy(drawn({ by = "kind", records = { ROWS[1], { n = 1, rate = 3, kind = "a" } } }).chart)
  end)
end)

describe("the unit of an axis", function()
  local FAST = { { n = 1, T_tot = 1e9, t = 2.0, own = 3.0 }, { n = 2, T_tot = 2e9, t = 1.0, own = 4.0 } }

  -- `unit = "GB/s"` labelled 1e9 B/s as 1e9 GB/s.
  it("is the records', and no other", function()
    local function rejected(draw, spec, text)
      spec.records = FAST
      fails(function() draw(spec) end, text .. "; values are shown with the prefix that suits them")
    end
    rejected(mw.plot, { x = "n", y = "T_tot", unit = "GB/s" }, "mw.plot: the unit of 'T_tot' is 'B/s', got 'GB/s'")
    rejected(mw.plot, { x = "t", y = "own", xunit = "ms" }, "mw.plot: the unit of 't' is 's', got 'ms'")
    rejected(mw.ladder, { x = "T_tot", by = "n", unit = "GB/s" }, "mw.ladder: the unit of 'T_tot' is 'B/s', got 'GB/s'")
    rejected(mw.table, { { "T_tot", unit = "GB/s" } }, "mw.table: the unit of 'T_tot' is 'B/s', got 'GB/s'")
    assert.is_truthy(drawn({ y = "own", unit = "GB/s", records = FAST }).chart:find("own (GB/s)", 1, true))
  end)

  it("is that of all fields along it", function()
    fails(function() drawn { y = { "T_tot", "t" }, records = FAST } end,
      "mw.plot: one axis cannot show 'T_tot' (B/s) and 't' (s): draw a chart of each")
  end)
end)

describe("texts along x", function()
  local NAMED = {
    { kernel = "naive", type = "f32", T = 100e9, low = 90e9, high = 110e9 },
    { kernel = "naive", type = "f64", T = 50e9 },
    { kernel = "tiled", type = "f32", T = 300e9 }, { kernel = "tiled", type = "f64", T = 200e9 },
  }

  it("are named bars", function()
    local made, stored = drawn { x = "kernel", y = "T", unit = "B/s", records = { NAMED[1], NAMED[3] },
                                 low = "low", high = "high", peak = 400e9 }
    assert.is_truthy(made.chart:find("\nnaive +[^\n]+100 GB/s ±10 %%\ntiled +[^\n]+300 GB/s"), made.chart)
    assert.are.equal("ladder", stored.kind)
    assert.are.same({ { name = "naive", value = 100e9, low = 90e9, high = 110e9 }, { name = "tiled", value = 300e9 } },
      stored.bars)
    assert.are.same({ { value = 400e9, label = "peak (400.0 GB/s)" } }, stored.levels)
    assert.is_truthy(made.script:find("boxxyerror", 1, true))
  end)

  it("are the sizes of blocks and grids, too", function()
    local _, stored = drawn { x = "grid", records = { { grid = { 32, 8 }, rate = 1.5 },
                                                      { grid = { x = 4, y = 2 }, rate = 2.5 } } }
    assert.are.same({ { name = "32 x 8", value = 1.5 }, { name = "x = 4, y = 2", value = 2.5 } }, stored.bars)
    local text = mw.table { "grid", "grid.x", "grid.1", quiet = true,
                            records = { { grid = { 32, 8 } }, { grid = { x = 4, y = 2 } } } }
    assert.is_truthy(text:find("32 x 8       -      32\nx = 4, y = 2       4       -", 1, true), text)
    local csv = export.csv { { study = "s", records = { { block = { 32, 8 }, chosen = { "n" }, n = 1 } } } }
    assert.are.equal("study,block,n\r\ns,32 x 8,1\r\n", csv)
  end)

  it("stand beside each other for each series", function()
    local made, stored = drawn { x = "kernel", y = "T", unit = "B/s", by = "type", records = NAMED }
    assert.are.same({ "f32", "f64" }, stored.runs)
    local names = {}
    for i, bar in ipairs(stored.bars) do names[i] = ("%s %d %.0f"):format(bar.name, bar.run, bar.value / 1e9) end
    assert.are.same({ "naive 1 100", "naive 2 50", "tiled 1 300", "tiled 2 200" }, names)
    assert.is_truthy(made.chart:find("f32", 1, true) and made.chart:find("f64", 1, true), made.chart)
    local both = bars.merge({}, { stored, stored }, { "A", "B" })
    assert.are.same({ "A: f32", "A: f64", "B: f32", "B: f64" }, both.runs)
    assert.are.same({ 1, 2, 3, 4 }, { both.bars[1].run, both.bars[2].run, both.bars[3].run, both.bars[4].run })
    stored.bars[1].run = 3
    assert.are.equal("charts[1].bars[1].run must be from 1 to 2, got 3",
      form.problem { schema = "s", study = "s", status = "s", records = {}, checks = {}, charts = { stored },
                     tables = {}, remarks = {}, pictures = {}, sources = {} })
  end)

  it("may be lists or truth values, and so may names of series", function()
    local rows = { { block = { 32, 8 }, T = 1, fast = true }, { block = { 64, 4 }, T = 2, fast = false } }
    local _, stored = drawn { x = "block", y = "T", by = "fast", records = rows }
    assert.are.same({ "true", "false" }, stored.runs)
    assert.are.same({ "32 x 8", "64 x 4" }, { stored.bars[1].name, stored.bars[2].name })
    _, stored = drawn { x = "T", y = "T", by = "block", records = rows }
    assert.are.same({ "32 x 8", "64 x 4" }, { stored.series[1].name, stored.series[2].name })
  end)

  it("differ in the terminal for up to eight series", function()
    local rows, signs, count = {}, {}, 0
    for i = 1, 8 do rows[i] = { kernel = "k", T = i, by = "s" .. i } end
    local _, stored = drawn { x = "kernel", y = "T", by = "by", records = rows }
    for _, unicode in ipairs { true, false } do
      local legend = kinds.of(stored).text(stored, { width = 120, unicode = unicode }):match "[^\n]*$"
      for sign in legend:gmatch "(%S+) s%d" do
        count = count + (signs[sign] and 0 or 1)
        signs[sign] = true
      end
    end
    assert.are.equal(16, count)
  end)

  it("have no options of numbers", function()
    fails(function() mw.plot(spec_of { x = "version", logx = 2 }) end,
      "mw.plot: option 'logx' is for numbers along x, and 'version' is a text")
    fails(function() mw.plot(spec_of { x = "version", records = { { version = "a", rate = -1 } } }) end,
      "mw.plot: no record has 'rate' as a number of at least 0, for a bar")
  end)
end)

describe("limits of axes", function()
  it("are in the script, the record and the terminal's chart", function()
    local made, stored = drawn { xmin = 1.5, xmax = 8, ymin = 2, ymax = 10, lines = { 5, 20 } }
    assert.is_truthy(made.script:find("set xrange %[1.5:8%]\n.*set yrange %[2:10%]\n"), made.script)
    assert.are.same({ 1.5, 8, 2, 10 }, { stored.xmin, stored.xmax, stored.ymin, stored.ymax })
    assert.is_truthy(made.chart:find("\n10 ┤", 1, true) or made.chart:find("\n10 +", 1, true), made.chart)
    assert.is_nil(made.script:find("line (20)", 1, true))
    local _, marks = chart.draw(stored, { width = 60, unicode = true }):gsub("●", "")
    assert.are.equal(6, marks) -- all from 2 to 8 but that at 5
    assert.is_truthy(drawn({ ymax = 10 }).script:find("set yrange [*:10]\n", 1, true))
    assert.is_truthy(drawn({ xmin = 3 }).script:find("set xrange [3:*]\n", 1, true))
  end)

  it("leave a logarithmic axis its labels", function()
    local made = drawn { ymin = 2, ymax = 40, logy = 10 }
    for _, label in ipairs { 2, 5, 10, 20 } do
      assert.is_truthy(made.chart:find(("\n *%d [┤+]"):format(label)), made.chart)
      assert.is_truthy(made.script:find(("'%d' %d"):format(label, label), 1, true), made.script)
    end
  end)

  it("are in the unit of the axis", function()
    local made = drawn { y = "T", unit = "B/s", ymax = 4e9, records = { { n = 1, T = 1e9 }, { n = 2, T = 8e9 } } }
    assert.is_truthy(made.script:find("set yrange [*:4]\n", 1, true), made.script)
  end)

  it("end a line at the frame, however far it goes", function()
    for _, y in ipairs { 1e300, 1e18 } do
      local rows = { { n = 1, rate = 1 }, { n = 2, rate = y }, { n = 1e300, rate = 2 } }
      assert.is_truthy(drawn({ xmin = 0, xmax = 3, ymax = 2, records = rows }).chart:find("rate", 1, true))
      assert.is_truthy(drawn({ xmax = 3, ymin = 1, ymax = 2, logx = 2, logy = 2, records = rows }).chart)
    end
  end)

  it("hold for values that lie on them", function()
    for _, log in ipairs { false, 10 } do
      for _, name in ipairs { "xmin", "xmax", "ymin", "ymax" } do
        local made = drawn { [name] = 10, logx = log, logy = log, records = { { n = 10, rate = 10 } } }
        assert.is_truthy(made.chart:find("rate", 1, true))
      end
    end
  end)

  it("are of the lengths of bars", function()
    local _, stored = drawn { x = "version", ymax = 20 }
    assert.are.same({ 0, 20 }, { bars.range(stored) })
    assert.is_truthy(mw.ladder(spec_of { x = "rate", y = false, by = "version", xmax = 20 }).chart)
    fails(function() mw.ladder { x = "rate", by = "version", xmin = 50, records = ROWS, quiet = true } end,
      "mw.ladder: no bar ends within the limits xmin and xmax")
  end)

  it("are errors if they hold nothing", function()
    local function rejected(more, text)
      fails(function() mw.plot(spec_of(more)) end, "mw.plot: " .. text)
    end
    rejected({ xmin = 30 }, "no point lies within the limits: xmin = 30")
    rejected({ ymin = 5, ymax = 3 }, "option 'ymin' must be below 'ymax', got 5 and 3")
    rejected({ ymin = -1, logy = 10 }, "option 'ymin' must be a number above 0 on a logarithmic axis, got -1")
    rejected({ xmax = 1 / 0 }, "option 'xmax' must be a number that an axis can show, got inf")
    rejected({ ymax = "3" }, "option 'ymax' must be a number, got string")
  end)
end)
