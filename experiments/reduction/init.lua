-- SPDX-License-Identifier: MIT
--
-- reduction: one number out of an array, and what stands between a kernel and the memory's speed.
--
-- The rungs (methods.lua, which numbers them), first within a block: the sum by a tree in shared memory
-- (both orders), in dynamic shared memory, by shuffles (both orders), by shuffles and one shared stage;
-- with an element a thread, where the tree is what costs, and with a few blocks a multiprocessor,
-- where it hides behind the loads.
-- Then over the grid: the parts of the blocks joined on the host, by a second launch, by an atomic
-- operation, by compare and swap, under a lock, by the block that comes last, and that with 16-byte
-- streaming loads; each for the sum, the minimum, the maximum and the greatest |v|^2, v = (x, y).
-- On the CPU device types after the first have every method for the sum only, since each costs a
-- compilation; -p types=f64 gives that type in full.
-- T_tot = bytes of x (and y) / t: everything is read once.
--
-- What others measured, for comparison:
--   H200 (CUB DeviceReduce, for this project), sum of 2^28: f32 4384 GB/s, f64 4468 GB/s

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

local n = mw.arg("n", gpu and 1 << 28 or 1 << 22, "elements", { min = 1, max = 1 << 31 })
local seconds = mw.arg("seconds", gpu and 0.02 or 0.01,
  "least time of a measurement; three times that at most", { min = 0, max = 3600 })
local block = mw.arg("block", 256, "threads a block of the finishing methods",
  { choices = { 32, 64, 128, 256, 512, 1024 } })
local per = mw.arg("per", gpu and 8 or 256, "blocks a multiprocessor", { min = 1, max = 65536 })
local per_once = mw.arg("per_once", gpu and 2 or 64,
  "and of those with 16-byte loads, of 1024 threads", { min = 1, max = 65536 })
local types = mw.arg("types", { "f32", "f64" }, "element types", { choices = { "f32", "f64" } })
local operations = mw.arg("ops", { "sum", "min", "max", "length" }, "operations",
  { choices = { "sum", "min", "max", "length" } })
local rungs = mw.arg("rungs", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 },
  "which rungs to measure, by their numbers", { min = 1, max = 13 })
local repeats = mw.arg("repeats", 10, "runs of a method whose bits are compared", { min = 1 })

local multiprocessors = dev:properties().multiprocessors

local study = {
  dev = dev, gpu = gpu, n = n, seconds = seconds, block = block, types = types, operations = operations,
  rungs = rungs, repeats = repeats, multiprocessors = multiprocessors,
  blocks = multiprocessors * per, blocks_once = multiprocessors * per_once,
  counts = gpu and { 1, 2, 4, 8, 16, 32, 64 } or { 1, 4, 16, 64, 256 }, -- blocks a multiprocessor
  alone = "one element a thread", few = ("%d blocks a multiprocessor"):format(per), -- the grids' names
}

function study.ceil_div(a, b)
  return (a + b - 1) // b
end

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

-- Runs the file beside this one with the settings.
local function part(name)
  return assert(loadfile(here .. name .. ".lua"))(study)
end

study.arrays = part "arrays"
study.methods = part "methods"
local measurements, draw, say = part "measurements", part "charts", part "words"

-- ---- the runs -----------------------------------------------------------------------------------

local peak = dev:peak_bandwidth()
local before = not peak and measurements.triad_rate()
local results = { within = {}, grid = {} }
for i, dtype in ipairs(types) do
  local set = study.methods.new_set(dtype)
  if i == 1 then measurements.check_odd(set) end
  measurements.trees(set, results.within)
  measurements.finishes(set, results.grid)
  if i == 1 then
    results.sweeps = { threads = measurements.by_block_size(set), blocks = measurements.by_blocks(set),
                       size = measurements.by_size(set) }
  end
  for _, name in ipairs { "x", "y", "parts", "others" } do set[name]:close() end
end

-- ---- what it shows ------------------------------------------------------------------------------

-- The better of two triads, before and after: a machine with other work has slow moments.
local top = peak and { value = peak, label = "theoretical peak" }
  or { value = math.max(before, measurements.triad_rate()), label = "triad" }
for _, list in ipairs { results.within, results.grid } do
  for _, r in ipairs(list) do r.share = r.T_tot / top.value end
end
results.top = top

local share = { "share", title = "of the " .. top.label, unit = "%", digits = 3 }
local number = { "number", title = "rung" }
if #results.within > 0 then
  mw.table { number, { "method", title = "kernel" }, "type", "grid", "t", "T_tot", share,
             title = "reduction within a block", records = results.within }
end
if #results.grid > 0 then
  mw.table { number, "method", "type", "op", "t", "T_tot", share,
             { "results", title = ("results of %d runs"):format(repeats) },
             title = "reduction over the grid", records = results.grid }
end
draw(results)
for _, text in ipairs(say(results)) do mw.remark("%s", text) end
