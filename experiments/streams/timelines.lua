-- SPDX-License-Identifier: MIT
--
-- Timelines: a pipeline once more, with an event around every operation, a lane for each stream. A
-- chunk that is called with the study's settings and returns timeline(name, title, line, after).

local mw = require "moonwarp"

local study = ...
local dev, arrays, pipeline = study.dev, study.arrays, study.pipeline

local function mark_events(line)
  local marks = {}
  for i = 1, #line.pieces do marks[i] = { dev:event(), dev:event(), dev:event(), dev:event() } end
  return marks
end

local function queue_marked(line, marks, after)
  for i, p in ipairs(line.pieces) do
    local m = marks[i]
    m[1]:record(p.stream)
    pipeline.steps.copy_in(p)
    m[2]:record(p.stream)
    pipeline.steps.kernel(p)
    m[3]:record(p.stream)
    pipeline.steps.copy_out(p)
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
  if study.gpu then without_waiting(spans) end
  return spans
end

local function timeline(name, title, line, after)
  local marks = mark_events(line)
  pipeline.queue(line, after)
  arrays.poison(line)
  queue_marked(line, marks, after)
  dev:synchronize()
  mw.check(line.y, arrays.want, { exact = true, name = title })
  mw.timeline { spans = spans_of(line, marks), name = name, title = title, device = dev }
end

return timeline
