-- SPDX-License-Identifier: MIT
--
-- Is B faster than A? Each measurement that both runs have (measurement.lua) is judged: a benchmark from the samples
-- that the runs kept, a value with an interval from the intervals, a plain number from the ratio only. The gates of a
-- lab ask the same of two records of one run (lab/gate.lua).
--
-- The size of a difference is the ratio of the medians, B over A, with a 95 %
-- interval: that of the bootstrap over single samples, widened to that over the medians of ten
-- stretches of the run if the run drifted, since samples taken one after the other are not
-- independent. A verdict also has to be worth having:
--   same      the whole interval lies within the threshold
--   faster,   the whole interval lies beyond the threshold, and hardly any sample of one run is
--   slower    beyond those of the other: Cliff's delta at least 0.474, "large" (J. Romano and
--             others, "Appropriate statistics for ordinal level data", 2006)
--   unclear   neither
-- Where something else may have made the difference (another program took the machine, the device was throttled, there
-- are few samples), the interval has to lie beyond three times the threshold.
-- The interval of a ratio of two intervals reaches from the least to the greatest quotient of their ends. A plain
-- number is "changed" beyond a threshold of its own, and so is any other in a unit of which neither less nor more is
-- better.
-- The threshold stands for what changes between two runs of the same thing (where arrays lie, how
-- warm the device is), which no interval from inside of a run can know. Several runs of each side know it: then a run
-- counts as one value, and the interval is Student's of the difference of the means of logarithms, the variance pooled.

local core = require "moonwarp.core"
local fields = require "moonwarp.results.fields"
local lists = require "moonwarp.base.lists"
local measurement = require "moonwarp.results.measurement"
local stats = require "moonwarp.measure.stats"

local compare = {}

local LARGE = 0.474
local FAR = 3 -- thresholds
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

--- B relative to A.
---@param a number[]  samples of A, in the order taken
---@param b number[]
---@return table effect  ratio, low, high (of median B / median A), delta (Cliff's), superiority
function compare.effect(a, b)
  local effect = stats.effect(b, a)
  local slow = stats.effect(stretch_medians(b), stretch_medians(a))
  effect.low, effect.high = math.min(effect.low, slow.low), math.max(effect.high, slow.high)
  return effect
end

--- The ratio of two positive values, B over A, with an interval that reaches from the least to the greatest quotient.
---@param a { value: number, low: number?, high: number? }
---@param b { value: number, low: number?, high: number? }
---@return table effect  ratio, low, high; the ratio itself where a value has no interval
function compare.quotient(a, b)
  local ratio = b.value / a.value
  if not (a.low and b.low) then return { ratio = ratio, low = ratio, high = ratio } end
  return { ratio = ratio, low = b.low / a.high, high = b.high / a.low }
end

-- Student's t for a two-sided 95 % interval, by degrees of freedom from 1 on; more have the last one, which is a little
-- too wide (M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 1964, table 26.10).
local STUDENT <const> = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
                          2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086 }

-- The mean of the logarithms, and the sum of their squared distances from it.
local function moments(values)
  local mean, squares = 0, 0
  for _, value in ipairs(values) do mean = mean + math.log(value) / #values end
  for _, value in ipairs(values) do squares = squares + (math.log(value) - mean) ^ 2 end
  return mean, squares
end

--- The ratio of what several runs of two things gave, B over A, as geometric means.
---@param a number[]  positive, one per run; two at least
---@param b number[]
---@return table effect  ratio, low, high (95 %)
function compare.between(a, b)
  local mean_a, squares_a = moments(a)
  local mean_b, squares_b = moments(b)
  local freedom = #a + #b - 2
  local half = STUDENT[math.min(freedom, #STUDENT)] * math.sqrt((squares_a + squares_b) / freedom * (1 / #a + 1 / #b))
  local difference = mean_b - mean_a
  return { ratio = math.exp(difference), low = math.exp(difference - half), high = math.exp(difference + half) }
end

--- On which side of a bound an interval lies.
---@param effect table  low, high
---@param bound number
---@return string? side  "more" (or at it), "less"; nil: the bound lies inside
function compare.side(effect, bound)
  return effect.low >= bound and "more" or effect.high < bound and "less" or nil
end

local BETTER = { lower = { more = "slower", less = "faster" }, higher = { more = "faster", less = "slower" } }
local CHANGED = { more = "changed", less = "changed" }

--- The word for an effect.
---@param effect table      ratio, low, high; delta if it is of samples
---@param threshold number  relative
---@param better string?    "lower" if left out, "higher", or "neither"
---@param doubt string?     what else may have made the difference
---@return string verdict   "same", "faster", "slower", "changed" or "unclear"
function compare.verdict(effect, threshold, better, doubt)
  if effect.low >= 1 / (1 + threshold) and effect.high <= 1 + threshold then return "same" end
  local words, far = BETTER[better or "lower"] or CHANGED, 1 + threshold * (doubt and FAR or 1)
  if compare.side(effect, far) == "more" and (effect.delta or 1) >= LARGE then return words.more end
  if compare.side(effect, 1 / far) == "less" and (effect.delta or -1) <= -LARGE then return words.less end
  return "unclear"
end

-- Of a device that another machine may have had.
local function kind_of(id)
  local word = core.device_word(id or "")
  return word and word.kind or "cpu"
end

local DISTURBED = { "^busy host$", "^throttled", "^clock fell$" }

-- What else changed a time than what was measured: the word of a flag, or nil. A value of a record was measured with
-- the benchmarks of the record.
local function disturbance(one)
  for _, result in pairs(one.result and { one.result } or one.record) do
    local flag = fields.is_result(result) and lists.find(result.flags or {}, function(flag)
      return lists.find(DISTURBED, function(pattern) return flag:find(pattern) end)
    end)
    if flag then return flag end
  end
end

local FEW = 5 -- samples

local function doubt_of(a, b)
  local few = a.samples and b.samples and math.min(#a.samples, #b.samples) < FEW
  return few and "few samples" or disturbance(a) or disturbance(b)
end

local function by_intervals(a, b, threshold, floor)
  local effect = a.samples and b.samples and compare.effect(a.samples, b.samples) or compare.quotient(a, b)
  local doubt = doubt_of(a, b)
  if a.unit == "s" then threshold = math.max(threshold, floor / a.value) end
  return effect, compare.verdict(effect, threshold, a.better or "neither", doubt), doubt
end

local function by_runs(a, b, threshold, floor)
  local effect = compare.between(a.runs, b.runs)
  if a.unit == "s" then threshold = math.max(threshold, floor / a.value) end
  return effect, compare.verdict(effect, threshold, a.better or "neither")
end

local function by_value(a, b, threshold)
  local effect = compare.quotient({ value = a.value }, { value = b.value })
  return effect, compare.verdict(effect, threshold, "neither"), "no samples"
end

-- Ratios say something of positive values only.
local function without_ratio(a, b)
  return {}, a.value == b.value and "same" or "changed", "not positive"
end

local function least(one)
  return one.runs and math.min(table.unpack(one.runs)) or one.low or one.value
end

-- The way in which two measurements can be judged.
local function judge_of(a, b)
  if math.min(least(a), least(b)) <= 0 then return without_ratio end
  if a.runs and b.runs then return by_runs end
  return (a.samples and b.samples or a.low and b.low) and by_intervals or by_value
end

local function judged(a, b, kind, threshold)
  local judge = judge_of(a, b)
  local limit = threshold or (judge == by_value and compare.SINGLE or compare.THRESHOLD)[kind]
  local effect, verdict, why = judge(a, b, limit, compare.FLOOR[kind])
  return { key = a.key, label = a.label, a = a, b = b, ratio = effect.ratio, low = effect.low, high = effect.high,
           delta = effect.delta, verdict = verdict, why = verdict ~= "same" and why or nil,
           is_single = judge == by_value }
end

-- The measurements of the newest run, in order; of several runs each also with runs, its values in those that have it.
local function measurements(list)
  local order, known = measurement.of(list[#list]), {}
  if #list == 1 then return order end
  for _, run in ipairs(list) do
    for _, one in ipairs(measurement.of(run)) do
      known[one.key] = known[one.key] or {}
      table.insert(known[one.key], one.value)
    end
  end
  for _, one in ipairs(order) do
    local values = known[one.key]
    if #values > 1 then one.runs, one.value = values, stats.median(values) end
  end
  return order
end

--- Compares the measurements of several runs of each of two things.
---@param before table[]    runs, as store.read gives them, the newest last; judged by samples where there is only one
---@param after table[]
---@param threshold number? relative difference that counts as none; by device where left out
---@return table result     list: { key, label, a, b (measurements), ratio, low, high (nil of values that
---                         are not positive), delta, verdict,
---                         why (what made it unclear or changed), is_single (judged by two plain
---                         numbers) } each, in A's order; missing (labels that only A has), new
---                         (only B); threshold, single (of plain numbers), floor (s); counts by verdict
function compare.several(before, after, threshold)
  local b = after[#after]
  local usual = kind_of(b.device)
  local result = { missing = {}, counts = { same = 0, faster = 0, slower = 0, changed = 0, unclear = 0 },
                   threshold = threshold or compare.THRESHOLD[usual], single = threshold or compare.SINGLE[usual],
                   floor = compare.FLOOR[usual] }
  local others, order = {}, measurements(after)
  for _, one in ipairs(order) do others[one.key] = one end
  for _, one in ipairs(measurements(before)) do
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

--- Compares the measurements of two runs.
---@param a table           a run: before
---@param b table           after
---@param threshold number?
---@return table result     as of several
function compare.runs(a, b, threshold)
  return compare.several({ a }, { b }, threshold)
end

return compare
