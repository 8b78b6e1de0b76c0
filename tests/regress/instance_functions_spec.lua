-- SPDX-License-Identifier: MIT
--
-- Functions that only the name of an instance names, k<plus>: what they read of threadIdx was another thread's, in
-- silence, in loop and split.

local support = require "tests.support"
local mw = support.mw

local FUNCTIONS <const> = [[
__device__ int plus(int x, int y = 1) { return x + y + threadIdx.x; }
__device__ int next(int x) { return x + threadIdx.x; }
namespace ns { __device__ int next(int x) { return 2 * x + threadIdx.x; } }
typedef int (*operation)(int);
template <operation F> struct twice { __device__ int operator()(int x) const { return F(F(x)); } };
]]

local CASES <const> = {
  { "a pointer", "template <int (*F)(int)> __global__ void k(int *a) { a[threadIdx.x] = F(2); }", "k<next>" },
  { "its address", "template <int (*F)(int)> __global__ void k(int *a) { a[threadIdx.x] = F(2); }", "k<&next>" },
  { "a reference", "template <int (&F)(int)> __global__ void k(int *a) { a[threadIdx.x] = F(2); }", "k<ns::next>" },
  { "two arguments", "template <int (*F)(int, int)> __global__ void k(int *a) { a[threadIdx.x] = F(2, 3); }",
    "k<plus>" },
  { "a type of its own, and a barrier", [[template <operation F> __global__ void k(int *a) {
    int v = F(2); __syncthreads(); a[threadIdx.x] = F(v); }]], "k<next>" },
  { "auto, by way of a function", [[template <auto F> __device__ int by(int x) { return F(x); }
    template <auto F> __global__ void k(int *a) { a[threadIdx.x] = by<F>(2); }]], "k<next>" },
  { "what a * stands before", "template <operation F> __global__ void k(int *a) { a[threadIdx.x] = (*F)(2); }",
    "k<next>" },
  { "what has brackets", "template <operation F> __global__ void k(int *a) { a[threadIdx.x] = (F)(2); }", "k<next>" },
  { "a copy", "template <operation F> __global__ void k(int *a) { auto g = F; a[threadIdx.x] = g(2); }", "k<next>" },
  { "an argument", [[__device__ int of(operation f, int x) { return f(x); }
    template <operation F> __global__ void k(int *a) { a[threadIdx.x] = of(F, 2); }]], "k<next>" },
  { "a variable's", [[template <operation F> constexpr auto G = F;
    template <operation F> __global__ void k(int *a) { a[threadIdx.x] = G<F>(2); }]], "k<next>" },
  { "a class that calls it", "template <class T> __global__ void k(int *a) { a[threadIdx.x] = T()(2); }",
    "k<twice<next>>" },
}

describe("a function that only an instance names", function()
  for _, case in ipairs(CASES) do
    it("reads its own threadIdx, as " .. case[1], function()
      local dev <const> = mw.device "cpu"
      local left = {}
      for _, engine in ipairs { "fiber", "auto" } do
        local m <close> = dev:module { source = FUNCTIONS .. case[2], engine = engine }
        local a <close> = dev:zeros("i32", 32)
        m[case[3]]:launch(1, 32, a)
        left[engine] = a:totable()
      end
      assert.are.same(left.fiber, left.auto)
    end)
  end
end)
