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
-- Sources: S. Boerm, "Simulation and High-Performance Computing", part 16 (interlaced streams). Its loop
-- `for (i = 0; i < n / chunk; i += chunk)` mixes two counts: i is an element, n / chunk a number of
-- pieces, so it ends after the first piece as soon as chunk >= n / chunk, and n = 10 chunk is done to a
-- tenth. It must be i < n, with a shorter last piece where chunk does not divide n.
-- M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs", lecture 6 (default stream, callbacks, events).
--
-- What others measured: one H200, for this project: pinned 55.5 GB/s each way, pageable in 9.5.

local mw = require "moonwarp"
local core = require "moonwarp.core"

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
local smallest = mw.arg("smallest", 1 << 14, "least elements of the sweep of copies", { min = 1 })
if rounds > 0 and rounds % 2 == 0 then error("parameter 'rounds' must be odd: the result is then 1 - x", 0) end

local module = dev:module { file = "streams.cu", templates = { "iterate<float>", "iterate<double>" } }
local iterate = module:kernel(dtype == "f32" and "iterate<float>" or "iterate<double>")
local nothing = module.nothing:prepare { grid = 1, block = 1 }
local nothing_own = module.nothing:prepare { grid = 1, block = 1, stream = dev:default_stream "per-thread" }

local function ceil_div(a, b)
  return (a + b - 1) // b
end

-- ---- data and reference -------------------------------------------------------------------------

-- A prime, so that a piece in the wrong place shows; the host computes one period and repeats it.
local PERIOD = math.min(n, 1000003)
local SLACK = 32 * most_streams -- pieces are whole lines of 128 bytes and more, so buffers may jut out

local x, y, want = dev:pinned(dtype, n), dev:pinned(dtype, n), dev:pageable(dtype, n)
local plain_x, plain_y = dev:pageable(dtype, n), dev:pageable(dtype, n)
local input, output = dev:array(dtype, n + SLACK), dev:array(dtype, n + SLACK)

local function repeat_period(array)
  local done = PERIOD
  while done < n do
    local count = math.min(done, n - done)
    array:copy(array, { from = 1, to = done + 1, count = count })
    done = done + count
  end
end

-- Multiples of 2^-20 below 1: an odd number of rounds v = 1 - v leaves 1 - v, exactly.
local function make_data()
  local values, results, state = {}, {}, 1
  for i = 1, PERIOD do
    state = (state * 1103515245 + 12345) & 0x7fffffff
    local v = (state >> 11) / 1048576
    values[i], results[i] = v, 1 - v
  end
  plain_x:view(1, PERIOD):upload(values)
  want:view(1, PERIOD):upload(results)
  repeat_period(plain_x)
  repeat_period(want)
  x:copy(plain_x)
end

local function poison(line)
  for _, array in ipairs { line.y, input, output } do array:fill(0 / 0) end
  dev:synchronize()
end

-- ---- pipelines ----------------------------------------------------------------------------------

local pools = { [true] = {}, [false] = {} } -- streams, by whether the default stream waits for them

local function stream(i, blocking)
  local pool = pools[blocking or false]
  pool[i] = pool[i] or dev:stream { blocking = blocking or false }
  return pool[i]
end

-- One piece: its views, its stream, its launch. Each stream has a buffer before and one behind the
-- kernel; that a stream keeps its order is all that protects them.
local function piece_of(line, i, first)
  local lane = (i - 1) % line.count + 1
  local count, at = math.min(line.size, n - first + 1), (lane - 1) * line.size + 1
  local queue = line.streams[lane]
  return { lane = lane, count = count, stream = queue, on = { stream = queue },
           x = line.x:view(first, count), y = line.y:view(first, count),
           input = input:view(at, count), output = output:view(at, count),
           go = iterate:prepare { grid = ceil_div(count, block), block = block, stream = queue } }
end

-- The array in `chunks` pieces (fewer where it is too short), dealt out over `streams` streams.
-- Options: blocking (streams that the default stream waits for), pageable (host memory).
local function line_of(streams, chunks, options)
  options = options or {}
  local size = ceil_div(ceil_div(n, chunks), 32) * 32
  local line = { count = math.min(streams, ceil_div(n, size)), size = size, asked = chunks, streams = {}, pieces = {},
                 x = options.pageable and plain_x or x, y = options.pageable and plain_y or y }
  for s = 1, line.count do line.streams[s] = stream(s, options.blocking) end
  for first = 1, n, size do
    line.pieces[#line.pieces + 1] = piece_of(line, #line.pieces + 1, first)
  end
  return line
end

local steps = {}
function steps.copy_in(p) p.input:copy(p.x, p.on) end
function steps.kernel(p) p.go(p.output, p.input, -1, 1, rounds, p.count) end
function steps.copy_out(p) p.y:copy(p.output, p.on) end

-- Queues the whole pipeline, piece by piece; after(piece, i) follows each.
local function queue(line, after)
  for i, p in ipairs(line.pieces) do
    steps.copy_in(p)
    steps.kernel(p)
    steps.copy_out(p)
    if after then after(p, i) end
  end
end

-- The lecture's loop, to its end: before a stream gets its next piece, the host waits for the other one.
local function wait_for_other(line)
  return function(p) line.streams[p.lane % line.count + 1]:synchronize() end
end

local function in_legacy_stream() nothing() end
local function in_per_thread_stream() nothing_own() end

-- ---- measuring ----------------------------------------------------------------------------------

local function median(list)
  table.sort(list)
  return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

-- Until all is done, and until all was queued.
local function seconds_of(run)
  local start = core.clock()
  run()
  local queued = core.clock() - start
  dev:synchronize()
  return core.clock() - start, queued
end

-- Times contenders { run = function } in turn, A B A B ..., so that a slow moment of the machine meets
-- all of them; leaves the medians as t and queued.
local function alternate(contenders)
  local spent, round = 0, 0
  for _, c in ipairs(contenders) do
    seconds_of(c.run)
    c.all, c.heads = {}, {}
  end
  repeat
    round = round + 1
    for _, c in ipairs(contenders) do
      c.all[round], c.heads[round] = seconds_of(c.run)
      spent = spent + c.all[round]
    end
  until round >= 5 and spent >= seconds * #contenders
  for _, c in ipairs(contenders) do c.t, c.queued = median(c.all), median(c.heads) end
end

local STAGES = { "copy_in", "kernel", "copy_out" }

-- The three stages alone, in the same pieces, one after another in one stream.
local function stage_contenders(chunks)
  local line, list = line_of(1, chunks), {}
  for i, name in ipairs(STAGES) do
    list[i] = { run = function()
      for _, p in ipairs(line.pieces) do steps[name](p) end
    end }
  end
  return list
end

local function stages_from(contenders)
  local s = {}
  for i, name in ipairs(STAGES) do s[name] = contenders[i].t end
  s.sum = s.copy_in + s.kernel + s.copy_out
  s.longest = math.max(s.copy_in, s.kernel, s.copy_out)
  return s
end

local function ideal(s, streams, chunks)
  local pace = math.max(s.longest, s.sum / streams)
  return (s.sum + (chunks - 1) * pace) / chunks / s.longest
end

local function record_of(group, c, s)
  local streams, chunks = c.line.count, #c.line.pieces
  return mw.record {
    study = "streams", group = group, rung = c.rung, streams = streams, chunks = chunks, pieces = c.line.asked,
    series = ("%d stream%s"):format(streams, streams == 1 and "" or "s"), rounds = rounds,
    t = c.t, queued = c.queued, samples = #c.all, copy_in = s.copy_in, kernel = s.kernel, copy_out = s.copy_out,
    over = c.t / s.longest, ideal = ideal(s, streams, chunks),
    hidden = (s.sum - c.t) / (s.copy_in + s.copy_out), share = (s.sum - c.t) / (s.sum - s.longest),
  }
end

-- Measures pipelines { rung =, line =, run = } of equal pieces beside their three stages, checks all of
-- the results, and says how much of the copies each of them hid.
local function measure(group, chunks, pipelines)
  local contenders = table.move(pipelines, 1, #pipelines, #STAGES + 1, stage_contenders(chunks))
  alternate(contenders)
  local s, records = stages_from(contenders), {}
  for i, c in ipairs(pipelines) do
    poison(c.line)
    seconds_of(c.run)
    mw.check(c.line.y, want, { exact = true, name = ("%s, %d pieces"):format(c.rung, chunks) })
    records[i] = record_of(group, c, s)
  end
  return records
end

local function contender(rung, line, after)
  return { rung = rung, line = line, run = function() queue(line, after) end }
end

-- All numbers of streams, with the same pieces.
local function pipelines_of(chunks)
  local list = {}
  for _, streams in ipairs { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 } do
    if streams <= math.min(chunks, most_streams) then
      list[#list + 1] = contender(("streams: %d"):format(streams), line_of(streams, chunks))
    end
  end
  return measure("pipeline", chunks, list)
end

local function best(records)
  local least = records[1]
  for _, r in ipairs(records) do least = r.t < least.t and r or least end
  return least
end

-- ---- copies alone -------------------------------------------------------------------------------

local function host_copy(kind, way, to, from)
  local on = { stream = stream(1) }
  to:fill(0 / 0)
  dev:synchronize()
  local t = mw.bench(function()
    to:copy(from, on)
    on.stream:synchronize()
  end, { min_time = seconds / 2, max_time = seconds, noise = 0.02, device = dev, clock = "host" })
  local name = ("%s, %s"):format(kind, way)
  mw.check(to, from, { exact = true, name = name })
  return mw.record { study = "streams", group = "host", series = name, bytes = to:nbytes(), t = t,
                     T_tot = to:nbytes() / t.median }
end

local function host_copies()
  local records, count = {}, math.min(smallest, n)
  while true do
    local view = input:view(1, count)
    for kind, arrays in pairs { pinned = { x, y }, pageable = { plain_x, plain_y } } do
      records[#records + 1] = host_copy(kind, "in", view, arrays[1]:view(1, count))
      records[#records + 1] = host_copy(kind, "out", arrays[2]:view(1, count), view)
    end
    if count == n then break end
    count = math.min(4 * count, n)
  end
  table.sort(records, function(a, b)
    return a.series == b.series and a.bytes < b.bytes or a.series > b.series
  end)
  return records
end

-- Both directions at once over the slower one alone, whole arrays, two streams: 1 where they do not
-- disturb each other, 2 where they share one road.
local function both_ways()
  local list = stage_contenders(1)
  local a, b = { stream = stream(1) }, { stream = stream(2) }
  local to, from = input:view(1, n), output:view(1, n)
  list[#list + 1] = { run = function()
    to:copy(x, a)
    y:copy(from, b)
  end }
  alternate(list)
  return mw.record { study = "streams", group = "both", t = list[4].t,
                     slower = list[4].t / math.max(list[1].t, list[3].t) }
end

-- ---- how much work ------------------------------------------------------------------------------

-- In pieces as the pipelines have them: on the CPU device smaller ones stay in a cache.
local function alone(i)
  local stage = stage_contenders(math.min(16, most_chunks))[i]
  alternate { stage }
  return stage.t
end

-- The odd number of rounds whose time comes nearest to the wanted one: doubled until it is too much,
-- then between the last two.
local function calibrate()
  local wanted = balance * math.max(alone(1), alone(3))
  local before, low = 0, 0
  local function kernel_time(many)
    rounds = many
    return alone(2)
  end
  local many, t = 1, kernel_time(1)
  while t < wanted and many < 1 << 20 do
    before, low, many = many, t, 2 * many + 1
    t = kernel_time(many)
  end
  if before == 0 then return 1 end
  local exact = before + (many - before) * (wanted - low) / (t - low)
  return 2 * math.max(0, math.floor(exact / 2)) + 1
end

-- ---- streams that wait --------------------------------------------------------------------------

-- Two streams, the kernel of the whole array in one, the copy out in the other: where the copy begins,
-- before or after the kernel has ended. Seconds from the kernel's beginning, by events.
local function two_streams(name, waits)
  local a, b = stream(1), stream(2)
  local line = line_of(1, 1)
  local p = line.pieces[1]
  poison(line)
  p.input:copy(p.x)
  local begin = a:record()
  p.go(p.output, p.input, -1, 1, rounds, n)
  local computed = a:record()
  if waits then b:wait(computed) end
  local started = b:record()
  y:copy(p.output, { stream = b })
  local copied = b:record()
  dev:synchronize()
  if waits then mw.check(y, want, { exact = true, name = name }) end
  return mw.record { study = "streams", group = "events", rung = name, computed = computed:since(begin),
                     started = started:since(begin), copied = copied:since(begin) }
end

-- Host callbacks: the pieces in the order in which the script heard of them, and whether each stream's
-- own came in order.
local function callback_order(line)
  local heard, last, ordered = {}, {}, true
  queue(line, function(p, i)
    p.stream:callback(function()
      heard[#heard + 1] = i
      ordered = ordered and i > (last[p.lane] or 0)
      last[p.lane] = i
    end)
  end)
  dev:synchronize()
  return heard, ordered
end

-- ---- variants of the best pipeline --------------------------------------------------------------

local function captured(line)
  return dev:capture(function(main)
    local fork = dev:event { timing = false }
    main:record(fork)
    for _, s in ipairs(line.streams) do s:wait(fork) end
    queue(line)
    for _, s in ipairs(line.streams) do main:wait(s:record()) end
  end)
end

local function variants(streams, chunks)
  local free, pair = line_of(streams, chunks), line_of(2, chunks)
  local bound = line_of(streams, chunks, { blocking = true })
  local paged = line_of(streams, chunks, { pageable = true })
  local graph <close> = captured(free)
  local records = measure("variants", chunks, {
    contender("1 stream", line_of(1, chunks)),
    contender("2 streams, the host waits each round", pair, wait_for_other(pair)),
    contender(("%d streams"):format(free.count), free),
    contender("blocking, and the legacy default stream", bound, in_legacy_stream),
    contender("blocking, and the per-thread default stream", bound, in_per_thread_stream),
    contender("non-blocking, and the legacy default stream", free, in_legacy_stream),
    contender("a callback a piece", free, function(p) p.stream:callback(function() end) end),
    contender("pageable memory", paged),
    { rung = "as a graph", line = free, run = function() graph:launch(free.streams[1]) end },
  })
  local seen = {}
  for i, name in ipairs { "one", "lecture", "free", "legacy", "per_thread", "beside", "callbacks", "pageable",
                           "graph" } do
    seen[name] = records[i]
  end
  return seen, records
end

-- ---- timelines ----------------------------------------------------------------------------------

local function mark_events(line)
  local marks = {}
  for i = 1, #line.pieces do marks[i] = { dev:event(), dev:event(), dev:event(), dev:event() } end
  return marks
end

local function queue_marked(line, marks, after)
  for i, p in ipairs(line.pieces) do
    local m = marks[i]
    m[1]:record(p.stream)
    steps.copy_in(p)
    m[2]:record(p.stream)
    steps.kernel(p)
    m[3]:record(p.stream)
    steps.copy_out(p)
    m[4]:record(p.stream)
    if after then after() end
  end
end

-- An event marks when a stream got so far, not when an engine took up its work: on a GPU a copy that
-- waits for another stream's copy in the same direction seems to have begun. There one engine serves
-- each direction and each kernel fills the device, so a span begins where the one before it, of the
-- same kind, has ended. The CPU device's operations do run side by side.
local function without_waiting(spans)
  local by_end = table.move(spans, 1, #spans, 1, {})
  table.sort(by_end, function(a, b) return a.to < b.to end)
  local free = {}
  for _, span in ipairs(by_end) do
    span.from = math.min(span.to, math.max(span.from, free[span.kind] or span.from))
    free[span.kind] = span.to
  end
end

local KINDS = { "copy in", "kernel", "copy out" }

local function spans_of(line, marks)
  local spans = {}
  for i, p in ipairs(line.pieces) do
    for k, kind in ipairs(KINDS) do
      spans[#spans + 1] = { lane = ("stream %d"):format(p.lane), kind = kind, label = ("%s %d"):format(kind, i),
                            from = marks[i][k]:since(marks[1][1]), to = marks[i][k + 1]:since(marks[1][1]) }
    end
  end
  if gpu then without_waiting(spans) end
  return spans
end

local function timeline(name, title, line, after)
  local marks = mark_events(line)
  queue(line, after)
  poison(line)
  queue_marked(line, marks, after)
  dev:synchronize()
  mw.check(line.y, want, { exact = true, name = title })
  mw.timeline { spans = spans_of(line, marks), name = name, title = title, device = dev }
end

-- ---- the study ----------------------------------------------------------------------------------

make_data()
local host = host_copies()
if rounds == 0 then rounds = calibrate() end

local grid = {}
local chunks = 1
while chunks <= most_chunks do
  table.move(pipelines_of(chunks), 1, 10, #grid + 1, grid)
  chunks = 2 * chunks
end
local fastest = best(grid)
local both = both_ways()
local seen, list = variants(math.max(2, fastest.streams), math.max(2, fastest.pieces))
local orders = { two_streams("without waiting", false), two_streams("waiting for the event", true) }
local few = line_of(math.max(3, fastest.streams), 12)
local heard, ordered = callback_order(few)

-- ---- what it shows ------------------------------------------------------------------------------

local COLUMNS = { "t", { "over", title = "over the longest", digits = 4 }, { "ideal", digits = 4 },
                  { "hidden", unit = "%", digits = 3 }, { "share", title = "of the possible", unit = "%", digits = 3 },
                  { "queued", title = "queued in", unit = "s" } }

local function table_of(title, records, ...)
  local spec = table.move(COLUMNS, 1, #COLUMNS, select("#", ...) + 1, { ... })
  spec.title, spec.records = title, records
  mw.table(spec)
end

mw.table { { "series", title = "memory, direction" }, "bytes", "t", "T_tot", records = host,
           title = "streams: copies between host and device" }
table_of("streams: copy in, compute, copy out", grid, "streams", "chunks")
table_of(("streams: %d pieces, in other ways"):format(seen.free.chunks), list, "rung")
mw.table { "rung", { "computed", title = "kernel ends", unit = "s" },
           { "started", title = "copy may begin", unit = "s" }, { "copied", title = "copy ends", unit = "s" },
           title = "streams: a copy in another stream than the kernel", records = orders }

local SOURCE = { { value = 55.5e9, label = "source, H200: pinned" },
                 { value = 9.5e9, label = "source, H200: pageable, in" } }
mw.plot { x = "bytes", y = "T_tot", by = "series", logx = 2, records = host, name = "streams-copies",
          lines = gpu and SOURCE or nil,
          title = "Copies between host and device", xlabel = "bytes of one copy" }
mw.plot { x = "chunks", y = "over", by = "series", logx = 2, records = grid, name = "streams-pipeline",
          title = "Copy in, compute, copy out", xlabel = "pieces",
          ylabel = "time over the longest stage alone", lines = { { value = 1, label = "longest stage alone" } } }
timeline("streams-timeline", ("12 pieces over %d streams"):format(few.count), few)
timeline("streams-legacy", "the same, a kernel in the legacy default stream after each piece",
  line_of(few.count, 12, { blocking = true }), in_legacy_stream)

local function remark_on_copies()
  local rates = {}
  for _, r in ipairs(host) do
    if r.bytes == x:nbytes() then rates[r.series] = r.T_tot / 1e9 end
  end
  local slower = rates["pageable, in"] + rates["pageable, out"] < 0.9 * (rates["pinned, in"] + rates["pinned, out"])
  mw.remark("Pinned memory gives %.1f GB/s in and %.1f GB/s out, pageable memory %.1f and %.1f%s Both directions "
    .. "at once take %.2f times as long as the slower one alone.", rates["pinned, in"], rates["pinned, out"],
    rates["pageable, in"], rates["pageable, out"],
    not gpu and ": to the CPU device both are the same memory, and the difference is noise."
      or slower and ": it goes through a pinned buffer of the driver, a part at a time." or ".", both.slower)
end

local function hiding(r)
  if r.hidden <= 0 then return "It hides nothing of the copies' time" end
  return ("It hides %.0f %% of the copies' time, of at most %.0f %%"):format(100 * r.hidden, 100 * r.hidden / r.share)
end

-- By the second measurement of the best pipeline: the best of many is also the luckiest.
local function remark_on_overlap()
  local b = seen.free
  mw.remark("In %d pieces the copies in take %.2f ms, the kernel (%d rounds) %.2f ms, the copies out %.2f ms. %s, "
    .. "%s, takes %.2f ms: %.3f times the longest of the three, where one stream takes %.3f. %s%s.", b.chunks,
    1e3 * b.copy_in, rounds, 1e3 * b.kernel, 1e3 * b.copy_out, b.t < seen.one.t and "The best pipeline"
    or "Even the best of several streams", b.series, 1e3 * b.t, b.over, seen.one.over, hiding(b),
    b.over < 1 and " for three engines (below 1, kernels of two streams ran side by side)" or "")
  if gpu then return end
  local workers = dev:properties().multiprocessors
  mw.remark(workers == 1 and "With one worker every operation has one core: copies run beside kernels, and kernels of "
    .. "two streams beside each other, so that less than the longest stage is possible."
    or "Here a kernel or a copy alone already has all %d cores: overlap can only fill what one of them leaves idle, "
    .. "as a copy does while it waits for memory. MOONWARP_CPU_WORKERS=1 gives every operation one core instead.",
    workers)
end

-- What the legacy default stream costs beyond the same kernel where nobody waits for it.
local function verdict(legacy, beside, one)
  if beside > 0.95 * one then return "as there was next to no overlap, there was none to lose" end
  if legacy <= 1.05 * beside then return "no more than where nobody waits for it" end
  return "it waits for all blocking streams, and they for it, so that "
    .. (legacy > 0.95 * one and "nothing overlaps" or "less overlaps")
end

-- The slides' loop, for (i = 0; i < n / chunk; i += chunk), with our pieces.
local function remark_on_waiting()
  local free, chunk = seen.free, ceil_div(n, seen.free.chunks)
  mw.remark("A host that waits for the other of two streams in each round gets %.3f, and with the slides' bound it "
    .. "would have done %d of %d pieces.", seen.lecture.over, ceil_div(n // chunk, chunk), free.chunks)
  mw.remark("Without a kernel in a default stream %d streams take %.3f times the longest stage. One after each piece "
    .. "in the legacy default stream, beside blocking streams, makes that %.3f: %s. In the per-thread default stream "
    .. "it gives %.3f, and in the legacy one beside non-blocking streams %.3f.", free.streams, free.over,
    seen.legacy.over, verdict(seen.legacy.over, math.max(seen.beside.over, seen.per_thread.over), seen.one.over),
    seen.per_thread.over, seen.beside.over)
end

local function remark_on_order()
  local each = (seen.callbacks.t - seen.free.t) / seen.free.chunks
  local early, late = orders[1].computed - orders[1].started, orders[2].started - orders[2].computed
  mw.remark("A callback a piece costs %s; each stream's own came %s, the first ones for pieces %s. Without an event "
    .. "the other stream's copy %s; waiting for it, %.3f ms after.", each > 0 and ("%.1f us"):format(1e6 * each)
    or "nothing that shows", ordered and "in order" or "OUT OF ORDER",
    table.concat(heard, " ", 1, math.min(6, #heard)),
    early > 0 and ("could begin %.3f ms before the kernel ended, with a result not there yet"):format(1e3 * early)
    or "began after the kernel had ended, by chance", 1e3 * late)
  mw.remark("The script queues the pipeline in %.0f us, a graph of it in %.0f us; the graph takes %.3f times the "
    .. "longest stage%s.", 1e6 * seen.free.queued, 1e6 * seen.graph.queued, seen.graph.over,
    gpu and "" or ": the CPU device replays a graph in the order of its capture, one piece after another")
end

remark_on_copies()
remark_on_overlap()
remark_on_waiting()
remark_on_order()
