-- SPDX-License-Identifier: MIT
--
-- The study recurrence: what it checks and leaves.

local support = require "tests.support"

describe("the study recurrence", function()
  if not support.program() then return pending "needs the program" end

  for _, ty in ipairs { "f32", "f64" } do
    it("runs each rung for sums and recurrences of " .. ty, function()
      local run = support.study_passes("recurrence", "--device cpu -p parts=ladder -p n=3001 -p type=" .. ty)
      local rungs = {}
      for _, r in ipairs(run.record.records) do
        rungs[#rungs + 1] = r.rung
        local arrays = r.op == "sum" and 2 or r.rung == "library copy" and 2 or 3
        assert.is_near(1, r.T_eff * r.t.median / (arrays * r.bytes), 1e-9)
      end
      assert.are.same({ "library copy", "sum, barriers, host", "sum, warps, host", "sum, in order", "sum, in rounds",
        "library copy", "recurrence, barriers, host", "recurrence, warps, host", "recurrence, in order",
        "recurrence, in rounds" }, rungs)
    end)
  end

  it("finds pairs that are joined in the wrong order", function()
    local text = support.changed_kernels("recurrence.cu", { "if (lane >= k) a = join(left, a);",
                                                            "if (lane >= k) a = join(a, left);" })
    local run = support.study("recurrence", "--device cpu -p parts=ladder -p n=3001 -p rungs=4",
      { kernels = { ["recurrence.cu"] = text, ["vector16.cuh"] = support.changed_kernels "vector16.cuh" } })
    assert.are.equal(3, run.status, run.output)
    assert.is_truthy(run.output:find("check recurrence, in rounds", 1, true), run.output)
    assert.is_nil(run.output:find("check sum, in rounds, n", 1, true), run.output)
  end)
end)
