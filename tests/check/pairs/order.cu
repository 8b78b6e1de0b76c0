// SPDX-License-Identifier: MIT
//
// Orders over more than two threads. A line that ends in "// legal" or "// faulty" is in that twin only.

#define FLAG_WAIT(flag, value)                                                                                         \
  while (atomicAdd(&(flag), 0) < (value)) {                                                                            \
  }                                                                                                                    \
  __threadfence()
#define FLAG_SET(flag)                                                                                                 \
  __threadfence();                                                                                                     \
  atomicAdd(&(flag), 1)

// PTX ISA, "Conflict and Data-races": a write races with the read of each thread that is not ordered before it.
__global__ void two_warps_read(int *out) {
  __shared__ int cell;
  if (threadIdx.x == 0) cell = 5;
  __syncthreads();
  out[threadIdx.x] = cell;
  __syncwarp();    // faulty
  __syncthreads(); // legal
  if (threadIdx.x == 63) cell = 6;
  __syncthreads();
  out[threadIdx.x] += cell;
}

// PTX ISA, "Conflict and Data-races": the same by blocks, of which the one that writes has read as well.
__global__ void readers_and_writer(long long *cell, int *ready, long long *out) {
  if (threadIdx.x) return;
  out[blockIdx.x] = *cell;
  FLAG_SET(ready[0]); // legal
  if (blockIdx.x == 2) {
    FLAG_WAIT(ready[0], 3); // legal
    *cell = 4;
  }
}

// PTX ISA, "Causality Order": block 2 waits for block 1, which has waited for nobody.
__global__ void third_block(float *data, int *flags, float *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 1.5f;
    FLAG_SET(flags[0]);
  } else if (blockIdx.x == 1) {
    FLAG_WAIT(flags[0], 1); // legal
    FLAG_SET(flags[1]);
  } else {
    FLAG_WAIT(flags[1], 1);
    *out = *data;
  }
}

// PTX ISA, "Causality Order": having received from block 0 does not order what block 1 writes later.
__global__ void second_writer(short *data, int *flags, short *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 1;
    FLAG_SET(flags[0]);
  } else if (blockIdx.x == 1) {
    FLAG_WAIT(flags[0], 1);
    *data = 2;
    FLAG_SET(flags[1]);
  } else {
    FLAG_WAIT(flags[1], 1); // legal
    FLAG_WAIT(flags[0], 1); // faulty
    *out = *data;
  }
}

// PTX ISA, "Observation Order": atomics hand a release on, a plain strong store by another thread does not.
__global__ void release_chain(int *data, int *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 3;
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else if (blockIdx.x == 1) {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) != 1) {
    }
    __nv_atomic_fetch_add(flag, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); // legal
    __nv_atomic_store_n(flag, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);   // faulty
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != 2) {
    }
    *out = *data;
  }
}

// PTX ISA, "Release and Acquire Patterns": what is written after the flag is not published by it.
__global__ void after_the_flag(double *data, int *flag, double *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 1;
    data[1] = 2; // legal
    FLAG_SET(flag[0]);
    data[1] = 2; // faulty
  } else {
    FLAG_WAIT(flag[0], 1);
    out[0] = data[0] + data[1];
  }
}

// PTX ISA, "Release and Acquire Patterns": a fence before the loop that waits receives nothing.
__global__ void fence_before_loop(unsigned long long *data, unsigned *flag, unsigned long long *out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *data = 1ull << 40;
    __threadfence();
    atomicExch(flag, 1u);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    __threadfence(); // faulty
    while (atomicCAS(flag, 1u, 1u) == 0u) {
    }
    __threadfence(); // legal
    *out = *data;
  }
}

// PTX ISA, "Causality Order": a release within the block, then one for the device, make a chain of both.
__global__ void scopes_in_a_row(int *data, int *flag, int *out) {
  __shared__ int inner;
  if (threadIdx.x == 0) inner = 0;
  __syncthreads();
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 12;
      __threadfence_block();
      atomicExch_block(&inner, 1);
    } else if (threadIdx.x == 32) {
      while (atomicAdd_block(&inner, 0) == 0) {
      }
      __threadfence();       // legal
      __threadfence_block(); // faulty
      atomicExch(flag, 1);
    }
  } else if (threadIdx.x == 0) {
    FLAG_WAIT(*flag, 1);
    *out = *data;
  }
}

// Guide, "Synchronization Functions": barriers of parts of a warp order as far as their masks overlap.
__global__ void overlapping_masks(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t + 1;
  if (t < 16) __syncwarp(0x0000ffffu);
  if (t >= 8 && t < 24) __syncwarp(0x00ffff00u);
  if (t == 20) out[0] = s[2]; // legal
  if (t == 28) out[0] = s[2]; // faulty
}

// PTX ISA, "Release and Acquire Patterns": a reader's flag lets the writer go on; its fence stands before the flag.
__global__ void write_after_read(float2 *cell, int *flag, float2 *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    out[0] = *cell;      // legal
    FLAG_SET(*flag);
    out[0] = *cell;      // faulty
  } else {
    FLAG_WAIT(*flag, 1);
    *cell = make_float2(1, 2);
  }
}

// PTX ISA, "Conflict and Data-races": a counter that is set back by a plain write, while others still add to it.
__global__ void set_back(int *count, int *out) {
  __shared__ int n;
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  for (int round = 0; round < 3; round++) {
    atomicAdd(&n, 1);
    __syncthreads();
    if (threadIdx.x == 0) out[round] = n;
    __syncthreads(); // legal
    if (threadIdx.x == 40) n = 0;
    __syncthreads();
  }
}

// PTX ISA, "Conflict and Data-races": a shared queue's head is an atomic, and so is its fill.
__global__ void work_queue(const int *work, int *queue, int *out, int n) {
  __shared__ int next;
  while (true) {
    if (threadIdx.x == 0) next = atomicAdd(queue, 1);
    __syncthreads();
    int item = next;
    __syncthreads(); // legal
    if (item >= n) break;
    out[item * blockDim.x + threadIdx.x] = work[item] + threadIdx.x;
  }
}
