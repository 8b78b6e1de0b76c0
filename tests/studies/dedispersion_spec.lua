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
    assert.are.same({ "direct", "direct, times in registers", "shared memory", "two samples per word",
                      "four samples per word", "four channels per word", "zero-DM filter", "time binning", "boxcars" },
      rungs)
  end)

  it("finds its pulsars in 20 of 20 skies", function()
    local run = support.study_passes("dedispersion",
      "--device cpu -p parts=pulsar -p channels=64 -p times=1024 -p dms=48 -p seeds=20")
    local found, raw = {}, nil
    for _, r in ipairs(run.record.records) do
      if r.group == "skies" then found[r.how] = { r.found, r.skies } end
      raw = r.how == "without the zero-DM filter" and r or raw
    end
    assert.are.same({ ["with it"] = { 20, 20 }, ["in half of the samples"] = { 20, 20 } }, found)
    assert.is_true(raw.snr > 15) -- the interference
  end)
end)
