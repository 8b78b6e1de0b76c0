-- SPDX-License-Identifier: MIT
--
-- The study small-problems: what it checks and leaves.

local support = require "tests.support"

describe("the study small-problems", function()
  if not support.program() then return pending "needs the program" end

  it("runs each rung, and counts cells and unknowns", function()
    local run = support.study_passes("small-problems", "--device cpu -p problems=3 -p steps=5 -p length=77")
    local rungs = {}
    for _, r in ipairs(run.record.records) do
      if r.group ~= "number" then rungs[#rungs + 1] = r.rung end
      local size = r.group == "implicit" and 77 or 64 * 64
      assert.is_near(1, r.cells * r.t.median / (r.problems * size * r.steps), 1e-9)
    end
    assert.are.same({ "a launch per step and problem", "a launch per step", "a graph of them",
      "all steps in shared memory", "all steps in shared memory", "all steps in registers",
      "a launch per implicit step", "a graph of implicit steps",
      "all implicit steps in a launch" }, rungs)
  end)
end)
