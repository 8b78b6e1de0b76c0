/* SPDX-License-Identifier: MIT
 *
 * What the self-checking kernels of this folder share. */
#ifndef CHECK_CUH
#define CHECK_CUH

#define CHECK(e)                                                                                                       \
  do {                                                                                                                 \
    if (!(e)) {                                                                                                        \
      atomicAdd(&wrong[0], 1);                                                                                         \
      wrong[1] = __LINE__;                                                                                             \
    }                                                                                                                  \
  } while (0)

#define ALL 0xffffffffu

static const int THREADS = 256, BLOCKS = 4;

__device__ inline unsigned rank_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ inline unsigned lane() {
  return rank_in_block() % 32;
}

/* 1, which no compiler knows: keeps arithmetic from being done at compile time. */
__device__ inline int opaque_one() {
  return (int)(blockDim.x / 64);
}

#endif
