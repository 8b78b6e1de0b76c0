-- SPDX-License-Identifier: MIT
--
-- The study sort: orders of keys by each rung; and moonwarp.cub without a GPU or nvcc.

local support = require "tests.support"
local mw = support.mw

local QUICK <const> = "--device cpu -p smallest=20000 "

describe("the study sort", function()
  if not support.program() then return pending "needs the program" end

  it("sorts any number of keys in every rung", function()
    local run = support.study_passes("sort", QUICK .. "-p n=20000")
    local rungs = {}
    for _, r in ipairs(run.record.records) do
      if r.group == "ladder" then rungs[#rungs + 1] = r.rung end
    end
    assert.are.same({ "bitonic", "radix, counts scanned", "radix, one sweep" }, rungs)
    support.has_checks(run, { "bitonic, n = 1, u32", "radix, counts scanned, n = 32707, u32",
                              "radix, one sweep, n = 32707, u32", "bitonic, n = 20000, u32, proof",
                              "radix, one sweep, n = 20000, u32, beside 'bitonic'" })
    assert.is_truthy(run.remarks:find("burst needs a GPU", 1, true), run.remarks)
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
