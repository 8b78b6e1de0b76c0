/* SPDX-License-Identifier: MIT
 *
 * What the functions of the headers beside this one begin with: those are for the CPU device and for NVRTC. */
#ifndef MW_THRUST_FUNCTIONS_H
#define MW_THRUST_FUNCTIONS_H

#if defined(__CUDACC_RTC__)
#define MW_THRUST __host__ __device__ inline
#elif !defined(MW_PREPROCESS)
#include "../moonwarp.h"
#define MW_THRUST inline __attribute__((always_inline))
#endif

#endif
