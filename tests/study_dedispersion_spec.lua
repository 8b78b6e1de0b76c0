-- SPDX-License-Identifier: MIT
--
-- The study dedispersion: sums that are equal bit for bit, pulsars at their trials.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p channels=64 -p times=300 -p dms=20 "

describe("the study dedispersion", function()
  if not support.program() then return pending "needs the program" end

  it("measures its rungs and stages", function()
    local run = support.study_passes("dedispersion", QUICK .. "-p parts=ladder,stages")
    local rungs = {}
    for _, r in ipairs(run.record.records) do
      rungs[#rungs + 1] = r.rung
      if r.group == "ladder" then assert.is_near(64 * 300 * 20 / r.t.median, r.adds, 1e-9 * r.adds) end
    end
    assert.are.same({ "direct", "direct, times in registers", "shared memory", "two samples a word",
                      "four samples a word", "four channels a word", "zero-DM filter", "time binning", "boxcars" },
      rungs)
  end)

  it("finds its pulsars", function()
    local run = support.study_passes("dedispersion", "--device cpu -p parts=pulsar -p snr=9")
    local found = {}
    for _, r in ipairs(run.record.records) do found[r.how] = r end
    assert.is_true(math.abs(found["with it"].trial - 40) <= 8)
    assert.is_true(math.abs(found["in half of the samples"].trial - 96) <= 16)
    assert.is_true(math.abs(found["without the zero-DM filter"].snr) > 15) -- the interference
  end)
end)
