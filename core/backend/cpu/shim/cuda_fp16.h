/* SPDX-License-Identifier: MIT
 *
 * CUDA's <cuda_fp16.h>: __half and __half2. */
#ifndef MW_CUDA_FP16_H
#define MW_CUDA_FP16_H
#if !defined(MW_PREPROCESS)

#include "moonwarp/small.h"

typedef mw_small<mw_binary16> __half, half;
typedef mw_small2<mw_binary16> __half2, half2;
typedef mw_small_raw __half_raw;

MW_SMALL_NAMES(__half, __half2, half)

#endif
#endif
