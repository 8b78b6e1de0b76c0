-- SPDX-License-Identifier: MIT
--
-- Graphs: capturing, replaying, new arguments, and what must not be captured.

local support = require "tests.support"
local mw = support.mw
local fails, fails_with = support.fails, support.fails_with

support.each_device("graphs", function(dev, id, runs)
  local m

  before_each(function() m = dev:module(support.kernel_file "basic.cu") end)
  after_each(function() m:close() end)

  runs("record instead of running, and run when launched", function()
    local x <close> = dev:array("i32", { 0, 0 })
    local g <close> = dev:capture(function(stream)
      assert.are.equal("stream", mw.type(stream))
      m.increment:launch(1, 2, x, 2)
      m.increment:prepare { grid = 1, block = 2, stream = stream }(x, 1)
    end)
    assert.are.same({ 0, 0 }, x:totable())
    assert.are.equal(g, g:launch())
    g:launch()
    dev:synchronize()
    assert.are.same({ 4, 2 }, x:totable())
    assert.are.equal("graph", mw.type(g))
    assert.are.equal("graph of 2 launches " .. id, tostring(g))
    assert.are.equal(dev, g:device())
  end)

  runs("hold copies and fills", function()
    local x <close> = dev:array("i32", { 1, 2, 3 })
    local y <close> = dev:zeros("i32", 3)
    local g <close> = dev:capture(function()
      y:copy(x)
      m.increment:launch(1, 3, y, 3)
    end)
    x:upload { 10, 20, 30 }
    g:launch()
    dev:synchronize()
    assert.are.same({ 11, 21, 31 }, y:totable())
  end)

  it("list their launches", function()
    local x <close> = dev:array("i32", 8)
    local g <close> = dev:capture(function()
      m.increment:launch({ 2, 1 }, 4, x, 8)
      m.reverse:prepare { grid = 1, block = { 8, 1 }, shared = 32 }(x, 8)
    end)
    assert.are.same({
      { kernel = "increment", grid = { 2, 1, 1 }, block = { 4, 1, 1 }, shared = 0 },
      { kernel = "reverse", grid = { 1, 1, 1 }, block = { 8, 1, 1 }, shared = 32 },
    }, g:nodes())
  end)

  runs("are drawn by graphviz", function()
    local x <close> = dev:array("i32", 8)
    local g <close> = dev:capture(function()
      m.increment:launch(1, 8, x, 8)
      m.increment:launch(1, 8, x, 8)
    end)
    local dot = g:dot()
    assert.is_truthy(dot:find "^%s*digraph")
    assert.is_truthy(dot:find("increment", 1, true))
    assert.is_truthy(dot:find("->", 1, true))
    assert.is_truthy(dot:find "}%s*$")
  end)

  runs("take new arguments", function()
    local x <close> = dev:array("i32", { 0, 0 })
    local y <close> = dev:array("i32", { 0, 0 })
    local g <close> = dev:capture(function()
      m.increment:launch(1, 2, x, 2)
      m.increment:launch(1, 2, x, 2)
    end)
    g:launch()
    assert.are.equal(g, g:update(2, y, 1))
    g:launch()
    dev:synchronize()
    assert.are.same({ 3, 3 }, x:totable())
    assert.are.same({ 1, 0 }, y:totable())
  end)

  runs("check new arguments as a launch does", function()
    local x <close> = dev:array("i32", { 0, 0 })
    local g <close> = dev:capture(function() m.increment:launch(1, 2, x, 2) end)
    fails(function() g:update(2, x, 2) end,
      "bad argument #1 to 'update' (the graph has 1 kernel nodes, got number 2)")
    fails(function() g:update(0, x, 2) end,
      "bad argument #1 to 'update' (the graph has 1 kernel nodes, got number 0)")
    fails(function() g:update(1, x) end,
      "kernel 'increment' takes 2 arguments, got 1: increment(int *x, int n)")
    fails(function() g:update(1, x, 2.5) end,
      "kernel 'increment', parameter 2 'n' is int: an integer from -2147483648 to 2147483647, got 2.5")
    fails(function() g:update() end, "bad argument #1 to 'update' (an integer expected, got no value)")
    g:launch()
    dev:synchronize()
    assert.are.same({ 1, 1 }, x:totable())
  end)

  runs("run on the stream they are given", function()
    local s <close> = dev:stream()
    local x <close> = dev:array("i32", { 0 })
    local g <close> = dev:capture(function() m.increment:launch(1, 1, x, 1) end)
    for _ = 1, 5 do g:launch(s) end
    s:synchronize()
    assert.are.equal(5, x:get(1))
    fails(function() g:launch(1) end, "bad argument #1 to 'launch' (stream expected, got number)")
  end)

  runs("join other streams by events", function()
    local other <close> = dev:stream { blocking = false }
    local x <close> = dev:array("i32", { 0 })
    local y <close> = dev:array("i32", { 0 })
    local fork <close> = dev:event { timing = false }
    local join <close> = dev:event { timing = false }
    local g <close> = dev:capture(function(stream)
      m.increment:launch(1, 1, x, 1)
      stream:record(fork)
      other:wait(fork)
      m.add:prepare { grid = 1, block = 1, stream = other }(y, x, x, 1)
      other:record(join)
      stream:wait(join)
      m.increment:launch(1, 1, y, 1)
    end)
    assert.are.equal(3, #g:nodes())
    g:launch()
    g:launch()
    dev:synchronize()
    assert.are.equal(2, x:get(1))
    assert.are.equal(5, y:get(1))
    assert.is_true(other:query())
  end)

  it("may be empty", function()
    local g <close> = dev:capture(function() end)
    g:launch()
    dev:synchronize()
    assert.are.same({}, g:nodes())
    assert.are.equal("graph of 0 launches " .. id, tostring(g))
  end)

  runs("keep what they use when the script has forgotten it", function()
    local out <close> = dev:zeros("i32", 2)
    local g
    do
      local own = dev:module(support.kernel_file "basic.cu")
      local a = dev:array("i32", { 1, 2 })
      local b = dev:array("i32", { 10, 20 })
      g = dev:capture(function() own.add:launch(1, 2, out, a, b, 2) end)
      a:close()
      b:close()
      own:close()
    end
    collectgarbage()
    collectgarbage()
    g:launch()
    dev:synchronize()
    assert.are.same({ 11, 22 }, out:totable())
    g:close()
  end)

  describe("report an error while capturing", function()
    runs("that is the script's own, and leave the device usable", function()
      local x <close> = dev:array("i32", { 0 })
      fails_with(function()
        dev:capture(function()
          m.increment:launch(1, 1, x, 1)
          error "on purpose"
        end)
      end, "on purpose")
      m.increment:launch(1, 1, x, 1)
      dev:synchronize()
      assert.are.equal(1, x:get(1))
    end)

    it("that is not a string", function()
      local thing = {}
      local ok, message = pcall(dev.capture, dev, function() error(thing) end)
      assert.is_false(ok)
      assert.are.equal(thing, message)
    end)

    it("whose traceback begins where it was raised", function()
      local function inside() error "on purpose" end
      local _, trace = xpcall(dev.capture, debug.traceback, dev, function() inside() end)
      assert.is_truthy(trace:find("in upvalue 'inside'", 1, true), trace)
    end)

    it("from capturing twice", function()
      fails_with(function()
        dev:capture(function() dev:capture(function() end) end)
      end, "capture: a capture is in progress; finish it first")
      local g <close> = dev:capture(function() end)
      g:launch()
    end)

    it("from waiting for what does not run", function()
      local x <close> = dev:array("i32", { 0 })
      local function rejected(what, fn)
        fails(function() dev:capture(fn) end,
          "a stream is being captured: you can " .. what .. " after the capture has ended")
      end
      rejected("synchronize it", function(stream) stream:synchronize() end)
      rejected("query it", function(stream) stream:query() end)
      rejected("synchronize the device", function() dev:synchronize() end)
      rejected("move bytes between an array and the script", function() x:get(1) end)
      rejected("move bytes between an array and the script", function() x:set(1, 2) end)
      fails(function() dev:capture(function(stream) stream:callback(print) end) end,
        "a callback cannot be part of a graph")
      local g <close> = dev:capture(function() end)
      g:launch()
    end)

    it("from events of another time", function()
      local other <close> = dev:stream { blocking = false }
      local outside <close> = other:record()
      local fork <close> = dev:event()
      fails(function() dev:capture(function(stream) stream:wait(outside) end) end,
        "wait: a captured stream cannot wait for an event recorded outside the capture")
      fails(function()
        dev:capture(function(stream)
          stream:record(fork)
          dev:default_stream():wait(fork)
        end)
      end, "wait: the default stream cannot join a capture")
      local before <close> = dev:capture(function(stream) stream:record(fork) end)
      local ended <const> = "wait: the event was recorded in a capture that has ended: record it again"
      fails(function() other:wait(fork) end, ended)
      fails(function() dev:capture(function() other:wait(fork) end) end, ended)
      for _, use in ipairs { fork.query, fork.synchronize, function() outside:since(fork) end } do
        fails(function() use(fork) end,
          "the event was recorded while a stream was captured: it marks a place in a graph, not a moment")
      end
      other:record(fork)
      fork:synchronize()
      assert.is_true(fork:query())
      before:launch()
    end)

    runs("from closing the capturing stream", function()
      pcall(dev.capture, dev, function(stream) stream:close() end)
      local x <close> = dev:array("i32", { 0 })
      local g <close> = dev:capture(function() m.increment:launch(1, 1, x, 1) end)
      g:launch()
      dev:synchronize()
      assert.are.equal(1, x:get(1))
    end)
  end)

  runs("do not count launches on streams that have not joined", function()
    local other <close> = dev:stream { blocking = false }
    local x <close> = dev:array("i32", { 0 })
    local y <close> = dev:array("i32", { 0 })
    local g <close> = dev:capture(function()
      m.increment:prepare { grid = 1, block = 1, stream = other }(y, 1)
      m.increment:launch(1, 1, x, 1)
    end)
    assert.are.equal(1, #g:nodes())
    other:synchronize()
    assert.are.equal(1, y:get(1))
    g:update(1, y, 1)
    g:launch()
    dev:synchronize()
    assert.are.equal(0, x:get(1))
    assert.are.equal(2, y:get(1))
  end)

  it("hold the events recorded in them, which nothing outside waits for", function()
    local e <close> = dev:event()
    local g <close> = dev:capture(function(stream) stream:record(e) end)
    fails_with(function() e:synchronize() end, "event")
    g:launch()
    dev:synchronize()
  end)

  it("reject what is not a function", function()
    fails(function() dev:capture() end, "bad argument #1 to 'capture' (function expected, got no value)")
    fails(function() dev:capture(1) end, "bad argument #1 to 'capture' (function expected, got number)")
    fails(function() dev:capture(print, 1) end, "'capture' takes 1 argument at most, got 2")
  end)

  it("are closed once", function()
    local g = dev:capture(function() end)
    g:close()
    assert.are.equal("graph (closed)", tostring(g))
    fails(function() g:close() end, "calling 'close' on bad self (attempt to use a closed graph)")
    for _, name in ipairs { "launch", "update", "nodes", "dot", "device" } do
      fails_with(function() g[name](g, 1) end, "(attempt to use a closed graph)")
    end
  end)
end)
