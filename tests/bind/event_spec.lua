-- SPDX-License-Identifier: MIT
--
-- Events: marks in streams, times between them.

local support = require "tests.support"
local core, mw = support.core, support.mw
local fails, fails_with = support.fails, support.fails_with

support.each_device("events", function(dev, id, runs)
  local m

  before_each(function() m = dev:module(support.kernel_file "basic.cu") end)
  after_each(function() m:close() end)

  -- The host's clock, read inside and outside of what they enclose, bounds the time however busy the machine is.
  runs("measure what lies between them", function()
    local s <close> = dev:stream()
    local e0 <close> = dev:event()
    local e1 <close> = dev:event()
    local e2 <close> = dev:event()
    local gate <close> = support.gate(m)
    dev:synchronize()
    local outside = core.clock()
    e0:record(s)
    gate:shut(s)
    e1:record(s)
    m.nothing:prepare { grid = 1, block = 1, stream = s }()
    e2:record(s)
    support.eventually("the kernel runs", function() return gate:is_reached() end)
    local inside = core.clock()
    repeat until core.clock() > inside + 0.005
    inside = core.clock() - inside
    gate:open()
    e2:synchronize()
    outside = core.clock() - outside
    local first, second = e1:since(e0), e2:since(e1)
    assert.is_true(first > 0.99 * inside and first < 1.01 * outside, ("%g < %g < %g"):format(inside, first, outside))
    assert.is_true(second >= 0 and second < 1.01 * outside, ("%g < %g"):format(second, outside))
    assert.is_true(math.abs(e2:since(e0) - first - second) < 1e-4)
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

  runs("are not reached before the work in front of them", function()
    local s <close> = dev:stream { blocking = false }
    local a <close> = dev:event()
    local b <close> = dev:event()
    local gate <close> = support.gate(m)
    dev:synchronize()
    a:record(s)
    gate:shut(s)
    b:record(s)
    assert.is_false(b:query())
    fails_with(function() b:since(a) end, "synchronize it first")
    gate:open()
    b:synchronize()
    assert.is_true(gate:was_opened())
    assert.is_true(b:query())
  end)

  it("without timing are only for waiting", function()
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

  it("reject invalid options and streams", function()
    local e <close> = dev:event()
    fails(function() dev:event { timng = true } end,
      "bad argument #1 to 'event' (unknown option 'timng'; did you mean 'timing'?)")
    fails(function() dev:event { timing = "yes" } end,
      "bad argument #1 to 'event' (option 'timing' is true or false, got string 'yes')")
    fails(function() e:record(1) end, "bad argument #1 to 'record' (stream expected, got number)")
  end)

  runs("are closed once, also while a stream still has to reach them", function()
    local s <close> = dev:stream()
    local gate <close> = support.gate(m)
    local e = dev:event()
    gate:shut(s)
    e:record(s)
    e:close()
    assert.are.equal("event (closed)", tostring(e))
    fails(function() e:close() end, "calling 'close' on bad self (attempt to use a closed event)")
    for _, name in ipairs { "query", "synchronize", "record", "since", "device" } do
      fails_with(function() e[name](e, e) end, "(attempt to use a closed event)")
    end
    fails(function() s:wait(e) end, "bad argument #1 to 'wait' (attempt to use a closed event)")
    gate:open()
    s:synchronize()
    assert.is_true(gate:was_opened())
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
