// SPDX-License-Identifier: MIT
//
// first-kernels: what a first program launches.
//
// The ladder
//   my_first_kernel      each thread sets one element
//   add                  the sum of two vectors, with a guard for the threads beyond the last element
//   say                  each thread prints a line
//   count<ATOMIC>        all threads increment one counter: by count++, which loses updates, or by atomicAdd
//   beyond, doubt        an access beyond an array; an assertion that fails
//
// Bound: none; these are too small to measure. Source: M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs"
// (Oxford; undated, the latest year named is 2023), lecture 1, p. 22 (my_first_kernel), practical 1, p. 27 to 32 (add,
// say, beyond), and lecture 3, p. 16 to 18 (count).

#include <assert.h>
#include <stdio.h>

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void my_first_kernel(float *x) {
  int tid = threadIdx.x + blockDim.x * blockIdx.x;
  x[tid] = (float)threadIdx.x;
}

__global__ void add(float *z, const float *x, const float *y, int n) {
  int i = threadIdx.x + blockDim.x * blockIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

__global__ void say(int n) {
  int i = threadIdx.x + blockDim.x * blockIdx.x;
  if (i < n) printf("line %d\n", i);
}

template <bool ATOMIC> __global__ void count(int *counter) {
  if (ATOMIC) atomicAdd(counter, 1);
  else (*counter)++;
}

__global__ void beyond(float *x, int far) {
  x[far] = 1;
}

__global__ void doubt(const float *x) {
  assert(x[threadIdx.x] > 0);
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// my_first_kernel   as many threads as elements; the source has 2 blocks of 8
// add, say          block b, grid ceil(n / b)
// count             any; the counter should be the number of threads
