-- SPDX-License-Identifier: MIT
--
-- mw.tune on devices: wrong variants are never the best, and what cannot be compiled or launched is a row.

local mw = require "moonwarp"
local labs = require "tests.support.labs"
local session = require "moonwarp.session"
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

-- The outputs hold NaN at one look and a number at the next, integers two different ones.
support.each_device("a variant that writes nothing", function(dev, _, runs)
  runs("is wrong whatever is expected", function()
    for dtype, expected in pairs { f32 = 0 / 0, f64 = -7125.0, i32 = (1 << 31) - 1, u8 = 42 } do
      support.with_folder(function(folder)
        support.into(folder, function()
          local y <close> = dev:array(dtype, 100)
          local result = mw.tune { device = dev, quiet = true, min_time = 1e-4, output = y, check = expected,
            space = { fills = { false, true } }, launch = function(v)
              return function() if v.fills then y:fill(expected) end end
            end }
          assert.are.same({ fills = true }, result.best.v)
          assert.are.equal(0, #result.ties)
        end)
      end)
    end
  end)
end)

describe("tuning in check mode", function()
  it("times nothing, and leaves out what is found", function()
    local done, dev = pcall(mw.device, "cpu", { check = true })
    if not done then return pending "needs the CPU device" end
    local _ <close> = dev
    local before = session.current.settle_findings
    session.current.settle_findings = session.current.expect_findings -- the mistakes are wanted: they fail no run
    local tuned, result = pcall(tune, dev, { search = "random",
      space = { kind = { "right", "racing", "outside", "one_element" } } })
    session.current.settle_findings = before
    assert(tuned, result)
    local reasons = {}
    for _, row in ipairs(result.rows) do reasons[row.v.kind] = row.reason end
    assert.is_nil(result.best)
    assert.is_nil(reasons.right)
    assert.are.equal("check mode: race in shared memory", reasons.racing)
    assert.are.equal("check mode: bounds", reasons.outside)
    assert.is_truthy(reasons.one_element:find("wrong: 1 of 3000 elements differ", 1, true))
  end)

  -- They were noted as intended, and the run ended with status 0.
  it("prints what is found, and fails the run", function()
    if not support.program() then return pending "needs the program" end
    support.with_folder(function(folder)
      support.write(folder .. "/race.lua", [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local m = dev:module { source = "__global__ void f(int *y, int races) {"
  .. "__shared__ int s[64]; s[threadIdx.x] = 1; if (!races) __syncthreads(); y[threadIdx.x] = s[63 - threadIdx.x]; }" }
local y = dev:array("i32", 64)
mw.tune { space = { races = { 0, 1 } }, output = y, check = 1, launch = function(v)
  local go = m.f:prepare { grid = 1, block = 64 }
  return function() go(y, v.races) end
end }]])
      local status, output = labs.shell(("cd %s && %s tune race.lua --check 2>&1"):format(labs.quoted(folder),
        labs.quoted(labs.program)))
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find("race in shared memory: kernel 'f'", 1, true), output)
      assert.is_truthy(output:find "Left out: check mode: race in shared memory%s+%(races = 1%)", output)
    end)
  end)
end)
