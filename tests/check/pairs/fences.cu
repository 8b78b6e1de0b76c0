// SPDX-License-Identifier: MIT
//
// Message passing, locks, last blocks. A line that ends in "// legal" or "// faulty" is in that twin only.
// PTX ISA, "Release and Acquire Patterns": a fence before a strong write publishes, a fence after a strong read that
// sees it receives. Guide, "Atomic Functions": atomics are relaxed, and no fences.

// PTX ISA, "Release and Acquire Patterns": without a fence the atomic does not publish the write before it.
__global__ void message(float *box, int *flag, float *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *box = 2.5f;
    __threadfence(); // legal
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *out = *box;
  }
}

// PTX ISA, "Release and Acquire Patterns": the reader wants a fence as well.
__global__ void message_in(double2 *box, unsigned *flag, double2 *out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      box->x = 1.0;
      box->y = 2.0;
      __threadfence();
      atomicOr(flag, 0x10u);
    }
  } else if (threadIdx.x == 0) {
    while ((atomicOr(flag, 0u) & 0x10u) == 0u)
      ;
    __threadfence(); // legal
    out[blockIdx.x] = *box;
  }
}

// Guide, "Memory Fence Functions": a fence orders what stands before it against what stands after it.
__global__ void fence_too_late(int *data, int *flag, int *out) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t + 1;
    __threadfence();          // legal
    atomicAdd(&flag[t], 1);
    __threadfence();          // faulty
  } else {
    while (atomicCAS(&flag[t], 1, 2) != 1) {
    }
    __threadfence();
    out[t] = data[t];
  }
}

// Guide, "Memory Fence Functions": __threadfence_block() orders for the threads of the block only.
__global__ void fence_of_block(long long *data, volatile int *flag, long long *out) {
  if (blockIdx.x == 0 && threadIdx.x == 3) {
    data[0] = 77;
    __threadfence();       // legal
    __threadfence_block(); // faulty
    *flag = 1;
  }
  if (blockIdx.x == 1 && threadIdx.x == 3) {
    while (*flag == 0) {
    }
    __threadfence();
    out[0] = data[0];
  }
}

// Guide, "Memory Fence Functions": a volatile flag does not carry the plain data with it.
__global__ void volatile_flag(const short *in, short *data, volatile int *flag, short *out, int n) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    for (int i = t; i < n; i += blockDim.x) data[i] = in[i] * 2;
    __syncthreads();
    if (t == 0) {
      __threadfence(); // legal
      *flag = 1;
    }
  } else {
    if (t == 0) {
      while (*flag != 1) {
      }
      __threadfence();
    }
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) out[i] = data[n - 1 - i];
  }
}

// Guide, "Synchronization Functions": thread 0 may only speak for the block after a __syncthreads().
__global__ void speaks_too_early(float *part, unsigned *ready, float *out) {
  if (blockIdx.x == 0) {
    part[threadIdx.x] = threadIdx.x * 0.5f;
    __syncthreads(); // legal
    if (threadIdx.x == 0) {
      __threadfence();
      atomicInc(ready, 100u);
    }
  } else {
    if (threadIdx.x == 0) {
      while (atomicMax(ready, 0u) == 0u) {
      }
      __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x ^ 33];
  }
}

// Guide, "Memory Fence Functions", the sum of an array: each block's sum is fenced before the count.
__device__ unsigned int count = 0;

template <int Threads> __global__ void sum_last_block(const float *in, unsigned n, volatile float *result) {
  __shared__ float s[Threads];
  __shared__ bool last;
  float mine = 0;
  for (unsigned i = blockIdx.x * Threads + threadIdx.x; i < n; i += gridDim.x * Threads) mine += in[i];
  s[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < Threads; i++) mine += s[i];
    result[blockIdx.x] = mine;
    __threadfence(); // legal
    unsigned value = atomicInc(&count, gridDim.x);
    last = value == gridDim.x - 1;
    __threadfence(); // legal
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (unsigned i = 0; i < gridDim.x; i++) total += result[i]; // legal
    float *plain = const_cast<float *>(result);                  // faulty
    for (unsigned i = 0; i < gridDim.x; i++) total += plain[i];  // faulty
    result[0] = total;
    count = 0;
  }
}

// PTX ISA, "Release and Acquire Patterns": the last block's ticket is relaxed; its readers want a fence after it.
__global__ void last_block_reads(int *parts, unsigned *tickets, int *total) {
  __shared__ unsigned ticket;
  parts[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    ticket = atomicAdd(tickets, 1u);
    __threadfence(); // legal
  }
  __syncthreads();
  if (ticket + 1 == gridDim.x) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++) sum += parts[b * blockDim.x + threadIdx.x];
    total[threadIdx.x] = sum;
  }
}

class Lock {
public:
  __device__ explicit Lock(int *m) : mutex(m) {}
  __device__ void lock() {
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    __threadfence();
  }
  __device__ void unlock() {
    __threadfence(); // legal
    atomicExch(mutex, 0);
  }

private:
  int *mutex;
};

// Guide, "Memory Fence Functions": a lock is released by a fence and then the exchange.
__global__ void lock_class(int *mutex, double *sum, double *history) {
  if (threadIdx.x == 0) {
    Lock guard(mutex);
    guard.lock();
    *sum = *sum + blockIdx.x;
    history[blockIdx.x] = *sum;
    guard.unlock();
  }
}

// PTX ISA, "Release and Acquire Patterns": whoever has taken the lock fences before it reads what the lock guards.
__global__ void lock_taken(int *mutex, int *counter) {
  bool done = threadIdx.x != 0;
  while (!done) {
    if (atomicCAS(mutex, 0, 1) == 0) {
      __threadfence(); // legal
      counter[0] += 1;
      __threadfence();
      atomicExch(mutex, 0);
      done = true;
    }
  }
}

// PTX ISA, "Release and Acquire Patterns": a ticket lock's turn is published like any other flag.
__global__ void ticket_lock(unsigned *next, volatile unsigned *serving, long long *account) {
  if (threadIdx.x + threadIdx.y + threadIdx.z) return;
  unsigned mine = atomicAdd(next, 1u);
  while (*serving != mine) {
  }
  __threadfence();
  *account = *account * 3 + 1;
  __threadfence(); // legal
  *serving = mine + 1;
}

// PTX ISA, "Release and Acquire Patterns": a chain of blocks hands its prefix on by fence, flag, fence.
__global__ void chained_scan(const int *in, int *out, int *prefix, volatile int *state) {
  __shared__ int before;
  int b = blockIdx.x, t = threadIdx.x, i = b * blockDim.x + t;
  if (t == 0) {
    int sum = 0;
    for (int k = 0; k < blockDim.x; k++) sum += in[b * blockDim.x + k];
    int carry = 0;
    if (b > 0) {
      while (state[b - 1] == 0) {
      }
      __threadfence();
      carry = prefix[b - 1];
    }
    prefix[b] = carry + sum;
    __threadfence(); // legal
    state[b] = 1;
    before = carry;
  }
  __syncthreads();
  out[i] = before + in[i];
}

// PTX ISA, "Memory Consistency Model", .release: a relaxed store publishes nothing but itself.
__global__ void nv_release(int *data, int *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 41;
    data[1] = 42;
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE); // legal
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); // faulty
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {
    }
    out[0] = data[0] + data[1];
  }
}

// PTX ISA, "Memory Consistency Model", .acquire: a relaxed load that sees a release receives nothing but the value.
__global__ void nv_acquire(float4 *data, int *flag, float4 *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = make_float4(1, 2, 3, 4);
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) { // legal
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) == 0) { // faulty
    }
    *out = *data;
  }
}

// PTX ISA, "Release and Acquire Patterns": __nv_atomic_thread_fence() is a fence of the scope that it names.
__global__ void nv_fence(unsigned char *data, unsigned *flag, unsigned char *out) {
  if (blockIdx.x == 1) {
    data[threadIdx.x] = 200;
    __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE); // legal
    __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);  // faulty
    __nv_atomic_fetch_add(flag, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) != blockDim.x) {
    }
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    out[threadIdx.x] = data[(threadIdx.x + 1) % blockDim.x];
  }
}

// Guide, "Memory Fence Functions": two warps of a block that meet by a flag in shared memory want fences, too.
__global__ void warps_by_flag(int *out) {
  __shared__ int data[32];
  __shared__ volatile int full;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    data[lane] = lane * 4;
    __threadfence_block();                       // legal
    __syncwarp();
    if (lane == 0) {
      __threadfence_block();                     // legal
      full = 1;
    }
  } else {
    while (full == 0) {
    }
    __threadfence_block();
    out[lane] = data[31 - lane];
  }
}

// PTX ISA, "Causality Order": it is transitive, over a block in the middle that fences on both sides.
__global__ void relay(int *data, int *first, int *second, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 5;
    __threadfence();
    atomicExch(first, 1);
  } else if (blockIdx.x == 1) {
    while (atomicAdd(first, 0) == 0) {
    }
    __threadfence(); // legal
    atomicExch(second, 1);
  } else {
    while (atomicAdd(second, 0) == 0) {
    }
    __threadfence();
    *out = *data;
  }
}
