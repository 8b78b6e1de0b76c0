-- SPDX-License-Identifier: MIT
--
-- What users of other libraries write: operators, loops and methods that objects do not have. The error says what to
-- write instead.

local support = require "tests.support"
local mw, fails = support.mw, support.fails

local COMPUTES = "a kernel computes on the device, a:totable() gives the elements to the script"

describe("operators", function() support.each_device(function(dev)
  local a

  before_each(function() a = dev:zeros("f32", 4) end)
  after_each(function() a:close() end)

  it("of numbers are not those of an array", function()
    for _, compute in ipairs {
      function() return a + 1 end, function() return 1 - a end, function() return a * a end, function() return -a end,
      function() return a / 2 end, function() return a // 2 end, function() return a % 2 end,
      function() return a ^ 2 end, function() return a & 1 end, function() return ~a end, function() return a >> 1 end,
    } do
      fails(compute, "an array has no arithmetic in Lua: " .. COMPUTES)
    end
    for _, compare in ipairs { function() return a < a end, function() return a >= 1 end } do
      fails(compare, "arrays have no order; mw.check(got, expected) compares their elements")
    end
  end)

  it("of functions and tables are not those of an array", function()
    fails(function() return a(1) end, "an array is not a function: a:get(i) reads an element, a:totable() all of them")
    fails(function() return pairs(a) end, "an array is not a table: a:totable() gives one to loop over")
    fails(function() return ipairs(a)(a, 0) end,
      "an element is read with get: a:get(1); a:totable() reads all")
  end)

  it("of texts are those of no object", function()
    fails(function() return "x" .. a end, "an array is not a string: tostring() gives its text")
    fails(function() return dev .. "x" end, "a device is not a string: tostring() gives its text")
  end)
end) end)

describe("methods of other libraries", function() support.each_device(function(dev)
  it("are named with what to write", function()
    local a <close> = dev:zeros("f32", 4)
    local m <close> = dev:module { source = "__global__ void f() {}" }
    local go <close> = m.f:prepare { grid = 1, block = 1 }
    for message, call in pairs {
      ["an array has no 'sum', which is a method of device"] = function() a:sum() end,
      ["a device has no 'mean'; " .. COMPUTES] = function() dev:mean(a) end,
      ["an array has no 'print'; print(a) names it, a:totable() gives its elements"] = function() a:print() end,
      ["an array has no 'equals'; mw.check(got, expected) compares elements"] = function() a:equals(a) end,
      ["an array has no 'numpy'; did you mean 'totable'?"] = function() a:numpy() end,
      ["a device has no 'linspace', which is a method of array"] = function() dev:linspace(0, 1) end,
      ["a device has no 'launch', which is a method of graph, kernel"] = function() dev:launch(m.f) end,
      ["a device has no 'synchronise'; did you mean 'synchronize'?"] = function() dev:synchronise() end,
      ["a launch has no 'run'; it is called with the kernel's arguments: go(...)"] = function() go:run() end,
      ["moonwarp has no 'sync', a device has: mw.device():synchronize(...)"] = function() mw.sync() end,
    } do fails(call, message) end
  end)
end) end)
