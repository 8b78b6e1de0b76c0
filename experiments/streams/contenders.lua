-- SPDX-License-Identifier: MIT
--
-- Contenders: pipelines and stages that are timed in turn, checked and recorded. A chunk that is
-- called with the study's settings and returns what the other parts use of it.

local mw = require "moonwarp"
local core = require "moonwarp.core"

local study = ...
local dev, arrays, pipeline = study.dev, study.arrays, study.pipeline

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
  until round >= 5 and spent >= study.seconds * #contenders
  for _, c in ipairs(contenders) do c.t, c.queued = median(c.all), median(c.heads) end
end

local STAGES = { "copy_in", "kernel", "copy_out" }

-- The three stages alone, in the same pieces, one after another in one stream.
local function stage_contenders(chunks)
  local line, list = pipeline.line_of(1, chunks), {}
  for i, name in ipairs(STAGES) do
    list[i] = { run = function()
      for _, p in ipairs(line.pieces) do pipeline.steps[name](p) end
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
    series = ("%d stream%s"):format(streams, streams == 1 and "" or "s"), rounds = study.rounds,
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
    arrays.poison(c.line)
    seconds_of(c.run)
    mw.check(c.line.y, arrays.want, { exact = true, name = ("%s, %d pieces"):format(c.rung, chunks) })
    records[i] = record_of(group, c, s)
  end
  return records
end

local function contender(rung, line, after)
  return { rung = rung, line = line, run = function() pipeline.queue(line, after) end }
end

-- All numbers of streams, with the same pieces.
local function pipelines_of(chunks)
  local list = {}
  for _, streams in ipairs { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 } do
    if streams <= math.min(chunks, study.most_streams) then
      list[#list + 1] = contender(("streams: %d"):format(streams), pipeline.line_of(streams, chunks))
    end
  end
  return measure("pipeline", chunks, list)
end

-- ---- how much work ------------------------------------------------------------------------------

-- In pieces as the pipelines have them: on the CPU device smaller ones stay in a cache.
local function alone(i)
  local stage = stage_contenders(math.min(16, study.most_chunks))[i]
  alternate { stage }
  return stage.t
end

-- The odd number of rounds whose time comes nearest to the wanted one: doubled until it is too much,
-- then between the last two.
local function calibrate()
  local wanted = study.balance * math.max(alone(1), alone(3))
  local before, low = 0, 0
  local function kernel_time(many)
    study.rounds = many
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

return { alternate = alternate, stages = stage_contenders, measure = measure, new = contender,
         pipelines_of = pipelines_of, calibrate = calibrate }
