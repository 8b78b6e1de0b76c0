/* SPDX-License-Identifier: MIT
 *
 * What the tests of the CUDA backend share: the fake driver of tests/mock, a device for each test, and a check that
 * the test gave everything back. The fake driver is $MOONWARP_LIBCUDA, else mock/libcuda.so.1 beside this program's
 * folder; without it nothing runs. Modules need NVRTC too. */
#ifndef MW_TESTS_CUDA_H
#define MW_TESTS_CUDA_H

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/backend/refs.h"
#include "core/backend/cuda/driver.h"

extern const mw_backend mw_cuda_backend;
static const mw_backend *const cuda = &mw_cuda_backend;
static int (*live)(const char *);
static int (*calls)(const char *);
static const char *(*last_kernel)(void);
static mw_device *device;
static mw_error err;

static const char source_text[] = "__constant__ float coef[16];\n"
                                  "__global__ void fill(float *x, float value, int n) {\n"
                                  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                  "  if (i < n) x[i] = value + 0 * coef[i & 15];\n"
                                  "}\n"
                                  "__global__ void copy(double *to, const double *from, int n) {\n"
                                  "  __shared__ double tile[64];\n"
                                  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                  "  tile[threadIdx.x & 63] = from[i];\n"
                                  "  __syncthreads();\n"
                                  "  if (i < n) to[i] = tile[63 - (threadIdx.x & 63)];\n"
                                  "}\n"
                                  "__global__ void twice(float *x, int n) { x[n] *= 2; }\n"
                                  "__global__ void twice(double *x, int n) { x[n] *= 2; }\n"
                                  "extern \"C\" __global__ void raw(const float *x, int n, double d) {}\n"
                                  "namespace lab { __global__ void inner(int4 v, int *out) { *out = v.x; } }\n";

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    mw_status outcome = (call);                                                                                        \
    if (outcome != MW_OK) fail_msg("%s: status %d: %s", #call, outcome, err.text);                                     \
  } while (0)

#define REJECTED(status, words, call)                                                                                  \
  do {                                                                                                                 \
    assert_int_equal(call, status);                                                                                    \
    if (!strstr(err.text, words)) fail_msg("'%s' not in: %s", words, err.text);                                        \
  } while (0)

static inline bool have_nvrtc(void) {
  return cuda_nvrtc_load(NULL, 0);
}

/* ---- the fake driver and one device for each test -------------------------------------------------------------- */

static inline void *symbol(void *library, const char *name) {
  void *address = dlsym(library, name);
  assert_non_null(address);
  return address;
}

static inline bool find_mock(void) {
  char self[512] = "", path[600];
  const char *given = getenv("MOONWARP_LIBCUDA");
  if (given && *given) return true;
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return false;
  for (int up = 0; up < 2; up++) *strrchr(self, '/') = '\0';
  snprintf(path, sizeof path, "%s/mock/libcuda.so.1", self);
  return access(path, R_OK) == 0 && setenv("MOONWARP_LIBCUDA", path, 1) == 0;
}

static inline int load_mock(void **state) {
  (void)state;
  char folder[] = "/tmp/moonwarp-test-XXXXXX";
  if (!mkdtemp(folder) || setenv("MOONWARP_CACHE", folder, 1) != 0) return -1;
  setenv("MOCK_CUDA_DEVICES", "2", 1);
  void *library = dlopen(getenv("MOONWARP_LIBCUDA"), RTLD_NOW | RTLD_LOCAL);
  if (!library) return -1;
  void *addresses[] = {symbol(library, "mock_cuda_live"), symbol(library, "mock_cuda_calls"),
                       symbol(library, "mock_cuda_last_kernel")};
  memcpy(&live, &addresses[0], sizeof live);
  memcpy(&calls, &addresses[1], sizeof calls);
  memcpy(&last_kernel, &addresses[2], sizeof last_kernel);
  return 0;
}

static inline int remove_cache(void **state) {
  (void)state;
  char command[600];
  snprintf(command, sizeof command, "rm -rf '%s'", getenv("MOONWARP_CACHE"));
  return system(command);
}

static const char *const kinds[] = {"memory", "pinned", "registered", "stream", "event", "module", "graph", "replay", "context"};
enum { KINDS = sizeof kinds / sizeof *kinds };
static int before_test[KINDS];

static inline int open_device(void **state) {
  (void)state;
  for (size_t i = 0; i < KINDS; i++) before_test[i] = live(kinds[i]);
  unsetenv("MOCK_CUDA_FAIL");
  return mw_device_open(cuda, "0", &device, &err) == MW_OK ? 0 : -1;
}

static inline int close_device(void **state) {
  (void)state;
  mw_device_release(device);
  mw_error_clear(&err);
  for (size_t i = 0; i < KINDS; i++)
    if (live(kinds[i]) != before_test[i]) {
      print_error("%d %s left\n", live(kinds[i]) - before_test[i], kinds[i]);
      return -1;
    }
  return 0;
}

static inline void stays(const char *kind) {
  for (size_t i = 0; i < KINDS; i++) before_test[i] += strcmp(kinds[i], kind) == 0;
}

/* ---- helpers --------------------------------------------------------------------------------------------------- */

static inline mw_module *compile(mw_device *on, const char *text, const char *const *templates) {
  mw_module *module = NULL;
  mw_source source = {.name = "test.cu", .text = text, .templates = templates};
  OK(cuda->compile(on, &source, &module, &err));
  return module;
}

static inline mw_kernel *kernel(mw_module *module, const char *name) {
  mw_kernel *k = NULL;
  OK(cuda->kernel(module, name, &k, &err));
  return k;
}

static inline mw_buffer *alloc(size_t bytes, mw_space space) {
  mw_buffer *buffer = NULL;
  OK(cuda->alloc(device->main, bytes, space, MW_U8, &buffer, &err));
  return buffer;
}

typedef struct fill_call { /* fill(x, value, n) ready to launch */
  void *x;
  float value;
  int n;
  void *params[3];
  mw_launch launch;
} fill_call;

static inline void prepare_fill(fill_call *c, mw_kernel *k, mw_buffer *x, float value) {
  *c = (fill_call){.x = x->address, .value = value, .n = (int)(x->bytes / 4)};
  void *params[] = {&c->x, &c->value, &c->n};
  memcpy(c->params, params, sizeof params);
  c->launch = (mw_launch){.kernel = k, .grid = {1, 1, 1}, .block = {64, 1, 1}, .params = c->params,
                          .carveout = MW_CARVEOUT_ANY};
}

static inline float read_float(mw_buffer *x, size_t index) {
  float value = 0;
  OK(cuda->copy(device->main, (mw_place){.host = &value}, (mw_place){.buffer = x, .offset = 4 * index}, 4, &err));
  return value;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)

#define RUN(tests)                                                                                                     \
  (find_mock() ? cmocka_run_group_tests(tests, load_mock, remove_cache)                                                \
               : (puts("skipped: no fake driver (mock/libcuda.so.1) beside this program"), 0))

#endif
