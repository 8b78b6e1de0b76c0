-- SPDX-License-Identifier: MIT
--
-- The study mistakes: what check mode finds in each, and that the mended twins are right, without a finding.
-- luacheck: std +busted

local support = require "tests.support"

-- Of the others neither a race nor a read outside can be seen: they compute something else.
local FOUND <const> = {
  ["one barrier of two"] = "race in shared memory", ["count++ by all threads"] = "race in shared memory",
  ["what an earlier launch left"] = "uninitialised", ["sizes of a halo exchanged"] = "index",
  ["a barrier in a branch"] = "barrier", ["a sum that is not set to 0"] = "uninitialised",
  ["bodies beyond the last one"] = "bounds",
  ["float4 at the second float"] = "misaligned", ["a guard behind the boundary"] = "race in global memory",
  ["corners read the edges"] = "race in global memory", ["a lock without a fence"] = "race in global memory",
  ["a wait without a fence"] = "race in global memory",
  ["no barrier after red"] = "race in global memory", ["one buffer for two streams"] = "race between operations",
  ["a stream for each launch"] = "race between operations",
}
local COMPUTED <const> = {
  ["a tree over 96 threads"] = true, ["0.25 is a double"] = true, ["the sign of a corner"] = true,
  ["counters that stay"] = true, ["red twice"] = true, ["a grid that is rounded down"] = true,
  ["as many elements as pieces"] = true,
}
local ALL <const> = 22

local function judge(records)
  for _, r in ipairs(records) do
    local kind = FOUND[r.mistake]
    if COMPUTED[r.mistake] then
      assert.are.equal("none", r.check_mode, r.mistake)
    else
      assert.is_truthy(r.check_mode ~= "none" and r.check_mode:find(kind, 1, true), r.mistake .. ": " .. r.check_mode)
    end
  end
end

describe("the study mistakes", function()
  if not support.program() then return pending "needs the program" end

  it("shows what check mode finds, and what a result shows", function()
    local run = support.study_passes("mistakes", "", { untimed = true })
    assert.are.equal(ALL, #run.record.records)
    judge(run.record.records)
    local by_name = {}
    for _, r in ipairs(run.record.records) do by_name[r.mistake] = r end
    for name in pairs(COMPUTED) do
      assert.are.equal(name:find "^0.25" and "right" or "wrong", by_name[name].result, name)
    end
    assert.are.equal("neither", by_name["0.25 is a double"].found_by)
    assert.are.equal("normal run", by_name["red twice"].found_by)
    assert.are.equal(2 * ALL, #run.record.checks)
    for _, check in ipairs(run.record.checks) do assert.is_true(check.ok, check.what) end
    for _, finding in ipairs(run.record.findings) do assert.is_true(finding.intended) end
  end)

  it("has no parameter for a time", function()
    assert.are.equal(2, support.study("mistakes", "").status)
  end)

  it("runs in check mode only, and the chosen ones", function()
    local run = support.study_passes("mistakes", "--check --device cpu -p only=corner", { untimed = true })
    assert.are.equal("cpu:check 2", ("%s %d"):format(run.record.device, #run.record.records))
    judge(run.record.records)
    assert.are.equal("check mode", run.record.records[1].found_by)
  end)
end)
