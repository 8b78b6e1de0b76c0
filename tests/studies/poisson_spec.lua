-- SPDX-License-Identifier: MIT
--
-- The study poisson: what it checks and leaves.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p plane=20 -p cube=6 -p side=16 "

describe("the study poisson", function()
  if not support.program() then return pending "needs the program" end

  it("solves by each method until the error is small", function()
    local run = support.study_passes("poisson", QUICK .. "-p targets=3,7")
    local rungs = {}
    for _, r in ipairs(run.record.records) do
      rungs[r.group] = rungs[r.group] or {}
      table.insert(rungs[r.group], r.number)
      local n = r.group == "2-D" and 400 or r.group == "3-D" and 216 or 256
      assert.is_near(n, r.unknowns * r.t.median, 1e-6)
      if r.group == "error" then
        assert.is_true(r.error_rms < 10 ^ -r.digits, r.rung)
        assert.are.equal(r.number > 2, r.iterations ~= nil)
      end
    end
    assert.are.same({ ["2-D"] = { 1, 2 }, ["3-D"] = { 1, 2 }, error = { 2, 3, 4, 5, 6, 2, 3, 4, 5, 6 } }, rungs)
  end)

  it("finds an eigenvalue of the wrong side and a coarse grid that makes worse what it should mend", function()
    for rung, change in pairs { ["2"] = { "ey[first + r]", "ey[first]" }, ["3"] = { "= sum / 4", "= -sum / 4" } } do
      local run = support.study("poisson", QUICK .. "-p targets=3 -p rungs=" .. rung, { kernels = {
        ["poisson.cu"] = support.changed_kernels("poisson.cu", change),
        ["sparse.cu"] = support.changed_kernels "sparse.cu",
        ["block_sum.cuh"] = support.changed_kernels "block_sum.cuh" } })
      assert.are.equal(3, run.status, run.output)
    end
  end)
end)
