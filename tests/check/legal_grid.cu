// SPDX-License-Identifier: MIT
//
// Blocks that work together by atomics, fences and launches: legal, though each looks like a race. legal.lua runs them.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// ---- last block -----------------------------------------------------------------------------------------------

__device__ unsigned arrived[8];

__global__ void last_block(float *part, float *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x;
    __threadfence();
    last = atomicAdd(&arrived[0], 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
    arrived[0] = 0;
  }
}

// A fence for each message; those before it are covered as well.
__global__ void messages_one_by_one(int *data, unsigned *sent, int *sum) {
  if (threadIdx.x) return;
  for (int i = 0; i < 6; i++) {
    if (blockIdx.x == 0) {
      data[i] = i;
      __threadfence();
      atomicExch(&sent[i], 1u);
    } else {
      while (!atomicAdd(&sent[i], 0u)) {}
      __threadfence();
      atomicAdd(sum, data[i]);
    }
  }
}

// Every thread writes and fences; one counts.
__global__ void last_block_all_fence(float *part, float *out) {
  __shared__ bool last;
  part[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&arrived[1], 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    float sum = 0;
    for (int i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) sum += part[i];
    atomicAdd(out, sum);
  }
}

// Every thread writes; after the barrier one thread fences for all.
__global__ void last_block_one_fence(float *part, float *out) {
  __shared__ bool last;
  part[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&arrived[2], 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) {
    float sum = 0;
    for (int i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) sum += part[i];
    atomicAdd(out, sum);
  }
}

// atomicInc sets the counter back by itself: the kernel may be launched again.
__global__ void last_block_inc(float *part, float *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = 1;
    __threadfence();
    last = atomicInc(&arrived[3], gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float sum = *out;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
  }
}

// The sum of a part, by a thread for a part; the last of each pair goes on, as in a tree.
__global__ void pairs_go_on(unsigned *count, float *value, float *out) {
  if (threadIdx.x) return;
  unsigned at = blockIdx.x, width = gridDim.x, level = 0;
  value[at] = 1;
  while (width > 1) {
    __threadfence();
    if (atomicAdd(&count[level + at / 2], 1u) == 0) return;
    __threadfence();
    const float sum = value[2 * (at / 2) + level * 2] + value[2 * (at / 2) + 1 + level * 2];
    level += width / 2, width /= 2, at /= 2;
    value[2 * level + at] = sum;
  }
  *out = value[2 * level];
}

// ---- blocks in order ------------------------------------------------------------------------------------------

__global__ void ticket_order(unsigned *ticket, int *out) {
  __shared__ unsigned mine;
  if (threadIdx.x == 0) mine = atomicAdd(ticket, 1u);
  __syncthreads();
  out[mine * blockDim.x + threadIdx.x] = mine;
}

// Each block waits for the one before it and adds its own sum.
__global__ void chained_scan(unsigned *ticket, volatile unsigned *flag, int *prefix) {
  if (threadIdx.x) return;
  const unsigned b = atomicAdd(ticket, 1u);
  int before = 0;
  if (b > 0) {
    while (flag[b - 1] == 0) {}
    __threadfence();
    before = prefix[b - 1];
  }
  prefix[b] = before + 1;
  __threadfence();
  flag[b] = 1;
}

// Decoupled look-back: 1: the block's own sum is known, 2: the sum up to it is.
__global__ void look_back(unsigned *ticket, volatile unsigned *flag, int *own, int *upto) {
  __shared__ unsigned b;
  if (threadIdx.x == 0) b = atomicAdd(ticket, 1u);
  __syncthreads();
  if (threadIdx.x == 0) {
    own[b] = 1;
    __threadfence();
    flag[b] = 1;
    int sum = 0;
    for (int i = (int)b - 1; i >= 0;) {
      const unsigned state = flag[i];
      __threadfence();
      if (state == 2) {
        sum += upto[i];
        break;
      }
      if (state == 1) sum += own[i--];
    }
    upto[b] = sum + 1;
    __threadfence();
    flag[b] = 2;
  }
}

__global__ void look_back_atomics(unsigned *ticket, unsigned *flag, int *own, int *upto) {
  __shared__ unsigned b;
  if (threadIdx.x == 0) b = atomicAdd(ticket, 1u);
  __syncthreads();
  if (threadIdx.x == 0) {
    own[b] = 1;
    __threadfence();
    atomicExch(&flag[b], 1u);
    int sum = 0;
    for (int i = (int)b - 1; i >= 0;) {
      const unsigned state = atomicAdd(&flag[i], 0u);
      __threadfence();
      if (state == 2) {
        sum += upto[i];
        break;
      }
      if (state == 1) sum += own[i--];
    }
    upto[b] = sum + 1;
    __threadfence();
    atomicExch(&flag[b], 2u);
  }
}

// Flag and value in one word: no fence is needed.
__global__ void look_back_packed(unsigned *ticket, volatile unsigned long long *word) {
  if (threadIdx.x) return;
  const unsigned b = atomicAdd(ticket, 1u);
  unsigned long long before = 0;
  if (b > 0) {
    while (!(before = word[b - 1])) {}
    before &= 0xffffffffu;
  }
  word[b] = 1ull << 32 | (before + 1);
}

// ---- locks ----------------------------------------------------------------------------------------------------

__device__ unsigned lock_word[4];

__global__ void spin_lock(int *sum) {
  if (threadIdx.x) return;
  while (atomicCAS(&lock_word[0], 0u, 1u)) {}
  __threadfence();
  *sum += 1;
  __threadfence();
  atomicExch(&lock_word[0], 0u);
}

__global__ void spin_lock_volatile_unlock(int *sum) {
  if (threadIdx.x) return;
  while (atomicExch(&lock_word[1], 1u)) {}
  __threadfence();
  *sum += 1;
  __threadfence();
  *(volatile unsigned *)&lock_word[1] = 0;
}

// Every thread takes it, those of one warp too.
__global__ void spin_lock_by_all(int *sum) {
  for (bool done = false; !done;) {
    if (atomicCAS(&lock_word[2], 0u, 1u) == 0) {
      __threadfence();
      *(volatile int *)sum = *(volatile int *)sum + 1;
      __threadfence();
      atomicExch(&lock_word[2], 0u);
      done = true;
    }
  }
}

__global__ void ticket_lock(unsigned *next, volatile unsigned *serving, int *sum) {
  if (threadIdx.x) return;
  const unsigned mine = atomicAdd(next, 1u);
  while (*serving != mine) {}
  __threadfence();
  *sum += 1;
  __threadfence();
  *serving = mine + 1;
}

// A lock around what all threads of the block do.
__global__ void block_in_lock(int *sums) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&lock_word[3], 0u, 1u)) {}
    __threadfence();
  }
  __syncthreads();
  sums[threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&lock_word[3], 0u);
  }
}

__global__ void lock_of_each_bin(unsigned *locks, int *bins) {
  if (threadIdx.x) return;
  const int b = blockIdx.x % 3;
  while (atomicCAS(&locks[b], 0u, 1u)) {}
  __threadfence();
  bins[b] += 1;
  __threadfence();
  atomicExch(&locks[b], 0u);
}

// ---- barriers of the grid -------------------------------------------------------------------------------------

__global__ void grid_sync(int *a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 0; step < 20; step++) {
    a[i] = i + step;
    cg::this_grid().sync();
    const int next = a[(i + blockDim.x) % n];
    cg::this_grid().sync();
    a[i] = next;
  }
}

__device__ void wait_for_all(unsigned *count, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1u);
    while (*(volatile unsigned *)count < round * gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
}

__global__ void grid_barrier_by_hand(unsigned *count, int *a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;
  wait_for_all(count, 1);
  const int next = a[(i + blockDim.x) % n];
  wait_for_all(count, 2);
  a[i] = next;
}

__global__ void grid_barrier_atomics(unsigned *count, int *a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1u);
    while (atomicAdd(count, 0u) < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  a[n + i] = a[(i + blockDim.x) % n];
}

// The first block tells the others by a flag.
__global__ void message(int *data, volatile int *ready, int *out) {
  if (blockIdx.x == gridDim.x - 1) {
    data[threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *ready = 1;
  } else {
    if (threadIdx.x == 0) {
      while (*ready == 0) {}
      __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x];
  }
}

// Each thread waits by itself.
__global__ void message_to_each_thread(int *data, volatile int *ready, int *out) {
  if (blockIdx.x == gridDim.x - 1) {
    data[threadIdx.x] = threadIdx.x;
    __threadfence();
    ready[threadIdx.x] = 1;
  } else {
    while (ready[threadIdx.x] == 0) {}
    __threadfence();
    out[blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x];
  }
}

// What is known after a fence stays so when the flag is read again; volatile data and a write need none.
__global__ void flag_read_again(int *data, volatile int *ready, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 1;
    data[1] = 2;
    __threadfence();
    *ready = 1;
  } else {
    while (*ready == 0) {}
    const int early = *(volatile int *)&data[1];
    __threadfence();
    while (*ready == 0) {}
    *out = data[0] + early;
    data[0] = 3;
  }
}

// ---- atomics --------------------------------------------------------------------------------------------------

__global__ void atomics_of_all_types(int *i, unsigned *u, unsigned long long *l, float *f, double *d) {
  atomicAdd(&i[0], 1), atomicSub(&i[1], 1), atomicMin(&i[2], -(int)threadIdx.x), atomicMax(&i[3], (int)threadIdx.x);
  atomicAnd(&u[0], ~1u), atomicOr(&u[1], 1u << threadIdx.x % 32), atomicXor(&u[2], 1u), atomicExch(&u[3], 7u);
  atomicInc(&u[4], 5u), atomicDec(&u[5], 5u), atomicCAS(&u[6], 0u, 1u);
  atomicAdd(&l[0], 1ull), atomicMax(&l[1], (unsigned long long)threadIdx.x), atomicCAS(&l[2], 0ull, 2ull);
  atomicAdd(f, 1.0f), atomicAdd(d, 1.0), atomicExch(&f[1], 2.0f);
}

__global__ void compaction(unsigned *count, int *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 3 == 0) out[atomicAdd(count, 1u)] = i;
}

__global__ void work_queue(unsigned *next, int *done, int n) {
  for (;;) {
    const unsigned item = atomicAdd(next, 1u);
    if (item >= n) return;
    done[item] += 1;
  }
}

__global__ void list_by_exchange(int *head, int *next) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = atomicExch(head, i);
}

__global__ void float_max(float *max) {
  const float mine = blockIdx.x * blockDim.x + threadIdx.x;
  int *word = (int *)max, seen = *(volatile int *)word;
  while (__int_as_float(seen) < mine) {
    const int before = atomicCAS(word, seen, __float_as_int(mine));
    if (before == seen) break;
    seen = before;
  }
}

__global__ void histogram(const int *in, unsigned *bins, int n) {
  __shared__ unsigned own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i] % 16], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// A label spreads by atomicMin; what others write is read by volatile loads.
__global__ void labels(int *label, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) atomicMin(&label[i + 1], *(volatile int *)&label[i]);
}

// ---- apart, though near ---------------------------------------------------------------------------------------

__global__ void bytes_of_one_word(unsigned char *a) { a[threadIdx.x * gridDim.x + blockIdx.x] = threadIdx.x; }

__global__ void shorts_of_one_word(short *a) { a[threadIdx.x * gridDim.x + blockIdx.x] = threadIdx.x; }

__global__ void same_read_only(const float *table, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 8; k++) sum += table[k] * __ldg(&table[7 - k]);
  out[i] = sum;
}

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ float table_of_module[4] = {1, 2, 3, 4};

__global__ void constant_memory(float *out) {
  out[threadIdx.x] = weights[threadIdx.x % 4] + table_of_module[(threadIdx.x + 1) % 4];
}

// ---- volatile flags, scopes, swaps ------------------------------------------------------------------------------

// Several may write it, all the same; others look at it and do not wait.
__global__ void found_by_several(const int *a, volatile int *found, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!*found && i < n && a[i] % 3 == 0) *found = 1;
}

__global__ void ping_pong(volatile int *turn, volatile int *value) {
  if (threadIdx.x) return;
  for (int k = 0; k < 5; k++) {
    while (*turn % 2 != blockIdx.x) {}
    __threadfence();
    *value = 2 * *value + blockIdx.x;
    __threadfence();
    *turn = *turn + 1;
  }
}

__global__ void counters_of_blocks(int *count, int *total) {
  atomicAdd_block(&count[blockIdx.x], 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, count[blockIdx.x]);
}

// Two tickets for each block, drawn by swaps.
__global__ void tickets_by_swap(unsigned *next, int *data, int *sum) {
  if (threadIdx.x) return;
  for (int k = 0; k < 2; k++) {
    const int own = blockIdx.x + k * gridDim.x;
    data[own] = own;
    __threadfence();
    unsigned seen = *(volatile unsigned *)next, before;
    while ((before = atomicCAS(next, seen, seen + 1)) != seen) seen = before;
    if (seen + 1 < 2 * gridDim.x) continue;
    __threadfence();
    for (int i = 0; i < 2 * gridDim.x; i++) *sum += data[i];
  }
}

__global__ void warps_in_lock(int *sum) {
  __shared__ unsigned lock;
  if (threadIdx.x == 0) lock = 0;
  __syncthreads();
  if (threadIdx.x % 32) return;
  while (atomicCAS_block(&lock, 0u, 1u)) {}
  __threadfence_block();
  *(volatile int *)&sum[blockIdx.x] = *(volatile int *)&sum[blockIdx.x] + 1;
  __threadfence_block();
  atomicExch_block(&lock, 0u);
}

// ---- several launches -----------------------------------------------------------------------------------------

__device__ int state_of_module;

__global__ void device_variable(int *out) {
  if (threadIdx.x == 0) *out = ++state_of_module;
}

__global__ void shift(int *a, int *b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[(i + 1) % n];
}

__global__ void red_black(float *u, int n, int color) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + color;
  if (i > 0 && i < n - 1) u[i] = 0.5f * (u[i - 1] + u[i + 1]);
}

__global__ void half_each(int *a, int first) { a[first + blockIdx.x * blockDim.x + threadIdx.x] += 1; }

// Block 0 publishes what it did many barriers ago.
__global__ void fence_after_many_barriers(int *a, unsigned *flag, int *out, int n) {
  if (blockIdx.x == 0) {
    a[threadIdx.x] = threadIdx.x;
    for (int k = 0; k < n; k++) __syncthreads();
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(flag, 1u);
  } else {
    if (threadIdx.x == 0) {
      while (atomicAdd(flag, 0u) == 0);
      __threadfence();
    }
    for (int k = 0; k < n; k++) __syncthreads();
    out[threadIdx.x] = a[threadIdx.x];
  }
}
