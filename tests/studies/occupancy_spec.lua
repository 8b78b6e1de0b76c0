-- SPDX-License-Identifier: MIT
--
-- The study occupancy: its parts, what it computes for offline targets.

local support = require "tests.support"
local mw = support.mw

local QUICK <const> = "--device cpu -p n=20064 -p shared=0,8 -p archs=sm_80,sm_90 "

local function records_of(run, group)
  local list = {}
  for _, r in ipairs(run.record.records) do
    if r.group == group then list[#list + 1] = r end
  end
  return list
end

describe("the study occupancy", function()
  if not support.program() then return pending "needs the program" end

  it("measures its three kinds of work, and counts blocks", function()
    local run = support.study_passes("occupancy", QUICK)
    local rungs = {}
    for _, r in ipairs(run.record.records) do
      if r.number then rungs[#rungs + 1] = r.number end
      if r.warps and r.rung then assert.are.equal(r.threads // 32 * r.blocks, r.warps) end
    end
    assert.are.same({ 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 }, rungs) -- two sizes of shared memory
    support.has_checks(run, { "at most 24 registers, n = 32096, f32", "8 loads, n = 100003, shared = 8, f32",
                              "4 x 128, fat threads, n = 100003, f32", "blocks of 1024 threads at once" })
    for _, r in ipairs(records_of(run, "rules")) do assert.is_true(r.counted >= 1 and r.counted <= r.at_once) end
  end)

  it("computes the warps of offline targets", function()
    if not pcall(mw.device, "cuda:sm_90") then return pending "needs the CUDA toolkit" end
    local run = support.study_passes("occupancy", QUICK .. "-p parts=rules")
    local warps = {}
    for _, r in ipairs(records_of(run, "architectures")) do warps[r.arch .. " " .. r.threads] = r.warps end
    assert.are.same({ 40, 32 }, { warps["sm_90 256"], warps["sm_90 1024"] }) -- 48 registers per thread
    assert.is_true(warps["sm_80 32"] <= 32) -- as many blocks
  end)

  it("says why nothing is computed for an architecture, without a place in the script", function()
    local run = support.study_passes("occupancy", "--device cpu -p n=2048 -p parts=rules -p archs=sm_12")
    assert.is_truthy(run.remarks:find("Nothing is computed for sm_12: cuda:sm_12: no such", 1, true), run.remarks)
  end)
end)
