-- SPDX-License-Identifier: MIT
--
-- Statistics of a list of samples. Degenerate lists (one sample, all equal) give zeros, never NaN.

local bootstrap = require "moonwarp.measure.bootstrap"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"

local stats = {}

-- The median absolute deviation times this estimates the standard deviation of a normal
-- distribution: 1 / (quantile 3/4 of the standard normal) (F. R. Hampel, "The influence curve and
-- its role in robust estimation", 1974).
local MAD_TO_SD = 1.4826022185056018

-- The standard error of a median of n normal samples is this times sd / sqrt(n): sqrt(pi / 2).
local MEDIAN_ERROR = 1.2533141373155001

local function sorted_copy(list)
  local copy = table.move(list, 1, #list, 1, {})
  table.sort(copy)
  return copy
end

-- By linear interpolation (type 7 of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", 1996).
local function quantile_sorted(sorted, q)
  local h = (#sorted - 1) * q + 1
  local low = math.floor(h)
  local a, b = sorted[low], sorted[math.min(low + 1, #sorted)]
  return a == b and a or a + (h - low) * (b - a)
end

--- The median.
---@param list number[]  at least one
---@return number
function stats.median(list)
  return quantile_sorted(sorted_copy(list), 0.5)
end

-- The median absolute deviation, not scaled.
local function mad_about(list, center)
  return stats.median(lists.map(list, function(value) return math.abs(value - center) end))
end

-- Two passes: the textbook's one-pass form loses all digits if the spread is small compared with the
-- mean.
local function mean_and_sd(list)
  local sum, n = 0, #list
  for _, value in ipairs(list) do sum = sum + value end
  local mean, squares = sum / n, 0
  for _, value in ipairs(list) do squares = squares + (value - mean) ^ 2 end
  return mean, n > 1 and math.sqrt(squares / (n - 1)) or 0
end

-- The relative standard error of the median. Where most samples are equal (a coarse clock) the MAD is 0 although
-- others are not, and the standard deviation has to do.
local function noise_of(n, median, mad, sd)
  local spread = MEDIAN_ERROR * (mad > 0 and mad * MAD_TO_SD or sd) / math.sqrt(n)
  return median ~= 0 and spread / math.abs(median) or 0
end

--- The relative standard error of the median, 0 for one sample.
---@param list number[]  at least one
---@return number
function stats.noise(list)
  local median = stats.median(list)
  local _, sd = mean_and_sd(list)
  return noise_of(#list, median, mad_about(list, median), sd)
end

--- A confidence interval of the median: the percentiles of its bootstrap, exactly and without
--- random draws.
---@param list number[]  at least one
---@param level number?  0.95
---@return number low
---@return number high
function stats.interval(list, level)
  return bootstrap.interval(sorted_copy(list), level)
end

--- All statistics at once.
---@param list number[]  at least one
---@return table summary  n, median, low, high (the median's 95 % interval), min, max, mean, sd, mad,
---                           p05, p25, p75, p95, noise (relative; 0 if n is 1)
function stats.summary(list)
  if #list == 0 then failure.invalid "stats.summary: at least one sample is needed, got none" end
  local sorted = sorted_copy(list)
  local median = quantile_sorted(sorted, 0.5)
  local mean, sd = mean_and_sd(list)
  local mad = mad_about(list, median)
  local summary = { n = #list, median = median, min = sorted[1], max = sorted[#sorted],
                    mean = mean, sd = sd, mad = mad, noise = noise_of(#list, median, mad, sd) }
  summary.low, summary.high = bootstrap.interval(sorted)
  for key, q in pairs { p05 = 0.05, p25 = 0.25, p75 = 0.75, p95 = 0.95 } do
    summary[key] = quantile_sorted(sorted, q)
  end
  return summary
end

--- The summary of no samples: every number is NaN.
---@return table
function stats.none()
  local summary = { n = 0 }
  for _, key in ipairs { "median", "min", "max", "mean", "sd", "mad", "noise", "low", "high", "p05", "p25", "p75",
                         "p95" } do
    summary[key] = -(0 / 0) -- "nan" where it is printed, not "-nan"
  end
  return summary
end

-- ---- two lists ----------------------------------------------------------------------------------

-- How many pairs (a, b) have a > b, and how many a < b, from both lists sorted.
local function count_pairs(a, b)
  local above, below, less, most = 0, 0, 0, 0
  for _, value in ipairs(a) do
    while less < #b and b[less + 1] < value do less = less + 1 end
    most = math.max(most, less)
    while most < #b and b[most + 1] <= value do most = most + 1 end
    above, below = above + less, below + (#b - most)
  end
  return above, below
end

--- How far two lists are apart, as sizes and not as a p value: the ratio of their medians with its
--- 95 % bootstrap interval, and how often a value of the first is above one of the second
--- (N. Cliff, "Dominance statistics: ordinal analyses to answer ordinal questions", 1993).
---@param a number[]     at least one
---@param b number[]     at least one
---@param level number?  of the interval; 0.95
---@return table effect  ratio, low, high (of median a / median b), delta (-1: all of a are below all
---                      of b, 1: above), superiority (probability that a value of a is above one of
---                      b, ties count half)
function stats.effect(a, b, level)
  if #a == 0 or #b == 0 then failure.invalid "stats.effect: at least one sample of each is needed" end
  a, b = sorted_copy(a), sorted_copy(b)
  local above, below = count_pairs(a, b)
  local delta = (above - below) / (#a * #b)
  local effect = { ratio = quantile_sorted(a, 0.5) / quantile_sorted(b, 0.5), delta = delta,
                   superiority = (delta + 1) / 2 }
  effect.low, effect.high = bootstrap.ratio(a, b, level)
  return effect
end

-- ---- outliers -----------------------------------------------------------------------------------

--- How many samples lie far out: a modified z-score over 3.5 (B. Iglewicz and D. C. Hoaglin, "How
--- to detect and handle outliers", 1993), and more than a twentieth away from the median, so that a
--- very steady measurement does not raise an alarm over nothing.
---@param list number[]
---@return integer
function stats.outliers(list)
  local median = stats.median(list)
  local far = math.max(3.5 * mad_about(list, median) * MAD_TO_SD, math.abs(median) / 20)
  local count = 0
  for _, value in ipairs(list) do
    if math.abs(value - median) > far then count = count + 1 end
  end
  return count
end

return stats
