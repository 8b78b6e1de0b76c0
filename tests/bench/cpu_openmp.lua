-- SPDX-License-Identifier: MIT
--
-- memcopy, triad and the naive stencil on the CPU device over hand-written C with OpenMP, in one
-- process, in turn. To reach: at most 1.10 of C's time.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local n = mw.arg("n", 4096, "points along each side")
local rounds = mw.arg("rounds", 15, "samples of each contender")
local bx = mw.arg("bx", 32, "threads of a block along x")
local by = mw.arg("by", 8, "threads of a block along y")

-- OpenMP's waiting threads would take the processors from ours; they are to sleep.
lab.setenv("OMP_WAIT_POLICY", "passive")
local openmp = assert(lab.library "openmp")

local dev = mw.device "cpu"
local A, B, C = dev:array("f64", n, n):random(1), dev:array("f64", n, n), dev:array("f64", n, n):random(2)
local R = dev:array("f64", n, n)
local a, b, c, r = A:address(), B:address(), C:address(), R:address()
local shape = { block = { bx, by }, grid = { (n + bx - 1) // bx, (n + by - 1) // by } }

local function compare(name, ours, other, tolerance)
  local t = lab.alternate({ ours, other }, rounds)
  mw.check(B, R, { name = name, relative = tolerance, absolute = tolerance })
  lab.compare { name = name, ours = t[1], other_name = "C+OpenMP", other = t[2], ratio = t[1] / t[2], most = 1.10 }
end

print(("%d x %d f64, blocks of %d x %d, %s"):format(n, n, bx, by, dev:name()))

local go = dev:module("memcopy.cu").memcopy:prepare(shape)
compare("memcopy", function() go(B, A, n, n) end, function() openmp.memcopy(r, a, n * n) end, 0)

local triad = dev:module("triad.cu").triad:prepare(shape)
compare("triad", function() triad(B, A, C, 1.5, n, n) end, function() openmp.triad(r, a, c, 1.5, n * n) end, 1e-15)

local step = dev:module("stencil.cu").diffusion:prepare(shape)
B:copy(A)
R:copy(A)
compare("stencil, naive", function() step(B, A, C, 1.0, 0.1, 1.0, 1.0, n, n) end,
  function() openmp.diffusion(r, a, c, 1.0, 0.1, 1.0, 1.0, n, n) end, 1e-14)
assert(b == B:address())
