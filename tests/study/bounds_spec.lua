-- SPDX-License-Identifier: MIT
--
-- Ceilings of a rate, rates and units of a part, and answers that begin anew for each sample: as of a solver whose
-- floor is the bytes that it must move, of stages that count samples beside a ladder of sums, and of a sort in place.

local small_study = require "tests.support.small_study"

local changed, has = small_study.changed, small_study.has

local KERNELS <const> = [[
extern "C" __global__ void doubled(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" __global__ void doubled_in_place(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] *= 2;
}
]]

local STUDY <const> = [[
local mw = require "moonwarp"
local study, p = mw.study { question = "how near?", kernels = "saxpy.cu", output = "y", type = "f32", level = "copied",
  rate = { "cells", work = function(c) return c.n end }, units = { cells = "1/s", ns = "s" }, odd = { { n = 77 } },
  params = { { "n", 1000, "elements" } },
  bound = function(c, rung, r) return nil, 8e9, r.steps and 6e9 / r.steps end }
function study.arrays(c) return { x = c.dev:array("f32", c.n):random(1), y = c.dev:array("f32", c.n) } end
study:answer("twice", { bytes = "x y", cell = function(c, at, i) return 2 * at.x(i) end })
study:rung { 1, "copied", kernel = "doubled", block = 64, over = { "n" } }
study:rung { 2, "in blocks of 128", kernel = "doubled", block = 128, over = { "n" } }
study:part { "ladder", cases = { { n = p.n } }, table = { "rung", "cells", "bound", { "of_bound", unit = "%%" } },
             charts = { { kind = "ladder" } } }
%s
return study
]]

local function levels(chart)
  local labels = {}
  for i, level in ipairs(chart.levels) do labels[i] = level.label:match "^%a+" end
  return labels
end

small_study.describe("the bound of a rung", KERNELS, function(run, passes)
  it("is the least of its ceilings, in the rate's unit, and a line where all bars have the same", function()
    local made = passes(STUDY:format "")
    for _, r in ipairs(made.record.records) do
      assert.are.equal(8e9, r.bound)
      assert.is_near(r.cells / 8e9, r.of_bound, 1e-12)
      assert.are.equal("1/s", r.units.bound)
    end
    assert.are.same({ "copied", "bound" }, levels(made.record.charts[1]))
    assert.is_nil(made.record.charts[1].bars[1].marks)
  end)

  it("is a mark at each bar, and may be the rung's own, or none", function()
    local made = passes(STUDY:format [[
      study:rung { 3, "in steps", kernel = "doubled", block = 64, over = { "n" }, fields = { steps = 3 } }
      study:rung { 4, "without", kernel = "doubled", block = 64, over = { "n" }, bound = function() end }]])
    local bars = made.record.charts[1].bars
    assert.are.same({ "copied" }, levels(made.record.charts[1]))
    assert.are.same({ { value = 2e9, label = "bound" } }, bars[3].marks)
    assert.is_nil(bars[4].marks)
    assert.is_nil(made.record.records[4].of_bound)
  end)

  it("is a column only where there is one", function()
    local text = changed(STUDY:format "", "bound = function(c", "peak = function() end } local _ = { function(c")
    has(run(text).output, "mine.lua:10: part 'ladder', table: no record has a field 'bound'; ")
  end)
end)

small_study.describe("a part", KERNELS, function(run, passes)
  it("has its own rate and units", function()
    local made = passes(STUDY:format [[
      local function add_each(records, c) for _, r in ipairs(records) do r.seconds_each = r.t.median / c.n end end
      study:part { "bytes", cases = { { n = p.n } }, rate = "T_eff", units = { seconds_each = "s" }, derive = add_each,
        table = { "T_eff" }, charts = { { x = "bytes" } }, ratios = { "in blocks of 128 / copied" } }
      study:part { "halves", cases = { { n = p.n } }, rate = { "halves", work = function(c) return c.n / 2 end } }]])
    local by = {}
    for _, r in ipairs(made.record.records) do by[r.group] = r end
    assert.is_near(8000 / by.bytes.t.median, by.bytes.T_eff, 1)
    assert.are.same({ "B/s", "s" }, { by.bytes.units.T_eff, by.bytes.units.seconds_each })
    assert.is_nil(by.bytes.cells)
    assert.is_near(500 / by.halves.t.median, by.halves.halves, 1)
    assert.is_nil(by.ladder.units.seconds_each)
  end)

  it("counts by its own rate's work or bytes, and not by that of the answer, and has its own bound", function()
    local text = changed(STUDY, '"twice", {', '"twice", { work = function() return 1 end,')
    local made = passes(text:format [[
      study:part { "bytes", cases = { { n = p.n } }, rate = "T_eff", charts = { { kind = "ladder" } } }
      study:part { "halves", cases = { { n = p.n } }, rate = { "halves", work = function(c) return c.n / 2 end },
                   bound = function() return 1e15 end }]])
    local by = {}
    for _, r in ipairs(made.record.records) do by[r.group] = r end
    assert.is_near(1 / by.ladder.t.median, by.ladder.cells, 1e-3)
    assert.is_near(8000 / by.bytes.t.median, by.bytes.T_eff, 1)
    assert.is_near(500 / by.halves.t.median, by.halves.halves, 1)
    assert.are.same({ 8e9, nil, 1e15 }, { by.ladder.bound, by.bytes.bound, by.halves.bound })
  end)

  it("says which rates there are", function()
    has(run(STUDY:format [[study:part { "x", cases = { { n = p.n } }, rate = { work = print } }]]).output,
      "mine.lua:12: part 'x': option 'rate' must be a field as in \"T_eff\", or { \"rate\", work = function(c, rung) }")
    has(run(STUDY:format [[study:part { "x", cases = { { n = p.n } }, rate = "T_eff", table = { "cells" } }]]).output,
      "mine.lua:12: part 'x', table: no record has a field 'cells'; ")
  end)
end)

small_study.describe("an answer with 'restart'", KERNELS, function(_, passes)
  it("begins anew before each sample", function()
    local made = passes(STUDY:format [[
      local starts = 0
      study:answer("in place", { bytes = "y", restart = true, start = function(c) starts = starts + 1 c.y:fill(3) end,
                                 cell = function() return 6 end })
      study:rung { 3, "in place", answer = "in place", kernel = "doubled_in_place", block = 64, over = { "n" } }
      study:finally(function()
        local t = study:fastest("ladder", "in place").t
        print("starts", t.batch, starts > t.n + 2)
      end)]])
    has(made.output, "starts\t1\ttrue")
  end)
end)
