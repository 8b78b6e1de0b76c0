-- SPDX-License-Identifier: MIT
--
-- What counters cost: the project's kernels on the CPU device in check mode, compiled with counters over compiled
-- without, in one process, in turn. Times are CPU time. To reach: at most twice as long, the median and the worst.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local n = mw.arg("n", 1024, "side of the fields; the other sizes follow")
local bodies = mw.arg("bodies", 1024, "bodies")
local rounds = mw.arg("rounds", 5, "samples of each")

local MOST <const> = 2

local dev = mw.device("cpu", { check = true })
local open_plain, open_counted = {}, {} -- modules by file
dev:array("f64", 64):random(1):clone() -- loads what all need

local function ceil_div(a, b) return (a + b - 1) // b end

local tiles = { block = { 32, 8 }, grid = { ceil_div(n, 32), ceil_div(n, 8) } }
local squares = { block = { 32, 8 }, grid = { ceil_div(n, 32), ceil_div(n, 32) } }
local count = n * n
local lines = { block = 256, grid = count // 256 }

local function random(dtype, ...) return dev:array(dtype, ...):random(1) end
local function bytes() return dev:array("u8", count):fill(7) end

local function fields(dtype, many, ...)
  local list = {}
  for i = 1, many do list[i] = random(dtype, n, n) end
  for _, value in ipairs { ... } do list[#list + 1] = value end
  return list
end

local function flow() return fields("f64", 3, 1.0, 0.1, 1.0, 1.0, n, n) end
local function pair() return fields("f32", 2, n, n) end

local cases = {
  { "memcopy.cu", "memcopy", tiles, function() return fields("f64", 2, n, n) end },
  { "triad.cu", "triad", tiles, function() return fields("f64", 3, 1.5, n, n) end },
  { "stencil.cu", "diffusion", tiles, flow },
  { "stencil.cu", "diffusion_shared", { block = { 32, 8 }, grid = tiles.grid, shared = 34 * 10 * 8 }, flow },
  { "reduce.cu", "reduce_tree", lines,
    function() return { dev:array("f32", count // 256), random("f32", count), count } end },
  { "cumsum.cu", "cumsum_shuffle<double>", { block = { 32, 8 }, grid = ceil_div(n, 8) },
    function() return fields("f64", 2, n, n) end },
  { "nbody.cu", "potential_tiled", { block = 256, grid = ceil_div(bodies, 256) }, function()
    local list = { dev:array("f32", bodies) }
    for i = 2, 4 do list[i] = random("f32", bodies) end
    list[5], list[6] = dev:full(1 / bodies, "f32", bodies), bodies
    return list
  end },
  { "transpose.cu", "transpose_read<float>", tiles, pair },
  { "transpose.cu", "transpose_tile<float,0>", squares, pair },
  { "transpose.cu", "transpose_swizzled<float>", squares, pair },
  { "access.cu", "strided", { block = 256, grid = { ceil_div(count // 7, 256), 7 } },
    function() return { random("f32", count), random("f32", count), count, 7 } end },
  { "access.cu", "by<float4>", lines, function() return { random("f32", count), random("f32", count), count } end },
  { "histogram.cu", "histogram_global", { block = 256, grid = 64 },
    function() return { dev:zeros("u32", 256), bytes(), count } end },
  { "histogram.cu", "histogram_bytes", { block = 256, grid = 64 },
    function() return { dev:zeros("u32", 256), bytes(), count } end },
}

local function module_of(modules, file)
  local templates = file == "access.cu" and { "by<float4>" } or nil -- it has device variables
  modules[file] = modules[file] or dev:module { file = file, templates = templates }
  return modules[file]
end

-- CPU seconds of a call.
local function time(go, arguments)
  local before = os.clock()
  go(table.unpack(arguments))
  return os.clock() - before
end

local function measure(case)
  local file, kernel, shape, make = table.unpack(case)
  mw.device("cpu", { check = true })
  local plain = module_of(open_plain, file):kernel(kernel):prepare(shape)
  mw.device("cpu", { check = { counters = true } })
  local counted = module_of(open_counted, file):kernel(kernel):prepare(shape)
  local arguments, times = make(), { {}, {} }
  time(plain, arguments)
  time(counted, arguments) -- asks for the lines
  for i = 1, rounds do
    times[1][i], times[2][i] = time(plain, arguments), time(counted, arguments)
  end
  local without, with = lab.median(times[1]), lab.median(times[2])
  local requests = dev:counters()
  local lanes = requests[#requests].lanes
  print(("  %-28s without %8.2f ms  with %8.2f ms  ratio %5.2f  by access %5.1f and %5.1f ns"):format(kernel,
    without * 1e3, with * 1e3, with / without, without / lanes * 1e9, with / lanes * 1e9))
  for _, value in ipairs(arguments) do
    if core.type(value) == "array" then value:close() end
  end
  return with / without
end

print(("%d x %d, %d bodies, %s, CPU time, medians of %d"):format(n, n, bodies, dev:name(), rounds))
local ratios = {}
for i, case in ipairs(cases) do ratios[i] = measure(case) end
local median, worst = lab.median(ratios), math.max(table.unpack(ratios))
print(("  median %.2f, worst %.2f   to reach: at most %d   %s"):format(median, worst, MOST,
  worst <= MOST and "reached" or "missed"))
