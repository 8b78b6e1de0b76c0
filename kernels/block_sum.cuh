// SPDX-License-Identifier: MIT
//
// Sums over a warp and over a block of BLOCK threads.
#pragma once

#define ALL   0xffffffffu
#define BLOCK 256

// The sum over a warp, in lane 0.
template <typename T> __device__ T warp_sum(T value) {
  for (int s = 16; s > 0; s /= 2) value += __shfl_down_sync(ALL, value, s);
  return value;
}

// Adds the sum over the block to *sum.
__device__ void add_block(double *sum, double value) {
  __shared__ double of_warp[BLOCK / 32];
  int thread = threadIdx.y * blockDim.x + threadIdx.x, lane = thread % 32, warp = thread / 32;
  value = warp_sum(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp > 0) return;
  value = warp_sum(lane < BLOCK / 32 ? of_warp[lane] : 0.0);
  if (lane == 0) atomicAdd(sum, value);
}
