-- SPDX-License-Identifier: MIT
--
-- Streams: order, overlap, waiting, callbacks on the script's own thread.

local support = require "tests.support"
local mw = support.mw
local fails, fails_with = support.fails, support.fails_with

local BASIC = support.kernel_file "basic.cu"
local MOMENT = 0.02 -- seconds that a gate stays shut by itself

support.each_device("streams", function(dev, id, runs)
  local m

  before_each(function() m = dev:module(BASIC) end)
  after_each(function() m:close() end)

  it("are made with their options", function()
    local least, greatest = dev:priorities()
    local s <close> = dev:stream()
    local t <close> = dev:stream { blocking = false, priority = greatest }
    assert.are.equal("stream", mw.type(s))
    assert.are.equal("stream " .. id, tostring(s))
    assert.are.equal(dev, s:device())
    assert.are.equal(least == 0 and 0 or least, s:priority())
    assert.are.equal(greatest, t:priority())
    local main <close> = dev:default_stream()
    assert.are.equal("default stream " .. id, tostring(main))
  end)

  it("reject invalid options", function()
    local least, greatest = dev:priorities()
    fails(function() dev:stream { blockin = true } end, "bad argument #1 to 'stream' "
      .. "(unknown option 'blockin'; did you mean 'blocking'?)")
    fails(function() dev:stream { priority = 1000 } end, ("bad argument #1 to 'stream' "
      .. "(option 'priority' is an integer from %d to %d, got 1000)"):format(math.min(least, greatest),
      math.max(least, greatest)))
    fails(function() dev:stream { blocking = 1 } end,
      "bad argument #1 to 'stream' (option 'blocking' is true or false, got 1)")
    fails(function() dev:stream(1) end,
      "bad argument #1 to 'stream' (options expected, such as { blocking = ... }, got 1)")
    fails(function() dev:stream({}, 1) end, "'stream' takes 1 argument at most, got 2")
  end)

  runs("keep the order of their work", function()
    local s <close> = dev:stream()
    local x <close> = dev:zeros("i32", 1)
    local gate <close> = support.gate(m)
    local put = m.put:prepare { grid = 1, block = 1, stream = s }
    local inc = m.increment:prepare { grid = 1, block = 1, stream = s }
    gate:shut(s)
    put(x, 10)
    inc(x, 1)
    put(x, 20)
    inc(x, 1)
    inc(x, 1)
    gate:open()
    s:synchronize()
    assert.are.equal(22, x:get(1))
  end)

  runs("return at once and are asked whether they are done", function()
    local s <close> = dev:stream { blocking = false }
    local x <close> = dev:zeros("i32", 1)
    local gate <close> = support.gate(m)
    dev:synchronize()
    assert.is_true(s:query())
    gate:shut(s)
    m.put:prepare { grid = 1, block = 1, stream = s }(x, 1)
    assert.is_false(s:query())
    gate:open()
    s:synchronize()
    assert.is_true(gate:was_opened())
    assert.is_true(s:query())
    assert.are.equal(1, x:get(1))
  end)

  runs("overlap", function()
    local a <close> = dev:stream { blocking = false }
    local b <close> = dev:stream { blocking = false }
    local x <close> = dev:pinned("i32", { 0 })
    local gate <close> = support.gate(m)
    dev:synchronize()
    gate:shut(a)
    support.eventually("the first kernel runs", function() return gate:is_reached() end)
    -- all of the second happens while the first runs
    m.put:prepare { grid = 1, block = 1, stream = b }(x, 7)
    b:synchronize()
    assert.are.equal(7, x:get(1))
    assert.is_false(a:query())
    gate:open()
    a:synchronize()
    assert.is_true(gate:was_opened())
  end)

  runs("wait for one another by events", function()
    local a <close> = dev:stream { blocking = false }
    local b <close> = dev:stream { blocking = false }
    local x <close> = dev:zeros("i32", 1)
    local y <close> = dev:zeros("i32", 1)
    local e <close> = dev:event()
    local gate <close> = support.gate(m)
    dev:synchronize()
    gate:shut(a)
    m.put:prepare { grid = 1, block = 1, stream = a }(x, 5)
    e:record(a)
    assert.are.equal(b, b:wait(e))
    m.add:prepare { grid = 1, block = 1, stream = b }(y, x, x, 1)
    assert.is_false(b:query())
    gate:open()
    b:synchronize()
    assert.is_true(gate:was_opened())
    assert.are.equal(10, y:get(1))
  end)

  runs("wait for the default stream, and it for them, unless they are not blocking", function()
    local s <close> = dev:stream()
    local x <close> = dev:zeros("i32", 1)
    local y <close> = dev:zeros("i32", 1)
    local gate <close> = support.gate(m)
    gate:shut(s, MOMENT) -- the script itself may be what waits
    m.put:prepare { grid = 1, block = 1, stream = s }(x, 5)
    m.add:launch(1, 1, y, x, x, 1)
    dev:synchronize()
    assert.are.equal(10, y:get(1))
  end)

  runs("are not waited for by the per-thread default stream, which the legacy one waits for", function()
    local s <close> = dev:stream()
    local own <close> = dev:default_stream "per-thread"
    local x <close> = dev:zeros("i32", 1)
    local y <close> = dev:zeros("i32", 1)
    local gate <close> = support.gate(m)
    dev:synchronize()
    gate:shut(s)
    m.increment:prepare { grid = 1, block = 1, stream = own }(y, 1)
    own:synchronize()
    assert.is_false(s:query())
    gate:open()
    s:synchronize()
    assert.is_true(gate:was_opened())
    gate:shut(own, MOMENT)
    m.put:prepare { grid = 1, block = 1, stream = own }(x, 7)
    m.add:launch(1, 1, y, x, y, 1)
    dev:synchronize()
    assert.are.equal(8, y:get(1))
  end)

  runs("of the per-thread default kind are one, whoever asks for it", function()
    local a <close> = dev:default_stream "per-thread"
    local x <close> = dev:zeros("i32", 1)
    assert.are.equal("per-thread default stream " .. id, tostring(a))
    assert.are.equal(0, a:priority())
    local b = dev:default_stream "per-thread"
    do
      local gate <close> = support.gate(m)
      gate:shut(a)
      m.put:prepare { grid = 1, block = 1, stream = a }(x, 10)
      m.increment:prepare { grid = 1, block = 1, stream = b }(x, 1)
      assert.is_false(b:query())
      b:close()
      gate:open()
      a:synchronize()
    end
    assert.are.equal(11, x:get(1))
    local graph <close> = dev:capture(function(main)
      a:wait(main:record())
      m.increment:prepare { grid = 1, block = 1, stream = a }(x, 1)
      main:wait(a:record())
    end)
    graph:launch()
    dev:synchronize()
    assert.are.equal(12, x:get(1))
    local legacy <close> = dev:default_stream "legacy"
    assert.are.equal("default stream " .. id, tostring(legacy))
    fails(function() dev:default_stream "own" end,
      "bad argument #1 to 'default_stream' (\"legacy\" or \"per-thread\" expected, got \"own\")")
  end)

  it("keep arrays that are freed while they are in use, however they wait for each other", function()
    local streams = {}
    for i = 1, 5 do streams[i] = dev:stream() end
    for round = 1, 8 do
      local arrays, before = {}, nil
      for i, s in ipairs(streams) do
        local x = dev:zeros("i32", 20001)
        if before then s:wait(before) end
        for _ = 1, 3 do m.add:prepare { grid = 157, block = 128, stream = s }(x, x, x, 20001) end
        before = s:record()
        if i % 2 == 0 then x:close() else arrays[i] = x end
      end
      if round % 2 == 0 then dev:synchronize() end
      for _, x in pairs(arrays) do
        assert.are.equal(0, x:get(20001))
        x:close()
      end
    end
    dev:synchronize()
    for _, s in ipairs(streams) do s:close() end
    collectgarbage()
  end)

  runs("take a great number of operations", function()
    local s <close> = dev:stream()
    local x <close> = dev:zeros("i32", 1)
    local inc = m.increment:prepare { grid = 1, block = 1, stream = s }
    for _ = 1, 2000 do inc(x, 1) end
    s:synchronize()
    assert.are.equal(2000, x:get(1))
  end)

  runs("finish their work though they are closed", function()
    local s = dev:stream()
    local x <close> = dev:zeros("i32", 1)
    local gate <close> = support.gate(m)
    gate:shut(s)
    m.put:prepare { grid = 1, block = 1, stream = s }(x, 7)
    s:close()
    gate:open()
    dev:synchronize()
    assert.is_true(gate:was_opened())
    assert.are.equal(7, x:get(1))
  end)

  describe("with callbacks", function()
    runs("run them on the script's thread, in order, when it synchronises", function()
      local s <close> = dev:stream()
      local gate <close> = support.gate(m)
      local seen = {}
      gate:shut(s)
      local here = coroutine.running()
      assert.are.equal(s, s:callback(function()
        seen[#seen + 1] = "first"
        seen.thread = coroutine.running()
      end))
      s:callback(function() seen[#seen + 1] = "second" end)
      assert.are.equal(0, mw.poll())
      assert.are.same({}, seen)
      gate:open()
      s:synchronize()
      assert.are.same("first second", table.concat(seen, " "))
      assert.are.equal(here, seen.thread)
      assert.are.equal(0, mw.poll())
    end)

    it("run them in mw.poll, query and events too", function()
      local s <close> = dev:stream()
      local count = 0
      local function more() count = count + 1 end
      s:callback(more)
      support.eventually("the callback runs", function() return mw.poll() > 0 end)
      assert.are.equal(1, count)
      s:callback(more)
      local e <close> = s:record()
      e:synchronize()
      assert.are.equal(2, count)
      s:callback(more)
      support.eventually("the stream is done", function() return s:query() end)
      mw.poll()
      assert.are.equal(3, count)
    end)

    runs("let them use the device", function()
      local s <close> = dev:stream()
      local x <close> = dev:zeros("i32", 1)
      local inc = m.increment:prepare { grid = 1, block = 1, stream = s }
      local rounds = 0
      local function again()
        rounds = rounds + 1
        inc(x, 1)
        if rounds < 3 then s:callback(again) end
      end
      s:callback(again)
      for _ = 1, 3 do s:synchronize() end
      assert.are.equal(3, rounds)
      s:synchronize()
      assert.are.equal(3, x:get(1))
    end)

    it("raise their errors in the call that runs them", function()
      local s <close> = dev:stream()
      local after = false
      s:callback(function() error "from the callback" end)
      s:callback(function() after = true end)
      fails_with(function() s:synchronize() end, "from the callback")
      s:synchronize()
      assert.is_true(after)
    end)

    it("want functions", function()
      local s <close> = dev:stream()
      fails(function() s:callback(1) end, "bad argument #1 to 'callback' (function expected, got number)")
      fails(function() s:callback() end, "bad argument #1 to 'callback' (function expected, got no value)")
    end)

    it("forget them with the process", function()
      local output = support.child_passes(([[
        local mw = require "moonwarp"
        local dev = mw.device(%q)
        local s = dev:stream()
        s:callback(function() print "never" end)
        print "end"
      ]]):format(id))
      assert.are.equal("end\n", output)
    end)
  end)

  it("reject what does not belong to them", function()
    local s <close> = dev:stream()
    local e <close> = dev:event()
    fails(function() s:wait(e) end, "wait: the event was never recorded; record it in a stream first")
    fails(function() s:wait(s) end, "bad argument #1 to 'wait' (event expected, got stream)")
    fails(function() s:record(1) end, "bad argument #1 to 'record' (event expected, got number)")
  end)

  it("are closed once", function()
    local s = dev:stream()
    s:close()
    assert.are.equal("stream (closed)", tostring(s))
    fails(function() s:close() end, "calling 'close' on bad self (attempt to use a closed stream)")
    for _, name in ipairs { "synchronize", "query", "wait", "record", "callback", "priority", "device" } do
      fails_with(function() s[name](s, print) end, "(attempt to use a closed stream)")
    end
    local main = dev:default_stream()
    main:close()
    local again <close> = dev:default_stream()
    again:synchronize()
  end)
end)
