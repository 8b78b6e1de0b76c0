-- SPDX-License-Identifier: MIT
--
-- Is B faster than A? Each measurement that both runs have is judged from the samples they kept.
--
-- The size of a difference is the ratio of the medians, time of B over time of A, with a 95 %
-- interval: that of the bootstrap over single samples, widened to that over the medians of ten
-- stretches of the run if the run drifted, since samples taken one after the other are not
-- independent. A verdict also has to be worth having:
--   same      the whole interval lies within the threshold
--   faster,   the whole interval lies beyond the threshold, and hardly any sample of one run is
--   slower    beyond those of the other: Cliff's delta at least 0.474, "large" (J. Romano and
--             others, "Appropriate statistics for ordinal level data", 2006)
--   unclear   neither, or a run that was disturbed (another program took the machine, the device was
--             throttled) would be faster or slower
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

--- How long B takes beside A.
---@param a number[]  samples of A, in the order taken
---@param b number[]
---@return table effect  ratio, low, high (of median B / median A), delta (Cliff's), superiority
function compare.effect(a, b)
  local effect = stats.effect(b, a)
  local slow = stats.effect(stretch_medians(b), stretch_medians(a))
  effect.low, effect.high = math.min(effect.low, slow.low), math.max(effect.high, slow.high)
  return effect
end

--- The word for an effect.
---@param effect table
---@param threshold number  relative
---@return string verdict   "same", "faster", "slower" or "unclear"
function compare.verdict(effect, threshold)
  local above, below = 1 + threshold, 1 / (1 + threshold)
  if effect.low >= below and effect.high <= above then return "same" end
  if effect.low > above and effect.delta >= LARGE then return "slower" end
  if effect.high < below and effect.delta <= -LARGE then return "faster" end
  return "unclear"
end

-- Of a device that another machine may have had.
local function kind_of(id)
  local word = core.device_word(id or "")
  return word and word.kind or "cpu"
end

local DISTURBED = { "^busy host$", "^throttled", "^clock fell$" }

-- What else changed a time than what was measured: the word of a flag, or nil.
local function disturbance(result)
  return lists.find(result.flags or {}, function(flag)
    return lists.find(DISTURBED, function(pattern) return flag:find(pattern) end)
  end)
end

local FEW = 5 -- samples

local function judged(a, b, threshold, floor)
  local effect = compare.effect(a.result.samples, b.result.samples)
  threshold = math.max(threshold, floor / a.result.median)
  local verdict, why = compare.verdict(effect, threshold), disturbance(a.result) or disturbance(b.result)
  if math.min(#a.result.samples, #b.result.samples) < FEW then
    verdict, why = "unclear", "few samples"
  elseif why and (verdict == "faster" or verdict == "slower") then
    verdict = "unclear"
  else
    why = nil
  end
  return { key = a.key, label = a.label, a = a.result, b = b.result, ratio = effect.ratio,
           low = effect.low, high = effect.high, delta = effect.delta, verdict = verdict, why = why }
end

--- Compares the measurements of two runs.
---@param a table           a run, as store.read gives it: before
---@param b table           after
---@param threshold number? relative difference that counts as none; by device where left out
---@return table result     list: { key, label, a, b (results), ratio, low, high, delta, verdict,
---                         why (a disturbance that made it unclear) } each, in A's order; missing
---                         (labels that only A has), new (only B); threshold, floor (s); counts by
---                         verdict
function compare.runs(a, b, threshold)
  local result = { missing = {}, counts = { same = 0, faster = 0, slower = 0, unclear = 0 },
                   threshold = threshold or compare.THRESHOLD[kind_of(b.device)],
                   floor = compare.FLOOR[kind_of(b.device)] }
  local others, order = {}, measurement.of(b)
  for _, one in ipairs(order) do others[one.key] = one end
  for _, one in ipairs(measurement.of(a)) do
    local other = others[one.key]
    others[one.key] = nil
    if other then
      local kind = kind_of(other.record.device or b.device)
      local row = judged(one, other, threshold or compare.THRESHOLD[kind], compare.FLOOR[kind])
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
