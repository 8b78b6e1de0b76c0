-- SPDX-License-Identifier: MIT
--
-- cumsum: what does a running sum cost beyond the copy that it must be anyway?
--
-- A sum along a dimension reads each element once and writes it once, as a copy does. The ladder
-- (kernels/cumsum.cu) begins with copies, whose loops run along z, y and x, and turns each into a
-- sum: in a register where neighbouring threads have neighbouring columns; through shared memory,
-- by broadcasts and by doubling steps where they share a row. Then what the fastest kernel for each
-- dimension reaches, over the size of the cube; then one long array (kernels/scan.cu) by three
-- launches, in one pass with look-back, and in rounds.
-- T_tot of a copy, T_eff of a sum = 2 * bytes(A) / t. The bound is the fastest copy of the run.
--
-- What others measured (charts.lua; columns, dashed lines and series called "source"):
--   Tesla P100, 512^3 f64 (S. Omlin and L. Raess, notebook 4 of the course
--   github.com/omlins/julia-gpu-course-2023: its stored output, tasks 1 to 9; the first seven tasks are
--   exercise 3 of ETH Zurich's lecture 10, "Solving PDEs in parallel on GPUs", 2023)
--   H200, 512^3 f64, torch.cumsum and CuPy, and CUB's DeviceScan of 2^28 (for this project)

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

local n = mw.arg("n", gpu and 512 or 160, "points along each side of the cube", { min = 8, max = 2048 })
local length = mw.arg("length", gpu and 1 << 26 or 1 << 18, "elements of the longest 1-D array",
  { min = 4096, max = 1 << 31 })
local types = mw.arg("types", { "f64", "f32" }, "element types", { choices = { "f64", "f32" } })
local parts = mw.arg("parts", { "ladder", "sizes", "scan" }, "what to run",
  { choices = { "ladder", "sizes", "scan" } })
local rungs = mw.arg("rungs", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 },
  "which rungs of the ladder to measure, beside two copies", { min = 1, max = 14 })
local seconds = mw.arg("seconds", gpu and 0.05 or 0.02, "least time of a measurement; three times that at most",
  { min = 0, max = 3600 })
local bx = mw.arg("bx", 32, "block of the kernels over x and y: threads along x", { min = 1, max = 1024 })
local by = mw.arg("by", math.min(8, 1024 // bx), "and along y; 1024 threads in all at most",
  { min = 1, max = 1024 // bx })
local threads = mw.arg("threads", 256, "block of the kernels over columns (blocks in pace: 256 at most)",
  { min = 1, max = 1024 })
local warps = mw.arg("warps", 1, "rows a block of the kernels with a warp a row", { min = 1, max = 32 })
local loads = mw.arg("loads", 4, "loads in flight a lane of cumsum_rows", { min = 1, max = 16 })
local tile_rows = mw.arg("tile_rows", 8, "rows a warp of cumsum_tile", { min = 1, max = 32 })
local tile_warps = mw.arg("tile_warps", 16, "warps a block of cumsum_tile", { min = 1, max = 32 })
local pace_planes = mw.arg("pace_planes", 4, "planes in flight a thread of cumsum_paced", { min = 1, max = 32 })
local pace_lag = mw.arg("pace_lag", 3, "stages that its blocks may be apart", { min = 1, max = 2048 })
local scan_block = mw.arg("scan_block", gpu and 512 or 128, "block of the 1-D scans in one pass",
  { choices = { 32, 64, 128, 256, 512, 1024 } })
local scan_loads = mw.arg("scan_loads", 8, "loads in flight a thread of them", { min = 1, max = 16 })

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

-- Runs the file beside this one with the settings.
local function part(name, settings)
  return assert(loadfile(here .. name .. ".lua"))(settings)
end

local settings = {
  dev = dev, gpu = gpu, processors = dev:properties().multiprocessors,
  gang = 256, -- the most blocks of a cooperative launch on the CPU device
  n = n, length = length, types = types, rungs = rungs, seconds = seconds,
  bx = bx, by = by, threads = threads, warps = warps, loads = loads, tile_rows = tile_rows, tile_warps = tile_warps,
  pace_planes = pace_planes, pace_lag = pace_lag, scan_block = scan_block, scan_loads = scan_loads,
}
settings.host, settings.measurement = part "host", part("measurement", settings)

local wanted = {}
for _, name in ipairs(parts) do wanted[name] = true end

local ladder = (wanted.ladder or wanted.sizes) and part("ladder", settings)
local scans = wanted.scan and part("scan", settings)
local charts, words = part("charts", settings), part("words", settings)

local function say(texts)
  for _, text in ipairs(texts) do mw.remark("%s", text) end
end

if wanted.ladder then
  for _, ty in ipairs(types) do
    local records = ladder.ladder(ty)
    charts.ladder(ty, records)
    say(words.ladder(records))
  end
end
if wanted.sizes then charts.sizes(types[1], ladder.sizes(types[1])) end
if wanted.scan then
  for _, ty in ipairs(types) do
    local all, longest = scans(ty)
    charts.scan(ty, all, longest)
    say { words.scan(ty, longest) }
  end
end
