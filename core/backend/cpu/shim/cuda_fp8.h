/* SPDX-License-Identifier: MIT
 *
 * CUDA's <cuda_fp8.h>: the formats e4m3 and e5m2, single, in pairs and in fours. Scales (e8m0) need the CUDA device. */
#ifndef MW_CUDA_FP8_H
#define MW_CUDA_FP8_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if !defined(MW_PREPROCESS)

#include "moonwarp/convert.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

struct mw_e4m3 {
  static constexpr int digits = 3, least = -6; /* of the fraction; exponent of the least normal number */
  static constexpr unsigned char most = 0x7e, overflow = 0x7f;
  MW_FN float special(unsigned bits) { return bits == 0x7f ? mw_bits<float>(0x7fffffffu) : 0; }
};
struct mw_e5m2 {
  static constexpr int digits = 2, least = -14;
  static constexpr unsigned char most = 0x7b, overflow = 0x7c;
  MW_FN float special(unsigned bits) {
    return bits < overflow ? 0 : mw_bits<float>(bits == overflow ? 0x7f800000u : 0x7fffffffu);
  }
};

/* To the nearest value, of two the even one. */
template <class F> MW_FN unsigned char mw_to_fp8(double x, bool saturate = true) {
  const unsigned long long bits = mw_bits<unsigned long long>(x);
  const unsigned char sign = (unsigned char)(bits >> 56 & 0x80);
  const double size = mw_bits<double>(bits << 1 >> 1);
  if (x != x) return 0x7f;
  const int wanted = (int)(bits << 1 >> 53) - 1023, exponent = wanted < F::least ? F::least : wanted;
  const unsigned char beyond = sign | (saturate ? F::most : F::overflow);
  if (exponent > 15) return beyond;
  const double scale = mw_bits<double>((unsigned long long)(F::digits - exponent + 1023) << 52);
  const double steps = size * scale + 4503599627370496.0 - 4503599627370496.0; /* 2^52 */
  const int word = ((exponent - F::least) << F::digits) + (int)steps;
  return word > F::most ? beyond : (unsigned char)(sign | word);
}

template <class F> MW_FN float mw_of_fp8(unsigned char word) {
  const unsigned bits = word & 0x7f, field = bits >> F::digits, fraction = bits & ((1u << F::digits) - 1);
  const float special = F::special(bits);
  const unsigned steps = field ? fraction | 1u << F::digits : fraction;
  const int exponent = (int)(field ? field - 1 : 0) + F::least - F::digits;
  const float size = special == 0 ? (float)steps * mw_bits<float>((unsigned)(exponent + 127) << 23) : special;
  return word & 0x80 ? -size : size;
}

template <class F> struct mw_fp8 {
  unsigned char __x;

  mw_fp8() = default;
  explicit mw_fp8(__half x) : __x(mw_to_fp8<F>((float)x)) {}
  explicit mw_fp8(__nv_bfloat16 x) : __x(mw_to_fp8<F>((float)x)) {}
  template <class T, class = typename mw_when<T>::number> explicit mw_fp8(T x) : __x(mw_to_fp8<F>((double)x)) {}
  template <class Other> explicit mw_fp8(mw_fp8<Other> x) : __x(mw_to_fp8<F>((float)x)) {}

  explicit operator float() const { return mw_of_fp8<F>(__x); }
  explicit operator double() const { return mw_of_fp8<F>(__x); }
  explicit operator __half() const { return mw_of_fp8<F>(__x); }
  explicit operator __nv_bfloat16() const { return mw_of_fp8<F>(__x); }
  explicit operator bool() const { return (__x & 0x7f) != 0; }
#define MW_FP8_INTEGER(I)                                                                                              \
  explicit operator I() const { return mw_to_integer<I>(mw_of_fp8<F>(__x), MW_RZ); }
  MW_FP8_INTEGER(char)
  MW_FP8_INTEGER(signed char)
  MW_FP8_INTEGER(unsigned char)
  MW_FP8_INTEGER(short)
  MW_FP8_INTEGER(unsigned short)
  MW_FP8_INTEGER(int)
  MW_FP8_INTEGER(unsigned)
  MW_FP8_INTEGER(long)
  MW_FP8_INTEGER(unsigned long)
  MW_FP8_INTEGER(long long)
  MW_FP8_INTEGER(unsigned long long)
};

template <class F> struct __attribute__((aligned(2))) mw_fp8x2 {
  unsigned short __x;

  mw_fp8x2() = default;
  mw_fp8x2(double low, double high) : __x((unsigned short)(mw_to_fp8<F>(low) | mw_to_fp8<F>(high) << 8)) {}
  explicit mw_fp8x2(float2 v) : mw_fp8x2(v.x, v.y) {}
  explicit mw_fp8x2(double2 v) : mw_fp8x2(v.x, v.y) {}
  template <class G> explicit mw_fp8x2(mw_small2<G> v) : mw_fp8x2((float)v.x, (float)v.y) {}

  explicit operator float2() const {
    return {mw_of_fp8<F>((unsigned char)__x), mw_of_fp8<F>((unsigned char)(__x >> 8))};
  }
  template <class G> explicit operator mw_small2<G>() const {
    const float2 v = (float2) * this;
    return mw_small2<G>(v.x, v.y);
  }
};

template <class F> struct __attribute__((aligned(4))) mw_fp8x4 {
  unsigned __x;

  mw_fp8x4() = default;
  mw_fp8x4(mw_fp8x2<F> low, mw_fp8x2<F> high) : __x(low.__x | (unsigned)high.__x << 16) {}
  explicit mw_fp8x4(float4 v) : mw_fp8x4(mw_fp8x2<F>(v.x, v.y), mw_fp8x2<F>(v.z, v.w)) {}
  explicit mw_fp8x4(double4 v) : mw_fp8x4(mw_fp8x2<F>(v.x, v.y), mw_fp8x2<F>(v.z, v.w)) {}
  template <class G>
  explicit mw_fp8x4(mw_small2<G> low, mw_small2<G> high) : mw_fp8x4(mw_fp8x2<F>(low), mw_fp8x2<F>(high)) {}

  explicit operator float4() const {
    mw_fp8x2<F> low, high;
    low.__x = (unsigned short)__x;
    high.__x = (unsigned short)(__x >> 16);
    const float2 a = (float2)low, b = (float2)high;
    return {a.x, a.y, b.x, b.y};
  }
};

typedef mw_fp8<mw_e4m3> __nv_fp8_e4m3;
typedef mw_fp8<mw_e5m2> __nv_fp8_e5m2;
typedef mw_fp8x2<mw_e4m3> __nv_fp8x2_e4m3;
typedef mw_fp8x2<mw_e5m2> __nv_fp8x2_e5m2;
typedef mw_fp8x4<mw_e4m3> __nv_fp8x4_e4m3;
typedef mw_fp8x4<mw_e5m2> __nv_fp8x4_e5m2;

MW_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t as) {
  const bool finite = saturate == __NV_SATFINITE;
  return as == __NV_E4M3 ? mw_to_fp8<mw_e4m3>(x, finite) : mw_to_fp8<mw_e5m2>(x, finite);
}
MW_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t as) {
  return __nv_cvt_double_to_fp8(x, saturate, as);
}
MW_FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t as) {
  return __nv_cvt_double_to_fp8((float)__half(x), saturate, as);
}
MW_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t as) {
  return __nv_cvt_double_to_fp8((float)__nv_bfloat16(x), saturate, as);
}
MW_FN __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 v, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t as) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(v.x, saturate, as) |
                                __nv_cvt_double_to_fp8(v.y, saturate, as) << 8);
}
MW_FN __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t as) {
  return __nv_cvt_double2_to_fp8x2({v.x, v.y}, saturate, as);
}
MW_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t as) {
  return __half(as == __NV_E4M3 ? mw_of_fp8<mw_e4m3>(x) : mw_of_fp8<mw_e5m2>(x));
}

#endif
#endif
