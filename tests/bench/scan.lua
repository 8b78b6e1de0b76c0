-- SPDX-License-Identifier: MIT
--
-- The inclusive scan of one long array, f32 and f64, over CUB's DeviceScan, in turn. To reach: at
-- least 1.10 of CUB's throughput by scan_rounds. CUB is built by nvcc (cub.cu).

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local n = mw.arg("n", 1 << 28, "elements", { min = 1, max = (1 << 31) - 1 })
local rounds = mw.arg("rounds", 25, "samples of each contender")
local block = mw.arg("block", 512, "threads per block")
local loads = mw.arg("loads", 8, "16-byte loads in flight a thread")

local dev = lab.device(mw, "cuda")
if not dev then return end
local cub, reason = lab.library "cub"
if not cub then
  print("  left out: " .. reason)
  return
end

local m = dev:module "scan.cu"
local CPP = { f32 = "float", f64 = "double" }
local EPS = { f32 = 2.0 ^ -23, f64 = 2.0 ^ -52 }
local VECTOR = { f32 = 4, f64 = 2 } -- elements of a 16-byte load

local function ceil_div(a, b)
  return (a + b - 1) // b
end

local function scans(ty, x, y)
  local tiles = ceil_div(n, block * loads * VECTOR[ty])
  local words = ty == "f32" and tiles or 2 * tiles
  local status, ticket = dev:array("u64", words), dev:array("u32", 1)
  local clear = m.scan_clear:prepare { block = 256, grid = ceil_div(words, 256) }
  local once = m[("scan_once<%s,%d,%d>"):format(CPP[ty], block, loads)]:prepare { block = block,
                                                                                grid = tiles }
  local kernel = m[("scan_rounds<%s,%d,%d>"):format(CPP[ty], block, loads)]
  local resident = dev:properties().multiprocessors * kernel:occupancy(block).blocks
  local in_rounds = kernel:prepare { block = block, grid = math.min(tiles, resident),
                                     cooperative = true }
  return function()
    clear(status, words, ticket)
    once(y, x, n, status, ticket)
  end, function()
    clear(status, words, ticket)
    in_rounds(y, x, n, status)
  end
end

-- Both add in orders of their own. The longest chain of additions is CUB's from tile to tile, and
-- its tiles have 2^11 elements at the least.
local function check(ty, runs, names, y, expected)
  for i, run in ipairs(runs) do
    y:fill(0 / 0)
    run()
    dev:synchronize()
    mw.check(y, expected, { relative = 4 * EPS[ty] * math.sqrt(100 + n / 2048),
                            name = names[i] .. ", " .. ty })
  end
end

local function compare(ty)
  local x <close> = dev:array(ty, n):random(1)
  local y <close> = dev:array(ty, n)
  local stream = dev:default_stream()
  local once, in_rounds = scans(ty, x, y)
  local ours, from = y:address(), x:address()
  local library = function() cub["scan_" .. ty](ours, from, n) end
  do
    local expected <close> = dev:array(ty, n)
    cub["scan_" .. ty](expected:address(), from, n)
    dev:synchronize()
    check(ty, { library, once, in_rounds }, { "CUB", "scan_once", "scan_rounds" }, y, expected)
  end
  local t = lab.alternate_on(dev, { function() y:copy(x, { stream = stream }) end, library, once,
                                    in_rounds }, rounds)
  print(("%s, %d elements, %s"):format(ty, n, dev:name()))
  for i, name in ipairs { "library copy", "CUB DeviceScan", "scan_once", "scan_rounds" } do
    print(("  %-16s %8.1f GB/s   %.4f of the copy   %.4f of CUB"):format(name,
      2 * x:nbytes() / t[i] / 1e9, t[1] / t[i], t[2] / t[i]))
  end
  lab.compare { name = "scan_rounds, " .. ty, ours = t[4], other_name = "CUB", other = t[2],
                ratio = t[2] / t[4], least = 1.10 }
end

compare "f32"
compare "f64"
