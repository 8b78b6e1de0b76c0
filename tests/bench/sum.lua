-- SPDX-License-Identifier: MIT
--
-- dev:sum of 2^28 elements (2^25 on the CPU device) over the best rung of kernels/reduce.cu on the same array, in
-- turn, by the host's clock: both until the script has the number. To reach: at least 0.95 of the rung's throughput,
-- f32 and f64. Says the throughput of other operations and types as well.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local dev = mw.device()
local is_gpu = dev:kind() == "gpu"
local n = mw.arg("n", is_gpu and 1 << 28 or 1 << 25, "elements", { min = 1, max = (1 << 31) - 1 })
local rounds = mw.arg("rounds", 15, "samples of each contender", { min = 1 })

local per = is_gpu and 2 or 4
local grid = per * dev:properties().multiprocessors
local code = dev:module "reduce.cu"

local function compare(dtype, name)
  local x <close> = dev:array(dtype, n):random(1)
  local out <close> = dev:array(dtype, 1)
  local parts <close> = dev:array(dtype, grid)
  local ticket <close> = dev:zeros("u32", 1)
  local go = code[("reduce_once<%s,SUM,4,1024>"):format(name)]:prepare { grid = grid, block = 1024 }
  local function ours() return dev:sum(x) end
  local function theirs()
    go(out, parts, ticket, x, mw.null, n)
    return out:get(1)
  end
  mw.check(dev:array("f64", { ours() }), { theirs() }, { relative = 1e-4, name = "sum of " .. dtype })
  local medians = lab.alternate({ ours, theirs }, rounds)
  lab.compare { name = ("dev:sum of %d %s"):format(n, dtype), ours = medians[1], other_name = "reduce_once",
                other = medians[2], ratio = medians[2] / medians[1], least = 0.95 }
end

local function say(dtype, op)
  local x <close> = dev:array(dtype, n):random(1)
  local arrays = op == "dot" and { x, x } or { x }
  local function ours() return dev[op](dev, table.unpack(arrays)) end
  local seconds = lab.alternate({ ours }, rounds)[1]
  print(("  dev:%s of %s %.1f GB/s"):format(op, dtype, x:nbytes() * #arrays / seconds / 1e9))
end

print(("%d elements, %s"):format(n, dev:name()))
compare("f32", "float")
compare("f64", "double")
for _, op in ipairs { "min", "norm", "dot" } do say("f32", op) end
for _, dtype in ipairs { "f16", "i32", "u8" } do say(dtype, "sum") end
