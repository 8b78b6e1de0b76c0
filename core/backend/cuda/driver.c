/* SPDX-License-Identifier: MIT
 *
 * Finding and loading libcuda and libnvrtc. Each is looked for once per process; what was found out, good or bad, is
 * kept, so asking again is free. Nothing is unloaded: the driver does not survive it. */
#include "core/backend/cuda/driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/shared.h"

cuda_driver_table cuda_driver;
cuda_nvrtc_table cuda_nvrtc;

static const cuda_symbol driver_entries[] = {
#define CUDA_ENTRY(name, arguments) {#name, offsetof(cuda_driver_table, name)},
    CUDA_DRIVER_CALLS(CUDA_ENTRY)
#undef CUDA_ENTRY
        {NULL, 0}};

static const cuda_symbol nvrtc_entries[] = {
#define CUDA_ENTRY(name, result, arguments) {#name, offsetof(cuda_nvrtc_table, name)},
    CUDA_NVRTC_CALLS(CUDA_ENTRY)
#undef CUDA_ENTRY
        {NULL, 0}};

static const cuda_symbol nvrtc_optional[] = {{"nvrtcSetFlowCallback", offsetof(cuda_nvrtc_table, nvrtcSetFlowCallback)},
                                             {NULL, 0}};

const char *cuda_resolve(void *library, const cuda_symbol *symbols, void *table) {
  const char *missing = NULL;
  for (; symbols->name; symbols++) {
    void *address = dlsym(library, symbols->name);
    if (!address && !missing) missing = symbols->name;
    memcpy((char *)table + symbols->offset, &address, sizeof address);
  }
  return missing;
}

/* ---- trying ---------------------------------------------------------------------------------------------------- */

typedef struct attempt { /* to load a library: made once */
  enum { UNTRIED, USABLE, REJECTED } state;
  char reason[1024];
} attempt;

static attempt driver_attempt, nvrtc_attempt;

static bool __attribute__((format(printf, 2, 3))) reject(attempt *a, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(a->reason, sizeof a->reason, format, arguments);
  va_end(arguments);
  return false;
}

void cuda_signals_block(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

void cuda_signals_restore(const sigset_t *before) {
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

static bool try_once(attempt *a, bool (*load)(void), char *reason, size_t size) {
  sigset_t before;
  cuda_signals_block(&before);
  if (a->state == UNTRIED) a->state = load() ? USABLE : REJECTED;
  cuda_signals_restore(&before);
  if (reason && size) snprintf(reason, size, "%s", a->reason);
  return a->state == USABLE;
}

/* ---- the driver ------------------------------------------------------------------------------------------------ */

/* cuInit, then count: the two calls that show why an installed driver does not work. */
static bool start_driver(void) {
  char text[128];
  const char *name = "", *meaning = "";
  cuda_driver.cuDriverGetVersion(&cuda_driver.version);
  snprintf(text, sizeof text, "driver %d.%d found", cuda_driver.version / 1000, cuda_driver.version % 1000 / 10);
  cuda_result code = cuda_driver.cuInit(0);
  if (code == CUDA_OK) code = cuda_driver.cuDeviceGetCount(&cuda_driver.devices);
  if (code == CUDA_NO_DEVICE || (code == CUDA_OK && cuda_driver.devices == 0))
    return reject(&driver_attempt, "%s, no device", text);
  if (code == CUDA_OK && cuda_driver.version < 12000)
    return reject(&driver_attempt, "%s, which is too old: CUDA 12.0 or newer is needed (driver 525 or newer)", text);
  if (code == CUDA_OK) return true;
  cuda_driver.cuGetErrorName(code, &name);
  cuda_driver.cuGetErrorString(code, &meaning);
  return reject(&driver_attempt, "%s, but cuInit failed: %s (%u): %s", text, name ? name : "unknown", code,
                meaning ? meaning : "unknown");
}

static bool load_driver(void) {
  const char *forced = getenv("MOONWARP_LIBCUDA");
  const char *name = forced && *forced ? forced : "libcuda.so.1";
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library && name == forced) return reject(&driver_attempt, "$MOONWARP_LIBCUDA cannot be loaded: %s", dlerror());
  if (!library && access("/proc/driver/nvidia/version", R_OK) == 0)
    return reject(&driver_attempt, "libcuda.so.1 cannot be loaded although the NVIDIA kernel driver is there: %s",
                  dlerror());
  if (!library) return reject(&driver_attempt, "%s is not installed (no NVIDIA driver)", name);
  const char *missing = cuda_resolve(library, driver_entries, &cuda_driver);
  if (missing)
    return reject(&driver_attempt, "the driver lacks %s: CUDA 12.0 or newer is needed (driver 525 or newer)", missing);
  return start_driver();
}

bool cuda_driver_load(char *reason, size_t size) {
  return try_once(&driver_attempt, load_driver, reason, size);
}

/* ---- NVRTC ----------------------------------------------------------------------------------------------------- */

static void *open_nvrtc(const char *file) {
  return mw_shared_open(file, cuda_nvrtc.path, sizeof cuda_nvrtc.path);
}

/* A newer NVRTC than the driver makes cubins that the driver may reject, so the driver's own major comes first. */
static void *open_best_nvrtc(void) {
  bool old = cuda_driver_load(NULL, 0) && cuda_driver.version < 13000;
  void *library = open_nvrtc(old ? "libnvrtc.so.12" : "libnvrtc.so.13");
  return library ? library : open_nvrtc(old ? "libnvrtc.so.13" : "libnvrtc.so.12");
}

static bool holds_headers_below(const char *root) {
  char file[600];
  snprintf(file, sizeof file, "%.480s/include/cuda_fp16.h", root ? root : "");
  if (!root || !*root || access(file, R_OK) != 0) return false;
  snprintf(cuda_nvrtc.toolkit, sizeof cuda_nvrtc.toolkit, "%.480s/include", root);
  return true;
}

/* <root>/lib64/libnvrtc.so.13 has <root>/include. */
static void find_headers(void) {
  char root[512] = "";
  snprintf(root, sizeof root, "%s", cuda_nvrtc.path);
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(root, '/');
    if (slash) *slash = '\0';
  }
  const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), root, "/usr/local/cuda", "/opt/cuda", "/usr"};
  bool found = false;
  for (size_t i = 0; i < sizeof roots / sizeof *roots && !found; i++) found = holds_headers_below(roots[i]);
}

static void describe_nvrtc(void) {
  int count = 0;
  cuda_nvrtc.nvrtcVersion(&cuda_nvrtc.major, &cuda_nvrtc.minor);
  if (cuda_nvrtc.nvrtcGetNumSupportedArchs(&count) != 0 || count < 1 || count > 64) return;
  if (cuda_nvrtc.nvrtcGetSupportedArchs(cuda_nvrtc.archs) == 0) cuda_nvrtc.narchs = count;
  find_headers();
}

static bool load_nvrtc(void) {
  const char *forced = getenv("MOONWARP_LIBNVRTC");
  void *library = forced && *forced ? open_nvrtc(forced) : open_best_nvrtc();
  if (!library && forced && *forced)
    return reject(&nvrtc_attempt, "$MOONWARP_LIBNVRTC cannot be loaded: %s", cuda_nvrtc.path);
  if (!library)
    return reject(&nvrtc_attempt,
                  "NVRTC not found: looked for libnvrtc.so.13 and .12 in the library path, $CUDA_HOME, $CUDA_PATH, "
                  "/usr/local/cuda*/lib64, /opt/cuda and Python's site-packages; install the CUDA toolkit or "
                  "`pip install nvidia-cuda-nvrtc`, or set $MOONWARP_LIBNVRTC");
  const char *missing = cuda_resolve(library, nvrtc_entries, &cuda_nvrtc);
  if (missing) return reject(&nvrtc_attempt, "%s lacks %s", cuda_nvrtc.path, missing);
  cuda_resolve(library, nvrtc_optional, &cuda_nvrtc);
  describe_nvrtc();
  return true;
}

bool cuda_nvrtc_load(char *reason, size_t size) {
  return try_once(&nvrtc_attempt, load_nvrtc, reason, size);
}
