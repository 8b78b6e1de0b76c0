-- SPDX-License-Identifier: MIT
--
-- streams: how much of the time that copies between host and device take can be hidden behind a kernel?
--
-- The rungs: copies alone, from pinned and from pageable memory, both ways, against size; then the
-- pipeline copy in, compute, copy out over an array in pieces: one stream; the lecture's two streams
-- with the host waiting in every round; 1, 2, ... k streams without a wait, against the number of
-- pieces; the same with a kernel in a default stream between the pieces: the legacy one beside
-- blocking and beside non-blocking streams, and the per-thread one beside blocking ones; from pageable
-- memory; with a host callback after each piece; as a graph.
--
-- What is measured, with t_in, t_kernel, t_out the three stages alone, in the same pieces:
--   over    t / longest of the three: 1 is a pipeline in which two of the three are hidden whole
--   hidden  (t_in + t_kernel + t_out - t) / (t_in + t_out): the share of the copies' time that does
--           not show; 0 where nothing overlaps (below: queueing costs more than overlap gains), 1 at most
--   share   the same over t_in + t_kernel + t_out - longest, the most that could be hidden
--   ideal   `over` of three engines that do not disturb each other, with k streams and c equal pieces:
--           (sum / c + (c - 1) / c * max(longest, sum / k)) / longest
-- Times are the host's, from the first call to the end of the last copy: what a script waits. Where
-- kernels of two streams run side by side, as on the cores of the CPU device, over may be below 1 and
-- hidden above 1; a stage alone whose small pieces stay in a cache makes hidden too small.
--
-- Sources: S. Boerm, "Simulation and High-Performance Computing", part 16 (Kiel, 2020: interlaced streams). Its loop
-- `for (i = 0; i < n / chunk; i += chunk)` mixes two counts: i is an element, n / chunk a number of
-- pieces, so it ends after the first piece as soon as chunk >= n / chunk, and n = 10 chunk is done to a
-- tenth. It must be i < n, with a shorter last piece where chunk does not divide n.
-- M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs", lecture 6 (Oxford, 2023: default stream, callbacks,
-- events).
--
-- What others measured: one H200, for this project: pinned 55.5 GB/s each way, pageable in 9.5.

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

local n = mw.arg("n", gpu and 1 << 26 or 1 << 24, "elements of the array", { min = 64, max = 1 << 34 })
local dtype = mw.arg("type", "f32", "of the elements", { choices = { "f32", "f64" } })
local most_streams = mw.arg("streams", 4, "the most streams", { min = 2, max = 32 })
local most_chunks = mw.arg("chunks", 64, "the most pieces", { min = 2, max = 4096 })
local balance = mw.arg("balance", gpu and 1.0 or 3.0, "time of the kernel over that of a copy, to calibrate for",
  { min = 0, max = 1000 })
local rounds = mw.arg("rounds", 0, "multiply-adds an element, odd; 0: as many as `balance` asks for",
  { min = 0, max = 1 << 20 })
local block = mw.arg("block", gpu and 256 or 1024, "threads a block", { min = 1, max = 1024 })
local seconds = mw.arg("seconds", gpu and 0.06 or 0.1, "mean time that each contender of a comparison gets",
  { min = 0, max = 3600 })
local parts = mw.arg("parts", { "copies", "pipeline", "defaults", "callbacks", "events", "graph", "timelines" },
  "what to run",
  { choices = { "copies", "pipeline", "defaults", "callbacks", "events", "graph", "timelines" } })
local smallest = mw.arg("smallest", 1 << 14, "least elements of the sweep of copies", { min = 1 })
if rounds > 0 and rounds % 2 == 0 then error("parameter 'rounds' must be odd: the result is then 1 - x", 0) end

local study = {
  dev = dev, gpu = gpu, n = n, dtype = dtype, most_streams = most_streams, most_chunks = most_chunks,
  balance = balance, rounds = rounds, block = block, seconds = seconds, smallest = smallest,
}

function study.has(name)
  for _, one in ipairs(parts) do
    if one == name then return true end
  end
  return false
end

function study.ceil_div(a, b)
  return (a + b - 1) // b
end

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

-- Runs the file beside this one with the settings.
local function part(name)
  return assert(loadfile(here .. name .. ".lua"))(study)
end

for _, name in ipairs { "arrays", "pipeline", "contenders" } do study[name] = part(name) end
local transfers, variants, timeline = part "transfers", part "variants", part "timelines"
local draw, say = part "charts", part "words"

-- ---- the runs -----------------------------------------------------------------------------------

local has = study.has

local function best(records)
  local least = records[1]
  for _, r in ipairs(records) do least = r.t < least.t and r or least end
  return least
end

local function pipelines()
  local list, chunks = {}, 1
  while chunks <= most_chunks do
    table.move(study.contenders.pipelines_of(chunks), 1, 10, #list + 1, list)
    chunks = 2 * chunks
  end
  return list
end

local results = {}
if has "copies" then results.host = transfers.host_copies() end
for _, name in ipairs(parts) do -- the copies alone need no kernel
  if name ~= "copies" and study.rounds == 0 then study.rounds = study.contenders.calibrate() end
end
if has "pipeline" then results.grid = pipelines() end
if has "copies" then results.both = transfers.both_ways() end

-- Where the best pipeline was not looked for, its other ways are those of as many streams as may be.
local shape = results.grid and best(results.grid) or { streams = most_streams, pieces = math.min(16, most_chunks) }
local few = study.pipeline.line_of(math.max(3, shape.streams), 12)
if has "pipeline" or has "defaults" or has "callbacks" or has "graph" then
  results.seen, results.variants = variants.of(math.max(2, shape.streams), math.max(2, shape.pieces))
end
if has "events" then
  results.orders = { variants.two_streams("without waiting", false),
                     variants.two_streams("waiting for the event", true) }
end
if has "callbacks" then results.heard, results.ordered = variants.callback_order(few) end

-- ---- what it shows ------------------------------------------------------------------------------

local COLUMNS = { "t", { "over", title = "over the longest", digits = 4 }, { "ideal", digits = 4 },
                  { "hidden", unit = "%", digits = 3 }, { "share", title = "of the possible", unit = "%", digits = 3 },
                  { "queued", title = "queued in", unit = "s" } }

local function table_of(title, records, ...)
  local spec = table.move(COLUMNS, 1, #COLUMNS, select("#", ...) + 1, { ... })
  spec.title, spec.records = title, records
  mw.table(spec)
end

if results.host then
  mw.table { { "series", title = "memory, direction" }, "bytes", "t", "T_tot", records = results.host,
             title = "streams: copies between host and device" }
end
if results.grid then table_of("streams: copy in, compute, copy out", results.grid, "streams", "chunks") end
if results.variants then
  table_of(("streams: %d pieces, in other ways"):format(results.seen.free.chunks), results.variants, "rung")
end
if results.orders then
  mw.table { "rung", { "computed", title = "kernel ends", unit = "s" },
             { "started", title = "copy may begin", unit = "s" }, { "copied", title = "copy ends", unit = "s" },
             title = "streams: a copy in another stream than the kernel", records = results.orders }
end

draw(results)
if has "timelines" then
  timeline("streams-timeline", ("12 pieces over %d streams"):format(few.count), few)
  timeline("streams-legacy", "the same, a kernel in the legacy default stream after each piece",
    study.pipeline.line_of(few.count, 12, { blocking = true }), study.pipeline.in_legacy_stream)
end
for _, text in ipairs(say(results)) do mw.remark("%s", text) end
