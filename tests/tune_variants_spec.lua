-- SPDX-License-Identifier: MIT
--
-- mw.tune on devices: wrong variants are never the best, and what cannot be compiled or launched is a row.

local mw = require "moonwarp"
local support = require "tests.support"

local WRONG <const> = { "off_by_one", "neighbour", "nothing", "half_of_it", "one_element", "rounded", "adds",
                        "soon_idle", "racing", "outside" }

-- Tunes y = 2 x over kernels.
local function tune(dev, options)
  local result
  support.with_folder(function(folder)
    support.into(folder, function()
      local n = 3000
      local x <close> = dev:array("f32", n):random(1)
      local y <close> = dev:array("f32", n)
      local m <close> = dev:module(support.kernel_file "tune.cu")
      local given = { device = dev, quiet = true, min_time = 1e-4, output = y, launch = function(v)
        local go = m:kernel(v.kind):prepare { grid = mw.ceil_div(n, 256), block = 256 }
        return function() go(y, x, n) end
      end, check = function(_, look) look(y, function(i) return 2 * x:get(i) end) end }
      for name, value in pairs(options) do given[name] = value end
      result = mw.tune(given)
    end)
  end)
  return result
end

support.each_device("tuning", function(dev, _, runs)
  runs("never takes a variant that is wrong", function()
    local kinds = table.move(WRONG, 1, #WRONG, 1, {})
    if dev:kind() == "gpu" then kinds[#kinds] = nil end -- a fault there is the end of the process
    kinds[#kinds + 1] = "right"
    local result = tune(dev, { space = { kind = kinds } })
    assert.are.equal("right", result.best.v.kind)
    for _, row in ipairs(result.rows) do
      assert.are.equal(row.v.kind ~= "right", row.reason ~= nil, row.v.kind)
    end
  end)

  runs("goes on where a variant is not compiled or not launched", function()
    local result = tune(dev, { space = { { "block", { 1 << 20, 64 } }, { "macro", { "(", "1" } } },
      compile = function(v)
        return { source = "__global__ void f(float *y) { y[threadIdx.x] = " .. v.macro .. "; }" }
      end,
      launch = function(v, m)
        local y = dev:array("f32", 64)
        local go = m.f:prepare { grid = 1, block = v.block }
        return function() go(y) end
      end, check = function() return true end })
    assert.are.same({ block = 64, macro = "1" }, result.best.v)
    assert.is_truthy(result.rows[2].reason:find "block.x is 1048576")
    assert.are.equal(4, result.tried)
  end)
end)

describe("tuning in check mode", function()
  it("times nothing, and leaves out what is found", function()
    local done, dev = pcall(mw.device, "cpu", { check = true })
    if not done then return pending "needs the CPU device" end
    local _ <close> = dev
    local result = tune(dev, { space = { kind = { "right", "racing", "outside", "one_element" } }, search = "random" })
    local reasons = {}
    for _, row in ipairs(result.rows) do reasons[row.v.kind] = row.reason end
    assert.is_nil(result.best)
    assert.is_nil(reasons.right)
    assert.are.equal("check mode: race in shared memory", reasons.racing)
    assert.are.equal("check mode: bounds", reasons.outside)
    assert.is_truthy(reasons.one_element:find("wrong: 1 of 3000 elements differ", 1, true))
  end)
end)
