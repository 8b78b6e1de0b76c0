-- SPDX-License-Identifier: MIT
--
-- The study balance: its knee beside the ceilings.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p n=2048 -p side=40 -p types=f64 -p length=4 "

local function records_of(record, group)
  local list = {}
  for _, r in ipairs(record.records) do
    if r.group == group then list[#list + 1] = r end
  end
  return list
end

describe("the study balance", function()
  if not support.program() then return pending "needs the program" end

  it("measures its rungs, and finds the knee from their rates", function()
    local run = support.study_passes("balance", QUICK .. "-p steps=1,40")
    local knee, best = records_of(run.record, "knee"), {}
    local function add(name, r)
      local highest = best[name] or { operations = 0, bytes = 0 }
      highest.operations = math.max(highest.operations, r.operations or 0)
      highest.bytes, best[name] = math.max(highest.bytes, r.T_eff), highest
    end
    for _, r in ipairs(records_of(run.record, "operations")) do
      if r.number then assert.is_near(2 * r.steps * 2048 / r.t.median, r.operations, 1e-9 * r.operations) end
      add(r.number and "ladder" or "ceilings", r)
    end
    for _, r in ipairs(records_of(run.record, "ceilings")) do add("ceilings", r) end
    assert.are.same({ "this ladder's knee", "measured ceilings", "P100, data sheet", "H200, data sheet" },
      { knee[1].rung, knee[2].rung, knee[3].rung, knee[4].rung })
    assert.is_near(best.ladder.operations / best.ladder.bytes * 8, knee[1].balance, 1e-9 * knee[1].balance)
    assert.is_near(best.ceilings.operations / best.ceilings.bytes * 8, knee[2].balance, 1e-9 * knee[2].balance)
    assert.is_near(57.9, knee[3].balance, 0.05)
    assert.are.equal(4, #records_of(run.record, "filter"))
  end)

  it("runs the filter alone, without a knee", function()
    local run = support.study_passes("balance", QUICK .. "-p parts=filter")
    assert.are.equal(4, #run.record.records)
  end)
end)
