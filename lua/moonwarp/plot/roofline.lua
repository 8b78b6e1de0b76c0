-- SPDX-License-Identifier: MIT
--
-- mw.roofline: where each kernel of a run stands under what the device gives at most.
--
-- A kernel that does I operations for each byte it moves can do at most bandwidth * I of them a
-- second, and never more than the arithmetic gives: the roof is the lower of the two (S. Williams,
-- A. Waterman and D. Patterson, "Roofline: an insightful visual performance model for multicore
-- architectures", 2009). Both ceilings are measured on the device, not taken from a data sheet.
-- Depends on moonwarp.core, bench, ceiling, schema, plot, session, record, table, units.

local bench = require "moonwarp.measure.bench"
local ceiling = require "moonwarp.measure.ceiling"
local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"
local plot = require "moonwarp.plot.plot"
local session = require "moonwarp.session"
local record = require "moonwarp.results.record"
local tables = require "moonwarp.plot.table"
local units = require "moonwarp.base.units"

local roofline = {}

local SPEC = { device = "device", records = "table", by = "string", dtype = "string", title = "string",
               name = "string", quiet = "boolean", pictures = "boolean", ceilings = "table" }
local DTYPES = { f32 = true, f64 = true }
-- What a record may call its kernel, the first that it has.
local NAMES = { "kernel", "series", "rung", "version", "name", "study" }
-- The roofs are drawn a decade beyond the outermost kernel and the ridge.
local DECADE, STEPS = 10, 24

-- ---- the kernels of a run -----------------------------------------------------------------------

local function label_of(entry, field, by)
  if by and record.field(entry, by) ~= nil then return tostring(record.field(entry, by)) end
  for _, name in ipairs(NAMES) do
    if type(entry[name]) == "string" then return entry[name] end
  end
  return field
end

local function has_work(value)
  return type(value) == "table" and value.throughput and value.rate and value.intensity
end

-- A record without declared benchmarks may hold bytes, flops and a time by itself.
local function own_work(entry)
  local t = entry.t
  if bench.is_result(t) then t = t.median end
  if type(t) ~= "number" or t <= 0 then return nil end
  if type(entry.bytes) ~= "number" or type(entry.flops) ~= "number" or entry.bytes <= 0 then return nil end
  return { throughput = entry.bytes / t, rate = entry.flops / t, intensity = entry.flops / entry.bytes,
           dtype = entry.dtype, device = entry.device }
end

local function add_point(list, work, label, spec, entry)
  if work.device and work.device ~= spec.device:id() then return end
  if work.intensity <= 0 then return end
  local dtype = work.dtype or entry.dtype or spec.dtype
  list[#list + 1] = { kernel = label, intensity = work.intensity, rate = work.rate,
                      throughput = work.throughput, dtype = DTYPES[dtype] and dtype or spec.dtype }
end

local function from_record(list, entry, spec, seen)
  local found
  for field, value in pairs(entry) do
    if bench.is_result(value) and has_work(value) then
      seen[value], found = true, true
      add_point(list, value, value.name or label_of(entry, field, spec.by), spec, entry)
    end
  end
  local own = not found and own_work(entry)
  if own then add_point(list, own, label_of(entry, "record", spec.by), spec, entry) end
end

-- Records first, then what was measured and declared but not recorded.
local function points_of(spec)
  local list, seen = {}, {}
  for _, entry in ipairs(spec.records or record.all()) do from_record(list, entry, spec, seen) end
  for i, result in ipairs(spec.records and {} or bench.declared()) do
    if not seen[result] and has_work(result) then
      add_point(list, result, result.name or ("function %d"):format(i), spec, {})
    end
  end
  return list
end

-- ---- under the roof -----------------------------------------------------------------------------

local function place(point, most)
  local arithmetic = most[point.dtype]
  local slope = most.bandwidth * point.intensity
  point.roof = math.min(slope, arithmetic)
  point.share = point.rate / point.roof
  point.bound = slope < arithmetic and "memory" or "compute"
end

-- "twice (f32): memory-bound, 92 % of its roof of 3.2 Gflop/s"
local function words(point)
  return ("%s (%s): %s-bound, %s %% of its roof of %s"):format(point.kernel, point.dtype, point.bound,
    units.digits(point.share * 100.0, 2), units.format(point.roof, "flop/s"))
end

-- ---- the chart ----------------------------------------------------------------------------------

-- The types that occur have a roof each; they share the slope.
local function types_of(points)
  local list, seen = {}, {}
  for _, point in ipairs(points) do
    if not seen[point.dtype] then list[#list + 1] = point.dtype end
    seen[point.dtype] = true
  end
  table.sort(list)
  return list
end

local function extent(points, most, types)
  local low, high = math.huge, 0
  for _, point in ipairs(points) do
    low, high = math.min(low, point.intensity), math.max(high, point.intensity)
  end
  for _, dtype in ipairs(types) do
    local ridge = most[dtype] / most.bandwidth
    low, high = math.min(low, ridge), math.max(high, ridge)
  end
  return low / DECADE, high * DECADE
end

local function chart_records(points, most)
  local list, types = {}, types_of(points)
  local low, high = extent(points, most, types)
  for _, dtype in ipairs(types) do
    for i = 0, STEPS do
      local x = low * (high / low) ^ (i / STEPS)
      list[#list + 1] = { series = "roof " .. dtype, intensity = x,
                          rate = math.min(most.bandwidth * x, most[dtype]) }
    end
    local ridge = most[dtype] / most.bandwidth -- the corner itself
    list[#list + 1] = { series = "roof " .. dtype, intensity = ridge, rate = most[dtype] }
  end
  for _, point in ipairs(points) do
    list[#list + 1] = { series = point.kernel, intensity = point.intensity, rate = point.rate }
  end
  for _, entry in ipairs(list) do entry.device, entry.device_name = most.device, most.device_name end
  return list
end

local function draw(points, most, spec)
  return plot.draw { records = chart_records(points, most), x = "intensity", y = "rate", by = "series",
                     logx = 10, logy = 10, title = spec.title or "roofline",
                     xlabel = "operations a byte", ylabel = "rate",
                     name = spec.name, quiet = spec.quiet, pictures = spec.pictures }
end

local function print_words(points, most, spec)
  local text = ("ceilings of %s: %s, %s in f32, %s in f64"):format(most.device,
    units.format(most.bandwidth, "B/s"), units.format(most.f32, "flop/s"), units.format(most.f64, "flop/s"))
  local lines = { text }
  for _, point in ipairs(points) do lines[#lines + 1] = words(point) end
  text = table.concat(lines, "\n")
  if not spec.quiet and not session.current.options.quiet then print(text) end
  return text
end

-- ---- mw.roofline --------------------------------------------------------------------------------

local function check_ceilings(given)
  for _, name in ipairs { "bandwidth", "f32", "f64" } do
    local value = given[name]
    if type(value) ~= "number" or not (value > 0 and value < math.huge) then
      failure.invalid("mw.roofline: option 'ceilings': %s must be a number above 0, got %s; leave ceilings out to "
        .. "measure them", name, tostring(value))
    end
  end
end

local function check_records(given)
  for i, entry in ipairs(given) do
    if type(entry) ~= "table" then
      failure.invalid("mw.roofline: option 'records': element %d must be a table, got %s", i, type(entry))
    end
  end
end

local function complete(given)
  schema.options("mw.roofline", given, SPEC)
  if given and given.ceilings then check_ceilings(given.ceilings) end
  if given and given.records then check_records(given.records) end
  local spec = setmetatable({}, { __index = given })
  spec.device = given and given.device or session.current:device()
  spec.dtype = given and given.dtype or "f32"
  if not DTYPES[spec.dtype] then
    failure.invalid("mw.roofline: option 'dtype' must be 'f32' or 'f64', got '%s'", spec.dtype)
  end
  if not spec.device then failure.invalid("mw.roofline: no device is open; mw.device() opens one") end
  return spec
end

--- Measures what the device gives at most and places what this run has measured under it: every
--- benchmark that declared bytes and flops, and every record with bytes, flops and t. Prints a
--- table, words and a chart, and writes the chart's files.
--- Options: device (the last one opened), records (all of the session), by (the field that names a
--- kernel), dtype ("f32": whose arithmetic counts where nothing says which), title, name, ceilings
--- (bandwidth, f32, f64 instead of measuring), quiet, pictures.
---@param spec table?
---@return table made  ceilings { bandwidth, f32, f64 }, points { kernel, dtype, intensity, rate,
---                    throughput, roof, share, bound }, words, chart, dat, gp, svg, png
function roofline.draw(spec)
  spec = complete(spec)
  local points = points_of(spec)
  if #points == 0 then
    failure.invalid("mw.roofline: nothing here declares both bytes and flops; give them to mw.bench")
  end
  local most = spec.ceilings or ceiling.of(spec.device)
  most.device, most.device_name = spec.device:id(), spec.device:name()
  for _, point in ipairs(points) do
    place(point, most)
    point.device, point.device_name = most.device, most.device_name
  end
  tables.print { "kernel", "dtype", { "intensity", title = "flop/B" }, "rate",
                 { "roof", unit = "flop/s" }, { "share", unit = "%", digits = 3 }, "bound",
                 title = spec.title or "roofline", records = points, quiet = spec.quiet }
  local text = print_words(points, most, spec)
  local made = draw(points, most, spec)
  made.ceilings, made.points, made.words = most, points, text
  return made
end

return roofline
