-- SPDX-License-Identifier: MIT
--
-- The study divergence: what it measures and derives.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p n=70001 -p side=70 -p steps=2 "

describe("the study divergence", function()
  if not support.program() then return pending "needs the program" end

  it("measures all of its rungs in their parts, and leaves its charts", function()
    local run = support.study_passes("divergence", QUICK .. "-p fractions=0.1,1 -p bins=1,64")
    local counts, charts, derived = {}, {}, {}
    for _, r in ipairs(run.record.records) do
      counts[r.group] = (counts[r.group] or 0) + 1
      if r.bound then derived[("%s %d"):format(r.rung, r.ways)] = r.bound end
      if r.warps then derived[("%s %g"):format(r.rung, r.fraction)] = ("%.3f"):format(r.warps) end
    end
    for i, chart in ipairs(run.record.charts) do charts[i] = chart.name end
    assert.are.same({ ways = 12, branch = 3, list = 14, boundary = 6, count = 5, atomics = 4 }, counts)
    assert.are.same({ "divergence-ways", "divergence-list-fraction", "divergence-count", "divergence-atomics-many" },
      charts)
    assert.are.same({ 1 / 32, 1.0, "0.966", "0.100", "1.000" },
      { derived["threads differ 32"], derived["warps differ 32"], derived["a branch 0.1"],
        derived["a list, by warp 0.1"], derived["two lists 1"] })
    support.has_checks(run, { "threads differ, n = 10007, ways = 7, f32", "two lists, fraction = 0.2, n = 10007, f32",
                              "a list in each block, fraction = 1, n = 45, f32", "two kernels, nx = 67, steps = 3, f32",
                              "count by warp, n = 70001, f32, beside the host",
                              "shared, many = 64, n = 70001, f32, beside the host" })
  end)

  it("draws no chart on a logarithmic axis of 0 only", function()
    local run = support.study_passes("divergence", QUICK .. "-p parts=list -p fractions=0")
    assert.are.equal("7 0", ("%d %d"):format(#run.record.records, #run.record.charts))
  end)
end)
