-- SPDX-License-Identifier: MIT
--
-- The sum of 2^28 elements by kernels/reduce.cu, one launch of 16-byte streaming loads, over CUB's
-- DeviceReduce on the same array, in turn, by the device's own clock. To reach: at least 1.00 of CUB's
-- throughput, f32 and f64.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local n = mw.arg("n", 1 << 28, "elements", { min = 1, max = (1 << 31) - 1 })
local rounds = mw.arg("rounds", 31, "samples of each contender", { min = 1 })
local per = mw.arg("per", 2, "blocks of 1024 threads per multiprocessor", { min = 1, max = 64 })

local dev = lab.device(mw, "cuda")
if not dev then return end
local cub, reason = lab.library "cub"
if not cub then
  print("  left out: " .. reason)
  return
end

local TYPES = { { dtype = "f32", name = "float", cub = cub.sum_f32, relative = 1e-5 },
                { dtype = "f64", name = "double", cub = cub.sum_f64, relative = 1e-13 } }

local grid = per * dev:properties().multiprocessors
local code = dev:module "reduce.cu"

-- Both agree, and are near the mean of uniform numbers; ours has the same bits in every run.
local function check(type, ours, theirs, out, expected)
  out:fill(0 / 0)
  ours()
  theirs()
  mw.check(out, expected, { relative = type.relative, name = "sum of " .. type.dtype })
  mw.check(out, { n / 2 }, { absolute = 6 * math.sqrt(n / 12), name = "sum of " .. type.dtype })
  expected:copy(out)
  ours()
  mw.check(out, expected, { exact = true, name = type.dtype .. " once more" })
end

local function compare(type)
  local x <close> = dev:array(type.dtype, n):random(1)
  local out <close> = dev:array(type.dtype, 1)
  local expected <close> = dev:array(type.dtype, 1)
  local parts <close> = dev:array(type.dtype, grid)
  local ticket <close> = dev:zeros("u32", 1)
  local go = code[("reduce_once<%s,SUM,4,1024>"):format(type.name)]:prepare { grid = grid, block = 1024 }
  local function ours() go(out, parts, ticket, x, mw.null, n) end
  local function theirs() type.cub(expected:address(), x:address(), n) end
  check(type, ours, theirs, out, expected)
  local medians = lab.alternate_on(dev, { ours, theirs }, rounds)
  local t, other = medians[1], medians[2]
  print(("  %s: %.0f GB/s, CUB %.0f GB/s"):format(type.dtype, x:nbytes() / t / 1e9,
    x:nbytes() / other / 1e9))
  lab.compare { name = ("sum of %d %s"):format(n, type.dtype), ours = t, other_name = "CUB", other = other,
                ratio = other / t, least = 1.00 }
end

print(("%d elements, %d blocks of 1024 threads, %s"):format(n, grid, dev:name()))
for _, type in ipairs(TYPES) do compare(type) end
