-- SPDX-License-Identifier: MIT
--
-- The alarm not_written, where it was silent or raised for the wrong thing.

local session = require "moonwarp.session"
local support = require "tests.support"
local mw = support.mw

local SOURCE = [[
__global__ void twice(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
__global__ void add(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}]]

local N <const> = 1000

local CASES <const> = {
  -- The setup wrote over the pattern that the alarm had laid, so every element counted as written.
  { "is raised where a setup writes the output and the call nothing", kernel = "twice", count = 0, clears = true,
    unwritten = N },
  { "counts what a call leaves out where a setup writes all", kernel = "twice", count = N - 3, clears = true,
    unwritten = 3 },
  { "is silent where a setup writes the output and the call, too", kernel = "twice", count = N, clears = true },
  -- To the pattern's enormous values nothing can be added, so a sum counted as not written.
  { "is silent for a sum that the pattern swallows", kernel = "add", count = N },
  { "is silent for such a sum behind a setup", kernel = "add", count = N, clears = true },
}

describe("the alarm not_written", function()
  support.each_device(function(dev)
    for _, case in ipairs(CASES) do
      it(case[1], function()
        local m <close> = dev:module { source = SOURCE }
        local x <close> = dev:array("f32", N):linspace(1, 2)
        local y <close> = dev:zeros("f32", N)
        local go <close> = m[case.kernel]:prepare { grid = 4, block = 256 }
        local function clear() y:fill(0) end
        local before, t = session.current.failed_checks, nil
        support.with_clock(function(pass)
          t = mw.bench(function()
            pass(1e-5)
            go(y, x, case.count)
          end, { device = dev, output = y, setup = case.clears and clear or nil, samples = 3, quiet = true })
        end)
        session.current.failed_checks = before
        local alarm = t.alarms[1]
        assert.are.equal(case.unwritten and "not_written", alarm and alarm.name)
        assert.are.equal(case.unwritten and tostring(case.unwritten), alarm and alarm.cause:match "^%d+")
      end)
    end
  end)
end)
