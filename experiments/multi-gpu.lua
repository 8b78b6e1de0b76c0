-- SPDX-License-Identifier: MIT
--
-- multi-gpu: what does it cost to compute on several GPUs, and how much of their exchange can be hidden?
--
-- Copies between each pair of devices, loads, stores and atomics of a kernel in another device's memory, sums over
-- all devices by NCCL and by own kernels, and 3-D heat diffusion over the devices, or the ranks of an MPI job: each has
-- some planes of the box, and a halo of one plane on both sides, which its neighbours write after each step. Without a
-- GPU two CPU devices share the processor. See docs/studies/multi-gpu.md.

local mw = require "moonwarp"
local mpi = require "moonwarp.mpi"
local nccl = require "moonwarp.nccl"

local study, p, gpu = mw.study {
  question = "what does it cost to compute on several GPUs, and how much of their exchange can be hidden?",
  course = { week = 9.3, level = 2, hours = 4, about = "several devices, and an exchange behind the work",
             without_gpu = "order between devices, halos" },
  kernels = "multi-gpu.cu", rate = "T_tot", seconds = { 0.02, gpu = 0.1 }, peak = function() end,
  params = {
    { "devices", 2, "how many devices; 0: all that reach each other", min = 0, max = 16,
      check = function(v) return v == 1 and "two or more" or nil end },
    { "n", 1 << 22, "floats of a copy, and of the largest sum", gpu = 1 << 28, min = 4096, max = 1 << 30,
      check = function(v) return v % 4096 ~= 0 and "a multiple of 4096" or nil end },
    { "least", 1 << 10, "floats of the smallest sum", min = 1 << 10 },
    { "sides", { 32, 64 }, "cells along each side of a device's box", gpu = { 128, 512 }, min = 8, max = 2048 },
    { "strong", 64, "cells along each side of the box that is shared", gpu = 512, min = 16, max = 2048 },
    { "steps", 4, "steps of heat in a call, even", gpu = 20, min = 2, max = 1000,
      check = function(v) return v % 2 ~= 0 and "even: they end where they began" or nil end },
    { "deep", 32, "planes that a thread of heat marches through", min = 1, max = 1024 },
  },
}

-- ---- devices ------------------------------------------------------------------------------------------

local devices, kernels, comm = nil, {}, nil
local in_job, ranks = pcall(mpi.size)

-- Those that the study's device reaches; of a CPU device without such, two that share the processor.
local function ids_of(dev)
  local ids = { dev:id() }
  if in_job then return ids end
  for _, peer in ipairs(dev:peers()) do if peer.access then ids[#ids + 1] = peer.id end end
  if ids[2] then return ids end
  if gpu then mw.skip("no other GPU is there whose memory this one reaches; --device cpu runs on CPU devices") end
  local count = math.max(2, p.devices)
  for i = 1, count do ids[i] = ("cpu:%d/%d"):format(i - 1, count) end
  return ids
end

local function open(dev)
  if devices then return end
  local ids = ids_of(dev)
  devices = {}
  for i = 1, p.devices > 0 and math.min(p.devices, #ids) or #ids do
    devices[i] = mw.device(ids[i])
    kernels[i] = devices[i]:module "multi-gpu.cu"
  end
  comm = nccl.communicator(not in_job and devices or nil)
end

local function second() -- of what needs two devices in this process
  return devices[2] or mw.skip "over the ranks of a job heat alone is computed: -p parts=weak,strong"
end

local function each_device(make)
  local list = {}
  for d, dev in ipairs(devices) do list[d] = make(dev, d) end
  return list
end

local function new_stream(c, d, priority)
  return c:keep(devices[d]:stream { blocking = false, priority = priority })
end

-- A stream for each device.
local function streams_of(c) return each_device(function(_, d) return new_stream(c, d) end) end

local function mark(stream) return stream:device():event { timing = false } end

-- body(), whose work is in streams of several devices, as work of one stream: they wait for it, and it for them.
local function within(main, streams, body)
  local begun, ends = mark(main), {}
  for i, stream in ipairs(streams) do ends[i] = mark(stream) end
  return function()
    main:record(begun)
    for _, stream in ipairs(streams) do stream:wait(begun) end
    body()
    for i, stream in ipairs(streams) do
      stream:record(ends[i])
      main:wait(ends[i])
    end
  end
end

-- The same as work of the first device's default stream, in order with the default streams of the others, in which
-- arrays are filled and read.
local function of_all(streams, body)
  local defaults = each_device(function(dev) return dev:default_stream() end)
  local main = table.remove(defaults, 1)
  local meet = within(main, defaults, function() end)
  local go = within(main, streams, body)
  return function()
    meet()
    go()
    meet()
  end
end

-- The function of a rung: make(c) returns streams and what is done in them. As a graph, it is captured once.
local function as_graph(make)
  return function(c)
    local streams, body = make(c)
    local graph = c:keep(devices[1]:capture(function(main) within(main, streams, body)() end))
    local stream = new_stream(c, 1)
    return of_all({ stream }, function() graph:launch(stream) end)
  end
end

local function of_streams(make)
  return function(c) return of_all(make(c)) end
end

function study.arrays(c)
  open(c.dev)
  return {}
end

-- ---- copies between pairs -----------------------------------------------------------------------------

local function measured(f, stream)
  return mw.bench(f, { device = stream:device(), stream = stream, min_time = p.seconds, max_time = 3 * p.seconds })
end

-- Rates in GB/s or times in us, from row to column, as a picture of the device's colours.
local function picture(name, title, matrix, unit)
  local size, flat = #devices, {}
  for from = 1, size do for to = 1, size do flat[#flat + 1] = matrix[to][from] end end
  if devices[1]:properties().checks then return end -- nothing is timed
  local array <close> = devices[1]:array("f32", size, size)
  array:upload(flat)
  mw.picture(array, { name = "multi-gpu-" .. name, title = title, xlabel = "from device", ylabel = "to device",
                      x = { 0, size - 1 }, y = { 0, size - 1 }, low = 0, label = unit, device = devices[1] })
end

study:part { "pairs", run = function()
  local c <close> = study:case { n = 1 }
  second()
  local n, small = p.n, 1024
  local from = each_device(function(dev, d) return c:keep(dev:array("f32", n):random(d)) end)
  local to = each_device(function(dev) return c:keep(dev:array("f32", n)) end)
  local lane, all, rates, latencies, records = streams_of(c), {}, {}, {}, {}
  for a in ipairs(devices) do
    rates[a], latencies[a] = {}, {}
    for b in ipairs(devices) do
      local on, few = { stream = lane[a] }, { stream = lane[a], count = 1 }
      local name = ("%s to %s"):format(devices[a]:id(), devices[b]:id())
      local first = to[b]:view(1, small):copy(from[a], { count = small })
      mw.check(first, from[a]:view(1, small):totable(), { exact = true, name = name })
      local whole = measured(function() to[b]:copy(from[a], on) end, lane[a])
      local one = measured(function() to[b]:copy(from[a], few) end, lane[a])
      records[#records + 1] = mw.record { study = "multi-gpu", group = "pairs", rung = name, t = whole, n = n,
                                          T_tot = 4 * n / whole, latency = one, units = { latency = "s" } }
      rates[a][b], latencies[a][b] = 4e-9 * n / whole.median, 1e6 * one.median
      if a ~= b then
        all[#all + 1] = { c:keep(devices[b]:array("f32", n)), from[a], { stream = new_stream(c, a) } }
      end
    end
  end
  local streams = {}
  for i, one in ipairs(all) do streams[i] = one[3].stream end
  local together = within(lane[1], streams, function()
    for _, one in ipairs(all) do one[1]:copy(one[2], one[3]) end
  end)
  local t = measured(together, lane[1])
  records[#records + 1] = mw.record { study = "multi-gpu", group = "pairs", rung = "all at once", t = t,
                                      T_tot = 4 * n * #all / t, n = n }
  mw.table { "rung", "n", "t", "T_tot", "latency", records = records,
             title = "multi-gpu: copies between devices, and of one float" }
  picture("rates", "multi-gpu: copies of " .. n .. " floats (GB/s)", rates, "GB/s")
  picture("latencies", "multi-gpu: copies of one float (us)", latencies, "us")
end }

-- ---- a kernel in another device's memory ---------------------------------------------------------------

local THREADS <const> = 256
-- A launch of a device.
local function launch(d, name, how, ...)
  local go, arguments = kernels[d]:kernel(name):prepare(how), table.pack(...)
  return function() go(table.unpack(arguments, 1, arguments.n)) end
end

local function spread(d, n, stream)
  return { grid = math.max(1, math.min(mw.ceil_div(n, THREADS), 16 * devices[d]:properties().multiprocessors)),
           block = THREADS, stream = stream }
end

study:part { "remote", cases = { { floats = p.n, type = "f32" } }, odd = { { floats = 3000, type = "f32" } },
  level = "own memory", rungs = { "copied" }, arrays = function(c)
    local a, b, n = devices[1], second(), c.floats
    return { own = a:array("f32", n):random(1), there = b:array("f32", n):random(1), y = a:array("f32", n),
             y_there = b:array("f32", n) }
  end,
  table = { "rung", "floats", "t", "T_tot", "share" }, charts = { { kind = "ladder" } },
  ratios = { "loads / copy engine", "stores / copy engine" } }

study:answer("copied", { equal = "own", output = "y", bytes = function(c) return 4 * c.floats end })

for number, way in ipairs { { "own memory", "own", "y" }, { "loads", "there", "y" }, { "stores", "own", "y_there" } } do
  study:rung { number, way[1], answer = "copied", output = way[3], make = function(c)
    return of_all({}, launch(1, "copy", spread(1, c.floats // 4), c[way[3]], c[way[2]], c.floats // 4))
  end }
end

study:rung { 4, "copy engine", answer = "copied", make = function(c)
  local stream = new_stream(c, 1)
  return of_all({ stream }, function() c.y:copy(c.there, { stream = stream }) end)
end }

-- ---- loads that need one another, and atomics --------------------------------------------------------------

local PLACES <const>, EACH <const> = 1024, 16

study:part { "single", cases = { { steps = gpu and 10000 or 1000, adders = gpu and 1 << 20 or 1 << 14 } },
  odd = { { steps = 37, adders = 1024 } }, rungs = { "chased", "counted" },
  rate = { "operations", work = function(c, rung)
    return rung.answer == "chased" and c.steps or c.adders * EACH
  end }, units = { operations = "1/s" }, arrays = function(c)
    local a, b, next_places = devices[1], second(), {}
    for i = 0, PLACES - 1 do next_places[i + 1] = (i + 33) % PLACES end
    c.last = c.steps * 33 % PLACES
    return { list = a:array("i32", next_places), list_there = b:array("i32", next_places), place = a:array("i32", 1),
             counters = a:zeros("u32", PLACES), counters_there = b:zeros("u32", PLACES) }
  end, table = { "rung", "t", "operations" } }

study:answer("chased", { cell = function(c) return c.last end, output = "place",
                         bytes = function(c) return 4 * c.steps end })
study:answer("counted", { cell = function(c) return c.adders * EACH // PLACES end, output = "counters",
                          bytes = function(c) return 4 * c.adders * EACH end,
                          start = function(_, out) out:fill(0) end })

for i, where in ipairs { { "own memory", "" }, { "another's", "_there" } } do
  study:rung { 4 + i, "load, " .. where[1], answer = "chased", make = function(c)
    return of_all({}, launch(1, "chase", { grid = 1, block = 1 }, c.place, c["list" .. where[2]], c.steps))
  end }
  study:rung { 6 + i, "atomics, " .. where[1], answer = "counted", output = "counters" .. where[2],
    when = function(c)
      open(c.dev)
      return i == 1 or devices[1]:peers()[1].atomics
    end, make = function(c)
      return of_all({}, launch(1, "count", { grid = c.adders // THREADS, block = THREADS }, c["counters" .. where[2]],
                               PLACES, EACH))
    end }
end

-- ---- sums over all devices -------------------------------------------------------------------------------

local sizes = mw.geometric(p.n, math.min(p.n, p.least), 8)

-- Bytes that each device sends at least, as nccl-tests count them: 2 (devices - 1) / devices of its array.
study:part { "all-reduce", cases = { { floats = sizes, type = "f32" } }, odd = { { floats = 2048, type = "f32" } },
  rungs = { "sum" },
  rate = { "bus", work = function(c) return 8 * c.floats * (#devices - 1) / #devices end }, units = { bus = "B/s" },
  arrays = function(c)
    local all, _ = {}, second()
    c.xs = each_device(function(dev, d) return dev:array("f32", c.floats):random(d) end)
    c.ys = each_device(function(dev) return dev:array("f32", c.floats) end)
    for d in ipairs(devices) do all["x" .. d], all["y" .. d] = c.xs[d], c.ys[d] end
    return all
  end,
  rows = "all", table = { "rung", "floats", "t", "bus" },
  charts = { { x = "floats", logx = 2, logy = true, xlabel = "floats of a device" } } }

study:answer("sum", { output = "y1", bytes = function(c) return 8 * c.floats end,
  cell = function(_, at, i)
    local sum = 0
    for d = 1, #devices do sum = sum + at["x" .. d](i) end
    return sum
  end,
  tolerance = function() return { absolute = (#devices) ^ 2 * 2.0 ^ -23 } end,
  also = function(c, check)
    for d = 2, #devices do check(c.ys[d], c.y1, { absolute = (#devices) ^ 2 * 2.0 ^ -23, name = "of device " .. d }) end
  end })

local function by_nccl(c)
  local streams = streams_of(c)
  local o = { streams = streams }
  return streams, function() comm:all_reduce(c.ys, c.xs, o) end
end
study:rung { 9, "moonwarp.nccl", answer = "sum", make = of_streams(by_nccl) }
study:rung { 9, "moonwarp.nccl, graph", answer = "sum", make = as_graph(by_nccl) }

-- out = the sum of some floats of all inputs, on device d: a launch for each input but its own.
local function sum_there(c, d, stream, out, first, count)
  local list, own = {}, c.xs[d]:view(first, count)
  for k, x in ipairs(c.xs) do
    if k ~= d then
      local a = list[1] and out or own
      list[#list + 1] = launch(d, "add", spread(d, count // 4, stream), out, a, x:view(first, count), count // 4)
    end
  end
  return function() for _, go in ipairs(list) do go() end end
end

study:rung { 10, "each reads all", answer = "sum", make = function(c)
  local streams = streams_of(c)
  local sums = each_device(function(_, d) return sum_there(c, d, streams[d], c.ys[d], 1, c.floats) end)
  return of_all(streams, function() for _, go in ipairs(sums) do go() end end)
end }

-- Each adds up its part, and copies it to the others.
study:rung { 11, "parts, then copies", answer = "sum", make = function(c)
  local streams, part = streams_of(c), c.floats // #devices // 4 * 4
  local steps = each_device(function(_, d)
    local first = (d - 1) * part + 1
    local count = d < #devices and part or c.floats - first + 1
    local mine, on = c.ys[d]:view(first, count), { from = first, to = first, count = count, stream = streams[d] }
    local add = sum_there(c, d, streams[d], mine, first, count)
    return function()
      add()
      for k, y in ipairs(c.ys) do if k ~= d then y:copy(c.ys[d], on) end end
    end
  end)
  return of_all(streams, function() for _, go in ipairs(steps) do go() end end)
end }

-- ---- 3-D heat diffusion -----------------------------------------------------------------------------------

local K <const>, BLOCK <const> = 0.1, { 64, 4 }

-- The box of `used` devices, or ranks: whole is all of it with a fixed plane below and above; device d of this process
-- has planes[d] of them from first[d] on, in A and B, with a halo on each side.
local function box(c)
  local plane, all = c.side * c.side, {}
  c.plane, c.planes, c.first, c.height = plane, {}, {}, c.height or c.side * c.used
  c.grid = mw.grid { c.side, c.side, c.height, halo = { 0, 0, 1 }, comm = in_job and comm or nil,
                     devices = not in_job and { table.unpack(devices, 1, c.used) } or nil }
  for _, stream in ipairs(c.grid:streams()) do c:keep(stream) end
  c.A, c.B = c.grid:array "f64", c.grid:array "f64"
  for d, part in ipairs(c.grid.parts) do
    c.first[d], c.planes[d] = part.first[3], part.size[3]
    all["A" .. d], all["B" .. d] = c.A[d], c.B[d]
    all["inner" .. d] = c.A[d]:view(plane + 1, c.planes[d] * plane)
  end
  all.whole = c.dev:array("f64", (c.height + 2) * plane):random(1)
  return all
end

-- All parts as they are in the beginning, also the planes that no kernel writes.
local function begin(c)
  for d in ipairs(c.A) do
    for _, array in ipairs { c.A[d], c.B[d] } do
      array:copy(c.whole, { from = c.first[d] * c.plane + 1, count = #array })
    end
  end
end

-- The value of a cell after so many steps, by the definition, between two planes that stay as they were. at(i): of the
-- beginning, by the place in whole.
local function value(c, at, steps, x, y, z, low, high)
  local last = c.side - 1
  if steps == 0 or z == low or z == high then return at(z * c.plane + y * c.side + x + 1) end
  local function of(i, k, m)
    return value(c, at, steps - 1, math.max(0, math.min(last, i)), math.max(0, math.min(last, k)), m, low, high)
  end
  local here = of(x, y, z)
  return here + K * (of(x - 1, y, z) + of(x + 1, y, z) + of(x, y - 1, z) + of(x, y + 1, z) + of(x, y, z - 1)
    + of(x, y, z + 1) - 6 * here)
end

-- The result of a device's part after two steps: of its own cells alone, or of all.
local function all_of(c, d, is_alone)
  local flat, list, low, high = c.whole:totable(), {}, 0, c.height + 1
  if is_alone then low, high = c.first[d], c.first[d] + c.planes[d] + 1 end
  for place = 0, c.planes[d] * c.plane - 1 do
    local x, y, z = place % c.side, place // c.side % c.side, place // c.plane + 1 + c.first[d]
    list[place + 1] = value(c, function(at) return flat[at] end, 2, x, y, z, low, high)
  end
  return list
end

-- Planes first to last of a box, from one array to the other.
local function planes_of(c, d, out, from, stream, first, last, stride, deep)
  local grid = { mw.ceil_div(c.side, BLOCK[1]), mw.ceil_div(c.side, BLOCK[2]), mw.ceil_div(last - first + 1, stride) }
  return launch(d, "heat", { grid = grid, block = BLOCK, stream = stream }, out, from, c.side, c.side, first, last + 1,
                stride, deep, K)
end

-- All steps, from one array to the other and back.
local function repeated(c, make, a, b)
  local there, back = make(b, a), make(a, b)
  return function()
    for _ = 1, c.steps // 2 do
      there()
      back()
    end
  end
end

-- The same planes by the first device in one launch per step, from plane `below` of whole on: the reference.
local function by_one(c, below, count)
  local length = (count + 2) * c.plane
  local a, b <close> = devices[1]:array("f64", length), devices[1]:array("f64", length)
  for _, array in ipairs { a, b } do array:copy(c.whole, { from = below * c.plane + 1, count = length }) end
  repeated(c, function(out, from) return planes_of(c, 1, out, from, nil, 1, count, p.deep, p.deep) end, a, b)()
  return a
end

local results = setmetatable({}, { __mode = "k" }) -- all planes after the steps, by whole
local TOLERANCE <const> = { absolute = 2.0 ^ -48 }
local MOST <const> = p.devices > 0 and p.devices or 16
for d = 1, MOST do
  study:answer("alone, " .. d, { output = "inner" .. d, start = begin, tolerance = function() return TOLERANCE end,
    host = function(c) return all_of(c, d, true) end,
    reference = function(c) return by_one(c, c.first[d], c.planes[d]):view(c.plane + 1, c.planes[d] * c.plane) end,
    bytes = function(c) return 16 * c.planes[d] * c.plane * c.steps end })
end

study:answer("heat", { output = "inner1", start = begin, tolerance = function() return TOLERANCE end,
  host = function(c) return all_of(c, 1) end,
  reference = function(c)
    results[c.whole] = by_one(c, 0, c.height)
    return results[c.whole]:view((c.first[1] + 1) * c.plane + 1, c.planes[1] * c.plane)
  end,
  bytes = function(c) return 16 * mw.ceil_div(c.height, c.used) * c.plane * c.steps end, -- of a device
  also = function(c, check)
    local all = results[c.whole]
    for d = 2, #c.A do
      local wanted = all and all:view((c.first[d] + 1) * c.plane + 1, c.planes[d] * c.plane) or all_of(c, d)
      check(c["inner" .. d], wanted, { absolute = TOLERANCE.absolute, name = "of device " .. d })
    end
  end })

-- ---- a step, and ways to exchange ----------------------------------------------------------------------

-- Steps of one device alone.
local function alone(c, d)
  local stream = new_stream(c, d)
  return of_all({ stream }, repeated(c, function(out, from)
    return planes_of(c, d, out, from, stream, 1, c.planes[d], p.deep, p.deep)
  end, c.A[d], c.B[d]))
end

-- The same in parts: the first and the last plane in an urgent stream, the others in another one.
local function in_parts(c, d)
  local main, other, last = new_stream(c, d), new_stream(c, d, select(2, devices[d]:priorities())), c.planes[d]
  local inner_done, border_done = mark(main), mark(other)
  return of_all({ main, other }, repeated(c, function(out, from)
    local outer = planes_of(c, d, out, from, other, 1, last, math.max(1, last - 1), 1)
    local inner = last > 2 and planes_of(c, d, out, from, main, 2, last - 1, p.deep, p.deep) or function() end
    return function()
      outer()
      inner()
      other:record(border_done)
      main:record(inner_done)
      other:wait(inner_done)
      main:wait(border_done)
    end
  end, c.A[d], c.B[d]))
end

-- Launches of mw.grid: planes side by side march, the two of a border are one launch.
local function launcher(c, out, from)
  return function(part, boxes, stream)
    local d, first, last = part.number, boxes[1].first[3], boxes[#boxes].first[3]
    if boxes[2] then return planes_of(c, d, out[d], from[d], stream, first, last, last - first, 1) end
    return planes_of(c, d, out[d], from[d], stream, first, first + boxes[1].size[3] - 1, p.deep, p.deep)
  end
end

-- Steps of all devices: way is a method of mw.grid, "step" with the exchange after each step, or "overlap".
local function stepped(way)
  return function(c)
    return c.grid:streams(), repeated(c, function(out, from)
      return c.grid[way](c.grid, launcher(c, out, from), out)
    end, c.A, c.B)
  end
end

for d = 1, MOST do
  study:rung { 12, "alone, device " .. d, answer = "alone, " .. d, make = function(c) return alone(c, d) end,
               when = function(c) return math.min(c.used, #devices) >= d end }
end
study:rung { 13, "alone, in parts", answer = "alone, 1", make = function(c) return in_parts(c, 1) end }
study:rung { 14, "exchange after", answer = "heat", make = of_streams(stepped "step") }
study:rung { 15, "overlap", answer = "heat", make = of_streams(stepped "overlap") }
study:rung { 16, "overlap, graph", answer = "heat", make = as_graph(stepped "overlap"),
             when = function() return gpu or not in_job end } -- MPI's calls are the host's

-- Efficiency: the slowest device alone over all together. Hidden: of the exchange's time, which is what a step without
-- overlap takes beyond that.
local function derive(records)
  local t, slowest = {}, 0
  for _, r in ipairs(records) do
    t[r.rung] = r.t.median
    if r.rung:find "^alone, device" then slowest = math.max(slowest, r.t.median) end
  end
  local after = t["exchange after"]
  for _, r in ipairs(records) do
    if not r.rung:find "^alone" and slowest > 0 then
      r.efficiency = slowest / r.t.median
      if after and r.rung ~= "exchange after" then r.hidden = (after - r.t.median) / (after - slowest) end
    elseif r.rung == "alone, in parts" and t["alone, device 1"] then
      r.efficiency = t["alone, device 1"] / r.t.median
    end
  end
end

local HEAT <const> = { "alone, device 1", "alone, in parts", "exchange after", "overlap", "overlap, graph" }
for d = 2, MOST do HEAT[#HEAT + 1] = "alone, device " .. d end

local used <const> = in_job and ranks or 2 -- by cases of odd sizes
study:part { "weak", rungs = HEAT, cases = function(dev)
    open(dev)
    return { { side = p.sides, used = in_job and ranks or #devices, steps = p.steps } }
  end,
  odd = { { side = 9, used = used, height = 5 * used + 1, steps = 2 },
          { side = 13, used = used, height = 2 * used + 1, steps = 2 } },
  arrays = box, derive = derive, rows = "all", units = { efficiency = "%", hidden = "%" },
  table = { "rung", "side", "t", "T_tot", { "efficiency", digits = 4 }, { "hidden", digits = 3 } } }

-- ---- a timeline of two steps ----------------------------------------------------------------------------

-- The time of an event of each part in seconds from one origin: the devices, which are idle, begin where the host's
-- clock says.
local function clocks(c)
  local first = mw.clock()
  local origins = each_device(function(dev, d)
    dev:synchronize()
    local event = c.grid.parts[d].main:record()
    event:synchronize()
    return { event = event, ahead = mw.clock() - first }
  end)
  return function(event, d) return event:since(origins[d].event) + origins[d].ahead end
end

local function timeline(way)
  local side, spans, last = p.sides[#p.sides], {}, {} -- last: the event that each stream recorded last
  local c <close> = study:case { side = side, used = #devices }
  for name, array in pairs(box(c)) do c[name] = c:keep(array) end
  begin(c)
  local function add(part, stream, kind, from)
    last[stream] = stream:record()
    local lane = part.device:id() .. (stream == part.main and "" or ", urgent")
    spans[#spans + 1] = { from = from, to = last[stream], kind = kind, label = tostring(part.number), lane = lane }
  end
  local function traced(out, from)
    return c.grid[way](c.grid, function(part, boxes, stream)
      local go = launcher(c, out, from)(part, boxes, stream)
      local kind = stream ~= part.main and "border" or way == "step" and "all planes" or "planes between"
      return function()
        local begun = stream:record()
        go()
        add(part, stream, kind, begun)
      end
    end, out)
  end
  local there, back = traced(c.B, c.A), traced(c.A, c.B)
  there() -- the first time is another
  local at = clocks(c)
  spans = {}
  for _, step in ipairs { back, there } do
    step()
    for _, part in ipairs(c.grid.parts) do
      local stream = way == "step" and part.main or part.outer
      add(part, stream, "copies, and waits for others", last[stream])
    end
  end
  each_device(function(dev) dev:synchronize() end)
  for _, span in ipairs(spans) do
    for _, name in ipairs { "from", "to" } do span[name] = at(span[name], tonumber(span.label)) end
  end
  mw.timeline { spans = spans, name = "multi-gpu-" .. way, device = c.dev,
                title = ("multi-gpu: two steps, %d^3 cells per device, %s"):format(side, way) }
end

study:part { "timeline", run = function()
  open(study.dev)
  if in_job or devices[1]:properties().checks then return end -- nothing is timed
  for _, way in ipairs { "step", "overlap" } do timeline(way) end
end }

local one = {} -- times of one device
study:part { "strong", rungs = { "overlap", "overlap, graph" }, cases = function(dev)
    open(dev)
    local list = { in_job and ranks or 1 }
    for count = 2, #devices do list[count] = count end
    return { { side = p.strong, height = p.strong, used = list, steps = p.steps } }
  end,
  odd = { { side = 9, used = in_job and ranks or 1, height = 6 * used, steps = 2 } }, arrays = box, rows = "all",
  table = { "rung", "used", "t", "T_tot", "speedup" },
  derive = function(records, c)
    for _, r in ipairs(records) do
      if c.used == 1 then one[r.rung] = r.t.median end
      if one[r.rung] then r.speedup = one[r.rung] / r.t.median end
    end
  end }
return study
