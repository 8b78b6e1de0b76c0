// SPDX-License-Identifier: MIT
//
// poisson: -(Laplacian of u) = f on a periodic grid in 2-D (nz = 1) or 3-D with unit distance, by three methods. The
// mean of f and of u is 0: without that there is no solution, or there are many.
//
// By Fourier transforms (of a library), in which the equation is a factor for each wave
//   divide           spectrum /= eigenvalue: e(i) + e(j) + e(k) of three small tables, e(i) = 4 sin^2(pi i / nx)
// By multigrid in 2-D: a V-cycle with two sweeps of damped Jacobi on the way down and two on the way up
//   smooth           to = from + (f - A from) / 5, in one pass; smooth_zero: the first sweep of a coarse grid, from 0
//      coarse_right  the residual on the next grid, weighted means of nine points, times 4 for twice the distance
//      correct       adds the coarse grid's solution, interpolated
// By conjugate gradients in 2-D, as in sparse.cu, without a stored matrix
//   apply_dot        q = A d, and d * q; then cg_update, direction and next of sparse.cu
// and apply, f = A u.
//
// Bounds, of memory, in elements per unknown. divide: 2 (half a spectrum of complex numbers, read and written), next to
// two real transforms that move 4 each in 2-D and 6 in 3-D, if a pass is made for each side: 8 / (8 + 2) = 0.8 of the
// two transforms alone, and 12 / (12 + 2) = 0.86. smooth: 3 a sweep, 2.25 and 2.25 for the way down and up, and a third
// of it again for the coarse grids: 22 per cycle. apply_dot: 2 + 6 + 3 = 11 an iteration.
//
// Fourier: R. Hockney (1965). Multigrid: A. Brandt, "Multi-level adaptive solutions to boundary-value problems" (1977).
// The damping 4/5 is the one that leaves least of short waves: 3/5 per sweep.

#include "block_sum.cuh"

// ---- device helpers -------------------------------------------------------------------------------------------------

template <typename T> struct pair_of;
template <> struct pair_of<float> { typedef float2 type; };
template <> struct pair_of<double> { typedef double2 type; };

// i + 1 or i - 1, around a side of n.
__device__ int after(int i, int n) { return i + 1 < n ? i + 1 : 0; }
__device__ int before(int i, int n) { return i > 0 ? i - 1 : n - 1; }

// (A u) at a point: 4 or 6 times its value, without those of its neighbours. Where nz = 1 two of them are the point.
template <typename T> __device__ T applied(const T *u, int i, int j, int k, int nx, int ny, int nz) {
  size_t row = (size_t)k * ny + j;
  T here = u[row * nx + i];
  T sum = u[row * nx + before(i, nx)] + u[row * nx + after(i, nx)];
  sum += u[((size_t)k * ny + before(j, ny)) * nx + i] + u[((size_t)k * ny + after(j, ny)) * nx + i];
  if (nz == 1) return 4 * here - sum;
  sum += u[((size_t)before(k, nz) * ny + j) * nx + i] + u[((size_t)after(k, nz) * ny + j) * nx + i];
  return 6 * here - sum;
}

// f - A u at a point in 2-D.
template <typename T> __device__ T residual(const T *f, const T *u, int i, int j, int nx, int ny) {
  return f[(size_t)j * nx + i] - applied(u, i, j, 0, nx, ny, 1);
}

// ---- kernels --------------------------------------------------------------------------------------------------------

template <typename T> __global__ void apply(T *f, const T *__restrict__ u, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
  if (i < nx && j < ny) f[((size_t)k * ny + j) * nx + i] = applied(u, i, j, k, nx, ny, nz);
}

// u -= mean
template <typename T> __global__ void shift(T *u, T mean, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) u[i] -= mean;
}

// The spectrum has `half` = nx / 2 + 1 waves along x; e is 4 sin^2(pi i / nx) there, and so along y and z. `scale` is
// 1 / (nx ny nz): the transforms there and back multiply by nx ny nz. A thread has ROWS rows of one wave along x, whose
// loads begin before the first one is waited for. The mean, wave 0, becomes 0.
template <typename T, int ROWS>
__global__ void divide(T *spectrum, const T *ex, const T *ey, const T *ez, int half, int ny, int nz, T scale) {
  typedef typename pair_of<T>::type complex;
  int i = blockIdx.x * blockDim.x + threadIdx.x, first = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
  if (i >= half) return;
  complex *wave = (complex *)spectrum + ((size_t)blockIdx.z * ny + first) * half + i, value[ROWS];
  T e = ex[i] + ez[blockIdx.z];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    if (first + r < ny) value[r] = wave[(size_t)r * half];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    if (first + r >= ny) continue;
    T eigenvalue = e + ey[first + r], factor = eigenvalue > 0 ? scale / eigenvalue : 0;
    value[r].x *= factor;
    value[r].y *= factor;
    wave[(size_t)r * half] = value[r];
  }
}

// ---- kernels: multigrid ---------------------------------------------------------------------------------------------

template <typename T>
__global__ void smooth(T *__restrict__ to, const T *__restrict__ from, const T *__restrict__ f, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  size_t at = (size_t)j * nx + i;
  to[at] = from[at] + (T)0.2 * residual(f, from, i, j, nx, ny);
}

template <typename T> __global__ void smooth_zero(T *to, const T *f, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j < ny) to[(size_t)j * nx + i] = (T)0.2 * f[(size_t)j * nx + i];
}

// nx and ny are the fine grid's; one thread per point of the coarse one, which is the fine grid's point (2 i, 2 j).
template <typename T>
__global__ void coarse_right(T *coarse, const T *__restrict__ u, const T *__restrict__ f, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx / 2 || j >= ny / 2) return;
  T sum = 0;
  for (int dj = -1; dj <= 1; dj++)
    for (int di = -1; di <= 1; di++) // weights 1 2 1, 2 4 2, 1 2 1 over 16
      sum += (2 - di * di) * (2 - dj * dj) * residual(f, u, (2 * i + di + nx) % nx, (2 * j + dj + ny) % ny, nx, ny);
  coarse[(size_t)j * (nx / 2) + i] = sum / 4;
}

// u += the coarse grid's values, in between the means of two or four of them. One thread per point of the fine grid.
template <typename T> __global__ void correct(T *u, const T *__restrict__ coarse, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, half = nx / 2;
  if (i >= nx || j >= ny) return;
  int left = i / 2, right = (i + 1) / 2 % half;
  const T *above = coarse + (size_t)(j / 2) * half, *below = coarse + (size_t)((j + 1) / 2 % (ny / 2)) * half;
  u[(size_t)j * nx + i] += ((above[left] + above[right]) + (below[left] + below[right])) / 4;
}

// ---- kernels: conjugate gradients -----------------------------------------------------------------------------------

// sums[1] += d * q. Blocks of BLOCK threads, in two dimensions.
template <typename T>
__global__ void apply_dot(T *q, double *sums, const T *__restrict__ d, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  double product = 0;
  if (i < nx && j < ny) {
    size_t at = (size_t)j * nx + i;
    T value = applied(d, i, j, 0, nx, ny, 1);
    q[at] = value;
    product = (double)value * d[at];
  }
  add_block(sums + 1, product);
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// All but shift: blocks of two dimensions, a thread per point, or wave, or ROWS of them along y; of apply and divide
// the grid's third side is nz. Sides of coarsened grids are even. shift: any block.
