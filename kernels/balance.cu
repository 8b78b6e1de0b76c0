// SPDX-License-Identifier: MIT
//
// balance: how many operations fit into the time that memory takes for a number, and what to compute instead of moving.
//
// The ladders
//   v1  steps<T, K>        y = x after K multiplications and additions, one element per thread
//   v2  steps_wide<T, K>   the same, 16 bytes per thread: as many independent chains as elements
//   the filter 1/16 (1 2 1; 2 4 2; 1 2 1), the product of a row (1 2 1)/4 and a column of the same
//   v3  along_x, along_y   two separable passes, with an array between them; bound: twice the traffic of a copy
//   v4  binomial           one pass, nine values per point; the caches give all but one of them
//   v5  binomial_march<R>  one pass of R rows per thread: the sum along x is made once per row and kept in registers
//
// Bound: max(memory, arithmetic). K steps are 2 K operations per element, which is read once and written once: K
// operations per number moved. The knee is where both bounds are equal: arithmetic rate / memory rate * bytes of a
// number.
//
// Sources: ETH Zurich, "Solving PDEs in parallel on GPUs", lecture 10 (2023): operations per number of a data sheet.
// M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford; undated, the latest year named is 2023): lecture 2,
// p. 10, and 7, p. 13 and 14 (the break-even point); lecture 10, "recompute not transfer" (the filter).

#include "vector16.cuh"

// ---- device helpers -------------------------------------------------------------------------------------------------

#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

// Beyond the edge the filters see the value at the edge.
__device__ float at(const float *x, int i, int j, int nx, int ny) {
  i = i < 0 ? 0 : i < nx ? i : nx - 1;
  j = j < 0 ? 0 : j < ny ? j : ny - 1;
  return x[(size_t)j * nx + i];
}

__device__ float row(const float *x, int i, int j, int nx, int ny) {
  return 0.25f * (at(x, i - 1, j, nx, ny) + 2 * at(x, i, j, nx, ny) + at(x, i + 1, j, nx, ny));
}

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

__global__ void along_x(float *y, const float *x, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j < ny) y[(size_t)j * nx + i] = row(x, i, j, nx, ny);
}

__global__ void along_y(float *y, const float *x, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  y[(size_t)j * nx + i] = 0.25f * (at(x, i, j - 1, nx, ny) + 2 * at(x, i, j, nx, ny) + at(x, i, j + 1, nx, ny));
}

__global__ void binomial(float *y, const float *x, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  y[(size_t)j * nx + i] = 0.25f * (row(x, i, j - 1, nx, ny) + 2 * row(x, i, j, nx, ny) + row(x, i, j + 1, nx, ny));
}

template <int R> __global__ void binomial_march(float *y, const float *x, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, first = R * (blockIdx.y * blockDim.y + threadIdx.y);
  if (i >= nx || first >= ny) return;
  float above = row(x, i, first - 1, nx, ny), here = row(x, i, first, nx, ny);
#pragma unroll
  for (int r = 0; r < R; r++) {
    int j = first + r;
    float below = row(x, i, j + 1, nx, ny);
    if (j < ny) y[(size_t)j * nx + i] = 0.25f * (above + 2 * here + below);
    above = here;
    here = below;
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// steps, steps_wide   block b, grid ceil(n / b), ceil(n / (16 / sizeof(T)) / b); x and y begin on a 16-byte boundary
// the filters         block {bx, by}, grid {ceil(nx / bx), ceil(ny / by)}; binomial_march has R rows per thread
