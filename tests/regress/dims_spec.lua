-- SPDX-License-Identifier: MIT
--
-- A grid or a block by the names of its axes, as dim3 has them. Names beside a list had been ignored.

local support = require "tests.support"
local fails_with = support.fails_with

describe("dimensions by name", function() support.each_device(function(dev)
  local m <close> = dev:module { source = "__global__ void f() {}" }
  local k = m.f

  it("are what a list is, 1 where absent", function()
    local go <close> = k:prepare { grid = { x = 4, y = 2 }, block = { z = 2 } }
    assert.are.same({ 4, 2, 1 }, go:grid())
    assert.are.same({ 1, 1, 2 }, go:block())
    go:grid { y = 3 }
    assert.are.same({ 1, 3, 1 }, go:grid())
    k:launch({ x = 1 }, { y = 1 })
  end)

  for got, key in pairs { [{ 4, y = 2 }] = "y", [{ w = 3 }] = "w", [{ x = 1, [1.5] = 3 }] = "1.5",
                          [{ 1, 2, 3, z = 4 }] = "z", [{ xy = 1 }] = "xy" } do
    it("are not mixed with others: " .. key, function()
      fails_with(function() k:prepare { grid = got, block = 1 } end,
        "kernel 'f': grid is an integer, {x, y, z} or {x =, y =, z =}, got a table with the key " .. key)
    end)
  end

  it("are integers from 1", function()
    fails_with(function() k:launch(1, { x = 1, y = 0 }) end, "block.y is an integer of at least 1, got 0")
  end)
end) end)
