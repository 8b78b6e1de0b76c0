-- SPDX-License-Identifier: MIT
--
-- What check mode says to do. It told every race in global memory to use an atomic or to launch twice, every race in
-- shared memory to use __syncthreads(), and every access outside memory to look at the array's length.
-- luacheck: std +busted

local session = require "moonwarp.session"
local support = require "tests.support"
local mw = support.mw

local SOURCE <const> = [[
#include <cooperative_groups.h>
__device__ unsigned ticket, ready;
__global__ void no_fence(int *a) {
  a[blockIdx.x] = 1;
  if (atomicAdd(&ticket, 1) == gridDim.x - 1)
    a[32] = a[0];
}
__global__ void no_grid_sync(int *a) {
  a[blockIdx.x] = 1;
  a[32 + blockIdx.x] = a[(blockIdx.x + 1) % gridDim.x];
}
__global__ void one_block(int *a) {
  a[threadIdx.x] = 1;
  a[32 + threadIdx.x] = a[31 - threadIdx.x];
}
__global__ void own_part(int *a) {
  const int first = blockIdx.x * blockDim.x;
  a[first + threadIdx.x] = 1;
  a[64 + first + threadIdx.x] = a[first + 31 - threadIdx.x];
}
__global__ void counted(int *a) {
  a[0] += 1;
}
__global__ void one_warp(int *a) {
  __shared__ int s[32];
  s[threadIdx.x] = 1;
  a[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void two_warps(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  a[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void overlap(int *a) {
  extern __shared__ int s[];
  int *one = s, *other = s + 32;
  one[threadIdx.x] = 1;
  other[threadIdx.x] = 2;
  __syncthreads();
  a[threadIdx.x] = one[threadIdx.x];
}
__global__ void flag(int *a) {
  __shared__ int data;
  __shared__ volatile int told;
  if (threadIdx.x == 0) told = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data = 1;
    told = 1;
  }
  if (threadIdx.x == 0) {
    while (!told) {}
    a[0] = data;
  }
}
__global__ void missed_shared(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  if (threadIdx.x < 8) __syncthreads();
  a[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void missed_global(int *a) {
  a[threadIdx.x] = 1;
  if (threadIdx.x < 8)
    __syncthreads();
  a[64 + threadIdx.x] = a[63 - threadIdx.x];
}
__global__ void missed_warp(int *a) {
  __shared__ int s[32];
  s[threadIdx.x] = 1;
  if (threadIdx.x < 8) __syncthreads();
  a[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void apart(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  if (threadIdx.x < 8) __syncthreads();
  a[threadIdx.x] = s[63 - threadIdx.x];
  __syncthreads();
  a[threadIdx.x] += s[threadIdx.x];
}
__global__ void rounds(int *a) {
  __shared__ int s[64];
  if (threadIdx.x >= 48) return;
  s[threadIdx.x] = 0;
  for (int i = 0; i < 2; i++) {
    a[threadIdx.x] += s[threadIdx.x];
    __syncthreads();
    s[47 - threadIdx.x] = i;
  }
}
__global__ void more(int *a) {
  extern __shared__ int s[];
  s[threadIdx.x] = a[threadIdx.x];
}
__global__ void through(int **a) {
  a[0][0] = 1;
}
]]

local APART <const> = "put __syncthreads() between the two accesses, or keep the arrays in dynamic shared memory apart"
local FENCES <const> = "put __threadfence() before the atomic that tells of the write and after the one that sees it, "
  .. "or launch twice"

local function missed(line, thread)
  return ("let all threads of the block reach the barrier at r.cu:%d: thread (%d,0,0) did not"):format(line, thread)
end

-- Kernel, options of the launch, remedy.
local CASES <const> = {
  { "no_fence", { grid = 8, block = 1 }, FENCES },
  { "no_grid_sync", { grid = 8, block = 1, cooperative = true }, "put grid.sync() between the two accesses" },
  { "one_block", { grid = 1, block = 32 }, "put __syncthreads() between the two accesses" },
  { "own_part", { grid = 2, block = 32 },
    "put __syncthreads() between the two accesses, if no other block has the element" },
  { "counted", { grid = 1, block = 32 }, "use an atomic, give each thread its own element, or launch twice" },
  { "one_warp", { grid = 1, block = 32 }, "put __syncwarp() between the two accesses" },
  { "two_warps", { grid = 1, block = 64 }, "put __syncthreads() between the two accesses" },
  { "overlap", { grid = 1, block = 64, shared = 384 }, APART },
  { "flag", { grid = 1, block = 64 }, "put __threadfence_block() before the flag is written and after it is seen" },
  -- A barrier stood there, and they were told to put one.
  { "missed_shared", { grid = 1, block = 64 }, missed(59, 32) },
  { "missed_global", { grid = 1, block = 64 }, missed(65, 32) },
  { "missed_warp", { grid = 1, block = 32 }, missed(71, 16) },
  { "apart", { grid = 1, block = 64 }, missed(77, 32) },
  { "rounds", { grid = 1, block = 64 }, "put __syncthreads() between the two accesses" },
  { "more", { grid = 1, block = 64, shared = 128 },
    "launch it with more dynamic shared memory, or guard the access" },
}

describe("the remedy of a finding", function()
  session.current.settle_findings = function() end -- the mistakes are wanted: they fail no run
  local dev = mw.device("cpu", { check = true })
  local m

  local function remedy(kernel, options, a)
    m = m or dev:module { source = SOURCE, name = "r.cu" }
    local before = #dev:findings()
    pcall(m[kernel]:prepare(options), a)
    dev:synchronize()
    return (dev:findings()[before + 1] or {}).remedy
  end

  for _, case in ipairs(CASES) do
    it(("fits the launch of %s with %d blocks of %d"):format(case[1], case[2].grid, case[2].block), function()
      local a <close> = dev:zeros("i32", 128)
      assert.are.equal(case[3], remedy(case[1], case[2], a))
    end)
  end

  it("of an access to a closed array is to keep it open", function()
    local a, pointers <close> = dev:zeros("i32", 64), dev:array("u64", 1)
    pointers:upload { a:address() }
    a:close()
    assert.are.equal("keep the array open while kernels use it", remedy("through", { grid = 1, block = 1 }, pointers))
  end)
end)
