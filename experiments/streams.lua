-- SPDX-License-Identifier: MIT
--
-- streams: how much of the copy time between host and device can a kernel hide?
--
-- An array is copied in, computed and copied out, in equal pieces over streams, compared with the single stages.
-- T_tot = bytes moved / t: 1 array for a copy, 2 for a kernel, a pipeline and both ways at once. Times are
-- the host's, to the end of the last copy. See docs/studies/streams.md.

local mw = require "moonwarp"
local study, p, gpu = mw.study {
  question = "how much of the copy time between host and device can a kernel hide?",
  course = { week = 9.1, level = 2, hours = 4, about = "copies behind kernels",
             without_gpu = "order, events, the timeline" },
  kernels = "streams.cu", rate = "T_tot", output = "y", level = "pipeline", seconds = { 0.03, gpu = 0.02 },
  units = { queued = "s", copy_in = "s", kernel = "s", copy_out = "s", hidden = "%", overlap = "%" },
  peak = function() end, -- that of the device's memory bounds no copy from the host
  odd = { { n = 5021, pieces = 3, rounds = 3 }, { n = 997, pieces = 40, rounds = 5 } },
  params = {
    { "n", 1 << 24, "elements of the array", gpu = 1 << 26, min = 64, max = 1 << 34 },
    { "type", "f32", "of the elements", choices = { "f32", "f64" } },
    { "streams", 4, "the most streams", min = 2, max = 32 },
    { "chunks", 64, "the most pieces", min = 2, max = 4096 },
    { "balance", 3.0, "ratio of kernel time to copy time to calibrate for", gpu = 1.0, min = 0, max = 1000 },
    { "rounds", 0, "multiply-adds per element, odd; 0: chosen by `balance`", min = 0, max = 1 << 20,
      check = function(v) return v > 0 and v % 2 == 0 and "odd: the result is then 1 - x" or nil end },
    { "block", 1024, "threads per block", gpu = 256, min = 1, max = 1024 },
    { "smallest", 1 << 14, "least elements of the sweep of copies", min = 1 },
  },
}

-- ---- the array, in pieces ---------------------------------------------------------------------------
-- Made once, as pinning memory takes long. Multiples of 2^-20 below 1, of which an odd number of rounds
-- v = 1 - v leaves 1 - v, exactly; they repeat after a prime, so that a piece in the wrong place shows.
local function make_whole(dev, type, needed)
  local n, period, whole = math.max(dev:properties().checks and needed or p.n, 5021), 1000003, {}
  for maker, names in pairs { array = "given want poison again input output left once", pinned = "x y",
                              pageable = "plain_x plain_y" } do
    for name in names:gmatch "%S+" do whole[name] = dev[maker](dev, type, n) end -- NaN, as `poison` remains
  end
  for array, first in pairs { [whole.given] = 0, [whole.want] = 1 } do
    local count = math.min(n, period)
    array:view(1, count):linspace(first, math.abs(first - (count - 1) / 2 ^ 20))
    for to = period + 1, n, period do array:copy(array, { to = to, count = math.min(period, n - to + 1) }) end
  end
  for _, x in ipairs { whole.x, whole.plain_x } do x:copy(whole.given) end
  return whole
end

-- An odd number of rounds that takes `balance` times as long as a copy; the time is nearly in proportion.
local function calibrated(dev)
  if dev:properties().checks then return 1 end -- nothing is timed
  local c <close> = study:case { n = p.n, pieces = math.min(16, p.chunks), rounds = 255 }
  local function alone(rung)
    return mw.bench(study:launcher(rung, c), { clock = "host", batch = 1, device = dev, quiet = true,
                                               min_time = p.seconds, max_time = p.seconds }).median
  end
  local wanted = p.balance * math.max(alone "pinned, in", alone "pinned, out")
  for _ = 1, 4 do
    c.rounds = 2 * math.tointeger(math.min(c.rounds * wanted / alone "kernel", (1 << 20) - 1) // 2) + 1
  end
  return c.rounds
end

-- Elements of a piece but the last: whole lines of 128 bytes and more.
local function size_of(c) return mw.ceil_div(mw.ceil_div(c.n, c.pieces or 1), 32) * 32 end
local function chunks_of(c) return mw.ceil_div(c.n, size_of(c)) end

local whole, rounds = nil, p.rounds
function study.arrays(c)
  if not whole or #whole.given < c.n then whole = make_whole(c.dev, c.type, c.n) end
  if not c.rounds and rounds == 0 then rounds = calibrated(c.dev) end
  c.size, c.chunks, c.streams, c.rounds = size_of(c), chunks_of(c), c.streams or 2, c.rounds or rounds
  local all, buffers = { a = -1, b = 1 }, math.min(math.max(3, p.streams) * c.size, c.n) -- one per stream
  for name, array in pairs(whole) do all[name] = array:view(1, c.n) end
  for _, name in ipairs { "input", "output", "left", "once" } do
    all[name] = whole[name]:view(1, buffers):copy(whole.poison, { count = buffers })
  end
  -- What a single stage with one buffer leaves in it, computes there, and copies from there to all places.
  for first = 1, c.n, c.size do
    local count = math.min(c.size, c.n - first + 1)
    all.left:copy(whole.given, { from = first, count = count })
    all.once:copy(whole.want, { count = count })
    all.again:copy(whole.given, { to = first, count = count })
  end
  return all
end

local STAGES = { "copy in", "kernel", "copy out" }

-- The pieces of a case over `count` streams, each a list of functions. A stream has a buffer before and one
-- after the kernel; the stream's order protects them. how: only (a stage), blocking (streams), x and y (names,
-- where not pinned), nothing_in (a default stream, for a kernel after each piece), or after(piece, line).
local function line_of(c, count, how)
  local line, x, y = { streams = {} }, c[how.x or "x"], c[how.y or "y"]
  for s = 1, math.min(count, c.chunks) do
    line.streams[s] = c:keep(c.dev:stream { blocking = how.blocking or false })
  end
  for i = 1, c.chunks do
    local lane, first = (i - 1) % #line.streams, (i - 1) * c.size
    local length, stream = math.min(c.size, c.n - first), line.streams[lane + 1]
    local input, output = c.input:view(lane * c.size + 1, length), c.output:view(lane * c.size + 1, length)
    local from, to, on = x:view(first + 1, length), y:view(first + 1, length), { stream = stream }
    local stages = {
      ["copy in"] = function() input:copy(from, on) end,
      kernel = c:launch("iterate<%s>", { block = p.block, grid = mw.ceil_div(length, p.block),
        stream = stream }, { out = output, ["in"] = input, n = length }),
      ["copy out"] = function() to:copy(output, on) end }
    local piece = { i = i, lane = lane + 1, stream = stream }
    for _, stage in ipairs(how.only and { how.only } or STAGES) do piece[#piece + 1] = stages[stage] end
    piece[#piece + 1] = how.after and how.after(piece, line) or how.nothing_in and
      c:launch("nothing", { grid = 1, block = 1, stream = c.dev:default_stream(how.nothing_in) }) or nil
    line[i] = piece
  end
  return line
end

local function queue(line)
  for _, piece in ipairs(line) do
    for _, operation in ipairs(piece) do operation() end
  end
end

-- ---- what is right ----------------------------------------------------------------------------------
-- What a rung writes is poison before, and the buffers on the way are what `first` says.
local function start(first)
  return function(c, out)
    out:copy(c.poison, { count = #out })
    for name, from in pairs(first) do c[name]:copy(c[from], { count = #c[name] }) end
    c.dev:synchronize()
  end
end

local start_pipeline = start { input = "poison", output = "poison" }
local heard -- the pieces of the last pipeline with callbacks, in the order in which the script heard of them

local function check_order(c, check) -- of each stream's own
  local seen, early = {}, 0
  for _, i in ipairs(heard) do
    if i > c.streams and not seen[i - c.streams] then early = early + 1 end
    seen[i] = true
  end
  check({ #heard, early }, { c.chunks, 0 }, { name = "callbacks, early ones" })
end

study:answer("copy in", { equal = "left", output = "input", bytes = "x", start = start {} })
study:answer("kernel", { equal = "once", bytes = "x y", output = "output",
                         start = start { input = "given" } })
study:answer("copy out", { equal = "again", bytes = "x", start = start { output = "given" } })
study:answer("both ways", { equal = "given", bytes = "x y",
  start = start { input = "poison", output = "given" },
  also = function(c, check) check(c.input, c.given, { exact = true, name = "in" }) end })
for name, also in pairs { pipeline = false, ["another way"] = false, ["called back"] = check_order } do
  study:answer(name, { equal = "want", bytes = "x y", start = start_pipeline, also = also or nil })
end

-- ---- the rungs --------------------------------------------------------------------------------------
local ratios = { "best pipeline / 1 stream" }
-- A single stage, or a pipeline over as many streams as `how` or the case says; wrap(c, line): another way.
local function rung(number, name, how)
  if (number or 0) > 2 then ratios[#ratios + 1] = "best pipeline / " .. name end
  study:rung { number, name, answer = how.answer or how.only or "another way", always = how.always,
    output = how.y, when = how.when, observe = how.observe,
    fields = { streams = how.only and 1 or how.streams }, make = function(c)
      local line = line_of(c, how.only and 1 or how.streams or c.streams, how)
      return how.wrap and how.wrap(c, line) or function() queue(line) end
    end }
end

rung(1, "pinned, in", { only = "copy in", always = true })
rung(1, "pinned, out", { only = "copy out", always = true })
rung(1, "pageable, in", { only = "copy in", x = "plain_x" })
rung(1, "pageable, out", { only = "copy out", y = "plain_y" })
study:rung { 1, "both ways at once", answer = "both ways", make = function(c)
  local into, back = line_of(c, 1, { only = "copy in" }), line_of(c, 1, { only = "copy out" })
  return function() queue(into) queue(back) end
end }
rung(nil, "kernel", { only = "kernel", always = true })

local most -- streams
for _, k in ipairs { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 } do
  if k > p.streams then break end
  rung(2, k == 1 and "1 stream" or k .. " streams", { streams = k, answer = "pipeline", when = function(c)
    return k <= chunks_of(c) and (k == 1 or k == (c.sides.streams or k))
  end })
  most = k
end
rung(3, "2 streams, the host waits each round", { streams = 2, after = function(piece, line) -- a lecture's
  local other = line.streams[piece.lane % #line.streams + 1]
  return function() other:synchronize() end
end })
rung(4, "legacy default, blocking", { blocking = true, nothing_in = "legacy" })
rung(5, "per-thread default, blocking", { blocking = true, nothing_in = "per-thread" })
rung(6, "legacy default, non-blocking", { nothing_in = "legacy" })
rung(7, "a callback per piece", { answer = "called back", observe = function() return { heard = heard } end,
  after = function(piece)
    return function()
      if piece.i == 1 then heard = {} end
      piece.stream:callback(function() heard[#heard + 1] = piece.i end)
    end
  end })
rung(8, "pageable memory", { x = "plain_x", y = "plain_y" })
rung(9, "as a graph", { wrap = function(c, line)
  local graph = c:keep(c.dev:capture(function(main)
    local fork = main:record(c.dev:event { timing = false })
    for _, stream in ipairs(line.streams) do stream:wait(fork) end
    queue(line)
    for _, stream in ipairs(line.streams) do main:wait(stream:record()) end
  end))
  return function() graph:launch(line.streams[1]) end
end })

study:source { "H200, 2026", field = "h200", when = gpu, -- for this project
               values = { ["pinned, in"] = 55.5e9, ["pinned, out"] = 55.5e9, ["pageable, in"] = 9.5e9 } }

-- ---- parts ------------------------------------------------------------------------------------------
study:part { "copies", rungs = { "copy in", "copy out", "both ways" }, clock = "host", batch = 1,
  odd = { { n = 997 } }, table = { "rung", "bytes", "t", "T_tot" }, rows = "all",
  cases = { { n = mw.geometric(p.n, math.min(p.smallest, p.n), 4) } }, -- the ratios are of the largest
  charts = { { x = "bytes", logx = 2, xlabel = "bytes of one array",
               lines = gpu and { { value = 55.5e9, label = "H200 pinned, source" } } or nil } },
  ratios = { "both ways at once / pinned, in", "both ways at once / pinned, out", -- 2: each as fast as by itself
             "pinned, in / pageable, in", "pinned, out / pageable, out" } }

local function derive(records, c)
  local s = {} -- seconds
  for _, r in ipairs(records) do
    s[r.rung], r.chunks, r.rounds, r.queued = r.t.median, c.chunks, c.rounds, r.t.launch.median
  end
  local t_in, kernel, t_out = s["pinned, in"], s.kernel, s["pinned, out"]
  if not (t_in and kernel and t_out) then return end -- one of them is wrong
  local sum, longest = t_in + kernel + t_out, math.max(t_in, kernel, t_out)
  for _, r in ipairs(records) do
    if (r.number or 1) > 1 then
      local t, pace = r.t.median, math.max(longest, sum / r.streams)
      r.copy_in, r.kernel, r.copy_out, r.over = t_in, kernel, t_out, t / longest
      r.ideal = (sum + (c.chunks - 1) * pace) / c.chunks / longest -- the first piece, then the others in pace
      r.hidden, r.overlap = (sum - t) / (t_in + t_out), (sum - t) / (sum - longest)
    end
  end
end

local COLUMNS = { "rung", "chunks", "rounds", "t", "T_tot", { "over", digits = 4 }, { "ideal", digits = 4 },
                  { "hidden", digits = 3 }, { "overlap", digits = 3 }, "queued" }

study:part { "pipeline", rungs = { "pinned, in", "kernel", "pinned, out", "pipeline" },
  cases = { { n = p.n, pieces = mw.geometric(1, p.chunks) } },
  clock = "host", batch = 1, derive = derive, table = COLUMNS, rows = "all",
  charts = { { x = "chunks", y = "over", logx = 2, xlabel = "pieces", ylabel = "time over the longest stage",
               lines = { { value = 1, label = "longest stage alone" } } } } }

-- The best pipeline, or where it was not looked for, as many streams as may be.
local function best_shape()
  local best = study:fastest("pipeline", "pipeline") or { streams = most, pieces = math.min(16, p.chunks) }
  local shape = { n = p.n, pieces = math.max(2, best.pieces) }
  shape.streams = math.max(2, math.min(best.streams, chunks_of(shape)))
  return shape
end

study:part { "variants", cases = function() return { best_shape() } end, clock = "host", batch = 1,
  rungs = { "pinned, in", "kernel", "pinned, out", "pipeline", "another way", "called back" },
  derive = derive, table = COLUMNS, charts = { { kind = "ladder", of = function(r) return r.over end } },
  ratios = ratios }

-- Queues a line with an event after each operation: spans between events.
local function spans_of(c, line)
  local spans = {}
  for i, piece in ipairs(line) do
    local from = piece.stream:record()
    for k, operation in ipairs(piece) do
      operation()
      local to = piece.stream:record()
      spans[#spans + 1] = STAGES[k] and { lane = "stream " .. piece.lane, kind = STAGES[k],
                                          label = STAGES[k] .. " " .. i, from = from, to = to }
      from = to
    end
  end
  c.dev:synchronize()
  return spans
end

-- A copy in another stream than the kernel: may it begin before the kernel has ended?
study:part { "events", run = function()
  local c <close> = study:case { n = p.n }
  local first, records = line_of(c, 1, { only = "kernel" })[1], {}
  local other = { lane = 2, stream = c:keep(c.dev:stream { blocking = false }) }
  for i, name in ipairs { "without waiting", "waiting for the event" } do
    start { input = "given", output = "poison" } (c, c.y)
    other[1] = function() return i == 2 and other.stream:wait(first.stream:record()) end
    other[2] = function() c.y:copy(c.output, { stream = other.stream }) end -- moonwarp: race-ok it is shown
    local spans = spans_of(c, { first, other }) -- kernel, wait, copy
    local function since(event) return event:since(spans[1].from) end
    if i == 2 then mw.check(c.y, c.want, { exact = true, name = name }) end
    records[i] = mw.record { study = "streams", group = "events", rung = name, computed = since(spans[1].to),
                             started = since(spans[3].from), copied = since(spans[3].to),
                             units = { computed = "s", started = "s", copied = "s" } }
  end
  mw.table { "rung", "computed", { "started", title = "copy may begin" }, "copied", records = records,
             title = "streams: a copy in another stream than the kernel" }
end }

-- 12 pieces once more; on a GPU one engine serves each direction, and a kernel fills the device.
local function timeline(name, title, how)
  local c <close> = study:case { n = p.n, pieces = 12 }
  local line = line_of(c, math.max(3, best_shape().streams), how)
  queue(line)
  c.dev:synchronize()
  start_pipeline(c, c.y)
  local spans = spans_of(c, line)
  mw.check(c.y, c.want, { exact = true, name = title })
  mw.timeline { spans = spans, engines = gpu, name = name, title = title, device = c.dev }
end

study:part { "timelines", run = function()
  timeline("streams-timeline", "12 pieces over several streams", {})
  timeline("streams-legacy", "the same, a kernel in the legacy default stream after each piece",
    { blocking = true, nothing_in = "legacy" })
end }
return study
