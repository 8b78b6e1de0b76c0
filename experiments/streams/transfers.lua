-- SPDX-License-Identifier: MIT
--
-- Transfers: copies alone, from pinned and from pageable memory, and both ways at once. A chunk that is
-- called with the study's settings and returns what init.lua runs.

local mw = require "moonwarp"

local study = ...
local dev, n, arrays = study.dev, study.n, study.arrays
local pipeline, contenders = study.pipeline, study.contenders

local function host_copy(kind, way, to, from)
  local on = { stream = pipeline.stream(1) }
  to:fill(0 / 0)
  dev:synchronize()
  local t = mw.bench(function()
    to:copy(from, on)
    on.stream:synchronize()
  end, { min_time = study.seconds / 2, max_time = study.seconds, noise = 0.02, device = dev, clock = "host" })
  local name = ("%s, %s"):format(kind, way)
  mw.check(to, from, { exact = true, name = name })
  return mw.record { study = "streams", group = "host", series = name, bytes = to:nbytes(), t = t,
                     T_tot = to:nbytes() / t.median }
end

local HOST = { pinned = { arrays.x, arrays.y }, pageable = { arrays.plain_x, arrays.plain_y } }

local function host_copies()
  local records, count = {}, math.min(study.smallest, n)
  while true do
    local view = arrays.input:view(1, count)
    for kind, pair in pairs(HOST) do
      records[#records + 1] = host_copy(kind, "in", view, pair[1]:view(1, count))
      records[#records + 1] = host_copy(kind, "out", pair[2]:view(1, count), view)
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
  local list = contenders.stages(1)
  local a, b = { stream = pipeline.stream(1) }, { stream = pipeline.stream(2) }
  local to, from = arrays.input:view(1, n), arrays.output:view(1, n)
  list[#list + 1] = { run = function()
    to:copy(arrays.x, a)
    arrays.y:copy(from, b)
  end }
  contenders.alternate(list)
  return mw.record { study = "streams", group = "both", t = list[4].t,
                     slower = list[4].t / math.max(list[1].t, list[3].t) }
end

return { host_copies = host_copies, both_ways = both_ways }
