-- SPDX-License-Identifier: MIT
--
-- The samples of a measurement as a strip of 24 bars around their median, with the interval of the
-- median beneath: small enough for a table's row, and two-humped where the samples are. Strips of a
-- run have one scale, so that a noisy row looks like one.

local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"

local strip = {}

local BINS <const>, WIDTH <const> = 24, 120 -- px; the style sheet has the size, 120 x 22
local FLOOR <const> = 17 -- of the bars, px from the top; the interval lies beneath
-- Of the median: how far a strip reaches to a side.
local ROUND = { 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5 }

local function reach_of(result)
  local median = result.median
  if median <= 0 then return nil end
  return math.max((result.p95 or median) / median - 1, 1 - (result.p05 or median) / median)
end

--- How far the strips of these results reach to each side, as a share of the median: wide enough for
--- four of five of them.
---@param results table[]
---@return number
function strip.window(results)
  local reaches = lists.map(results, reach_of)
  table.sort(reaches)
  local wanted = reaches[math.ceil(#reaches * 0.8)] or 0
  return lists.find(ROUND, function(share) return wanted <= share end) or ROUND[#ROUND]
end

-- What lies outside of the window is counted in the end bins.
local function counts_of(samples, median, window)
  local counts, most = {}, 0
  for i = 1, BINS do counts[i] = 0 end
  for _, sample in ipairs(samples) do
    local share = (sample / median - 1 + window) / (2 * window)
    local bin = math.floor(math.max(1, math.min(BINS, share * BINS + 1)))
    counts[bin] = counts[bin] + 1
    most = math.max(most, counts[bin])
  end
  return counts, most
end

-- One outline over all bars: half the bytes of a box for each.
local function outline(counts, most)
  local parts, last = { ("M0 %d"):format(FLOOR) }, 0
  for i, count in ipairs(counts) do
    local height = count > 0 and math.max(1, math.floor(count / most * (FLOOR - 1) + 0.5)) or 0
    if height ~= last then parts[#parts + 1] = ("H%dV%d"):format((i - 1) * (WIDTH // BINS), FLOOR - height) end
    last = height
  end
  return ("%sH%dV%d"):format(table.concat(parts), WIDTH, FLOOR)
end

local function interval(result, window)
  if not (result.low and result.high) then return false end
  local function at(value)
    local share = (value / result.median - 1 + window) / (2 * window)
    return math.floor(math.max(0, math.min(1, share)) * WIDTH * 10 + 0.5) / 10
  end
  local from = at(result.low)
  return html.path { class = "iv", d = ("M%g 20H%g"):format(from, math.max(from + 1, at(result.high))) }
end

--- The strip of a result; nothing if there are no samples.
---@param result table    of mw.bench
---@param window number   of strip.window
---@param words string    what a reader who does not see it is told
---@return table? markup
function strip.draw(result, window, words)
  if result.median <= 0 then return nil end
  local counts, most = counts_of(result.samples, result.median, window)
  if most == 0 then return nil end
  return html.svg { class = "strip", role = "img", html.title { words },
    html.path { d = outline(counts, most) }, interval(result, window) }
end

return strip
