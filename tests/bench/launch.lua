-- SPDX-License-Identifier: MIT
--
-- What a launch costs. CUDA: from Lua (hot form, 6 arguments) over a bare cuLaunchKernel in a C
-- loop of the same process, in turn; to reach: at most 1.10, and below 3.2 us. CPU device: an empty
-- kernel in one block; to reach: 1 us.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local rounds = mw.arg("rounds", 31, "samples of each contender")
local launches = mw.arg("launches", 500, "launches per sample; the driver's queue holds about 1000")

local SOURCE = "__global__ void empty(double *a, double *b, double *c, int n, float s, double t) {}\n"

-- The loop is part of what a script pays.
local function lua_batch(go, dev, a, b, c)
  dev:synchronize()
  local start = core.clock()
  for i = 1, launches do go(a, b, c, i, 1.5, 2.5) end
  local seconds = (core.clock() - start) / launches
  dev:synchronize()
  return seconds
end

local function prepared(dev)
  local module = dev:module { source = SOURCE, name = "empty.cu" }
  return module, module.empty:prepare { grid = 1, block = 32 }
end

local function arrays(dev)
  return dev:array("f64", 1024), dev:array("f64", 1024), dev:array("f64", 1024)
end

local function on_cuda(dev)
  local bare = assert(lab.library "bare_launch")
  local module, go = prepared(dev)
  local a, b, c = arrays(dev)
  local ptx = module:ptx()
  bare.load(ptx, ptx:match "%.entry%s+([%w_$]+)")
  local ours, floor = {}, {}
  for i = 0, rounds do -- the first round warms up
    ours[i] = lua_batch(go, dev, a, b, c)
    floor[i] = bare.batch(launches, a:address(), b:address(), c:address())
  end
  local mine, least = lab.median(ours), lab.median(floor)
  lab.compare { name = "launch from Lua, " .. dev:name(), ours = mine, other_name = "cuLaunchKernel", other = least,
                ratio = mine / least, most = 1.10 }
  lab.bound("launch from Lua", mine, 3.2e-6, "s")
end

local function on_cpu(dev)
  local _, go = prepared(dev)
  local a, b, c = arrays(dev)
  local samples = {}
  for i = 0, rounds do samples[i] = lua_batch(go, dev, a, b, c) end
  lab.bound("launch on the CPU device, 1 block", lab.median(samples), 1e-6, "s")
end

on_cpu(mw.device "cpu")
local cuda = lab.device(mw, "cuda")
if cuda then on_cuda(cuda) end
