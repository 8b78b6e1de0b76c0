// SPDX-License-Identifier: MIT
//
// Scopes of atomics. A line that ends in "// legal" or "// faulty" is in that twin only.
// PTX ISA, "Morally Strong Operations": two atomics only do without a race if each one's scope includes
// the other's thread.

// Guide, "Atomic Functions": the suffix _block makes an atomic for the threads of one block.
__global__ void count_block(const int *in, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd_block(&bins[blockIdx.x * 8 + in[i] % 8], 1); // legal
    atomicAdd_block(&bins[in[i] % 8], 1);                  // faulty
  }
}

// Guide, "Atomic Functions": __NV_THREAD_SCOPE_BLOCK is the block's scope for __nv_atomic functions.
__global__ void nv_count(unsigned *n) {
  __nv_atomic_fetch_add(n, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); // legal
  __nv_atomic_fetch_add(n, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);  // faulty
}

// Guide, "Atomic Functions": a maximum of a row that several blocks of a 2-D grid share.
__global__ void row_most(const int *in, int *most, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width) {
    __nv_atomic_fetch_max(&most[y], in[y * width + x], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); // legal
    __nv_atomic_fetch_max(&most[y], in[y * width + x], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);  // faulty
  }
}

template <typename T> __device__ T bump(T *where, T by, bool whole_grid) {
  return whole_grid ? atomicAdd(where, by) : atomicAdd_block(where, by);
}

// PTX ISA, "Morally Strong Operations": one wide scope does not help if the other one is narrow.
__global__ void mixed_scopes(unsigned long long *sum) {
  bump<unsigned long long>(sum, threadIdx.x, true);            // legal
  bump<unsigned long long>(sum, threadIdx.x, blockIdx.x == 0); // faulty
}

// Guide, "Atomic Functions": a block's own bins in shared memory want the block's scope; the grid's bins more.
__global__ void histogram_flush(const unsigned char *text, unsigned *bins, int n) {
  __shared__ unsigned own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd_block(&own[text[i] & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);       // legal
  if (threadIdx.x < 16) atomicAdd_block(&bins[threadIdx.x], own[threadIdx.x]); // faulty
}

// Guide, "Atomic Functions": compare and swap for a lock-free list of all blocks.
__global__ void push_front(int *head, int *next) {
  int me = blockIdx.x * blockDim.x + threadIdx.x, seen;
  do {
    seen = __nv_atomic_load_n(head, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    next[me] = seen;
  } while (atomicCAS(head, seen, me) != seen);       // legal
  } while (atomicCAS_block(head, seen, me) != seen); // faulty
}

// PTX ISA, "Release and Acquire Patterns": a release of the block's scope does not reach another block.
__global__ void release_scope(double *data, int *flag, double *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 0.125;
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE); // legal
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);  // faulty
  } else {
    while (!__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE)) {
    }
    out[0] = data[0];
  }
}

// PTX ISA, "Release and Acquire Patterns": nor does an acquire of the block's scope receive from another one.
__global__ void acquire_scope(int *data, unsigned *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 8;
    __nv_atomic_exchange_n(flag, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (!__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM)) { // legal
    while (!__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK)) {  // faulty
    }
    *out = *data;
  }
}

// PTX ISA, "Scope": a thread's own scope includes no other thread, not even of its block.
__global__ void thread_scope(int *sum) {
  __shared__ int n;
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  __nv_atomic_fetch_add(&n, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);  // legal
  __nv_atomic_fetch_add(&n, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_THREAD); // faulty
  __syncthreads();
  if (threadIdx.x == 0) *sum = n;
}

// Guide, "Atomic Functions": an exchange of the block's scope takes the same place for two blocks.
__global__ void first_comes(int *taken, int *winner, int cells) {
  for (int c = threadIdx.z * blockDim.x + threadIdx.x; c < cells; c += blockDim.x * blockDim.z)
    if (atomicExch(&taken[c], 1) == 0) winner[c] = blockIdx.x;       // legal
    if (atomicExch_block(&taken[c], 1) == 0) winner[c] = blockIdx.x; // faulty
}

// PTX ISA, "Conflict and Data-races": an atomic of one thread and a plain read of another are not both strong.
__global__ void plain_beside_atomic(int *progress, int *seen) {
  if (threadIdx.x == 0) atomicAdd(progress, 1);
  seen[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(progress, 0); // legal
  seen[blockIdx.x * blockDim.x + threadIdx.x] = *progress;              // faulty
}

// PTX ISA, "Morally Strong Operations": they overlap completely; halves of a word beside the word do not.
__global__ void half_beside_word(unsigned *word, unsigned *out) {
  if (blockIdx.x == 0) atomicOr(word, 0xff00u);
  if (blockIdx.x == 1) atomicAdd(word, 1u);                             // legal
  if (blockIdx.x == 1) *(volatile unsigned short *)word = 1;            // faulty
  if (blockIdx.x == 1) out[0] = atomicOr(word, 0u);
}

// Guide, "Atomic Functions": and, or, xor, min have their _block forms.
__global__ void paint(unsigned *mask, const short *color, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicOr(mask, 1u << color[i]);           // legal
    atomicMin(mask + 1, (unsigned)i);         // legal
    atomicOr_block(mask, 1u << color[i]);     // faulty
    atomicMin_block(mask + 1, (unsigned)i);   // faulty
  }
}

// Guide, "Atomic Functions": each atomic has its own scope; a narrow one before does not narrow the next.
__global__ void narrow_then_wide(int *own, int *all) {
  if (threadIdx.x == 0) {
    while (atomicAdd_block(&own[blockIdx.x], 0) != 0) {
    }
    atomicAdd(all, 1);       // legal
    atomicAdd_block(all, 1); // faulty
  }
}

// PTX ISA, "Causality Order": a fence of the block's scope is enough for the hop within the block.
__global__ void narrow_hop(float *data, int *flags, float *out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 1;
      __threadfence_block(); // legal
      atomicExch(&flags[0], 1);
    } else if (threadIdx.x == 32) {
      while (atomicAdd(&flags[0], 0) == 0) {
      }
      __threadfence();
      atomicExch(&flags[1], 1);
    }
  } else if (threadIdx.x == 0) {
    while (atomicAdd(&flags[1], 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// PTX ISA, "Scope": a thread's own scope is too narrow for two threads, in global memory as well.
__global__ void thread_scope_store(int *last) {
  if (threadIdx.x < 2) {
    __nv_atomic_store_n(last, (int)threadIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);  // legal
    __nv_atomic_store_n(last, (int)threadIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_THREAD); // faulty
  }
}
