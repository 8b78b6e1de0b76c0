/* SPDX-License-Identifier: MIT
 *
 * make_float4 and its like. */
#ifndef MW_VECTOR_FUNCTIONS_H
#define MW_VECTOR_FUNCTIONS_H

#include "vector_types.h"

#define MW_FN static inline
MW_VECTORS(MW_MAKE)
#undef MW_FN

#endif
