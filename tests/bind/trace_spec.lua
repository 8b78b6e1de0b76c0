-- SPDX-License-Identifier: MIT
--
-- core.trace: launches, those of a graph, and copies between host and device, while a list is kept.

local support = require "tests.support"
local core, mw = support.core, support.mw

local SOURCE <const> = "__global__ void f(float *y, float a) { y[threadIdx.x] = a; }"

describe("a trace", function()
  local dev = mw.device "cpu"
  local f = dev:module { source = SOURCE }.f
  local y, z, h = dev:array("f32", 32), dev:array("f32", 32), dev:pinned("f32", 32)
  local go = f:prepare { grid = 2, block = { 16, 2 }, shared = 64 }

  local function traced(fn)
    local list = {}
    core.trace(list)
    fn()
    core.trace()
    fn()
    return list
  end

  it("has launches, prepared and direct", function()
    local list = traced(function()
      go(y, 1)
      f:launch(1, 32, y, 2)
    end)
    assert.are.equal(2, #list)
    local first = list[1]
    assert.are.same({ "f", { 2, 1, 1 }, { 16, 2, 1 }, 64 }, { first.name, first.grid, first.block, first.shared })
    assert.are.equal(f, list[1].kernel)
    assert.are.same({ { 1, 1, 1 }, { 32, 1, 1 }, 0 }, { list[2].grid, list[2].block, list[2].shared })
  end)

  it("has copies between host and device, by what is asked for", function()
    assert.are.same({ { copy = "to_device", bytes = 128 }, { copy = "to_host", bytes = 64 } }, traced(function()
      y:copy(h)
      z:copy(y)
      h:copy(y, { count = 16 })
    end))
  end)

  it("has the launches of a graph", function()
    local graph <close> = dev:capture(function()
      go(y, 1)
      go(y, 2)
    end)
    local list = traced(function() graph:launch() end)
    assert.are.same({ "f", "f" }, { list[1].name, list[2].name })
    assert.is_nil(list[1].kernel)
  end)

  it("wants a list", function()
    assert.is_false(pcall(core.trace, 1))
    go(y, 1)
  end)

  it("is ended by an error in the function that is measured", function()
    assert.is_false(pcall(mw.bench, function() error "no" end))
    local t = mw.bench(function() go(y, 1) end, { samples = 2, batch = 1 })
    assert.are.equal(1, #t.launches)
    assert.are.same({ "f", 1 }, { t.launches[1].kernel, t.launches[1].count })
    assert.are.same({}, t.copies)
  end)
end)
