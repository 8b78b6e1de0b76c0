/* SPDX-License-Identifier: MIT
 *
 * What cuda_fp16.h and cuda_bf16.h have in common. A format says how 16 bits become a float, and back. */
#ifndef MW_HOST_SMALL_H
#define MW_HOST_SMALL_H

#include "cuda_runtime.h"

template <class To, class From> static inline To moonwarp_bits(From value) {
  To to;
  static_assert(sizeof to == sizeof value, "as many bytes");
  memcpy(&to, &value, sizeof to);
  return to;
}

template <class Format> struct __attribute__((aligned(2))) moonwarp_small {
  unsigned short word;

  moonwarp_small() = default;
  template <class T> moonwarp_small(T x) : word(Format::narrow((float)x)) {}
  operator float() const { return Format::widen(word); }
  moonwarp_small &operator+=(moonwarp_small b) { return *this = (float)*this + (float)b; }
  moonwarp_small &operator-=(moonwarp_small b) { return *this = (float)*this - (float)b; }
  moonwarp_small &operator*=(moonwarp_small b) { return *this = (float)*this * (float)b; }
  moonwarp_small &operator/=(moonwarp_small b) { return *this = (float)*this / (float)b; }
};

template <class Small> struct __attribute__((aligned(4))) moonwarp_small2 {
  Small x, y;
};

#define MW_SMALL_NAMES(T, T2, name)                                                                                    \
  static inline T __float2##name(float x) { return x; }                                                                \
  static inline T __float2##name##_rn(float x) { return x; }                                                           \
  static inline T __double2##name(double x) { return x; }                                                              \
  static inline float __##name##2float(T x) { return x; }                                                              \
  static inline T2 __floats2##name##2_rn(float x, float y) { return T2{x, y}; }                                        \
  static inline T2 make_##name##2(T x, T y) { return T2{x, y}; }                                                       \
  static inline float __low2float(T2 v) { return v.x; }                                                                \
  static inline float __high2float(T2 v) { return v.y; }

#endif
