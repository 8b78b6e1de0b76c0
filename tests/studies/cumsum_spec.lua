-- SPDX-License-Identifier: MIT
--
-- The studies cumsum and scan: what they measure and leave.

local support = require "tests.support"
local core = support.core

describe("the study cumsum", function()
  if not support.program() then return pending "needs the program" end

  it("runs, checks every rung and leaves its files", function()
    local run = support.study_passes("cumsum", "-p types=f64 -p n=24", { optimised = true })
    for _, name in ipairs { "record.json", "cumsum-ladder-f64.gp", "cumsum-sizes-side.gp" } do
      assert.is_truthy(run.files[name], name)
    end
    support.has_checks(run, { "dim 2, tiles, nx = 3, ny = 1101, nz = 5, f64",
                              "dim 3, blocks in pace, nx = 67, ny = 43, nz = 29, f64",
                              "dim 1, shared memory, nx = 24, ny = 24, nz = 24, side = 24, f64, samples",
                              "dim 1, broadcasts, nx = 24, ny = 24, nz = 24, side = 24, f64, beside 'dim 1, shared "
                              .. "memory'" })
    if run.record.device == "cpu" then assert.is_nil(run.output:find("P100", 1, true), run.output) end
  end)

  it("measures the rungs that were asked for beside two copies", function()
    local run = support.study_passes("cumsum", "-p types=f64,f32 -p n=24 -p rungs=3,13")
    local seen = {}
    for _, r in ipairs(run.record.records) do seen[("%s %s %s"):format(r.group, r.rung, r.type)] = true end
    local wanted = {}
    for _, rung in ipairs { "library copy", "copy, 16 bytes per thread", "dim 3, a register", "dim 2, tiles" } do
      for _, ty in ipairs { "f64", "f32" } do wanted[("ladder %s %s"):format(rung, ty)] = true end
    end
    for _, rung in ipairs { "copy, 16 bytes per thread", "dim 2, tiles" } do
      wanted[("sizes %s f64"):format(rung)] = true
    end
    assert.are.same(wanted, seen)
    for _, check in ipairs(run.record.checks) do assert.is_nil(check.what:find("dim 1", 1, true), check.what) end
  end)

  it("says which rungs the device does not take", function()
    if core.device():id() ~= "cpu" then return end -- 4 threads per block: too many blocks to be in pace there
    local run = support.study_passes("cumsum",
      "-p types=f64 -p n=64 -p parts=ladder -p rungs=15 -p threads=4 --device cpu")
    for _, words in ipairs { "Not measured: dim 3, blocks in pace (512 blocks at once, the device holds 256).",
                             "Not checked on an odd size: dim 3, blocks in pace (for nx = 67, ny = 43, nz = 29, f64: "
                               .. "361 blocks at once, the device holds 256)" } do
      assert.is_truthy(run.remarks:find(words, 1, true), run.remarks)
    end
    assert.are.equal(2, #run.record.records)
  end)

  it("sums rows by fewer threads than a warp has, alone in it or with other rows", function()
    for _, words in ipairs { "-p lanes=8 -p warps=3", "-p lanes=1" } do
      local run = support.study_passes("cumsum", "-p types=f64 -p n=24 -p parts=ladder -p rungs=8,9,10 " .. words)
      assert.are.equal(5, #run.record.records)
    end
  end)

  it("takes blocks that some of its kernels do not take, and cubes that are not swept far", function()
    for _, words in ipairs { "-p n=24 -p threads=4 -p parts=ladder", "-p n=8 -p threads=1024" } do
      support.study_passes("cumsum", "-p types=f64 " .. words)
    end
  end)
end)

describe("the study scan", function()
  if not support.program() then return pending "needs the program" end

  it("sums up arrays of any length, in either type", function()
    local run = support.study_passes("scan", "-p length=5000 -p scan_block=64 -p scan_loads=2")
    local lengths = {}
    for i, r in ipairs(run.record.records) do lengths[i] = ("%s %d %s"):format(r.rung, r.n, r.type) end
    assert.are.same({ "library copy 5000 f64", "three launches 5000 f64", "one pass, look-back 5000 f64",
                      "one pass, in rounds 5000 f64", "library copy 5000 f32", "three launches 5000 f32",
                      "one pass, look-back 5000 f32", "one pass, in rounds 5000 f32" }, lengths)
    support.has_checks(run, { "three launches, n = 100003, f32", "three launches, n = 5000, f64, proof",
                              "one pass, in rounds, n = 5000, f32, beside 'three launches'" })
    assert.is_truthy(run.files["scan-lengths-bytes-f64.gp"])
  end)
end)
