/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend's modules, with the real NVRTC where it is installed and the fake driver of tests/mock: kernels,
 * templates, variables, texts, and architectures without a device. */
#include "core/backend/refs.h"
#include "tests/c/cuda_fixture.h"

#if defined(__has_include)
#if __has_include(<cuda_occupancy.h>)
#define HAS_NVIDIA_RULES 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif
#endif

static const char template_text[] =
    "template <class T> __global__ void scale(T *x, T a, int n) { if (n) x[threadIdx.x] *= a; }\n"
    "__global__ void plain(float *x) { x[0] = 1; }\n";

/* ---- modules --------------------------------------------------------------------------------------------------- */

static void kernels_by_name(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_module *m = compile(device, source_text, NULL);
  mw_kernel *k = kernel(m, "fill");
  static const char *const names[] = {"fill", "copy", "twice", "raw", "inner", NULL};
  for (int i = 0; i < 6; i++)
    if (names[i])
      assert_string_equal(m->kernel_names[i], names[i]);
    else
      assert_null(m->kernel_names[i]);
  assert_int_equal(k->nparams, 3);
  assert_string_equal(k->params[1].name, "value");
  assert_string_equal(k->params[1].type, "float");
  assert_int_equal(k->args_bytes, 16);
  assert_ptr_equal(kernel(m, "fill"), k);
  k = kernel(m, "raw");
  assert_int_equal(k->nparams, 3);
  assert_string_equal(k->params[0].type, "const float *");
  assert_int_equal(k->params[2].offset, 16);
  k = kernel(m, "lab::inner");
  assert_int_equal(k->params[0].lanes, 4);
  assert_string_equal(kernel(m, "twice(double *, int)")->params[0].type, "double *");
  REJECTED(MW_INVALID, "overloaded: give one whole signature: twice(", cuda->kernel(m, "twice", &k, &err));
  REJECTED(MW_NOT_FOUND, "module 'test.cu' has no kernel 'nope'; it has: fill, copy",
           cuda->kernel(m, "nope", &k, &err));
  REJECTED(MW_INVALID, "templates = {\"scale<int>\"}", cuda->kernel(m, "scale<int>", &k, &err));
  cuda->unload(m);
}

static void templates(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  static const char *const listed[] = {"scale<double>", NULL};
  mw_module *m = compile(device, template_text, listed);
  mw_kernel *k;
  assert_string_equal(kernel(m, "scale<double>")->params[1].type, "double");
  assert_string_equal(kernel(m, "scale<float>")->params[0].type, "float *"); /* compiled now */
  assert_string_equal(kernel(m, "scale<float>")->params[2].name, "n");
  assert_string_equal(kernel(m, "plain")->params[0].type, "float *");
  assert_null(m->kernel_names[1]);
  REJECTED(MW_INVALID, "is a template: name an instance, as in scale<float>", cuda->kernel(m, "scale", &k, &err));
  assert_int_equal(cuda->kernel(m, "scale<nope>", &k, &err), MW_COMPILE);
  cuda->unload(m);
}

/* Only what changes stands in the way of a second unit: constants, which the code holds as variables, do not. */
static void templates_later(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  static const struct {
    const char *text;
    bool allowed;
  } cases[] = {
      {"static const int table[3] = {1, 2, 3};", true},
      {"constexpr int table[3] = {1, 2, 3};", true},
      {"namespace lab { __device__ const int table[3] = {1, 2, 3}; } using lab::table;", true},
      {"struct limits { static const int table[3]; }; constexpr int table[3] = {1, 2, 3};", true},
      {"template <class T> struct of { static constexpr int all[3] = {1, 2, 3}; };\n#define table of<float>::all",
       true},
      {"__constant__ int table[3];", false},
      {"__device__ int table[3];", false},
      {"static __device__ int other = 4, table[3];", false},
      {"namespace lab { __managed__ int table[3]; } using lab::table;", false},
      {"/* const int */ __device__ int table[3]; // constexpr int table[3]", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    mw_kernel *k;
    for (int plain = 0; plain < 2; plain++) { /* without a plain kernel the first unit holds no variables at all */
      snprintf(text, sizeof text, "%s\n%s template <class T> __global__ void get(T *x, int i) { x[0] = table[i]; }\n",
               cases[i].text, plain ? "__global__ void first(int *x, int i) { x[0] = table[i]; }" : "");
      mw_module *m = compile(device, text, NULL);
      if (cases[i].allowed) {
        assert_string_equal(kernel(m, "get<float>")->params[0].type, "float *");
        kernel(m, "get<long>");
      } else {
        REJECTED(MW_INVALID, "so 'get<float>' must be compiled with it: list it in templates = {\"get<float>\"}",
                 cuda->kernel(m, "get<float>", &k, &err));
      }
      cuda->unload(m);
    }
  }
}

/* The kernels of a:fill and a:random, one type after the other as scripts ask for them. */
static void variables(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_module *m = compile(device, source_text, NULL);
  mw_buffer *coef;
  mw_param type;
  OK(cuda->variable(m, "coef", &coef, &type, &err));
  assert_int_equal(coef->bytes, 64);
  assert_int_equal(type.dtype, MW_F32);
  assert_int_equal(coef->space, MW_SPACE_GLOBAL);
  mw_buffer_release(coef);
  REJECTED(MW_NOT_FOUND, "module 'test.cu' has no device variable 'nope'; it has: coef (",
           cuda->variable(m, "nope", &coef, &type, &err));
  cuda->unload(m);
}

static void write_tool(const char *path, const char *script) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(script, file);
  fclose(file);
  assert_int_equal(chmod(path, 0755), 0);
}

/* A disassembler of the test's own; a toolkit with a real one beside NVRTC is preferred to the PATH. */
static void sass(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  char real[600], tool[600], *path = strdup(getenv("PATH")), *text;
  snprintf(real, sizeof real, "%.500s/../bin/nvdisasm", cuda_nvrtc.toolkit);
  if (access(real, X_OK) == 0) skip();
  snprintf(tool, sizeof tool, "%s/bin", getenv("MOONWARP_CACHE"));
  mkdir(tool, 0755);
  setenv("PATH", tool, 1);
  mw_module *m = compile(device, source_text, NULL);
  REJECTED(MW_UNSUPPORTED, "SASS needs nvdisasm or cuobjdump", cuda->text(m, "sass", &text, &err));
  snprintf(tool, sizeof tool, "%s/bin/cuobjdump", getenv("MOONWARP_CACHE"));
  write_tool(tool, "#!/bin/sh\nread -r head <\"$2\"\necho \"$1 $head\" | /bin/tr -cd 'a-zA-Z -'\n");
  OK(cuda->text(m, "sass", &text, &err));
  assert_memory_equal(text, "-sass ELF", 9);
  mw_free(text);
  write_tool(tool, "#!/bin/sh\necho 'not a cubin' >&2\nexit 3\n");
  REJECTED(MW_IO, "cuobjdump failed with exit status 3: not a cubin", cuda->text(m, "sass", &text, &err));
  setenv("PATH", path, 1);
  free(path);
  cuda->unload(m);
}

/* An older NVRTC than the device: PTX, which the driver would compile. */
static void newer_device(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_device *future;
  setenv("MOCK_CUDA_ARCH", "199", 1);
  OK(mw_device_open(cuda, "0", &future, &err));
  unsetenv("MOCK_CUDA_ARCH");
  mw_module *m = compile(future, source_text, NULL);
  mw_kernel *k = kernel(m, "copy");
  assert_string_equal(k->params[1].type, "const double *");
  assert_int_equal(k->params[2].offset, 16);
  assert_int_equal(kernel(m, "lab::inner")->args_bytes, 24);
  cuda->unload(m);
  mw_device_release(future);
}

/* ---- architectures without a device ---------------------------------------------------------------------------- */

static void check_offline(const char *arch, int full) {
  mw_device *offline;
  mw_occupancy o;
  OK(mw_device_open(cuda, arch, &offline, &err));
  mw_module *m = compile(offline, source_text, NULL);
  mw_kernel *k = kernel(m, "copy");
  assert_in_range(k->registers, 4, 64);
  assert_int_equal(k->shared_bytes, 512);
  assert_int_equal(k->const_bytes, 64);
  assert_int_equal(k->max_threads, 1024);
  OK(cuda->occupancy(k, 256, 0, &o, &err));
  assert_true(o.blocks == full && o.limit == MW_LIMIT_THREADS);
  OK(cuda->occupancy(k, 64, 20 << 10, &o, &err));
  assert_int_equal(o.limit, MW_LIMIT_SHARED);
  OK(cuda->occupancy(k, 32, 0, &o, &err));
  assert_int_equal(o.limit, MW_LIMIT_BLOCKS);
  cuda->unload(m);
  mw_device_release(offline);
}

#ifdef HAS_NVIDIA_RULES
static int by_nvidia(const mw_device_info *info, const mw_kernel *kernel, int threads, size_t shared) {
  cudaOccDeviceProp properties = {
      .computeMajor = info->capability_major,
      .computeMinor = info->capability_minor,
      .maxThreadsPerBlock = info->max_threads_per_block,
      .maxThreadsPerMultiprocessor = info->max_threads_per_multiprocessor,
      .regsPerBlock = info->registers_per_block,
      .regsPerMultiprocessor = info->registers_per_multiprocessor,
      .warpSize = info->warp_size,
      .sharedMemPerBlock = info->shared_per_block,
      .sharedMemPerMultiprocessor = info->shared_per_multiprocessor,
      .numSms = 1,
      .sharedMemPerBlockOptin = info->shared_per_block_optin,
      .reservedSharedMemPerBlock = info->capability_major >= 8 ? 1024 : 0,
  };
  cudaOccFuncAttributes function = {
      .maxThreadsPerBlock = kernel->max_threads,
      .numRegs = kernel->registers,
      .sharedSizeBytes = kernel->shared_bytes,
      .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
      .maxDynamicSharedSizeBytes = info->shared_per_block_optin,
      .numBlockBarriers = 1,
  };
  cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
  cudaOccResult result;
  assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &function, &state, threads, shared),
                   CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

/* The backend's own rules against NVIDIA's, where the build found those. */
static void occupancy_rules(void **state) {
  (void)state;
  static const char *const archs[] = {"sm_75", "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89",
                                      "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
  if (!have_nvrtc()) skip();
  for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
    mw_device *offline;
    OK(mw_device_open(cuda, archs[a], &offline, &err));
    mw_module module = {.device = offline};
    for (int registers = 16; registers <= 255; registers += 23)
      for (int threads = 1; threads <= 1024; threads += 93)
        for (size_t shared = 0; shared <= offline->info.shared_per_block_optin; shared += 9111) {
          mw_kernel k = {.module = &module, .registers = registers, .max_threads = 1024};
          mw_occupancy o;
          OK(cuda->occupancy(&k, threads, shared, &o, &err));
          int wanted = by_nvidia(&offline->info, &k, threads, shared);
          if (o.blocks != wanted) fail_msg("%s: %d blocks, NVIDIA's rules say %d", archs[a], o.blocks, wanted);
        }
    mw_device_release(offline);
  }
}
#else
static void occupancy_rules(void **state) {
  (void)state;
  skip();
}
#endif

static void offline(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  for (int i = 0; i < cuda_nvrtc.narchs; i++) switch (cuda_nvrtc.archs[i]) {
    case 75:
      check_offline("sm_75", 4);
      break;
    case 80:
      check_offline("sm_80", 8);
      break;
    case 86:
      check_offline("sm_86", 6);
      break;
    case 90:
      check_offline("sm_90", 8);
      break;
    case 100:
      check_offline("sm_100", 8);
      break;
    case 120:
      check_offline("sm_120", 6);
      break;
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(kernels_by_name), TEST(templates),      TEST(templates_later),
                                     TEST(variables),       TEST(sass),           TEST(newer_device),
                                     TEST(offline),         TEST(occupancy_rules)};
  return RUN(tests);
}
