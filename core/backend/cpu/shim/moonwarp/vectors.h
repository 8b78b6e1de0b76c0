/* SPDX-License-Identifier: MIT
 *
 * CUDA's vector types with their alignments, and dim3: for kernels, and for the host parts of programs in C and C++
 * (core/runtime/include/vector_types.h). Who includes it has declared uint3, and for MW_MAKE defines MW_FN. */
#define __align__(n)         __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#define MW_VECTORS_BUT_UINT(X)                                                                                         \
  X(signed char, char, 2, 4)                                                                                           \
  X(unsigned char, uchar, 2, 4)                                                                                        \
  X(short, short, 4, 8)                                                                                                \
  X(unsigned short, ushort, 4, 8)                                                                                      \
  X(int, int, 8, 16)                                                                                                   \
  X(long, long, 16, 16)                                                                                                \
  X(unsigned long, ulong, 16, 16)                                                                                      \
  X(long long, longlong, 16, 16)                                                                                       \
  X(unsigned long long, ulonglong, 16, 16)                                                                             \
  X(float, float, 8, 16)                                                                                               \
  X(double, double, 16, 16)
#define MW_VECTORS(X) MW_VECTORS_BUT_UINT(X) X(unsigned, uint, 8, 16)

#define MW_VECTOR_BUT3(T, N, align2, align4)                                                                           \
  typedef struct N##1 { T x; } N##1;                                                                                   \
  typedef struct __attribute__((aligned(align2))) N##2 { T x, y; } N##2;                                               \
  typedef struct __attribute__((aligned(align4))) N##4 { T x, y, z, w; } N##4;
#define MW_VECTOR3(T, N, align2, align4) typedef struct N##3 { T x, y, z; } N##3;

MW_VECTORS(MW_VECTOR_BUT3)
MW_VECTORS_BUT_UINT(MW_VECTOR3)

#define MW_MAKE(T, N, align2, align4)                                                                                  \
  MW_FN N##1 make_##N##1(T x) { N##1 v = {x}; return v; }                                                              \
  MW_FN N##2 make_##N##2(T x, T y) { N##2 v = {x, y}; return v; }                                                      \
  MW_FN N##3 make_##N##3(T x, T y, T z) { N##3 v = {x, y, z}; return v; }                                              \
  MW_FN N##4 make_##N##4(T x, T y, T z, T w) { N##4 v = {x, y, z, w}; return v; }

typedef struct dim3 {
  unsigned x, y, z;
#if defined(__cplusplus)
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
} dim3;
