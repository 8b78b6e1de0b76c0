// SPDX-License-Identifier: MIT
//
// Asynchronous copies, pipelines and arrive-wait barriers used well. legal.lua runs them.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
typedef cuda::barrier<cuda::thread_scope_block> block_barrier;

__global__ void group_copy(const int *x, int *y) {
  __shared__ int s[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof s);
  cg::wait(block);
  y[threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void copies_of_tiles(const int *x, int *y) {
  __shared__ int s[64];
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int *mine = s + 32 * tile.meta_group_rank();
  cg::memcpy_async(tile, mine, x, 32 * sizeof(int));
  cg::wait(tile);
  y[threadIdx.x] = mine[31 - tile.thread_rank()];
}

__global__ void own_pipeline(const int *x, int *y) {
  __shared__ int s[2][64];
  auto pipe = cuda::make_pipeline();
  int sum = 0;
  for (int round = 0, filled = 0; round < 4; round++) {
    for (; filled < 4 && filled < round + 2; filled++) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[filled % 2][threadIdx.x], x + threadIdx.x, sizeof(int), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    sum += s[round % 2][63 - threadIdx.x];
    pipe.consumer_release();
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}

__global__ void warps_with_roles(const int *x, int *y) {
  __shared__ int s[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const bool fills = threadIdx.x >= 32;
  const int lane = threadIdx.x % 32;
  auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state,
                                  fills ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int round = 0; round < 5; round++)
    if (fills) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[round % 2][lane], x + lane, sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum += s[round % 2][31 - lane];
      pipe.consumer_release();
    }
  if (!fills) y[lane] = sum;
}

__global__ void work_between_arrival_and_wait(const int *x, int *y) {
  __shared__ int s[64];
  __shared__ block_barrier all;
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x];
  auto token = all.arrive();
  const int own = 2 * x[threadIdx.x];
  all.wait(std::move(token));
  y[threadIdx.x] = own + s[63 - threadIdx.x];
}

__global__ void reused_after_a_phase(const int *x, int *y) {
  __shared__ int s[64];
  __shared__ block_barrier all;
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 3; round++) {
    s[threadIdx.x] = x[threadIdx.x] + round;
    all.arrive_and_wait();
    sum += s[63 - threadIdx.x];
    all.arrive_and_wait();
  }
  y[threadIdx.x] = sum;
}
