-- SPDX-License-Identifier: MIT
--
-- Variants: what streams wait for, and the best pipeline with a host that waits, kernels in a default
-- stream, callbacks, pageable memory, and as a graph. A chunk that is called with the study's settings
-- and returns what init.lua runs.

local mw = require "moonwarp"

local study = ...
local dev, n, arrays, pipeline, contenders = study.dev, study.n, study.arrays, study.pipeline, study.contenders

-- Two streams, the kernel of the whole array in one, the copy out in the other: where the copy begins,
-- before or after the kernel has ended. Seconds from the kernel's beginning, by events.
local function two_streams(name, waits)
  local a, b = pipeline.stream(1), pipeline.stream(2)
  local line = pipeline.line_of(1, 1)
  local p = line.pieces[1]
  arrays.poison(line)
  p.input:copy(p.x)
  local begin = a:record()
  p.go(p.output, p.input, -1, 1, study.rounds, n)
  local computed = a:record()
  if waits then b:wait(computed) end
  local started = b:record()
  arrays.y:copy(p.output, { stream = b })
  local copied = b:record()
  dev:synchronize()
  if waits then mw.check(arrays.y, arrays.want, { exact = true, name = name }) end
  return mw.record { study = "streams", group = "events", rung = name, computed = computed:since(begin),
                     started = started:since(begin), copied = copied:since(begin) }
end

-- Host callbacks: the pieces in the order in which the script heard of them, and whether each stream's
-- own came in order.
local function callback_order(line)
  local heard, last, ordered = {}, {}, true
  pipeline.queue(line, function(p, i)
    p.stream:callback(function()
      heard[#heard + 1] = i
      ordered = ordered and i > (last[p.lane] or 0)
      last[p.lane] = i
    end)
  end)
  dev:synchronize()
  return heard, ordered
end

-- ---- the same pipeline in other ways ------------------------------------------------------------

local function captured(line)
  return dev:capture(function(main)
    local fork = dev:event { timing = false }
    main:record(fork)
    for _, s in ipairs(line.streams) do s:wait(fork) end
    pipeline.queue(line)
    for _, s in ipairs(line.streams) do main:wait(s:record()) end
  end)
end

-- As a list of contenders, each with a name for the words. Those of a part are compared with `free`,
-- and with `one` where the words tell how much overlap there is.
local function contenders_of(free, chunks, graph)
  local list = {}
  local function add(part, name, contender)
    contender.name = name
    if study.has(part) then list[#list + 1] = contender end
  end
  local pair = pipeline.line_of(2, chunks)
  local bound = pipeline.line_of(free.count, chunks, { blocking = true })
  local paged = pipeline.line_of(free.count, chunks, { pageable = true })
  add(study.has "pipeline" and "pipeline" or "defaults", "one", contenders.new("1 stream", pipeline.line_of(1, chunks)))
  add("pipeline", "lecture",
    contenders.new("2 streams, the host waits each round", pair, pipeline.wait_for_other(pair)))
  list[#list + 1] = contenders.new(("%d streams"):format(free.count), free)
  list[#list].name = "free"
  add("defaults", "legacy",
    contenders.new("blocking, and the legacy default stream", bound, pipeline.in_legacy_stream))
  add("defaults", "per_thread",
    contenders.new("blocking, and the per-thread default stream", bound, pipeline.in_per_thread_stream))
  add("defaults", "beside",
    contenders.new("non-blocking, and the legacy default stream", free, pipeline.in_legacy_stream))
  add("callbacks", "callbacks",
    contenders.new("a callback a piece", free, function(p) p.stream:callback(function() end) end))
  add("pipeline", "pageable", contenders.new("pageable memory", paged))
  add("graph", "graph", { rung = "as a graph", line = free, run = function() graph:launch(free.streams[1]) end })
  return list
end

local function variants(streams, chunks)
  local free = pipeline.line_of(streams, chunks)
  local graph <close> = study.has "graph" and captured(free) or nil
  local list, seen = contenders_of(free, chunks, graph), {}
  local records = contenders.measure("variants", chunks, list)
  for i, contender in ipairs(list) do seen[contender.name] = records[i] end
  return seen, records
end

return { two_streams = two_streams, callback_order = callback_order, of = variants }
