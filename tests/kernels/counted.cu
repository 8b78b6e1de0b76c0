// SPDX-License-Identifier: MIT
// Kernels whose requests tests/counters_spec.lua knows.

__global__ void copy(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

__global__ void strided(float *y, const float *x, int n) {
  y[threadIdx.x] = x[threadIdx.x * n];
}

__global__ void shifted(float *y, const float *x, int n) {
  y[threadIdx.x] = x[threadIdx.x + n];
}

template <int Pad> __device__ void transpose(float *y, const float *x, int n) {
  __shared__ float tile[32][32 + Pad];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(j + k) * n + i];
  __syncthreads();
  i = blockIdx.y * 32 + threadIdx.x, j = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) y[(j + k) * n + i] = tile[threadIdx.x][threadIdx.y + k];
}
__global__ void tiled(float *y, const float *x, int n) { transpose<0>(y, x, n); }
__global__ void padded(float *y, const float *x, int n) { transpose<1>(y, x, n); }

__global__ void banks(int *y, int n) {
  __shared__ int s[33 * 32];
  for (int i = threadIdx.x; i < 33 * 32; i += 32) s[i] = i;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x * n];
}

__global__ void histogram(int *counts, const int *bins) {
  __shared__ int s[4];
  if (threadIdx.x < 4) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[bins[threadIdx.x % 8]], 1);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&counts[threadIdx.x], s[threadIdx.x]);
}
