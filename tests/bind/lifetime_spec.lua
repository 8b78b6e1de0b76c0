-- SPDX-License-Identifier: MIT
--
-- Lifetimes: every order of closing, collecting and forgetting, under three collectors; nothing dangles, nothing leaks.

local support = require "tests.support"
local core = support.core

local BASIC = support.kernel_file "basic.cu"
local VARIABLES = support.kernel_file "variables.cu"

local COLLECTORS = {
  standard = { set = function() collectgarbage "incremental" end },
  generational = { set = function() collectgarbage "generational" end },
  -- a pause of one hundredth of what is in use and large steps: a collection is nearly always under way
  eager = { set = function() collectgarbage("incremental", 1, 1000, 4) end },
}

-- Everything that can hold something else.
local function make_all(dev)
  local all = {}
  all.module = dev:module(BASIC)
  all.kernel = all.module.increment
  all.stream = dev:stream()
  all.array = dev:array("i32", { 1, 2, 3, 4 })
  all.view = all.array:view(2, 2)
  all.texture, all.surface = dev:texture(all.array), dev:surface(all.array)
  all.image = dev:texture(all.surface)
  all.go = all.kernel:prepare { grid = 1, block = 4, stream = all.stream }
  all.go(all.array, 4)
  all.event = all.stream:record()
  all.graph = dev:capture(function() all.kernel:launch(1, 4, all.array, 4) end)
  all.graph:launch(all.stream)
  all.other = dev:module(VARIABLES)
  all.variable = all.other:variable "counter"
  return all
end

local NAMES = { "module", "kernel", "stream", "array", "view", "go", "event", "graph", "other", "variable",
  "texture", "surface", "image" }

-- The k-th of some orders of the names, the same in every run.
local function shuffled(k)
  local names, state = table.move(NAMES, 1, #NAMES, 1, {}), k * 2654435761 % 4294967296
  for i = #names, 2, -1 do
    state = (state * 1664525 + 1013904223) % 4294967296
    local j = state // 65536 % i + 1
    names[i], names[j] = names[j], names[i]
  end
  return names
end

support.each_device("objects", function(dev, id, runs)
  local MOMENT <const> = id == "cpu" and 20000000 or 10000 -- looks of `hold`: it still runs when the script ends

  for _, name in ipairs { "standard", "generational", "eager" } do
    local collector <const> = COLLECTORS[name]
    describe("with the collector " .. name, function()
      before_each(collector.set)
      after_each(function() collectgarbage("incremental", 200, 100, 13) end)

      it("are closed in any order", function()
        for k = 1, 12 do
          local all = make_all(dev)
          for _, which in ipairs(shuffled(k)) do
            all[which]:close()
            assert.is_truthy(core.type(all[which]):find("^closed "))
          end
        end
      end)

      it("are forgotten in any order", function()
        for k = 1, 12 do
          local all = make_all(dev)
          for _, which in ipairs(shuffled(k)) do
            all[which] = nil
            collectgarbage "step"
          end
          collectgarbage()
        end
      end)

      runs("that are left work when the rest is gone", function()
        local all = make_all(dev)
        local view, go, graph, variable = all.view, all.go, all.graph, all.variable
        all = nil
        collectgarbage()
        collectgarbage()
        assert.is_nil(all)
        dev:synchronize()
        assert.are.same({ 4, 5 }, view:totable())
        go(view, 2)
        graph:launch()
        dev:synchronize()
        assert.are.same({ 6, 7 }, view:totable())
        assert.are.equal(0, variable:get(1))
      end)

      runs("that were closed are rejected by what still refers to them", function()
        local all = make_all(dev)
        all.stream:close()
        assert.is_false((pcall(all.go, all.array, 4)))
        all.kernel:close()
        all.module:close()
        assert.is_false((pcall(all.go, all.array, 4)))
        assert.are.equal("string", type(tostring(all.go)))
        all.go:grid(3)
        all.graph:launch()
        all.array:close()
        all.graph:launch()
        dev:synchronize()
        assert.are.same({ 6, 7 }, all.view:totable())
      end)

      runs("that are dropped while a stream uses them live until it is done", function()
        local m <close> = dev:module(BASIC)
        local s <close> = dev:stream { blocking = false }
        local out <close> = dev:zeros("i32", 64)
        local gate <close> = support.gate(m)
        local add = m.add:prepare { grid = 1, block = 64, stream = s }
        for round = 1, 10 do
          do
            local a, b = dev:full(round, "i32", 64), dev:full(1, "i32", 64)
            dev:synchronize()
            gate:shut(s)
            add(out, a, b, 64)
          end
          collectgarbage()
          assert.is_false(s:query())
          gate:open()
          dev:full(99, "i32", 64):close()
          s:synchronize()
          assert.is_true(gate:was_opened())
        end
        assert.are.equal(11, out:get(1))
        assert.are.equal(11, out:get(64))
      end)

      it("that are large and dropped do not fill the device", function()
        for _ = 1, 60 do dev:empty("u8", 64 << 20) end
        local free = dev:memory()
        assert.is_true(free > 0)
      end)

      it("that are small come and go by the thousand", function()
        for _ = 1, 250 do
          local a = dev:zeros("f32", 8)
          a:view(1, 4):close()
          local e = dev:event()
          e:record()
          if collectgarbage "count" > 1e6 then collectgarbage() end
        end
      end)
    end)
  end

  it("used by callbacks are kept until they have run", function()
    local s <close> = dev:stream()
    local sum = 0
    for i = 1, 20 do
      local box = { i }
      s:callback(function() sum = sum + box[1] end)
    end
    collectgarbage()
    collectgarbage()
    s:synchronize()
    assert.are.equal(210, sum)
  end)

  it("made in a coroutine that is never resumed are collected", function()
    local function begin()
      local co = coroutine.wrap(function()
        local a <close> = dev:zeros("f32", 16)
        local s <close> = dev:stream()
        coroutine.yield(#a, s:query())
      end)
      co()
    end
    for _ = 1, 10 do begin() end
    collectgarbage()
    collectgarbage()
  end)

  it("may all be open when the state is closed", function()
    local output = support.child_passes(([[
      local mw = require "moonwarp"
      local dev = mw.device(%q)
      keep = {}
      for i = 1, 3 do
        local m = dev:module(%q)
        local s = dev:stream()
        local x = dev:zeros("i32", 1)
        local go = m.hold:prepare { grid = 1, block = 1, stream = s }
        go(dev:pinned("i32", { 0, 0 }), %d)
        keep[i] = { m, s, x, go, s:record(), dev:capture(function() m.increment:launch(1, 1, x, 1) end), x:view(1, 1) }
        s:callback(function() print "not run" end)
      end
      print "end"
    ]]):format(id, BASIC, MOMENT))
    assert.are.equal("end\n", output)
  end)

  it("may be open at os.exit, with and without closing the state", function()
    for _, close in ipairs { "true", "false" } do
      local status, output = support.child(([[
        local mw = require "moonwarp"
        local dev = mw.device(%q)
        local m = dev:module(%q)
        local s = dev:stream()
        local x = dev:pinned("i32", { 0, 0 })
        m.hold:prepare { grid = 1, block = 1, stream = s }(x, %d)
        os.exit(7, %s)
      ]]):format(id, BASIC, MOMENT, close))
      assert.are.equal(7, status, output)
    end
  end)

  runs("of a device that was closed early keep it", function()
    local output = support.child_passes(([[
      local mw = require "moonwarp"
      local dev = mw.device(%q)
      local m, s, x = dev:module(%q), dev:stream(), dev:zeros("i32", 1)
      dev:close()
      m.increment:prepare { grid = 1, block = 1, stream = s }(x, 1)
      s:synchronize()
      print(x:get(1), x:device():id())
      m, s = nil, nil
      collectgarbage()
      x:close()
      collectgarbage()
      local again = mw.device(%q)
      print(#again:zeros("f32", 3))
    ]]):format(id, BASIC, id))
    assert.are.equal(("1\t%s\n3\n"):format(id), output)
  end)
end)

describe("hand-called metamethods", function()
  support.no_leaks()

  it("check what they are given", function()
    local dev = support.devices()[1]
    local all = make_all(dev)
    for _, name in ipairs(NAMES) do
      local meta = debug.getmetatable(all[name])
      for _, wrong in ipairs { io.stdout, dev, all.array, 1, "x", {}, print } do
        if wrong ~= all[name] then
          assert.is_true((pcall(meta.__gc, wrong == all.array and io.stdout or wrong == dev and {} or wrong)))
          if core.type(wrong) ~= core.type(all[name]) then
            assert.is_false((pcall(meta.__tostring, wrong)), name .. " writes a " .. type(wrong))
            if meta.__call then assert.is_false((pcall(meta.__call, wrong))) end
            if meta.__len then assert.is_false((pcall(meta.__len, wrong))) end
            if type(meta.__index) == "function" then assert.is_false((pcall(meta.__index, wrong, "close"))) end
          end
        end
      end
      assert.is_true((pcall(meta.__gc)))
      assert.is_false((pcall(meta.__tostring)))
    end
    assert.is_truthy(io.stdout:write "")
    dev:synchronize()
    assert.are.equal(support.runs_kernels(dev) and 3 or 1, all.array:get(1))
  end)
end)
