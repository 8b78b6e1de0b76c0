// SPDX-License-Identifier: MIT
//
// occupancy: how many blocks a multiprocessor holds at once, and what that does to two kinds of work.
//
// A multiprocessor of compute capability 9.0 holds 2048 threads, 32 blocks, 65536 registers and 228 KiB of shared
// memory, of which each block takes 1 KiB more than it asks for. Whichever ends first is the limit.
//
//   flight<LOADS>        y = x, LOADS elements in flight per thread. Bound: main memory, or bytes in flight / latency
//                        (Little's law): for 4.3 TB/s, of which half is read, at 800 ns each multiprocessor of an H200
//                        needs 13 KiB in flight: 3300 threads with one load of 4 bytes, 820 with four
//   sorted               each thread sorts 32 numbers in registers, which takes 48: 5 blocks of 256 threads are held.
//      sorted_bounded    __launch_bounds__(256, BLOCKS): at most 65536 / 256 / BLOCKS registers; what does not fit is
//                        spilled to local memory, 8 bytes per thread for 6 blocks, 532 for 8. Bound: main memory; 480
//                        minima and maxima for 256 bytes, 64 per cycle and multiprocessor, make 34 bytes per cycle
//   count_blocks         how many blocks run at once, counted by the blocks
//
// Sources: M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs", lecture 6 (Oxford; undated): launch bounds.
// V. Volkov, "Better performance at lower occupancy" (GTC, 2010): flight. K. Batcher, "Sorting networks and their
// applications" (1968): sorted. CUDA C++ Programming Guide, technical specifications by compute capability.

enum { SORTED = 32 };

#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

// ---- device helpers -------------------------------------------------------------------------------------------------

// Batcher's bitonic network; all indices are known to the compiler, so that v may be in registers.
__device__ void sort_up(float *v) {
#pragma unroll
  for (int size = 2; size <= SORTED; size *= 2) {
#pragma unroll
    for (int step = size / 2; step > 0; step /= 2) {
#pragma unroll
      for (int i = 0; i < SORTED; i++) {
        int other = i ^ step;
        if (other > i) {
          float low = fminf(v[i], v[other]), high = fmaxf(v[i], v[other]);
          v[i] = (i & size) == 0 ? low : high;
          v[other] = (i & size) == 0 ? high : low;
        }
      }
    }
  }
}

// Column t of SORTED rows.
__device__ void sort_column(float *y, const float *x, size_t columns) {
  const size_t t = INDEX;
  if (t >= columns) return;
  float v[SORTED];
#pragma unroll
  for (int k = 0; k < SORTED; k++) v[k] = x[k * columns + t];
  sort_up(v);
#pragma unroll
  for (int k = 0; k < SORTED; k++) y[k * columns + t] = v[k];
}

// ---- kernels --------------------------------------------------------------------------------------------------------

// A block has LOADS pieces of its own width.
template <int LOADS> __global__ void flight(float *__restrict__ y, const float *__restrict__ x, size_t n) {
  size_t first = (size_t)blockIdx.x * blockDim.x * LOADS + threadIdx.x;
  if (first + (LOADS - 1) * blockDim.x < n) {
    float v[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; k++) v[k] = x[first + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < LOADS; k++) y[first + k * blockDim.x] = v[k];
  } else {
    for (size_t i = first; i < n; i += blockDim.x) y[i] = x[i];
  }
}

template <typename T> __global__ void sorted(T *y, const T *x, size_t columns) {
  sort_column(y, x, columns);
}

template <int BLOCKS>
__global__ void __launch_bounds__(256, BLOCKS) sorted_bounded(float *y, const float *x, size_t columns) {
  sort_column(y, x, columns);
}

// counts: blocks that run now, and the most that did at once. A block waits, but not for ever, until `most` did. Nothing
// waits for an atomic operation whose result is not used: without the fence, the block may leave its multiprocessor, and
// the next one may count itself, before the subtraction. The barrier keeps the other threads' places until then.
__global__ void count_blocks(unsigned *counts, unsigned most, int patience) {
  if (threadIdx.x == 0) {
    unsigned now = atomicAdd(counts, 1) + 1;
    atomicMax(counts + 1, now);
    for (int i = 0; i < patience && atomicAdd(counts + 1, 0) < most; i++) {
    }
    atomicSub(counts, 1);
    __threadfence();
  }
  __syncthreads();
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// flight          any block b, grid ceil(n / (b * LOADS)); dynamic shared memory only limits the blocks
// sorted          any block; sorted_bounded at most 256 threads; grid over columns
// count_blocks    counts are 0 before
