-- SPDX-License-Identifier: MIT
--
-- The study gemm: its rungs in each precision, what it leaves out on the CPU device.

local support = require "tests.support"

local QUICK <const> = "--device cpu -p n=32 -p sizes=16 -p items=3 -p precisions=f32,tf32,bf16,i8 "

describe("the study gemm", function()
  if not support.program() then return pending "needs the program" end

  it("multiplies in every precision, and says what only a GPU has", function()
    local run = support.study_passes("gemm", QUICK)
    local rungs, errors, ways = {}, {}, {}
    for _, r in ipairs(run.record.records) do
      if r.group == "ladder" and r.type == "f32" then rungs[#rungs + 1] = r.rung end
      if r.group == "cores" then errors[r.precision .. ", " .. r.rung] = r.error end
      if r.group == "batch" then ways[#ways + 1] = r.how end
    end
    assert.are.same({ "an element per thread", "a tile in shared memory", "8 x 8 per thread", "16 bytes per access",
                      "two tiles in turn", "library" }, rungs)
    assert.are.same({ "one call", "a call each", "a call each, 8 streams", "the calls in a graph" }, ways)
    assert.are.equal(0, errors["i8, tensor cores, wmma"])
    assert.is_true(errors["tf32, tensor cores, wmma"] > 100 * errors["f32, two tiles in turn"])
    support.has_checks(run, { "two tiles in turn, k = 45, m = 67, n = 33, f32, f32",
                              "tensor cores, wmma, k = 32, m = 130, n = 131, bf16, bf16",
                              "batch, the calls in a graph" })
  end)

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
