-- SPDX-License-Identifier: MIT
--
-- The bootstrap of a median without random draws: the distribution that an endless number of
-- resamples would show.
--
-- A resample draws n values from the n samples x(1) <= ... <= x(n) with replacement. Its r-th
-- smallest value is at most x(k) where r draws or more fall on x(1) ... x(k), so
--   P(x*(r) <= x(k)) = P(Binomial(n, k/n) >= r) = I(k/n; r, n - r + 1),
-- the regularised incomplete beta function (B. Efron, "The jackknife, the bootstrap and other
-- resampling plans", 1982, chapter 10; J. S. Maritz and R. G. Jarrett, "A note on estimating the
-- variance of the sample median", 1978). The weight of x(k) is the integral of the beta density
-- over ((k-1)/n, k/n). Where n is odd the median is x*((n+1)/2). Where n = 2m it is the mean of
-- x*(m) and x*(m+1), whose joint distribution is
--   P(x*(m) = x(i), x*(m+1) = x(j)) = C(n, m) (i^m - (i-1)^m) ((n-j+1)^m - (n-j)^m) / n^n, i < j.

local bootstrap = {}

-- Gauss and Legendre's rule of 8 points on [-1, 1] (M. Abramowitz and I. A. Stegun, "Handbook of
-- mathematical functions", 1964, table 25.4): exact for a density of degree 15, which is n = 16;
-- a larger n has a density that is smooth over 1/n wherever it is not negligible.
-- From n = 1000 on a sample is less than 0.07 of its standard deviations wide, and 4 points do.
local EIGHT = {
  nodes = { 0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363 },
  weights = { 0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763 },
}
local FOUR = { nodes = { 0.3399810435848563, 0.8611363115940526 },
               weights = { 0.6521451548625461, 0.3478548451374538 } }
local SMOOTH = 1000

-- Beyond this many standard deviations, 1 / (2 sqrt n), the density holds less than 1e-15.
local REACH = 8
-- The two middle values of a resample lie this many samples apart with a probability of about e^-gap.
local GAP = 28 -- less than ROUNDING
-- Pairs are listed up to this even n; above it the two middle values are told apart no more, except
-- in the ends of an interval.
local MOST_PAIRED = 400
local ROUNDING = 1e-12 -- of sums of probabilities: a level that is reached exactly counts as reached
local GRID = 100 -- quantiles that represent a distribution when two are combined

-- ---- one order statistic ------------------------------------------------------------------------

local function window(n)
  local half = math.ceil(REACH * math.sqrt(n) / 2) + 2
  local middle = (n + 1) // 2
  return math.max(1, middle - half), math.min(n, middle + half)
end

local function log_power(exponent, base)
  return exponent == 0 and 0.0 or exponent * math.log(base)
end

-- The weights of x(first) ... x(last) as the r-th smallest of a resample, summed up from the left:
-- cdf[k] = P(x*(r) <= x(k)); cdf[first - 1] is 0.
local function order_cdf(n, r)
  local first, last = window(n)
  local a, b = r - 1, n - r
  local mode = n > 1 and a / (n - 1) or 0.5
  local top = log_power(a, mode) + log_power(b, 1 - mode)
  local function density(p) return math.exp(log_power(a, p) + log_power(b, 1 - p) - top) end
  local rule, half = n < SMOOTH and EIGHT or FOUR, 0.5 / n
  local cdf, sum = { [first - 1] = 0.0 }, 0.0
  for k = first, last do
    local center = (k - 0.5) / n
    for i, node in ipairs(rule.nodes) do
      local step = half * node
      sum = sum + rule.weights[i] * (density(center - step) + density(center + step))
    end
    cdf[k] = sum
  end
  for k = first, last do cdf[k] = cdf[k] / sum end
  return cdf, first, last
end

-- The first k with cdf[k] >= level.
local function reach(cdf, first, last, level)
  while first < last do
    local k = (first + last) // 2
    if cdf[k] >= level - ROUNDING then last = k else first = k + 1 end
  end
  return first
end

-- ---- the two middle ones of an even n -----------------------------------------------------------

-- log C(2m, m); the series is Stirling's, short of 1e-16 from m = 32 on.
local function log_central(m)
  if m >= 32 then
    return 2 * m * math.log(2) - math.log(math.pi * m) / 2 - 1 / (8 * m) + 1 / (192 * m ^ 3)
      - 1 / (640 * m ^ 5) + 17 / (14336 * m ^ 7)
  end
  local sum = 0.0
  for t = 1, m do sum = sum + math.log((m + t) / t) end
  return sum
end

-- e^(m log(a/n)) - e^(m log((a-1)/n)) times e^shift: draws at most the a-th, one of them the a-th.
local function step_of(a, m, n, shift)
  local whole = math.exp(m * math.log(a / n) + shift)
  return a == 1 and whole or whole - whole * math.exp(m * math.log((a - 1) / a))
end

-- Lists the pairs with i from `from` to `to`: visit((x(i) + x(j)) / 2, probability, j).
local function each_pair(value, n, from, to, weight, visit)
  local m = n // 2
  local shift = log_central(m) / 2
  for i = math.max(from, 1), math.min(to, n) do
    local left, apart = step_of(i, m, n, shift), 0.0
    for j = i + 1, math.min(i + GAP, n) do
      local p = left * step_of(n - j + 1, m, n, shift)
      apart = apart + p
      visit((value(i) + value(j)) / 2, p, j)
    end
    visit(value(i), math.max(weight(i) - apart, 0.0), i)
  end
end

local function by_value(a, b) return a[1] < b[1] end

-- Where the sum over the sorted list reaches the level.
local function accumulate(list, sum, level)
  table.sort(list, by_value)
  for _, entry in ipairs(list) do
    sum = sum + entry[2]
    if sum >= level - ROUNDING then return entry[1] end
  end
  return list[#list][1]
end

-- The mean of both middle values is at least the lower and at most the upper: that brackets its
-- quantile between two samples, and only pairs about those are looked at one by one.
local function even_quantile(value, n, level, lower, upper)
  local first, last = window(n)
  local from, to = reach(lower, first, last, level), reach(upper, first, last, level)
  local function weight(i) return (lower[i] or 1) - (lower[i - 1] or 0) end
  local list = {}
  each_pair(value, n, from - GAP, to, weight, function(middle, p, j)
    if j >= from then list[#list + 1] = { middle, p } end
  end)
  return accumulate(list, upper[from - 1] or 0.0, level)
end

-- ---- intervals ----------------------------------------------------------------------------------

-- A function of value, an accessor of the samples in ascending order: the least t with
-- P(median* <= t) >= level.
local function quantiles_of(n, level)
  local lower, first, last = order_cdf(n, (n + 1) // 2)
  if n % 2 == 1 then
    local k = reach(lower, first, last, level)
    return function(value) return value(k) end
  end
  local upper = order_cdf(n, n // 2 + 1)
  return function(value) return even_quantile(value, n, level, lower, upper) end
end

--- The percentile interval of the median.
---@param sorted number[]  ascending, at least one
---@param level number?    how much of the bootstrap's distribution is inside; 0.95
---@return number low
---@return number high
function bootstrap.interval(sorted, level)
  local n = #sorted
  if n == 1 then return sorted[1], sorted[1] end
  local quantile = quantiles_of(n, (1 - (level or 0.95)) / 2)
  local low = quantile(function(k) return sorted[k] end)
  -- seen from the other side, so that an interval of -x is that of x
  return low, -quantile(function(k) return -sorted[n + 1 - k] end)
end

-- ---- the whole distribution ---------------------------------------------------------------------

local function merged(list)
  table.sort(list, by_value)
  local values, weights = {}, {}
  for _, entry in ipairs(list) do
    local count = #values
    if count > 0 and values[count] == entry[1] then
      weights[count] = weights[count] + entry[2]
    else
      values[count + 1], weights[count + 1] = entry[1], entry[2]
    end
  end
  return values, weights
end

local function paired(sorted, n)
  local cdf, first, last = order_cdf(n, n // 2)
  local list = {}
  local function weight(i) return cdf[i] - cdf[i - 1] end
  each_pair(function(k) return sorted[k] end, n, first, last, weight, function(middle, p)
    if p > 0 then list[#list + 1] = { middle, p } end
  end)
  return merged(list)
end

--- The bootstrap's distribution of the median: values and their probabilities. Exact for odd n and
--- for even n up to 400; above, an even n counts either of its two middle values half.
---@param sorted number[]  ascending, at least one
---@return number[] values   ascending, each once
---@return number[] weights  their sum is 1
function bootstrap.distribution(sorted)
  local n = #sorted
  if n == 1 then return { sorted[1] }, { 1.0 } end
  if n % 2 == 0 and n <= MOST_PAIRED then return paired(sorted, n) end
  local cdf, first, last = order_cdf(n, (n + 1) // 2)
  local other = n % 2 == 0 and order_cdf(n, n // 2 + 1) or cdf
  local list = {}
  for k = first, last do
    list[#list + 1] = { sorted[k], (cdf[k] - cdf[k - 1] + other[k] - other[k - 1]) / 2 }
  end
  return merged(list)
end

-- GRID values of equal probability.
local function grid_of(sorted)
  local values, weights = bootstrap.distribution(sorted)
  local grid, at, sum = {}, 1, weights[1]
  for i = 1, GRID do
    while sum < (i - 0.5) / GRID and at < #values do
      at = at + 1
      sum = sum + weights[at]
    end
    grid[i] = values[at]
  end
  return grid
end

--- The interval of the ratio of two medians: each distribution is stood for by 100 values of equal
--- probability, and every one of the one is divided by every one of the other.
---@param a number[]     sorted; above the line
---@param b number[]     sorted, all above 0
---@param level number?  0.95
---@return number low
---@return number high
function bootstrap.ratio(a, b, level)
  local above, below, ratios = grid_of(a), grid_of(b), {}
  for i = 1, GRID do
    for j = 1, GRID do ratios[#ratios + 1] = above[i] / below[j] end
  end
  table.sort(ratios)
  local cut = math.floor((1 - (level or 0.95)) / 2 * #ratios)
  return ratios[cut + 1], ratios[#ratios - cut]
end

return bootstrap
