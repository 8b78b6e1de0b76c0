-- SPDX-License-Identifier: MIT
--
-- The study fourier-search: all forms give the same powers, pulsars are at their templates, and mistakes are found.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p n=2048 -p most=16 "

describe("the study fourier-search", function()
  if not support.program() then return pending "needs the program" end

  it("measures its forms, harmonic sums and errors", function()
    local run = support.study_passes("fourier-search", QUICK .. "-p parts=ladder,harmonics")
    local errors, rungs = {}, {}
    for _, r in ipairs(run.record.records) do
      rungs[r.rung], errors[r.rung] = r, r.error_rms
      assert.is_near(2048 * 9 / r.t.median, r.bins, 1e-9 * r.bins)
    end
    for _, name in ipairs { "cuFFT launches", "float, 16 per thread", "harmonic sum" } do
      assert.is_truthy(rungs[name], name)
    end
    assert.are.equal(256, rungs["own launches"].segment)
    assert.is_true(errors["float, 16 per thread"] < 1e-5)
    assert.is_true(errors["bfloat16, 4 per thread"] < 0.02 and errors["packed bfloat16, 4 per thread"] < 0.05)
  end)

  it("finds the pulsar in 20 of 20 skies", function()
    local run = support.study_passes("fourier-search",
      "--device cpu -p parts=pulsar -p rungs=4 -p n=8192 -p most=24 -p seeds=20")
    local r = run.record.records[1]
    assert.are.same({ 20, 20 }, { r.found, r.skies })
  end)

  it("finds a factor of a wrong stage, and ends of segments that are kept", function()
    local kernels = support.changed_kernels("fourier-search.cu",
      { "from + (E + 1) * q * k", "from + (E == 16 ? E : E + 1) * q * k" },
      { "if (i < half || i >= size - half || r >= n) return;", "if (r < 0 || r >= n) return;" })
    local run = support.study("fourier-search", QUICK .. "-p parts=ladder -p rungs=1,3,4",
      { kernels = { ["fourier-search.cu"] = kernels } })
    assert.are.equal(3, run.status, run.output)
    local failed = {}
    for _, one in ipairs(run.record.checks) do
      if not one.ok then failed[one.what:match "^.-thread" or one.what:match "^[^,]*"] = true end
    end
    assert.are.same({ ["cuFFT launches"] = true, ["float, 16 per thread"] = true }, failed)
  end)
end)
