-- SPDX-License-Identifier: MIT
--
-- What the studies' own checks once passed: kernels that are wrong, of which a run ends with status 3. The changes of
-- one study are made in one run, each where another check finds it.

local support = require "tests.support"

local function words(text) return (text:gsub("%S+", "-p %0")) end

local CASES = {
  -- The triad was taken back by itself, which a mere copy passes as well.
  memcopy = { parameters = "n=256", changes = { ["triad.cu"] = { { " + s * C[i]", "" } } },
              found = { "triad, 67 x 33: 2211 of 2211 elements are wrong" } },

  cumsum = { parameters = "n=8 length=4096 types=f64", changes = {
      -- A rung that takes all of a side in one pass carries nothing to a next one, and small cubes have no other sides.
      ["cumsum.cu"] = { { "turn ^= 1;", "turn ^= 1; carry = 0;" },
        { "carry += __shfl_sync(0xffffffff, sum[v], 31);", "carry = __shfl_sync(0xffffffff, sum[v], 31);" } },
      ["scan.cu"] = { { "carry = last;", "carry = 0;" } },
      -- The level of the charts was a rate that nobody had checked.
      ["triad.cu"] = { { "B[i] = A[i] + s * C[i]", "B[i] = A[i]" } }, ["vector16.cuh"] = {} },
    found = { "dim 1, 16-byte loads", "dim 2, tiles", "three launches", "triad, 512 elements" } },

  nbody = { parameters = "smallest=64 largest=128 n=64 lane=1 rungs=1 orbits=3 per_orbit=20 sphere=70 time_units=1",
    changes = { ["nbody.cu"] = {
      { "phi[i] = -sum;\n  }\n}", "phi[i] = -sum / 2;\n  }\n}" },
      -- All measured sizes make an even number of groups.
      { "(groups % 2 == 0 && group < groups / 2 ? 1 : 0)", "(group < groups / 2 ? 1 : 0)" },
      { "near * inverse * inverse;", "near * (n == 37 ? (Real)1 : inverse) * inverse;" },
      -- Not every coordinate was looked at after a step.
      { "if (i < n) to[i] +=", "if (i < n - (n == 111)) to[i] += (n == 6 ? (Real)1.0001 : (Real)1) *" } } },
    found = { "potential, 2 bodies", "each pair once, fast math, 81 bodies", "accelerations, 37 bodies",
              "two bodies, leapfrog", "positions after half a unit, 37 bodies: 1 of 111 elements" } },

  reduction = { parameters = "types=f32 per=4 per_once=2 n=100003 ops=sum,min rungs=3,11,12",
    changes = { ["reduce.cu"] = {
      -- All blocks of the measurements are powers of 2.
      { "it + (count + 1) / 2", "it + count / 2" },
      -- It is the lock of the next method, which waited for it for ever.
      { "*ticket = 0;", "" } }, ["vector16.cuh"] = {} },
    found = { "reduce_dynamic, 97 threads, sum of 100003 f32: 1 of 1 elements are wrong",
              "last block: its lock or ticket: 1 of 1 elements are wrong" } },
}

describe("the checks of the study", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  for _, name in ipairs { "memcopy", "cumsum", "reduction", "nbody" } do
    local case <const> = CASES[name]
    it(name .. " find kernels that are wrong", function()
      local kernels = {}
      for file, changes in pairs(case.changes) do
        kernels[file] = support.changed_kernels(file, table.unpack(changes))
      end
      local run = support.study(name, "--device cpu --quiet " .. words(case.parameters), { kernels = kernels })
      assert.are.equal(3, run.status, run.output)
      for _, what in ipairs(case.found) do
        assert.is_truthy(run.output:find("check " .. what, 1, true), run.output)
      end
    end)
  end
end)
