// SPDX-License-Identifier: MIT
//
// balance: how many operations fit into the time that memory takes for a number, and what to compute instead of moving.
//
// The ladders
//   steps<T, K>            y = x after K multiplications and additions, one element per thread
//   steps_wide<T, K>       the same, 16 bytes per thread: as many independent chains as elements
//   the filter 1/16 (1 2 1; 2 4 2; 1 2 1), the product of a row (1 2 1)/4 and a column of the same
//   along_x, along_y       two separable passes, with an array between them; bound: twice the traffic of a copy
//   binomial               one pass, nine values per point; the caches give all but one of them
//   binomial_march<R>      one pass of R rows per thread: the sum along x is made once per row and kept in registers
//
// Bound: max(memory, arithmetic). K steps are 2 K operations per element, which is read once and written once: K
// operations per number moved. The knee is where both bounds are equal: arithmetic rate / memory rate * bytes of a
// number.
//
// Sources: ETH Zurich, "Solving PDEs in parallel on GPUs", lecture 10 (2023): operations per number of a data sheet.
// M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford; undated, the latest year named is 2023): lectures
// 2, p. 10, and 7, p. 13 and 14 (the break-even point); lecture 10, "recompute not transfer" (the filter).

#include "vector16.cuh"

// ---- device helpers -------------------------------------------------------------------------------------------------

#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

// Beyond the edge the filters see the value at the edge.
__device__ const float *row(const float *x, int j, int nx, int ny) { return x + (size_t)max(0, min(j, ny - 1)) * nx; }

__device__ float filter(float before, float here, float after) { return 0.25f * (before + 2 * here + after); }

// The filter along x at point i of a row.
__device__ float across(const float *x, int i, int nx) { return filter(x[max(0, i - 1)], x[i], x[min(i + 1, nx - 1)]); }

// Without a loop, since a CPU vectorises over the threads.
template <int K, typename T> __device__ T after(T v, T a, T b) {
#pragma unroll
  for (int k = 0; k < K; k++) v = v * a + b;
  return v;
}

// ---- steps ----------------------------------------------------------------------------------------------------------

template <typename T, int K> __global__ void steps(T *y, const T *x, T a, T b, int n) {
  size_t i = INDEX;
  if (i < n) y[i] = after<K>(x[i], a, b);
}

// The last thread may have fewer elements than the others.
template <typename T, int K> __global__ void steps_wide(T *y, const T *x, T a, T b, int n) {
  typedef typename vector16<T>::type V;
  const int WIDE = 16 / sizeof(T);
  size_t first = WIDE * INDEX;
  if (first + WIDE <= n) {
    T v[WIDE];
    unpack(((const V *)x)[INDEX], v);
#pragma unroll 20
    for (int k = 0; k < K; k++) {
#pragma unroll
      for (int c = 0; c < WIDE; c++) v[c] = v[c] * a + b;
    }
    ((V *)y)[INDEX] = pack(v);
  } else {
    for (size_t i = first; i < n; i++) y[i] = after<K>(x[i], a, b);
  }
}

// ---- the filter -----------------------------------------------------------------------------------------------------

#define COLUMN (blockIdx.x * blockDim.x + threadIdx.x)
#define ROW (blockIdx.y * blockDim.y + threadIdx.y)

__global__ void along_x(float *y, const float *x, int nx, int ny) {
  int i = COLUMN, j = ROW;
  if (i < nx && j < ny) y[(size_t)j * nx + i] = across(row(x, j, nx, ny), i, nx);
}

__global__ void along_y(float *y, const float *x, int nx, int ny) {
  int i = COLUMN, j = ROW;
  if (i >= nx || j >= ny) return;
  y[(size_t)j * nx + i] = filter(row(x, j - 1, nx, ny)[i], row(x, j, nx, ny)[i], row(x, j + 1, nx, ny)[i]);
}

__global__ void binomial(float *y, const float *x, int nx, int ny) {
  int i = COLUMN, j = ROW;
  if (i >= nx || j >= ny) return;
  float above = across(row(x, j - 1, nx, ny), i, nx), here = across(row(x, j, nx, ny), i, nx);
  y[(size_t)j * nx + i] = filter(above, here, across(row(x, j + 1, nx, ny), i, nx));
}

// All loads come before the first store: after a store they would wait, since x and y might overlap.
template <int R> __global__ void binomial_march(float *y, const float *x, int nx, int ny) {
  int i = COLUMN, first = R * ROW;
  if (i >= nx || first >= ny) return;
  float sum[R + 2];
#pragma unroll
  for (int r = 0; r < R + 2; r++) sum[r] = across(row(x, first + r - 1, nx, ny), i, nx);
#pragma unroll
  for (int r = 0; r < R; r++)
    if (first + r < ny) y[(size_t)(first + r) * nx + i] = filter(sum[r], sum[r + 1], sum[r + 2]);
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// steps, steps_wide   block b, grid ceil(n / b), ceil(n / (16 / sizeof(T)) / b); x and y begin on a 16-byte boundary
// the filters         block {bx, by}, grid {ceil(nx / bx), ceil(ny / by)}; binomial_march has R rows per thread
