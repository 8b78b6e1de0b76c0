// SPDX-License-Identifier: MIT
//
// One breach of CUDA's memory model a kernel, marked as in faulty_shared.cu; legal_model.cu has the same kernels as they
// are right. docs/check.md, "The rules", has the rules. faulty.lua runs them.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/pipeline>
#include <cuda_pipeline_primitives.h>

namespace cg = cooperative_groups;

// ---- collectives of a warp order nothing ----------------------------------------------------------------------

__global__ void shuffle_between(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t; // finding: race in shared memory
  __shfl_sync(~0u, t, 0);
  a[t] = s[31 - t]; // finding: race in shared memory
}

__global__ void shuffle_down_between(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t; // finding: race in shared memory
  const int next = __shfl_down_sync(~0u, t, 1);
  a[t] = s[31 - t] + next; // finding: race in shared memory
}

__global__ void ballot_between(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t; // finding: race in shared memory
  if (__ballot_sync(~0u, t < 4)) a[t] = s[t ^ 1]; // finding: race in shared memory
}

__global__ void any_between(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t; // finding: race in shared memory
  if (__any_sync(~0u, t == 3)) a[t] = s[t ^ 1]; // finding: race in shared memory
}

__global__ void all_between(int *a) {
  const int t = threadIdx.x;
  a[t] = t; // finding: race in global memory
  if (__all_sync(~0u, t < 32)) a[32 + t] = a[31 - t]; // finding: race in global memory
}

__global__ void match_any_between(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t; // finding: race in shared memory
  const unsigned peers = __match_any_sync(~0u, t / 2);
  a[t] = s[t ^ 1] + __popc(peers); // finding: race in shared memory
}

__global__ void match_all_between(int *a) {
  const int t = threadIdx.x;
  int same;
  a[t] = t; // finding: race in global memory
  __match_all_sync(~0u, 3, &same);
  a[32 + t] = a[31 - t] + same; // finding: race in global memory
}

__global__ void reduce_between(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t; // finding: race in shared memory
  const int sum = __reduce_add_sync(~0u, t);
  a[t] = s[31 - t] + sum; // finding: race in shared memory
}

__global__ void write_after_shuffle(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  const int other = s[31 - t]; // finding: race in shared memory
  const int sum = __shfl_xor_sync(~0u, other, 1);
  s[t] = sum; // finding: race in shared memory
  __syncwarp();
  a[t] = s[t];
}

__global__ void tile_shuffle_between(int *a) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int t = threadIdx.x;
  s[t] = t; // finding: race in shared memory
  const int first = tile.shfl(t, 0);
  a[t] = s[t ^ 1] + first; // finding: race in shared memory
}

__global__ void tile_reduce_between(int *a) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int t = threadIdx.x;
  s[t] = t; // finding: race in shared memory
  const int sum = cg::reduce(tile, t, cg::plus<int>());
  a[t] = s[t ^ 1] + sum; // finding: race in shared memory
}

__global__ void half_shuffles_between(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t; // finding: race in shared memory
  const unsigned mask = t < 16 ? 0xffffu : 0xffff0000u;
  const int other = __shfl_xor_sync(mask, t, 1);
  a[t] = s[t ^ 1] + other; // finding: race in shared memory
}

// ---- lanes of a warp need not run in step ---------------------------------------------------------------------

__global__ void last_steps_in_a_warp(const int *x, int *y) {
  __shared__ int memory[64];
  const int t = threadIdx.x;
  memory[t] = x[t];
  __syncthreads();
  if (t < 32) {
    volatile int *s = memory;
    s[t] += s[t + 32]; // finding: warp-synchronous
    s[t] += s[t + 16]; // finding: warp-synchronous
    s[t] += s[t + 8]; // finding: warp-synchronous
    s[t] += s[t + 4]; // finding: warp-synchronous
    s[t] += s[t + 2]; // finding: warp-synchronous
    s[t] += s[t + 1]; // finding: warp-synchronous
  }
  if (t == 0) *y = memory[0];
}

__global__ void one_syncwarp_a_step(const int *x, int *y) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int half = 32; half && t < 32; half /= 2) {
    s[t] += s[t + half]; // finding: warp-synchronous
    __syncwarp();
  }
  if (t == 0) *y = s[0];
}

__global__ void syncwarp_only_before_the_write(const int *x, int *y) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int half = 32; half && t < 32; half /= 2) {
    const int sum = s[t] + s[t + half]; // finding: warp-synchronous
    __syncwarp();
    s[t] = sum; // finding: warp-synchronous
  }
  __syncwarp();
  if (t == 0) *y = s[0];
}

__global__ void volatile_exchange(const int *x, int *y) {
  __shared__ volatile int s[32];
  const int t = threadIdx.x;
  s[t] = x[t]; // finding: warp-synchronous
  y[t] = s[t ^ 1]; // finding: warp-synchronous
}

__global__ void volatile_scan(const int *x, int *y) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x, at = t + 32;
  s[t] = 0;
  s[at] = x[t];
  __syncwarp();
  for (int d = 1; d < 32; d *= 2) s[at] += s[at - d]; // finding: warp-synchronous
  y[t] = s[at];
}

__global__ void volatile_in_global_memory(volatile int *a) {
  const int t = threadIdx.x;
  a[t] = 2 * a[(t + 1) % 32]; // finding: warp-synchronous
}

__global__ void volatile_behind_a_vote(const int *x, int *y) {
  __shared__ volatile int s[32];
  const int t = threadIdx.x;
  s[t] = x[t]; // finding: warp-synchronous
  if (__any_sync(~0u, t == 0)) y[t] = s[31 - t]; // finding: warp-synchronous
}

// ---- an atomic operation is relaxed: a fence before it, and one after it ----------------------------------------

__global__ void message_without_second_fence(int *data, int *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 9; // finding: missing fence
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    out[blockIdx.x] = *data; // finding: missing fence
  }
}

// As the CUDA C++ Programming Guide has it.
__global__ void last_block_of_the_guide(int *part, int *count, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x; // finding: missing fence
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i]; // finding: missing fence
    *out = sum;
  }
}

__global__ void relaxed_load_of_a_flag(int *data, int *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 9; // finding: missing fence
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) == 0) {}
    out[blockIdx.x] = *data; // finding: missing fence
  }
}

__global__ void flag_before_a_barrier(int *data, volatile int *ready, int *out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x) return;
    *data = 1; // finding: missing fence
    __threadfence();
    *ready = 1;
  } else {
    if (threadIdx.x == 0)
      while (*ready == 0) {}
    __syncthreads();
    if (threadIdx.x < 32) out[blockIdx.x * 32 + threadIdx.x] = *data; // finding: missing fence
  }
}

__global__ void second_message_without_fence(int *data, int *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 1;
    __threadfence();
    atomicExch(&flag[0], 1);
    data[1] = 2; // finding: missing fence
    __threadfence();
    atomicExch(&flag[1], 1);
  } else {
    while (atomicAdd(&flag[0], 0) == 0) {}
    __threadfence();
    const int first = data[0];
    while (atomicAdd(&flag[1], 0) == 0) {}
    out[blockIdx.x] = first + data[1]; // finding: missing fence
  }
}

__global__ void fence_of_the_block_after_it(int *data, int *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 9; // finding: missing fence
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence_block();
    out[blockIdx.x] = *data; // finding: missing fence
  }
}

__global__ void fence_before_it_only(int *data, int *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 9; // finding: missing fence
    __threadfence();
    atomicExch(flag, 1);
  } else {
    __threadfence();
    while (atomicCAS(flag, 2, 2) == 0) {}
    out[blockIdx.x] = *data; // finding: missing fence
  }
}

// ---- asynchronous copies --------------------------------------------------------------------------------------

__global__ void copy_not_waited_for(const int *x, int *y) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &x[t], sizeof(int)); // finding: race in shared memory
  __pipeline_commit();
  __syncthreads();
  y[t] = s[t ^ 1]; // finding: race in shared memory
}

__global__ void own_copy_not_waited_for(const int *x, int *y) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &x[t], sizeof(int)); // finding: race in shared memory
  __pipeline_commit();
  y[t] = s[t]; // finding: race in shared memory
}

__global__ void last_copy_not_waited_for(const int *x, int *y) {
  __shared__ int s[2][64];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; k++) {
    __pipeline_memcpy_async(&s[k][t], &x[64 * k + t], sizeof(int)); // finding: race in shared memory
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  y[t] = s[0][t ^ 1];
  y[64 + t] = s[1][t ^ 1]; // finding: race in shared memory
}

__global__ void copy_of_no_batch(const int *x, int *y) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &x[t], sizeof(int)); // finding: race in shared memory
  __pipeline_wait_prior(0);
  __syncthreads();
  y[t] = s[t ^ 1]; // finding: race in shared memory
}

__global__ void barrier_before_the_wait(const int *x, int *y) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &x[t], sizeof(int)); // finding: race in shared memory
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  y[t] = s[t ^ 1]; // finding: race in shared memory
}

__global__ void no_barrier_after_the_wait(const int *x, int *y) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &x[t], sizeof(int)); // finding: race in shared memory
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[t] = s[t ^ 1]; // finding: race in shared memory
}

__global__ void source_overwritten_on_the_way(int *x, int *y) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &x[t], sizeof(int)); // finding: race in global memory
  __pipeline_commit();
  x[t] = -1;
  __pipeline_wait_prior(0);
  __syncthreads();
  y[t] = s[t ^ 1];
}

__global__ void group_copy_not_waited_for(const int *x, int *y) {
  __shared__ int s[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof s); // finding: race in shared memory
  block.sync();
  y[threadIdx.x] = s[63 - threadIdx.x]; // finding: race in shared memory
}

__global__ void stage_too_early(const int *x, int *y) {
  __shared__ int s[2][64];
  const int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  for (int k = 0; k < 2; k++) {
    pipe.producer_acquire();
    cuda::memcpy_async(&s[k][t], &x[64 * k + t], sizeof(int), pipe); // finding: race in shared memory
    pipe.producer_commit();
  }
  pipe.consumer_wait();
  __syncthreads();
  y[t] = s[1][t ^ 1]; // finding: race in shared memory
  pipe.consumer_release();
}

// ---- scopes ---------------------------------------------------------------------------------------------------

__global__ void sum_of_scope_block(int *n) {
  __nv_atomic_fetch_add(n, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK); // finding: race in global memory
}

__global__ void exchange_of_scope_block(int *n) {
  __nv_atomic_exchange_n(n, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK); // finding: race in global memory
}

__global__ void store_of_scope_block(int *n) {
  if (threadIdx.x == 0)
    __nv_atomic_store_n(n, (int)blockIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK); // finding: race in global memory
}

__global__ void swap_of_scope_block(int *n) {
  int before = 0;
  __nv_atomic_compare_exchange_n(n, &before, 1, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK); // finding: race in global memory
}

__global__ void load_of_scope_block(int *n, int *out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(n, 1); // finding: race in global memory
  if (blockIdx.x > 0 && threadIdx.x == 0)
    out[blockIdx.x] = __nv_atomic_load_n(n, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK); // finding: race in global memory
}

__global__ void release_of_scope_block(int *data, int *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 9; // finding: race in global memory
    __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {}
    out[blockIdx.x] = *data; // finding: race in global memory
  }
}

__global__ void acquire_that_should_release(int *data, int *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 9; // finding: race in global memory
    __nv_atomic_exchange_n(flag, 1, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {}
    out[blockIdx.x] = *data; // finding: race in global memory
  }
}
