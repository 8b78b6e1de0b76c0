/* SPDX-License-Identifier: MIT
 *
 * The states of cuRAND's generators, as large as those of core/backend/cpu/shim/curand_kernel.h: the host part allocates
 * them. */
#ifndef MW_HOST_CURAND_KERNEL_H
#define MW_HOST_CURAND_KERNEL_H

#include "cuda_runtime.h"

#define MW_NORMAL_STATE                                                                                                \
  int boxmuller_flag, boxmuller_flag_double;                                                                           \
  float boxmuller_extra;                                                                                               \
  double boxmuller_extra_double;

typedef struct curandStateXORWOW {
  unsigned d, v[5];
  MW_NORMAL_STATE
} curandStateXORWOW, curandStateXORWOW_t, curandState, curandState_t;

typedef struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;
  MW_NORMAL_STATE
} curandStatePhilox4_32_10, curandStatePhilox4_32_10_t;

typedef struct curandStateSobol32 {
  unsigned i, x, c, direction_vectors[32];
} curandStateSobol32, curandStateSobol32_t;
typedef unsigned curandDirectionVectors32_t[32];
#undef MW_NORMAL_STATE

#endif
