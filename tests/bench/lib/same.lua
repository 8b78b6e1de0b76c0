-- SPDX-License-Identifier: MIT
--
-- The run that tests/bench/compare.lua makes again and again: a copy, a triad and a reduction.

local mw = require "moonwarp"
local dev = mw.device()
local seconds = mw.arg("seconds", 0.1, "measured time a measurement")

local function ceil_div(a, b) return (a + b - 1) // b end

local function measure(what, n, fn)
  mw.record { what = what, n = n, t = mw.bench(fn, { min_time = seconds, max_time = 4 * seconds }) }
end

for _, n in ipairs { 512, 1024, 2048 } do
  local a <close> = dev:array("f64", n, n):random(1)
  local b <close> = dev:full(0 / 0, "f64", n, n)
  local c <close> = dev:array("f64", n, n):random(2)
  local grid = { ceil_div(n, 32), ceil_div(n, 8) }
  local triad = dev:module("triad.cu").triad:prepare { grid = grid, block = { 32, 8 } }
  local copy = dev:module("memcopy.cu").memcopy:prepare { grid = grid, block = { 32, 8 } }
  measure("copy", n, function() copy(b, a, n, n) end)
  measure("triad", n, function() triad(b, a, c, 2, n, n) end)
  measure("library copy", n, function() b:copy(a) end)
  mw.check(b, a, { exact = true })
end
