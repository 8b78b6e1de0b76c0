-- SPDX-License-Identifier: MIT
--
-- The study tridiagonal: what it checks and leaves.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p unknowns=2000 -p cube=9 "

describe("the study tridiagonal", function()
  if not support.program() then return pending "needs the program" end

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
end)
