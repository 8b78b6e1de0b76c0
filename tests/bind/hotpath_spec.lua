-- SPDX-License-Identifier: MIT
--
-- The hot launch allocates nothing: neither in Lua nor in the device's own code.

local support = require "tests.support"
local core = support.core

local LAUNCHES = 10000

local function allocations_of(dev, fn)
  collectgarbage()
  collectgarbage "stop"
  fn(100) -- what is made once is made here
  dev:synchronize()
  local lua_before, core_before = core.allocations()
  fn(LAUNCHES)
  local lua_after, core_after = core.allocations()
  collectgarbage "restart"
  return lua_after - lua_before, core_after - core_before
end

-- The two calls of core.allocations themselves may cost Lua a constant, and a thread of the CPU device that comes late
-- on a busy machine makes its stack once; never one per launch.
local function allocates_nothing(dev, fn)
  local in_lua, in_core = allocations_of(dev, fn)
  assert.is_true(in_lua <= 2, ("%d allocations by Lua"):format(in_lua))
  assert.is_true(in_core <= dev:properties().multiprocessors, ("%d allocations by the core"):format(in_core))
end

support.each_device("the hot path", function(dev)
  -- Work for every core starts the CPU device's other threads, once; on a busy machine the first long
  -- launch could otherwise fall into a count.
  do
    local large <close> = dev:zeros("f32", 1 << 23)
    large:fill(1)
  end
  local m

  before_each(function() m = dev:module(support.kernel_file "basic.cu") end)
  after_each(function() m:close() end)

  it("is told by allocations, which are counted", function()
    local in_lua, in_core = allocations_of(dev, function(count)
      for _ = 1, count do dev:zeros("u8", 1):close() end
    end)
    assert.is_true(in_lua >= LAUNCHES)
    assert.is_true(in_core >= LAUNCHES)
  end)

  it("launches on the default stream", function()
    local x <close> = dev:zeros("f32", 32)
    local go = m.scale:prepare { grid = 1, block = 32 }
    allocates_nothing(dev, function(count)
      for _ = 1, count do go(x, 2.0, 32) end
    end)
    dev:synchronize()
  end)

  it("launches with six arguments of all kinds", function()
    local y <close> = dev:zeros("f64", 12)
    local go = m.scalars:prepare { grid = 1, block = 1 }
    allocates_nothing(dev, function(count)
      for i = 1, count do go(y, 1, 2, i, 4, 5, 6, 7, 8, 9.5, 10.5, true) end
    end)
    dev:synchronize()
  end)

  it("launches on a stream", function()
    local stream <close> = dev:stream()
    local x <close> = dev:zeros("f32", 32)
    local go = m.scale:prepare { grid = 1, block = 32, stream = stream }
    allocates_nothing(dev, function(count)
      for _ = 1, count do go(x, 2.0, 32) end
    end)
    stream:synchronize()
  end)

  it("launches kernels with shared memory and barriers", function()
    local x <close> = dev:zeros("i32", 32)
    local go = m.reverse:prepare { grid = 1, block = 32, shared = 128 }
    allocates_nothing(dev, function(count)
      for _ = 1, count do go(x, 32) end
    end)
    dev:synchronize()
  end)

  it("launches in the direct form with integers", function()
    local x <close> = dev:zeros("f32", 32)
    local k = m.scale
    allocates_nothing(dev, function(count)
      for _ = 1, count do k:launch(1, 32, x, 2.0, 32) end
    end)
    dev:synchronize()
  end)

  it("changes sizes with integers", function()
    local x <close> = dev:zeros("f32", 64)
    local go = m.scale:prepare { grid = 1, block = 32 }
    allocates_nothing(dev, function(count)
      for i = 1, count do
        go:grid(1 + i % 2)
        go(x, 2.0, 64)
      end
    end)
    dev:synchronize()
  end)

  it("records and waits for events", function()
    local stream <close> = dev:stream()
    local e <close> = dev:event()
    allocates_nothing(dev, function(count)
      for _ = 1, count do
        e:record(stream)
        stream:wait(e)
      end
    end)
    stream:synchronize()
  end)

  it("replays graphs", function()
    local x <close> = dev:zeros("f32", 32)
    local g <close> = dev:capture(function() m.scale:launch(1, 32, x, 2.0, 32) end)
    allocates_nothing(dev, function(count)
      for _ = 1, count do g:launch() end
    end)
    dev:synchronize()
  end)
end)
