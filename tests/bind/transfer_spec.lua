-- SPDX-License-Identifier: MIT
--
-- Copies between arrays: whole and in part, between kinds of memory and devices, on streams.

local support = require "tests.support"
local core = support.core
local fails = support.fails

local MAKERS = { "array", "pinned", "pageable", "managed" }

support.warm()

support.each_device("scattered elements", function(dev, _, runs)
  runs("are gathered in order, from all kinds of memory", function()
    for _, maker in ipairs(MAKERS) do
      for _, dtype in ipairs { "f32", "u8", "i64", "f16" } do
        local a <close> = dev[maker](dev, dtype, { { 1, 2, 3 }, { 4, 5, 6 } })
        assert.are.same({ 6, 1, 4, 4 }, a:gather { 6, 1, 4, 4 })
        assert.are.same({}, a:gather {})
      end
    end
    local a <close> = dev:zeros("f64", 5)
    fails(function() a:gather { 1, 6 } end, "bad argument #1 to 'gather' (place 2 is an integer from 1 to 5, got 6)")
    for got, places in pairs { ["1.5"] = { 1.5 }, string = { "3" }, table = { {} } } do
      fails(function() a:gather(places) end,
        ("bad argument #1 to 'gather' (place 1 is an integer from 1 to 5, got %s)"):format(got))
    end
    fails(function() a:gather { i = 1 } end,
      "bad argument #1 to 'gather' (a list of places is wanted, got one with names or holes)")
    fails(function() a:gather(1) end, "bad argument #1 to 'gather' (table expected, got number)")
  end)
end)

support.each_device("copies", function(dev, id, runs)
  it("move everything between all kinds of memory", function()
    for _, from in ipairs(MAKERS) do
      for _, to in ipairs(MAKERS) do
        local a <close> = dev[from](dev, "i32", { 1, 2, 3, 4 })
        local b <close> = dev[to](dev, "i32", 4)
        assert.are.equal(b, b:copy(a))
        assert.are.same({ 1, 2, 3, 4 }, b:totable(), from .. " to " .. to)
      end
    end
  end)

  it("move a part", function()
    for _, from in ipairs(MAKERS) do
      local a <close> = dev[from](dev, "f64", { 1, 2, 3, 4, 5 })
      local b <close> = dev:zeros("f64", 6)
      b:copy(a, { from = 2, to = 4, count = 2 })
      assert.are.same({ 0.0, 0.0, 0.0, 2.0, 3.0, 0.0 }, b:totable())
      b:copy(a, { from = 4 })
      assert.are.same({ 4.0, 5.0, 0.0, 2.0, 3.0, 0.0 }, b:totable())
      b:copy(a, { to = 2 })
      assert.are.same({ 4.0, 1.0, 2.0, 3.0, 4.0, 5.0 }, b:totable())
    end
  end)

  it("move between views of one array", function()
    local a <close> = dev:array("i16", { 1, 2, 3, 4, 5, 6 })
    local first <close> = a:view(1, 3)
    local second <close> = a:view(4, 3)
    second:copy(first)
    assert.are.same({ 1, 2, 3, 1, 2, 3 }, a:totable())
  end)

  it("do not ask for the same shape", function()
    local a <close> = dev:array("u8", { { 1, 2, 3 }, { 4, 5, 6 } })
    local b <close> = dev:zeros("u8", 2, 3)
    b:copy(a)
    assert.are.same({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, b:totable())
  end)

  it("move many bytes", function()
    local count = 1 << 20
    local a <close> = dev:array("u32", count):random { seed = 1, max = 2 ^ 32 - 1 }
    local b <close> = dev:array("u32", count)
    local c <close> = dev:pinned("u32", count)
    assert.are.equal(a:bytes(), b:copy(a):bytes())
    assert.are.equal(a:bytes(), c:copy(b):bytes())
  end)

  it("are rejected before anything moves", function()
    local a <close> = dev:array("f32", { 1, 2, 3, 4 })
    local b <close> = dev:zeros("f32", 3)
    local other <close> = dev:zeros("f64", 4)
    fails(function() b:copy(a) end,
      "copy of 4 elements to element 1 on does not fit: the array has room for 3")
    fails(function() b:copy(a, { count = 2, to = 3 }) end,
      "copy of 2 elements to element 3 on does not fit: the array has room for 1")
    fails(function() b:copy(a, { from = 0 }) end,
      "bad argument #2 to 'copy' (option 'from' is an integer from 1 to 4, got 0)")
    fails(function() b:copy(a, { from = 5 }) end,
      "bad argument #2 to 'copy' (option 'from' is an integer from 1 to 4, got 5)")
    fails(function() b:copy(a, { from = 3, count = 3 }) end,
      "bad argument #2 to 'copy' (option 'count' is an integer from 1 to 2, got 3)")
    fails(function() b:copy(a, { to = "2" }) end,
      "bad argument #2 to 'copy' (option 'to' is an integer from 1 to 3, got string '2')")
    fails(function() b:copy(a, { form = 1 }) end, "bad argument #2 to 'copy' "
      .. "(unknown option 'form'; did you mean 'from'?)")
    fails(function() b:copy(a, { 1 }) end,
      "bad argument #2 to 'copy' (options have names, such as { from = ... }, got the key 1)")
    fails(function() b:copy(a, 1) end, "bad argument #2 to 'copy' (options expected, such as { from = ... }, got 1)")
    fails(function() b:copy(a, {}, 1) end, "'copy' takes 2 arguments at most, got 3")
    fails(function() b:copy(other) end, "bad argument #1 to 'copy' (array of f32 expected, got array of f64)")
    fails(function() b:copy() end, "bad argument #1 to 'copy' (array expected, got no value)")
    fails(function() b:copy { 1, 2, 3 } end, "bad argument #1 to 'copy' (array expected, got table)")
    assert.are.same({ 0.0, 0.0, 0.0 }, b:totable())
  end)

  it("are queued on a stream", function()
    local stream <close> = dev:stream()
    local a <close> = dev:pinned("i32", { 1, 2, 3 })
    local b <close> = dev:zeros("i32", 3)
    local c <close> = dev:pinned("i32", 3)
    dev:synchronize()
    b:copy(a, { stream = stream })
    c:copy(b, { stream = stream })
    stream:synchronize()
    assert.are.same({ 1, 2, 3 }, c:totable())
  end)

  it("keep their arrays until they are done, though the script has forgotten them", function()
    local stream <close> = dev:stream()
    local result <close> = dev:pinned("i32", 1 << 16)
    for round = 1, 20 do
      local a = dev:full(round, "i32", 1 << 16)
      result:copy(a, { stream = stream })
      a:close()
    end
    stream:synchronize()
    assert.are.equal(20, result:get(1))
    assert.are.equal(20, result:get(1 << 16))
  end)

  it("reject what is not a stream, or closed", function()
    local a <close> = dev:zeros("i32", 3)
    local b <close> = dev:zeros("i32", 3)
    local closed = dev:stream()
    closed:close()
    support.fails_with(function() b:copy(a, { stream = 1 }) end, "option 'stream' is a stream, got")
    support.fails_with(function() b:copy(a, { stream = closed }) end, "attempt to use a closed stream")
  end)

  runs("wait for kernels of the same stream", function()
    local m <close> = dev:module(support.kernel_file "basic.cu")
    local stream <close> = dev:stream()
    local x <close> = dev:zeros("i32", 1)
    local y <close> = dev:pinned("i32", { 0 })
    local gate <close> = support.gate(m)
    gate:shut(stream)
    m.put:prepare { grid = 1, block = 1, stream = stream }(x, 5)
    y:copy(x, { stream = stream })
    assert.are.equal(0, y:get(1)) -- moonwarp: race-ok the gate is shut
    gate:open()
    stream:synchronize()
    assert.is_true(gate:was_opened())
    assert.are.equal(5, y:get(1))
  end)

  for _, other in ipairs(support.devices()) do
    if other ~= dev then
      it("move to " .. other:id() .. " and back", function()
        local a <close> = dev:array("f32", { 1, 2, 3, 4 })
        local b <close> = other:zeros("f32", 4)
        local c <close> = dev:zeros("f32", 4)
        b:copy(a)
        assert.are.same({ 1.0, 2.0, 3.0, 4.0 }, b:totable())
        c:copy(b, { from = 2, count = 3 })
        assert.are.same({ 2.0, 3.0, 4.0, 0.0 }, c:totable())
        local far <close> = other:stream()
        c:copy(b, { stream = far })
        far:synchronize()
        assert.are.same({ 1.0, 2.0, 3.0, 4.0 }, c:totable())
      end)
    end
  end

  it("compare through the host, in pieces", function()
    local a <close> = dev:array("f32", { 1, 2, 3, 0 / 0 })
    local b <close> = dev:pinned("f32", { 1, 2.5, 3, 0 / 0 })
    local found = core.compare(a, b, 0.0, 0.0, 5)
    assert.are.equal(1, found.wrong)
    assert.are.same({ { 1, 2.5, 2.0 } }, found.first)
    assert.are.equal(0.5, found.max_absolute)
    assert.are.equal(0, core.compare(a, b, 0.5, 0.0, 5).wrong)
    local c <close> = dev:zeros("f32", 3)
    fails(function() core.compare(a, c, 0, 0, 1) end, "compare: two arrays of one type and length expected")
    assert.are.equal(id, a:device():id())
  end)
end)
