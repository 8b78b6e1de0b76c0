-- SPDX-License-Identifier: MIT
--
-- The study divergence: what it measures and derives, and that its checks find kernels that lose elements.

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
    local checked = {}
    for _, one in ipairs(run.record.checks) do checked[one.what] = one.ok end
    for _, what in ipairs { "threads differ, n = 10007, ways = 7, f32", "two lists, fraction = 0.2, n = 10007, f32",
                            "a list in each block, fraction = 1, n = 45, f32", "two kernels, nx = 67, steps = 3, f32",
                            "count by warp, n = 70001, f32, beside the host",
                            "shared, many = 64, n = 70001, f32, beside the host" } do
      assert.is_true(checked[what], what)
    end
  end)

  it("draws no chart on a logarithmic axis of 0 only", function()
    local run = support.study_passes("divergence", QUICK .. "-p parts=list -p fractions=0")
    assert.are.equal("7 0", ("%d %d"):format(#run.record.records, #run.record.charts))
  end)

  it("finds kernels that lose elements of a list, a corner, votes or additions", function()
    local kernels = support.changed_kernels("divergence.cu",
      { "if (is_other) others[other + before(rest)] = i;", "if (is_other) others[other] = i;" },   -- list_two
      { "list[at] = i;", "list[at + (at > 5)] = i;" },                                            -- list_build
      { "side == 2 ? nx - 1 - k : 0;", "side == 2 ? nx - 1 : 0;" },                                -- edges
      { "if (threadIdx.x == 0) atomicAdd(total, all);", "if (threadIdx.x == 0) *total += all - 1;" }, -- count<BLOCK>
      { "atomicAdd(&total[t], own[t]);", "total[t] = own[t];" })                                   -- bins
    local run = support.study("divergence", QUICK .. "-p fractions=0.1", { kernels = { ["divergence.cu"] = kernels } })
    assert.are.equal(3, run.status, run.output)
    local wrong = {}
    for name in run.remarks:match("Not measured: (.*)$"):gmatch "([%w, ]+) %([df]" do -- differs, or faults
      wrong[#wrong + 1] = name:match "^%s*(.*)"
    end
    assert.are.same({ "two lists", "a list, by element", "a list, by warp", "a list, by block", "two kernels",
                      "count by block", "shared" }, wrong)
  end)
end)
