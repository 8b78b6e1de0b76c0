/* SPDX-License-Identifier: MIT
 *
 * Element types: what arrays hold and what kernel parameters are made of.
 * Shared by every layer; knows neither Lua nor a device. */
#ifndef MW_DTYPE_H
#define MW_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mw_dtype {
  MW_F16, /* arrays hold the types from here ... */
  MW_BF16,
  MW_F32,
  MW_F64,
  MW_I8,
  MW_I16,
  MW_I32,
  MW_I64,
  MW_U8,
  MW_U16,
  MW_U32,
  MW_U64, /* ... to here */
  MW_BOOL,    /* parameters only */
  MW_VOID,    /* parameters only: void *, takes an array of any type */
  MW_POINTER, /* parameters only: T **, takes an array of u64 */
  MW_STRUCT,  /* parameters only: by value, takes a string of the exact size */
  MW_TEXTURE, /* parameters only: cudaTextureObject_t, takes a texture */
  MW_SURFACE, /* parameters only: cudaSurfaceObject_t, takes a surface */
  MW_DTYPES
} mw_dtype;

enum { MW_ARRAY_DTYPES = MW_U64 + 1 };

const char *mw_dtype_name(mw_dtype type);                    /* "f32" */
size_t      mw_dtype_size(mw_dtype type);                    /* bytes per element; 0 for void and struct */
bool        mw_dtype_parse(const char *name, mw_dtype *out); /* array types only; false: no such name */
bool        mw_dtype_is_float(mw_dtype type);

/* IEEE binary16 and bfloat16, round to nearest even; NaN stays NaN. */
uint16_t mw_f16_from_f64(double value);
double   mw_f16_to_f64(uint16_t bits);
uint16_t mw_bf16_from_f64(double value);
double   mw_bf16_to_f64(uint16_t bits);

#endif
