/* SPDX-License-Identifier: MIT
 *
 * The table of element types, and the 16-bit floating-point formats. */
#include "core/base/dtype.h"

#include <string.h>

static const struct {
  const char *name;
  size_t size;
} types[MW_DTYPES] = {
    [MW_F16] = {"f16", 2},         [MW_BF16] = {"bf16", 2},       [MW_F32] = {"f32", 4},
    [MW_F64] = {"f64", 8},         [MW_I8] = {"i8", 1},           [MW_I16] = {"i16", 2},
    [MW_I32] = {"i32", 4},         [MW_I64] = {"i64", 8},         [MW_U8] = {"u8", 1},
    [MW_U16] = {"u16", 2},         [MW_U32] = {"u32", 4},         [MW_U64] = {"u64", 8},
    [MW_BOOL] = {"bool", 1},       [MW_VOID] = {"void", 0},       [MW_STRUCT] = {"struct", 0},
    [MW_POINTER] = {"pointer", 8}, [MW_TEXTURE] = {"texture", 0}, [MW_SURFACE] = {"surface", 0},
};

const char *mw_dtype_name(mw_dtype type) {
  return types[type].name;
}

size_t mw_dtype_size(mw_dtype type) {
  return types[type].size;
}

bool mw_dtype_parse(const char *name, mw_dtype *out) {
  for (int i = 0; i < MW_ARRAY_DTYPES; i++) {
    if (strcmp(name, types[i].name) != 0) continue;
    *out = (mw_dtype)i;
    return true;
  }
  return false;
}

bool mw_dtype_is_float(mw_dtype type) {
  return type <= MW_F64;
}

static uint64_t f64_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Rounds a double to a 16-bit format of `fraction` stored fraction bits and exponent bias `bias`, to nearest even.
 * Works from the double directly: going through float would round twice. */
static uint16_t narrow(double value, int fraction, int bias) {
  uint64_t bits = f64_bits(value);
  uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  uint64_t mantissa = bits & 0xfffffffffffffULL;
  uint16_t infinity = (uint16_t)((2 * bias + 1) << fraction);
  if (exponent == 1024) return (uint16_t)(sign | infinity | (mantissa ? 1u << (fraction - 1) : 0));
  if (exponent > bias) return sign | infinity;
  if (exponent < -bias - fraction) return sign;
  mantissa |= 1ULL << 52;
  int shift = 52 - fraction;
  int field = exponent + bias;
  if (field <= 0) {
    shift += 1 - field;
    field = 0;
  }
  uint64_t kept = mantissa >> shift;
  uint64_t rest = mantissa & ((1ULL << shift) - 1), half = 1ULL << (shift - 1);
  if (rest > half || (rest == half && (kept & 1))) kept++;
  if (field > 0) kept += (uint64_t)(field - 1) << fraction; /* a carry out of the fraction raises the exponent */
  return (uint16_t)(sign | kept);
}

static double widen(uint16_t bits, int fraction, int bias) {
  int field = bits >> fraction & (2 * bias + 1);
  double mantissa = (double)(bits & ((1u << fraction) - 1)) / (double)(1u << fraction);
  double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (field == 2 * bias + 1) return mantissa != 0 ? sign * __builtin_nan("") : sign * __builtin_inf();
  return sign * (field ? __builtin_ldexp(1.0 + mantissa, field - bias) : __builtin_ldexp(mantissa, 1 - bias));
}

uint16_t mw_f16_from_f64(double value) {
  return narrow(value, 10, 15);
}
double mw_f16_to_f64(uint16_t bits) {
  return widen(bits, 10, 15);
}
uint16_t mw_bf16_from_f64(double value) {
  return narrow(value, 7, 127);
}
double mw_bf16_to_f64(uint16_t bits) {
  return widen(bits, 7, 127);
}
