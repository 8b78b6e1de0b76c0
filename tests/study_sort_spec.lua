-- SPDX-License-Identifier: MIT
--
-- The study sort: orders of keys by each rung, mistakes that its checks find; and moonwarp.cub without a GPU or nvcc.

local support = require "tests.support"
local mw = support.mw

local QUICK <const> = "--device cpu -p smallest=20000 "

describe("the study sort", function()
  if not support.program() then return pending "needs the program" end

  it("sorts any number of keys in every rung", function()
    local run = support.study_passes("sort", QUICK .. "-p n=20000")
    local rungs, checked = {}, {}
    for _, r in ipairs(run.record.records) do
      if r.group == "ladder" then rungs[#rungs + 1] = r.rung end
    end
    for _, one in ipairs(run.record.checks) do checked[one.what] = one.ok end
    assert.are.same({ "bitonic", "radix, counts scanned", "radix, one sweep" }, rungs)
    for _, what in ipairs { "bitonic, n = 1, u32", "radix, counts scanned, n = 32707, u32",
                            "radix, one sweep, n = 32707, u32", "bitonic, n = 20000, u32, proof",
                            "radix, one sweep, n = 20000, u32, beside 'bitonic'" } do
      assert.is_true(checked[what], what)
    end
    assert.is_truthy(run.remarks:find("burst needs a GPU", 1, true), run.remarks)
  end)

  it("finds a round that is left out, and keys of one digit that change places", function()
    local run = support.study("sort", QUICK .. "-p n=20000 -p parts=ladder", { kernels = {
      ["sort.cu"] = support.changed_kernels("sort.cu", { "distance > 0; distance /= 2", "distance > 1; distance /= 2" },
        { "place[i] = before + __popc(lower)", "place[i] = before + __popc(same) - 1 - __popc(lower)" }) } })
    assert.are.equal(3, run.status, run.output)
    for _, wrong in ipairs { "bitonic", "radix, counts scanned", "radix, one sweep" } do
      assert.is_truthy(run.remarks:find(wrong .. " (differs from the host", 1, true), run.remarks)
    end
  end)
end)

describe("moonwarp.cub", function()
  it("says what a device lacks", function()
    local cub, dev = require "moonwarp.cub", mw.device "cpu"
    local x <close> = dev:array("u32", { 3, 1, 2 })
    local _, problem = pcall(cub.sort_keys, x, x)
    assert.is_truthy(tostring(problem):find("the library of the cpu device has no such function", 1, true), problem)
  end)
end)
