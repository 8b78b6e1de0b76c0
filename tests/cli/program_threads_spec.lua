-- SPDX-License-Identifier: MIT
--
-- A whole program whose host part has threads that all call CUDA. `make check-tsan` runs it, too.

local labs = require "tests.support.labs"
local support = require "tests.support"

local SOURCE <const> = [[
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
__global__ void add(int *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += i; }
template <class T> __global__ void twice(T *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
std::atomic<int> wrong{0};
void work() {
  const int n = 1000, bytes = n * sizeof(int);
  std::vector<int> from(n, 1), to(n);
  cudaStream_t s;
  cudaStreamCreate(&s);
  for (int round = 0; round < 20; round++) {
    int *x, priority;
    size_t free, total;
    cudaEvent_t e;
    cudaPointerAttributes about;
    cudaMalloc(&x, bytes);
    cudaPointerGetAttributes(&about, x);
    cudaMemGetInfo(&free, &total);
    cudaStreamGetPriority(cudaStreamPerThread, &priority);
    cudaMemcpyAsync(x, from.data(), bytes, cudaMemcpyHostToDevice, s);
    add<<<8, 128, 0, s>>>(x, n);
    twice<int><<<8, 128, 0, s>>>(x, n);
    cudaMemcpyAsync(to.data(), x, bytes, cudaMemcpyDeviceToHost, s);
    cudaEventCreate(&e);
    cudaEventRecord(e, s);
    cudaEventSynchronize(e);
    cudaEventDestroy(e);
    wrong += about.type != cudaMemoryTypeDevice || free > total;
    for (int i = 0; i < n; i++) wrong += to[i] != 2 * (1 + i);
    cudaFree(x);
  }
  cudaStreamDestroy(s);
}
int main() {
  std::vector<std::thread> all;
  for (int i = 0; i < 6; i++) all.emplace_back(work);
  for (auto &one : all) one.join();
  cudaDeviceSynchronize(); // the threads of streams have ended, too
  printf("%d wrong\n", wrong.load());
}
]]

describe("a program's threads", function()
  if not support.program() then return pending "needs the program" end

  -- cudaPointerGetAttributes read the list of arrays while another thread changed it.
  it("call CUDA side by side", function()
    support.with_folder(function(folder)
      support.write(folder .. "/threads.cu", SOURCE)
      local status, output = labs.shell(("cd %s && %s run threads.cu --device cpu </dev/null"):format(
        labs.quoted(folder), labs.quoted(labs.program)))
      assert.are.same({ 0, "0 wrong\n" }, { status, output })
    end)
  end)
end)
