-- SPDX-License-Identifier: MIT
--
-- Check mode finds nothing in legal kernels, however dangerous they look: tests/check/legal.lua.
-- luacheck: std +busted

local support = require "tests.support"
local cases = require "tests.check.cases"

describe("check mode finds nothing in", function()
  local dev = cases.device()
  for _, group in ipairs(require "tests.check.legal") do
    local module
    before_each(function() module = module or cases.module(dev, group.file) end)
    for _, case in ipairs(group.cases) do
      it(("%s of %s"):format(case[1], group.file), function()
        local findings, problem = cases.run(dev, module, case)
        local texts = {}
        for i, finding in ipairs(findings) do texts[i] = cases.text(finding) end
        assert.are.same({}, texts)
        assert.is_nil(problem)
      end)
    end
  end
end)

describe("A module that is loaded where another one was", function()
  it("may copy memory while it is bound, as compilers do without optimisation", function()
    support.child_passes(([[
      local mw = require "moonwarp"
      local dev <close> = mw.device "cpu:check"
      for _ = 1, 3 do
        local module <close> = dev:module { source = %q }
      end
    ]]):format([[
      __device__ unsigned one = 1;
      __global__ void turn(unsigned *x) {
        __shared__ unsigned s[4][8];
        s[threadIdx.x / 8][threadIdx.x % 8] = one;
        __syncthreads();
        x[threadIdx.x] = s[0][threadIdx.x % 8];
      }]]), { env = { MOONWARP_CXX = support.core.home() .. "/tests/cxx-o0" }, limit = 60 })
  end)
end)
