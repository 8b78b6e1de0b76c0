-- SPDX-License-Identifier: MIT
--
-- Answers that are several steps of another one: by the host, by launches on the device, what they count, mistakes.

local small_study = require "tests.support.small_study"
local support = require "tests.support"

local changed = small_study.changed

-- A cell gets the mean of its neighbours along x; the first and the last of a row are not written.
local KERNELS <const> = [[
extern "C" __global__ void step(float *v, const float *u, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  if (i > 0 && i < nx - 1) v[j * nx + i] = 0.5f * (u[j * nx + i - 1] + u[j * nx + i + 1]);
}
]]

local STUDY <const> = [[
local mw = require "moonwarp"
local study, p = mw.study {
  question = "are three steps three steps?", kernels = "saxpy.cu", rate = "T_eff", output = "v", type = "f32",
  odd = { { nx = 37, ny = 3 } }, level = "a step",
  params = { { "n", 100, "elements of a row", min = 3 }, { "count", 3, "of the last rung", min = 1 } },
}
function study.arrays(c)
  return { u = c.dev:array("f32", c.nx, c.ny):random(1), v = c.dev:array("f32", c.nx, c.ny) }
end
local function tolerance(c) return { absolute = 8 * c.eps } end
study:answer("step", { bytes = "u v", tolerance = tolerance, cell = function(c, at, i, j)
  return i > 1 and i < c.nx and (at.u(i - 1, j) + at.u(i + 1, j)) / 2 or 0 / 0
end })
study:answer("3 steps", { steps = 3, of = "step", from = "u", needs = { "a step" } })
study:rung { 1, "a step", answer = "step", kernel = "step", block = 32,
             grid = function(c) return { mw.ceil_div(c.nx, 32), c.ny } end }
study:rung { 2, "three", answer = "3 steps", make = function(c)
  return function()
    local after = study:advance("a step", c, "u", p.count)
    c.v:copy(after)
  end
end }
study:part { "all", cases = { { nx = p.n, ny = 5 } } }
return study
]]

local function run(text, words)
  return small_study.run(text, words, KERNELS)
end

describe("an answer of several steps", function()
  if not support.program() then return pending "needs the program" end

  it("is computed by the host and on the device, and counts what single steps move", function()
    local made = run(STUDY)
    assert.are.equal(0, made.status, made.output)
    local checked = {}
    for _, check in ipairs(made.record.checks) do checked[check.what] = check.ok end
    assert.is_true(checked["three, nx = 37, ny = 3, f32"])
    assert.is_true(checked["three, nx = 100, ny = 5, f32, beside a step"])
    for _, r in ipairs(made.record.records) do
      local steps = r.rung == "three" and 3 or 1
      assert.is_near(steps * 2 * 4 * 500, r.T_eff * r.t.median, 1e-3)
    end
  end)

  it("is told from one of fewer steps, and of none", function()
    for _, count in ipairs { 2, 4 } do
      local made = run(STUDY, "-p count=" .. count)
      assert.are.equal(3, made.status, made.output)
      local said = made.remarks:find("three (differs from the host for nx = 37, ny = 3, f32)", 1, true)
      assert.is_truthy(said, made.remarks)
    end
  end)

  it("needs an answer with a cell, an array and a rung", function()
    for from, case in pairs {
      ["steps = 3"] = { "steps = 0", "answer '3 steps', steps: an integer of at least 1 is wanted, got 0" },
      ['of = "step", '] = { "", "answer '3 steps': 'steps' needs 'of' (an answer), 'from' (an array) and 'needs' "
        .. "(a rung of one step)" },
      ['of = "step"'] = { 'of = "stap"', "answer '3 steps', of: there is no answer 'stap'; did you mean 'step'?" },
      ['from = "u"'] = { 'from = "w"', "answer '3 steps': the case has no array 'w'" },
      ['needs = { "a step" }'] = { 'needs = { "a stop" }', "there is no rung 'a stop'; did you mean 'a step'?" },
    } do
      local made = run(changed(STUDY, from, case[1]))
      assert.are.equal(1, made.status, made.output)
      assert.is_truthy(made.output:find(case[2], 1, true), made.output)
    end
  end)
end)
