-- SPDX-License-Identifier: MIT
--
-- Kernel times by mw.bench, hot and cold, over those by nvbench's method (nvbench_method.cu), on the
-- same kernels in one process and in turn. To reach: within 0.01 of each other. The medians of
-- all rounds are compared; the ratio of the means, which nvbench reports, stands beside it.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local rounds = mw.arg("rounds", 5, "how often all are measured in turn")
local samples = mw.arg("samples", 60, "native cold samples per round")
local gib = mw.arg("gib", 1.0, "size of an array of the large copy, GiB")

local WITHIN = 0.01
local BLOCK = 256

local dev = lab.device(mw, "cuda")
if not dev then return end
local native, reason = lab.library "nvbench_method"
if not native then
  print("  left out: " .. reason)
  return
end

local m = dev:module { file = core.home() .. "/tests/bench/nvbench_kernels.cuh" }

local function array(bytes)
  return dev:array("f64", bytes // 8):linspace(1, 2)
end

local function blocks_for(count)
  return (count + BLOCK - 1) // BLOCK
end

-- A job for both: the native functions take addresses, mw.bench a function.
local function job(name, kernel, blocks, count, a, b, c)
  local go = m:kernel("bench_" .. kernel):prepare { block = BLOCK, grid = blocks }
  local call
  if kernel == "copy" then
    call = function() go(a, b, count) end
  elseif kernel == "triad" then
    call = function() go(a, b, c, count) end
  else
    call = function() go(a, 1, 1, count) end
  end
  return { name = name, call = call, cold = {}, hot = {}, native_cold = {}, native_hot = {},
           hold = { a, b, c },
           native = { kernel, blocks, count, a:address(), b and b:address() or 0, c and c:address() or 0 } }
end

local large = math.floor(gib * (1 << 30)) // 16 * 16
local A, B = array(large), array(large)
local C = array(large // 4)
local sums = dev:zeros("f32", 64 * 132 * BLOCK)
local sms = dev:properties().multiprocessors

local jobs = {
  job("copy, 1 GiB", "copy", blocks_for(large // 16), large // 16, A, B),
  job("triad, 256 MiB", "triad", blocks_for(large // 64), large // 64, A:view(1, large // 32),
    B:view(1, large // 32), C),
  job("small, about 20 us", "chains", sms, 2400, sums),
  job("copy, 16 MiB, in the L2", "copy", blocks_for(1 << 20), 1 << 20, A:view(1, 1 << 21), B:view(1, 1 << 21)),
  job("compute-bound", "chains", 16 * sms, 16384, sums),
}

local function append(to, from)
  table.move(from, 1, #from, #to + 1, to)
end

local seconds = dev:pageable("f64", samples)

-- As many launches as fill 50 ms, as nvbench's batch fills its least time.
local function native_batch(one)
  local estimate = native.batch(10, table.unpack(one.native))
  local count = math.max(10, math.min(20000, math.ceil(0.05 / estimate)))
  for _ = 1, 5 do one.native_hot[#one.native_hot + 1] = native.batch(count, table.unpack(one.native)) end
end

local function measure(one)
  native.cold(seconds:address(), samples, table.unpack(one.native))
  append(one.native_cold, seconds:totable())
  local t = mw.bench(one.call, { cold = true, min_time = 0.05, max_time = 2, device = dev })
  append(one.hot, t.samples)
  append(one.cold, t.cold.samples)
  one.launch, one.blocked = t.launch.median, t.blocked
  native_batch(one)
end

local function mean(list)
  local sum = 0
  for _, value in ipairs(list) do sum = sum + value end
  return sum / #list
end

local function report(name, ours, theirs)
  local means = mean(ours) / mean(theirs)
  local a, b = lab.median(ours), lab.median(theirs)
  local ratio = a / b
  print(("  %-32s mw.bench %10.3f us   nvbench's method %10.3f us   ratio %.4f (means %.4f)   %s %.2f   %s"):format(
    name, a * 1e6, b * 1e6, ratio, means, "to reach: within", WITHIN,
    math.abs(ratio - 1) <= WITHIN and "reached" or "missed"))
end

for _ = 1, rounds do
  for _, one in ipairs(jobs) do measure(one) end
end
for _, one in ipairs(jobs) do
  report(one.name .. ", cold", one.cold, one.native_cold)
  report(one.name .. ", hot", one.hot, one.native_hot)
  print(("  %-32s a launch %.2f us, blocked %s"):format("", one.launch * 1e6, tostring(one.blocked)))
end
