-- SPDX-License-Identifier: MIT
--
-- mw.ceil_div and mw.geometric: blocks and sizes.

local support = require "tests.support"
local mw, fails = support.mw, support.fails

describe("mw.ceil_div", function()
  it("rounds up", function()
    for _, case in ipairs { { 0, 4, 0 }, { 1, 4, 1 }, { 4, 4, 1 }, { 5, 4, 2 }, { 1000, 256, 4 } } do
      assert.are.equal(case[3], mw.ceil_div(case[1], case[2]))
    end
  end)

  it("rejects what is not an integer, and 0", function()
    fails(function() mw.ceil_div(1.5, 2) end, "mw.ceil_div: argument 1 must be an integer, got 1.5")
    fails(function() mw.ceil_div(3) end, "mw.ceil_div: argument 2 must be an integer, got nil")
    fails(function() mw.ceil_div(3, 0) end, "mw.ceil_div: division by 0")
  end)
end)

describe("mw.geometric", function()
  it("lists sizes up and down, and one where both are the same", function()
    local huge <const> = math.maxinteger
    for words, sizes in pairs {
      ["64 512 2"] = { 64, 128, 256, 512 }, ["3 20 2"] = { 3, 6, 12 }, ["1000 10 8"] = { 1000, 125, 15 },
      ["512 64 2"] = { 512, 256, 128, 64 }, ["7 7 2"] = { 7 }, ["5 6 2"] = { 5 }, ["6 5 2"] = { 6 },
      [("1 %d %d"):format(huge, huge)] = { 1, huge }, [("%d 1 %d"):format(huge, huge)] = { huge, 1 },
    } do
      local first, last, factor = words:match "(%d+) (%d+) (%d+)"
      assert.are.same(sizes, mw.geometric(math.tointeger(first), math.tointeger(last), math.tointeger(factor)), words)
    end
    assert.are.same({ 1, 2, 4 }, mw.geometric(1, 4))
  end)

  it("rejects what is not a size, and factors that go nowhere", function()
    fails(function() mw.geometric(1, 2.5) end, "mw.geometric: argument 2 must be an integer, got 2.5")
    fails(function() mw.geometric(1) end, "mw.geometric: argument 2 must be an integer, got nil")
    fails(function() mw.geometric(0, 5) end, "mw.geometric: sizes of at least 1 are wanted, got 0")
    fails(function() mw.geometric(5, -1) end, "mw.geometric: sizes of at least 1 are wanted, got -1")
    fails(function() mw.geometric(1, 5, 1) end, "mw.geometric: a factor of at least 2 is wanted, got 1")
  end)
end)
