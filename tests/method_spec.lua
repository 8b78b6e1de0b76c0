-- SPDX-License-Identifier: MIT
--
-- What all methods have in common: each refuses more arguments than it takes, an object that is none of its class, and
-- names the nearest method where it is misspelt.

local support = require "tests.support"
local core, mw, fails, fails_with = support.core, support.mw, support.fails, support.fails_with

-- Whose arguments are counted by what they are for: sizes, indices, a kernel's parameters.
local COUNTED = { array = { "get", "reshape", "set", "view" }, graph = { "update" }, kernel = { "launch" },
                  device = { "array", "empty", "full", "managed", "pageable", "pinned", "zeros" } }

local function is_counted(class, name)
  for _, known in ipairs(COUNTED[class] or {}) do
    if known == name then return true end
  end
  return false
end

support.each_device(function(dev)
  local objects

  before_each(function()
    local m = dev:module { source = "__global__ void nothing() {}" }
    objects = { array = dev:zeros("f32", 4), device = dev, event = dev:event(), kernel = m.nothing, module = m,
                graph = dev:capture(function() m.nothing:launch(1, 1) end), stream = dev:stream(),
                launch = m.nothing:prepare { grid = 1, block = 1 } }
  end)
  after_each(function()
    for class, object in pairs(objects) do
      if class ~= "device" then object:close() end
    end
  end)

  it("refuse surplus arguments", function()
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

  it("refuse an object of another class", function()
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
  end)
end)

describe("functions of moonwarp", function()
  it("refuse surplus arguments", function()
    local most = { arg = 4, bench = 2, check = 3, device = 1, occupancy = 1, plot = 1, record = 1, table = 1 }
    for name, count in pairs(most) do
      fails(function() mw[name](1, 2, 3, 4, 5) end,
        ("mw.%s takes %d argument%s at most, got 5"):format(name, count, count == 1 and "" or "s"))
    end
    fails(function() mw.devices(1) end, "'devices' takes no arguments, got 1")
    fails(function() mw.poll(1) end, "'poll' takes no arguments, got 1")
    fails(function() mw.type(1, 2) end, "'type' takes 1 argument at most, got 2")
  end)

  it("name the script's line, not the library's", function()
    local _, message = pcall(function() mw.device(1, 2) end)
    assert.are.equal("tests/method_spec.lua", message:match "^[^:]*")
    _, message = pcall(function() mw.device {} end)
    assert.are.equal("tests/method_spec.lua", message:match "^[^:]*")
    local dev <close> = mw.device "cpu"
    _, message = pcall(function() dev:full(1, "f32", 0) end)
    assert.are.equal("tests/method_spec.lua", message:match "^[^:]*")
  end)
end)
