-- SPDX-License-Identifier: MIT
--
-- The study small-problems: what it checks and leaves.

local support = require "tests.support"

describe("the study small-problems", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  it("runs each rung, and counts cells and unknowns", function()
    local run = support.study_passes("small-problems", "--device cpu -p problems=3 -p steps=5 -p length=77")
    local rungs = {}
    for _, r in ipairs(run.record.records) do
      if r.group ~= "number" then rungs[#rungs + 1] = r.rung end
      local size = r.group == "implicit" and 77 or 64 * 64
      assert.is_near(1, r.cells * r.t.median / (r.problems * size * r.steps), 1e-9)
    end
    assert.are.same({ "a launch a step and problem", "a launch a step", "a graph of them", "all steps in shared memory",
      "all steps in shared memory", "all steps in registers", "a launch an implicit step", "a graph of implicit steps",
      "all implicit steps in a launch" }, rungs)
  end)

  it("finds a wrong row of another lane, and a factor of the wrong neighbour", function()
    for rung, change in pairs { [5] = { "u[0][i], LANES)", "u[1][i], LANES)" },
                                [8] = { "b -= high[k] * at[0][i + s]", "b -= high[k] * at[2][i + s]" } } do
      local run = support.study("small-problems", "--device cpu -p problems=1 -p steps=2 -p rungs=" .. rung,
        { kernels = { ["small.cu"] = support.changed_kernels("small.cu", change),
                      ["vector16.cuh"] = support.changed_kernels "vector16.cuh" } })
      assert.are.equal(3, run.status, run.output)
    end
  end)
end)
