-- SPDX-License-Identifier: MIT
--
-- The study graphs: what it checks and leaves.

local support = require "tests.support"

describe("the study graphs", function()
  if not support.program() then return pending "needs the program" end

  it("runs each rung, and fills the queue", function()
    local run = support.study_passes("graphs", "--device cpu -p steps=8 -p longest=512 -p queued=130 -p rounds=10")
    local rungs, last = {}, nil
    for _, r in ipairs(run.record.records) do
      if r.group == "short" then rungs[#rungs + 1] = r.rung end
      if r.rung == "a graph" then assert.is_true(r.built > 0) end
      if r.group ~= "queue" then assert.is_near(r.steps, r.launches * r.t.median, 1e-6) end
      if r.group == "queue" then
        assert.is_true(r.host > (last and last.host or 0) and r.kernel > 0)
        last = r
      end
    end
    assert.are.same({ "each waited for", "queued", "a graph", "one launch, a grid", "one launch, a block" }, rungs)
    assert.are.equal(130, last.queue)
  end)

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

  it("rejects an odd number of steps", function()
    local run = support.study("graphs", "--device cpu -p steps=7")
    assert.are.equal(2, run.status)
    assert.is_truthy(run.output:find("parameter 'steps' must be even: the last step then writes x, got '7'", 1, true),
      run.output)
  end)
end)
