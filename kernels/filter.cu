// SPDX-License-Identifier: MIT
//
// filter: y(i) = sum of weight(k) * x(i + k) over 33 taps, by blocks of three kinds (Oxford, lecture 2, p. 34).
//
// Each element costs 33 multiply-adds and 8 bytes. Bound: main memory, T_tot = 8 n / t; 16 to 19 bytes, so 2 to 2.4
// elements, per cycle and multiprocessor of an H200. What the three need:
//   filter_big       4 blocks of 512 threads, a piece of x in shared memory: 33 reads of shared memory for each
//                    element, 32 lanes per cycle: 1 element per cycle
//   filter_small     12 blocks of 128 threads, no shared memory: 33 reads of the first-level cache, 1 element per cycle
//   filter_fat       4 blocks of 128 threads with many registers: 16 elements per thread, from 48 that it loads 16
//                    bytes at a time: 3 reads for each element; 128 multiply-adds per cycle: 3.9 elements
//
// Source: M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs", lecture 2 (Oxford; undated): the three kinds.

enum { REACH = 16, TAPS = 2 * REACH + 1, PIECE = 11264, EACH = 16 };

#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

// ---- device helpers -------------------------------------------------------------------------------------------------

// Of tap k: a triangle whose sum is 1.
__device__ float weight(int k) {
  int from_middle = k < REACH ? REACH - k : k - REACH;
  return (REACH + 1 - from_middle) / (float)((REACH + 1) * (REACH + 1));
}

// ---- kernels --------------------------------------------------------------------------------------------------------

// x has n + 2 * REACH elements. A block computes PIECE elements.
__global__ void __launch_bounds__(512) filter_big(float *__restrict__ y, const float *__restrict__ x, size_t n) {
  __shared__ float piece[PIECE + 2 * REACH];
  size_t first = (size_t)blockIdx.x * PIECE;
  for (int i = threadIdx.x; i < PIECE + 2 * REACH; i += blockDim.x) {
    if (first + i < n + 2 * REACH) piece[i] = x[first + i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < PIECE && first + i < n; i += blockDim.x) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < TAPS; k++) sum += weight(k) * piece[i + k];
    y[first + i] = sum;
  }
}

__global__ void __launch_bounds__(128, 12) filter_small(float *__restrict__ y, const float *__restrict__ x, size_t n) {
  if (INDEX >= n) return;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < TAPS; k++) sum += weight(k) * x[INDEX + k];
  y[INDEX] = sum;
}

// EACH elements per thread; both arrays begin on 16 bytes.
__global__ void __launch_bounds__(128, 4) filter_fat(float *__restrict__ y, const float *__restrict__ x, size_t n) {
  size_t first = INDEX * EACH;
  if (first >= n) return;
  float v[EACH + 2 * REACH], sum[EACH];
  bool is_whole = first + EACH <= n;
#pragma unroll
  for (int k = 0; k < EACH + 2 * REACH; k += 4) {
    float4 four = is_whole ? *(const float4 *)(x + first + k) : make_float4(0, 0, 0, 0);
    v[k] = four.x;
    v[k + 1] = four.y;
    v[k + 2] = four.z;
    v[k + 3] = four.w;
  }
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    sum[i] = 0;
#pragma unroll
    for (int k = 0; k < TAPS; k++) sum[i] += weight(k) * v[i + k];
  }
  if (is_whole) {
#pragma unroll
    for (int i = 0; i < EACH; i += 4) {
      *(float4 *)(y + first + i) = make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
    }
  } else {
    for (size_t i = first; i < n; i++) {
      float one = 0;
      for (int k = 0; k < TAPS; k++) one += weight(k) * x[i + k];
      y[i] = one;
    }
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// filter_big     block 512, grid ceil(n / PIECE)
// filter_small   block 128, grid ceil(n / 128)
// filter_fat     block 128, grid ceil(n / (128 * EACH))
