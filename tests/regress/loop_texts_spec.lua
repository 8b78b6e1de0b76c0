-- SPDX-License-Identifier: MIT
--
-- What the generated text of thread loops lost for nothing: elements of shared arrays that were declared beside others
-- were not read in front of the loop, and kernels whose functions say `return (x)`, sizeof(T) or T(1) kept each
-- thread's own order.

local support = require "tests.support"
local mw = support.mw

local NEAR <const> = [[
__global__ void __launch_bounds__(64) k(float *a, const float *x) {
  __shared__ float xs[64], ys[64], zs[64];
  int t = threadIdx.x;
  xs[t] = x[t], ys[t] = x[t] + 1, zs[t] = x[t] + 2;
  float own = x[t], sum = 0;
  __syncthreads();
  for (int k = 0; k < 64; k++) {
    float dx = xs[k] - own, dy = ys[k] - own;
    if (k != t) sum += dx * dy + zs[k];
  }
  a[t] = sum;
}]]

local ORDER <const> = [[
__device__ int up(int a, int b) { return (a + b - 1) / b; }
template <class T> __global__ void __launch_bounds__(64) k(T *a, const T *x) {
  __shared__ T s[64];
  s[threadIdx.x] = T(1) * x[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = s[up(63, sizeof(T)) - threadIdx.x % 8] + T(2);
}]]

describe("the text of thread loops", function()
  local dev <const> = mw.device "cpu"

  it("reads elements of all shared arrays of a declaration in front of the loop", function()
    local m <close> = dev:module { source = NEAR }
    assert.are.equal("split", (m.k:engine()))
    local text <const> = m:cpp():gsub("%s+", " ")
    for _, array in ipairs { "xs", "ys", "zs" } do
      assert.is_truthy(text:find("const auto mw_h%d+ = " .. array .. " %[ %( k %) %] ;[^{}]-MW_THREADS"), array)
    end
    local x <close> = dev:array("f32", 64):random(1)
    local a <close> = dev:zeros("f32", 64)
    m.k:launch(1, 64, a, x)
    local given <const>, sums = x:totable(), {}
    for t = 1, 64 do
      sums[t] = 0
      for k = 1, 64 do
        local dx <const>, dy <const> = given[k] - given[t], given[k] + 1 - given[t]
        if k ~= t then sums[t] = sums[t] + dx * dy + given[k] + 2 end
      end
    end
    for t, value in ipairs(a:totable()) do assert.is_true(math.abs(value - sums[t]) < 1e-3, "element " .. t) end
  end)

  it("promises all that it may where functions bracket what they return", function()
    local m <close> = dev:module { source = ORDER, templates = { "k<float>" } }
    assert.are.equal("split", (m["k<float>"]:engine()))
    assert.is_nil(m:cpp():find("MW_ORDERED_LOOP", 1, true))
  end)
end)
