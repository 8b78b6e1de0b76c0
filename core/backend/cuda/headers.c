/* SPDX-License-Identifier: MIT
 *
 * Small stand-ins for the C headers. NVRTC declares the vector types, the built-in variables, printf and the math
 * functions itself; what is added here are names and limits. */
#include "core/backend/cuda/headers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/backend/cuda/driver.h"

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
  "#define INT8_C(c) c\n#define INT16_C(c) c\n#define INT32_C(c) c\n#define INT64_C(c) c##ll\n" \
  "#define UINT8_C(c) c\n#define UINT16_C(c) c\n#define UINT32_C(c) c##u\n#define UINT64_C(c) c##ull\n" \
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

#define CONSTANTS GUARD("CONSTANTS", \
  "#define CUDART_PI_F 3.1415926536f\n#define CUDART_PIO2_F 1.5707963268f\n#define CUDART_PIO4_F 0.7853981634f\n" \
  "#define CUDART_3PIO4_F 2.3561944902f\n#define CUDART_2_OVER_PI_F 0.6366197724f\n" \
  "#define CUDART_SQRT_TWO_F 1.4142135624f\n#define CUDART_SQRT_HALF_F 0.7071067812f\n" \
  "#define CUDART_LN2_F 0.6931471806f\n#define CUDART_LNT_F 2.3025850930f\n#define CUDART_LNPI_F 1.1447298858f\n" \
  "#define CUDART_L2E_F 1.4426950409f\n#define CUDART_L2T_F 3.3219280949f\n#define CUDART_LG2_F 0.3010299957f\n" \
  "#define CUDART_LGE_F 0.4342944819f\n#define CUDART_THIRD_F 0.3333333333f\n" \
  "#define CUDART_SQRT_2_OVER_PI_F 0.7978845608f\n#define CUDART_PI 3.14159265358979323846\n" \
  "#define CUDART_PIO2 1.57079632679489661923\n#define CUDART_PIO4 0.78539816339744830962\n" \
  "#define CUDART_3PIO4 2.35619449019234492885\n#define CUDART_2_OVER_PI 0.63661977236758134308\n" \
  "#define CUDART_SQRT_2PI 2.50662827463100050242\n#define CUDART_SQRT_PIO2 1.25331413731550025121\n" \
  "#define CUDART_SQRT_2OPI 0.79788456080286535588\n#define CUDART_SQRT_TWO 1.41421356237309504880\n" \
  "#define CUDART_SQRT_HALF 0.70710678118654752440\n#define CUDART_LN2 0.69314718055994530942\n" \
  "#define CUDART_LNT 2.30258509299404568402\n#define CUDART_LNPI 1.14472988584940017414\n" \
  "#define CUDART_L2E 1.44269504088896340736\n#define CUDART_L2T 3.32192809488736234787\n" \
  "#define CUDART_LG2 0.30102999566398119521\n#define CUDART_LGE 0.43429448190325182765\n" \
  "#define CUDART_THIRD 0.33333333333333333333\n#define CUDART_TWOTHIRD 0.66666666666666666667\n" \
  "#define CUDART_PI_HI 3.141592653589793\n#define CUDART_PI_LO 1.2246467991473532e-16\n" \
  "#define CUDART_PIO2_HI 1.5707963267948966\n#define CUDART_PIO2_LO 6.123233995736766e-17\n" \
  "#define CUDART_PIO4_HI 0.7853981633974483\n#define CUDART_PIO4_LO 3.061616997868383e-17\n" \
  "#define CUDART_SQRT_2PI_HI 2.5066282746310007\n#define CUDART_SQRT_2PI_LO -1.8328579980459167e-16\n" \
  "#define CUDART_SQRT_PIO2_HI 1.2533141373155003\n#define CUDART_SQRT_PIO2_LO -9.164289990229583e-17\n" \
  "#define CUDART_SQRT_HALF_HI 0.7071067811865476\n#define CUDART_SQRT_HALF_LO -4.833646656726457e-17\n" \
  "#define CUDART_LN2_HI 0.6931471805599453\n#define CUDART_LN2_LO 2.3190468138462996e-17\n" \
  "#define CUDART_LNT_HI 2.302585092994046\n#define CUDART_LNT_LO -2.1707562233822494e-16\n" \
  "#define CUDART_L2E_HI 1.4426950408889634\n#define CUDART_L2E_LO 2.0355273740931033e-17\n" \
  "#define CUDART_LG2_HI 0.3010299956639812\n#define CUDART_LG2_LO -2.8037281277851704e-18\n" \
  "#define CUDART_LGE_HI 0.4342944819032518\n#define CUDART_LGE_LO 1.098319650216765e-17\n" \
  "#define CUDART_NEG_ZERO_F (-0.0f)\n#define CUDART_ZERO_F 0.0f\n#define CUDART_ONE_F 1.0f\n" \
  "#define CUDART_NEG_ZERO (-0.0)\n#define CUDART_ZERO 0.0\n#define CUDART_ONE 1.0\n" \
  "#define CUDART_TWO_TO_23_F 8388608.0f\n#define CUDART_TWO_TO_24_F 16777216.0f\n" \
  "#define CUDART_TWO_TO_31_F 2147483648.0f\n#define CUDART_TWO_TO_32_F 4294967296.0f\n" \
  "#define CUDART_TWO_TO_126_F 8.507059173023462e+37f\n#define CUDART_TWO_TO_M126_F 1.1754943508222875e-38f\n" \
  "#define CUDART_TWO_TO_23 8388608.0\n#define CUDART_TWO_TO_52 4503599627370496.0\n" \
  "#define CUDART_TWO_TO_53 9007199254740992.0\n#define CUDART_TWO_TO_54 1.8014398509481984e+16\n" \
  "#define CUDART_TWO_TO_M54 5.551115123125783e-17\n#define CUDART_TWO_TO_M1022 2.2250738585072014e-308\n" \
  "#define CUDART_INF_F __int_as_float(0x7f800000)\n#define CUDART_NAN_F __int_as_float(0x7fffffff)\n" \
  "#define CUDART_MAX_NORMAL_F 3.40282346638528860e+38f\n" \
  "#define CUDART_INF __longlong_as_double(0x7ff0000000000000LL)\n" \
  "#define CUDART_NAN __longlong_as_double(0xfff8000000000000LL)\n")

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
  X("device_launch_parameters.h", EMPTY) X("math_constants.h", MATH CONSTANTS) X("vector_types.h", EMPTY) \
  X("vector_functions.h", EMPTY) X("device_functions.h", EMPTY)

/* clang-format on */
#define NAME(name, text) name,
#define TEXT(name, text) text,

const char *const cuda_header_names[] = {HEADERS(NAME)};
const char *const cuda_header_texts[] = {HEADERS(TEXT)};
const int cuda_header_count = sizeof cuda_header_names / sizeof *cuda_header_names;

/* ---- the toolkit's --------------------------------------------------------------------------------------------- */

/* What the toolkit's headers for kernels begin with; the others are for host code. */
static const char *const device_headers[] = {"cooperative_groups",
                                             "cuda/",
                                             "cuda_fp16",
                                             "cuda_bf16",
                                             "cuda_fp8",
                                             "cuda_fp6",
                                             "cuda_fp4",
                                             "cub/",
                                             "nv/",
                                             "mma.h",
                                             "cuda_pipeline",
                                             "cuda_awbarrier",
                                             "curand_kernel.h",
                                             "curand_normal",
                                             "curand_uniform",
                                             "curand_philox",
                                             "curand_discrete",
                                             "curand_poisson",
                                             "curand_lognormal",
                                             "cuComplex.h",
                                             "crt/mma",
                                             "sm_20_",
                                             "sm_30_",
                                             "sm_32_",
                                             "sm_35_",
                                             "sm_60_",
                                             "sm_61_",
                                             "device_atomic",
                                             "math_functions.h"};

static bool in_toolkit(const char *name) {
  static const char *const folders[] = {"", "/cccl"};
  char path[1024];
  for (int i = 0; i < 2 && *cuda_nvrtc.toolkit; i++) {
    snprintf(path, sizeof path, "%s%s/%s", cuda_nvrtc.toolkit, folders[i], name);
    if (access(path, R_OK) == 0) return true;
  }
  return false;
}

/* Of the standard library, those that CCCL has for kernels, under cuda::std. */
#define USING "namespace std { using namespace ::cuda::std; }\n"
#define STANDARD(name)                                                                                                 \
  { name, "#include <cuda/std/" name ">\n" USING }
static const struct instead {
  const char *name, *lines;
} instead[] = {
    {"algorithm", "#include <cuda/std/__algorithm/min.h>\n#include <cuda/std/__algorithm/max.h>\n"
                  "#include <cuda/std/__algorithm/clamp.h>\n" USING},
    STANDARD("array"),
    STANDARD("bit"),
    STANDARD("complex"),
    STANDARD("functional"),
    STANDARD("iterator"),
    STANDARD("limits"),
    STANDARD("numeric"),
    STANDARD("optional"),
    STANDARD("span"),
    STANDARD("tuple"),
    STANDARD("type_traits"),
    STANDARD("utility"),
    STANDARD("variant"),
    /* what documents of CUDA call sync, too */
    {"cooperative_groups.h", "#include <cooperative_groups.h>\n#ifndef MW_SYNCHRONIZE\n#define MW_SYNCHRONIZE\n"
                             "namespace cooperative_groups { template <class G, class... None> "
                             "__device__ inline void synchronize(const G &g, None...) { g.sync(); } }\n#endif\n"},
    /* as a whole it is for host code too */
    {"cub/cub.cuh", "#include <cub/block/block_adjacent_difference.cuh>\n#include <cub/block/block_discontinuity.cuh>\n"
                    "#include <cub/block/block_exchange.cuh>\n#include <cub/block/block_histogram.cuh>\n"
                    "#include <cub/block/block_load.cuh>\n#include <cub/block/block_radix_sort.cuh>\n"
                    "#include <cub/block/block_reduce.cuh>\n#include <cub/block/block_scan.cuh>\n"
                    "#include <cub/block/block_store.cuh>\n#include <cub/warp/warp_reduce.cuh>\n"
                    "#include <cub/warp/warp_scan.cuh>\n"}};

const char *cuda_instead_of(const char *name) {
  for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
    if (strcmp(instead[i].name, name) == 0) return in_toolkit("cuda/std/limits") ? instead[i].lines : NULL;
  return NULL;
}

bool cuda_has_header(const char *name) {
  if (cuda_instead_of(name)) return true;
  for (int i = 0; i < cuda_header_count; i++)
    if (strcmp(cuda_header_names[i], name) == 0) return true;
  for (size_t i = 0; i < sizeof device_headers / sizeof *device_headers; i++)
    if (strncmp(name, device_headers[i], strlen(device_headers[i])) == 0) return in_toolkit(name);
  return false;
}
