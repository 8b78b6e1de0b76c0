-- SPDX-License-Identifier: MIT
--
-- What the generated text of thread loops lost for nothing: elements of shared arrays that were declared beside others
-- were not read in front of the loop, and kernels whose functions say `return (x)`, sizeof(T) or T(1) kept each
-- thread's own order. And what they promised wrongly: g++ moved loads above stores that were not seen.

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

-- Something that may store to a[4 * i + 1], between loads of one record.
local STORES <const> = {
  "*(unsigned *)(a + 4 * i + w) = x + 100;", "memcpy(a + 4 * i + w, &q, 4);", "std::swap(a[4 * i + w], q);",
  "decltype(a[0]) r = a[4 * i + w]; r = x + 100;", "decltype(auto) r = (a[4 * i + w]); r = x + 100;",
  "unsigned &r = a[4 * i + w]; r = x + 100;", "atomicAdd(a + 4 * i + w, 7u);",
}
local RECORD <const> = [[
__global__ void k(unsigned *a, int n) {
  int i = blockIdx.x * n + threadIdx.x, w = n > 0;
  unsigned x = a[4 * i], q = x + 100;
  %s
  unsigned y = a[4 * i + 1];
  a[4 * i + 2] = y, a[4 * i + 3] = x + 1;
}]]

-- Statements in which a store stands before a function that reads ::threadIdx.
local READS <const> = {
  "a[i] = 3, v = me();", "v = (a[i] = 3) + me();", "if ((a[i] = t & 1) && me() > 3) v = 2;", "v = two(a[i] = 3, me());",
  "v = t & 1 ? (a[i] = 3) : me();", "v = both(a + i);", "*(unsigned *)(a + i) = 3; v = me();",
}
local INDEX <const> = [[
__device__ unsigned me() { return threadIdx.x; }
__device__ unsigned two(unsigned x, unsigned y) { return x + y; }
__device__ unsigned both(unsigned *p) { return (*p = 3, threadIdx.x); }
__global__ void k(unsigned *a, int n) {
  unsigned t = threadIdx.x, i = blockIdx.x * n + a[n] %% 2, v = 0;
  %s
  a[n + blockIdx.x * n + t] = v;
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

  for _, store in ipairs(STORES) do
    it("keeps the order around " .. store, function()
      local m <close> = dev:module { source = RECORD:format(store), warnings = false }
      assert.is_truthy(m:cpp():find("MW_ORDERED_LOOP", 1, true))
    end)
  end

  for _, read in ipairs(READS) do
    it("promises nothing of " .. read, function()
      local m <close> = dev:module { source = INDEX:format(read) }
      assert.is_truthy(m:cpp():find("define MW_VECTOR_LOOP MW_INDEX_LOOP", 1, true) or
        m:cpp():find(", mw_reread", 1, true))
    end)
  end
end)
