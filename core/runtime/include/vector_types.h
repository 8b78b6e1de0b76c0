/* SPDX-License-Identifier: MIT
 *
 * CUDA's vector types with their alignments, and dim3; for C and C++. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#define __align__(n)         __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#define MW_VECTOR(T, N, align2, align4)                                                                                \
  typedef struct N##1 { T x; } N##1;                                                                                   \
  typedef struct __attribute__((aligned(align2))) N##2 { T x, y; } N##2;                                               \
  typedef struct N##3 { T x, y, z; } N##3;                                                                             \
  typedef struct __attribute__((aligned(align4))) N##4 { T x, y, z, w; } N##4;

MW_VECTOR(signed char, char, 2, 4)
MW_VECTOR(unsigned char, uchar, 2, 4)
MW_VECTOR(short, short, 4, 8)
MW_VECTOR(unsigned short, ushort, 4, 8)
MW_VECTOR(int, int, 8, 16)
MW_VECTOR(unsigned, uint, 8, 16)
MW_VECTOR(long, long, 16, 16)
MW_VECTOR(unsigned long, ulong, 16, 16)
MW_VECTOR(long long, longlong, 16, 16)
MW_VECTOR(unsigned long long, ulonglong, 16, 16)
MW_VECTOR(float, float, 8, 16)
MW_VECTOR(double, double, 16, 16)
#undef MW_VECTOR

typedef struct dim3 {
  unsigned x, y, z;
#if defined(__cplusplus)
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
} dim3;

#endif
