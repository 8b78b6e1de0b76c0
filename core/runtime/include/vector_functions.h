/* SPDX-License-Identifier: MIT
 *
 * make_float4 and its like. */
#ifndef MW_VECTOR_FUNCTIONS_H
#define MW_VECTOR_FUNCTIONS_H

#include "vector_types.h"

#define MW_MAKE(T, N)                                                                                                  \
  static inline N##1 make_##N##1(T x) { N##1 v = {x}; return v; }                                                      \
  static inline N##2 make_##N##2(T x, T y) { N##2 v = {x, y}; return v; }                                              \
  static inline N##3 make_##N##3(T x, T y, T z) { N##3 v = {x, y, z}; return v; }                                      \
  static inline N##4 make_##N##4(T x, T y, T z, T w) { N##4 v = {x, y, z, w}; return v; }

MW_MAKE(signed char, char)
MW_MAKE(unsigned char, uchar)
MW_MAKE(short, short)
MW_MAKE(unsigned short, ushort)
MW_MAKE(int, int)
MW_MAKE(unsigned, uint)
MW_MAKE(long, long)
MW_MAKE(unsigned long, ulong)
MW_MAKE(long long, longlong)
MW_MAKE(unsigned long long, ulonglong)
MW_MAKE(float, float)
MW_MAKE(double, double)
#undef MW_MAKE

#endif
