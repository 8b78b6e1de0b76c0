/* SPDX-License-Identifier: MIT
 *
 * Far above what a large source needs (headers such as CUB's: half a minute and 2 GiB), and below what makes a machine
 * unusable. */
#include "core/compile/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SECONDS 300
#define DEFAULT_MEMORY  (4ULL << 30)
#define MOST_FILE       (512ULL << 20)

enum { WAITING = 20 }; /* seconds in all for each of processor time: many processes may share a core */

static uint64_t read_number(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  if (!text || !*text) return otherwise;
  char *end;
  unsigned long long number = strtoull(text, &end, 10);
  if (!*end && text[0] >= '0' && text[0] <= '9') return number;
  fprintf(stderr, "moonwarp: warning: %s is a whole number, not '%s'; using %llu\n", name, text,
          (unsigned long long)otherwise);
  return otherwise;
}

double mw_compile_seconds(void) {
  return (double)read_number("MOONWARP_COMPILE_SECONDS", DEFAULT_SECONDS);
}

void mw_compile_limit(mw_process *process) {
  const uint64_t seconds = read_number("MOONWARP_COMPILE_SECONDS", DEFAULT_SECONDS);
  process->limits = (mw_process_limits){
      .seconds = seconds, .memory = read_number("MOONWARP_COMPILE_MEMORY", DEFAULT_MEMORY), .file = MOST_FILE};
  process->seconds = (double)(WAITING * seconds);
  process->output = MW_SOURCE_MOST;
  process->hint = "; MOONWARP_COMPILE_SECONDS sets the limit";
}

const char *mw_compile_hint(const char *log) {
  static const char time[] = "; MOONWARP_COMPILE_SECONDS sets the limit";
  static const char memory[] = "; MOONWARP_COMPILE_MEMORY sets the limit in bytes (default 4 GiB)";
  static const char file[] = "; a compiled module may have 512 MiB";
  static const char crash[] = "; the compiler crashed: something in the source is too deep or too long for it";
  static const char *const hints[][2] = {{"CPU time limit exceeded", time},
                                         {"out of memory", memory},
                                         {"memory exhausted", memory},
                                         {"annot allocate memory", memory},
                                         {"bad_alloc", memory},
                                         {"ile size limit", file},
                                         {"File too large", file},
                                         {"internal compiler error", crash},
                                         {"Segmentation fault", crash}};
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
    if (strstr(log, hints[i][0])) return hints[i][1];
  return "";
}
