/* SPDX-License-Identifier: MIT
 *
 * CUDA's <cuda_bf16.h>: __nv_bfloat16 and __nv_bfloat162. */
#ifndef MW_CUDA_BF16_H
#define MW_CUDA_BF16_H
#if !defined(MW_PREPROCESS)

#include "moonwarp/small.h"

typedef mw_small<mw_bfloat16> __nv_bfloat16, nv_bfloat16;
typedef mw_small2<mw_bfloat16> __nv_bfloat162, nv_bfloat162;
typedef mw_small_raw __nv_bfloat16_raw;

MW_SMALL_NAMES(__nv_bfloat16, __nv_bfloat162, bfloat16)

#endif
#endif
