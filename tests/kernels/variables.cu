// SPDX-License-Identifier: MIT
//
// variables: device and constant variables, and kernels that use them.

__constant__ float factors[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__device__ int counter;
__device__ double table[8];
__device__ unsigned char flag = 7;

__global__ void use_factors(float *out) { out[threadIdx.x] = factors[threadIdx.x]; }

__global__ void count_up() { atomicAdd(&counter, 1); }

__global__ void fill_table(double value) { table[threadIdx.x] = value + threadIdx.x; }

template <typename T> __global__ void add_to_counter(T amount) { atomicAdd(&counter, (int)amount); }
