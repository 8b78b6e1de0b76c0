-- SPDX-License-Identifier: MIT
--
-- The study streams: what it measures, leaves and says.

local support = require "tests.support"

describe("the study streams", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  it("runs through, leaves its files and says what it found", function()
    local run = support.study_passes("streams", "--device cpu -p n=50021 -p chunks=8 -p streams=3 -p rounds=5",
      { optimised = true })
    assert.is_nil(run.output:find("elements are wrong", 1, true))
    for _, name in ipairs { "copies.dat", "copies.gp", "pipeline.dat", "pipeline.gp", "timeline.dat",
                            "timeline.trace.json", "legacy.trace.json" } do
      assert.is_truthy(run.files["streams-" .. name], name)
    end
    assert.is_truthy(run.remarks:find("hides", 1, true), run.remarks)
    assert.is_truthy(run.remarks:find("in order", 1, true), run.remarks)
    local variants = {}
    assert.is_true(#run.record.records >= 20)
    for _, r in ipairs(run.record.records) do
      if r.group == "variants" then variants[#variants + 1] = r end
    end
    local best = variants[3].t < variants[1].t -- several streams, one
    assert.are.equal(best, run.remarks:find("The best pipeline", 1, true) ~= nil, run.remarks)
    assert.are.equal(not best, run.remarks:find("Even the best of several streams", 1, true) ~= nil, run.remarks)
    assert.are.equal("complete", run.record.status)
  end)

  it("takes f64, odd sizes and few elements, and calibrates its kernel", function()
    support.study_passes("streams", "--device cpu -p n=997 -p type=f64 -p chunks=64 -p streams=2 -p balance=0.5")
  end)

  -- Of each choice: what is drawn, what is said, and what must not be.
  it("runs any of its parts, and says nothing of the others", function()
    local cases = {
      copies = { { "copies" }, "Pinned memory gives", "pieces" },
      pipeline = { { "pipeline" }, "times the longest of the three", "callback" },
      defaults = { {}, "In the per-thread default stream", "longest of the three" },
      callbacks = { {}, "came in order", "event" },
      events = { {}, "Without an event", "callback" },
      graph = { {}, "a graph of it in", "default stream" },
      timelines = { { "legacy", "timeline" }, nil, "stream" },
      ["graph,copies"] = { { "copies" }, "a graph of it in", "default stream" },
    }
    for parts, wanted in pairs(cases) do
      local run = support.study_passes("streams",
        "--device cpu -p n=5021 -p chunks=4 -p streams=3 -p rounds=5 -p parts=" .. parts)
      local drawn = {}
      for name in pairs(run.files) do drawn[#drawn + 1] = name:match "^streams%-(%w+)%.dat$" end
      table.sort(drawn)
      assert.are.same(wanted[1], drawn)
      if wanted[2] then assert.is_truthy(run.remarks:find(wanted[2], 1, true), run.remarks) end
      assert.is_nil(run.remarks:find(wanted[3], 1, true), run.remarks)
    end
  end)

  it("refuses an even number of rounds, whose result would be its input", function()
    local run = support.study("streams", "--device cpu -p rounds=4")
    assert.are.equal(1, run.status, run.output)
    assert.is_truthy(run.output:find("parameter 'rounds' must be odd", 1, true), run.output)
  end)
end)
