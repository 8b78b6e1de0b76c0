-- SPDX-License-Identifier: MIT
--
-- Conditions that look the same at both ends of a row of threads and differ within. Those over a rank in a cooperative
-- group, and over a copy of threadIdx in front of a name that begins a statement with y or z, were asked of the first
-- and the last thread only. Neither may others that a reading of growing values could mistake: narrow types wrap,
-- variables change, hide others or are references, products and differences do not grow steadily.

local support = require "tests.support"
local mw = support.mw

local CONDITIONS <const> = {
  "(b.thread_rank() & 1) == 0",
  "(copy.x & 1) == 0",
  "(unsigned char)(t * 29) < n",
  "(((unsigned char)(t * 9) - t * 9) & 511) == 0",
  "(short)(t * 2114) < n * 20",
  "(float)(t * (62 - t)) * 0.5f < n",
  "t * t - 62 * t > -1",
  "t - 20u > 30u",
  "(long)(t - 20u) > 30",
  "(t + i) % 3 < 2",
  "t * (int)(62 - t) < n",
  "changed < n",
  "through < n",
  "hidden < n",
  "inner < n",
  "narrow < n",
  "whole < 100",
  "t ^ 1",
  "max(t, 40) - min(t, 40) > 3",
  "up < n || up > 50",
  "(up = t * 37 % 61) < n",
  "inside",
  "!(t >= 5 && t < 50)",
  "t < 5 || t > 50",
  "(bool)(t + 1) * t % 31 < 10",
}

local KERNEL <const> = [[
__global__ void __launch_bounds__(63) k%d(float *y, int n) {
  __shared__ float s[64];
  auto b = cooperative_groups::this_thread_block();
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, changed = t, through = t, hidden = t, up = t, inner;
  unsigned char narrow = t * 29;
  char whole = blockIdx.x * blockDim.x + threadIdx.x * 8;
  bool inside = t < 5 || t > 50;
  uint3 copy = threadIdx; y[0 * n] = 0;
  int &same = through;
  same = t * 37 %% 61;
  changed ^= 21;
  { int t = threadIdx.x * 37 %% 61; inner = t; }
  { int hidden = 1; hidden += n; s[t] = hidden; }
  for (int r = 0; r < 3; r++) hidden = hidden * 5 %% 63, up += n;
  __syncthreads();
  if (%s) y[64 * %d + i] = s[t] + through;
  __syncthreads();
  s[t] = 2;
}
]]

describe("growing values", function()
  it("are told from those that only look so", function()
    local text <const> = { "#include <cooperative_groups.h>\n" }
    for k, condition in ipairs(CONDITIONS) do text[#text + 1] = KERNEL:format(k, condition, k) end
    local dev <const> = mw.device "cpu"
    local found <const> = {}
    for _, engine in ipairs { "split", "fiber" } do
      local m <close> = dev:module { source = table.concat(text), engine = engine, warnings = false }
      local y <close> = dev:zeros("f32", 64 * (#CONDITIONS + 2))
      for k in ipairs(CONDITIONS) do m["k" .. k]:launch(1, 63, y, 47) end
      found[engine] = y:totable()
    end
    for k, condition in ipairs(CONDITIONS) do
      for t = 1, 63 do
        local at <const> = 64 * k + t
        assert.are.equal(found.fiber[at], found.split[at], ("%s of thread %d"):format(condition, t - 1))
      end
    end
  end)
end)
