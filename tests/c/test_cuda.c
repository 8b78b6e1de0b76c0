/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend from end to end on the fake driver of tests/mock, with the real NVRTC where it is installed. The
 * fake driver is $MOONWARP_LIBCUDA, else mock/libcuda.so.1 beside this program's folder; without it nothing runs. */
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

#include "core/backend/backend.h"
#include "core/backend/cuda/driver.h"

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

static const char template_text[] =
    "template <class T> __global__ void scale(T *x, T a, int n) { if (n) x[threadIdx.x] *= a; }\n"
    "__global__ void plain(float *x) { x[0] = 1; }\n";

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    mw_status outcome = (call);                                                                                        \
    if (outcome != MW_OK) fail_msg("%s: status %d: %s", #call, outcome, err.text);                                     \
  } while (0)

#define REFUSED(status, words, call)                                                                                   \
  do {                                                                                                                 \
    assert_int_equal(call, status);                                                                                    \
    if (!strstr(err.text, words)) fail_msg("'%s' not in: %s", words, err.text);                                        \
  } while (0)

static bool have_nvrtc(void) {
  return cuda_nvrtc_load(NULL, 0);
}

/* ---- the fake driver and one device for each test
 * ---------------------------------------------------------------------- */

static void *symbol(void *library, const char *name) {
  void *address = dlsym(library, name);
  assert_non_null(address);
  return address;
}

static bool find_mock(void) {
  char self[512] = "", path[600];
  const char *given = getenv("MOONWARP_LIBCUDA");
  if (given && *given) return true;
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return false;
  for (int up = 0; up < 2; up++) *strrchr(self, '/') = '\0';
  snprintf(path, sizeof path, "%s/mock/libcuda.so.1", self);
  return access(path, R_OK) == 0 && setenv("MOONWARP_LIBCUDA", path, 1) == 0;
}

static int load_mock(void **state) {
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

static int remove_cache(void **state) {
  (void)state;
  char command[600];
  snprintf(command, sizeof command, "rm -rf '%s'", getenv("MOONWARP_CACHE"));
  return system(command);
}

static const char *const kinds[] = {"memory", "pinned", "stream", "event", "module", "graph", "replay", "context"};
enum { KINDS = sizeof kinds / sizeof *kinds };
static int before_test[KINDS];

static int open_device(void **state) {
  (void)state;
  for (size_t i = 0; i < KINDS; i++) before_test[i] = live(kinds[i]);
  unsetenv("MOCK_CUDA_FAIL");
  return cuda->open("0", &device, &err) == MW_OK ? 0 : -1;
}

static int close_device(void **state) {
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

/* ---- helpers
 * ---------------------------------------------------------------------------------------------------------- */

static mw_module *compile(mw_device *on, const char *text, const char *const *templates) {
  mw_module *module = NULL;
  mw_source source = {.name = "test.cu", .text = text, .templates = templates};
  OK(cuda->compile(on, &source, &module, &err));
  return module;
}

static mw_kernel *kernel(mw_module *module, const char *name) {
  mw_kernel *k = NULL;
  OK(cuda->kernel(module, name, &k, &err));
  return k;
}

static mw_buffer *alloc(size_t bytes, mw_space space) {
  mw_buffer *buffer = NULL;
  OK(cuda->alloc(device->main, bytes, space, &buffer, &err));
  return buffer;
}

typedef struct fill_call { /* fill(x, value, n) ready to launch */
  void *x;
  float value;
  int n;
  void *params[3];
  mw_launch launch;
} fill_call;

static void prepare_fill(fill_call *c, mw_kernel *k, mw_buffer *x, float value) {
  *c = (fill_call){.x = x->address, .value = value, .n = (int)(x->bytes / 4)};
  void *params[] = {&c->x, &c->value, &c->n};
  memcpy(c->params, params, sizeof params);
  c->launch = (mw_launch){.kernel = k, .grid = {1, 1, 1}, .block = {64, 1, 1}, .params = c->params};
}

static float read_float(mw_buffer *x, size_t index) {
  float value = 0;
  OK(cuda->copy(device->main, (mw_place){.host = &value}, (mw_place){.buffer = x, .offset = 4 * index}, 4, &err));
  return value;
}

/* ---- devices
 * ---------------------------------------------------------------------------------------------------------- */

static void probes_and_opens(void **state) {
  (void)state;
  mw_probe probe;
  mw_device *other;
  cuda->probe(&probe);
  assert_int_equal(probe.devices, 2);
  REFUSED(MW_NO_DEVICE, "the driver counts 2", cuda->open("7", &other, &err));
  REFUSED(MW_NO_DEVICE, "no such device: cuda:x", cuda->open("x", &other, &err));
  REFUSED(MW_NO_DEVICE, "there are sm_75 sm_80", cuda->open("sm_12", &other, &err));
  assert_string_equal(device->info.id, "cuda:0");
  assert_string_equal(device->info.arch, "sm_90");
  assert_string_equal(device->info.uuid, "GPU-abababab-abab-abab-abab-abababababab");
  assert_true(device->info.peak_bandwidth > 4.9e12 && device->info.peak_bandwidth < 4.92e12);
  assert_false(device->info.pageable_access);
  setenv("MOCK_CUDA_PAGEABLE", "1", 1);
  OK(cuda->open("1", &other, &err));
  unsetenv("MOCK_CUDA_PAGEABLE");
  assert_true(other->info.pageable_access);
  mw_device_release(other);
}

static void two_devices(void **state) {
  (void)state;
  mw_device *other;
  mw_buffer *there;
  OK(cuda->open("1", &other, &err));
  OK(cuda->alloc(other->main, 64, MW_SPACE_DEVICE, &there, &err));
  mw_buffer *here = alloc(64, MW_SPACE_DEVICE);
  uint32_t seven = 7, got = 0;
  OK(cuda->fill(other->main, (mw_place){.buffer = there}, &seven, 4, 16, &err));
  OK(cuda->copy(device->main, (mw_place){.buffer = here}, (mw_place){.buffer = there}, 64, &err));
  OK(cuda->copy(device->main, (mw_place){.host = &got}, (mw_place){.buffer = here, .offset = 60}, 4, &err));
  assert_int_equal(got, 7);
  assert_true(calls("cuMemcpyPeerAsync") > 0);
  OK(cuda->copy(device->main, (mw_place){.buffer = here}, (mw_place){.buffer = there}, 64, &err));
  assert_int_equal(calls("cuMemPoolSetAccess"), 1); /* once for the two */
  assert_int_equal(calls("cuCtxEnablePeerAccess"), 1);
  mw_buffer *pinned = alloc(64, MW_SPACE_PINNED); /* one device's, used by the other: its end waits for both */
  OK(cuda->copy(other->main, (mw_place){.buffer = there}, (mw_place){.buffer = pinned}, 64, &err));
  mw_buffer_use(pinned, other->main);
  int asked = calls("cuStreamQuery");
  mw_buffer_release(pinned);
  assert_true(calls("cuStreamQuery") >= asked + 2);
  mw_buffer_release(here);
  mw_buffer_release(there);
  mw_device_release(other);
}

/* ---- memory
 * ----------------------------------------------------------------------------------------------------------- */

static void copies_and_fills(void **state) {
  (void)state;
  static const mw_space spaces[] = {MW_SPACE_DEVICE, MW_SPACE_PINNED, MW_SPACE_PAGEABLE, MW_SPACE_MANAGED};
  uint64_t pattern = 0x1122334455667788u, out[8];
  for (int s = 0; s < 4; s++)
    for (size_t width = 1; width <= 8; width *= 2) {
      mw_buffer *a = alloc(64, spaces[s]), *b = alloc(64, MW_SPACE_DEVICE);
      OK(cuda->fill(device->main, (mw_place){.buffer = a}, &pattern, width, 64 / width, &err));
      OK(cuda->copy(device->main, (mw_place){.buffer = b}, (mw_place){.buffer = a}, 64, &err));
      OK(cuda->copy(device->main, (mw_place){.host = out}, (mw_place){.buffer = b}, 64, &err));
      for (size_t i = 0; i < 64; i += width) assert_memory_equal((char *)out + i, &pattern, width);
      mw_buffer_release(a);
      mw_buffer_release(b);
    }
}

static void out_of_memory(void **state) {
  (void)state;
  mw_buffer *x = alloc(800 << 20, MW_SPACE_DEVICE), *y = NULL;
  mw_buffer_release(x);
  x = alloc(800 << 20, MW_SPACE_DEVICE); /* the pool kept the first: drained, trimmed, tried again */
  REFUSED(MW_NO_MEMORY, "out of memory on cuda:0: wanted 800.0 MiB, free 224.0 MiB of 1.0 GiB",
          cuda->alloc(device->main, 800 << 20, MW_SPACE_DEVICE, &y, &err));
  mw_buffer_release(x);
}

static void streams_and_freeing(void **state) {
  (void)state;
  mw_stream *a, *b;
  OK(cuda->stream_create(device, true, 0, &a, &err));
  OK(cuda->stream_create(device, false, -1, &b, &err));
  mw_buffer *x = alloc(256, MW_SPACE_DEVICE), *y = NULL, *pinned = alloc(64, MW_SPACE_PINNED);
  OK(cuda->alloc(a, 256, MW_SPACE_DEVICE, &y, &err));
  mw_buffer_use(x, b);
  mw_buffer_use(pinned, b);
  int waits = calls("cuStreamWaitEvent");
  mw_buffer_release(x);
  assert_int_equal(calls("cuStreamWaitEvent"), waits + 1); /* for b alone: a is ordered by the default stream */
  mw_buffer_release(pinned);
  cuda->stream_destroy(a);
  assert_ptr_equal(y->stream, device->main);
  assert_true(y->wandering);
  mw_buffer_release(y);
  OK(cuda->stream_synchronize(b, &err));
  OK(cuda->stream_query(b, &err));
  OK(cuda->synchronize(device, &err));
  cuda->stream_destroy(b);
}

static int ran;
static void count_run(void *data) {
  ran += *(int *)data;
}

static void events_and_callbacks(void **state) {
  (void)state;
  mw_event *from, *to;
  double seconds = -1;
  int one = 1, least, greatest;
  OK(cuda->event_create(device, true, &from, &err));
  OK(cuda->event_create(device, true, &to, &err));
  REFUSED(MW_INVALID, "the earlier event has not been recorded", cuda->event_elapsed(from, to, &seconds, &err));
  OK(cuda->event_record(from, device->main, &err));
  OK(cuda->event_record(to, device->main, &err));
  setenv("MOCK_CUDA_HANG", "1", 1);
  assert_int_equal(cuda->event_query(to, &err), MW_NOT_READY);
  REFUSED(MW_NOT_READY, "synchronize it first", cuda->event_elapsed(from, to, &seconds, &err));
  unsetenv("MOCK_CUDA_HANG");
  OK(cuda->event_elapsed(from, to, &seconds, &err));
  assert_true(seconds >= 0 && seconds < 1);
  OK(cuda->stream_wait(device->main, to, &err));
  OK(cuda->stream_callback(device->main, (mw_callback){count_run, &one}, &err));
  assert_int_equal(ran, 1);
  cuda->priorities(device, &least, &greatest);
  assert_true(least == 0 && greatest == -5);
  cuda->event_destroy(from);
  cuda->event_destroy(to);
}

/* ---- modules
 * ---------------------------------------------------------------------------------------------------------- */

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
  REFUSED(MW_INVALID, "overloaded: give one whole signature: twice(", cuda->kernel(m, "twice", &k, &err));
  REFUSED(MW_INVALID, "module 'test.cu' has no kernel 'nope'; it has: fill, copy", cuda->kernel(m, "nope", &k, &err));
  REFUSED(MW_INVALID, "templates = {\"scale<int>\"}", cuda->kernel(m, "scale<int>", &k, &err));
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
  REFUSED(MW_INVALID, "is a template: name an instance, as in scale<float>", cuda->kernel(m, "scale", &k, &err));
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
        REFUSED(MW_INVALID, "so 'get<float>' must be compiled with it: list it in templates = {\"get<float>\"}",
                cuda->kernel(m, "get<float>", &k, &err));
      }
      cuda->unload(m);
    }
  }
}

/* The kernels behind a:fill and a:random, one type after the other as scripts ask for them. */
static void array_kernels(void **state) {
  (void)state;
  static char text[1 << 16];
  char path[512];
  const char *home = getenv("MOONWARP_HOME");
  snprintf(path, sizeof path, "%s/kernels/moonwarp/array.cu", home && *home ? home : ".");
  FILE *file = fopen(path, "r");
  if (!have_nvrtc() || !file) skip();
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  static const char *const first[] = {"fill<float>", NULL};
  mw_module *m = compile(device, text, first);
  kernel(m, "fill<float>");
  kernel(m, "linspace<float>");
  if (*cuda_nvrtc.toolkit) kernel(m, "random_normal<__half>");
  kernel(m, "random_uniform<int>");
  cuda->unload(m);
}

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
  REFUSED(MW_INVALID, "module 'test.cu' has no device variable 'nope'; it has: coef (",
          cuda->variable(m, "nope", &coef, &type, &err));
  cuda->unload(m);
}

static void compile_errors(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_module *m;
  mw_source bad = {.name = "bad.cu", .text = "__global__ void k(float *x) {\n  x[0] = nope;\n}\n"};
  REFUSED(MW_COMPILE, "compiling 'bad.cu' for sm_90 failed: bad.cu(2): error: identifier \"nope\" is undefined",
          cuda->compile(device, &bad, &m, &err));
  assert_non_null(err.log);
  bad.text = "#include \"not_there.h\"\n";
  REFUSED(MW_COMPILE, "not_there.h", cuda->compile(device, &bad, &m, &err));
  bad = (mw_source){.name = "bad.cu", .text = "", .standard = "c++1998"};
  REFUSED(MW_COMPILE, "--std(-std): 'c++1998'", cuda->compile(device, &bad, &m, &err));
}

static void cached(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  static const char *const listed[] = {"scale<long>", NULL};
  mw_module *m = compile(device, template_text, listed);
  assert_false(m->from_cache);
  cuda->unload(m);
  m = compile(device, template_text, listed);
  assert_true(m->from_cache);
  assert_string_equal(kernel(m, "scale<long>")->params[0].type, "long *");
  cuda->unload(m);
}

static void texts(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_module *m = compile(device, source_text, NULL);
  char *text;
  OK(cuda->text(m, "ptx", &text, &err));
  assert_non_null(strstr(text, ".target sm_90"));
  mw_free(text);
  REFUSED(MW_UNSUPPORTED, "the CPU device makes it, mw.device \"cpu\"", cuda->text(m, "cpp", &text, &err));
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
  REFUSED(MW_UNSUPPORTED, "SASS needs nvdisasm or cuobjdump", cuda->text(m, "sass", &text, &err));
  snprintf(tool, sizeof tool, "%s/bin/cuobjdump", getenv("MOONWARP_CACHE"));
  write_tool(tool, "#!/bin/sh\nread -r head <\"$2\"\necho \"$1 $head\" | /bin/tr -cd 'a-zA-Z -'\n");
  OK(cuda->text(m, "sass", &text, &err));
  assert_memory_equal(text, "-sass ELF", 9);
  mw_free(text);
  write_tool(tool, "#!/bin/sh\necho 'not a cubin' >&2\nexit 3\n");
  REFUSED(MW_IO, "cuobjdump failed with exit status 3: not a cubin", cuda->text(m, "sass", &text, &err));
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
  OK(cuda->open("0", &future, &err));
  unsetenv("MOCK_CUDA_ARCH");
  mw_module *m = compile(future, source_text, NULL);
  mw_kernel *k = kernel(m, "copy");
  assert_string_equal(k->params[1].type, "const double *");
  assert_int_equal(k->params[2].offset, 16);
  assert_int_equal(kernel(m, "lab::inner")->args_bytes, 24);
  cuda->unload(m);
  mw_device_release(future);
}

/* ---- launches
 * --------------------------------------------------------------------------------------------------------- */

static void launches(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_module *m = compile(device, source_text, NULL);
  mw_buffer *x = alloc(64, MW_SPACE_DEVICE);
  fill_call call;
  prepare_fill(&call, kernel(m, "fill"), x, 2.5f);
  OK(cuda->launch(device->main, &call.launch, &err));
  uint64_t before = mw_allocations();
  int driver_calls = calls("cuLaunchKernel"), contexts = calls("cuCtxSetCurrent");
  for (int i = 0; i < 100; i++) OK(cuda->launch(device->main, &call.launch, &err));
  assert_int_equal(mw_allocations(), before);
  assert_int_equal(calls("cuLaunchKernel"), driver_calls + 100);
  assert_int_equal(calls("cuCtxSetCurrent"), contexts);
  assert_true(read_float(x, 15) == 2.5f);
  assert_string_equal(last_kernel(), "_Z4fillPffi");
  call.launch.shared = 100 << 10;
  OK(cuda->launch(device->main, &call.launch, &err));
  OK(cuda->launch(device->main, &call.launch, &err));
  assert_int_equal(calls("cuFuncSetAttribute"), 1);
  call.launch.cooperative = true;
  OK(cuda->launch(device->main, &call.launch, &err));
  call.launch.shared = 300 << 10;
  REFUSED(MW_INVALID, "wants 307200 bytes of dynamic shared memory", cuda->launch(device->main, &call.launch, &err));
  mw_buffer_release(x);
  cuda->unload(m);
}

static void failures(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_module *m = compile(device, source_text, NULL);
  mw_buffer *x = alloc(64, MW_SPACE_DEVICE);
  fill_call call;
  prepare_fill(&call, kernel(m, "fill"), x, 1);
  setenv("MOCK_CUDA_FAIL", "cuLaunchKernel:701:1", 1);
  REFUSED(MW_DRIVER, "launching 'fill': cuLaunchKernel: CUDA_ERROR_701 (701)",
          cuda->launch(device->main, &call.launch, &err));
  setenv("MOCK_CUDA_FAIL", "cuModuleLoadDataEx:200:1", 1);
  mw_source source = {.name = "t.cu", .text = template_text};
  mw_module *other;
  REFUSED(MW_DRIVER, "loading 't.cu' for sm_90 failed: cuModuleLoadDataEx",
          cuda->compile(device, &source, &other, &err));
  unsetenv("MOCK_CUDA_FAIL");
  OK(cuda->launch(device->main, &call.launch, &err));
  mw_buffer_release(x);
  cuda->unload(m);
}

static void lost_device(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_device *doomed;
  mw_event *event;
  OK(cuda->open("1", &doomed, &err));
  mw_module *m = compile(doomed, source_text, NULL);
  fill_call call;
  mw_kernel *k = kernel(m, "fill");
  mw_buffer *x;
  OK(cuda->alloc(doomed->main, 64, MW_SPACE_PAGEABLE, &x, &err));
  prepare_fill(&call, k, x, 1);
  OK(cuda->launch(doomed->main, &call.launch, &err));
  setenv("MOCK_CUDA_FAIL", "cuStreamQuery:700:1", 1);
  REFUSED(MW_LOST,
          "device cuda:1 is lost for this process since cuStreamQuery: CUDA_ERROR_ILLEGAL_ADDRESS (700): an "
          "earlier kernel ('fill' was the last launched) accessed memory outside its arrays; start a new process",
          cuda->synchronize(doomed, &err));
  REFUSED(MW_LOST, "is lost for this process since cuStreamQuery", cuda->launch(doomed->main, &call.launch, &err));
  REFUSED(MW_LOST, "is lost", cuda->event_create(doomed, true, &event, &err));
  int released = calls("cuDevicePrimaryCtxRelease_v2");
  mw_buffer_release(x);
  cuda->unload(m);
  mw_device_release(doomed);
  unsetenv("MOCK_CUDA_FAIL");
  assert_int_equal(calls("cuDevicePrimaryCtxRelease_v2"), released); /* it might wait for ever */
  for (size_t i = 0; i < KINDS; i++) {                               /* what it leaves is the driver's to clean up */
    bool by_device = strcmp(kinds[i], "event") == 0 || strcmp(kinds[i], "context") == 0;
    before_test[i] = live(kinds[i]) - by_device; /* of this test's own device, which is closed next */
  }
}

static void interrupted(void **state) {
  (void)state;
  setenv("MOCK_CUDA_HANG", "1", 1);
  atomic_store(&mw_interrupted, true);
  REFUSED(MW_INTERRUPTED, "interrupted while waiting for cuda:0", cuda->synchronize(device, &err));
  atomic_store(&mw_interrupted, false);
  unsetenv("MOCK_CUDA_HANG");
  OK(cuda->synchronize(device, &err));
}

/* ---- graphs
 * ----------------------------------------------------------------------------------------------------------- */

static void graphs(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_module *m = compile(device, source_text, NULL);
  mw_buffer *x = alloc(64, MW_SPACE_DEVICE), *dropped = alloc(64, MW_SPACE_DEVICE), *none;
  mw_stream *s;
  mw_graph *g;
  fill_call call;
  prepare_fill(&call, kernel(m, "fill"), x, 1);
  OK(cuda->stream_create(device, true, 0, &s, &err));
  REFUSED(MW_INVALID, "default stream cannot be captured", cuda->capture_begin(device->main, &err));
  OK(cuda->capture_begin(s, &err));
  assert_true(s->capturing);
  OK(cuda->launch(s, &call.launch, &err));
  OK(cuda->launch(s, &call.launch, &err));
  REFUSED(MW_INVALID, "cannot be made while a graph is captured",
          cuda->alloc(device->main, 64, MW_SPACE_DEVICE, &none, &err));
  REFUSED(MW_INVALID, "you can synchronize it after the capture", cuda->stream_synchronize(s, &err));
  REFUSED(MW_INVALID, "you can query it after the capture", cuda->stream_query(s, &err));
  REFUSED(MW_INVALID, "you can synchronize the device after", cuda->synchronize(device, &err));
  float zero = 0;
  REFUSED(MW_INVALID, "use a pinned array", cuda->copy(s, (mw_place){.buffer = x}, (mw_place){.host = &zero}, 4, &err));
  mw_buffer_release(dropped); /* given back when the capture ends */
  OK(cuda->capture_end(s, &g, &err));
  assert_int_equal(g->nodes, 2);
  OK(cuda->fill(device->main, (mw_place){.buffer = x}, &zero, 4, 16, &err));
  cuda->unload(m); /* the graph keeps it */
  OK(cuda->graph_launch(g, s, &err));
  assert_true(read_float(x, 3) == 1);
  call.value = 5;
  OK(cuda->graph_update(g, 1, &call.launch, &err));
  OK(cuda->graph_launch(g, s, &err));
  assert_true(read_float(x, 3) == 5);
  REFUSED(MW_INVALID, "no node 3 in this graph: it has 2", cuda->graph_update(g, 2, &call.launch, &err));
  char *dot;
  OK(cuda->graph_dot(g, &dot, &err));
  assert_non_null(strstr(dot, "1: fill\\ngrid 1 1 1, block 64 1 1"));
  assert_non_null(strstr(dot, "n0 -> n1;"));
  mw_free(dot);
  cuda->graph_destroy(g);
  OK(cuda->capture_begin(s, &err));
  OK(cuda->capture_end(s, NULL, &err));
  cuda->stream_destroy(s);
  mw_buffer_release(x);
}

static mw_event *mark(mw_stream *stream) {
  mw_event *event;
  OK(cuda->event_create(device, true, &event, &err));
  OK(cuda->event_record(event, stream, &err));
  return event;
}

static void joined_streams(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_module *m = compile(device, source_text, NULL);
  mw_buffer *x = alloc(64, MW_SPACE_DEVICE);
  mw_stream *s, *joined, *apart;
  mw_graph *g;
  fill_call call;
  prepare_fill(&call, kernel(m, "fill"), x, 1);
  OK(cuda->stream_create(device, false, 0, &s, &err));
  OK(cuda->stream_create(device, false, 0, &joined, &err));
  OK(cuda->stream_create(device, false, 0, &apart, &err));
  mw_event *outside = mark(apart), *never;
  OK(cuda->event_create(device, true, &never, &err));
  OK(cuda->capture_begin(s, &err));
  OK(cuda->launch(s, &call.launch, &err));
  mw_event *fork = mark(s);
  OK(cuda->stream_wait(joined, fork, &err));
  assert_true(joined->capturing && !apart->capturing);
  call.launch.block[0] = 2; /* tells the nodes apart */
  OK(cuda->launch(joined, &call.launch, &err));
  OK(cuda->launch(apart, &call.launch, &err));
  mw_event *join = mark(joined);
  OK(cuda->stream_wait(s, join, &err));
  OK(cuda->stream_wait(s, never, &err));
  REFUSED(MW_INVALID, "recorded outside the capture", cuda->stream_wait(s, outside, &err));
  REFUSED(MW_INVALID, "the default stream cannot join", cuda->stream_wait(device->main, fork, &err));
  REFUSED(MW_INVALID, "began on another stream", cuda->capture_end(joined, &g, &err));
  call.launch.block[0] = 3;
  OK(cuda->launch(s, &call.launch, &err));
  OK(cuda->capture_end(s, &g, &err));
  assert_false(s->capturing || joined->capturing);
  assert_int_equal(g->nodes, 3);
  char *dot;
  OK(cuda->graph_dot(g, &dot, &err));
  assert_non_null(strstr(dot, "1: fill\\ngrid 1 1 1, block 64 1 1"));
  assert_non_null(strstr(dot, "2: fill\\ngrid 1 1 1, block 2 1 1"));
  assert_non_null(strstr(dot, "3: fill\\ngrid 1 1 1, block 3 1 1"));
  mw_free(dot);
  OK(cuda->stream_query(joined, &err));
  REFUSED(MW_INVALID, "marks a place in a graph, not a moment", cuda->event_query(fork, &err));
  REFUSED(MW_INVALID, "marks a place in a graph", cuda->event_synchronize(fork, &err));
  REFUSED(MW_INVALID, "marks a place in a graph", cuda->event_elapsed(fork, outside, &(double){0}, &err));
  REFUSED(MW_INVALID, "in a capture that has ended: record it again", cuda->stream_wait(joined, fork, &err));
  OK(cuda->event_record(fork, s, &err));
  OK(cuda->event_query(fork, &err));
  cuda->graph_destroy(g);
  for (int wanted = 0; wanted < 2; wanted++) { /* not joined back */
    OK(cuda->capture_begin(s, &err));
    OK(cuda->event_record(fork, s, &err));
    OK(cuda->stream_wait(joined, fork, &err));
    OK(cuda->launch(joined, &call.launch, &err));
    if (wanted)
      REFUSED(MW_INVALID, "was not joined back", cuda->capture_end(s, &g, &err));
    else
      OK(cuda->capture_end(s, NULL, &err));
    assert_false(s->capturing || joined->capturing);
  }
  mw_event *const events[] = {outside, never, fork, join};
  for (int i = 0; i < 4; i++) cuda->event_destroy(events[i]);
  mw_stream *const streams[] = {s, joined, apart};
  for (int i = 0; i < 3; i++) cuda->stream_destroy(streams[i]);
  mw_buffer_release(x);
  cuda->unload(m);
}

/* ---- architectures without a device
 * -------------------------------------------------------------------------------------- */

static void check_offline(const char *arch, int full) {
  mw_device *offline;
  mw_buffer *x;
  char limit[128];
  int blocks;
  OK(cuda->open(arch, &offline, &err));
  mw_module *m = compile(offline, source_text, NULL);
  mw_kernel *k = kernel(m, "copy");
  assert_in_range(k->registers, 4, 64);
  assert_int_equal(k->shared_bytes, 512);
  assert_int_equal(k->const_bytes, 64);
  assert_int_equal(k->max_threads, 1024);
  OK(cuda->occupancy(k, 256, 0, &blocks, limit, sizeof limit, &err));
  assert_int_equal(blocks, full);
  assert_memory_equal(limit, "threads: a multiprocessor holds", 31);
  OK(cuda->occupancy(k, 64, 20 << 10, &blocks, limit, sizeof limit, &err));
  assert_memory_equal(limit, "shared memory: ", 15);
  OK(cuda->occupancy(k, 32, 0, &blocks, limit, sizeof limit, &err));
  assert_memory_equal(limit, "blocks: ", 8);
  REFUSED(MW_UNSUPPORTED, "an architecture without a device", cuda->memory(offline, NULL, NULL, &err));
  mw_param type;
  REFUSED(MW_UNSUPPORTED, "variable", cuda->variable(m, "coef", &x, &type, &err));
  cuda->unload(m);
  mw_device_release(offline);
}

static int told(const char *limit) {
  static const char *const before[] = {"which is ", "allow ", "holds "};
  for (int i = 0; i < 3; i++) {
    const char *at = strstr(limit, before[i]);
    if (at) return atoi(at + strlen(before[i]));
  }
  return -1;
}

/* The number is by NVIDIA's cuda_occupancy.h where the build had it, the words are by the backend's own rules. */
static void occupancy_rules(void **state) {
  (void)state;
  static const char *const archs[] = {"sm_75",  "sm_80",  "sm_86",  "sm_87",  "sm_89", "sm_90",
                                      "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
  if (!have_nvrtc()) skip();
  for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
    mw_device *offline;
    OK(cuda->open(archs[a], &offline, &err));
    mw_module module = {.device = offline};
    for (int registers = 16; registers <= 255; registers += 23)
      for (int threads = 1; threads <= 1024; threads += 93)
        for (size_t shared = 0; shared <= offline->info.shared_per_block_optin; shared += 9111) {
          mw_kernel k = {.module = &module, .registers = registers, .max_threads = 1024};
          char limit[128];
          int blocks;
          OK(cuda->occupancy(&k, threads, shared, &blocks, limit, sizeof limit, &err));
          if (blocks != told(limit)) fail_msg("%s: %d blocks, but '%s'", archs[a], blocks, limit);
        }
    mw_device_release(offline);
  }
}

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(probes_and_opens),
                                     TEST(two_devices),
                                     TEST(copies_and_fills),
                                     TEST(out_of_memory),
                                     TEST(streams_and_freeing),
                                     TEST(events_and_callbacks),
                                     TEST(kernels_by_name),
                                     TEST(templates),
                                     TEST(templates_later),
                                     TEST(array_kernels),
                                     TEST(variables),
                                     TEST(compile_errors),
                                     TEST(cached),
                                     TEST(texts),
                                     TEST(sass),
                                     TEST(newer_device),
                                     TEST(launches),
                                     TEST(failures),
                                     TEST(lost_device),
                                     TEST(interrupted),
                                     TEST(graphs),
                                     TEST(joined_streams),
                                     TEST(offline),
                                     TEST(occupancy_rules)};
  if (!find_mock()) {
    puts("skipped: no fake driver (mock/libcuda.so.1) beside this program");
    return 0;
  }
  return cmocka_run_group_tests(tests, load_mock, remove_cache);
}
