// SPDX-License-Identifier: MIT
//
// Twenty kernels whose bound an experiment shows, each with its control: set.lua has the launches and the causes.
// Inputs are ones, so that each result is one number that the script knows.

enum { EACH = 16, ROW = 32 };

__device__ __forceinline__ size_t own() {
  return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- memories -------------------------------------------------------------------------------------------------------

template <class T> __global__ void copy(T *y, const T *x) {
  y[own()] = x[own()];
}

// A polynomial of the degree OPS by Horner's rule, of elements that are stored as S.
template <class S, int OPS> __global__ void polynomial(S *y, const S *x) {
  const float a = (float)x[own()];
  float s = 0;
#pragma unroll
  for (int k = 0; k < OPS; k++) s = s * a + 1.0f;
  y[own()] = (S)s;
}

// Sums of EACH reads, `times` over, of mask + 1 numbers that all blocks read.
__global__ void window(float *y, const float *x, unsigned mask, int times) {
  float sum = 0;
  for (int r = 0; r < times; r++) {
#pragma unroll
    for (int k = 0; k < EACH; k++)
      sum += x[((blockIdx.x * 7 + r) * EACH * blockDim.x + k * blockDim.x + threadIdx.x) & mask];
  }
  y[own()] = sum;
}

__global__ void strided(float *y, const float *x, unsigned stride, unsigned n) {
  const unsigned i = (unsigned)own(), each = n / stride;
  y[i] = x[(i % each) * stride + i / each];
}

// Each thread copies many elements, a grid apart.
__global__ void stride_copy(float *y, const float *x, unsigned n) {
#pragma unroll 1
  for (unsigned i = (unsigned)own(); i < n; i += gridDim.x * blockDim.x) y[i] = x[i];
}

// A list whose next element is far away; all lanes of a block follow the same one.
__global__ void ring(unsigned *next, unsigned step, unsigned n) {
  const unsigned i = (unsigned)own();
  if (i < n) next[i] = (i + step) % n;
}

__global__ void chase(float *y, const unsigned *next, unsigned n, int steps) {
  unsigned at = blockIdx.x * 9973 % n;
#pragma unroll 1
  for (int k = 0; k < steps; k++) at = next[at];
  y[own()] = (float)(at < 0xffffffffu);
}

// ---- shared memory --------------------------------------------------------------------------------------------------

// EACH sums per round; REUSE of them are of one number that is read once. Each read is made: the tile is volatile.
template <int REUSE> __global__ void shared_sum(float *y, float one, int times) {
  __shared__ volatile float s[EACH * 16 + 1024];
  for (int k = threadIdx.x; k < EACH * 16 + 1024; k += blockDim.x) s[k] = one;
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < times; r++) {
#pragma unroll
    for (int k = 0; k < EACH / REUSE; k++) {
      const float v = s[threadIdx.x + 16 * k];
#pragma unroll
      for (int u = 0; u < REUSE; u++) sum = sum * one + v;
    }
  }
  y[own()] = sum;
}

// Lanes read down a column of a tile whose rows are WIDTH words.
template <int WIDTH> __global__ void columns(float *y, float one, int times) {
  __shared__ float s[ROW][WIDTH];
  const int lane = threadIdx.x % ROW;
  for (int k = threadIdx.x / ROW; k < ROW; k += blockDim.x / ROW) s[k][lane] = one;
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < times; r++) {
#pragma unroll
    for (int k = 0; k < EACH; k++) sum += s[lane][(r + k + threadIdx.x / ROW) % ROW];
  }
  y[own()] = sum;
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

template <class T, int CHAINS> __device__ __forceinline__ void write_sum(float *y, const T (&x)[CHAINS]) {
  T sum = 0;
#pragma unroll
  for (int c = 0; c < CHAINS; c++) sum += x[c];
  y[own()] = (float)sum;
}

// Chains of multiply-adds; with a = 1 and b = 0 each stays 1.
template <class T, int CHAINS> __global__ void chains(float *y, T a, T b, int steps) {
  T x[CHAINS];
#pragma unroll
  for (int c = 0; c < CHAINS; c++) x[c] = a;
#pragma unroll 4
  for (int k = 0; k < steps; k++) {
#pragma unroll
    for (int c = 0; c < CHAINS; c++) x[c] = a * x[c] + b;
  }
  write_sum(y, x);
}

// The same as two instructions each.
template <int CHAINS> __global__ void unfused(float *y, float a, float b, int steps) {
  float x[CHAINS];
#pragma unroll
  for (int c = 0; c < CHAINS; c++) x[c] = a;
#pragma unroll 4
  for (int k = 0; k < steps; k++) {
#pragma unroll
    for (int c = 0; c < CHAINS; c++) x[c] = __fadd_rn(__fmul_rn(a, x[c]), b);
  }
  write_sum(y, x);
}

template <bool IS_ROOT> __global__ void special(float *y, float one, int steps) {
  float x[8];
#pragma unroll
  for (int c = 0; c < 8; c++) x[c] = one;
#pragma unroll 4
  for (int k = 0; k < steps; k++) {
#pragma unroll
    for (int c = 0; c < 8; c++) x[c] = IS_ROOT ? rsqrtf(x[c]) : one * x[c];
  }
  write_sum(y, x);
}

// Threads whose number shifted by `by` is odd take one path, the others another.
__global__ void divergent(float *y, float a, float b, int steps, int by) {
  float x[8];
#pragma unroll
  for (int c = 0; c < 8; c++) x[c] = a;
  if ((threadIdx.x >> by) & 1) {
#pragma unroll 2
    for (int k = 0; k < steps; k++) {
#pragma unroll
      for (int c = 0; c < 8; c++) x[c] = a * x[c] + b;
    }
  } else {
#pragma unroll 2
    for (int k = 0; k < steps; k++) {
#pragma unroll
      for (int c = 0; c < 8; c++) x[c] = x[c] * x[c] + b;
    }
  }
  write_sum(y, x);
}

// ---- atomics --------------------------------------------------------------------------------------------------------

// Each thread adds `each` ones, SUM of them at a time, to counters of which there are mask + 1.
template <int SUM> __global__ void count(float *counts, const float *x, unsigned mask, int each) {
  const unsigned threads = gridDim.x * blockDim.x;
#pragma unroll 1
  for (int k = 0; k < each; k += SUM) {
    float sum = 0;
#pragma unroll
    for (int u = 0; u < SUM; u++) sum += x[(threadIdx.x + k + u) & 1023];
    atomicAdd(&counts[((unsigned)own() + k / SUM * threads) & mask], sum);
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// copy, polynomial  a thread per element; polynomial: y = OPS
// window, strided   x of ones; n a multiple of the stride
// chase             next: ring of n; y = 1
// shared_sum        blocks of 1024 at most; one = 1: y = EACH times
// columns           blocks of a multiple of 32: y = EACH times
// chains, special   a = one = 1, b = 0: y = CHAINS, 8
// count             x: 1024 ones; each counter is threads * each / (mask + 1)
