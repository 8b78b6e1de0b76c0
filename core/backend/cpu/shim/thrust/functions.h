/* SPDX-License-Identifier: MIT
 *
 * How this folder's functions are declared, for the CPU device and for NVRTC. */
#ifndef MW_THRUST_FUNCTIONS_H
#define MW_THRUST_FUNCTIONS_H

#if defined(__CUDACC_RTC__)
#define MW_THRUST __host__ __device__ inline
#elif !defined(MW_PREPROCESS)
#include "../moonwarp.h"
#define MW_THRUST inline __attribute__((always_inline))
#endif

#endif
