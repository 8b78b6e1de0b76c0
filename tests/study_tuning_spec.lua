-- SPDX-License-Identifier: MIT
--
-- The study tuning: every kernel is tuned over all of its variants and by a search, which names one of them.

local support = require "tests.support"

describe("the study tuning", function()
  if not support.program() then return pending "needs the program" end

  it("compares a search with all variants", function()
    local run = support.study_passes("tuning",
      "--device cpu -p side=64 -p n=32 -p length=4096 -p rungs=1,3 -p repeats=1")
    local found, tried = {}, {}
    for _, r in ipairs(run.record.records) do
      if r.search == "groups" then found[r.kernel] = r end
      if r.stage == "search" then
        tried[r.tuning] = (tried[r.tuning] or 0) + 1
        assert.is_nil(r.reason, r.variant)
      end
    end
    for name, variants in pairs { stencil = 8, reduction = 4 } do
      local r = found[name]
      assert.are.equal(variants, tried[name .. ", all"])
      assert.are.same({ variants, tried[name .. ", groups 1"], "1 of 1" }, { r.variants, r.tried, r.same })
      assert.is_true(r.tried >= 2 and r.tried <= 4 and r.found > 0 and r.found <= 1)
    end
  end)
end)
