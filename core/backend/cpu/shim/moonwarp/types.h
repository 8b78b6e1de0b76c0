/* SPDX-License-Identifier: MIT
 *
 * Vector types and their make_ functions, dim3, and the few type traits that the rest of the shim needs. Included by
 * moonwarp.h only. */

/* Function and variable qualifiers are rewritten before they come here; these stay in the text. Attributes spelled
 * __noinline__ and the like are not made macros: libstdc++ uses the words. */
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

/* uint3 is the host's own type, so that what the scheduler stores can be handed to a kernel without a conversion. */
typedef mw_dim3 uint3;
#include "vectors.h"
MW_VECTORS(MW_MAKE)

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
