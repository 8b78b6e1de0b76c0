-- SPDX-License-Identifier: MIT
--
-- The study sparse: what it checks and leaves.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p side=20 -p rows=500 -p steps=3 -p triangle=12 "

describe("the study sparse", function()
  if not support.program() then return pending "needs the program" end

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
end)
