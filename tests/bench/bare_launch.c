/* SPDX-License-Identifier: MIT
 *
 * The floor for tests/bench/launch.lua: the same kernel launched by cuLaunchKernel from a C loop in the same process,
 * with nothing of moonwarp's in between. It uses the context that moonwarp made current on this thread. */
#include "native.h"

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

typedef int (*load_fn)(void **module, const void *image);
typedef int (*get_fn)(void **function, void *module, const char *name);
typedef int (*launch_fn)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                         unsigned shared, void *stream, void **params, void **extra);
typedef int (*sync_fn)(void);

native_function load, batch;

static void *function;
static launch_fn launch;
static sync_fn synchronize;

static const char *outcome(int failed) {
  static char text[64];
  snprintf(text, sizeof text, "bare_launch: the driver says %d", failed);
  return failed ? text : NULL;
}

/* load(ptx, name): the kernel that is launched from now on */
const char *load(const native_value *v, double *result) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *module = NULL;
  if (!library) return "bare_launch: libcuda is not loaded; open a CUDA device first";
  load_fn load_module = (load_fn)dlsym(library, "cuModuleLoadData");
  get_fn get_function = (get_fn)dlsym(library, "cuModuleGetFunction");
  launch = (launch_fn)dlsym(library, "cuLaunchKernel");
  synchronize = (sync_fn)dlsym(library, "cuCtxSynchronize");
  if (!load_module || !get_function || !launch || !synchronize) return "bare_launch: libcuda lacks a function";
  (void)result;
  int failed = load_module(&module, v[0].text);
  if (!failed) failed = get_function(&function, module, v[1].text);
  return outcome(failed);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* batch(launches, a, b, c) -> seconds per launch of kernel(double *a, double *b, double *c, int, float, double) on the
 * legacy default stream; synchronises outside the timed part. */
const char *batch(const native_value *v, double *result) {
  int launches = (int)v[0].integer, n = 1024;
  uint64_t a = (uint64_t)v[1].integer, b = (uint64_t)v[2].integer, c = (uint64_t)v[3].integer;
  float s = 1.5f;
  double t = 2.5;
  void *params[] = {&a, &b, &c, &n, &s, &t};
  int failed = synchronize();
  double start = now();
  for (int i = 0; i < launches; i++) {
    n = i;
    failed |= launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
  }
  *result = (now() - start) / launches;
  failed |= synchronize();
  return outcome(failed);
}
