-- SPDX-License-Identifier: MIT
--
-- Occupancy on every device, and for GPUs that are not there.

local support = require "tests.support"
local mw = support.mw
local fails, fails_with = support.fails, support.fails_with

local BASIC = support.kernel_file "basic.cu"

local function plausible(found, threads, most)
  assert.are.equal(threads, found.threads)
  assert.are.equal("integer", math.type(found.blocks))
  assert.is_true(found.blocks >= 1)
  assert.is_true(found.occupancy > 0 and found.occupancy <= 1)
  assert.are.equal("string", type(found.limit))
  assert.is_true(#found.limit > 0)
  if most then assert.is_true(found.blocks * threads <= most) end
end

support.each_device("occupancy", function(dev)
  local m

  before_each(function() m = dev:module(BASIC) end)
  after_each(function() m:close() end)

  it("reports blocks, occupancy and the limit", function()
    for _, threads in ipairs { 1, 32, 100, 256, 1024 } do
      plausible(m.scale:occupancy(threads), threads, dev:properties().max_threads_per_multiprocessor)
    end
  end)

  it("falls with shared memory", function()
    local free = m.reverse:occupancy(64)
    local full = m.reverse:occupancy(64, dev:properties().shared_per_block)
    assert.is_true(full.blocks <= free.blocks)
  end)

  it("suggests a block size", function()
    local s = m.scale:suggest()
    plausible(s, s.threads)
    assert.is_true(s.threads % 32 == 0 and s.threads <= 1024)
    assert.is_true(m.bounded:suggest().threads <= 64)
    assert.is_true(m.scale:suggest({ max = 100 }).threads <= 100)
    local asked = {}
    local with = m.reverse:suggest { shared = function(threads)
      asked[#asked + 1] = threads
      return threads * 4
    end }
    plausible(with, with.threads)
    assert.is_true(#asked > 1)
  end)

  it("rejects what makes no sense", function()
    fails(function() mw.occupancy { m.scale, blok = 1 } end,
      "mw.occupancy: unknown option 'blok'; did you mean 'block'?")
    fails(function() m.scale:occupancy(0) end,
      "bad argument #1 to 'occupancy' (1 to 1024 threads per block expected, got 0)")
    fails(function() m.scale:occupancy(1025) end,
      "bad argument #1 to 'occupancy' (1 to 1024 threads per block expected, got 1025)")
    fails(function() m.scale:occupancy(32, -1) end,
      "bad argument #2 to 'occupancy' (bytes of shared memory expected, at least 0)")
    assert.are.equal("no block fits: shared memory", m.scale:occupancy(32, 1 << 40).limit)
    assert.are.equal(0, m.scale:occupancy(32, 1 << 40).blocks)
    fails(function() m.scale:occupancy() end, "bad argument #1 to 'occupancy' (an integer expected, got no value)")
    fails(function() m.scale:suggest { shared = "much" } end,
      "suggest: 'shared' is a number of bytes or a function of the block's threads that returns one")
    fails(function() m.scale:suggest { shared = function() return -1 end } end,
      "suggest: 'shared' is a number of bytes or a function of the block's threads that returns one")
    fails_with(function() m.scale:suggest { max = 0 } end, "option 'max' is an integer from 1 to 1024, got 0")
    fails_with(function() m.scale:suggest { mx = 1 } end, "unknown option 'mx'; did you mean 'max'?")
    fails_with(function() m.scale:suggest { shared = function() error "mine" end } end, "mine")
  end)
end)

describe("occupancy for an offline target", function()
  if not support.has_nvrtc() then
    pending("needs NVRTC")
    return
  end
  support.no_leaks()

  it("is what NVIDIA's table says", function()
    local m <close> = mw.device("cuda:sm_90"):module(BASIC)
    -- few registers: 2048 threads per multiprocessor, 32 blocks at most
    local full = m.scale:occupancy(256)
    assert.are.equal(8, full.blocks)
    assert.are.equal(1.0, full.occupancy)
    local small = m.scale:occupancy(32)
    assert.are.equal(32, small.blocks)
    assert.are.equal(0.5, small.occupancy)
    -- 227 KiB per block, 228 per multiprocessor: one block
    local fat = m.reverse:occupancy(256, 200 * 1024)
    assert.are.equal(1, fat.blocks)
    assert.is_truthy(fat.limit:find "shared")
    assert.is_true(m.scale:attributes().registers > 0)
  end)

  it("is asked with a kernel of any device", function()
    for _, dev in ipairs(support.devices()) do
      local m <close> = dev:module(BASIC)
      local found = mw.occupancy { m.scale, arch = "sm_90", block = 256 }
      assert.are.equal(8, found.blocks)
      local turing = mw.occupancy { m.scale, arch = "sm_75", block = 256 }
      assert.are.equal(4, turing.blocks)
      fails_with(function() mw.occupancy { m.scale, arch = "sm_9000" } end, "sm_9000")
    end
    fails_with(function() mw.occupancy {} end, "kernel")
  end)
end)
