// SPDX-License-Identifier: MIT
//
// Legal twins that look wrong at first. A line that ends in "// legal" or "// faulty" is in that twin only.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Guide, "SIMT Architecture": since Volta a lane may wait for another one of its warp, with fences like any thread.
__global__ void lane_waits(int *out) {
  __shared__ volatile int turn;
  __shared__ int cell;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  if (threadIdx.x == 7) {
    cell = 70;
    __threadfence_block(); // legal
    turn = 1;
  } else if (threadIdx.x == 2) {
    while (turn == 0) {
    }
    __threadfence_block();
    out[0] = cell;
  }
}

struct Tagged {
  char tag;
  int value;
};

// C++, [class.copy.assign]: a struct's padding is copied along, and need not be set; its members are read.
__global__ void padded_copy(Tagged *out) {
  __shared__ Tagged box[32];
  int t = threadIdx.x;
  box[t].tag = (char)t;
  box[t].value = t * t;              // legal
  if (t != 9) box[t].value = t * t;  // faulty
  __syncthreads();
  Tagged got = box[31 - t];
  out[t].tag = got.tag;
  out[t].value = got.value;
}

// C++, [intro.memory]: lanes that write the bytes of a word share nothing; who reads the word wants a barrier.
__global__ void bytes_make_words(unsigned *out) {
  __shared__ __align__(16) unsigned char bytes[128];
  bytes[threadIdx.x] = (unsigned char)(threadIdx.x + 1);
  __syncthreads(); // legal
  if (threadIdx.x < 8) {
    uint4 v = reinterpret_cast<uint4 *>(bytes)[threadIdx.x];
    out[threadIdx.x] = v.x ^ v.y ^ v.z ^ v.w;
  }
}

// C++, [expr.add]: a pointer behind the last element may be made and compared, not read.
__global__ void reverse_walk(const int *in, int *out, int n) {
  const int *p = in + n;
  unsigned sum = 0;
  while (p != in) sum = sum * 3 + *--p; // legal
  while (p != in) sum = sum * 3 + *p--; // faulty
  out[threadIdx.x] = sum;
}

// Guide, "Synchronization Functions": __syncthreads_and() is a barrier that all threads leave with the same answer.
__global__ void settle(int *io) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = io[t];
  for (int k = 0; k < 100; k++) {
    bool done = s[t] <= 0;
    if (__syncthreads_and(done)) break; // legal
    __syncwarp();                       // faulty
    if (__all_sync(~0u, done)) break;   // faulty
    if (!done) s[t]--;
    if (t == 0) s[63] = max(s[63] - 1, 0); // faulty
  }
  __syncthreads();
  io[t] = s[t ^ 1];
}

union Scratch {
  float sums[32];
  int places[64];
};

// Guide, "Synchronization Functions": shared memory that two phases use in turn wants a barrier between them.
__global__ void reused(const float *in, float *out) {
  __shared__ Scratch u;
  int t = threadIdx.x;
  u.places[t] = (t * 5) % 64;
  __syncthreads();
  int from = u.places[t ^ 32];
  __syncthreads(); // legal
  if (t < 32) u.sums[t] = in[from];
  __syncthreads();
  out[t] = u.sums[t % 32] + from;
}

// PTX ISA, "Conflict and Data-races": a lock-free pair is read again until its number is the same, all by atomics.
__global__ void seqlock(unsigned *number, int *pair, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 1) {
    atomicAdd(number, 1u);
    __threadfence();
    atomicExch(&pair[0], 11);
    atomicExch(&pair[1], 22);
    __threadfence();
    atomicAdd(number, 1u);
  } else {
    unsigned before, after;
    int a, b;
    do {
      before = __nv_atomic_load_n(number, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      __threadfence();
      a = atomicAdd(&pair[0], 0); // legal
      b = atomicAdd(&pair[1], 0); // legal
      a = pair[0];                // faulty
      b = pair[1];                // faulty
      __threadfence();
      after = __nv_atomic_load_n(number, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    } while (before != after || (before & 1u) != 0u);
    out[0] = a;
    out[1] = b;
  }
}

// Guide, "Atomic Functions": an atomic counter gives each thread a place of its own.
template <typename T> __global__ void compact(const T *in, T *out, int *n, T least) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] >= least) {
    int at = atomicAdd(n, 1); // legal
    int at = (*n)++;          // faulty
    out[at] = in[i];
  }
}

// Guide, "Thread Hierarchy": x + y * Dx + z * Dx * Dy is a thread's number; another formula may give one twice.
__global__ void number_of_thread(int *out) {
  __shared__ int s[4 * 3 * 2];
  int me = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * blockDim.x * blockDim.y; // legal
  int me = threadIdx.x + threadIdx.y * blockDim.y + threadIdx.z * blockDim.x * blockDim.y; // faulty
  s[me] = me * 100 + threadIdx.x;
  out[threadIdx.x + 4 * threadIdx.y + 12 * threadIdx.z] = s[me];
}

// Guide, "Warp Vote Functions": a ballot before the branch names the lanes that take it.
__global__ void ballot_mask(const int *in, int *out) {
  int v = in[threadIdx.x];
  unsigned mask = __ballot_sync(0xffffffffu, v % 3 == 0);
  if (v % 3 == 0) {
    int leader = __ffs(mask) - 1;
    v = __shfl_sync(mask, v, leader);     // legal
    v = __shfl_sync(mask, v, leader + 1); // faulty
  }
  out[threadIdx.x] = v;
}

// PTX ISA, "Release and Acquire Patterns": a lock by acquire and release wants no further fences.
__global__ void nv_lock(int *mutex, double *total) {
  if (threadIdx.x) return;
  int expected = 0;
  while (!__nv_atomic_compare_exchange_n(mutex, &expected, 1, false, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED,
                                         __NV_THREAD_SCOPE_DEVICE))
    expected = 0;
  *total += blockIdx.x;
  __nv_atomic_store_n(mutex, 0, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE); // legal
  __nv_atomic_store_n(mutex, 0, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); // faulty
}

__device__ void look_up(const int *keys, int n, int key, int *at) {
  *at = -1; // legal
  for (int i = 0; i < n; i++)
    if (keys[i] == key) *at = i;
}

// C++, [dcl.init]: a local that a function sets by its address is set only where that function sets it.
__global__ void out_parameter(const int *keys, int n, int *out) {
  int at;
  look_up(keys, n, 3 * threadIdx.x, &at);
  if (at >= 0) out[threadIdx.x] = at;
}

// C++, [dcl.init]: a local struct may be set in part, if only that part is read.
__global__ void part_of_struct(const int *in, float *out) {
  float4 v;
  v.x = in[threadIdx.x];
  v.y = 2 * v.x;
  float4 w = make_float4(v.x, v.y, 0, 0); // legal
  float4 w = make_float4(v.x, v.y, v.z, 0); // faulty
  if (w.z > 1.f) w.x = 0;
  out[threadIdx.x] = w.x + w.y;
}

// Guide, "Synchronization Functions": warps that have exited are not waited for, and nothing of theirs may be read.
__global__ void warps_leave(int *out, int n) {
  __shared__ int s[96];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = t;
  __syncthreads();
  out[t] = s[n - 1 - t]; // legal
  out[t] = s[n - t];     // faulty
}

// Guide, "Grid Synchronization": grid.sync() orders atomics and plain accesses of all blocks alike.
__global__ void count_then_read(const unsigned char *in, int *bins, int *out, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) atomicAdd(&bins[in[i] % 8], 1);
  grid.sync();       // legal
  __syncthreads();   // faulty
  if (threadIdx.x < 8) out[blockIdx.x * 8 + threadIdx.x] = bins[threadIdx.x];
}

// C++, [stmt.goto]: a loop that sets its variable at least once.
__global__ void set_in_loop(const int *next, int *out, int most) {
  int at = threadIdx.x, steps = 0, seen;
  do {                                  // legal
    seen = next[at];                    // legal
    at = seen;                          // legal
  } while (at >= 0 && ++steps < most);  // legal
  while (at > 3 && ++steps < most) {    // faulty
    seen = next[at];                    // faulty
    at = seen;                          // faulty
  }                                     // faulty
  if (seen > 5) steps = -steps;
  out[threadIdx.x] = steps;
}

// Guide, "Shuffle": each lane's registers are its own, so a butterfly over shared cells needs a warp barrier a side.
__global__ void butterfly(float2 *io) {
  __shared__ float2 s[32];
  int lane = threadIdx.x;
  s[lane] = io[lane];
  for (int d = 1; d < 32; d *= 2) {
    __syncwarp();
    float2 other = s[lane ^ d];
    __syncwarp(); // legal
    s[lane] = make_float2(s[lane].x + other.x, s[lane].y - other.y);
  }
  io[lane] = s[lane];
}
