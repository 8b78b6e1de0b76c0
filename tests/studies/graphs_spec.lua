-- SPDX-License-Identifier: MIT
--
-- The study graphs: its kernel that launches others, which needs nvcc. What it measures: runs_spec.lua.

local support = require "tests.support"

describe("the study graphs", function()
  it("has launches by a kernel where nvcc compiles them", function()
    if os.execute "nvcc --version >/dev/null 2>&1" ~= true then return pending "needs nvcc" end
    support.with_folder(function(folder)
      local file = folder .. "/nested.cubin"
      assert(os.execute(("nvcc -rdc=true -dlink -cubin -arch=sm_90 -o %s %s/kernels/graphs.cu -lcudadevrt"):format(file,
        support.core.home())))
      local m <close> = support.mw.device "cuda:sm_90":module { cubin = file }
      assert.is_true(m:kernel "turn_nested":attributes().registers > 0)
    end)
  end)
end)
