/* SPDX-License-Identifier: MIT
 *
 * CUDA's vector types and dim3: those that kernels have. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

typedef struct uint3 { unsigned x, y, z; } uint3;
#include "../../backend/cpu/shim/moonwarp/vectors.h"

#endif
