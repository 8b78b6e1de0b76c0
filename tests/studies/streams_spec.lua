-- SPDX-License-Identifier: MIT
--
-- The study streams: what it measures and leaves, in each of its parts.

local support = require "tests.support"

-- The rungs of each part, in the order of their records.
local function rungs_of(record)
  local parts = {}
  for _, r in ipairs(record.records) do
    parts[r.group] = parts[r.group] or {}
    table.insert(parts[r.group], r.rung)
  end
  return parts
end

-- What is said of a pipeline, by the times that its record has.
local function check_shares(r, streams)
  local sum, longest = r.copy_in + r.kernel + r.copy_out, math.max(r.copy_in, r.kernel, r.copy_out)
  local t, count = r.t.median, r.rung == "1 stream" and 1 or r.rung:find "^2 streams, " and 2 or streams
  assert.are.equal(count, r.streams, r.rung)
  assert.is_near(r.over, t / longest, 1e-9)
  assert.is_near(r.hidden, (sum - t) / (r.copy_in + r.copy_out), 1e-9)
  assert.is_near(r.overlap, (sum - t) / (sum - longest), 1e-9)
  assert.is_near(r.ideal, (sum + (r.chunks - 1) * math.max(longest, sum / count)) / r.chunks / longest, 1e-9)
end

describe("the study streams", function()
  if not support.program() then return pending "needs the program" end

  it("measures pipelines beside their stages, and the best of them in other ways", function()
    local run = support.study_passes("streams",
      "--device cpu -p n=50021 -p chunks=8 -p streams=3 -p rounds=5 -p smallest=12000")
    for _, name in ipairs { "copies-bytes.dat", "pipeline-chunks.dat", "variants.dat", "timeline.dat",
                            "timeline.trace.json", "legacy.trace.json" } do
      assert.is_truthy(run.files["streams-" .. name], name)
    end
    local parts, best = rungs_of(run.record), nil
    local stages, several = { "pinned, in", "pinned, out", "kernel" }, { "1 stream", "2 streams", "3 streams" }
    assert.are.equal(2 * 5, #parts.copies)
    assert.are.equal(4 * #stages + 1 + 2 + 3 + 3, #parts.pipeline)
    assert.are.same({ stages[1], stages[2], stages[3], several[1] }, table.move(parts.pipeline, 1, 4, 1, {}))
    assert.are.same({ "without waiting", "waiting for the event" }, parts.events)
    for _, r in ipairs(run.record.records) do
      if r.group == "pipeline" and r.over and not (best and best.T_tot >= r.T_tot) then best = r end
    end
    local pieces, streams = math.max(2, best.pieces), math.max(2, best.streams)
    for _, r in ipairs(run.record.records) do
      if r.group == "variants" then
        assert.are.equal(pieces, r.chunks, r.rung)
        if r.over then check_shares(r, streams) end
        if r.rung == "a callback per piece" then assert.are.equal(pieces, #r.heard) end
      end
    end
    assert.are.equal(#stages + 2 + 7, #parts.variants)
    assert.are.equal("complete", run.record.status)
  end)

  it("takes f64, odd sizes and few elements, and calibrates its kernel", function()
    local run = support.study_passes("streams",
      "--device cpu -p n=997 -p type=f64 -p chunks=64 -p streams=2 -p balance=2")
    for _, r in ipairs(run.record.records) do
      if r.rounds then assert.are.equal(1, r.rounds % 2) end
    end
  end)

  it("runs any of its parts and rungs, and nothing of the others", function()
    local cases = { copies = { "copies" }, pipeline = { "pipeline" }, variants = { "variants" }, events = { "events" },
                    timelines = {}, ["events,copies"] = { "copies", "events" } }
    for words, wanted in pairs(cases) do
      local run = support.study_passes("streams",
        "--device cpu -p n=5021 -p chunks=4 -p streams=3 -p rounds=5 -p rungs=9,1 -p parts=" .. words)
      local names = {}
      for name in pairs(rungs_of(run.record)) do names[#names + 1] = name end
      table.sort(names)
      assert.are.same(wanted, names)
      assert.are.equal(words == "timelines", run.files["streams-legacy.dat"] ~= nil)
      if words == "variants" then
        assert.are.same({ "pinned, in", "pinned, out", "kernel", "as a graph" }, rungs_of(run.record).variants)
      end
    end
  end)
end)
