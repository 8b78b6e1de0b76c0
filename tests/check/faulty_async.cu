// SPDX-License-Identifier: MIT
//
// One mistake per kernel: asynchronous copies, pipelines and arrive-wait barriers; marked as in faulty_shared.cu.
// faulty.lua runs them.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void group_copy_without_wait(const int *x, int *y) {
  __shared__ int s[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof s); // finding: race in shared memory
  y[threadIdx.x] = s[63 - threadIdx.x];    // finding: race in shared memory
}

__global__ void tile_waits_for_the_block(const int *x, int *y) {
  __shared__ int s[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof s); // finding: race in shared memory
  cg::wait(cg::tiled_partition<32>(block));
  y[threadIdx.x] = s[63 - threadIdx.x]; // finding: race in shared memory
}

__global__ void pipeline_of_a_thread_for_all(const int *x, int *y) {
  __shared__ int s[64];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&s[threadIdx.x], x + threadIdx.x, sizeof(int), pipe); // finding: race in shared memory
  pipe.producer_commit();
  pipe.consumer_wait();
  y[threadIdx.x] = s[63 - threadIdx.x]; // finding: race in shared memory
  pipe.consumer_release();
}

__global__ void stages_one_too_few(const int *x, int *y) {
  __shared__ int s[64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int round = 0; round < 3; round++) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, s, x + round, sizeof s, pipe); // finding: race in shared memory
    pipe.producer_commit();
    pipe.consumer_wait();
    sum += s[63 - threadIdx.x]; // finding: race in shared memory
    pipe.consumer_release();
  }
  y[threadIdx.x] = sum;
}

__global__ void arrives_and_goes_on(const int *x, int *y) {
  __shared__ int s[64];
  __shared__ block_barrier all;
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x]; // finding: race in shared memory
  const auto token = all.arrive();
  y[threadIdx.x] = s[63 - threadIdx.x]; // finding: race in shared memory
  all.wait(token);
}

__global__ void one_phase_per_round(const int *x, int *y) {
  __shared__ int s[64];
  __shared__ block_barrier all;
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 3; round++) {
    s[threadIdx.x] = x[threadIdx.x] + round; // finding: race in shared memory
    all.arrive_and_wait();
    y[threadIdx.x] = s[63 - threadIdx.x]; // finding: race in shared memory
  }
}

__global__ void nobody_waits_for_init(int *y) {
  __shared__ block_barrier all;
  if (threadIdx.x == 0) init(&all, blockDim.x); // finding: race in shared memory
  all.arrive_and_wait();                        // finding: race in shared memory
  y[threadIdx.x] = 1;
}

__global__ void more_expected_than_come(int *y) {
  __shared__ block_barrier all;
  if (threadIdx.x == 0) init(&all, blockDim.x + 1);
  __syncthreads();
  all.arrive_and_wait(); // error: barrier divergence // finding: barrier
  y[threadIdx.x] = 1;
}
