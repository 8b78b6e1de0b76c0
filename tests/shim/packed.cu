/* SPDX-License-Identifier: MIT
 *
 * SIMD within a word, minima and maxima of three, named barriers, small extras; launched as builtins.cu says. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.cuh"

/* {== SIMD within a word =============================================== */

template <class Part, class F> __device__ unsigned parts(unsigned a, unsigned b, F f) {
  unsigned r = 0;
  const int bits = 8 * sizeof(Part);
  for (int at = 0; at < 32; at += bits) {
    const Part part = (Part)f((int)(Part)(a >> at), (int)(Part)(b >> at));
    r |= ((unsigned)part & (0xffffffffu >> (32 - bits))) << at;
  }
  return r;
}

__device__ int clamped(int x, int least, int most) { return x < least ? least : x > most ? most : x; }

#define SAME(name, Part, e) CHECK(name(a, b) == parts<Part>(a, b, [](int x, int y) { return e; }))
#define SAME1(name, Part, e) CHECK(name(a) == parts<Part>(a, a, [](int x, int) { return e; }))
#define COMPARES(name, n, Part, op)                                                                                    \
  SAME(__vcmp##name##n, Part, x op y ? -1 : 0);                                                                        \
  SAME(__vset##name##n, Part, x op y ? 1 : 0)

#define FAMILY(n, S, U, least, most)                                                                                   \
  SAME(__vadd##n, S, x + y);                                                                                           \
  SAME(__vaddss##n, S, clamped(x + y, least, most));                                                                   \
  SAME(__vaddus##n, U, clamped(x + y, 0, most - least));                                                               \
  SAME(__vsub##n, S, x - y);                                                                                           \
  SAME(__vsubss##n, S, clamped(x - y, least, most));                                                                   \
  SAME(__vsubus##n, U, clamped(x - y, 0, most - least));                                                               \
  SAME(__vmins##n, S, x < y ? x : y);                                                                                  \
  SAME(__vmaxu##n, U, x > y ? x : y);                                                                                  \
  SAME(__vabsdiffs##n, S, x > y ? x - y : y - x);                                                                      \
  SAME(__vabsdiffu##n, U, x > y ? x - y : y - x);                                                                      \
  SAME(__vavgs##n, S, (x + y + (x + y >= 0)) >> 1);                                                                    \
  SAME(__vavgu##n, U, (x + y + 1) / 2);                                                                                \
  SAME(__vhaddu##n, U, (x + y) / 2);                                                                                   \
  SAME1(__vabs##n, S, x < 0 ? -x : x);                                                                                 \
  SAME1(__vabsss##n, S, clamped(x < 0 ? -x : x, least, most));                                                         \
  SAME1(__vneg##n, S, -x);                                                                                             \
  SAME1(__vnegss##n, S, clamped(-x, least, most));                                                                     \
  COMPARES(eq, n, U, ==);                                                                                              \
  COMPARES(ne, n, U, !=);                                                                                              \
  COMPARES(ges, n, S, >=);                                                                                             \
  COMPARES(geu, n, U, >=);                                                                                             \
  COMPARES(gts, n, S, >);                                                                                              \
  COMPARES(gtu, n, U, >);                                                                                              \
  COMPARES(les, n, S, <=);                                                                                             \
  COMPARES(leu, n, U, <=);                                                                                             \
  COMPARES(lts, n, S, <);                                                                                              \
  COMPARES(ltu, n, U, <)

__device__ unsigned scrambled(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* Words that hold the ends of the ranges, equal parts and anything else. */
__device__ unsigned word(unsigned i) {
  const unsigned ends[] = {0x80007fffu, 0x7f80ff00u, 0x80808080u, 0xffff0000u, 0x00010001u, 0x7fff8000u};
  return i % 3 == 0 ? ends[i / 3 % 6] : scrambled(i);
}

__global__ void check_bytes(int *wrong) {
  const unsigned a = word(rank_in_block()), b = word(scrambled(rank_in_block()) + blockIdx.x);
  FAMILY(4, signed char, unsigned char, -128, 127);
  CHECK(__vsads4(0x80ff0001u, 0x7f010002u) == 255 + 2 + 0 + 1 && __vsadu4(0x80ff0001u, 0x7f010002u) == 1 + 254 + 1);
}

__global__ void check_halfwords(int *wrong) {
  const unsigned a = word(rank_in_block()), b = word(scrambled(rank_in_block()) + blockIdx.x);
  FAMILY(2, short, unsigned short, -32768, 32767);
  CHECK(__vsads2(0x80000001u, 0x7fff0003u) == 65535 + 2 && __vsadu2(0x80000001u, 0x7fff0003u) == 1 + 2);
}

__global__ void check_three(int *wrong) {
  const unsigned a = word(rank_in_block()), b = word(scrambled(rank_in_block())), c = word(scrambled(a + b));
  const int x = (int)a, y = (int)b, z = (int)c;
  CHECK(__vimax3_s32(x, y, z) == max(max(x, y), z) && __vimin3_u32(a, b, c) == min(min(a, b), c));
  CHECK(__vimax3_s16x2(a, b, c) == __vmaxs2(__vmaxs2(a, b), c) && __vimin3_u16x2(a, b, c) == __vminu2(__vminu2(a, b), c));
  CHECK(__vimin3_s32_relu(x, y, z) == max(min(min(x, y), z), 0) && __vimax_s32_relu(x, y) == max(max(x, y), 0));
  CHECK(__viaddmax_s32(x, y, z) == max((int)(a + b), z) && __viaddmin_u32(a, b, c) == min(a + b, c));
  CHECK(__viaddmax_s16x2_relu(a, b, c) == __vmaxs2(__vmaxs2(__vadd2(a, b), c), 0));
  CHECK(__viaddmin_u16x2(a, b, c) == __vminu2(__vadd2(a, b), c) && __vimin_s16x2_relu(a, b) == __vmaxs2(__vmins2(a, b), 0));
  bool first = false, high = false, low = false;
  CHECK(__vibmax_s32(x, y, &first) == max(x, y) && first == (x >= y));
  CHECK(__vibmin_u32(a, b, &first) == min(a, b) && first == (a <= b));
  CHECK(__vibmin_s16x2(a, b, &high, &low) == __vmins2(a, b) && low == ((short)a <= (short)b));
  CHECK(high == ((short)(a >> 16) <= (short)(b >> 16)));
}

/* ==} */

/* Warps meet in pairs, each pair at a barrier of its own, from different lines. */
__global__ void check_named_barriers(int *wrong) {
  __shared__ unsigned box[THREADS];
  const unsigned r = rank_in_block(), warp = r / 32;
  box[r] = 0;
  __barrier_sync(0);
  box[r] = r + 1;
  if (warp < 4)
    __barrier_sync_count(1 + warp, 64);
  else
    __barrier_sync_count(warp - 3, 64);
  CHECK(box[r ^ 128] == (r ^ 128) + 1);
  __barrier_sync(7);
  if (warp == 0) return;
  box[r] = 0;
  __barrier_sync_count(3, THREADS - 32);
  CHECK(box[32 + (r + 7) % (THREADS - 32)] == 0);
}

__device__ double places[THREADS];

__global__ void check_small_extras(int *wrong) {
  const __half nan = __ushort_as_half(0x7e00), one = __float2half((float)opaque_one());
  const __half2 a = __halves2half2(nan, one), b = __halves2half2(one, one);
  CHECK(__hltu2_mask(a, b) == 0xffffu && __hequ2_mask(a, b) == 0xffffffffu && __hbequ2(a, b) && !__hbgtu2(a, b));
  CHECK(__hisnan(__low2half(__hmax2_nan(a, b))) && !__hisnan(__low2half(__hmax2(a, b))));
  CHECK(__half2char_rz(__float2half(-200.0f)) == -128 && __half2uchar_rz(__float2half(3.9f)) == 3);
  const __half2 i = __floats2half2_rn(0, 1);
  CHECK(__hbeq2(__hcmadd(i, i, __floats2half2_rn(3, 4)), __floats2half2_rn(2, 4)));
  __shared__ __half sum;
  __shared__ float2 pair;
  if (rank_in_block() == 0) sum = __float2half(0), pair = make_float2(0, 0);
  __syncthreads();
  atomicAdd(&sum, one);
  __syncthreads();
  CHECK(__half2float(sum) == 256);
  __stcs(&places[rank_in_block()], opaque_one());
  CHECK(__ldcs(&places[rank_in_block()]) == 1);
}
