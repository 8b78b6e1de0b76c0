// SPDX-License-Identifier: MIT
//
// Classes of headers have bytes between their members, and members that are written when they are needed.

#include <curand_kernel.h>

__global__ void generator_in_memory(curandState *states, float *out) {
  curand_init(7, threadIdx.x, 0, &states[threadIdx.x]);
  curandState state = states[threadIdx.x];
  out[threadIdx.x] = curand_uniform(&state);
  states[threadIdx.x] = state;
}
