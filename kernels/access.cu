// SPDX-License-Identifier: MIT
//
// access: how a kernel reads and writes, and where it keeps what it uses more than once.
//
// The ladders
//   which elements   strided            neighbouring threads are `stride` elements apart
//                    shifted            the first thread of a warp is `offset` elements into a line
//   how many bytes   by<T>              one access of sizeof(T) bytes per thread: 1 to 16
//   how many at once in_order           a load, its store, the next load; in_order_restrict: arrays do not overlap
//                    loads_first        all loads of a step, then its stores
//   halves           half_steps, half2_steps, float_steps: v = a * v + b in f16, in pairs, and in f32 between
//   constants        polynomial<P, OWN>       coefficients in the code, in constant, global or shared memory; all
//                        threads read the same one, or (OWN) each lane reads its own
//                    in_place, in_place_restrict       the sum is kept in y[i]
//   small arrays     product_registers<M>       loops that the compiler unrolls
//                    product_local              a loop to m, known at run time: the array is in local memory
//                    product_shared<BY_ROW> in shared memory, a row or a column per thread
//
// Bound: main memory, as of a copy: each element is read once and written once, T_tot = 2 * bytes(x) / t. Memory is
// read by sectors of 32 bytes: of strided by 8 floats and more, 4 of each 32 bytes are used. Of in_order and
// loads_first threads * loads are in flight; halves and constants may be bound by arithmetic or by the path to these.
//
// Sources: M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford; undated, the latest year named is 2023):
// lecture 2, p. 12 (strides), 16 to 18 (constants), 22 to 25 (arrays), 28 (restrict), 29 (bytes, halves), 31 (at once).

#include <cuda_fp16.h>

enum { LITERAL, CONSTANT, GLOBAL, SHARED };

const int TERMS = 64; // of a polynomial
const int LANES = 32; // coefficients of one power, one for each lane

__constant__ float terms_constant[TERMS * LANES];
__constant__ float matrix[16 * 16];

// ---- device helpers -------------------------------------------------------------------------------------------------

#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS ((size_t)gridDim.x * blockDim.x)

// ---- which elements -------------------------------------------------------------------------------------------------

// blockIdx.y is a walk through the array in steps of `stride`. The next walk begins far from this one: its sectors have
// left the caches by then.
__global__ void strided(float *y, const float *x, int n, int stride) {
  size_t i = INDEX * stride + blockIdx.y * 619 % stride;
  if (i < n) y[i] = x[i];
}

__global__ void shifted(float *y, const float *x, int n, int offset) {
  size_t i = INDEX + offset;
  if (INDEX < n) {
    if (i >= n) i -= n;
    y[i] = x[i];
  }
}

// ---- how many bytes -------------------------------------------------------------------------------------------------

template <typename T> __global__ void by(float *y, const float *x, int n) {
  size_t whole = n * sizeof(float) / sizeof(T);
  if (INDEX < whole) {
    ((T *)y)[INDEX] = ((const T *)x)[INDEX];
  } else if (INDEX == whole) { // fewer floats than an access has
    for (size_t i = whole * sizeof(T) / sizeof(float); i < n; i++) y[i] = x[i];
  }
}

// ---- how many at once -----------------------------------------------------------------------------------------------

// A step of all threads is LOADS times as long as the grid; the rest is copied one element at a time.
template <int LOADS> __global__ void in_order(float *y, const float *x, int n) {
  size_t i = INDEX, step = THREADS;
#pragma unroll 1
  for (; i + (LOADS - 1) * step < n; i += LOADS * step) {
#pragma unroll
    for (int k = 0; k < LOADS; k++) y[i + k * step] = x[i + k * step];
  }
  for (; i < n; i += step) y[i] = x[i];
}

template <int LOADS> __global__ void in_order_restrict(float *__restrict__ y, const float *__restrict__ x, int n) {
  size_t i = INDEX, step = THREADS;
#pragma unroll 1
  for (; i + (LOADS - 1) * step < n; i += LOADS * step) {
#pragma unroll
    for (int k = 0; k < LOADS; k++) y[i + k * step] = x[i + k * step];
  }
  for (; i < n; i += step) y[i] = x[i];
}

template <int LOADS> __global__ void loads_first(float *y, const float *x, int n) {
  size_t i = INDEX, step = THREADS;
#pragma unroll 1
  for (; i + (LOADS - 1) * step < n; i += LOADS * step) {
    float a[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; k++) a[k] = x[i + k * step];
#pragma unroll
    for (int k = 0; k < LOADS; k++) y[i + k * step] = a[k];
  }
  for (; i < n; i += step) y[i] = x[i];
}

// ---- halves ---------------------------------------------------------------------------------------------------------

__global__ void half_steps(__half *y, const __half *x, int n, float a, float b, int steps) {
  if (INDEX >= n) return;
  __half v = x[INDEX], by = __float2half(a), add = __float2half(b);
  for (int k = 0; k < steps; k++) v = __hfma(v, by, add);
  y[INDEX] = v;
}

// Two elements per thread; if n is odd, the last thread has one.
__global__ void half2_steps(__half *y, const __half *x, int n, float a, float b, int steps) {
  size_t i = 2 * INDEX;
  if (i >= n) return;
  bool is_pair = i + 1 < n;
  __half2 v = is_pair ? ((const __half2 *)x)[INDEX] : __half2half2(x[i]);
  __half2 by = __float2half2_rn(a), add = __float2half2_rn(b);
  for (int k = 0; k < steps; k++) v = __hfma2(v, by, add);
  if (is_pair) ((__half2 *)y)[INDEX] = v;
  else y[i] = __low2half(v);
}

__global__ void float_steps(__half *y, const __half *x, int n, float a, float b, int steps) {
  if (INDEX >= n) return;
  float v = __half2float(x[INDEX]);
  for (int k = 0; k < steps; k++) v = v * a + b;
  y[INDEX] = __float2half(v);
}

// ---- constants ------------------------------------------------------------------------------------------------------

// The highest power comes first. Column j of the coefficients is (1 + j / LANES) times the first one.
template <int PLACE, bool OWN>
__global__ void polynomial(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ terms, int n) {
  __shared__ float copy[PLACE == SHARED ? TERMS * LANES : 1];
  if (PLACE == SHARED) {
    for (int t = threadIdx.x; t < TERMS * LANES; t += blockDim.x) copy[t] = terms[t];
    __syncthreads();
  }
  int column = OWN ? threadIdx.x % LANES : 0;
  for (size_t i = INDEX; i < n; i += THREADS) {
    float sum = 0, at = x[i];
#pragma unroll
    for (int k = 0; k < TERMS; k++) {
      int j = k * LANES + column;
      float literal = (k % 2 ? -1.0f : 1.0f) / (k + 1);
      float term = PLACE == LITERAL    ? literal
                   : PLACE == CONSTANT ? terms_constant[j]
                   : PLACE == GLOBAL   ? terms[j]
                                       : copy[j];
      sum = sum * at + term;
    }
    y[i] = sum;
  }
}

// Without restrict y[i] may be a coefficient or x[i]: each step stores it, and reads all three again.
__global__ void in_place(float *y, const float *x, const float *terms, int n) {
  for (size_t i = INDEX; i < n; i += THREADS) {
    y[i] = 0;
    for (int k = 0; k < TERMS; k++) y[i] = y[i] * x[i] + terms[k * LANES];
  }
}

__global__ void in_place_restrict(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ terms,
                                  int n) {
  for (size_t i = INDEX; i < n; i += THREADS) {
    y[i] = 0;
    for (int k = 0; k < TERMS; k++) y[i] = y[i] * x[i] + terms[k * LANES];
  }
}

// ---- small arrays ---------------------------------------------------------------------------------------------------

// y = A x for the m values of each of n points: x(i, j) is x[j * n + i], A is in constant memory.
template <int M> __global__ void product_registers(float *__restrict__ y, const float *__restrict__ x, int n) {
  size_t i = INDEX;
  if (i >= n) return;
  float u[M];
#pragma unroll
  for (int j = 0; j < M; j++) u[j] = x[j * (size_t)n + i];
#pragma unroll
  for (int k = 0; k < M; k++) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j < M; j++) sum += matrix[k * 16 + j] * u[j];
    y[k * (size_t)n + i] = sum;
  }
}

__global__ void product_local(float *__restrict__ y, const float *__restrict__ x, int n, int m) {
  size_t i = INDEX;
  if (i >= n) return;
  float u[16];
  for (int j = 0; j < m; j++) u[j] = x[j * (size_t)n + i];
  for (int k = 0; k < m; k++) {
    float sum = 0;
    for (int j = 0; j < m; j++) sum += matrix[k * 16 + j] * u[j];
    y[k * (size_t)n + i] = sum;
  }
}

// The array of a thread is a column of `u`, whose rows are in different banks for the threads of a warp; or a row,
// whose beginnings are m banks apart.
template <bool BY_ROW>
__global__ void product_shared(float *__restrict__ y, const float *__restrict__ x, int n, int m) {
  extern __shared__ float u[];
  size_t i = INDEX;
  if (i >= n) return; // each thread uses only what it has written: no barrier
  int first = BY_ROW ? threadIdx.x * m : threadIdx.x, next = BY_ROW ? 1 : blockDim.x;
  for (int j = 0; j < m; j++) u[first + j * next] = x[j * (size_t)n + i];
  for (int k = 0; k < m; k++) {
    float sum = 0;
    for (int j = 0; j < m; j++) sum += matrix[k * 16 + j] * u[first + j * next];
    y[k * (size_t)n + i] = sum;
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// strided      block b, grid {ceil(ceil(n / stride) / b), stride}
// by<T>        block b, grid ceil(n * sizeof(float) / sizeof(T) / b)
// in_order, in_order_restrict, loads_first, polynomial, in_place, in_place_restrict: any; they take steps of the grid
// polynomial<CONSTANT, ...>, product_...: terms_constant and matrix are set first; a block is a multiple of LANES
// product_shared   block * m * sizeof(float) bytes of shared memory
// The others take one element per thread, half2_steps two.
