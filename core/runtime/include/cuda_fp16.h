/* SPDX-License-Identifier: MIT
 *
 * __half and __half2 on the host: kept as 16 bits, computed with as float, rounded to nearest, ties to even (IEEE 754). */
#ifndef MW_HOST_CUDA_FP16_H
#define MW_HOST_CUDA_FP16_H

#include "small.h"

struct moonwarp_binary16 {
  static float widen(unsigned short bits) {
    const unsigned u = (bits & 0x7fffu) << 13, sign = (bits & 0x8000u) << 16;
    if (u >= 0x0f800000u) return moonwarp_bits<float>(sign | 0x70000000u | u);
    return moonwarp_bits<float>(sign | moonwarp_bits<unsigned>(moonwarp_bits<float>(u) * 0x1p112f));
  }
  static unsigned short narrow(float x) {
    unsigned u = moonwarp_bits<unsigned>(x);
    const unsigned sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return 0x7fff;
    if (u >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
    if (u < 0x38800000u)
      return (unsigned short)(sign | (moonwarp_bits<unsigned>(moonwarp_bits<float>(u) + 0.5f) - 0x3f000000u));
    return (unsigned short)(sign | (u - 0x38000000u + 0xfffu + (u >> 13 & 1)) >> 13);
  }
};

typedef moonwarp_small<moonwarp_binary16> __half, half;
typedef moonwarp_small2<__half> __half2, half2;
MW_SMALL_NAMES(__half, __half2, half)

#endif
