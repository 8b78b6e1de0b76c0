-- SPDX-License-Identifier: MIT
--
-- Metamethods, user values and metatables that the debug library hands to a script: each call is an error or does
-- nothing. __newindex without an object, a capture's __close and a user value of another kind had crashed.

local support = require "tests.support"
local core, fails_with = support.core, support.fails_with

local SOURCE = [=[
__global__ void one(int *a) { a[threadIdx.x] = 1; }
__global__ void two(int *a) { a[threadIdx.x] = 2; }
]=]

-- The metatable of the running capture, which is a temporary of dev:capture, and the capture.
local function capture_of()
  for i = 1, 20 do
    local _, value = debug.getlocal(3, i)
    local meta = type(value) == "userdata" and debug.getmetatable(value)
    if meta and meta.__close and not core.type(value) then return meta, value end
  end
end

describe("metamethods", function() support.each_device(function(dev)
  if not support.runs_kernels(dev) then return end
  local m, a, objects

  before_each(function()
    m, a = dev:module { source = SOURCE }, dev:zeros("i32", 4)
    objects = { a, dev, m, m.one, dev:event(), dev:stream(), m.one:prepare { grid = 1, block = 1 },
                dev:capture(function() m.one:launch(1, 1, a) end) }
  end)
  after_each(function()
    for _, object in ipairs(objects) do
      if object ~= dev and core.type(object):sub(1, 6) ~= "closed" then object:close() end
    end
  end)

  it("take any values", function()
    local strange = { {}, { io.stdout }, { 1, 2, 3 }, { "x", "y" }, { {}, {} }, { core.null, 1 } }
    for _, object in ipairs(objects) do
      for name, method in pairs(debug.getmetatable(object)) do
        if type(method) == "function" then
          for _, values in ipairs(strange) do pcall(method, table.unpack(values)) end
          for _, other in ipairs(objects) do
            if other ~= object and name ~= "__gc" and name ~= "__close" then pcall(method, other, 1, 2) end
          end
        end
      end
    end
    fails_with(function() debug.getmetatable(dev).__newindex() end, "'__newindex' (device expected, got no value)")
    fails_with(function() debug.getmetatable(a).__newindex(io.stdout, 1, 2) end, "a:set(1, value)")
    fails_with(function() debug.getmetatable(a).__newindex(io.stdout, "x", 2) end, "array expected, got FILE*")
  end)

  it("release once", function()
    for _, object in ipairs(objects) do
      local meta = debug.getmetatable(object)
      if object ~= dev then
        for _ = 1, 2 do
          meta.__gc(object)
          meta.__close(object)
        end
        assert.are.equal("closed", core.type(object):sub(1, 6))
      end
    end
  end)

  it("release an object that has another class's metatable", function()
    local live, other = core.live().event, debug.getmetatable(a)
    do debug.setmetatable(dev:event(), other) end
    collectgarbage()
    collectgarbage()
    assert.are.equal(live, core.live().event)
  end)

  it("end a capture once", function()
    dev:capture(function() capture_of().__close() end):close()
    fails_with(function()
      dev:capture(function()
        local meta, capture = capture_of()
        meta.__close(capture, "an error")
        meta.__close(capture)
      end)
    end, "capture: it was closed before its function had ended")
  end)
end) end)

describe("upvalues of methods", function() support.each_device(function(dev)
  -- One was the method without its checks: to call it with nothing read through a null pointer.
  it("hold no function, and no others work in their place", function()
    local a <close> = dev:zeros("i32", 4)
    local tried = 0
    for _, method in pairs(debug.getmetatable(a).__index) do
      local _, entry = debug.getupvalue(method, 1)
      if debug.getinfo(method, "S").what == "C" then
        tried = tried + 1
        for i = 1, 4 do assert.are_not.equal("function", type((select(2, debug.getupvalue(method, i))))) end
        for _, other in ipairs { false, 1, io.stdout, a, dev } do
          debug.setupvalue(method, 1, other)
          fails_with(function() method(a) end, "this method's upvalue has been replaced")
        end
        debug.setupvalue(method, 1, entry)
      end
    end
    assert.is_true(tried > 10)
    assert.are.equal("i32", a:dtype())
  end)
end) end)

describe("user values", function() support.each_device(function(dev)
  if not support.runs_kernels(dev) then return end
  local m, a

  before_each(function() m, a = dev:module { source = SOURCE }, dev:zeros("i32", 4) end)
  after_each(function()
    m:close()
    a:close()
  end)

  it("of a kernel may be anything", function()
    debug.setuservalue(m.one, io.stdout, 1)
    m.one:launch(1, 1, a)
    local launch = debug.getuservalue(m.one, 1)
    launch:close()
    debug.setuservalue(m.two, launch, 1)
    m.two:launch(1, 1, a)
    assert.are.equal(2, a:get(1))
  end)

  it("of a module may be anything", function()
    debug.getuservalue(m, 1).one = io.stdout
    assert.are.equal("one", m.one:name())
  end)

  it("of a launch are its kernel and its stream, or do no harm", function()
    local stream = dev:stream()
    local go = m.one:prepare { grid = 1, block = 1, stream = stream }
    debug.setuservalue(go, nil, 2)
    fails_with(function() go(a) end, "attempt to launch on a closed stream")
    debug.setuservalue(go, stream, 2)
    debug.setuservalue(go, m.two, 1)
    go(a)
    m.one:close()
    fails_with(function() go(a) end, "attempt to launch a closed kernel")
    assert.are.equal("one", m.one:name()) -- opened again
    go(a)
    dev:synchronize()
    go:close()
    stream:close()
  end)
end) end)
