/* SPDX-License-Identifier: MIT
 *
 * The exact-width integers of the LP64 machines. Under NVRTC before CUDA 13 those of 64 bits are of long long, as in
 * CCCL's <cuda/std/cstdint>: both may be included. */
#ifndef MW_STDINT_H
#define MW_STDINT_H

#include "limits.h"

#define INT8_MAX    SCHAR_MAX
#define INT8_MIN    SCHAR_MIN
#define UINT8_MAX   UCHAR_MAX
#define INT16_MAX   SHRT_MAX
#define INT16_MIN   SHRT_MIN
#define UINT16_MAX  USHRT_MAX
#define INT32_MAX   INT_MAX
#define INT32_MIN   INT_MIN
#define UINT32_MAX  UINT_MAX
#define INTPTR_MAX  INT64_MAX
#define INTPTR_MIN  INT64_MIN
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MAX  INT64_MAX
#define INTMAX_MIN  INT64_MIN
#define UINTMAX_MAX UINT64_MAX
#define SIZE_MAX    UINT64_MAX
#if defined(__CUDACC_RTC__) && __CUDACC_VER_MAJOR__ < 13
#define MW_LONG_LONG
#endif
#if defined(MW_LONG_LONG)
#define INT64_MAX   LLONG_MAX
#define INT64_MIN   LLONG_MIN
#define UINT64_MAX  ULLONG_MAX
#define MW_LONG     long long
#else
#define INT64_MAX   LONG_MAX
#define INT64_MIN   LONG_MIN
#define UINT64_MAX  ULONG_MAX
#define MW_LONG     long
#endif

#if !defined(INT8_C)
#define INT8_C(c)   c
#define INT16_C(c)  c
#define INT32_C(c)  c
#define UINT8_C(c)  c
#define UINT16_C(c) c
#define UINT32_C(c) c##u
#if defined(MW_LONG_LONG)
#define INT64_C(c)  c##ll
#define UINT64_C(c) c##ull
#else
#define INT64_C(c)  c##L
#define UINT64_C(c) c##UL
#endif
#endif

#if !defined(MW_PREPROCESS)
typedef signed char int8_t, int_least8_t, int_fast8_t;
typedef unsigned char uint8_t, uint_least8_t, uint_fast8_t;
typedef short int16_t, int_least16_t;
typedef unsigned short uint16_t, uint_least16_t;
typedef int int32_t, int_least32_t;
typedef unsigned uint32_t, uint_least32_t;
typedef MW_LONG int64_t, int_least64_t, int_fast64_t, intptr_t, intmax_t;
typedef unsigned MW_LONG uint64_t, uint_least64_t, uint_fast64_t, uintptr_t, uintmax_t;
#if defined(__CUDACC_RTC__)
typedef short int_fast16_t;
typedef unsigned short uint_fast16_t;
typedef int int_fast32_t;
typedef unsigned uint_fast32_t;
#else
typedef long int_fast16_t, int_fast32_t;
typedef unsigned long uint_fast16_t, uint_fast32_t;
#endif
#endif

#endif
