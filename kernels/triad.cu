// SPDX-License-Identifier: MIT
//
// triad: B = A + s * C, two arrays read and one written.
//
// The ladder
//   triad      2-D, one element per thread
//
// Bound: main memory. T_tot = 3 * bytes(A) / t. The operation is STREAM's (J. D. McCalpin, "Memory bandwidth and
// machine balance in current high performance computers", 1995); in ETH Zurich's lecture 10, "Solving PDEs in
// parallel on GPUs" (2023), it is what a stencil without its derivatives comes to.

#ifndef REAL
#define REAL double // or float
#endif

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void triad(REAL *B, const REAL *A, const REAL *C, REAL s, int nx, int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  size_t i = (size_t)iy * nx + ix;
  if (ix < nx && iy < ny) B[i] = A[i] + s * C[i];
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// triad   block {32, by}, grid {ceil(nx / 32), ceil(ny / by)}
