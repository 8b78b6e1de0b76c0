/* SPDX-License-Identifier: MIT
 *
 * Small stand-ins for the C headers. NVRTC declares the vector types, the built-in variables, printf and the math
 * functions itself; what is added here are names and limits. */
#include "core/backend/cuda/headers.h"

#define EMPTY "\n"

/* clang-format off */
#define GUARD(name, text) "#ifndef MW_RTC_" name "\n#define MW_RTC_" name "\n" text "#endif\n"

#define STDDEF GUARD("STDDEF", "#ifndef offsetof\n#define offsetof(type, member) __builtin_offsetof(type, member)\n#endif\n" \
                               "#ifndef NULL\n#define NULL 0\n#endif\n" \
                               "typedef long ptrdiff_t;\n" \
                               "namespace std { using ::size_t; using ::ptrdiff_t; }\n")

/* The very definitions of CCCL's <cuda/std/climits> and <cuda/std/cstdint> under NVRTC: both may be included. */
#define LIMITS GUARD("LIMITS", \
  "#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n" \
  "#define CHAR_MIN SCHAR_MIN\n#define CHAR_MAX SCHAR_MAX\n" \
  "#define SHRT_MIN (-SHRT_MAX - 1)\n#define SHRT_MAX 0x7fff\n#define USHRT_MAX 0xffff\n" \
  "#define INT_MIN (-INT_MAX - 1)\n#define INT_MAX 0x7fffffff\n#define UINT_MAX 0xffffffff\n" \
  "#define LONG_MIN (-LONG_MAX - 1)\n#define LONG_MAX LLONG_MAX\n#define ULONG_MAX ULLONG_MAX\n" \
  "#define LLONG_MIN (-LLONG_MAX - 1)\n#define LLONG_MAX 0x7fffffffffffffffLL\n#define ULLONG_MAX 0xffffffffffffffffUL\n")

#define INTEGER(bits, type) \
  "typedef signed " type " int" bits "_t, int_fast" bits "_t, int_least" bits "_t;\n" \
  "typedef unsigned " type " uint" bits "_t, uint_fast" bits "_t, uint_least" bits "_t;\n" \
  "namespace std { using ::int" bits "_t; using ::uint" bits "_t; }\n"

#define STDINT LIMITS GUARD("STDINT", \
  INTEGER("8", "char") INTEGER("16", "short") INTEGER("32", "int") INTEGER("64", "long long") \
  "typedef int64_t intptr_t, intmax_t;\ntypedef uint64_t uintptr_t, uintmax_t;\n" \
  "#define INT8_MIN SCHAR_MIN\n#define INT16_MIN SHRT_MIN\n#define INT32_MIN INT_MIN\n#define INT64_MIN LLONG_MIN\n" \
  "#define INT8_MAX SCHAR_MAX\n#define INT16_MAX SHRT_MAX\n#define INT32_MAX INT_MAX\n#define INT64_MAX LLONG_MAX\n" \
  "#define UINT8_MAX UCHAR_MAX\n#define UINT16_MAX USHRT_MAX\n#define UINT32_MAX UINT_MAX\n" \
  "#define UINT64_MAX ULLONG_MAX\n#define SIZE_MAX UINT64_MAX\n" \
  "namespace std { using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t; }\n")

#define FLOAT GUARD("FLOAT", \
  "#define FLT_RADIX 2\n#define FLT_MANT_DIG 24\n#define DBL_MANT_DIG 53\n#define FLT_DIG 6\n#define DBL_DIG 15\n" \
  "#define FLT_EPSILON 1.1920928955078125e-7f\n#define DBL_EPSILON 2.2204460492503131e-16\n" \
  "#define FLT_MIN 1.17549435082228751e-38f\n#define FLT_MAX 3.40282346638528860e+38f\n" \
  "#define DBL_MIN 2.2250738585072014e-308\n#define DBL_MAX 1.7976931348623157e+308\n" \
  "#define FLT_MIN_EXP (-125)\n#define FLT_MAX_EXP 128\n#define DBL_MIN_EXP (-1021)\n#define DBL_MAX_EXP 1024\n")

#define MATH GUARD("MATH", \
  "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n" \
  "#ifndef NAN\n#define NAN __int_as_float(0x7fc00000)\n#endif\n" \
  "#ifndef HUGE_VAL\n#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)\n#endif\n" \
  "#ifndef HUGE_VALF\n#define HUGE_VALF INFINITY\n#endif\n" \
  "#define M_E 2.7182818284590452354\n#define M_LOG2E 1.4426950408889634074\n#define M_LOG10E 0.43429448190325182765\n" \
  "#define M_LN2 0.69314718055994530942\n#define M_LN10 2.30258509299404568402\n#define M_PI 3.14159265358979323846\n" \
  "#define M_PI_2 1.57079632679489661923\n#define M_PI_4 0.78539816339744830962\n#define M_1_PI 0.31830988618379067154\n" \
  "#define M_2_PI 0.63661977236758134308\n#define M_2_SQRTPI 1.12837916709551257390\n" \
  "#define M_SQRT2 1.41421356237309504880\n#define M_SQRT1_2 0.70710678118654752440\n")

#define STD_MATH GUARD("STD_MATH", \
  "namespace std {\n" \
  "using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2; using ::atanh;\n" \
  "using ::cbrt; using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf; using ::erfc; using ::exp;\n" \
  "using ::exp2; using ::expm1; using ::fabs; using ::fdim; using ::floor; using ::fma; using ::fmax; using ::fmin;\n" \
  "using ::fmod; using ::frexp; using ::hypot; using ::ilogb; using ::ldexp; using ::lgamma; using ::llrint;\n" \
  "using ::llround; using ::log; using ::log10; using ::log1p; using ::log2; using ::logb; using ::lrint;\n" \
  "using ::lround; using ::modf; using ::nearbyint; using ::nextafter; using ::pow; using ::remainder; using ::rint;\n" \
  "using ::round; using ::scalbn; using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh; using ::tgamma;\n" \
  "using ::trunc; using ::isnan; using ::isinf; using ::isfinite; using ::signbit;\n" \
  "}\n")

/* Not guarded: assert may be redefined by another NDEBUG. */
#define ASSERT \
  "#undef assert\n#ifdef NDEBUG\n#define assert(e) ((void)0)\n#else\n" \
  "#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, sizeof(char)))\n#endif\n" \
  GUARD("ASSERT", "extern \"C\" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);\n")

#define STRING GUARD("STRING", "namespace std { using ::memcpy; using ::memset; }\n")

#define HEADERS(X) \
  X("stddef.h", STDDEF) X("cstddef", STDDEF) X("stdint.h", STDINT) X("cstdint", STDINT) \
  X("inttypes.h", STDINT) X("cinttypes", STDINT) X("limits.h", LIMITS) X("climits", LIMITS) \
  X("float.h", FLOAT) X("cfloat", FLOAT) X("math.h", MATH) X("cmath", MATH STD_MATH) \
  X("assert.h", ASSERT) X("cassert", ASSERT) X("stdio.h", EMPTY) X("cstdio", EMPTY) \
  X("stdlib.h", STDDEF) X("cstdlib", STDDEF) X("string.h", EMPTY) X("cstring", STRING) \
  X("stdbool.h", EMPTY) X("cuda.h", EMPTY) X("cuda_runtime.h", EMPTY) X("cuda_runtime_api.h", EMPTY) \
  X("device_launch_parameters.h", EMPTY) X("math_constants.h", MATH) X("vector_types.h", EMPTY) \
  X("vector_functions.h", EMPTY) X("device_functions.h", EMPTY)

/* clang-format on */
#define NAME(name, text) name,
#define TEXT(name, text) text,

const char *const cuda_header_names[] = {HEADERS(NAME)};
const char *const cuda_header_texts[] = {HEADERS(TEXT)};
const int cuda_header_count = sizeof cuda_header_names / sizeof *cuda_header_names;
