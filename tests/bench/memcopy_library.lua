-- SPDX-License-Identifier: MIT
--
-- The vector rungs of memcopy over the library's copy on the device, 2 GiB, in turn. To reach: at
-- least 0.99 of the library's throughput by the best of them.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local gibibytes = mw.arg("gib", 2, "size of the array")
local rounds = mw.arg("rounds", 15, "samples of each contender")

local RUNGS = { { "memcopy_vector1", 1 }, { "memcopy_vector2", 2 }, { "memcopy_vector4", 4 },
  { "memcopy_stream4", 4 } }
local BLOCKS = { 128, 256, 512, 1024 }

local dev = lab.device(mw, "cuda")
if not dev then return end

local count = gibibytes << 27 -- f64 elements
local A, B = dev:array("f64", count):random(1), dev:array("f64", count)
local stream = dev:stream()
local from, to = dev:event(), dev:event()
local copy = dev:module "memcopy.cu"

-- Seconds of a call by the device's own clock.
local function device_seconds(fn)
  from:record(stream)
  fn()
  to:record(stream)
  to:synchronize()
  return to:since(from)
end

local contenders = { { name = "library copy", run = function() B:copy(A, { stream = stream }) end } }
for _, rung in ipairs(RUNGS) do
  for _, block in ipairs(BLOCKS) do
    local step = rung[2] * block
    local go = copy[rung[1]]:prepare { block = block, grid = (count // 2 + step - 1) // step, stream = stream }
    contenders[#contenders + 1] = { name = ("%s, block %d"):format(rung[1], block),
                                    run = function() go(B, A, count) end }
  end
end

for _, contender in ipairs(contenders) do
  B:fill(0 / 0)
  contender.run()
  dev:synchronize()
  mw.check(B, A, { exact = true, name = contender.name })
  contender.samples = {}
end

for round = 1, rounds do
  for _, contender in ipairs(contenders) do contender.samples[round] = device_seconds(contender.run) end
end

local library = lab.median(contenders[1].samples)
local best
print(("%d GiB, %s; library copy %.1f GB/s"):format(gibibytes, dev:name(), 2 * A:nbytes() / library / 1e9))
for i = 2, #contenders do
  local contender = contenders[i]
  contender.median = lab.median(contender.samples)
  print(("  %-30s %8.1f GB/s   %.4f of the library"):format(contender.name, 2 * A:nbytes() / contender.median / 1e9,
    library / contender.median))
  if not best or contender.median < best.median then best = contender end
end
lab.compare { name = "best: " .. best.name, ours = best.median, other_name = "library copy", other = library,
              ratio = library / best.median, least = 0.99 }
