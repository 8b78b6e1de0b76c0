-- SPDX-License-Identifier: MIT
--
-- A pipeline: the array in pieces, dealt out over streams, and how it is queued. A chunk that is
-- called with the study's settings and returns what the other parts use of it.

local study = ...
local dev, n, block, ceil_div, arrays = study.dev, study.n, study.block, study.ceil_div, study.arrays

local module = dev:module { file = "streams.cu", templates = { "iterate<float>", "iterate<double>" } }
local iterate = module:kernel(study.dtype == "f32" and "iterate<float>" or "iterate<double>")
local nothing = module.nothing:prepare { grid = 1, block = 1 }
local nothing_own = module.nothing:prepare { grid = 1, block = 1, stream = dev:default_stream "per-thread" }

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
           input = arrays.input:view(at, count), output = arrays.output:view(at, count),
           go = iterate:prepare { grid = ceil_div(count, block), block = block, stream = queue } }
end

-- The array in `chunks` pieces (fewer where it is too short), dealt out over `streams` streams.
-- Options: blocking (streams that the default stream waits for), pageable (host memory).
local function line_of(streams, chunks, options)
  options = options or {}
  local size = ceil_div(ceil_div(n, chunks), 32) * 32
  local line = { count = math.min(streams, ceil_div(n, size)), size = size, asked = chunks, streams = {}, pieces = {},
                 x = options.pageable and arrays.plain_x or arrays.x,
                 y = options.pageable and arrays.plain_y or arrays.y }
  for s = 1, line.count do line.streams[s] = stream(s, options.blocking) end
  for first = 1, n, size do
    line.pieces[#line.pieces + 1] = piece_of(line, #line.pieces + 1, first)
  end
  return line
end

local steps = {}
function steps.copy_in(p) p.input:copy(p.x, p.on) end
function steps.kernel(p) p.go(p.output, p.input, -1, 1, study.rounds, p.count) end
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

return { stream = stream, line_of = line_of, steps = steps, queue = queue, wait_for_other = wait_for_other,
         in_legacy_stream = in_legacy_stream, in_per_thread_stream = in_per_thread_stream }
