-- SPDX-License-Identifier: MIT
--
-- Statistics of a list of samples. Degenerate lists (one sample, all equal) give zeros, never NaN.
-- Depends on nothing.

local stats = {}

-- The median absolute deviation times this estimates the standard deviation of a normal
-- distribution: 1 / (quantile 3/4 of the standard normal) (F. R. Hampel, "The influence curve and
-- its role in robust estimation", 1974).
local MAD_TO_SD = 1.4826022185056018

-- The standard error of a median of n normal samples is this times sd / sqrt(n): sqrt(pi / 2).
local MEDIAN_ERROR = 1.2533141373155001

--- What a summary holds, as records: printers and plots format, they do not compute.
stats.fields = {
  { key = "median", title = "median", unit = "s", about = "half of the samples are below" },
  { key = "min", title = "min", unit = "s", about = "the fastest sample" },
  { key = "max", title = "max", unit = "s", about = "the slowest sample" },
  { key = "mean", title = "mean", unit = "s", about = "the arithmetic mean" },
  { key = "mad", title = "MAD", unit = "s", about = "median distance from the median" },
  { key = "sd", title = "sd", unit = "s", about = "standard deviation, n - 1 in the denominator" },
  { key = "p05", title = "5 %", unit = "s", about = "5 per cent of the samples are below" },
  { key = "p95", title = "95 %", unit = "s", about = "95 per cent of the samples are below" },
  { key = "noise", title = "noise", unit = "", about = "relative standard error of the median" },
  { key = "n", title = "n", unit = "", about = "number of samples" },
}

local function sorted_copy(list)
  local copy = table.move(list, 1, #list, 1, {})
  table.sort(copy)
  return copy
end

local function quantile_sorted(sorted, q)
  local h = (#sorted - 1) * q + 1
  local low = math.floor(h)
  local a, b = sorted[low], sorted[math.min(low + 1, #sorted)]
  return a == b and a or a + (h - low) * (b - a)
end

--- A quantile by linear interpolation (type 7 of R. J. Hyndman and Y. Fan, "Sample quantiles in
--- statistical packages", 1996).
---@param list number[]  at least one
---@param q number       0 to 1
---@return number
function stats.quantile(list, q)
  return quantile_sorted(sorted_copy(list), q)
end

--- The median.
---@param list number[]  at least one
---@return number
function stats.median(list)
  return stats.quantile(list, 0.5)
end

local function mad_about(list, center)
  local distances = {}
  for i, value in ipairs(list) do distances[i] = math.abs(value - center) end
  return stats.median(distances)
end

--- The median absolute deviation from the median, not scaled.
---@param list number[]  at least one
---@return number
function stats.mad(list)
  return mad_about(list, stats.median(list))
end

-- Two passes: the textbook's one-pass form loses all digits where the spread is small beside the
-- mean.
local function mean_and_sd(list)
  local sum, n = 0, #list
  for _, value in ipairs(list) do sum = sum + value end
  local mean, squares = sum / n, 0
  for _, value in ipairs(list) do squares = squares + (value - mean) ^ 2 end
  return mean, n > 1 and math.sqrt(squares / (n - 1)) or 0
end

-- The spread that the noise is computed from. Where most samples are equal (a coarse clock) the MAD
-- is 0 although others are not, and the standard deviation has to do.
local function robust_sd(mad, sd)
  return mad > 0 and mad * MAD_TO_SD or sd
end

--- All statistics at once.
---@param list number[]  at least one
---@return table summary  n, median, min, max, mean, sd, mad, p05, p95, noise (relative; 0 where n
---                           is 1)
function stats.summary(list)
  if #list == 0 then error("stats.summary: at least one sample is needed, got none", 2) end
  local sorted = sorted_copy(list)
  local median = quantile_sorted(sorted, 0.5)
  local mean, sd = mean_and_sd(list)
  local mad = mad_about(list, median)
  local spread = MEDIAN_ERROR * robust_sd(mad, sd) / math.sqrt(#list)
  return {
    n = #list, median = median, min = sorted[1], max = sorted[#sorted], mean = mean, sd = sd,
      mad = mad,
    p05 = quantile_sorted(sorted, 0.05), p95 = quantile_sorted(sorted, 0.95),
    noise = median ~= 0 and spread / math.abs(median) or 0,
  }
end

--- How many samples lie far out: a modified z-score over 3.5 (B. Iglewicz and D. C. Hoaglin, "How
--- to detect and handle outliers", 1993), and more than a twentieth away from the median, so that a
--- very steady measurement does not raise an alarm over nothing.
---@param list number[]
---@return integer
function stats.outliers(list)
  local s = stats.summary(list)
  local far = math.max(3.5 * s.mad * MAD_TO_SD, math.abs(s.median) / 20)
  local count = 0
  for _, value in ipairs(list) do
    if math.abs(value - s.median) > far then count = count + 1 end
  end
  return count
end

return stats
