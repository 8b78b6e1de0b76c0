-- SPDX-License-Identifier: MIT
--
-- mw.bank_conflict: passes of shared memory by the addresses of a warp.

local support = require "tests.support"
local mw, fails = support.mw, support.fails

local function strided(words, bytes)
  return mw.bank_conflict(function(lane) return lane * words * 4 end, bytes)
end

describe("mw.bank_conflict", function()
  it("counts the words of a bank", function()
    for stride, ways in pairs { [0] = 1, 1, 2, 1, 4, [8] = 8, [31] = 1, [32] = 32, [33] = 1, [64] = 32 } do
      assert.are.equal(ways, strided(stride), stride)
    end
  end)

  it("lets lanes share a word, also by bytes of it", function()
    assert.are.equal(1, mw.bank_conflict(function(lane) return lane end, 1))
    assert.are.equal(2, mw.bank_conflict(function(lane) return lane % 2 * 128 end))
    assert.are.equal(4, mw.bank_conflict(function(lane) return lane % 4 * 128 + lane // 4 end, 1))
  end)

  it("serves wide accesses by half and by quarter warps", function()
    assert.are.equal(1, strided(2, 8))
    assert.are.equal(1, strided(4, 16))
    assert.are.equal(16, strided(32, 8))
    assert.are.equal(8, strided(32, 16))
    assert.are.equal(1, mw.bank_conflict(function(lane) return lane // 8 * 1024 + lane % 8 * 16 end, 16))
  end)

  it("leaves out lanes without an access", function()
    assert.are.equal(3, mw.bank_conflict(function(lane) return lane < 3 and lane * 128 or nil end))
    assert.are.equal(1, mw.bank_conflict(function() return nil end))
  end)

  it("rejects what is not an address, and other sizes", function()
    fails(function() mw.bank_conflict(5) end, "mw.bank_conflict: a function of the lane is wanted, got number")
    fails(function() mw.bank_conflict(function(lane) return 1 - lane end) end,
      "mw.bank_conflict: lane 2 has no address: an integer of at least 0, or nil, is wanted, got -1")
    fails(function() strided(1, 12) end, "mw.bank_conflict: an access has 1, 2, 4, 8 or 16 bytes, got 12")
  end)
end)
