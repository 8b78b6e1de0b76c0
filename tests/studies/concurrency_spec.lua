-- SPDX-License-Identifier: MIT
--
-- The study concurrency: what it measures and leaves.

local support = require "tests.support"

describe("the study concurrency", function()
  if not support.program() then return pending "needs the program" end

  it("measures streams, callbacks and the host's work, all of them right", function()
    local run = support.study_passes("concurrency", "-p rounds=101 -p streams=4 -p each=3")
    local parts = {}
    for _, r in ipairs(run.record.records) do
      parts[r.group] = parts[r.group] or {}
      table.insert(parts[r.group], r.rung)
      assert.is_near(r.kernels, r.streams * r.each / r.t.median, 1e-6 * r.kernels)
    end
    assert.are.same({ "one stream", "a stream per piece", "legacy default stream between",
                      "per-thread default stream between", "legacy, streams not blocking" }, parts.streams)
    assert.are.same({ "one stream", "a stream per piece", "the host waits each turn", "a callback queues the next" },
                    parts.next)
    assert.are.same({ "kernels, wait, host", "kernels, host, wait" }, parts.host)
    support.has_checks(run, { "a callback queues the next, each = 3, rounds = 5, streams = 3, f32",
                              "a callback queues the next, each = 3, streams = 4, f32, beside 'one stream'",
                              "legacy default stream between, each = 1, streams = 4, f32, beside 'one stream'" })
  end)

  it("wants an odd number of rounds", function()
    local run = support.study("concurrency", "-p rounds=4")
    assert.are.equal(2, run.status, run.output)
    assert.is_truthy(run.output:find("parameter 'rounds' must be odd: the result is then 1 - x, got '4'", 1, true),
      run.output)
  end)
end)
