// SPDX-License-Identifier: MIT
//
// ceiling: what a device's memory and arithmetic give at most, for a roofline.
//
// The ladder
//   triad1      B = A + s C, one f64 per thread, which a CPU vectorises over its threads
//   triad2      two f64 per thread, a GPU's 16-byte loads
//   chains      CHAINS independent chains of multiply-adds per thread, `steps` long
//
// Bound: triad1, triad2 main memory, T_tot = 3 * bytes(A) / t; chains arithmetic, 2 * CHAINS * steps per thread, no
// reads. The roofline is that of S. Williams, A. Waterman and D. Patterson, "Roofline: an insightful visual performance
// model for multicore architectures", 2009; the triad is STREAM's (J. D. McCalpin, 1995).

// ---- device helpers -------------------------------------------------------------------------------------------------

// A chain can start its next step only when the last one is done, so many must run side by side to hide that.
template <class T, int CHAINS> __device__ __forceinline__ void step(T (&x)[CHAINS], T a, T b) {
#pragma unroll
  for (int c = 0; c < CHAINS; c++) x[c] = a * x[c] + b;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void triad1(double *B, const double *A, const double *C, double s, size_t n) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) B[i] = A[i] + s * C[i];
}

// pairs: of elements
__global__ void triad2(double *B, const double *A, const double *C, double s, size_t pairs) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const double2 a = ((const double2 *)A)[i], c = ((const double2 *)C)[i];
  double2 b;
  b.x = a.x + s * c.x;
  b.y = a.y + s * c.y;
  ((double2 *)B)[i] = b;
}

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

// ---- host notes -----------------------------------------------------------------------------------------------------
// triad1   block 256, grid ceil(n / 256)
// triad2   block 256, grid ceil(pairs / 256)
// chains   block 256, a few blocks per multiprocessor; sums one per thread: CHAINS (CHAINS - 1) / 2 + CHAINS * steps
