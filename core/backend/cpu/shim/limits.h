/* SPDX-License-Identifier: MIT
 *
 * The limits of the integer types, in the words of CCCL's <cuda/std/climits>: under NVRTC both may be included. */
#ifndef MW_LIMITS_H
#define MW_LIMITS_H

#define CHAR_BIT   8
#define SCHAR_MAX  127
#define SCHAR_MIN  (-128)
#define UCHAR_MAX  255
#define CHAR_MAX   SCHAR_MAX
#define CHAR_MIN   SCHAR_MIN
#define SHRT_MAX   0x7fff
#define SHRT_MIN   (-SHRT_MAX - 1)
#define USHRT_MAX  0xffff
#define INT_MAX    0x7fffffff
#define INT_MIN    (-INT_MAX - 1)
#define UINT_MAX   0xffffffff
#define LONG_MIN   (-LONG_MAX - 1)
#define LLONG_MAX  0x7fffffffffffffffLL
#define LLONG_MIN  (-LLONG_MAX - 1)
#if defined(__CUDACC_RTC__)
#define LONG_MAX   LLONG_MAX
#define ULONG_MAX  ULLONG_MAX
#define ULLONG_MAX 0xffffffffffffffffUL
#else
#define LONG_MAX   0x7fffffffffffffffL
#define ULONG_MAX  0xffffffffffffffffUL
#define ULLONG_MAX 0xffffffffffffffffULL
#endif

#endif
