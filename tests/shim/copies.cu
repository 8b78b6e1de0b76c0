/* SPDX-License-Identifier: MIT
 *
 * Asynchronous copies, pipelines and barriers of libcu++, checked by themselves; launched as builtins.cu's kernels are. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

#include "check.cuh"

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

/* What the copies read. */
struct __align__(16) numbers {
  int at[2 * THREADS];
};
__device__ constexpr numbers counted(int step) {
  numbers list = {};
  for (int i = 0; i < 2 * THREADS; i++) list.at[i] = step * i;
  return list;
}
__device__ const numbers ones = counted(1), threes = counted(3);

__global__ void check_barrier(int *wrong) {
  __shared__ int cell[THREADS];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ block_barrier all;
  const int rank = (int)rank_in_block();
  if (rank == 0) init(&all, THREADS);
  __syncthreads();
  for (int round = 0; round < 5; round++) {
    cell[rank] = round * rank;
    auto token = all.arrive();
    const int other = (rank + 1 + 77 * round) % THREADS;
    all.wait(static_cast<decltype(token) &&>(token));
    CHECK(cell[other] == round * other);
    all.arrive_and_wait();
  }
}

/* The odd threads leave after the first phase. */
__device__ void meet_and_leave(block_barrier &some, int *sum, int *wrong) {
  atomicAdd(sum, 1);
  if (rank_in_block() % 2) return (void)some.arrive_and_drop();
  some.arrive_and_wait();
  CHECK(*sum == THREADS);
  some.arrive_and_wait();
  if (rank_in_block() == 0) *sum = 0;
  some.arrive_and_wait();
  CHECK(*sum == 0);
}

__global__ void check_barrier_drop(int *wrong) {
  __shared__ int sum;
  __shared__ block_barrier some;
  if (rank_in_block() == 0) {
    init(&some, THREADS);
    sum = 0;
  }
  __syncthreads();
  meet_and_leave(some, &sum, wrong);
}

__global__ void check_barrier_copies(int *wrong) {
  __shared__ alignas(16) int cell[THREADS];
  __shared__ block_barrier all;
  const int rank = (int)rank_in_block();
  if (rank == 0) init(&all, THREADS);
  __syncthreads();
  cuda::memcpy_async(&cell[rank], &threes.at[rank], sizeof(int), all);
  all.arrive_and_wait();
  CHECK(cell[THREADS - 1 - rank] == 3 * (THREADS - 1 - rank));
  all.arrive_and_wait();
  cuda::memcpy_async(cg::this_thread_block(), cell, ones.at, cuda::aligned_size_t<16>(sizeof cell), all);
  all.arrive_and_wait();
  CHECK(cell[THREADS - 1 - rank] == THREADS - 1 - rank);
}

__global__ void check_thread_pipeline(int *wrong) {
  __shared__ int cell[4][THREADS];
  const int rank = (int)rank_in_block();
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const auto size = cuda::aligned_size_t<alignof(int)>(sizeof(int));
  int sum = 0;
  for (int filled = 0, round = 0; round < 16; round++) {
    for (; filled < 16 && filled < round + 3; filled++) {
      pipe.producer_acquire();
      cuda::memcpy_async(&cell[filled % 4][rank], &threes.at[rank + filled], size, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    sum += cell[round % 4][(rank + 100) % THREADS];
    pipe.consumer_release();
  }
  CHECK(sum == 3 * (16 * ((rank + 100) % THREADS) + 120));
  __syncthreads();
  pipe.producer_acquire();
  cuda::memcpy_async(&cell[0][rank], &ones.at[rank], size, pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  CHECK(cell[0][rank] == rank);
}

/* Rounds through two stages; who fills and who empties a stage may be the same threads. */
template <class Pipe>
__device__ int through(Pipe &pipe, int (&cell)[2][THREADS], bool fills, bool empties, int fillers) {
  int sum = 0;
  for (int round = 0; round < 7; round++) {
    if (fills) {
      pipe.producer_acquire();
      for (int i = (int)rank_in_block() % fillers; i < THREADS; i += fillers)
        cuda::memcpy_async(&cell[round % 2][i], &ones.at[i + round], sizeof(int), pipe);
      pipe.producer_commit();
    }
    if (empties) {
      pipe.consumer_wait();
      sum += cell[round % 2][rank_in_block()];
      pipe.consumer_release();
    }
  }
  return sum;
}

__global__ void check_shared_pipeline(int *wrong) {
  __shared__ int cell[2][THREADS];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state, halves, first;
  const auto block = cg::this_thread_block();
  const int rank = (int)block.thread_rank();
  auto all = cuda::make_pipeline(block, &state);
  CHECK(through(all, cell, true, true, THREADS) == 7 * rank + 21);
  block.sync();
  const bool fills = rank >= 192;
  auto roles = cuda::make_pipeline(block, &halves,
                                   fills ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  CHECK(through(roles, cell, fills, !fills, 64) == (fills ? 0 : 7 * rank + 21));
  block.sync();
  auto counted = cuda::make_pipeline(block, &first, (size_t)64);
  CHECK(through(counted, cell, rank < 64, rank >= 64, 64) == (rank < 64 ? 0 : 7 * rank + 21));
}

__global__ void check_group_copies(int *wrong) {
  __shared__ alignas(16) int cell[THREADS];
  __shared__ alignas(16) char bytes[61];
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<32>(block);
  const int rank = (int)block.thread_rank(), first = rank / 32 * 32;
  cg::memcpy_async(block, cell, threes.at, sizeof cell);
  cg::wait(block);
  CHECK(cell[THREADS - 1 - rank] == 3 * (THREADS - 1 - rank));
  block.sync();
  cg::memcpy_async(tile, cell + first, ones.at + first, cuda::aligned_size_t<16>(32 * sizeof(int)));
  cg::wait_prior<0>(tile);
  CHECK(cell[first + 31 - rank % 32] == first + 31 - rank % 32);
  tile.sync();
  cg::memcpy_async(tile, cell + first, 5, threes.at, 9);
  cg::wait(tile);
  CHECK(cell[rank] == (rank % 32 < 5 ? 3 * (rank % 32) : rank));
  cg::memcpy_async(block, bytes, (const char *)ones.at + 4, sizeof bytes);
  cg::wait(block);
  CHECK(bytes[0] == 1 && bytes[4] == 2 && bytes[60] == 16 && bytes[59] == 0);
}

__global__ void check_primitives(int *wrong) {
  __shared__ alignas(16) int cell[4 * THREADS];
  const int rank = (int)rank_in_block();
  __pipeline_memcpy_async(&cell[4 * rank], &ones.at[rank / 4 * 4], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  CHECK(cell[4 * rank + 3] == rank / 4 * 4 + 3);
  __pipeline_memcpy_async(&cell[4 * rank], &threes.at[rank / 4 * 4 + 4], 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  const int other = (rank + 55) % THREADS;
  CHECK(cell[4 * other + 1] == 3 * (other / 4 * 4 + 5) && cell[4 * other + 2] == 0);
}
