// SPDX-License-Identifier: MIT
//
// Lanes of a warp, parts of a warp and single warps that wait for each other without the block's barrier: legal.
// legal.lua runs them.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// ---- __syncwarp -----------------------------------------------------------------------------------------------

__global__ void warp_reduction(float *a) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = a[t];
  s[t + 32] = 0;
  __syncwarp();
  for (int half = 16; half; half /= 2) {
    const float sum = s[t] + s[t + half];
    __syncwarp();
    s[t] = sum;
    __syncwarp();
  }
  if (t == 0) a[0] = s[0];
}

// The block's tree ends in one warp, which needs no block barrier.
__global__ void last_warp(const float *x, float *y) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    for (int half = 32; half; half /= 2) {
      const float other = s[t + half];
      __syncwarp();
      if (t < half) s[t] += other;
      __syncwarp();
    }
  }
  if (t == 0) *y = s[0];
}

__global__ void half_masks(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  if (t < 16) {
    __syncwarp(0x0000ffff);
    a[t] = s[15 - t];
  } else {
    __syncwarp(0xffff0000);
    a[t] = s[47 - t];
  }
}

__global__ void mask_by_ballot(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  const unsigned mask = __ballot_sync(~0u, t % 2 == 0);
  a[t] = 0;
  if (t % 2 == 0) {
    s[t] = t;
    __syncwarp(mask);
    a[t] = s[30 - t];
  }
}

// More warp synchronisations than an epoch counts, without a block barrier.
__global__ void many_warp_syncs(int *a, int rounds) {
  __shared__ int s[96];
  const int t = threadIdx.x, warp = t / 32 * 32, next = warp + (t + 1) % 32;
  s[t] = t;
  for (int k = 0; k < rounds; k++) {
    __syncwarp();
    const int other = s[next];
    __syncwarp();
    s[t] = other;
  }
  a[t] = s[t];
}

__global__ void warp_for_itself(const float *x, float *y) {
  __shared__ float s[4][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  s[warp][lane] = x[threadIdx.x];
  __syncwarp();
  float sum = 0;
  for (int k = 0; k < 32; k++) sum += s[warp][k];
  if (lane == 0) y[warp] = sum;
}

__global__ void lane_zero_writes(int *a) {
  __shared__ int first[2];
  const int warp = threadIdx.x / 32;
  for (int k = 0; k < 5; k++) {
    if (threadIdx.x % 32 == k) first[warp] = threadIdx.x;
    __syncwarp();
    a[threadIdx.x] += first[warp];
    __syncwarp();
  }
}

__global__ void global_between_lanes(int *a) {
  const int t = threadIdx.x;
  a[t] = t;
  __syncwarp();
  const int other = a[31 - t];
  __syncwarp();
  a[t] = other;
}

__global__ void volatile_with_syncwarp(float *a) {
  __shared__ float memory[64];
  volatile float *s = memory;
  const int t = threadIdx.x;
  s[t] = a[t];
  s[t + 32] = 0;
  __syncwarp();
  for (int half = 16; half; half /= 2) {
    const float sum = s[t] + s[t + half];
    __syncwarp();
    s[t] = sum;
    __syncwarp();
  }
  if (t == 0) a[0] = s[0];
}

// A warp that is not full.
__global__ void part_of_a_warp(int *a) {
  __shared__ int s[40];
  const int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  if (t >= 32) a[t] = s[71 - t];
  else a[t] = s[31 - t];
}

__global__ void warp_transpose(const int *in, int *out) {
  __shared__ int s[32][33];
  const int lane = threadIdx.x;
  for (int row = 0; row < 32; row++) s[row][lane] = in[row * 32 + lane];
  __syncwarp();
  for (int row = 0; row < 32; row++) out[row * 32 + lane] = s[lane][row];
}

// ---- warp operations ------------------------------------------------------------------------------------------

__global__ void shuffle_reduction(const int *x, int *y) {
  __shared__ int sums[4];
  int sum = x[threadIdx.x];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) *y = sums[0] + sums[1] + sums[2] + sums[3];
}

__global__ void votes(int *a) {
  const int t = threadIdx.x;
  const unsigned odd = __ballot_sync(~0u, t & 1);
  a[t] = __popc(odd) + __any_sync(~0u, t == 3) + __all_sync(~0u, t < 32);
}

__global__ void aggregated_atomics(int *count, int *out) {
  const int t = threadIdx.x, lane = t % 32;
  const unsigned takers = __ballot_sync(~0u, t % 3 == 0);
  int first = 0;
  if (lane == 0) first = atomicAdd(count, __popc(takers));
  first = __shfl_sync(~0u, first, 0);
  if (t % 3 == 0) out[first + __popc(takers & ((1u << lane) - 1))] = t;
}

// Of the lanes only one sets the variable that all hand over.
__global__ void set_by_one_lane(const int *in, int n, int *count, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  if (i < n && in[i] % 3 == 0) {
    const unsigned active = __activemask();
    const int leader = __ffs(active) - 1;
    int base;
    if (lane == leader) base = atomicAdd(count, __popc(active));
    base = __shfl_sync(active, base, leader);
    out[base + __popc(active & ((1u << lane) - 1))] = in[i];
  }
}

__global__ void match(const int *key, int *sums) {
  const int mine = key[threadIdx.x] % 4;
  const unsigned peers = __match_any_sync(~0u, mine);
  if (__ffs(peers) - 1 == threadIdx.x % 32) atomicAdd(&sums[mine], __popc(peers));
}

// ---- groups ---------------------------------------------------------------------------------------------------

template <int Size> __device__ void turn_within(int *a, int *s) {
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const int t = threadIdx.x, first = t / Size * Size;
  s[t] = t;
  for (int k = 0; k < 3; k++) {
    tile.sync();
    const int next = s[first + (t + 1) % Size];
    tile.sync();
    s[t] = next;
  }
  a[t] = s[t];
}

__global__ void tiles_of_32(int *a) { __shared__ int s[96]; turn_within<32>(a, s); }

__global__ void tiles_of_16(int *a) { __shared__ int s[96]; turn_within<16>(a, s); }

__global__ void tiles_of_4(int *a) { __shared__ int s[96]; turn_within<4>(a, s); }

__global__ void coalesced(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  a[t] = 0;
  if (t % 3 == 0) {
    cg::coalesced_group group = cg::coalesced_threads();
    s[group.thread_rank()] = t;
    group.sync();
    a[t] = s[group.size() - 1 - group.thread_rank()];
  }
}

__global__ void group_reduction(const int *x, int *y) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int sum = cg::reduce(warp, x[threadIdx.x], cg::plus<int>());
  if (warp.thread_rank() == 0) atomicAdd(y, sum);
}

// ---- warp to warp ---------------------------------------------------------------------------------------------

__global__ void producer_and_consumer(int *a) {
  __shared__ int data[32];
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    data[lane] = lane;
    __threadfence_block();
    __syncwarp();
    if (lane == 0) ready = 1;
  } else {
    while (!ready) {}
    __threadfence_block();
    a[lane] = data[31 - lane];
  }
}

__global__ void last_warp_counts(int *a) {
  __shared__ int part[4];
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    part[threadIdx.x / 32] = threadIdx.x;
    __threadfence_block();
    if (atomicAdd(&count, 1u) == 3) a[0] = part[0] + part[1] + part[2] + part[3];
  }
}

__global__ void lock_in_shared(int *a) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = 0, sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1)) {}
    __threadfence_block();
    sum += 1;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) a[0] = sum;
}
