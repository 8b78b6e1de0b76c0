-- SPDX-License-Identifier: MIT
--
-- moonwarp.cub without a GPU or nvcc.

local support = require "tests.support"
local mw = support.mw

describe("moonwarp.cub", function()
  it("says what a device lacks", function()
    local cub, dev = require "moonwarp.cub", mw.device "cpu"
    local x <close> = dev:array("u32", { 3, 1, 2 })
    local _, problem = pcall(cub.sort_keys, x, x)
    assert.is_truthy(tostring(problem):find("the library of the cpu device has no such function", 1, true), problem)
  end)
end)
