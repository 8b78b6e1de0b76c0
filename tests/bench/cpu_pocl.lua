-- SPDX-License-Identifier: MIT
--
-- Shared-memory stencil, block reduction, shuffle cumsum and tiled N-body on the CPU device over
-- PoCL running the OpenCL twins (twins.cl), in one process, in turn. To reach: at least 1.5 times
-- as fast, each.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local n = mw.arg("n", 4096, "side of the stencil's field; the other sizes follow")
local bodies = mw.arg("bodies", 16384, "bodies")
local rounds = mw.arg("rounds", 9, "samples of each contender")

local opencl, reason = lab.library "opencl"
if not opencl then
  print("  left out: " .. reason)
  return
end

local dev = mw.device "cpu"
local source = lab.read "twins.cl"

local function compare(name, ours, twin, got, expected, options)
  local t = lab.alternate({ ours, twin }, rounds)
  opencl.close_kernel()
  options.name = name
  mw.check(got, expected, options)
  lab.compare { name = name, ours = t[1], other_name = "PoCL", other = t[2], ratio = t[2] / t[1], least = 1.5 }
end

-- The twin of a kernel and its arguments: arrays, "int", "double" and "shared" (bytes) values by { kind, value }.
local function open_twin(name, ...)
  opencl.open_kernel(source, name)
  for i, value in ipairs { ... } do
    if core.type(value) == "array" then opencl.set_array(i, value:address(), value:nbytes())
    else opencl["set_" .. value[1]](i, value[2]) end
  end
end

local function stencil()
  local T, Ci = dev:array("f64", n, n):random(1), dev:array("f64", n, n):random(2)
  local T2, R = T:clone(), T:clone()
  local gx, gy, shared = (n + 31) // 32, (n + 7) // 8, 34 * 10 * 8
  local go = dev:module("stencil.cu").diffusion_shared:prepare { block = { 32, 8 }, grid = { gx, gy },
                                                                shared = shared }
  open_twin("diffusion_shared", R, T, Ci, { "double", 1.0 }, { "double", 0.1 }, { "double", 1.0 }, { "double", 1.0 },
    { "int", n }, { "int", n }, { "shared", shared })
  compare("stencil, shared memory", function() go(T2, T, Ci, 1.0, 0.1, 1.0, 1.0, n, n) end,
    function() opencl.run(gx, gy, 32, 8) end, T2, R, { relative = 1e-13, absolute = 1e-13 })
end

local function reduction()
  local count = n * n * 2
  local x = dev:array("f32", count):random(3)
  local groups = count // 256
  local sums, R = dev:array("f32", groups), dev:array("f32", groups)
  local go = dev:module("reduce.cu").reduce_tree:prepare { block = 256, grid = groups }
  open_twin("reduce_tree", R, x, { "int", count })
  compare("block reduction", function() go(sums, x, count) end, function() opencl.run(groups, 1, 256, 1) end,
    sums, R, { sum = 256 })
end

local function cumsum()
  local nx, rows = n, n * 2
  local A = dev:array("f64", nx, rows):random(4)
  local B, R = dev:array("f64", nx, rows), dev:array("f64", nx, rows)
  local groups = (rows + 7) // 8
  local go = dev:module("cumsum.cu")["cumsum_shuffle<double>"]:prepare { block = { 32, 8 }, grid = groups }
  open_twin("cumsum_shuffle", R, A, { "int", nx }, { "int", rows }, { "shared", 32 * 8 * 8 })
  compare("cumsum, shuffles", function() go(B, A, nx, rows) end, function() opencl.run(1, groups, 32, 8) end,
    B, R, { sum = nx })
end

local function nbody()
  local x, y, z = dev:array("f32", bodies):random(5), dev:array("f32", bodies):random(6),
    dev:array("f32", bodies):random(7)
  local m = dev:full(1 / bodies, "f32", bodies)
  local phi, R = dev:array("f32", bodies), dev:array("f32", bodies)
  local groups = (bodies + 255) // 256
  local go = dev:module("nbody.cu").potential_tiled:prepare { block = 256, grid = groups }
  open_twin("potential_tiled", R, x, y, z, m, { "int", bodies })
  compare("N-body, tiled", function() go(phi, x, y, z, m, bodies) end, function() opencl.run(groups, 1, 256, 1) end,
    phi, R, { sum = bodies })
end

print(("f64 %d x %d, %d bodies, %s"):format(n, n, bodies, dev:name()))
stencil()
reduction()
cumsum()
nbody()
