/* SPDX-License-Identifier: MIT
 *
 * What every C unit test needs: cmocka, in the order it wants its headers, and a scratch folder. */
#ifndef MW_TESTS_TEST_H
#define MW_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new empty folder under $TMPDIR, name in `path` (at least 256 bytes). */
static inline void scratch_folder(char *path) {
  const char *base = getenv("TMPDIR");
  snprintf(path, 256, "%s/moonwarp-test-XXXXXX", base && *base ? base : "/tmp");
  assert_non_null(mkdtemp(path));
}

static inline void scratch_remove(const char *path) {
  char command[512];
  snprintf(command, sizeof command, "rm -rf '%s'", path);
  assert_int_equal(system(command), 0);
}

static inline void scratch_write(const char *folder, const char *name, const char *text) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

#endif
