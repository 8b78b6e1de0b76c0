// SPDX-License-Identifier: MIT
//
// build/saxpy: kernels with a host function that calls one, as an object, a library, or code that a script loads.
//
// The ladder
//   v1 saxpy     y = a x + y, one element per thread: few registers
//   v2 reverse   reverses the elements of each block in shared memory
//   v3 mix       40 values of a thread that are all needed until the end: many registers, or spills
//
// Bound: none; what is looked at is how these are compiled. After practical 6 of M. Giles and W. Armour, "CUDA
// Programming on NVIDIA GPUs" (Oxford; undated, the latest year named is 2023), lecture 6, "Loose ends - Compilation".

#include "saxpy.h"

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// n is a multiple of the block of 256.
__global__ void reverse(const float *x, float *y) {
  __shared__ float tile[256];
  int first = blockIdx.x * 256;
  tile[threadIdx.x] = x[first + threadIdx.x];
  __syncthreads();
  y[first + threadIdx.x] = tile[255 - threadIdx.x];
}

__global__ void mix(int n, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[40], sum = 0;
  if (i >= n) return;
#pragma unroll
  for (int j = 0; j < 40; j++) v[j] = x[(i + j) % n];
#pragma unroll
  for (int round = 0; round < 3; round++) {
#pragma unroll
    for (int j = 0; j < 40; j++) v[j] = v[j] * v[(j + 7) % 40] + v[(j + 13) % 40];
  }
#pragma unroll
  for (int j = 0; j < 40; j++) sum += v[j];
  y[i] = sum;
}

// ---- the host's part ------------------------------------------------------------------------------------------------

const char *saxpy_on_gpu(int n, float a, const float *x, float *y) {
  size_t bytes = n * sizeof(float);
  float *dx = nullptr, *dy = nullptr;
  cudaError_t error = cudaMalloc(&dx, bytes);
  if (!error) error = cudaMalloc(&dy, bytes);
  if (!error) error = cudaMemcpy(dx, x, bytes, cudaMemcpyHostToDevice);
  if (!error) error = cudaMemcpy(dy, y, bytes, cudaMemcpyHostToDevice);
  if (!error) {
    saxpy<<<(n + 255) / 256, 256>>>(n, a, dx, dy);
    error = cudaGetLastError();
  }
  if (!error) error = cudaMemcpy(y, dy, bytes, cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
  return error ? cudaGetErrorString(error) : nullptr;
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// saxpy, mix   block b, grid ceil(n / b)
// reverse      block 256, grid n / 256
