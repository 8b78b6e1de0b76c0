-- SPDX-License-Identifier: MIT
--
-- Captures whose __close is never called: a debug hook, or Ctrl-C, raises as it is called; an error ends the coroutine
-- that captures. The capture had stayed in progress, with a graph that the collector had freed: the next launch wrote
-- there. And what a graph had not kept: arrays that are filled in it.

local support = require "tests.support"
local core = support.core
local fails_with = support.fails_with

local BASIC = support.kernel_file "basic.cu"

-- Calls dev:capture(fn); the n-th call after fn raises, and each after it up to the end of the capture.
local function cut_short(dev, fn, n)
  return pcall(function()
    local over
    local function raise()
      n = n - 1
      if n <= 0 and not over then error "cut short" end
    end
    pcall(function()
      dev:capture(function(s)
        fn(s)
        debug.sethook(raise, "c")
      end)
    end)
    over = true
    debug.sethook()
  end)
end

describe("a capture that is never closed", function() support.each_device(function(dev, _, runs)
  local m
  before_each(function() m = dev:module(BASIC) end)
  after_each(function() m:close() end)

  runs("is over when its function is", function()
    local x <close> = dev:array("i32", { 0, 0 })
    for n = 1, 3 do
      cut_short(dev, function() m.increment:launch(1, 1, x, 1) end, n)
      m.increment:launch(1, 1, x, 1)
      dev:synchronize()
      assert.are.equal(n, x:get(1))
    end
  end)

  it("leaves the next one alone", function()
    local x <close> = dev:array("i32", { 0 })
    cut_short(dev, function() m.increment:launch(1, 1, x, 1) end, 1)
    local g <close> = dev:capture(function() m.increment:launch(1, 1, x, 1) end)
    assert.are.equal(1, #g:nodes())
  end)

  it("gives back what it held", function()
    local before = core.live()
    local x = dev:array("i32", { 0 })
    cut_short(dev, function(s)
      m.increment:launch(1, 1, x, 1)
      s:record():close()
    end, 1)
    x:close()
    collectgarbage()
    collectgarbage()
    assert.are.same(before.stream, core.live().stream)
    assert.are.same(before.array, core.live().array)
    dev:synchronize()
  end)

  it("lets go the streams that have joined it", function()
    local other <close> = dev:stream { blocking = false }
    local fork <close> = dev:event()
    cut_short(dev, function(s) other:wait(s:record(fork)) end, 1)
    other:synchronize()
    assert.is_true(other:query())
  end)

  it("may have been in a coroutine that an error has ended", function()
    local co = coroutine.create(function() dev:capture(function() error "on purpose" end) end)
    assert.is_false((coroutine.resume(co)))
    dev:synchronize()
    local g <close> = dev:capture(function() end)
    co = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    g:launch()
  end)

  it("is in progress in the coroutines that its function runs", function()
    local x <close> = dev:array("i32", { 0 })
    local g <close> = dev:capture(function()
      coroutine.wrap(function() m.increment:launch(1, 1, x, 1) end)()
      fails_with(function() dev:capture(print) end, "a capture is in progress")
    end)
    assert.are.equal(1, #g:nodes())
  end)

  it("is over for what its function closes after an error", function()
    local x <close> = dev:array("i32", { 0 })
    pcall(dev.capture, dev, function()
      local _ <close> = setmetatable({}, { __close = function() x:set(1, 7) end })
      error "on purpose"
    end)
    assert.are.equal(7, x:get(1))
  end)
end) end)

-- On a GPU no array can be made in a capture.
describe("a graph", function()
  local dev = support.mw.device "cpu"

  it("keeps the arrays that are filled in it", function()
    local graph = dev:capture(function()
      for _ = 1, 3 do dev:zeros("i32", 1 << 14) end
    end)
    collectgarbage()
    collectgarbage()
    graph:launch()
    dev:synchronize()
    graph:close()
  end)

  it("keeps the arrays of which the script says that they are filled", function()
    local graph <close> = dev:capture(function()
      local x <close> = dev:empty("i32", 16)
      core.filled(x)
    end)
    graph:launch()
  end)
end)
