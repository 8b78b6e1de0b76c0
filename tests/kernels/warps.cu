// SPDX-License-Identifier: MIT
//
// warps: kernels with warp operations, called as those of barriers.cu are: (out, in, n), 64 threads per block.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define HERE (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL 0xffffffffu

__global__ void down_sum(int *out, const int *in, int n) {
  int value = in[HERE];
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(ALL, value, k);
  out[HERE] = __shfl_sync(ALL, value, 0);
}

__global__ void up_scan(int *out, const int *in, int n) {
  int lane = threadIdx.x % 32;
  int value = in[HERE];
  for (int k = 1; k < 32; k *= 2) {
    int left = __shfl_up_sync(ALL, value, k);
    if (lane >= k) value += left;
  }
  out[HERE] = value;
}

__global__ void butterfly(int *out, const int *in, int n) {
  int value = in[HERE];
  for (int k = 1; k < 8; k *= 2) value += __shfl_xor_sync(ALL, value, k, 8);
  out[HERE] = value;
}

__global__ void votes(int *out, const int *in, int n) {
  unsigned odd = __ballot_sync(ALL, in[HERE] % 2);
  int all = __all_sync(ALL, in[HERE] >= 0);
  int any = __any_sync(ALL, in[HERE] == 5);
  out[HERE] = __popc(odd) * 100 + all * 10 + any;
}

__global__ void same(int *out, const int *in, int n) {
  out[HERE] = __popc(__match_any_sync(ALL, in[HERE] % 4));
}

// Half a warp works with a mask of its own.
__global__ void masked(int *out, const int *in, int n) {
  int value = in[HERE];
  if (threadIdx.x % 32 < 16) value = __shfl_sync(0xffffu, value, 15);
  out[HERE] = value;
}

__device__ int warp_sum(int value) {
  for (int k = 16; k > 0; k /= 2) value += __shfl_xor_sync(ALL, value, k);
  return value;
}

// Shuffles in a helper, then a barrier: what block reductions look like.
__global__ void block_sum(int *out, const int *in, int n) {
  __shared__ int warps[32];
  int sum = warp_sum(in[HERE]);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  out[HERE] = warps[0] + warps[1];
}

__global__ void tiles(int *out, const int *in, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int value = in[HERE];
  for (int k = tile.size() / 2; k > 0; k /= 2) value += tile.shfl_down(value, k);
  value = tile.shfl(value, 0);
  block.sync();
  out[HERE] = value;
}
