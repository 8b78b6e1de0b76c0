-- SPDX-License-Identifier: MIT
--
-- Tables and charts, with the levels that are to be reached and what others measured. A chunk that is
-- called with the study's settings and returns what init.lua shows.

local mw = require "moonwarp"

local set = ...
local dev, gpu, n = set.dev, set.gpu, set.n

local measurement = set.measurement
local ceil_div, fastest, is_copy = measurement.ceil_div, measurement.fastest, measurement.is_copy

-- T_tot of the triad on arrays of so many bytes; checked, since a wrong triad says nothing of memory.
local function triad(bytes)
  local count = math.min(bytes // 8, 1 << 30)
  local A <close> = dev:array("f64", count):linspace(1, count)
  local B <close> = dev:full(0 / 0, "f64", count)
  local C <close> = dev:full(1, "f64", count)
  local go = dev:module("triad.cu").triad:prepare { block = { 256, 1 }, grid = { ceil_div(count, 256), 1 } }
  local t = measurement.bench(function() go(B, A, C, 2, count, 1) end, 3 * 8 * count)
  mw.check(B, C:linspace(3, count + 2), { exact = true, name = ("triad, %d elements"):format(count) })
  return t.throughput
end

-- The level to reach, and others: the data sheet's where the device tells it; else the triad of the
-- same size, unless that copy was faster, which then is the level, and not called peak. at: of what
-- size, where the chart shows several.
local function top_level(copy, at)
  local function level(value, label) return { value = value, label = label .. (at and ", " .. at or "") } end
  local peak, fast = dev:peak_bandwidth(), level(copy.T_eff, "fastest: " .. copy.rung)
  if peak then return { value = peak, label = "theoretical peak of memory" }, { fast } end
  local rate = triad(copy.bytes)
  if rate > copy.T_eff then return level(rate, "peak: triad, 3 arrays"), { fast } end
  return fast, { level(rate, "triad, 3 arrays") }
end

-- In GB/s, along dim 1, 2, 3 of 512^3 f64; "best kernel" are the notebook's tasks 9, 4 and 2.
local SOURCES = { { name = "H200 torch.cumsum", 2928, 3870, 3942 }, { name = "H200 CuPy", 769, 433, 411 },
                  { name = "P100 best kernel", 523, 510, 516 },
                  { name = "P100 CUDA.cumsum!", 109, 112, 43 } }
local CUB = { f64 = 3300, f32 = 3112 } -- 2^28 elements, H200: tests/bench/scan.lua

-- The fastest record that adds up along dim; nil where none does.
local function fastest_along(records, dim)
  return fastest(records, function(r) return r.dim == dim end)
end

-- Sources are drawn on a GPU, where they are of like scale, and beside what was measured. A few of
-- them among the rungs: lines that can be told apart; all of them in the chart of dimensions, beside
-- the fastest rung of each.
local function add_sources(levels, records)
  for _, at in ipairs { { 1, 1 }, { 2, 1 }, { 4, 2 }, { 4, 3 } } do
    local source, dim = SOURCES[at[1]], at[2]
    if fastest_along(records, dim) then
      levels[#levels + 1] = { value = source[dim] * 1e9, label = ("%s dim %d, source"):format(source.name, dim) }
    end
  end
end

local function show_dimensions(records, top, levels)
  local points = {}
  for dim = 1, 3 do
    local best = fastest_along(records, dim)
    if best then points[#points + 1] = setmetatable({ series = "fastest rung" }, { __index = best }) end
    for _, source in ipairs(best and SOURCES or {}) do
      points[#points + 1] = { dim = dim, T_eff = source[dim] * 1e9, series = source.name .. ", source" }
    end
  end
  if #points == 0 then return end
  mw.plot { x = "dim", y = "T_eff", by = "series", points = "alone", logy = true, records = points,
            peak = top, lines = levels, title = ("cumsum, %d^3 f64 (sources: 512^3)"):format(n),
            xlabel = "summed along dimension", ylabel = "T = 2 bytes(A) / t", name = "cumsum-dims", quiet = true }
end

local function any(records, field)
  for _, r in ipairs(records) do
    if r[field] then return true end
  end
  return false
end

-- Neither rungs nor dimensions are a scale: lines between them would read as trends.
local function show_ladder(ty, records)
  local numbered = any(records, "number") -- a device may take none of the rungs that were asked for
  local columns = { { "rung", title = "what" }, "t", { "T_eff", title = "T" },
    { "share", title = "of the fastest copy", unit = "%", digits = 3 },
    title = ("cumsum, %d x %d x %d %s"):format(n, n, n, ty), records = records }
  if numbered then table.insert(columns, 1, { "number", title = "rung" }) end
  if gpu and any(records, "p100") then columns[#columns + 1] = { "p100", title = "P100 (source)", unit = "B/s" } end
  mw.table(columns)
  if not numbered then return end
  local top, levels = top_level(fastest(records, is_copy))
  local points = table.move(records, 1, #records, 1, {})
  if gpu and ty == "f64" then
    show_dimensions(records, top, levels)
    add_sources(levels, records)
    for _, r in ipairs(records) do
      if r.p100 then
        points[#points + 1] = { number = r.number, T_eff = r.p100, series = "P100, same rung, source" }
      end
    end
  end
  mw.plot { x = "number", y = "T_eff", by = "series", points = "alone", logy = true, records = points, peak = top,
            lines = levels, title = ("cumsum, %d^3 %s: the rungs"):format(n, ty),
            xlabel = "rung (numbers as in the table)", ylabel = "T = 2 bytes(A) / t",
            name = "cumsum-ladder-" .. ty }
end

local function show_scan(ty, all, longest)
  mw.table { "rung", { "elements", title = "n" }, "t", "T_eff",
             { "share", title = "of the copy", unit = "%", digits = 3 },
             title = "scan of one array, " .. ty, records = longest }
  local top, levels = top_level(longest[1], ("%d elements"):format(longest[1].elements))
  if gpu then levels = { { value = CUB[ty] * 1e9, label = "H200 CUB, 2^28 elements, source" } } end
  mw.plot { x = "bytes", y = "T_eff", by = "series", logx = 2, logy = true, records = all,
            peak = top, lines = levels,
            title = ("scan of one array, %s"):format(ty), xlabel = "bytes of the array",
            name = "cumsum-scan-" .. ty }
end

-- "rungs 11, 12, 14", of those that were measured.
local function names_of(records)
  local numbers = {}
  for _, r in ipairs(records) do
    if r.side == n then numbers[#numbers + 1] = r.number end
  end
  return #numbers == 0 and "a copy" or (#numbers == 1 and "rung " or "rungs ") .. table.concat(numbers, ", ")
end

local function show_sizes(ty, records)
  local top, levels = top_level(records[1], ("%d^3"):format(n))
  mw.plot { x = "side", y = "T_eff", by = "series", logx = 2, records = records, peak = top, lines = levels,
            title = ("cumsum, %s: %s over the size"):format(ty, names_of(records)),
            xlabel = "points along each side of the cube", logy = true, name = "cumsum-sizes" }
end

return { ladder = show_ladder, sizes = show_sizes, scan = show_scan }
