-- SPDX-License-Identifier: MIT
--
-- The study first-kernels: each step and what comes of it.

local support = require "tests.support"

describe("the study first-kernels", function()
  if not support.program() then return pending "needs the program" end

  it("runs first kernels, reports what fails, and counts lines and updates", function()
    local run = support.study_passes("first-kernels", "--device cpu -p n=301 -p lines=77,2000 -p threads=600",
      { untimed = true })
    local by_step = {}
    for _, r in ipairs(run.record.records) do by_step[r.step] = r end
    for step, result in pairs { ["a first kernel"] = "runs", ["two vectors, copied"] = "runs",
        ["two vectors, managed"] = "runs", ["2000 threads in a block"] = "error: invalid",
        ["no block"] = "error: invalid", ["an array of doubles"] = "error: invalid",
        ["an argument too few"] = "error: invalid", ["more memory than there is"] = "error: no_memory",
        ["a kernel that is not there"] = "error: not_found", ["an index beyond the array"] = "error: fault",
        ["an assertion"] = "error: fault", ["printf of 77 lines"] = "all arrive",
        ["printf of 2000 lines"] = "all arrive", ["atomicAdd(&count, 1)"] = "all count" } do
      assert.are.equal(result, by_step[step] and by_step[step].result, step)
    end
    assert.are.equal(15, #run.record.records)
    assert.are.same({ 512, 2000 }, { by_step["count++"].wanted, by_step["printf of 2000 lines"].got })
    assert.are.equal(4, #run.record.checks)
    for said, step in pairs { ["block.x is 2000, cpu allows 1024 at most"] = "2000 threads in a block",
        ["did you mean 'my_first_kernel'?"] = "a kernel that is not there",
        ["assert(x[threadIdx.x] > 0) at first-kernels.cu:"] = "an assertion" } do
      assert.is_truthy(by_step[step].said:find(said, 1, true), by_step[step].said)
    end
  end)

  it("finds a kernel that leaves out the last element, and an assertion that does not fail", function()
    local kernels = { ["first-kernels.cu"] = support.changed_kernels("first-kernels.cu",
      { "if (i < n) z[i] = x[i] + y[i];", "if (i < n - 1) z[i] = x[i] + y[i];" }) }
    assert.are.equal(3, support.study("first-kernels", "--device cpu", { untimed = true, kernels = kernels }).status)
    kernels["first-kernels.cu"] = support.changed_kernels("first-kernels.cu",
      { "assert(x[threadIdx.x] > 0);", "assert(x[threadIdx.x] == 0);" })
    local run = support.study("first-kernels", "--device cpu", { untimed = true, kernels = kernels })
    assert.are.equal(1, run.status, run.output)
    assert.is_truthy(run.output:find("an assertion: status none: no error", 1, true), run.output)
  end)
end)
