/* SPDX-License-Identifier: MIT
 *
 * Vector types with CUDA's alignments and their make_ functions, dim3, and the few type traits that the
 * rest of the shim needs. Included by moonwarp.h only. */

/* Function and variable qualifiers are rewritten before they come here; these stay in the text. Attributes spelled
 * __noinline__ and the like are not made macros: libstdc++ uses the words. */
#define __align__(n)         __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __restrict __restrict__
#define __nv_pure__
#if defined(MW_CHECK)
/* Of what is assumed nothing would be found any more. */
#define __builtin_assume(e)             ((void)sizeof((e) ? 1 : 0))
#define __builtin_assume_aligned(p, ...) ((void *)(p))
#define __builtin_unreachable()         mw_runtime_now->fail("__builtin_unreachable() was reached", __FILE__, __LINE__)
#elif !defined(__clang__)
#define __builtin_assume(e) ((e) ? (void)0 : __builtin_unreachable())
#endif
#define __assume(e) __builtin_assume(e)

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;
typedef decltype(nullptr) mw_nullptr_t;

#define MW_VECTOR(T, N, align2, align4)                                                                                \
  struct N##3 { T x, y, z; };                                                                                          \
  MW_VECTOR_BUT3(T, N, align2, align4)

#define MW_VECTOR_BUT3(T, N, align2, align4)                                                                           \
  struct N##1 { T x; };                                                                                                \
  struct __attribute__((aligned(align2))) N##2 { T x, y; };                                                            \
  struct __attribute__((aligned(align4))) N##4 { T x, y, z, w; };                                                      \
  MW_MAKE(T, N)

#define MW_MAKE(T, N)                                                                                                  \
  MW_FN N##1 make_##N##1(T x) { return {x}; }                                                                          \
  MW_FN N##2 make_##N##2(T x, T y) { return {x, y}; }                                                                  \
  MW_FN N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }                                                          \
  MW_FN N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }

MW_VECTOR(signed char, char, 2, 4)
MW_VECTOR(unsigned char, uchar, 2, 4)
MW_VECTOR(short, short, 4, 8)
MW_VECTOR(unsigned short, ushort, 4, 8)
MW_VECTOR(int, int, 8, 16)
MW_VECTOR(long, long, 16, 16)
MW_VECTOR(unsigned long, ulong, 16, 16)
MW_VECTOR(long long, longlong, 16, 16)
MW_VECTOR(unsigned long long, ulonglong, 16, 16)
MW_VECTOR(float, float, 8, 16)
MW_VECTOR(double, double, 16, 16)

/* uint3 is the host's own type, so that what the scheduler stores can be handed to a kernel without a conversion. */
typedef mw_dim3 uint3;
MW_VECTOR_BUT3(unsigned, uint, 8, 16)

/* CUDA 13 names the alignment of the 32-byte vectors. */
#define MW_WIDE(T, N)                                                                                                  \
  typedef N##4 N##4_16a;                                                                                               \
  struct __attribute__((aligned(32))) N##4_32a { T x, y, z, w; };                                                      \
  MW_FN N##4_16a make_##N##4_16a(T x, T y, T z, T w) { return {x, y, z, w}; }                                          \
  MW_FN N##4_32a make_##N##4_32a(T x, T y, T z, T w) { return {x, y, z, w}; }

MW_WIDE(double, double)
MW_WIDE(long, long)
MW_WIDE(unsigned long, ulong)
MW_WIDE(long long, longlong)
MW_WIDE(unsigned long long, ulonglong)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

/* mw_when<T>::integer exists for integer types, ::number for those and the two floating types. */
template <class T> struct mw_when {};
#define MW_INTEGER(T)                                                                                                  \
  template <> struct mw_when<T> {                                                                                      \
    typedef double integer;                                                                                            \
    typedef double number;                                                                                             \
  };
MW_INTEGER(bool)
MW_INTEGER(char)
MW_INTEGER(signed char)
MW_INTEGER(unsigned char)
MW_INTEGER(short)
MW_INTEGER(unsigned short)
MW_INTEGER(int)
MW_INTEGER(unsigned)
MW_INTEGER(long)
MW_INTEGER(unsigned long)
MW_INTEGER(long long)
MW_INTEGER(unsigned long long)
template <> struct mw_when<float> { typedef double number; };
template <> struct mw_when<double> { typedef double number; };

/* The bits of one type as another of the same size. */
template <class To, class From> MW_FN To mw_bits(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "same size wanted");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
