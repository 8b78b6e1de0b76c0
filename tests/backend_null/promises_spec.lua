-- SPDX-License-Identifier: MIT
--
-- What the binding asks of a backend, counted by the null one (null.c); what it must not ask is asserted there, in all
-- specs that run over it.

local support = require "tests.support"
local null = require "moonwarp.null"
local core, mw = support.core, support.mw

-- How often each entry is called while fn runs, as "alloc 1, fill 1".
local function asked(fn)
  local entries, before, list = { "alloc", "free", "copy", "fill", "launch", "synchronize", "stream_synchronize",
    "compile", "kernel_get", "unload", "capture_begin", "capture_end", "graph_launch", "graph_update" }, {}, {}
  for _, name in ipairs(entries) do before[name] = null.calls(name) end
  fn()
  for _, name in ipairs(entries) do
    local count = null.calls(name) - before[name]
    if count > 0 then list[#list + 1] = ("%s %d"):format(name, count) end
  end
  return table.concat(list, ", ")
end

local SOURCE <const> = "__global__ void scale(float *x, float f, int n) {}"

describe("a backend is asked", function()
  local dev = mw.device()

  it("to open a device once, whatever its handles are called", function()
    local opened = null.calls "open"
    assert.are.equal(dev, mw.device "null")
    assert.are.equal(dev, mw.device "null:0")
    assert.are.equal(opened, null.calls "open")
    support.fails(function() mw.device "null:2" end, "no such device: null:2; there are 2, from null:0")
    support.fails(function() mw.device "cuda" end, "no device 'cuda': null or null:N expected")
  end)

  it("what its ids look like", function()
    local forms, names = core.device_forms()
    assert.are.equal("null or null:N", forms)
    assert.are.equal("null", table.concat(names, " "))
    local word = core.device_word "null"
    assert.are.equal("null:0 null cpu", ("%s %s %s"):format(word.id, word.backend, word.kind))
    assert.is_nil(core.device_word "cpu")
  end)

  it("for memory once an array, and to take it back once", function()
    assert.are.equal("alloc 1, free 1", asked(function() dev:empty("f32", 4):close() end))
    assert.are.equal("alloc 1, free 1, fill 1", asked(function() dev:zeros("f32", 4):close() end))
    assert.are.equal("alloc 1, free 1", asked(function()
      local a = dev:empty("f32", 4)
      local view = a:view(2, 2)
      a:close()
      view:close()
    end))
  end)

  it("for one copy a transfer, and for one launch a launch", function()
    local a <close>, n = dev:zeros("f32", 4), 4
    local m <close> = dev:module { source = SOURCE }
    local go <close> = m.scale:prepare { grid = 1, block = 4 }
    assert.are.equal("copy 1", asked(function() a:totable() end))
    assert.are.equal("copy 1", asked(function() a:upload { 1, 2, 3, 4 } end))
    assert.are.equal("launch 3", asked(function() for _ = 1, 3 do go(a, 2.0, n) end end))
  end)

  it("for nothing by what is rejected", function()
    local a <close> = dev:zeros("f32", 4)
    local m <close> = dev:module { source = SOURCE }
    local go <close> = m.scale:prepare { grid = 1, block = 4 }
    local s <close> = mw.device "null:1":stream()
    local closed = dev:zeros("f32", 4)
    closed:close()
    local wrong = {
      function() go(a, 2.0) end, function() go(a, "x", 4) end, function() go(closed, 2.0, 4) end,
      function() go(1, 2.0, 4) end, function() go(mw.device "null:1":zeros("f64", 1), 2.0, 4) end,
      function() m.scale:launch(0, 4, a, 2.0, 4) end, function() m.scale:launch(1, 1025, a, 2.0, 4) end,
      function() m.scale:prepare { grid = 1, block = 4, shared = 1 << 20 } end,
      function() m.scale:prepare { grid = 1, block = 4, stream = s } end,
      function() m.scale:occupancy(1025) end, function() m.scale:occupancy(0) end,
      function() a:copy(a, { from = 3, count = 3 }) end, function() a:get(5) end, function() closed:totable() end,
      function() dev:event():synchronize() end, function() s:wait(dev:event()) end,
    }
    for i, fn in ipairs(wrong) do
      local counted = asked(function() assert.is_false((pcall(fn)), i) end)
      assert.is_nil(counted:find "launch" or counted:find "copy" or counted:find "synchronize", i)
    end
    collectgarbage()
  end)

  it("to compile a module once and a kernel once, and to unload after the last of both", function()
    local m, k
    assert.are.equal("compile 1, kernel_get 1", asked(function()
      m = dev:module { source = SOURCE }
      k = m.scale
      assert.are.equal(k, m:kernel "scale")
    end))
    assert.are.equal("", asked(function() m:close() end))
    assert.are.equal("unload 1", asked(function() k:close() end))
  end)

  it("for a graph by a begin and an end, however the function ends", function()
    local m <close> = dev:module { source = SOURCE }
    local a <close> = dev:zeros("f32", 4)
    local g
    assert.are.equal("launch 2, kernel_get 1, capture_begin 1, capture_end 1", asked(function()
      g = dev:capture(function()
        m.scale:launch(1, 4, a, 2.0, 4)
        m.scale:launch(1, 4, a, 3.0, 4)
      end)
    end))
    assert.are.equal("graph_launch 1, graph_update 1", asked(function() g:update(2, a, 4.0, 4):launch() end))
    assert.are.equal("capture_begin 1, capture_end 1",
      asked(function() assert.is_false((pcall(dev.capture, dev, function() error "on purpose" end))) end))
    g:close()
  end)

  it("for readings, whose words are the binding's", function()
    local state = dev:state()
    assert.are.equal(1e9, state.clock)
    assert.are.equal("power cap, thermal", table.concat(state.reasons, ", "))
    assert.is_nil(state.temperature)
    local m <close> = dev:module { source = SOURCE }
    local o = m.scale:occupancy(256)
    assert.are.equal("8 1.0 threads: a multiprocessor holds 2048, which is 8 blocks of 256",
      ("%d %.1f %s"):format(o.blocks, o.occupancy, o.limit))
  end)

  it("to take back all there is, in any order", function()
    local function make()
      local other = mw.device "null:1"
      local list = { other:zeros("f32", 8), other:stream(), other:event(), other:module { source = SOURCE } }
      list[5], list[6] = list[1]:view(1, 2), list[4].scale
      list[7] = other:capture(function() list[6]:launch(1, 2, list[5], 1.0, 2) end)
      other:close()
      return list
    end
    local before, closed = null.buffers(), null.calls "close"
    for first = 1, 7 do
      local list = make()
      for i = 0, 6 do list[(first + 3 * i) % 7 + 1]:close() end
    end
    collectgarbage()
    assert.are.equal(before, null.buffers())
    assert.is_true(null.calls "close" > closed)
  end)
end)
