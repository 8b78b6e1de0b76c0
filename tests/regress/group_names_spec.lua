-- SPDX-License-Identifier: MIT
--
-- Kernels with __syncthreads() and another name, given outside of them, for what threads meet by: they were split as if
-- the name stood for nothing, and a launch failed ("the block did not fail again when run once more").

local support = require "tests.support"
local mw = support.mw

local BARRIER <const> = [[#include <cuda/barrier>
%s
__global__ void k(int *a) {
  __shared__ %s b;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) init(&b, 64);
  __syncthreads();
  s[t] = t;
  b.arrive_and_wait();
  a[t] = s[63 - t];
}]]

local SUM <const> = [[#include <cub/cub.cuh>
%s
__global__ void k(int *a) {
  __shared__ %s::TempStorage s;
  __shared__ int u[64];
  int t = threadIdx.x;
  u[t] = t;
  __syncthreads();
  int sum = %s(s).Sum(u[63 - t]);
  a[t] = t == 0 ? sum : 63 - t;
}]]

local barriers <const> = {
  ["using"] = { "using barrier = cuda::barrier<cuda::thread_scope_block>;", "barrier" },
  ["typedef"] = { "typedef cuda::barrier<cuda::thread_scope_block> barrier;", "barrier" },
  ["an alias of an alias"] = {
    "using first = cuda::barrier<cuda::thread_scope_block>; using second = first;", "second" },
  ["an alias template"] = {
    "template <int N> using meeting = cuda::barrier<cuda::thread_scope_block>;", "meeting<1>" },
  ["a constant"] = { "constexpr auto scope = cuda::thread_scope_block;", "cuda::barrier<scope>" },
}

local sums <const> = {
  ["using"] = { "using sums = cub::BlockReduce<int, 64>;", "sums" },
  ["typedef"] = { "typedef cub::BlockReduce<int, 64> sums;", "sums" },
  ["an alias of an alias"] = { "typedef cub::BlockReduce<int, 64> first; using second = first;", "second" },
  ["a namespace"] = { "namespace c = cub;", "c::BlockReduce<int, 64>" },
  ["a using-declaration"] = { "using cub::BlockReduce;", "BlockReduce<int, 64>" },
  ["a using-directive"] = { "using namespace cub;", "BlockReduce<int, 64>" },
}

local function results(dev, source)
  local a = dev:zeros("i32", 64)
  dev:module { source = source }.k:launch(1, 64, a)
  return { a:get(1), a:get(2), a:get(64) }
end

describe("a name given to what threads meet by", function()
  local dev = mw.device "cpu"
  for name, case in pairs(barriers) do
    it("of a cuda::barrier, by " .. name, function()
      assert.same({ 63, 62, 0 }, results(dev, BARRIER:format(case[1], case[2])))
    end)
  end
  for name, case in pairs(sums) do
    it("of a collective of CUB, by " .. name, function()
      assert.same({ 2016, 62, 0 }, results(dev, SUM:format(case[1], case[2], case[2])))
    end)
  end
end)
