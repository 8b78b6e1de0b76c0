/* SPDX-License-Identifier: MIT
 *
 * The C headers for NVRTC, which declares the vector types, the built-in variables, printf and the math functions
 * itself: names and limits, most of them those of the CPU device's shim. */
#include "core/backend/cuda/headers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/backend/cuda/driver.h"
#include "core/base/home.h"
#include "core/base/memory.h"

#define EMPTY "\n"

/* clang-format off */
#define GUARD(name, text) "#ifndef MW_RTC_" name "\n#define MW_RTC_" name "\n" text "#endif\n"

#define STDDEF GUARD("STDDEF", "#ifndef offsetof\n#define offsetof(type, member) __builtin_offsetof(type, member)\n#endif\n" \
                               "#ifndef NULL\n#define NULL 0\n#endif\n" \
                               "typedef long ptrdiff_t;\n" \
                               "namespace std { using ::size_t; using ::ptrdiff_t; }\n")

/* Not guarded: assert may be redefined by another NDEBUG. */
#define ASSERT \
  "#undef assert\n#ifdef NDEBUG\n#define assert(e) ((void)0)\n#else\n" \
  "#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, sizeof(char)))\n#endif\n" \
  GUARD("ASSERT", "extern \"C\" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);\n")

#define STDIO  GUARD("STDIO", "namespace std { using ::printf; }\n")
#define STRING GUARD("STRING", "namespace std { using ::memcpy; using ::memset; }\n")

/* A tensor map is opaque to device code: the driver fills it. */
#define CUDA_H \
  GUARD("CUDA", "typedef struct alignas(128) CUtensorMap_st { unsigned long long opaque[16]; } CUtensorMap;\n")

/* NULL: the file of that name in the shim. */
#define HEADERS(X) \
  X("stddef.h", STDDEF) X("cstddef", STDDEF) X("stdint.h", NULL) X("cstdint", NULL) \
  X("inttypes.h", NULL) X("cinttypes", NULL) X("limits.h", NULL) X("climits", NULL) \
  X("float.h", NULL) X("cfloat", NULL) X("math.h", NULL) X("cmath", NULL) \
  X("assert.h", ASSERT) X("cassert", ASSERT) X("stdio.h", EMPTY) X("cstdio", STDIO) \
  X("stdlib.h", STDDEF) X("cstdlib", STDDEF) X("string.h", EMPTY) X("cstring", STRING) \
  X("stdbool.h", EMPTY) X("cuda.h", CUDA_H) X("cudaTypedefs.h", CUDA_H) X("cuda_runtime.h", EMPTY) X("cuda_runtime_api.h", EMPTY) \
  X("device_launch_parameters.h", EMPTY) X("math_constants.h", NULL) X("vector_types.h", EMPTY) \
  X("vector_functions.h", EMPTY) X("device_functions.h", EMPTY) \
  X("thrust/complex.h", NULL) X("thrust/device_ptr.h", NULL) X("thrust/random.h", NULL) \
  X("thrust/random/linear_congruential_engine.h", NULL) X("thrust/random/normal_distribution.h", NULL) \
  X("thrust/random/uniform_int_distribution.h", NULL) X("thrust/random/uniform_real_distribution.h", NULL)

/* clang-format on */
#define NAME(name, text) name,
#define TEXT(name, text) text,

static const char *const names[] = {HEADERS(NAME)};

/* Headers of CUDA 13 that give uint64_t and its like as long long where NVRTC reads them. For nvcc they are those of the
 * C library, of long, as size_t is. */
/* clang-format off */
#define TYPES(X) \
  X(int64_t) X(uint64_t) X(int_least64_t) X(uint_least64_t) X(int_fast64_t) X(uint_fast64_t) X(intptr_t) X(uintptr_t) \
  X(intmax_t) X(uintmax_t)
#define HIDE(type)  "#define " #type " mw_rtc_" #type "\n"
#define USE(type)   "using ::" #type ";\n"
#define MACROS(X) \
  X(INT64_MIN) X(INT64_MAX) X(UINT64_MAX) X(INT8_C) X(INT16_C) X(INT32_C) X(INT64_C) X(UINT8_C) X(UINT16_C) \
  X(UINT32_C) X(UINT64_C)
#define UNDO(name)  "#undef " #name "\n"
#define STD_OPEN    "#ifdef _LIBCUDACXX_BEGIN_NAMESPACE_STD\n_LIBCUDACXX_BEGIN_NAMESPACE_STD\n#else\n" \
                    "namespace cuda { namespace std {\n#endif\n"
#define STD_CLOSE   "#ifdef _LIBCUDACXX_END_NAMESPACE_STD\n_LIBCUDACXX_END_NAMESPACE_STD\n#else\n}}\n#endif\n"
#define TYPES_FIRST "#include <stdint.h>\n#include <nv/target>\n#undef __CUDACC_RTC__\n"
#define TYPES_DONE  "#define __CUDACC_RTC__ 1\n"
static const struct overlay {
  const char *name, *file, *before, *after;
} overlays[] = {
    {"cuda/std/cstdint", "cccl/cuda/std/cstdint",
     "#pragma once\n#include <stdint.h>\n#include <cuda/std/version>\n#include <cuda/std/climits>\n"
     MACROS(UNDO) TYPES(HIDE),
     TYPES(UNDO) STD_OPEN TYPES(USE) STD_CLOSE},
    {"cuda_awbarrier_helpers.h", "cuda_awbarrier_helpers.h", TYPES_FIRST, TYPES_DONE},
    {"cuda_pipeline_helpers.h", "cuda_pipeline_helpers.h", TYPES_FIRST, TYPES_DONE}};
/* clang-format on */

enum { NAMES = sizeof names / sizeof *names, OVERLAYS = sizeof overlays / sizeof *overlays };

cuda_headers cuda_headers_given(void) {
  static const char *all[NAMES + OVERLAYS], *texts[NAMES + OVERLAYS] = {HEADERS(TEXT)};
  for (int i = 0; i < NAMES; i++) {
    all[i] = names[i];
    if (!texts[i]) texts[i] = mw_format("#include \"%s/%s\"\n", mw_shim_folder(), names[i]);
  }
  for (int i = 0; i < OVERLAYS; i++) {
    const struct overlay *one = &overlays[i];
    all[NAMES + i] = one->name;
    if (!texts[NAMES + i])
      texts[NAMES + i] = mw_format("%s#include \"%s/%s\"\n%s", one->before, cuda_nvrtc.toolkit, one->file, one->after);
  }
  const bool overlaid = cuda_nvrtc.major >= 13 && *cuda_nvrtc.toolkit;
  return (cuda_headers){all, texts, overlaid ? NAMES + OVERLAYS : NAMES};
}

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
                                             "math_functions.h",
                                             "thrust/functional.h"};

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
  for (int i = 0; i < NAMES; i++)
    if (strcmp(names[i], name) == 0) return true;
  for (size_t i = 0; i < sizeof device_headers / sizeof *device_headers; i++)
    if (strncmp(name, device_headers[i], strlen(device_headers[i])) == 0) return in_toolkit(name);
  return false;
}
