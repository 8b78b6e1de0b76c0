// SPDX-License-Identifier: MIT
//
// The kernels that nvbench.lua times twice: compiled at run time for mw.bench, by nvcc for nvbench_method.cu.

// copy, 16 bytes per thread
__global__ void bench_copy(double2 *to, const double2 *from, unsigned long long pairs) {
  const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pairs) to[i] = from[i];
}

// b = a + s c, 16 bytes per thread
__global__ void bench_triad(double2 *b, const double2 *a, const double2 *c, unsigned long long pairs) {
  const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const double2 x = a[i], y = c[i];
  b[i] = make_double2(x.x + 3.0 * y.x, x.y + 3.0 * y.y);
}

// eight chains of multiply-adds a thread
__global__ void bench_chains(float *sums, float a, float b, int steps) {
  float x[8];
#pragma unroll
  for (int c = 0; c < 8; c++) x[c] = (float)c;
#pragma unroll 4
  for (int k = 0; k < steps; k++) {
#pragma unroll
    for (int c = 0; c < 8; c++) x[c] = a * x[c] + b;
  }
  float sum = 0;
#pragma unroll
  for (int c = 0; c < 8; c++) sum += x[c];
  sums[(unsigned long long)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
