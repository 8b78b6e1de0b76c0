/* SPDX-License-Identifier: MIT
 *
 * __half and __nv_bfloat16, checked by themselves; launched as builtins.cu's kernels are. Every one of the 65536 bit
 * patterns is converted. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.cuh"

__device__ unsigned thread_number() {
  return (blockIdx.x + gridDim.x * blockIdx.y) * THREADS + rank_in_block();
}

/* 2^e by bits. */
__device__ float power_of_two(int e) {
  return e < -126 ? __int_as_float(1 << (e + 149)) : __int_as_float((e + 127) << 23);
}

__global__ void check_half_patterns(int *wrong) {
  for (unsigned bits = thread_number(); bits < 65536; bits += THREADS * BLOCKS) {
    const __half h = __ushort_as_half((unsigned short)bits);
    const int e = bits >> 10 & 31, m = bits & 1023;
    const float magnitude = e ? (1024 + m) * power_of_two(e - 25) : m * power_of_two(-24);
    const float f = __half2float(h);
    if (e == 31 && m) {
      CHECK(f != f && __hisnan(h) && !(h == h) && __hisnan(__float2half(f)));
      continue;
    }
    CHECK(e == 31 ? __hisinf(h) : f == (bits >> 15 ? -magnitude : magnitude));
    CHECK(__half_as_ushort(__float2half(f)) == bits);
    CHECK(__half_as_ushort(__double2half((double)f)) == bits);
    if (e == 31) continue;
    /* Half-way to the next number goes to the even one, a hair beyond it away from zero. */
    const float next = e ? (1025 + m) * power_of_two(e - 25) : (m + 1) * power_of_two(-24);
    const float middle = (magnitude + next) / 2;
    const unsigned magnitude_bits = bits & 0x7fff;
    CHECK(__half_as_ushort(__float2half(middle)) == magnitude_bits + (m & 1));
    CHECK(__half_as_ushort(__float2half(__int_as_float(__float_as_int(middle) + 1))) == magnitude_bits + 1);
    CHECK(__half_as_ushort(__double2half(middle + (double)middle * 1e-12)) == magnitude_bits + 1);
    CHECK(__half_as_ushort(__double2half(middle - (double)middle * 1e-12)) == magnitude_bits);
    CHECK(__half_as_ushort(__float2half_rz(middle)) == magnitude_bits);
    CHECK(__half_as_ushort(__float2half_ru(middle)) == magnitude_bits + 1);
    CHECK(__half_as_ushort(__float2half_rd(-middle)) == ((magnitude_bits + 1) | 0x8000));
  }
}

__global__ void check_bfloat16_patterns(int *wrong) {
  for (unsigned bits = thread_number(); bits < 65536; bits += THREADS * BLOCKS) {
    const __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)bits);
    const float f = __bfloat162float(b);
    if ((bits & 0x7fff) > 0x7f80) {
      CHECK(f != f && __hisnan(b) && __hisnan(__float2bfloat16(f)));
      continue;
    }
    CHECK(__float_as_uint(f) == bits << 16);
    CHECK(__bfloat16_as_ushort(__float2bfloat16(f)) == bits);
    if ((bits & 0x7fff) == 0x7f80) continue;
    CHECK(__bfloat16_as_ushort(__float2bfloat16(__uint_as_float(bits << 16 | 0x8000u))) == bits + (bits & 1));
    CHECK(__bfloat16_as_ushort(__float2bfloat16(__uint_as_float(bits << 16 | 0x8001u))) == bits + 1);
    CHECK(__bfloat16_as_ushort(__float2bfloat16(__uint_as_float(bits << 16 | 0x7fffu))) == bits);
  }
}

/* One rounding: the exact result of two 11-bit numbers, or its last bit made odd where double is too short. */
__global__ void check_half_arithmetic(int *wrong) {
  unsigned state = thread_number() * 2654435761u + 1;
  for (int i = 0; i < 200; i++) {
    state = state * 1664525u + 1013904223u;
    const __half a = __ushort_as_half((unsigned short)(state >> 16 & 0xbfff)),
                 b = __ushort_as_half((unsigned short)(state & 0xbfff));
    const __half c = __ushort_as_half((unsigned short)((state >> 7 ^ state << 3) & 0xbfff));
    const double x = __half2float(a), y = __half2float(b), z = __half2float(c);
    CHECK(a + b == __double2half(x + y) && a - b == __double2half(x - y) && a * b == __double2half(x * y));
    CHECK(y == 0 || a / b == __double2half(x / y));
    CHECK(__hfma(a, b, c) == __double2half(x * y + z));
    CHECK((a < b) == (x < y) && (a >= b) == (x >= y) && __hgt(a, b) == (x > y) && __hne(a, b) == (x != y));
    CHECK(__half2float(__hmax(a, b)) == fmax(x, y) && __half2float(__hmin(a, b)) == fmin(x, y));
    CHECK(__half2float(__hneg(a)) == -x && __half2float(__habs(a)) == fabs(x));
    CHECK(__half2int_rz(a) == (int)x && __half2int_rd(a) == (int)floor(x) && __half2int_ru(a) == (int)ceil(x));
    CHECK(x < 0 || __half2float(hsqrt(a)) == __half2float(__double2half(sqrt(x))));
    const __half2 p = __halves2half2(a, b), q = __half2half2(c);
    CHECK(__low2half(__hadd2(p, q)) == a + c && __high2half(__hmul2(p, q)) == b * c);
    CHECK(__low2float(__hfma2(p, q, p)) == __half2float(__hfma(a, c, a)));
    CHECK(__low2float(__lowhigh2highlow(p)) == y && __half22float2(p).x == (float)x);
  }
}

__global__ void check_bfloat16_arithmetic(int *wrong) {
  unsigned state = thread_number() * 2654435761u + 1;
  for (int i = 0; i < 200; i++) {
    state = state * 1664525u + 1013904223u;
    /* Exponents near 1, so that double holds every exact result. */
    const __nv_bfloat16 a = __ushort_as_bfloat16((unsigned short)((state >> 16 & 0x87ff) + 0x3c00));
    const __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)((state & 0x87ff) + 0x3c00));
    const __nv_bfloat16 c = __ushort_as_bfloat16((unsigned short)((state >> 7 & 0x87ff) + 0x3c00));
    const double x = __bfloat162float(a), y = __bfloat162float(b), z = __bfloat162float(c);
    CHECK(a + b == __double2bfloat16(x + y) && a - b == __double2bfloat16(x - y) && a * b == __double2bfloat16(x * y));
    CHECK(a / b == __double2bfloat16(x / y) && __hfma(a, b, c) == __double2bfloat16(x * y + z));
    CHECK((a < b) == (x < y) && __bfloat162float(__hmax(a, b)) == fmax(x, y));
    const __nv_bfloat162 p = __halves2bfloat162(a, b);
    CHECK(__low2bfloat16(__hmul2(p, p)) == a * a && __high2float(__hadd2(p, p)) == (float)(2 * y));
  }
}

__global__ void check_half_forms(int *wrong) {
  const float one = (float)opaque_one();
  __half h = __float2half(3 * one);
  h += __float2half(one);
  h *= __float2half(0.5f);
  CHECK(__half2float(h) == 2 && (float)h == 2 && __half2float(__hadd_sat(h, h)) == 1);
  CHECK(__half2float(__int2half_rn(2049)) == 2048 && __half2float(__int2half_ru(2049)) == 2050);
  CHECK(__half2float(__half(65520.0f * one)) > 65504 && __half2float(__float2half_rz(65520.0f * one)) == 65504);
  CHECK(fabsf(__half2float(hexp(h)) - 7.389f) < 0.01f && __half2float(hrcp(h)) == 0.5f);
  CHECK(fabsf(__half2float(hlog2(h)) - 1) < 0.002f && __half2float(hfloor(__float2half(2.7f * one))) == 2);
  const __half2 p = __floats2half2_rn(1 * one, -2), q = __float2half2_rn(1 * one);
  CHECK(__low2float(__heq2(p, q)) == 1 && __high2float(__heq2(p, q)) == 0 && !__hbeq2(p, q) && __hble2(p, q));
  CHECK(sizeof(__half) == 2 && sizeof(__half2) == 4 && alignof(__half2) == 4 && sizeof(__nv_bfloat162) == 4);
  /* Ties that a rounding to double first would send the wrong way. */
  const __nv_bfloat16 a = __float2bfloat16(1.0078125f * one), least = __float2bfloat16(1e-30f * one);
  CHECK(__bfloat162float(__hfma(a, __float2bfloat16(1.5f), least)) == 1.515625f);
  CHECK(__bfloat162float(__hfma(a, __float2bfloat16(1.5f), __hneg(least))) == 1.5078125f);
}
