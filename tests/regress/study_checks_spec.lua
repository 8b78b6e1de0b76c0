-- SPDX-License-Identifier: MIT
--
-- What the studies' own checks once passed: kernels that are wrong, of which a run ends with status 3. The changes of
-- one study are made in one run, each where another check finds it.

local support = require "tests.support"

local function words(text) return (text:gsub("%S+", "-p %0")) end

local CASES = {
  -- The triad was taken back by itself, which a mere copy passes as well.
  memcopy = { parameters = "n=256", changes = { ["triad.cu"] = { { " + s * C[i]", "" } } },
              found = { "triad, block 1 x 1, nx = 67, ny = 33, f64: 2211 of 2211 elements are wrong" } },

  cumsum = { parameters = "n=8 types=f64", changes = {
      -- A rung that takes all of a side in one pass carries nothing to a next one, and small cubes have no other sides.
      ["cumsum.cu"] = { { "turn ^= 1;", "turn ^= 1; carry = 0;" },
        { "carry += __shfl_sync(0xffffffff, sum[v], 31);", "carry = __shfl_sync(0xffffffff, sum[v], 31);" } },
      ["vector16.cuh"] = {} },
    found = { "dim 1, 16-byte loads, nx = 1101, ny = 3, nz = 5, f64",
              "dim 2, tiles, nx = 3, ny = 1101, nz = 5, f64" } },

  -- More totals than one block takes at once.
  scan = { parameters = "length=4096 types=f64", changes = { ["scan.cu"] = { { "carry = last;", "carry = 0;" } },
      ["vector16.cuh"] = {} },
    found = { "three launches, n = 100003, f64" } },

  -- The stages alone, by which pipelines are judged, were not checked.
  streams = { parameters = "n=997 chunks=2 rounds=3 parts=pipeline",
    changes = { ["streams.cu"] = { { "if (i >= n) return;", "if (i + 1 >= n) return;" } } },
    found = { "kernel, n = 5021, pieces = 3, rounds = 3, f32: 1 of 5021 elements are wrong",
              "2 streams, n = 5021, pieces = 3, rounds = 3, f32: 3 of 5021 elements are wrong" } },

  -- All measured sizes make an even number of groups.
  nbody = { parameters = "smallest=64 largest=128 n=64 lane=1 parts=ladder rungs=7", changes = { ["nbody.cu"] = {
      { "(groups % 2 == 0 && group < groups / 2 ? 1 : 0)", "(group < groups / 2 ? 1 : 0)" } } },
    found = { "each pair once, fast math, bodies = 81, f32" } },

  orbits = { parameters = "orbits=3 per_orbit=20 sphere=70 time_units=1", changes = { ["nbody.cu"] = {
      { "phi[i] = -sum;\n  }\n}", "phi[i] = n == 37 ? -sum / 2 : -sum;\n  }\n}" },
      { "near * inverse * inverse;", "near * (n == 37 ? (Real)1 : inverse) * inverse;" },
      -- Not every coordinate was looked at after a step.
      { "if (i < n) to[i] +=", "if (i < n - (n == 111)) to[i] +=" } } },
    found = { "leapfrog, bodies = 37, f64: accelerations", "Euler, bodies = 37, f64: potential",
              "leapfrog, bodies = 37, f64: 1 of 111 elements" } },

  reduction = { parameters = "types=f32 per=4 per_once=2 n=100003 ops=sum,min rungs=3,12,13",
    changes = { ["reduce.cu"] = {
      -- All blocks of the measurements are powers of 2.
      { "it + (count + 1) / 2", "it + count / 2" },
      -- It is the lock of the next method, which waited for it for ever.
      { "*ticket = 0;", "" } }, ["vector16.cuh"] = {} },
    found = { "reduce_dynamic, blocks = 37, n = 100003, sum, threads = 31, f32: 1 of 1 elements are wrong",
              "last block, n = 1, sum, f32: its lock or ticket: 1 of 1 elements are wrong" } },
}

describe("the checks of the study", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  for _, name in ipairs { "memcopy", "cumsum", "scan", "reduction", "nbody", "orbits", "streams" } do
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
