-- SPDX-License-Identifier: MIT
--
-- How results read when they are printed.

local support = require "tests.support"
local show = require "moonwarp.base.show"
local mw = support.mw

describe("results", function()
  it("are printed by their fields", function()
    local dev = mw.device "cpu"
    local m <close> = dev:module { source = "__global__ void f() {}" }
    assert.are.equal('{ blocks = 1, limit = "a core runs one block at a time", occupancy = 0.0625, threads = 64 }',
      tostring(m.f:occupancy(64)))
    assert.is_truthy(tostring(m.f:suggest()):find("threads = 1024", 1, true))
    assert.are.equal("{ const_bytes = 0, local_bytes = 0, max_threads = 1024, registers = 0, shared_bytes = 0 }",
      tostring(m.f:attributes()))
    local text = tostring(dev:properties())
    assert.is_truthy(text:find('\n  id = "cpu",\n', 1, true), text)
    assert.is_truthy(text:find("\n  max_block = { 1024, 1024, 64 },\n", 1, true), text)
    local g <close> = dev:capture(function() m.f:launch(2, 1) end)
    assert.are.equal('{ { block = { 1, 1, 1 }, grid = { 2, 1, 1 }, kernel = "f", shared = 0 } }', tostring(g:nodes()))
    assert.is_truthy(tostring(mw.devices()):find('id = "cpu"', 1, true))
  end)

  it("are plain tables besides", function()
    local dev = mw.device "cpu"
    local names = {}
    for name in pairs(dev:properties()) do names[name] = true end
    assert.is_true(names.id and names.warp_size)
    assert.are.equal("table", type(dev:properties()))
    assert.is_nil(dev:properties().nonsense)
  end)
end)

describe("a value at the prompt", function()
  it("is shown one level deep", function()
    assert.are.equal("{}", show.value {})
    assert.are.equal('{ 1, "a\\nb", { 2, 3 }, {...}, {}, x = true }',
      show.value { 1, "a\nb", { 2, 3 }, { { 1 } }, {}, x = true })
    local long = setmetatable({ ("x"):rep(100) }, { __tostring = show.fields })
    assert.are.equal('{\n  {\n    "' .. long[1] .. '"\n  }\n}', show.value { long })
    assert.are.equal("{ [1.5] = 2 }", show.value { [1.5] = 2 })
    assert.are.equal("nil", show.value(nil))
  end)
end)
