// SPDX-License-Identifier: MIT
//
// One mistake per kernel, between blocks; marked as in faulty_shared.cu. faulty.lua runs them.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// ---- no order at all ------------------------------------------------------------------------------------------

__global__ void plain_sum(float *sum) {
  if (threadIdx.x == 0) *sum += 1; // finding: race in global memory
}

__global__ void neighbour_block(float *a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) a[i] = a[i + 1]; // finding: race in global memory
}

__global__ void overlapping_blocks(int *a) {
  a[blockIdx.x * (blockDim.x - 1) + threadIdx.x] = blockIdx.x; // finding: race in global memory
}

__global__ void same_element_of_all(int *a) {
  a[threadIdx.x] = blockIdx.x; // finding: race in global memory
}

__global__ void same_value_by_all(int *a) {
  a[0] = 1; // finding: race in global memory
}

__global__ void plain_histogram(const int *x, int *bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bins[x[i] % 8]++; // finding: race in global memory
}

__global__ void plain_max(const int *x, int *max) {
  const int mine = x[blockIdx.x];
  if (threadIdx.x == 0 && mine > *max) *max = mine; // finding: race in global memory
}

__global__ void plain_then_atomic(int *count) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *count = 0; // finding: race in global memory
  if (threadIdx.x == 0) atomicAdd(count, 1); // finding: race in global memory
}

__global__ void atomic_then_plain(int *count, int *out) {
  if (threadIdx.x) return;
  atomicAdd(count, 1); // finding: race in global memory
  out[blockIdx.x] = *count; // finding: race in global memory
}

__global__ void compaction_without_atomic(int *count, int *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 3 == 0) out[(*count)++] = i; // finding: race in global memory
}

__global__ void stencil_in_place(float *u, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) u[i] = u[i - 1] + u[i + 1]; // finding: race in global memory
}

__global__ void transpose_in_place(float *a, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) {
    const float other = a[x * n + y]; // finding: race in global memory
    a[y * n + x] = other; // finding: race in global memory
  }
}

__global__ void bytes_as_words(unsigned char *a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned *word = (unsigned *)(a + i / 4 * 4);
  *word |= 1u << 8 * (i % 4); // finding: race in global memory
}

__device__ int total;

__global__ void device_variable_sum(int *out) {
  if (threadIdx.x == 0) total += 1; // finding: race in global memory
  if (blockIdx.x == 0) out[threadIdx.x] = 0;
}

// ---- the order is not complete --------------------------------------------------------------------------------

__device__ unsigned arrived[4];

__global__ void last_block_without_fence(float *part, float *out) {
  if (threadIdx.x) return;
  part[blockIdx.x] = 1; // finding: race in global memory
  if (atomicAdd(&arrived[0], 1u) == gridDim.x - 1) {
    float sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i]; // finding: race in global memory
    *out = sum;
  }
}

__global__ void last_block_without_barrier(float *part, float *out) {
  __shared__ bool last;
  part[blockIdx.x * blockDim.x + threadIdx.x] = 1; // finding: race in global memory, missing fence
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(&arrived[1], 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    float sum = 0;
    for (int i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) sum += part[i]; // finding: race in global memory, missing fence
    atomicAdd(out, sum);
  }
}

__global__ void last_block_fence_too_late(float *part, float *out) {
  if (threadIdx.x) return;
  part[blockIdx.x] = 1; // finding: race in global memory
  const bool last = atomicAdd(&arrived[2], 1u) == gridDim.x - 1;
  __threadfence();
  if (last) {
    float sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i]; // finding: race in global memory
    *out = sum;
  }
}

__global__ void last_block_fence_of_block(float *part, float *out) {
  if (threadIdx.x) return;
  part[blockIdx.x] = 1; // finding: race in global memory
  __threadfence_block();
  if (atomicAdd(&arrived[3], 1u) == gridDim.x - 1) {
    float sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i]; // finding: race in global memory
    *out = sum;
  }
}

__global__ void chain_without_fence(unsigned *ticket, volatile unsigned *flag, int *prefix) {
  if (threadIdx.x) return;
  const unsigned b = atomicAdd(ticket, 1u);
  int before = 0;
  if (b > 0) {
    while (flag[b - 1] == 0) {}
    before = prefix[b - 1]; // finding: race in global memory
  }
  prefix[b] = before + 1; // finding: race in global memory
  flag[b] = 1;
}

__global__ void chain_without_the_second_fence(unsigned *ticket, volatile unsigned *flag, int *prefix) {
  if (threadIdx.x) return;
  const unsigned b = atomicAdd(ticket, 1u);
  int before = 0;
  if (b > 0) {
    while (flag[b - 1] == 0) {}
    before = prefix[b - 1]; // finding: race in global memory
  }
  prefix[b] = before + 1; // finding: race in global memory
  __threadfence();
  flag[b] = 1;
}

// The fence is between the first flag and the second; the data of the first are in order.
__global__ void second_message_without_fence(int *data, volatile int *ready, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    for (int k = 0; k < 2; k++) {
      data[k] = k; // finding: race in global memory
      __threadfence();
      ready[k] = 1;
    }
  } else {
    while (ready[0] == 0) {}
    __threadfence();
    while (ready[1] == 0) {}
    *out = data[0];
    *out += data[1]; // finding: race in global memory
  }
}

__global__ void message_with_a_fence_of_the_block(int *data, volatile int *ready, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 42; // finding: race in global memory
    __threadfence();
    *ready = 1;
  } else {
    while (*ready == 0) {}
    __threadfence_block();
    *out = *data; // finding: race in global memory
  }
}

__global__ void plain_flag(unsigned *flag, int *data, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 42; // finding: race in global memory
    __threadfence();
    *flag = 1; // finding: race in global memory
  } else if (*flag) { // finding: race in global memory
    out[blockIdx.x] = *data; // finding: race in global memory
  }
}

__device__ unsigned lock_word[7];

__global__ void lock_without_fences(int *sum) {
  if (threadIdx.x) return;
  while (atomicCAS(&lock_word[0], 0u, 1u)) {}
  *sum += 1; // finding: race in global memory
  atomicExch(&lock_word[0], 0u);
}

__global__ void messages_after_their_fence(int *data, unsigned *sent, int *sum) {
  if (threadIdx.x) return;
  for (int i = 0; i < 6; i++) {
    if (blockIdx.x == 0) {
      __threadfence();
      data[i] = i; // finding: race in global memory, missing fence
      atomicExch(&sent[i], 1u);
    } else {
      while (!atomicAdd(&sent[i], 0u)) {}
      atomicAdd(sum, data[i]); // finding: race in global memory, missing fence
    }
  }
}

__global__ void write_outside_the_lock(int *sum) {
  if (threadIdx.x) return;
  while (atomicCAS(&lock_word[1], 0u, 1u)) {}
  __threadfence();
  *sum += 1; // finding: race in global memory
  __threadfence();
  atomicExch(&lock_word[1], 0u);
  *sum += 1; // finding: race in global memory
}

__global__ void no_grid_sync(int *a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i; // finding: race in global memory
  __syncthreads();
  a[n + i] = a[(i + blockDim.x) % n]; // finding: race in global memory
}

__global__ void block_sync_for_grid(int *a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;
  cg::this_grid().sync();
  const int next = a[(i + blockDim.x) % n]; // finding: race in global memory
  cg::this_thread_block().sync();
  a[i] = next; // finding: race in global memory
}

__global__ void barrier_by_hand_without_fence(unsigned *count, int *a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i; // finding: race in global memory
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1u);
    while (*(volatile unsigned *)count < gridDim.x) {}
  }
  __syncthreads();
  a[n + i] = a[(i + blockDim.x) % n]; // finding: race in global memory
}

__global__ void barrier_by_hand_without_wait(unsigned *count, int *a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i; // finding: race in global memory, missing fence
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1u);
    while (*(volatile unsigned *)count < gridDim.x) {}
    __threadfence();
  }
  a[n + i] = a[(i + blockDim.x) % n]; // finding: race in global memory, missing fence
}

__global__ void look_back_without_fence(unsigned *ticket, volatile unsigned *flag, int *own, int *out) {
  __shared__ unsigned b;
  if (threadIdx.x == 0) b = atomicAdd(ticket, 1u);
  __syncthreads();
  if (threadIdx.x) return;
  own[b] = 1; // finding: race in global memory
  flag[b] = 1;
  int sum = 0;
  for (int i = (int)b - 1; i >= 0;)
    if (flag[i]) sum += own[i--]; // finding: race in global memory
  out[b] = sum;
}

__global__ void odd_and_even(float *u, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) u[i % 2 ? i : i + 1] = i; // finding: race in global memory
}

__global__ void message_without_fence(int *data, volatile int *ready, int *out) {
  if (blockIdx.x == gridDim.x - 1) {
    data[threadIdx.x] = threadIdx.x; // finding: race in global memory
    __syncthreads();
    if (threadIdx.x == 0) *ready = 1;
  } else {
    if (threadIdx.x == 0)
      while (*ready == 0) {}
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x]; // finding: race in global memory
  }
}

__global__ void message_read_by_all(int *data, volatile int *ready, int *out) {
  if (blockIdx.x == gridDim.x - 1) {
    data[threadIdx.x] = threadIdx.x; // finding: race in global memory
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *ready = 1;
  } else {
    if (threadIdx.x == 0)
      while (*ready == 0) {}
    out[blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x]; // finding: race in global memory
  }
}

__global__ void ticket_lock_without_fence(unsigned *next, volatile unsigned *serving, int *sum) {
  if (threadIdx.x) return;
  const unsigned mine = atomicAdd(next, 1u);
  while (*serving != mine) {}
  *sum += 1; // finding: race in global memory
  *serving = mine + 1;
}

__global__ void pair_without_fence(unsigned *count, float *value, float *out) {
  if (threadIdx.x) return;
  value[blockIdx.x] = 1; // finding: race in global memory
  if (atomicAdd(&count[blockIdx.x / 2], 1u) == 0) return;
  out[blockIdx.x / 2] = value[blockIdx.x / 2 * 2] + value[blockIdx.x / 2 * 2 + 1]; // finding: race in global memory
}

// ---- volatile data, scopes, locks -----------------------------------------------------------------------------

__global__ void volatile_winner(volatile int *winner) {
  if (threadIdx.x == 0) *winner = blockIdx.x; // finding: race in global memory
}

__global__ void volatile_beside_atomic(int *best) {
  if (threadIdx.x) return;
  if (blockIdx.x % 2) atomicExch(best, 100); // finding: race in global memory
  else *(volatile int *)best = blockIdx.x; // finding: race in global memory
}

__global__ void volatile_without_the_lock(volatile int *last) {
  if (threadIdx.x) return;
  if (blockIdx.x % 2) {
    *last = blockIdx.x; // finding: race in global memory
    return;
  }
  while (atomicCAS(&lock_word[2], 0u, 1u)) {}
  __threadfence();
  *last = blockIdx.x; // finding: race in global memory
  __threadfence();
  atomicExch(&lock_word[2], 0u);
}

// Without it the sum may be read before the lock is held.
__global__ void lock_without_the_first_fence(int *sum) {
  if (threadIdx.x) return;
  while (atomicCAS(&lock_word[3], 0u, 1u)) {}
  *sum += 1; // finding: race in global memory
  __threadfence();
  atomicExch(&lock_word[3], 0u);
}

__global__ void lock_without_the_last_fence(int *sum) {
  if (threadIdx.x) return;
  while (atomicCAS(&lock_word[4], 0u, 1u)) {}
  __threadfence();
  *sum += 1; // finding: race in global memory
  atomicExch(&lock_word[4], 0u);
}

__global__ void lock_with_a_fence_of_the_block(int *sum) {
  if (threadIdx.x) return;
  while (atomicCAS(&lock_word[5], 0u, 1u)) {}
  __threadfence_block();
  *sum += 1; // finding: race in global memory
  __threadfence();
  atomicExch(&lock_word[5], 0u);
}

__global__ void warps_in_lock_without_fence(int *sum) {
  if (threadIdx.x % 32) return;
  while (atomicCAS_block(&lock_word[6], 0u, 1u)) {}
  *sum += 1; // finding: race in global memory
  __threadfence_block();
  atomicExch_block(&lock_word[6], 0u);
}

__global__ void counter_of_the_block_for_all(int *count) {
  atomicAdd_block(count, 1); // finding: race in global memory
}

__global__ void volatile_message_with_a_fence_of_the_block(volatile int *data, int *ready, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 42; // finding: race in global memory
    __threadfence_block();
    atomicExch(ready, 1);
  } else {
    while (atomicAdd(ready, 0) == 0) {}
    out[blockIdx.x] = *data; // finding: race in global memory
  }
}

// ---- many barriers --------------------------------------------------------------------------------------------

__global__ void other_block_after_many_barriers(int *a, int n) {
  if (threadIdx.x + blockIdx.x == 0) a[0] = 1; // finding: race in global memory
  for (int k = 0; k < n; k++) __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 1) a[0] = 2; // finding: race in global memory
}

__global__ void race_after_many_barriers(int *a, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = 0;
  for (int k = 0; k < n; k++) __syncthreads();
  s[threadIdx.x] = 1; // finding: race in shared memory
  a[threadIdx.x] = s[63 - threadIdx.x]; // finding: race in shared memory
}

// Bytes of a word, written one by one: each of them counts.
__global__ void bytes_one_by_one(unsigned char *a) {
  if (threadIdx.x) return;
  unsigned char *own = a + blockIdx.x;
  for (int i = 0; i < 3; i++) own[i] = blockIdx.x; // finding: race in global memory
}

// ---- who comes to a barrier -------------------------------------------------------------------------------------

__global__ void grid_barrier_of_some_blocks(int *a) {
  if (threadIdx.x == 0) a[blockIdx.x] = 1;
  if (blockIdx.x > 1) return;
  cg::this_grid().sync(); // error: grid barrier divergence // finding: barrier
}

__global__ void grid_barrier_once_more(int *a, int n) {
  for (int k = 0; k < n + (blockIdx.x == 0); k++) cg::this_grid().sync(); // error: grid barrier divergence // finding: barrier
  if (threadIdx.x == 0) a[blockIdx.x] = 1;
}

__global__ void grid_barrier_of_a_plain_launch(int *a) {
  cg::this_grid().sync(); // error: outside a cooperative launch // finding: barrier
}
