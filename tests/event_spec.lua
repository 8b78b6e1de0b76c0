-- SPDX-License-Identifier: MIT
--
-- Events: marks in streams, times between them.

local support = require "tests.support"
local mw = support.mw
local fails, fails_with = support.fails, support.fails_with

support.each_device(function(dev, id)
  local m

  before_each(function() m = dev:module(support.kernel_file "basic.cu") end)
  after_each(function() m:close() end)

  it("measure what lies between them", function()
    local s <close> = dev:stream()
    local x <close> = dev:zeros("i32", 1)
    local slow = m.slowly:prepare { grid = 1, block = 1, stream = s }
    slow(x, 1, 1)
    local e0 <close> = s:record()
    slow(x, 1, 1000000)
    local e1 <close> = s:record()
    slow(x, 1, 10000000)
    local e2 <close> = s:record()
    e2:synchronize()
    local short, long = e1:since(e0), e2:since(e1)
    assert.is_true(short > 0 and long > 3 * short, ("%g and %g"):format(short, long))
    assert.is_true(long < 10)
    assert.is_true(math.abs(e2:since(e0) - short - long) < 1e-4)
    assert.is_true(e0:since(e2) < 0)
  end)

  it("are recorded in the default stream too", function()
    local a <close> = dev:event()
    local b <close> = dev:event()
    assert.are.equal(a, a:record())
    m.nothing:launch(1, 1)
    b:record()
    b:synchronize()
    assert.is_true(b:query())
    assert.is_true(b:since(a) >= 0)
    assert.are.equal("event " .. id, tostring(a))
    assert.are.equal("event", mw.type(a))
    assert.are.equal(dev, a:device())
  end)

  it("may be recorded again", function()
    local s <close> = dev:stream()
    local a <close> = s:record()
    local b <close> = s:record()
    b:synchronize()
    assert.is_true(b:since(a) >= 0)
    assert.are.equal(a, s:record(a))
    a:synchronize()
    assert.is_true(a:since(b) >= 0)
  end)

  it("are not reached before the work in front of them", function()
    local s <close> = dev:stream { blocking = false }
    local x <close> = dev:zeros("i32", 1)
    dev:synchronize()
    local slow = m.slowly:prepare { grid = 1, block = 1, stream = s }
    local a <close> = s:record()
    slow(x, 1, 40000000)
    local b <close> = s:record()
    assert.is_false(b:query())
    fails_with(function() b:since(a) end, "synchronize it first")
    b:synchronize()
    assert.is_true(b:query())
  end)

  it("without timing are for waiting alone", function()
    local a <close> = dev:event { timing = false }
    local b <close> = dev:event()
    a:record()
    b:record()
    a:synchronize()
    b:synchronize()
    assert.is_true(a:query())
    fails(function() b:since(a) end, "since: an event was made with timing = false")
  end)

  it("are recorded before they are asked", function()
    local a <close> = dev:event()
    local b <close> = dev:event()
    fails(function() a:query() end, "the event was never recorded; record it in a stream first")
    fails(function() a:synchronize() end, "the event was never recorded; record it in a stream first")
    b:record()
    b:synchronize()
    fails(function() b:since(a) end, "the event was never recorded; record it in a stream first")
    fails(function() b:since() end, "bad argument #1 to 'since' (event expected, got no value)")
  end)

  it("refuse options and streams that are none", function()
    local e <close> = dev:event()
    fails(function() dev:event { timng = true } end,
      "bad argument #1 to 'event' (unknown option 'timng': did you mean 'timing'? known: timing)")
    fails(function() dev:event { timing = "yes" } end,
      "bad argument #1 to 'event' (option 'timing' is true or false, got string 'yes')")
    fails(function() e:record(1) end, "bad argument #1 to 'record' (stream expected, got number)")
  end)

  it("are closed once, also while a stream still has to reach them", function()
    local s <close> = dev:stream()
    local x <close> = dev:zeros("i32", 1)
    m.slowly:prepare { grid = 1, block = 1, stream = s }(x, 1, 10000000)
    local e = s:record()
    e:close()
    assert.are.equal("event (closed)", tostring(e))
    fails(function() e:close() end, "attempt to use a closed event")
    for _, name in ipairs { "query", "synchronize", "record", "since", "device" } do
      fails_with(function() e[name](e, e) end, "(attempt to use a closed event)")
    end
    fails(function() s:wait(e) end, "bad argument #1 to 'wait' (attempt to use a closed event)")
    s:synchronize()
  end)

  for _, other in ipairs(support.devices()) do
    if other ~= dev then
      it("do not mix devices: " .. other:id(), function()
        local a <close> = dev:event()
        local s <close> = other:stream()
        fails(function() a:record(s) end, ("bad argument #1 to 'record' (a stream of %s expected, got one of %s)")
          :format(id, other:id()))
        local b <close> = s:record()
        a:record()
        a:synchronize()
        b:synchronize()
        fails(function() a:since(b) end, "since: the events are of two devices")
        fails_with(function() s:record(a) end, "an event of")
      end)
    end
  end
end)
