-- SPDX-License-Identifier: MIT
--
-- The study tridiagonal: what it checks and leaves.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p unknowns=2000 -p cube=9 "

describe("the study tridiagonal", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  it("runs each rung where it fits, and counts five arrays", function()
    local run = support.study_passes("tridiagonal", QUICK .. "-p lengths=32,129")
    local rungs = { contiguous = {}, interleaved = {}, pieces = {}, heat = {} }
    for _, r in ipairs(run.record.records) do
      table.insert(rungs[r.group], r.number)
      local arrays = r.number == 1 and 2 or r.group == "heat" and 9 or 5
      assert.is_near(1, r.T_eff * r.t.median / (arrays * r.bytes), 1e-9)
    end
    assert.are.same({ contiguous = { 1, 2, 3, 4, 5, 6, 7, 1, 2, 4, 6, 7 }, interleaved = { 1, 2, 3, 7, 1, 2, 7 },
                      pieces = { 6, 6 }, heat = { 1, 8, 9, 10 } }, rungs)
  end)

  it("finds a lost level, a warp's wrong neighbour and a line that is not its own", function()
    for rung, change in pairs { ["5"] = { "s < members; s *= 2", "s < members / 2; s *= 2" },
                                ["6"] = { "interface_row(r, 32), 32, 31)", "interface_row(r, 32), 32, 32)" },
                                ["9"] = { "system / step * n * step", "system / step * step" } } do
      local run = support.study("tridiagonal", QUICK .. "-p lengths=32 -p parts=contiguous,heat -p rungs=" .. rung,
        { kernels = { ["tridiagonal.cu"] = support.changed_kernels("tridiagonal.cu", change),
                      ["vector16.cuh"] = support.changed_kernels "vector16.cuh" } })
      assert.are.equal(3, run.status, run.output)
    end
  end)
end)
