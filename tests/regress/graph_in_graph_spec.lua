-- SPDX-License-Identifier: MIT
--
-- A graph that launches another: the other, its arrays and its module may be closed before the replay, which had ended
-- with a fault.

local support = require "tests.support"

local PRELUDE = [[
  local mw = require "moonwarp"
  local dev = mw.device "cpu"
  local a, result = dev:zeros("f32", 1 << 20), dev:zeros("f32", 1 << 20)
  local function finish(inner, ...)
    local middle = dev:capture(function(main) inner:launch(main) end)
    local outer = dev:capture(function(main) middle:launch(main) end)
    for _, object in ipairs { inner, middle, a, ... } do object:close() end
    return outer
  end
]]

local REPLAY = [[
  collectgarbage()
  collectgarbage()
  outer:launch()
  dev:synchronize()
  print(result:get(1 << 20))
]]

describe("a graph in a graph", function()
  it("keeps the arrays that the inner one copies", function()
    assert.are.equal("0.0\n", support.child_passes(PRELUDE .. [[
      local outer = finish(dev:capture(function() result:copy(a) end))
    ]] .. REPLAY))
  end)

  it("keeps the kernels that the inner one launches", function()
    assert.are.equal("1.0\n", support.child_passes(PRELUDE .. [[
      local m = dev:module { source = "__global__ void one(const float *a, float *r)"
        .. " { int i = blockIdx.x * blockDim.x + threadIdx.x; r[i] = a[i] + 1; }" }
      local outer = finish(dev:capture(function() m.one:launch(1 << 12, 1 << 8, a, result) end), m)
      m = nil
    ]] .. REPLAY))
  end)
end)
