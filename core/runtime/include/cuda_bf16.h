/* SPDX-License-Identifier: MIT
 *
 * __nv_bfloat16 and its pair on the host: kept as 16 bits, computed with as float, rounded to nearest, ties to even. */
#ifndef MW_HOST_CUDA_BF16_H
#define MW_HOST_CUDA_BF16_H

#include "small.h"

struct moonwarp_bfloat16 {
  static float widen(unsigned short bits) { return moonwarp_bits<float>((unsigned)bits << 16); }
  static unsigned short narrow(float x) {
    const unsigned u = moonwarp_bits<unsigned>(x);
    return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fff : (unsigned short)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
  }
};

typedef moonwarp_small<moonwarp_bfloat16> __nv_bfloat16, nv_bfloat16;
typedef moonwarp_small2<__nv_bfloat16> __nv_bfloat162, nv_bfloat162;
MW_SMALL_NAMES(__nv_bfloat16, __nv_bfloat162, bfloat16)

#endif
