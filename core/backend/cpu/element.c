/* SPDX-License-Identifier: MIT
 *
 * An element by its type: what counts as the same result, and its text. */
#include "core/backend/cpu/objects.h"

#include <math.h>
#include <string.h>

size_t cpu_element_bytes(mw_dtype dtype) {
  const size_t bytes = mw_dtype_size(dtype);
  return bytes ? bytes : 1;
}

static uint64_t bits_of(const void *element, size_t bytes) {
  uint64_t bits = 0;
  memcpy(&bits, element, bytes);
  return bits;
}

static int mantissa_bits(mw_dtype dtype) {
  return dtype == MW_F16 ? 10 : dtype == MW_BF16 ? 7 : dtype == MW_F32 ? 23 : 52;
}

enum { ULPS_OF_16_BITS = 2 }; /* most: kernels compute in 32 bits and round */

double cpu_element_ulp(mw_dtype dtype) {
  return mw_dtype_is_float(dtype) ? ldexp(1, -mantissa_bits(dtype)) : 0;
}

double cpu_element_number(mw_dtype dtype, const void *element) {
  const uint64_t bits = bits_of(element, cpu_element_bytes(dtype));
  float single;
  double number;
  memcpy(&single, &bits, sizeof single);
  memcpy(&number, &bits, sizeof number);
  return dtype == MW_F64   ? number
         : dtype == MW_F32 ? (double)single
         : dtype == MW_F16 ? mw_f16_to_f64((uint16_t)bits)
                           : mw_bf16_to_f64((uint16_t)bits);
}

/* Bits are in the order of values: a unit more is a unit in the last place. */
static bool floats_are_near(mw_dtype dtype, uint64_t one, uint64_t other, unsigned ulps) {
  const int width = 8 * (int)mw_dtype_size(dtype);
  const uint64_t sign = (uint64_t)1 << (width - 1), a = one & (sign - 1), b = other & (sign - 1);
  if (width == 16 && ulps > ULPS_OF_16_BITS) ulps = ULPS_OF_16_BITS;
  return !((one ^ other) & sign) && (a > b ? a - b : b - a) <= ulps;
}

/* An array of floats may hold integers, which are numbers below the smallest normal one. */
static bool is_rounded(mw_dtype dtype, const void *element) {
  const double value = cpu_element_number(dtype, element), least = ldexp(1, dtype == MW_F16   ? -14
                                                                            : dtype == MW_F64 ? -1022
                                                                                              : -126);
  return value == 0 || (isfinite(value) && fabs(value) >= least);
}

bool cpu_element_is_near(mw_dtype dtype, const void *one, const void *other, unsigned ulps, double most) {
  const size_t bytes = cpu_element_bytes(dtype);
  if (!memcmp(one, other, bytes)) return true;
  if (!mw_dtype_is_float(dtype)) return false;
  const double a = cpu_element_number(dtype, one), b = cpu_element_number(dtype, other);
  if ((isnan(a) && isnan(b)) || a == b) return true;
  if (!is_rounded(dtype, one) || !is_rounded(dtype, other)) return false;
  return floats_are_near(dtype, bits_of(one, bytes), bits_of(other, bytes), ulps) || fabs(a - b) <= most;
}

void cpu_element_text(char out[CPU_ELEMENT_TEXT], mw_dtype dtype, const void *element) {
  const int unused = 64 - 8 * (int)cpu_element_bytes(dtype), digits = dtype == MW_F64 ? 17 : dtype == MW_F32 ? 9 : 5;
  const uint64_t bits = bits_of(element, cpu_element_bytes(dtype));
  if (mw_dtype_is_float(dtype))
    snprintf(out, CPU_ELEMENT_TEXT, "%.*g", digits, cpu_element_number(dtype, element));
  else if (dtype >= MW_I8 && dtype <= MW_I64)
    snprintf(out, CPU_ELEMENT_TEXT, "%lld", (long long)(bits << unused) >> unused);
  else if (dtype >= MW_U8 && dtype <= MW_BOOL)
    snprintf(out, CPU_ELEMENT_TEXT, "%llu", (unsigned long long)bits);
  else
    snprintf(out, CPU_ELEMENT_TEXT, "0x%llx", (unsigned long long)bits);
}
