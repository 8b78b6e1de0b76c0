-- SPDX-License-Identifier: MIT
--
-- How far off a rung is: the error of what is right within its tolerance, as of numbers with fewer bits, and of
-- mistakes that are measured all the same, as of a solver whose threads do not wait for each other.

local small_study = require "tests.support.small_study"

local changed, has = small_study.changed, small_study.has

local KERNELS <const> = [[
extern "C" __global__ void rounded(float *y, const float *x, int n, float unit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = unit * (int)(x[i] / unit + 0.5f);
}
// The largest of the elements so far, by one thread; or by all, of which one may come between.
extern "C" __global__ void summed(int *sum, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, (int)(8 * x[i]) + 1);
}
extern "C" __global__ void summed_without_atomics(int *sum, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) *sum += (int)(8 * x[i]) + 1;
}
extern "C" __global__ void summed_too_far(int *sum, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(sum, (int)(8 * x[i]) + 1);
}
extern "C" __global__ void summed_later_waits(int *sum, const float *x, int n) {
  *sum = 1;
  while (n > 500 && atomicAdd(sum, 0) >= 0) atomicAdd(sum, 0);
}
extern "C" __global__ void summed_later_faults(int *sum, const float *x, int n) {
  *sum = n > 500 ? (int)x[(1ull << 45) + n] : 1;
}
extern "C" __global__ void summed_and_waits(int *sum, const float *x, int n) {
  while (atomicAdd(sum, 0) >= 0) atomicAdd(sum, 0);
}
]]

local STUDY <const> = [[
local mw = require "moonwarp"
local study, p = mw.study { question = "how far off?", kernels = "saxpy.cu", rate = "T_eff", output = "y",
  type = "f32", odd = { { n = 77 } }, params = { { "n", 1000, "elements" } }, units = { error = "m" } }
function study.arrays(c)
  return { x = c.dev:array("f32", c.n):random(1), y = c.dev:array("f32", c.n), sum = c.dev:zeros("i32", 1) }
end
study:answer("copy", { bytes = "x y", cell = function(c, at, i) return at.x(i) end,
  tolerance = function() return { absolute = 0.2 } end })
study:rung { 1, "as it is", answer = "copy", kernel = "rounded", block = 64, over = { "n" }, args = { unit = 2^-20 } }
study:rung { 2, "in eighths", answer = "copy", kernel = "rounded", block = 64, over = { "n" }, args = { unit = 1/8 } }
study:answer("sum", { bytes = "x", output = "sum", start = function(c) c.sum:fill(0) end, host = function(c)
  local sum = 0
  for _, x in ipairs(c.x:totable()) do sum = sum + 8 * x // 1 + 1 end
  return { sum }
end })
study:rung { 3, "by atomics", answer = "sum", kernel = "summed", block = 64, over = { "n" } }
study:part { "ladder", cases = { { n = p.n } }, error = true, table = { "rung", "error", "error_rms" },
             charts = { { kind = "ladder" } } }
]]

local MISTAKE <const> = [[
study:rung { 2, "%s", answer = "sum", kernel = "summed_%s", mistake = %s, measure = %s, block = 64, over = { "n" } }
study:part { "ratios", cases = { { n = p.n } }, rungs = { "sum" }, level = "sum",
             table = { "rung", "t", "error" } }
return study
]]

small_study.describe("the error of a rung", KERNELS, function(_, passes)
  it("is the greatest and the root mean square of the differences from the reference", function()
    local made = passes(STUDY .. "return study")
    local records = made.record.records
    assert.is_nil(records[1].error) -- it is the reference
    assert.is_true(records[2].error > 0.06 and records[2].error <= 1 / 16)
    assert.is_near(1 / 8 / 12 ^ 0.5, records[2].error_rms, 0.005)
    assert.are.equal("m", records[2].units.error_rms)
    assert.are.equal(0, records[3].error)
    has(made.output, "error (m)")
    local off = changed(STUDY, 'kernel = "rounded", block = 64, over = { "n" }, args = { unit = 1/8 }',
      'kernel = "rounded", block = 64, over = { "n" }, args = { unit = 0 / 0 }, mistake = true, measure = true')
    made = passes(changed(off, '{ kind = "ladder" }', '{ x = "error", logx = 10 }') .. "return study")
    assert.are.equal("inf", made.record.records[2].error)
    has(made.output:gsub("\n", " "), "No chart of part 'ladder' has 'error': no axis can show its values.")
    local text = changed(changed(STUDY, "error = true, ", ""), ', table = { "rung", "error", "error_rms" }', "")
    assert.is_nil(passes(text .. "return study").record.records[2].error)
  end)
end)

small_study.describe("a mistake that is measured", KERNELS, function(run, passes, id)
  local function mistake(name, kernel, kinds, measure)
    return STUDY .. MISTAKE:format(name, kernel, kinds, measure or "true")
  end

  it("has its error beside its time, and is neither level nor best", function()
    local made = passes(mistake("no atomics", "without_atomics", '"race in global memory"'))
    has(made.remarks, "Measured although it is wrong: no atomics (")
    has(made.remarks, "race in global memory")
    local by = {}
    for _, r in ipairs(made.record.records) do by[r.group .. ", " .. r.rung] = r end
    local one = by["ratios, no atomics"]
    assert.are.equal("no atomics, wrong", one.series)
    assert.is_true(one.t.median > 0 and one.error ~= nil and one.error == one.error_rms)
    assert.are.equal(1, by["ratios, by atomics"].share)
    assert.are.equal(3, select(2, made.output:gsub("\nno atomics, wrong ", ""))) -- a bar, and a row of each table
  end)

  it("is left out if it may write anywhere, wait without an end, or take too long", function()
    local LEFT_OUT <const> = {
      { "too_far", "true", "a mistake that is not safe to measure: a fault, " },
      { "and_waits", "true", "a mistake that is not safe to measure: a fault, hang for " },
      { "without_atomics", "1e-9", "x (a call takes more than 1e-09 s)" },
      { "later_waits", "0.05", "x (a call takes more than 0.05 s)", "cpu" }, -- nothing ends it on a GPU
      { "later_faults", "true", "x (a mistake that faults at the measured size)", "cpu" },
    }
    for _, one in ipairs(LEFT_OUT) do
      local made = (one[4] or id) == id and passes(mistake("x", one[1], "true", one[2])) or nil
      if made then
        has(made.remarks, one[3])
        assert.is_nil(made.remarks:find("Measured although", 1, true))
        for _, r in ipairs(made.record.records) do assert.are_not.equal("x", r.rung) end
      end
    end
  end)

  it("must be found by check mode as it says", function()
    local made = run(mistake("no atomics", "without_atomics", '{ "race in global memory", "hang" }'))
    assert.are.equal(3, made.status)
    has(made.output, "check no atomics: its mistake is found: check mode finds ")
    has(made.output, ", and not hang")
    made = run(changed(mistake("right", "", "true"), "summed_\"", 'summed"'))
    assert.are.equal(3, made.status)
    has(made.output, "check right: its mistake is found: no odd case finds it")
  end)

  it("is one with 'mistake'", function()
    has(run(mistake("x", "without_atomics", "nil")).output, "rung 2 'x': 'measure' is of one with 'mistake'")
  end)
end)
