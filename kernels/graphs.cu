// SPDX-License-Identifier: MIT
//
// graphs: steps that are so short that starting them is the work. A step turns a ring by one place and adds one:
// to[i] = from[i + 1] + 1. After K steps element i is what i + K was, plus K; a step that begins before the last one
// has ended, or is left out, shows.
//
// The ladder (who starts a step)
//   turn            the host, or a graph: one launch per step
//   turn_grid       the grid itself: all steps in one cooperative launch, with a grid barrier after each
//   turn_block      a block: all steps in one launch of one block, with its barrier after each
//   turn_nested     a thread of the device: one launch per step, in the order of its block's stream; nvcc -rdc=true
//                   links what that needs, NVRTC does not
// and busy, which does nothing for a given number of cycles, so that a queue of launches fills up.
//
// Bound: launches per second. Of turn the least of what the host can queue, one per 2 to 3 us through a driver, and
// what the device can start, one per 1 to 2 us; a graph needs the host once for all. turn_grid needs a grid barrier,
// about 1 to 2 us on a large GPU; turn_block a barrier of one block, some 20 ns, but is on one multiprocessor.
// turn_nested is bound by the device's own launches, of which 2048 may wait.

#include <cooperative_groups.h>

// ---- device helpers -------------------------------------------------------------------------------------------------

// One step of the elements from `first` on, `stride` apart.
__device__ void turn_from(int *to, const volatile int *from, int n, int first, int stride) {
  for (int i = first; i < n; i += stride) to[i] = from[i + 1 < n ? i + 1 : 0] + 1;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void turn(int *to, const int *from, int n) {
  turn_from(to, from, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}

// steps is even: the last one writes x.
__global__ void turn_grid(int *x, int *y, int n, int steps) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int k = 0; k < steps; k++) {
    turn_from(k % 2 ? x : y, k % 2 ? y : x, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
    grid.sync();
  }
}

__global__ void turn_block(int *x, int *y, int n, int steps) {
  for (int k = 0; k < steps; k++) {
    turn_from(k % 2 ? x : y, k % 2 ? y : x, n, threadIdx.x, blockDim.x);
    __syncthreads();
  }
}

#ifdef __CUDACC_RDC__
extern "C" __global__ void turn_nested(int *x, int *y, int n, int steps, int blocks) {
  for (int k = 0; k < steps; k++) turn<<<blocks, 256>>>(k % 2 ? x : y, k % 2 ? y : x, n);
}
#endif

// What it counts is written, so that no compiler leaves the loop out.
__global__ void busy(unsigned *out, unsigned rounds) {
  unsigned v = threadIdx.x;
  for (unsigned k = 0; k < rounds; k++) v = v * 1664525u + 1013904223u;
  out[threadIdx.x] = v;
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// turn         any grid and block; x to y and y to x by turns
// turn_grid    cooperative; any grid that the device holds at once
// turn_block   one block
// turn_nested  one thread; nvcc -rdc=true -dlink -cubin -arch=sm_90 graphs.cu -lcudadevrt
// busy         one block of 32: a round is two dependent operations, 8 to 10 cycles on a GPU
