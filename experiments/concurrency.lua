-- SPDX-License-Identifier: MIT
--
-- concurrency: when do small kernels of several streams run at once, and what stops them?
--
-- A kernel of one block uses one multiprocessor. Each stream computes one piece of an array by `each` such kernels
-- in a row. The rate is kernels per second; one stream, which keeps all kernels in order, is the level, so a share
-- of 8 is eight kernels at once. Then the host: what it does after a kernel, and callbacks that queue the next one.
-- Times are the host's, to the end of the last kernel. See docs/studies/concurrency.md.

local mw = require "moonwarp"

local THREADS <const> = 64 -- of a kernel's only block, as in Oxford's practical 11

local study, p, gpu = mw.study {
  question = "when do small kernels of several streams run at once, and what stops them?",
  course = { week = 9.2, level = 2, hours = 2, about = "small kernels at once",
             without_gpu = "order of streams" },
  kernels = "streams.cu", rate = { "kernels", work = function(c) return c.streams * c.each end },
  units = { kernels = "1/s" }, output = "y", type = "f32", level = "one stream",
  seconds = { 0.05, gpu = 0.1 }, peak = function() end,
  odd = { { streams = 3, each = 3, rounds = 5 }, { streams = 8, each = 1, rounds = 1 } },
  params = {
    { "streams", 8, "streams, each with a kernel at a time", min = 2, max = 32 },
    { "each", 8, "kernels of a stream, one after the other, where callbacks queue them", min = 1, max = 1000 },
    { "rounds", (1 << 16) + 1, "multiply-adds of a thread in a row, odd", gpu = (1 << 18) + 1, min = 1, max = 1 << 26,
      check = function(v) return v % 2 == 0 and "odd: the result is then 1 - x" or nil end },
  },
}

function study.arrays(c)
  local n = c.streams * THREADS
  c.rounds, c.n = c.rounds or p.rounds, THREADS
  return { a = -1, b = 1, x = c.dev:array(c.type, n):linspace(0, (n - 1) / 2 ^ 20), y = c.dev:array(c.type, n),
           one = c.dev:zeros("f32", 1), host_one = c.dev:pageable("f32", 1):set(1, 1), beside = 0 }
end

-- 1 - x after an odd number of rounds, without rounding: x is a multiple of 2^-20.
study:answer("pieces", { cell = function(_, at, i) return 1 - at.x(i) end,
                         tolerance = function() return { exact = true } end })

-- Kernels of the pieces, each a function, over `count` streams: lines[s] is what stream s does in a row.
local function lines_of(c, count, is_blocking)
  local lines, streams = {}, {}
  for s = 1, count do streams[s] = c:keep(c.dev:stream { blocking = is_blocking }) end
  for piece = 1, c.streams do
    local first = (piece - 1) * THREADS + 1
    local stream, line = streams[(piece - 1) % count + 1], {}
    local from, to = c.x:view(first, THREADS), c.y:view(first, THREADS)
    for k = 1, c.each do -- every kernel computes the same from x, so that the last one's result is right
      line[k] = c:launch("iterate<%s>", { block = THREADS, grid = 1, stream = stream }, { out = to, ["in"] = from })
    end
    line.stream = stream
    lines[piece] = line
  end
  return lines
end

-- All kernels, a turn over the streams at a time; between(), if any, follows each of them.
local function queue(lines, between)
  for k = 1, #lines[1] do
    for _, line in ipairs(lines) do
      line[k]()
      if between then between() end
    end
  end
end

-- ---- streams, and the default stream between them ----------------------------------------------------------
local function rung(number, name, how)
  study:rung { number, name, make = function(c)
    local lines = lines_of(c, how.streams or c.streams, how.blocking ~= false)
    local between = how.between and how.between(c)
    return how.go and function() how.go(c, lines) end or function() queue(lines, between) end
  end }
end

-- What the practical does after each kernel: a copy of four bytes and an empty kernel, in a default stream.
local function default_stream(kind)
  return function(c)
    local stream = c.dev:default_stream(kind)
    local nothing = c:launch("nothing", { grid = 1, block = 1, stream = stream })
    return function()
      c.one:copy(c.host_one, { stream = stream })
      nothing()
    end
  end
end

rung(1, "one stream", { streams = 1 })
rung(2, "a stream per piece", {})
rung(3, "legacy default stream between", { between = default_stream "legacy" })
rung(4, "per-thread default stream between", { between = default_stream "per-thread" })
rung(5, "legacy, streams not blocking", { blocking = false, between = default_stream "legacy" })

-- ---- who queues the next kernel ------------------------------------------------------------------------------
rung(6, "the host waits each turn", { go = function(c, lines)
  for k = 1, #lines[1] do
    for _, line in ipairs(lines) do line[k]() end
    c.dev:synchronize()
  end
end })

rung(7, "a callback queues the next", { go = function(_, lines)
  local left = #lines
  local function begin(line, k)
    line[k]()
    line.stream:callback(function()
      if k < #line then begin(line, k + 1) else left = left - 1 end
    end)
  end
  for _, line in ipairs(lines) do begin(line, 1) end
  while left > 0 do mw.poll() end
end })

-- ---- the host's own work ---------------------------------------------------------------------------------------
local function work(turns)
  local sum = 0.0
  for i = 1, turns do sum = sum + i end
  return sum
end

-- Turns of the host's loop that take as long as the kernels do.
local turns
local function calibrate(c, go)
  if turns or c.sides.rounds then return end -- an odd case is not timed
  local function seconds(f)
    return mw.bench(f, { clock = "host", batch = 1, device = c.dev, quiet = true, min_time = 0.02 }).median
  end
  local count <const> = 100000
  turns = math.ceil(count * seconds(go) / seconds(function() work(count) end))
end

for i, name in ipairs { "kernels, wait, host", "kernels, host, wait" } do
  study:rung { 8, name, make = function(c)
    local lines = lines_of(c, c.streams, true)
    calibrate(c, function() queue(lines) end)
    return function()
      queue(lines)
      if i == 1 then c.dev:synchronize() end
      work(turns or 1)
    end
  end }
end

-- ---- parts -------------------------------------------------------------------------------------------------
local COLUMNS = { { "number", title = "no." }, "rung", "t", "kernels",
                  { "share", title = "of one stream", unit = "", digits = 3 } }

study:part { "streams", cases = { { streams = p.streams, each = 1 } }, clock = "host", batch = 1,
  rungs = function(one) return one.number <= 5 end, table = COLUMNS, charts = { { kind = "ladder" } },
  ratios = { "a stream per piece / one stream", "legacy default stream between / one stream",
             "per-thread default stream between / a stream per piece",
             "legacy, streams not blocking / a stream per piece" } }

study:part { "next", cases = { { streams = p.streams, each = p.each } }, clock = "host", batch = 1,
  rungs = { "one stream", "a stream per piece", "the host waits each turn", "a callback queues the next" },
  table = COLUMNS, ratios = { "the host waits each turn / a stream per piece",
                              "a callback queues the next / a stream per piece" } }

study:part { "host", cases = { { streams = p.streams, each = 1 } }, clock = "host", batch = 1,
  level = "kernels, wait, host", rungs = function(one) return one.number == 8 end, table = COLUMNS,
  ratios = { "kernels, host, wait / kernels, wait, host" } } -- 2: the host's work costs no time

study:part { "count", cases = { { streams = gpu and { 1, 2, 4, 8, 16, 32 } or { 1, 2, 4, 8 }, each = 1 } },
  rungs = { "one stream", "a stream per piece" }, clock = "host", batch = 1,
  charts = { { x = "streams", logx = 2, logy = 2, xlabel = "streams" } } }
return study
