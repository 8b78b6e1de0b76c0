-- SPDX-License-Identifier: MIT
--
-- What the numbers say, in words: a list of paragraphs. Every claim that numbers could contradict is
-- chosen by them. A chunk that is called with the study's settings and returns say(results).

local study = ...
local dev, gpu, n, ceil_div = study.dev, study.gpu, study.n, study.ceil_div

local function copies(m)
  local rates = {}
  for _, r in ipairs(m.host) do
    if r.bytes == study.arrays.x:nbytes() then rates[r.series] = r.T_tot / 1e9 end
  end
  local slower = rates["pageable, in"] + rates["pageable, out"] < 0.9 * (rates["pinned, in"] + rates["pinned, out"])
  return ("Pinned memory gives %.1f GB/s in and %.1f GB/s out, pageable memory %.1f and %.1f%s Both directions "
    .. "at once take %.2f times as long as the slower one alone."):format(rates["pinned, in"], rates["pinned, out"],
    rates["pageable, in"], rates["pageable, out"],
    not gpu and ": to the CPU device both are the same memory, and the difference is noise."
      or slower and ": it goes through a pinned buffer of the driver, a part at a time." or ".", m.both.slower)
end

local function hiding(r)
  if r.hidden <= 0 then return "It hides nothing of the copies' time" end
  return ("It hides %.0f %% of the copies' time, of at most %.0f %%"):format(100 * r.hidden, 100 * r.hidden / r.share)
end

-- By the second measurement of the best pipeline: the best of many is also the luckiest.
local function overlap(m)
  local b, one = m.seen.free, m.seen.one
  return ("In %d pieces the copies in take %.2f ms, the kernel (%d rounds) %.2f ms, the copies out %.2f ms. %s, "
    .. "%s, takes %.2f ms: %.3f times the longest of the three, where one stream takes %.3f. %s%s."):format(b.chunks,
    1e3 * b.copy_in, study.rounds, 1e3 * b.kernel, 1e3 * b.copy_out, b.t < one.t and "The best pipeline"
    or "Even the best of several streams", b.series, 1e3 * b.t, b.over, one.over, hiding(b),
    b.over < 1 and " for three engines (below 1, kernels of two streams ran side by side)" or "")
end

local function cores()
  local workers = dev:properties().multiprocessors
  if workers == 1 then
    return "With one worker every operation has one core: copies run beside kernels, and kernels of "
      .. "two streams beside each other, so that less than the longest stage is possible."
  end
  return ("Here a kernel or a copy alone already has all %d cores: overlap can only fill what one of them leaves idle, "
    .. "as a copy does while it waits for memory. MOONWARP_CPU_WORKERS=1 gives every operation one core instead.")
    :format(workers)
end

-- The slides' loop, for (i = 0; i < n / chunk; i += chunk), with our pieces.
local function waiting(m)
  local pieces = m.seen.free.chunks
  local chunk = ceil_div(n, pieces)
  return ("A host that waits for the other of two streams in each round gets %.3f, and with the slides' bound it "
    .. "would have done %d of %d pieces."):format(m.seen.lecture.over, ceil_div(n // chunk, chunk), pieces)
end

-- What the legacy default stream costs beyond the same kernel where nobody waits for it.
local function verdict(legacy, beside, one)
  if beside > 0.95 * one then return "as there was next to no overlap, there was none to lose" end
  if legacy <= 1.05 * beside then return "no more than where nobody waits for it" end
  return "it waits for all blocking streams, and they for it, so that "
    .. (legacy > 0.95 * one and "nothing overlaps" or "less overlaps")
end

local function defaults(m)
  local s = m.seen
  return ("Without a kernel in a default stream %d streams take %.3f times the longest stage. One after each piece "
    .. "in the legacy default stream, beside blocking streams, makes that %.3f: %s. In the per-thread default stream "
    .. "it gives %.3f, and in the legacy one beside non-blocking streams %.3f."):format(s.free.streams, s.free.over,
    s.legacy.over, verdict(s.legacy.over, math.max(s.beside.over, s.per_thread.over), s.one.over),
    s.per_thread.over, s.beside.over)
end

local function callbacks(m)
  local each = (m.seen.callbacks.t - m.seen.free.t) / m.seen.free.chunks
  return ("A callback a piece costs %s; each stream's own came %s, the first ones for pieces %s."):format(
    each > 0 and ("%.1f us"):format(1e6 * each) or "nothing that shows", m.ordered and "in order" or "OUT OF ORDER",
    table.concat(m.heard, " ", 1, math.min(6, #m.heard)))
end

local function events(m)
  local free, waited = m.orders[1], m.orders[2]
  local early, late = free.computed - free.started, waited.started - waited.computed
  return ("Without an event the other stream's copy %s; waiting for it, %.3f ms after."):format(
    early > 0 and ("could begin %.3f ms before the kernel ended, with a result not there yet"):format(1e3 * early)
    or "began after the kernel had ended, by chance", 1e3 * late)
end

local function graph(m)
  local free, whole = m.seen.free, m.seen.graph
  return ("The script queues the pipeline in %.0f us, a graph of it in %.0f us; the graph takes %.3f times the "
    .. "longest stage%s."):format(1e6 * free.queued, 1e6 * whole.queued, whole.over,
    gpu and "" or ": the CPU device replays a graph in the order of its capture, one piece after another")
end

--- The paragraphs, of the parts that were run.
---@param m table  host (the copies), both (ways at once), seen (the variants by name), orders (two, of
---                events), heard and ordered (of callbacks)
---@return string[]
return function(m)
  local has, list = study.has, {}
  local function add(part, ...)
    for _, say in ipairs(has(part) and { ... } or {}) do list[#list + 1] = say(m) end
  end
  add("copies", copies)
  add("pipeline", overlap, not gpu and cores or nil)
  add("pipeline", waiting)
  add("defaults", defaults)
  if has "callbacks" and has "events" then
    list[#list + 1] = callbacks(m) .. " " .. events(m)
  else
    add("callbacks", callbacks)
    add("events", events)
  end
  add("graph", graph)
  return list
end
