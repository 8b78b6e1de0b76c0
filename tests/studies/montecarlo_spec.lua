-- SPDX-License-Identifier: MIT
--
-- The study montecarlo: its parts and rungs, what it checks, and how its errors fall.

local support = require "tests.support"

describe("the study montecarlo", function()
  if not support.program() then return pending "needs the program" end

  it("measures normals and paths, all of them right", function()
    local run = support.study_passes("montecarlo",
      "--device cpu -p paths=1000 -p steps=6 -p parts=normals,paths")
    local parts = { normals = {}, paths = {} }
    for _, r in ipairs(run.record.records) do
      if r.number then table.insert(parts[r.group], r.rung) end
      if r.worst then assert.is_true(r.worst < (r.number == 2 and 2e-3 or 1e-5)) end
      if r.price then assert.is_near(0.0797, r.price, 1.5 * r.half) end
    end
    assert.are.same({ "Box-Muller", "Box-Muller, fast", "inverse", "ziggurat", "rand.normal" }, parts.normals)
    assert.are.same({ "stored by path, fast", "stored by step, fast", "fused, Box-Muller", "fused, Box-Muller, fast",
                      "fused, inverse", "fused, ziggurat" }, parts.paths)
    support.has_checks(run, { "ziggurat, paths = 301, steps = 6, f32", "fused, inverse, paths = 17, steps = 2, f32",
                              "stored by path, fast, paths = 301, steps = 6, f32",
                              "fused, ziggurat, paths = 1000, steps = 6, f32: the option's value" })
  end)

  it("has errors that fall as 1 / sqrt(n) by random numbers, and nearly as 1 / n by Sobol's points", function()
    local run = support.study_passes("montecarlo", "--device cpu -p parts=error -p most=2^16")
    local half = {}
    for _, r in ipairs(run.record.records) do if r.half then half[r.rung .. r.paths] = r.half end end
    local random, points = "fused, Box-Muller, fast", "Sobol"
    assert.is_near(8, half[random .. 1024] / half[random .. 65536], 1)
    assert.is_true(half[points .. 1024] / half[points .. 65536] > 20)
  end)
end)
