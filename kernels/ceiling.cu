// SPDX-License-Identifier: MIT
//
// ceiling: what a device's memories, arithmetic and queues give at most, for dev:ceiling and a roofline.
//
// The ladder
//   v1 write, copy, triad   B = s, B = A, B = A + s C; a V per thread: an f64, which a CPU vectorises over its
//                           threads, or a pair, a GPU's 16-byte access
//   v2 read                 sums of EACH reads per thread, TIMES over: mask + 1 different ones
//   v3 shared               the same from shared memory
//   v4 chains               CHAINS independent chains of multiply-adds per thread, `steps` long
//   v5 roots                the same of reciprocal square roots
//   v6 count                an atomic addition per thread, to one of mask + 1 numbers
//   v7 nothing              a launch, and the beginning of blocks
//
// Bound: v1, v2 the memory that holds the data: 2^run consecutive blocks have a window of 2^span pieces, which they
// read and write again and again; T_tot = bytes that all threads access / t; v4 2 CHAINS steps per thread, no reads.
// The roofline is that of S. Williams, A. Waterman and D. Patterson, "Roofline: an insightful visual performance model
// for multicore architectures", 2009; the triad is STREAM's (J. D. McCalpin, 1995); footprints are as in the Empirical
// Roofline Toolkit (Y. J. Lo et al., 2014).

// ---- device helpers -------------------------------------------------------------------------------------------------

enum { EACH = 16, POOL = 1024 };

// The piece of the data that a block has: 2^run consecutive blocks have 2^span pieces of their own. As a function it
// would keep the CPU's compiler from vectorising over threads, and its rates would be a quarter.
#define PIECE(run, span) (((size_t)(blockIdx.x >> run) << span) + (blockIdx.x & ((1u << span) - 1)))

// Two f64 as one access.
struct alignas(16) pair {
  double x, y;
  pair() = default;
  __device__ __forceinline__ explicit pair(double s) : x(s), y(s) {}
  __device__ __forceinline__ pair(double a, double b) : x(a), y(b) {}
};

__device__ __forceinline__ pair operator+(pair a, pair b) {
  return pair(a.x + b.x, a.y + b.y);
}

__device__ __forceinline__ pair operator*(double s, pair a) {
  return pair(s * a.x, s * a.y);
}

__device__ __forceinline__ double total(double a) {
  return a;
}

__device__ __forceinline__ double total(pair a) {
  return a.x + a.y;
}

// A chain can start its next step only when the last one is done, so many must run side by side to hide that.
template <class T, int CHAINS> __device__ __forceinline__ void step(T (&x)[CHAINS], T a, T b) {
#pragma unroll
  for (int c = 0; c < CHAINS; c++) x[c] = a * x[c] + b;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

template <class V> __global__ void write(double *B, double s, int run, int span) {
  ((V *)B)[PIECE(run, span) * blockDim.x + threadIdx.x] = V(s);
}

template <class V> __global__ void copy(double *B, const double *A, int run, int span) {
  const size_t i = PIECE(run, span) * blockDim.x + threadIdx.x;
  ((V *)B)[i] = ((const V *)A)[i];
}

template <class V>
__global__ void triad(double *B, const double *A, const double *C, double s, int run, int span) {
  const size_t i = PIECE(run, span) * blockDim.x + threadIdx.x;
  ((V *)B)[i] = ((const V *)A)[i] + s * ((const V *)C)[i];
}

// mask is not known to the compiler, which would leave out what is read twice.
template <class V, int TIMES>
__global__ void read(double *sums, const double *A, int mask, int run, int span) {
  const size_t place = PIECE(run, span);
  const V *a = (const V *)A + place * (mask + 1) * blockDim.x;
  const unsigned t = threadIdx.x, n = blockDim.x;
  V sum(0.0);
#pragma unroll 1
  for (int r = 0; r < TIMES; r++) {
#pragma unroll
    for (int k = 0; k < EACH; k++) sum = sum + a[((r + k) & mask) * n + t];
  }
  sums[place * n + t] = total(sum);
}

template <class V> __global__ void shared(double *sums, double one, int mask, int times) {
  __shared__ V s[POOL];
  for (int k = threadIdx.x; k < POOL; k += blockDim.x) s[k] = V(one);
  __syncthreads();
  V sum(0.0);
  for (int r = 0; r < times; r++) {
#pragma unroll
    for (int k = 0; k < EACH; k++) sum = sum + s[threadIdx.x + ((r + k) & mask) * blockDim.x];
  }
  sums[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = total(sum);
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

// With a = b = 1, which the compiler does not know, each chain counts its steps: the sum shows that none was left out.
template <class T, int CHAINS> __global__ void chains(T *sums, T a, T b, int steps) {
  T x[CHAINS];
#pragma unroll
  for (int c = 0; c < CHAINS; c++) x[c] = (T)c;
#pragma unroll 4
  for (int k = 0; k < steps; k++) step<T, CHAINS>(x, a, b);
  T sum = 0;
#pragma unroll
  for (int c = 0; c < CHAINS; c++) sum += x[c];
  sums[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// With one = 1 each stays what it is.
template <int CHAINS> __global__ void roots(float *sums, float one, int steps) {
  float x[CHAINS], sum = 0;
#pragma unroll
  for (int c = 0; c < CHAINS; c++) x[c] = one;
#pragma unroll 4
  for (int k = 0; k < steps; k++) {
#pragma unroll
    for (int c = 0; c < CHAINS; c++) x[c] = rsqrtf(x[c]);
  }
#pragma unroll
  for (int c = 0; c < CHAINS; c++) sum += x[c];
  sums[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ---- queues ---------------------------------------------------------------------------------------------------------

__global__ void count(unsigned *counts, unsigned mask) {
  atomicAdd(&counts[(blockIdx.x * blockDim.x + threadIdx.x) & mask], 1u);
}

__global__ void nothing() {}

// ---- host notes -----------------------------------------------------------------------------------------------------
// write, copy, triad  block 256; arrays of windows * 2^span * 256 V; grid windows * 2^run; all of the
//                     blocks in one window: run and span 31
// read                the same; A is mask + 1 times as large (mask: 2^k - 1, at most 15); sums EACH TIMES f64 of V
// shared              block 256, mask at most 3; sums EACH times f64 of V
// chains, roots       block 256, a few blocks per multiprocessor; sums one per thread: CHAINS (CHAINS - 1) / 2 + CHAINS *
//                     steps, and CHAINS
// count               any; counts: mask + 1 zeros, mask: 2^k - 1
