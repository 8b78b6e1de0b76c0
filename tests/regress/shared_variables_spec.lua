-- SPDX-License-Identifier: MIT
--
-- Shared variables of the CPU device that are not declared as `__shared__ T name` in a kernel: outside of functions, in
-- a namespace, in methods, and with other specifiers in front.

local support = require "tests.support"
local mw = support.mw

local SOURCE <const> = [[
__shared__ int s[64], count;
namespace inner {
  __shared__ float x, y[3];
  __device__ float total() { return x + y[2]; }
  __device__ void set(float v) { x = v; y[2] = 2 * v; }
}
__device__ int mirrored() { return s[63 - threadIdx.x] + count; }
__global__ void helper(int *a) {
  s[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x == 0) count = 1000;
  __syncthreads();
  a[threadIdx.x] = mirrored();
}
__global__ void scoped(float *a) {
  if (threadIdx.x == 0) inner::set(4);
  __syncthreads();
  a[threadIdx.x] = inner::total();
}
struct Box {
  template <class T> __device__ static T mirrored(T v) {
    __shared__ T kept[64];
    kept[threadIdx.x] = v;
    __syncthreads();
    return kept[63 - threadIdx.x];
  }
  __device__ int plus(int v);
};
__device__ int Box::plus(int v) {
  static __shared__ int sum[1];
  if (threadIdx.x == 0) sum[0] = v;
  __syncthreads();
  return sum[0] + v;
}
__global__ void method(int *a) { Box box; a[threadIdx.x] = Box::mirrored(a[threadIdx.x]) + box.plus(a[threadIdx.x]); }
__global__ void specifiers(int *a) {
  volatile __shared__ int flag;
  __align__(16) __shared__ char c[3];
  int __shared__ last[2];
  if (threadIdx.x == 0) flag = 5, c[2] = 1, last[1] = 7;
  __syncthreads();
  a[threadIdx.x] = flag + c[2] + last[1] + ((unsigned long long)c % 16 != 0);
}
]]

for _, engine in ipairs { "auto", "fiber" } do
  describe("shared variables with engine " .. engine, function()
    support.no_leaks()
    local dev = mw.device "cpu"
    local m
    setup(function() m = dev:module { source = SOURCE, engine = engine } end)
    teardown(function() m:close() end)

    -- What the first and the last thread leave of 1, 2 ... 64.
    local function result(name, dtype)
      local values = {}
      for i = 1, 64 do values[i] = i end
      local a <close> = dev:array(dtype or "i32", values)
      m[name]:launch(1, 64, a)
      return a:get(1), a:get(64)
    end

    it("are one for all functions of a file", function() assert.are.same({ 1064, 1001 }, { result "helper" }) end)

    it("may lie in a namespace", function() assert.are.same({ 12, 12 }, { result("scoped", "f32") }) end)

    it("may lie in a method", function() assert.are.same({ 64 + 1 + 1, 1 + 1 + 64 }, { result "method" }) end)

    it("may have specifiers in front", function() assert.are.same({ 13, 13 }, { result "specifiers" }) end)

    it("outside of functions count for the kernels that name them", function()
      assert.are.same({ 260, 16 }, { m.helper:attributes().shared_bytes, m.scoped:attributes().shared_bytes })
    end)
  end)
end
