-- SPDX-License-Identifier: MIT
--
-- What rungs are compared with: by a host that is told what it computes, or has an array of it; by a reference that
-- begins as the rungs do. As of a solver whose versions lie in memory differently, and of loops that add to what is
-- there: their plans have numbers of their own, and what they find is true or not.

local small_study = require "tests.support.small_study"

local changed, has = small_study.changed, small_study.has

local KERNELS <const> = [[
extern "C" __global__ void added(float *y, const float *x, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx * ny) y[i] += x[i];
}
extern "C" __global__ void added_by_columns(float *t, const float *x, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx * ny) t[i % nx * ny + i / nx] += x[i];
}
]]

local STUDY <const> = [[
local mw = require "moonwarp"
local study, p = mw.study { question = "which layout?", kernels = "saxpy.cu", rate = "T_eff", output = "y",
  type = "f32", odd = { { nx = 7, ny = 5 } }, params = { { "n", 40, "elements of a row" } } }
function study.arrays(c)
  c.n = c.nx * c.ny
  return { x = c.dev:array("f32", c.nx, c.ny):random(1), y = c:array(c.nx, c.ny), t = c:array(c.ny, c.nx) }
end
study:answer("sum", { bytes = "x y", start = function(_, out) out:fill(2) end, host = function(c, rung, out)
  local x = c.x:totable()
  if rung.name == "by rows" then return function(i, j) return 2 + x[j][i] end end
  return function(j, i) return out == c.t and 2 + x[j][i] end
end })
local function launch(c, kernel) return c:launch(kernel, { block = 64, grid = mw.ceil_div(c.n, 64) }) end
study:rung { 1, "by rows", answer = "sum", kernel = "added", block = 64, over = { "n" } }
study:rung { 2, "by columns", answer = "sum", output = "t", kernel = "added_by_columns", make = function(c)
  return launch(c, "added_by_columns"), { columns = c.nx }
end, fields = function(c, block, made) return made end }
%s
study:part { "all", cases = { { nx = p.n, ny = 30 } }, table = { "rung", "columns" } }
return study
]]

small_study.describe("a host", KERNELS, function(run, passes)
  it("is told the rung and the array that it writes", function()
    local records = passes(STUDY:format "").record.records
    assert.are.same({ nil, 40 }, { records[1].columns, records[2].columns })
    local made = run(changed(STUDY:format "", "return 2 + x[j][i] end end", "return 1 + x[j][i] end end"))
    assert.are.equal(3, made.status)
    has(made.remarks, "Not measured: by rows (differs from the host for nx = 7, ny = 5, f32).")
  end)

  it("may return an array, which is copied", function()
    local made = passes(STUDY:format [[
      study:answer("copy", { bytes = "x y", host = function(c) return c.x end })
      study:rung { 3, "in place", answer = "copy", output = "x", make = function(c)
        local old = c:keep(c.x:clone())
        return function() c.x:copy(old) end
      end }
      study:rung { 4, "to y", answer = "copy", make = function(c) return function() c.y:copy(c.x) end end }]])
    assert.are.equal(4, #made.record.records)
    made = run(STUDY:format [[
      study:answer("copy", { bytes = "x y", host = function(c) return c.t end })
      study:rung { 4, "to y", answer = "copy", make = function(c) return function() c.y:copy(c.x) end end }]])
    has(made.output, "rung 4 'to y', nx = 7, ny = 5, f32: mw.check: the shapes differ: got 7 x 5, expected 5 x 7")
  end)
end)

small_study.describe("what rungs are compared with", KERNELS, function(run)
  local WRONG <const> = [[
    study:rung { 3, "wrong", answer = "x", make = function(c)
      return function() if c.n > 100 then c.y:fill(9) end end
    end }]]
  local WHAT <const> = {
    ["answer 'x', equal: 'y' is the output itself, which is always equal to it"] = [[equal = "y"]],
    ["answer 'x': what it expects is NaN in every element, as the output is before a rung has run"] =
      [[cell = function() return 0 / 0 end]],
    ["answer 'x', prove: it has compared nothing; its third argument, check, does"] =
      [[start = function(c) c.y:fill(2) end, host = function() return 2 end, prove = function(c, go) go() end]],
    ["Not measured: wrong (wrong: it differs from its reference, checked on odd sizes)"] = -- which is a copy
      [[start = function(c) c.y:fill(2) end, host = function() return 2 end, reference = function(c) return c.y end]],
  }

  it("is not the output itself, and neither NaN nor nothing", function()
    for words, answer in pairs(WHAT) do
      local made = run(STUDY:format(('study:answer("x", { bytes = "y", %s })'):format(answer) .. WRONG))
      assert.are_not.equal(0, made.status, words)
      has(made.output:gsub("\n", " "), words)
    end
  end)
end)

small_study.describe("a reference", KERNELS, function(_, passes)
  it("begins as its answer says", function()
    local made = passes(STUDY:format [[
      study:answer("again", { bytes = "x y", start = function(_, out) out:fill(3) end, needs = { "by rows" },
        host = function(c) local x = c.x:totable() return function(i, j) return 3 + x[j][i] end end,
        reference = function(c, launcher) launcher("by rows", c)() return c:keep(c.y:clone()) end })
      study:rung { 3, "once more", answer = "again", make = function(c) return launch(c, "added") end }]])
    assert.are.equal(3, #made.record.records)
  end)
end)

small_study.describe("what holds or not", KERNELS, function(run, passes)
  local TRUTH <const> = [[
    study:finally(function()
      local c <close> = study:case { nx = 9, ny = 4 }
      local sum = 0
      for _, v in ipairs(c.x:gather { 1, 10, 19, 28 }) do sum = sum + v end
      local wanted = c.x:get(1, 1) + c.x:get(1, 2) + c.x:get(1, 3) + c.x:get(1, 4)
      mw.check(sum == wanted%s, nil, { name = "the first column" })
    end)]]

  it("is a check with a name", function()
    local checks = passes(STUDY:format(TRUTH:format "")).record.checks
    assert.are.same({ "the first column", true }, { checks[#checks].what, checks[#checks].ok })
    local made = run(STUDY:format(TRUTH:format " + 1"))
    assert.are.equal(3, made.status)
    has(made.output, "check the first column: it does not hold")
  end)
end)
