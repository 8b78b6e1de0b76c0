-- SPDX-License-Identifier: MIT
--
-- Rooflines: each kernel of a run below the device's limits, by mw.roofline from what its script declares, and by
-- moonwarp roofline from stored runs.
--
-- A kernel that does I operations for each byte it moves can do at most bandwidth * I of them a
-- second, and never more than the arithmetic gives: the roof is the lower of the two (S. Williams,
-- A. Waterman and D. Patterson, "Roofline: an insightful visual performance model for multicore
-- architectures", 2009). Both ceilings are measured on the device, not taken from a data sheet. There is a slope for
-- each level of memory, and a kernel that was counted has a point at each: its operations per byte of that level (the
-- hierarchical roofline of C. Yang, T. Kurth and S. Williams, 2020).

local bench = require "moonwarp.measure.bench"
local ceiling = require "moonwarp.measure.ceiling"
local checking = require "moonwarp.measure.checking"
local failure = require "moonwarp.base.failure"
local fields = require "moonwarp.results.fields"
local figure = require "moonwarp.plot.figure"
local lists = require "moonwarp.base.lists"
local plot = require "moonwarp.plot.plot"
local quantity = require "moonwarp.measure.quantity"
local schema = require "moonwarp.base.schema"
local tables = require "moonwarp.plot.table"
local units = require "moonwarp.base.units"

-- A chart of this kind is a plot, whose kernels have their names at their points.
local roofline = { name = "roofline", text = plot.text, form = plot.form, merge = plot.merge, axis = plot.axis,
                   class = plot.class, drawing = plot.drawing, values = plot.values, weight = plot.weight }

function roofline.words(about) return "roofline of " .. about.device end

local SPEC = { device = "device", records = fields.RECORDS, by = "string", dtype = "string", title = "string",
               name = "string", quiet = "boolean", pictures = "boolean", ceilings = "table" }
local DTYPES = { f32 = true, f64 = true }
-- What a record may call its kernel, the first that it has.
local NAMES = { "kernel", "series", "rung", "version", "name", "study" }
local ABOVE <const> = 1.05 -- times a roof; less is the noise of measured ceilings
local DECADE <const> = 10 -- the roofs are drawn so far beyond the outermost kernel and the ridge

-- ---- the kernels of a run -----------------------------------------------------------------------

local function label_of(entry, field, by)
  if by and fields.value(entry, by) ~= nil then return fields.text(fields.value(entry, by)) end
  local name = lists.find(NAMES, function(name) return type(entry[name]) == "string" end)
  return name and entry[name] or field
end

local function has_work(value)
  return bench.is_result(value) and value.throughput and value.rate and value.intensity
end

-- A record without declared benchmarks may hold bytes, flops and a time by itself.
local function own_work(entry)
  local t, bytes, flops = quantity.read(entry.t), quantity.read(entry.bytes), quantity.read(entry.flops)
  if not (t and bytes and flops) or t <= 0 or bytes <= 0 then return nil end
  return { throughput = bytes / t, rate = flops / t, intensity = flops / bytes, device = entry.device }
end

-- Records first, then what was measured and declared but not recorded.
local function points_of(session, spec)
  local list, seen = {}, {}
  local function add(work, label, entry)
    if work.device and work.device ~= spec.device:id() or work.intensity <= 0 then return end
    local dtype = work.dtype or entry.dtype
    list[#list + 1] = { kernel = label, intensity = work.intensity, rate = work.rate, throughput = work.throughput,
                        dtype = DTYPES[dtype] and dtype or spec.dtype }
  end
  for _, entry in ipairs(spec.records or session.records) do
    local own = own_work(entry)
    for field, value in pairs(entry) do
      if has_work(value) then
        seen[value], own = true, nil
        add(value, value.name or label_of(entry, field, spec.by), entry)
      end
    end
    if own then add(own, label_of(entry, "record", spec.by), entry) end
  end
  for i, result in ipairs(spec.records and {} or bench.declared()) do
    if not seen[result] and has_work(result) then add(result, result.name or ("function %d"):format(i), {}) end
  end
  return list
end

-- ---- under the roof -----------------------------------------------------------------------------

-- Whether a kernel is faster than memory: then it has its data from a cache.
local function is_cached(point, most)
  local slope = most.bandwidth * point.intensity
  return slope < most[point.dtype] and point.rate > ABOVE * slope
end

--- Places a kernel under the roofs: that of a cache where it is faster than memory, as far as that cache's is known.
---@param point table   intensity, rate, dtype; gets roof, share, bound ("memory", "L2", "cache", "compute"), of_memory
---@param most table    bandwidth, l2 (B/s, may be absent), and operations a second by type
function roofline.place(point, most)
  local arithmetic, slope = most[point.dtype], most.bandwidth * point.intensity
  point.bound, point.of_memory = slope < arithmetic and "memory" or "compute", point.rate / slope
  if is_cached(point, most) then
    slope = (most.l2 or math.huge) * point.intensity
    if point.rate > ABOVE * slope then slope = math.huge end
    point.bound = slope < arithmetic and "L2" or "cache"
  end
  point.roof = math.min(slope, arithmetic)
  point.share = point.rate / point.roof
end

-- "twice (f32): memory-bound, 92 % of its roof of 3.2 Gflop/s"
local function words(point)
  local share, roof = units.digits(point.share * 100.0, 2), units.format(point.roof, "flop/s")
  local text = ("%s-bound, %s %% of its roof of %s"):format(point.bound, share, roof)
  if point.bound == "L2" then
    text = ("data from the L2 cache, %s %% of its roof of %s"):format(share, roof)
  elseif point.bound == "cache" then
    text = ("data from a cache, at %s times the bandwidth of memory, %s %% of the arithmetic roof of %s"):format(
      units.digits(point.of_memory, 2), share, roof)
  end
  if point.share > ABOVE and (point.bound == "compute" or point.bound == "cache") then
    text = ("%s %% of the arithmetic roof of %s: are its declared flops right?"):format(share, roof)
  end
  return ("%s (%s): %s"):format(point.kernel, point.dtype, text)
end

local function series_of(point)
  return (point.bound == "cache" or point.bound == "L2") and point.kernel .. ", data from a cache" or point.kernel
end

-- ---- the chart ----------------------------------------------------------------------------------

-- A roof of two straight lines, on logarithmic axes.
local function roof(name, bandwidth, most, low, high)
  return { name = name, points = lists.map({ low / DECADE, most / bandwidth, high * DECADE }, function(x)
    return { x = x, y = math.min(bandwidth * x, most) }
  end) }
end

--- What a chart of kernels under roofs has beyond its head.
---@param points table[]   kernel, rate, intensity, dtype, bound (of place); l2_intensity if L2 was counted
---@param most table       as of place
---@return table
function roofline.chart(points, most)
  local low, high, types, top, has_l2 = math.huge, 0, {}, 0, false
  for _, point in ipairs(points) do
    local ridge = most[point.dtype] / most.bandwidth
    low = math.min(low, point.intensity, point.l2_intensity or ridge, ridge)
    high, types[point.dtype] = math.max(high, point.intensity, ridge), true
    top, has_l2 = math.max(top, most[point.dtype]), has_l2 or point.bound == "L2" or point.l2_intensity ~= nil
  end
  local list = lists.map(lists.keys(types), function(dtype)
    return roof("roof " .. dtype, most.bandwidth, most[dtype], low, high)
  end)
  if has_l2 and most.l2 then list[#list + 1] = roof("roof L2", most.l2, top, low, high) end
  for _, point in ipairs(points) do
    local at = lists.append({ { x = point.intensity, y = point.rate } },
      point.l2_intensity and { { x = point.l2_intensity, y = point.rate } })
    list[#list + 1] = { name = series_of(point), points = at, is_named = true }
  end
  return { kind = "roofline", xlabel = "operations per byte", ylabel = "rate", unit = "flop/s", xunit = "", logx = 10,
           logy = 10, style = "linespoints", series = list, levels = {} }
end

local function draw(session, points, most, spec)
  local where = ("%s (%s)"):format(most.device_name, most.device)
  local about = figure.about(session, spec, "roofline", "roofline", where, spec.records or session.records)
  return figure.leave(session, "mw.roofline", roofline, lists.merged(spec, { records = points }),
    lists.merged(about, roofline.chart(points, most)))
end

local function words_of(points, most)
  local lines = { ("ceilings of %s: %s, %s in f32, %s in f64"):format(most.device, units.format(most.bandwidth, "B/s"),
    units.format(most.f32, "flop/s"), units.format(most.f64, "flop/s")) }
  return table.concat(lists.append(lines, lists.map(points, words)), "\n")
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

local function complete(session, given)
  schema.options("mw.roofline", given, SPEC)
  local spec = lists.merged({ dtype = "f32" }, given)
  if spec.ceilings then check_ceilings(spec.ceilings) end
  spec.device = spec.device or session:device()
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
--- kernel), dtype ("f32": whose arithmetic counts by default), title, name, ceilings
--- (bandwidth, f32, f64 instead of measuring), quiet, pictures.
---@param session table
---@param spec table?
---@return table made  ceilings { bandwidth, f32, f64 }, points { kernel, dtype, intensity, rate,
---                    throughput, roof, share, bound }, words, chart, dat, gp, svg, png
function roofline.draw(session, spec)
  spec = complete(session, spec)
  if checking.is_on(spec.device) then
    return { chart = "", reason = figure.NOT_TIMED, ceilings = {}, points = {}, words = "" }
  end
  local entries = spec.records or session.records
  if #entries > 0 then figure.check_fields("mw.roofline", spec, { "by" }, entries) end
  local points = points_of(session, spec)
  if #points == 0 then
    failure.invalid("mw.roofline: nothing here declares both bytes and flops; give them to mw.bench")
  end
  local most = spec.ceilings or ceiling.of(session, spec.device)
  most.device, most.device_name = spec.device:id(), spec.device:name()
  if not spec.ceilings and lists.find(points, function(point) return is_cached(point, most) end) then
    most.l2 = ceiling.value(session, spec.device, "triad_l2")
  end
  for _, point in ipairs(points) do
    roofline.place(point, most)
    point.device, point.device_name = most.device, most.device_name
  end
  tables.print(session, { "kernel", "dtype", { "intensity", title = "flop/B" }, { "rate", unit = "flop/s" },
                          { "roof", unit = "flop/s" }, { "share", unit = "%", digits = 3 }, "bound",
                          title = spec.title or "roofline", records = points, quiet = spec.quiet })
  local text = words_of(points, most)
  figure.say(session, spec, text)
  local made = draw(session, points, most, spec)
  made.ceilings, made.points, made.words = most, points, text
  return made
end

return roofline
