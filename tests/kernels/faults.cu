// SPDX-License-Identifier: MIT
//
// faults: kernels that break a rule, one each.

#include <assert.h>

// Element `at` of x, whatever its size.
__global__ void write_at(float *x, long long at) { x[at] = 1.0f; }

__global__ void read_at(float *out, const float *x, long long at) { out[0] = x[at]; }

// Only one thread of one block goes wrong.
__global__ void one_thread(int *x, long long far) {
  if (blockIdx.x == 2 && threadIdx.x == 5) x[far] = 1;
  else x[blockIdx.x * blockDim.x + threadIdx.x] = 0;
}

__global__ void barrier_and_fault(int *x, long long far) {
  __shared__ int part[32];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 3) x[far] = part[0];
}

__global__ void null_pointer(int *x, int *nowhere) { nowhere[threadIdx.x] = x[0]; }

__global__ void divergent(int *x) {
  if (threadIdx.x < 16) {
    __syncthreads();
    x[threadIdx.x] = 1;
  } else {
    x[threadIdx.x] = 2;
    __syncthreads();
  }
}

__global__ void divide(int *x, int by) { x[threadIdx.x] = x[threadIdx.x] / by; }

__device__ int forever(int *x, int depth) {
  int here[64];
  for (int i = 0; i < 64; i++) here[i] = x[0] + depth + i;
  int below = x ? forever(x, depth + 1) : 0;
  return below + here[below & 63];
}

__global__ void recursion(int *x) { x[1] = forever(x, 0); }

__global__ void trap(int *x) {
  if (threadIdx.x == 7) __trap();
  x[threadIdx.x] = 1;
}

__global__ void asserted(int *x, int limit) {
  assert((int)threadIdx.x < limit);
  x[threadIdx.x] = 1;
}

__global__ void works(int *x) { x[threadIdx.x] = threadIdx.x + 1; }

__global__ void once(int *x, int at) {
  if (atomicExch(x, 1) == 0) x[at] = 1;
}

// Jumps over any guard page; the last barrier is for fibers only.
__global__ void large_array(int *x, int at) {
  volatile float local[100000];
  local[at] = 1;
  __syncthreads();
  x[threadIdx.x] = (int)local[at];
  if (x[0] < 0) __syncthreads();
}

__global__ void constant_null(int *x) {
  int *nowhere = nullptr;
  if (threadIdx.x == 2) *nowhere = x[0];
  x[threadIdx.x] = 1;
}

__global__ void large_plain(int *x, int at) {
  volatile float local[30000000];
  local[at] = 1;
  x[0] = (int)local[at];
}
