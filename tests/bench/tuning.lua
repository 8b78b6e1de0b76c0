-- SPDX-License-Identifier: MIT
--
-- What a tuning costs: the share of its time that is not spent in launches that are measured, and in which steps; 500
-- variants, each compiled by itself and measured for 20 ms. To reach: at most 0.30, on a GPU with 16 cores.
-- -p compiled=true compiles all of them before: what is left is what the thread that measures does. On a busy machine
-- -p processor=true counts the processor's time of this process, where calls that are timed all count as measured.

local mw = require "moonwarp"
local ahead = require "moonwarp.tune.ahead"
local bench = require "moonwarp.measure.bench"
local core = require "moonwarp.core"
local modes = require "moonwarp.measure.mode"
local record = require "moonwarp.results.record"
local variant = require "moonwarp.tune.variant"

local count = mw.arg("count", 500, "variants")
local seconds = mw.arg("seconds", 0.02, "of measuring each")
local is_compiled = mw.arg("compiled", false, "compile them before")
local on = mw.arg("on", "all", "the device measured, such as cuda:0")

local MOST <const> = 0.30
local N <const> = { cpu = 1 << 16, gpu = 1 << 24 } -- a kernel longer than its launch

-- Of so many functions that NVRTC takes about 50 ms.
local SOURCE <const> = [=[
template <int K> __device__ float piece(float x) {
#pragma unroll
  for (int k = 0; k < 16; k++) x = x * (1.0f + K * 1e-3f) - k * 1e-4f;
  return K == 0 ? x : piece<(K > 0 ? K - 1 : 0)>(x);
}
__global__ void work(float *y, const float *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + (VARIANT < 0 ? piece<PIECES>(x[i]) : 0);
}]=]

local is_processor = mw.arg("processor", false, "count the processor's time")
local clock = is_processor and os.clock or core.clock

local function options_of(v)
  return { source = SOURCE, defines = { VARIANT = v.number, PIECES = 12 }, name = "work.cu" }
end

local spent, inner = {}, {}

-- A function whose seconds are counted, without those of what it calls that are counted as well.
local function timed(title, real)
  spent[title] = 0
  return function(...)
    local start = clock()
    inner[#inner + 1] = 0
    local results = table.pack(real(...))
    local all = clock() - start
    spent[title] = spent[title] + all - table.remove(inner)
    if #inner > 0 then inner[#inner] = inner[#inner] + all end
    return table.unpack(results, 1, results.n)
  end
end

for _, one in ipairs { { bench, "turns", "measuring" }, { variant, "make", "loading" },
                       { variant, "verify", "verifying" }, { record, "write", "records" },
                       { modes, "sample", "samples" } } do
  one[1][one[2]] = timed(one[3], one[1][one[2]])
end

local new_ahead = ahead.new
function ahead.new(...)
  local one = new_ahead(...)
  for _, name in ipairs { "add", "await" } do
    if one then one[name] = timed("waiting for compilers", one[name]) end
  end
  return one
end
spent["waiting for compilers"] = 0

-- Seconds in the samples of all measurements.
local function watch_samples()
  local sum, turns = { 0 }, bench.turns
  function bench.turns(...)
    local results = turns(...)
    for _, one in ipairs(results) do sum[1] = sum[1] + one.mean * one.n * one.batch end
    return results
  end
  return sum
end

local samples = watch_samples()

local function tune(dev, name)
  local n = N[dev:kind()]
  local x <close> = dev:array("f32", n):random(1)
  local y <close> = dev:array("f32", n)
  local m <close> = dev:module { source = "__global__ void twice(float *y, const float *x, int n) {"
    .. " const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }" }
  local expected <close> = dev:array("f32", n)
  m.twice:launch(n // 256, 256, expected, x, n)
  local numbers = {}
  for i = 1, count do numbers[i] = i end
  return mw.tune { name = name, device = dev, space = { number = numbers }, compile = options_of, output = y,
    check = expected, min_time = seconds, quiet = true, launch = function(_, module)
      local go = module.work:prepare { grid = n // 256, block = 256 }
      return function() go(y, x, n) end
    end }
end

local function measure(dev)
  if is_compiled then
    for i = 1, count do dev:module(options_of { number = i }):close() end
  end
  samples[1] = 0
  for title in pairs(spent) do spent[title] = 0 end
  local start = clock()
  local result = tune(dev, "overhead")
  local all, measured = clock() - start, is_processor and spent.samples or samples[1]
  local share, rest = 1 - measured / all, all - measured
  print(("  %-7s %d variants in %.1f s, %.1f s of them in measured launches; rest %.3f  to reach: %.2f  %s"):format(
    dev:id(), result.tried, all, measured, share, MOST, share <= MOST and "reached" or "missed"))
  spent.measuring = spent.measuring + spent.samples - measured
  for _, title in ipairs { "waiting for compilers", "loading", "verifying", "measuring", "records" } do
    rest = rest - spent[title]
    print(("    %-22s %7.2f ms a variant"):format(title, 1e3 * spent[title] / result.tried))
  end
  print(("    %-22s %7.2f ms a variant"):format("other", 1e3 * rest / result.tried))
end

for _, entry in ipairs(mw.devices()) do
  if entry.usable and (on == "all" or on == entry.id) then measure(mw.device(entry.id)) end
end
