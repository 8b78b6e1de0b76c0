/* SPDX-License-Identifier: MIT
 *
 * The client's half of NVTX 3, whose other half NVIDIA's tools bring: they ask for tables by number, one of which gives
 * for each module an array of pointers to function pointers, and fill those that they care for. */
#include "core/base/nvtx.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*function)(void);
typedef const void *export_function(uint32_t table);

enum { MOST = 16 }; /* functions of a module, the first of which is none */

static const unsigned counts[NVTX_MODULES] = {0, 16, 9, 15, 7, 16, 7}; /* as NVIDIA's headers have them */

static function functions[NVTX_MODULES][MOST];
static function *slots[NVTX_MODULES][MOST + 1]; /* a NULL ends them */

static int module_functions(int module, function ***out, unsigned *count) {
  if (module < 1 || module >= NVTX_MODULES) return 0;
  for (unsigned i = 1; i < counts[module]; i++) slots[module][i] = &functions[module][i];
  if (out) *out = slots[module];
  if (count) *count = counts[module];
  return 1;
}

static void note_version(uint32_t version) {
  (void)version;
}

static const void *export_table(uint32_t table) {
  static const struct {
    size_t size;
    int (*module_functions)(int, function ***, unsigned *);
  } callbacks = {sizeof callbacks, module_functions};
  static const struct {
    size_t size;
    uint32_t version, reserved;
    void (*note)(uint32_t);
  } version = {sizeof version, 3, 0, note_version};
  return table == NVTX_TABLE_CALLBACKS ? (const void *)&callbacks : table == NVTX_TABLE_VERSION ? &version : NULL;
}

/* The profiler's library stays loaded: it fills the slots, now or later. */
static void load(void) {
  const char *path = getenv("NVTX_INJECTION64_PATH");
  if (!path || !*path) return;
  void *library = dlopen(path, RTLD_LAZY);
  void *address = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
  int (*begin)(export_function *);
  if (!address) {
    fprintf(stderr, "moonwarp: warning: no ranges for a profiler: $NVTX_INJECTION64_PATH: %s\n", dlerror());
    return;
  }
  memcpy(&begin, &address, sizeof begin);
  if (!begin(export_table)) memset(functions, 0, sizeof functions);
}

void mw_range_push(const char *name) {
  static int loaded;
  if (!loaded++) load();
  int (*push)(const char *);
  memcpy(&push, &functions[NVTX_CORE][NVTX_CORE_PUSH], sizeof push);
  if (push) push(name);
}

void mw_range_pop(void) {
  int (*pop)(void);
  memcpy(&pop, &functions[NVTX_CORE][NVTX_CORE_POP], sizeof pop);
  if (pop) pop();
}
