-- SPDX-License-Identifier: MIT
--
-- Is B faster than A? Each measurement that both runs have (measurement.lua) is judged: a benchmark from the samples
-- that the runs kept, a value with an interval from the intervals, a plain number from the ratio only.
--
-- The size of a difference is the ratio of the medians, B over A, with a 95 %
-- interval: that of the bootstrap over single samples, widened to that over the medians of ten
-- stretches of the run if the run drifted, since samples taken one after the other are not
-- independent. A verdict also has to be worth having:
--   same      the whole interval lies within the threshold
--   faster,   the whole interval lies beyond the threshold, and hardly any sample of one run is
--   slower    beyond those of the other: Cliff's delta at least 0.474, "large" (J. Romano and
--             others, "Appropriate statistics for ordinal level data", 2006)
--   unclear   neither, or a run that was disturbed (another program took the machine, the device was
--             throttled) would be faster or slower
-- The interval of a ratio of two intervals reaches from the least to the greatest quotient of their ends. A plain
-- number is "changed" beyond a threshold of its own, and so is any other in a unit of which neither less nor more is
-- better.
-- The threshold stands for what changes between two runs of the same thing (where arrays lie, how
-- warm the device is), which no interval from inside of a run can know.

local core = require "moonwarp.core"
local lists = require "moonwarp.base.lists"
local measurement = require "moonwarp.results.measurement"
local stats = require "moonwarp.measure.stats"

local compare = {}

local LARGE = 0.474
local STRETCHES, LEAST = 10, 3 -- samples a stretch

--- Default differences that count as the same: of a time, and in seconds. The
--- second is what two runs of one short kernel on a GPU differ by (docs/measurements.md).
compare.THRESHOLD = { gpu = 0.02, cpu = 0.10 }
--- The same of a number without samples and interval.
compare.SINGLE = { gpu = 0.05, cpu = 0.20 }
compare.FLOOR = { gpu = 0.3e-6, cpu = 0 }

local function stretch_medians(samples)
  local count = math.min(STRETCHES, #samples // LEAST)
  if count < 2 then return samples end
  local medians = {}
  for i = 1, count do
    local first, last = (i - 1) * #samples // count + 1, i * #samples // count
    medians[i] = stats.median(table.move(samples, first, last, 1, {}))
  end
  return medians
end

--- How much B is beside A.
---@param a number[]  samples of A, in the order taken
---@param b number[]
---@return table effect  ratio, low, high (of median B / median A), delta (Cliff's), superiority
function compare.effect(a, b)
  local effect = stats.effect(b, a)
  local slow = stats.effect(stretch_medians(b), stretch_medians(a))
  effect.low, effect.high = math.min(effect.low, slow.low), math.max(effect.high, slow.high)
  return effect
end

-- The interval of B over A from theirs.
local function quotient(a, b)
  local ratio = b.value / a.value
  if not (a.low and b.low) then return { ratio = ratio, low = ratio, high = ratio } end
  return { ratio = ratio, low = b.low / a.high, high = b.high / a.low }
end

local BETTER = { lower = { more = "slower", less = "faster" }, higher = { more = "faster", less = "slower" } }
local CHANGED = { more = "changed", less = "changed" }

--- The word for an effect.
---@param effect table      ratio, low, high; delta if it is of samples
---@param threshold number  relative
---@param better string?    "lower" if left out, "higher", or "neither"
---@return string verdict   "same", "faster", "slower", "changed" or "unclear"
function compare.verdict(effect, threshold, better)
  local above, below = 1 + threshold, 1 / (1 + threshold)
  local words = BETTER[better or "lower"] or CHANGED
  if effect.low >= below and effect.high <= above then return "same" end
  if effect.low > above and (effect.delta or 1) >= LARGE then return words.more end
  if effect.high < below and (effect.delta or -1) <= -LARGE then return words.less end
  return "unclear"
end

-- Of a device that another machine may have had.
local function kind_of(id)
  local word = core.device_word(id or "")
  return word and word.kind or "cpu"
end

local DISTURBED = { "^busy host$", "^throttled", "^clock fell$" }

-- What else changed a time than what was measured: the word of a flag, or nil.
local function disturbance(one)
  return lists.find(one.result and one.result.flags or {}, function(flag)
    return lists.find(DISTURBED, function(pattern) return flag:find(pattern) end)
  end)
end

local FEW = 5 -- samples

local function by_samples(a, b, threshold, floor)
  local effect = compare.effect(a.samples, b.samples)
  local verdict, why = compare.verdict(effect, math.max(threshold, floor / a.value)), disturbance(a) or disturbance(b)
  if math.min(#a.samples, #b.samples) < FEW then return effect, "unclear", "few samples" end
  if why and (verdict == "faster" or verdict == "slower") then return effect, "unclear", why end
  return effect, verdict
end

local function by_intervals(a, b, threshold)
  local effect = quotient(a, b)
  return effect, compare.verdict(effect, threshold, a.better or "neither")
end

local function by_value(a, b, threshold)
  local effect = quotient({ value = a.value }, { value = b.value })
  return effect, compare.verdict(effect, threshold, "neither"), "no samples"
end

-- Ratios say something of positive values only.
local function without_ratio(a, b)
  return {}, a.value == b.value and "same" or "changed", "not positive"
end

-- The way in which two measurements can be judged.
local function judge_of(a, b)
  if math.min(a.low or a.value, b.low or b.value) <= 0 then return without_ratio end
  if a.samples and b.samples then return by_samples end
  return a.low and b.low and by_intervals or by_value
end

local function judged(a, b, kind, threshold)
  local judge = judge_of(a, b)
  local limit = threshold or (judge == by_value and compare.SINGLE or compare.THRESHOLD)[kind]
  local effect, verdict, why = judge(a, b, limit, compare.FLOOR[kind])
  return { key = a.key, label = a.label, a = a, b = b, ratio = effect.ratio, low = effect.low, high = effect.high,
           delta = effect.delta, verdict = verdict, why = verdict ~= "same" and why or nil,
           is_single = judge == by_value }
end

--- Compares the measurements of two runs.
---@param a table           a run, as store.read gives it: before
---@param b table           after
---@param threshold number? relative difference that counts as none; by device where left out
---@return table result     list: { key, label, a, b (measurements), ratio, low, high (nil of values that
---                         are not positive), delta, verdict,
---                         why (what made it unclear or changed), is_single (judged by two plain
---                         numbers) } each, in A's order; missing (labels that only A has), new
---                         (only B); threshold, single (of plain numbers), floor (s); counts by verdict
function compare.runs(a, b, threshold)
  local usual = kind_of(b.device)
  local result = { missing = {}, counts = { same = 0, faster = 0, slower = 0, changed = 0, unclear = 0 },
                   threshold = threshold or compare.THRESHOLD[usual], single = threshold or compare.SINGLE[usual],
                   floor = compare.FLOOR[usual] }
  local others, order = {}, measurement.of(b)
  for _, one in ipairs(order) do others[one.key] = one end
  for _, one in ipairs(measurement.of(a)) do
    local other = others[one.key]
    others[one.key] = nil
    if other then
      local kind = kind_of(other.record.device or b.device)
      local row = judged(one, other, kind, threshold)
      result.counts[row.verdict] = result.counts[row.verdict] + 1
      result[#result + 1] = row
    else
      table.insert(result.missing, one.label)
    end
  end
  result.new = lists.map(order, function(one) return others[one.key] and one.label end)
  return result
end

return compare
