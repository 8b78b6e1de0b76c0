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

-- What takes a coordinate along x out of the sum shows where one block ends. The first three do not.
local USES <const> = {
  "int t = threadIdx.x, b = blockIdx.x; int i = t + b * (int)blockDim.x; y[i] = i * 2;",
  "size_t i = (size_t)blockDim.x * blockIdx.x + threadIdx.x; y[i] = i * 2;",
  "auto part = blockIdx.x * blockDim.x; long i = (threadIdx.x + part) * 2; y[i / 2] = i;",
  "int t = threadIdx.x; int i = blockIdx.x * blockDim.x + t; y[i] = t;",
  "int b = blockIdx.x * blockDim.x; y[b + threadIdx.x] = b;",
  "unsigned char t = threadIdx.x * 11; y[blockIdx.x * blockDim.x + threadIdx.x] = t;",
  "int t = threadIdx.x; t += 1; y[blockIdx.x * blockDim.x + t] = 3; y[0] = 0;",
  "int t = threadIdx.x; { int &r = t; r = 31 - t; } y[blockIdx.x * blockDim.x + t] = threadIdx.x;",
  "int i = blockIdx.x * blockDim.x + threadIdx.x; { int i = threadIdx.x; y[blockIdx.x * blockDim.x + i] = i % 7; }",
  "int t = threadIdx.x; auto f = [=]() { return t; }; y[blockIdx.x * blockDim.x + threadIdx.x] = f();",
  "uint3 at = threadIdx; y[blockIdx.x * blockDim.x + at.x] = at.x;",
  "int i = 2 * (blockIdx.x * blockDim.x) + threadIdx.x; if (i < 96) y[i] = i;",
}

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

  it("show where a block ends unless the whole index is used", function()
    local text <const> = {}
    for k, use in ipairs(USES) do text[k] = ("__global__ void k%d(int *y) { %s }\n"):format(k, use) end
    local dev <const> = mw.device "cpu"
    local found <const> = {}
    for _, engine in ipairs { "auto", "fiber" } do
      local m <close> = dev:module { source = table.concat(text), engine = engine, warnings = false }
      local generated <const> = m:cpp()
      found[engine] = {}
      for k in ipairs(USES) do
        local y <close> = dev:zeros("i32", 97)
        m["k" .. k]:launch(3, 32, y)
        found[engine][k] = table.concat(y:totable(), " ")
        if engine == "auto" then
          local line <const> = generated:find(("k%d_mw%%)[^\n]*mw_line"):format(k))
          assert.is_nil(k > 3 and line or nil, USES[k])
        end
      end
    end
    for k, use in ipairs(USES) do assert.are.equal(found.fiber[k], found.auto[k], use) end
  end)
end)
