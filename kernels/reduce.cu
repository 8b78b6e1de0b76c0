// SPDX-License-Identifier: MIT
//
// reduce: the sum of an array, one partial sum a block; the caller adds those.
//
// The ladder
//   v1 reduce_tree      halving tree in static shared memory, block of 256
//   v2 reduce_dynamic   the same in dynamic shared memory, any block that is a power of two
//   v3 reduce_shuffle   warp shuffles, then one shared stage over the warps' sums; any block that is a multiple of 32
//
// Bound: main memory, bytes(x) / t. The tree is the one of Kiel's lecture 16 and of M. Harris, "Optimizing parallel
// reduction in CUDA" (2007). Rounding: a pairwise sum of n terms errs by about eps * log2(n) (N. Higham, "The accuracy
// of floating point summation", 1993), so mw.check takes { sum = n }.
// Define REAL to reduce another type: dev:module{ file = "reduce.cu", defines = { REAL = "double" } }.

#ifndef REAL
#define REAL float
#endif

// ---- device helpers -------------------------------------------------------------------------------------------------

// What one thread gathers before the block works together: every step of the whole grid.
__device__ REAL gather(const REAL *x, size_t n) {
  REAL sum = 0;
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) sum += x[i];
  return sum;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(256) reduce_tree(REAL *sums, const REAL *x, size_t n) {
  __shared__ REAL part[256];
  int it = threadIdx.x;
  part[it] = gather(x, n);
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (it < k) part[it] += part[it + k];
    __syncthreads();
  }
  if (it == 0) sums[blockIdx.x] = part[0];
}

__global__ void reduce_dynamic(REAL *sums, const REAL *x, size_t n) {
  extern __shared__ REAL parts[];
  int it = threadIdx.x;
  parts[it] = gather(x, n);
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (it < k) parts[it] += parts[it + k];
    __syncthreads();
  }
  if (it == 0) sums[blockIdx.x] = parts[0];
}

__global__ void reduce_shuffle(REAL *sums, const REAL *x, size_t n) {
  __shared__ REAL warps[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = blockDim.x / 32;
  REAL value = gather(x, n);
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(0xffffffff, value, k);
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  value = lane < count ? warps[lane] : (REAL)0;
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(0xffffffff, value, k);
  if (threadIdx.x == 0) sums[blockIdx.x] = value;
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// reduce_tree      block 256, any grid; sums holds one element a block
// reduce_dynamic   block 2^k, shared = block * sizeof(REAL)
// reduce_shuffle   block 32 * k, k <= 32
