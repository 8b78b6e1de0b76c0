-- SPDX-License-Identifier: MIT
--
-- T_eff of the stencil over the measured peak, which is the fastest triad of the run, in turn. To reach: at least 0.98
-- by the best single step, at least 2.5 by temporal blocking.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local n = mw.arg("n", 16384, "points along each side", { min = 64 })
local rounds = mw.arg("rounds", 15, "samples of each contender", { min = 1 })
local rows = mw.arg("rows", 512, "rows per warp of temporal blocking", { min = 1 })

local dev = lab.device(mw, "cuda")
if not dev then return end

local LAM, DT, BY_DX, BY_DY = 1.0, 0.1, 1.1, 0.9
local COLUMNS = 2 -- of f64 in 16 bytes
local EPS = 2.0 ^ -52

local stream = dev:stream()
local before, after = dev:event(), dev:event()
local stencil, triad = dev:module "stencil.cu", dev:module("triad.cu").triad
local T, Ci = dev:array("f64", n, n):random(1), dev:array("f64", n, n):random(2)
local T2, R = dev:array("f64", n, n), dev:array("f64", n, n)

local function ceil_div(a, b)
  return (a + b - 1) // b
end

-- Seconds of a call by the device's own clock.
local function device_seconds(fn)
  before:record(stream)
  fn()
  after:record(stream)
  after:synchronize()
  return after:since(before)
end

-- ---- contenders: run writes T2 ----------------------------------------------------------------------------------

local function triad_of(bx, by)
  local go = triad:prepare { block = { bx, by }, grid = { ceil_div(n, bx), ceil_div(n, by) }, stream = stream }
  return { name = ("triad, block %d x %d"):format(bx, by), steps = 1, kind = "triad",
           run = function() go(T2, T, Ci, DT, n, n) end }
end

local function step_of(kernel, bx, by, wide, shared)
  local go = stencil[kernel]:prepare { block = { bx, by }, grid = { ceil_div(n, bx * wide), ceil_div(n, by) },
                                       shared = shared, stream = stream }
  return { name = ("%s, block %d x %d"):format(kernel, bx, by), steps = 1, kind = "single",
           run = function() go(T2, T, Ci, LAM, DT, BY_DX, BY_DY, n, n) end }
end

local function levels_of(k, warps)
  local strips = ceil_div(n, 32 * COLUMNS - 2 * (ceil_div(k, COLUMNS) * COLUMNS))
  local kernel = ("diffusion_levels<%d>"):format(k)
  local go = stencil:kernel(kernel):prepare { block = 32 * warps,
    grid = { ceil_div(strips, warps), ceil_div(n, rows) }, stream = stream }
  return { name = ("%s, block %d"):format(kernel, 32 * warps), steps = k, kind = "levels",
           run = function() go(T2, T, Ci, LAM, DT, BY_DX, BY_DY, n, n, rows) end }
end

local contenders = {
  triad_of(32, 4), triad_of(32, 8), triad_of(64, 4),
  step_of("diffusion", 32, 4, 1), step_of("diffusion", 32, 8, 1),
  step_of("diffusion_shared", 32, 8, 1, 34 * 10 * 8),
  step_of("diffusion_vector", 32, 4, COLUMNS), step_of("diffusion_vector", 32, 8, COLUMNS),
  step_of("diffusion_vector", 64, 4, COLUMNS),
  levels_of(8, 2),
}

-- ---- what is right ------------------------------------------------------------------------------------------------

local naive = stencil.diffusion:prepare { block = { 32, 8 }, grid = { ceil_div(n, 32), ceil_div(n, 8) },
                                          stream = stream }

-- R becomes T after so many naive steps. One step leaves the border alone, so NaN stays there; of several, T2 takes
-- every other one, and the border is T's.
local function reference(steps)
  local from = T
  R:fill(0 / 0)
  if steps > 1 then
    R:copy(T)
    T2:copy(T)
  end
  dev:synchronize()
  for i = steps, 1, -1 do
    local to = i % 2 == 1 and R or T2
    naive(to, from, Ci, LAM, DT, BY_DX, BY_DY, n, n)
    from = to
  end
  dev:synchronize()
end

local function check(contender)
  T2:fill(0 / 0)
  dev:synchronize()
  contender.run()
  dev:synchronize()
  mw.check(T2, R, { absolute = 8 * EPS * contender.steps, name = contender.name })
end

-- Subtracting the product again must give T, up to the rounding of T + DT.
local function check_triad(contender)
  T2:fill(0 / 0)
  dev:synchronize()
  contender.run()
  dev:synchronize()
  triad:launch({ ceil_div(n, 32), ceil_div(n, 8) }, { 32, 8 }, T2, T2, Ci, -DT, n, n)
  dev:synchronize()
  mw.check(T2, T, { absolute = 4 * EPS, name = contender.name })
end

local steps_in_R
for _, contender in ipairs(contenders) do
  if contender.kind ~= "triad" and contender.steps ~= steps_in_R then
    steps_in_R = contender.steps
    reference(steps_in_R)
  end
  if contender.kind == "triad" then check_triad(contender) else check(contender) end
end

-- ---- T_eff ----------------------------------------------------------------------------------------------------------

for _, contender in ipairs(contenders) do contender.samples = {} end
for round = 1, rounds do
  for _, contender in ipairs(contenders) do contender.samples[round] = device_seconds(contender.run) end
end

-- The fastest of each kind, by seconds per step.
local best = {}
print(("%d x %d f64, %s"):format(n, n, dev:name()))
for _, contender in ipairs(contenders) do
  contender.time = lab.median(contender.samples) / contender.steps
  print(("  %-34s T_eff %8.1f GB/s"):format(contender.name, 3 * T:nbytes() / contender.time / 1e9))
  local most = best[contender.kind]
  if not most or contender.time < most.time then best[contender.kind] = contender end
end

local function compare(kind, least)
  lab.compare { name = best[kind].name, ours = best[kind].time, other_name = best.triad.name, other = best.triad.time,
                ratio = best.triad.time / best[kind].time, least = least }
end

compare("single", 0.98)
compare("levels", 2.5)
