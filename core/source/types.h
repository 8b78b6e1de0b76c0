/* SPDX-License-Identifier: MIT
 *
 * The types that cross into a kernel, by the names that C++ and CUDA have for them. */
#ifndef MW_SOURCE_TYPES_H
#define MW_SOURCE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/dtype.h"

typedef struct mw_param {
  char     name[64];   /* "" where the source does not say */
  char     type[96];   /* as C++ writes it: "const float *" */
  mw_dtype dtype;      /* of the value, or of what the pointer points to */
  uint8_t  lanes;      /* 1; 2, 3 or 4 for float2, int4, ... */
  bool     pointer, is_const;
  uint32_t size, offset; /* in the argument block */
} mw_param;

/* A builtin, <stdint.h>, vector or half type by its name: "unsigned int", "int64_t", "float4", "__half2". Fills dtype,
 * lanes and size; returns the alignment in bytes, 0: no such type. */
uint32_t mw_type_by_name(const char *name, mw_param *out);

#endif
