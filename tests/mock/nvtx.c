/* SPDX-License-Identifier: MIT
 *
 * A stand-in for a profiler's library: NVTX_INJECTION64_PATH names it. It tells of ranges, indented by their depth, if
 * MOCK_NVTX is not 0; with 0 it refuses to begin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/nvtx.h"
#include "tests/mock/mock.h"

typedef void (*nvtx_function)(void);

struct callbacks {
  size_t size;
  int (*module_functions)(int module, nvtx_function ***out, unsigned *count);
};

static int depth;

static int push(const char *name) {
  printf("%*s%s\n", 2 * depth, "", name);
  fflush(stdout);
  return depth++;
}

static int pop(void) {
  if (depth == 0) printf("a pop too many\n");
  return --depth;
}

static void __attribute__((destructor)) tell_open(void) {
  if (depth) printf("%d ranges were left open\n", depth);
}

int InitializeInjectionNvtx2(const void *(*table)(uint32_t));

int InitializeInjectionNvtx2(const void *(*table)(uint32_t)) {
  const char *wanted = getenv("MOCK_NVTX");
  const struct callbacks *callbacks = table(NVTX_TABLE_CALLBACKS);
  nvtx_function **slots = NULL;
  unsigned count = 0;
  int (*functions[])(void) = {pop};
  int (*names[])(const char *) = {push};
  for (int module = 1; module < NVTX_MODULES; module++) { /* as tools do */
    if (!callbacks->module_functions(module, &slots, &count) || count < 7 || slots[0] || !slots[count - 1]) return 0;
  }
  if (table(77) || !table(NVTX_TABLE_VERSION) || !callbacks->module_functions(NVTX_CORE, &slots, &count)) return 0;
  memcpy(slots[NVTX_CORE_PUSH], names, sizeof *names);
  memcpy(slots[NVTX_CORE_POP], functions, sizeof *functions);
  return !wanted || *wanted != '0';
}
