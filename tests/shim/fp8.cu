/* SPDX-License-Identifier: MIT
 *
 * The eight-bit floating formats, checked by themselves; launched as builtins.cu's kernels are. Every bit pattern is
 * converted, and every number between two neighbours that decides how to round. */
#include <cuda_fp8.h>

#include "check.cuh"

struct e4m3 {
  typedef __nv_fp8_e4m3 type;
  enum { fraction = 3, bias = 7, most = 0x7e, beyond = 0x7f };
  static const __nv_fp8_interpretation_t name = __NV_E4M3;
};
struct e5m2 {
  typedef __nv_fp8_e5m2 type;
  enum { fraction = 2, bias = 15, most = 0x7b, beyond = 0x7c };
  static const __nv_fp8_interpretation_t name = __NV_E5M2;
};

template <class F> __device__ double value_of(int bits) {
  const int steps = bits & ((1 << F::fraction) - 1), field = bits >> F::fraction & (0x7f >> F::fraction);
  const double size = field ? ((1 << F::fraction) | steps) * exp2((double)(field - F::bias - F::fraction))
                            : steps * exp2((double)(1 - F::bias - F::fraction));
  return bits & 0x80 ? -size : size;
}

template <class F> __device__ void check_patterns(int *wrong) {
  typedef typename F::type fp8;
  const int bits = (int)rank_in_block(), size = bits & 0x7f, sign = bits & 0x80;
  fp8 x;
  x.__x = (unsigned char)bits;
  if (size > F::most) {
    CHECK(!((float)x >= -57344 && (float)x <= 57344));
    return;
  }
  const double v = value_of<F>(bits);
  CHECK((float)x == (float)v && (double)x == v && (float)(__half)x == (float)v && (float)(__nv_bfloat16)x == (float)v);
  CHECK((int)x == (int)v && (bool)x == (v != 0) && fp8((float)v).__x == bits && fp8(__half((float)v)).__x == bits);
  const double upper = size == F::most ? v + (v - value_of<F>(bits - 1)) : value_of<F>(bits + 1), middle = (v + upper) / 2;
  const int next = size == F::most ? F::most : size + 1, off = size == F::most ? F::beyond : next;
  CHECK(fp8(middle).__x == (sign | (size % 2 ? next : size)));
  CHECK(fp8(middle * (1 - 1e-12)).__x == bits && fp8(middle * (1 + 1e-12)).__x == (sign | next));
  CHECK(__nv_cvt_double_to_fp8(middle * (1 + 1e-12), __NV_NOSAT, F::name) == (sign | off));
}

__global__ void check_e4m3(int *wrong) {
  check_patterns<e4m3>(wrong);
}
__global__ void check_e5m2(int *wrong) {
  check_patterns<e5m2>(wrong);
}

__global__ void check_fp8_vectors(int *wrong) {
  const float one = (float)opaque_one();
  const __nv_fp8x4_e4m3 four(make_float4(one, -2, 1000, 0.25f));
  CHECK(four.__x == 0x287ec038u);
  const float4 back = (float4)four;
  CHECK(back.x == 1 && back.y == -2 && back.z == 448 && back.w == 0.25f);
  const __nv_fp8x2_e5m2 two(__floats2half2_rn(one, -0.5f));
  CHECK(two.__x == 0xb83c && __low2float((__half2)two) == 1 && ((float2)two).y == -0.5f);
  const __nv_fp8x4_e5m2 pairs(__floats2bfloat162_rn(one, 2), __floats2bfloat162_rn(3, 4));
  CHECK(pairs.__x == 0x4442403cu);
  const float nan = one / (one - 1) * 0;
  CHECK(__nv_fp8_e4m3(nan).__x == 0x7f && (int)__nv_fp8_e4m3(nan) == 0 && __nv_fp8_e4m3(7).__x == 0x4e);
  CHECK(__nv_cvt_float_to_fp8(1e9f * one, __NV_NOSAT, __NV_E5M2) == 0x7c);
  CHECK(__nv_cvt_float2_to_fp8x2(make_float2(one, one * 2), __NV_SATFINITE, __NV_E4M3) == 0x4038);
}
