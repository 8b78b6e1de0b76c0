-- SPDX-License-Identifier: MIT
--
-- The study gemm: the registers of its kernels on a GPU. What it measures: runs_spec.lua.

local support = require "tests.support"

describe("the study gemm", function()
  it("keeps the sums of tensor cores in registers", function()
    if not support.has_nvrtc() then return end
    local names = { "gemm_mma<f64_mma,128,128,64,32,4,8>" }
    for i, kind in ipairs { "tf32", "f16", "bf16", "i8" } do
      names[i + 1] = ("gemm_mma<%s_mma,256,128,64,64,4,4>"):format(kind)
    end
    local m <close> = support.mw.device "cuda:sm_90":module { file = "gemm.cu", templates = names }
    for _, name in ipairs(names) do
      assert.is_true(m:kernel(name):attributes().local_bytes <= 16, name) -- a number or two of 200
    end
  end)
end)
