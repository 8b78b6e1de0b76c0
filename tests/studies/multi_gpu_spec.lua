-- SPDX-License-Identifier: MIT
--
-- The study multi-gpu on two and three CPU devices: what it measures and leaves.

local support = require "tests.support"

local SMALL <const> = "--device cpu -p n=4096 -p least=1024 -p sides=8 -p strong=16 -p steps=2 "

-- Records by part and rung; of several cases the last.
local function by_rung(record)
  local found = {}
  for _, r in ipairs(record.records) do
    found[r.group] = found[r.group] or {}
    found[r.group][r.rung] = r
  end
  return found
end

describe("the study multi-gpu", function()
  if not support.program() then return pending "needs the program" end

  it("measures copies, remote work, sums and heat on two devices", function()
    local run = support.study_passes("multi-gpu", SMALL)
    local found = by_rung(run.record)
    for _, name in ipairs { "cpu:0/2 to cpu:0/2", "cpu:0/2 to cpu:1/2", "cpu:1/2 to cpu:0/2", "cpu:1/2 to cpu:1/2",
                            "all at once" } do
      assert.is_truthy(found.pairs[name], name)
    end
    for group, rungs in pairs {
      remote = { "own memory", "loads", "stores", "copy engine" },
      single = { "load, own memory", "load, another's", "atomics, own memory", "atomics, another's" },
      ["all-reduce"] = { "moonwarp.nccl", "each reads all", "parts, then copies" },
      weak = { "alone, device 1", "alone, device 2", "alone, in parts", "exchange after", "overlap", "overlap, graph" },
      strong = { "overlap", "overlap, graph" },
    } do
      for _, rung in ipairs(rungs) do assert.is_truthy((found[group] or {})[rung], group .. ": " .. rung) end
    end
    for _, name in ipairs { "rates.dat", "latencies.dat", "all-reduce-floats.dat", "remote.dat", "step.trace.json",
                            "overlap.trace.json" } do
      assert.is_truthy(run.files["multi-gpu-" .. name], name)
    end
    local weak = found.weak
    local slowest = math.max(weak["alone, device 1"].t.median, weak["alone, device 2"].t.median)
    local after, overlap = weak["exchange after"], weak.overlap
    assert.is_near(slowest / overlap.t.median, overlap.efficiency, 1e-9)
    assert.is_near((after.t.median - overlap.t.median) / (after.t.median - slowest), overlap.hidden, 1e-6)
    assert.are.equal(2, found.strong.overlap.used)
    assert.are.equal("complete", run.record.status)
  end)

  it("takes three devices, of which the middle one has two neighbours", function()
    local run = support.study_passes("multi-gpu", SMALL .. "-p devices=3 -p parts=all-reduce,weak")
    local found = by_rung(run.record)
    assert.is_truthy(found.weak["alone, device 3"] and found.weak["overlap, graph"])
    assert.is_truthy(found["all-reduce"]["parts, then copies"])
  end)

  it("asks for two devices or more", function()
    local run = support.study("multi-gpu", SMALL .. "-p devices=1")
    assert.is_truthy(run.output:find("two or more", 1, true), run.output)
  end)
end)
