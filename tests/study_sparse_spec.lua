-- SPDX-License-Identifier: MIT
--
-- The study sparse: what it checks and leaves.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p side=20 -p rows=500 -p steps=3 -p triangle=12 "

describe("the study sparse", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  it("runs each rung where it fits, and counts each array once", function()
    local run = support.study_passes("sparse", QUICK)
    local rungs, bytes = {}, {}
    for _, r in ipairs(run.record.records) do
      rungs[r.group] = rungs[r.group] or {}
      table.insert(rungs[r.group], r.number)
      bytes[r.group] = r.T_eff * r.t.median
    end
    assert.are.same({ Poisson = { 1, 2, 3, 4, 5, 6, 7 }, ["power law"] = { 1, 2, 3, 5, 6, 7 },
                      columns = { 1, 8, 9, 10 }, triangle = { 11, 12, 13, 14 }, CG = { 1, 15, 16, 17, 18 } }, rungs)
    local elements = 5 * 400 - 4 * 20
    assert.is_near(12 * elements + 4 * 401 + 16 * 400, bytes.Poisson, 1e-3)
    assert.is_near(3 * (12 * elements + 4 * 401 + 88 * 400), bytes.CG, 1e-3)
  end)

  it("finds a row that loses what a thread in front has of it, and a part of a dot product", function()
    for rung, change in pairs { ["6"] = { "head + in_front", "head" },
                                ["17"] = { "sum += (double)after * after", "sum += (double)r[i] * after * 0.5" } } do
      local run = support.study("sparse", QUICK .. "-p rungs=" .. rung,
        { kernels = { ["sparse.cu"] = support.changed_kernels("sparse.cu", change),
                      ["block_sum.cuh"] = support.changed_kernels "block_sum.cuh" } })
      assert.are.equal(3, run.status, run.output)
    end
  end)
end)
