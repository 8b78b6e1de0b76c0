-- SPDX-License-Identifier: MIT
--
-- What all methods have in common: each rejects more arguments than it takes, an object that is none of its class, and
-- names the nearest method where it is misspelt.

local support = require "tests.support"
local core, mw, fails, fails_with = support.core, support.mw, support.fails, support.fails_with

-- Whose arguments are counted by what they are for: sizes, indices, a kernel's parameters.
local COUNTED = { array = { "get", "reshape", "set", "view" }, graph = { "update" }, kernel = { "launch", "profile" },
                  launch = { "profile" },
                  device = { "array", "empty", "full", "managed", "pageable", "pinned", "zeros" } }

local function is_counted(class, name)
  for _, known in ipairs(COUNTED[class] or {}) do
    if known == name then return true end
  end
  return false
end

-- Objects of a library that every machine has.
local LIBC <const> = { library = "libc.so.6" }
local made = require("moonwarp.library").new {
  name = "libc", cpu = LIBC, cuda = LIBC, null = LIBC,
  functions = { object = { makes = "object", cpu = "getpid() -> id", cuda = "getpid() -> id",
                           null = "getpid() -> id" } },
}

describe("methods", function() support.each_device(function(dev)
  local objects

  before_each(function()
    local m = dev:module { source = "__global__ void nothing() {}" }
    objects = { array = dev:zeros("f32", 4), device = dev, event = dev:event(), kernel = m.nothing, module = m,
                graph = dev:capture(function() m.nothing:launch(1, 1) end), stream = dev:stream(),
                launch = m.nothing:prepare { grid = 1, block = 1 }, ["library object"] = made.object(dev) }
    objects.texture, objects.surface = dev:texture(objects.array), dev:surface(objects.array)
  end)
  after_each(function()
    for class, object in pairs(objects) do
      if class ~= "device" then object:close() end
    end
  end)

  it("reject surplus arguments", function()
    for class, methods in pairs(core.methods) do
      for name, method in pairs(methods) do
        if not is_counted(class, name) then
          local message = fails_with(function() method(objects[class], {}, {}, {}, {}, {}, {}, {}) end, "got 7")
          assert.is_truthy(message:find("'" .. name .. "' takes ", 1, true), class .. ": " .. message)
        end
      end
    end
    fails(function() objects.array:nbytes(1) end, "'nbytes' takes no arguments, got 1")
    fails(function() objects.array:fill(1, 2) end, "'fill' takes 1 argument at most, got 2")
    fails(function() objects.array:get(1, 1) end, "the array has 1 dimension, got 2 indices")
    fails(function() dev:full(0, "f32", 1, 1, 1, 1, 1) end, "an array has at most 4 dimensions, got 5")
  end)

  it("reject an object of another class", function()
    for class, methods in pairs(core.methods) do
      for name, method in pairs(methods) do
        fails_with(function() method(io.stdout) end, ("bad argument #1 to '%s' (%s expected, got FILE*; methods take a "
          .. "colon, as in %s:%s(...))"):format(name, class, class, name))
      end
    end
  end)

  it("name the nearest one", function()
    fails(function() return objects.array:shap() end, "an array has no 'shap'; did you mean 'shape'?")
    fails(function() return objects.stream:sychronize() end,
      "a stream has no 'sychronize'; did you mean 'synchronize'?")
    fails(function() return objects.array:sise() end, "an array has no 'sise'; did you mean 'shape'?")
    fails(function() return objects.kernel:run() end, "a kernel has no 'run'; did you mean 'launch'?")
  end)

  it("have no own elements and fields", function()
    local array, kernel = objects.array, objects.kernel
    fails(function() return array[2] end, "an element is read with get: a:get(2); a:totable() reads all")
    fails(function() array[2] = 1 end, "an element is written with set: a:set(2, value)")
    fails(function() array.name = 1 end, "no field of an array can be set, got 'name'")
    fails(function() objects.module.name = 1 end, "no field of a module can be set, got 'name'")
    fails(function() kernel[1] = 1 end, "no field of a kernel can be set, got '1'")
    fails(function() kernel(1) end,
      "kernel 'nothing' needs a grid and a block: k:launch(grid, block, ...), or k:prepare{ grid =, block = }")
  end)
end) end)

describe("functions of moonwarp", function()
  it("reject surplus arguments", function()
    local most = { arg = 4, bench = 2, check = 3, device = 2, occupancy = 1, plot = 1, record = 1, table = 1 }
    for name, count in pairs(most) do
      fails(function() mw[name](1, 2, 3, 4, 5) end,
        ("mw.%s takes %d argument%s at most, got 5"):format(name, count, count == 1 and "" or "s"))
    end
    fails(function() mw.devices(1) end, "'devices' takes no arguments, got 1")
    fails(function() mw.poll(1) end, "'poll' takes no arguments, got 1")
    fails(function() mw.type(1, 2) end, "'type' takes 1 argument at most, got 2")
  end)

  it("are not methods, nor methods functions", function()
    fails(function() mw:device() end, "mw.device is a function: write a dot before its name, not a colon")
    fails(function() mw.zeros("f32", 1) end, "moonwarp has no 'zeros', a device has: mw.device():zeros(...)")
  end)

  it("name the script's line, not the library's", function()
    local _, message = pcall(function() mw.device(1, 2) end)
    assert.is_truthy(tostring(message):find "^[^:]*method_spec%.lua:%d+: ", message)
    _, message = pcall(function() mw.device {} end)
    assert.is_truthy(tostring(message):find "^[^:]*method_spec%.lua:%d+: ", message)
    local dev = mw.device()
    _, message = pcall(function() dev:full(1, "f32", 0) end)
    assert.is_truthy(tostring(message):find "^[^:]*method_spec%.lua:%d+: ", message)
  end)
end)
