-- SPDX-License-Identifier: MIT
--
-- What mw.bench costs: the share of its time that was not spent in the samples it reports, with
-- default settings, for kernels from 5 us to 10 ms. To reach: at most 0.20. The kernel spins for a
-- number of steps that is found by measuring, so that it takes as long on every device.

local mw = require "moonwarp"
local core = require "moonwarp.core"

local on = mw.arg("on", "all", "the device measured, such as cuda:0")

local LENGTHS = { 5e-6, 10e-6, 50e-6, 100e-6, 1e-3, 10e-3 }
local MOST = 0.20

-- A chain of multiplications that no compiler shortens.
local SOURCE = [=[
__global__ void spin(float *x, int steps) {
  float y = x[0];
  for (int i = 0; i < steps; i++) y = y * 0.999f + 0.001f;
  x[0] = y;
}]=]

local function seconds(go, x, steps)
  return mw.bench(function() go(x, steps) end, { samples = 15, min_time = 0.05 }).median
end

-- The chain's pace from two lengths, so that what a launch costs drops out.
local function steps_for(go, x, wanted)
  local short, long = seconds(go, x, 2000), seconds(go, x, 22000)
  local pace = (long - short) / 20000
  return math.max(1, math.floor(2000 + (wanted - short) / pace))
end

local function measure(dev)
  local m <close> = dev:module { source = SOURCE }
  local x <close> = dev:zeros("f32", 1)
  local go <close> = m:kernel("spin"):prepare { grid = 1, block = 1 }
  for _, length in ipairs(LENGTHS) do
    local steps = steps_for(go, x, length)
    local start = core.clock()
    local t = mw.bench(function() go(x, steps) end)
    local whole = core.clock() - start
    print(("  %-7s %8.1f us  n %5d  batch %5d  %6.2f s  launch %5.2f us  cost %.3f  to reach: at most %.2f  %s")
      :format(dev:id(), t.median * 1e6, t.n, t.batch, whole, t.launch.median * 1e6, t.cost, MOST,
        t.cost <= MOST and "reached" or "missed"))
  end
end

for _, entry in ipairs(mw.devices()) do
  if entry.usable and (on == "all" or on == entry.id) then measure(mw.device(entry.id)) end
end
