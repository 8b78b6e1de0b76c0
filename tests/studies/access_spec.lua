-- SPDX-License-Identifier: MIT
--
-- The study access: what it measures and derives.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p n=4096 -p steps=2 "

describe("the study access", function()
  if not support.program() then return pending "needs the program" end

  it("measures all of its rungs in their parts, and leaves its charts", function()
    local run = support.study_passes("access", QUICK .. "-p strides=1,2,8,1000 -p offsets=0,8,31")
    local counts, charts, sectors = {}, {}, {}
    for _, r in ipairs(run.record.records) do
      counts[r.group] = (counts[r.group] or 0) + 1
      if r.stride or r.offset then sectors[("%s %d"):format(r.rung, r.stride or r.offset)] = r.sectors_per_request end
    end
    for i, chart in ipairs(run.record.charts) do charts[i] = chart.name end
    assert.are.same({ stride = 8, offset = 6, width = 6, loads = 30, half = 4, constants = 10, ["local"] = 10 }, counts)
    assert.are.same({ "access-stride", "access-width", "access-loads-per", "access-half", "access-constants",
                      "access-local-3", "access-local-16" }, charts)
    assert.are.same({ ["strided 1"] = 4.0, ["strided 2"] = 8.0, ["strided 8"] = 32.0, ["strided 1000"] = 32.0,
                      ["shifted 0"] = 4.0, ["shifted 8"] = 4.0, ["shifted 31"] = 5.0 }, sectors)
    support.has_checks(run, { "strided, n = 10007, stride = 1000, f32", "shifted, n = 10007, offset = 31, f32",
                              "half2, n = 67, f16", "16 bytes per thread, n = 67, f32",
                              "shared, each lane its own, n = 10007, f32", "local memory, m = 16, n = 1003, f32" })
  end)

  it("takes no offset beyond its smallest array", function()
    support.study_passes("access", "--device cpu -p n=1024 -p parts=offset -p offsets=256")
    local run = support.study("access", QUICK .. "-p parts=offset -p offsets=257")
    assert.is_truthy(run.output:find("parameter 'offsets' must be a number from 0 to 256", 1, true), run.output)
  end)
end)
