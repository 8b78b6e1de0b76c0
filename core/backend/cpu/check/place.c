/* SPDX-License-Identifier: MIT
 *
 * From an address in a unit's code to file, line and text. addr2line (of binutils, which every compiler needs) reads
 * the unit's line table; it is asked for findings only. */
#include "core/backend/cpu/check/check.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/home.h"
#include "core/compile/process.h"

enum { SOURCE_MOST = 16 << 20, SECONDS = 20 };

/* addr2line prints "function\nfile:line" for each function inlined there, innermost first. */
static bool read_answer(const char *text, char *file, size_t size, int *line) {
  const char *shim = mw_shim_folder();
  for (const char *at = text; *at;) {
    const char *next = strchr(at, '\n');
    const size_t length = next ? (size_t)(next - at) : strlen(at);
    const char *colon = memrchr(at, ':', length);
    const bool is_own = !strncmp(at, shim, strlen(shim)) || strstr(at, "/shim/") == at;
    if (colon && !is_own && isdigit((unsigned char)colon[1]) && atoi(colon + 1) > 0) {
      snprintf(file, size, "%.*s", (int)(colon - at), at);
      *line = atoi(colon + 1);
      return true;
    }
    at += length + (next != NULL);
  }
  return false;
}

/* The compiler's folder stands before the name of a text without a file. */
static void shorten(const cpu_checked_launch *launch, char *file) {
  const size_t name = strlen(launch->source_name), whole = strlen(file);
  if (whole > name + 1 && file[whole - name - 1] == '/' && !strcmp(file + whole - name, launch->source_name))
    strcpy(file, launch->source_name);
}

bool cpu_place_find(const cpu_checked_launch *launch, const void *place, char *file, size_t size, int *line) {
  Dl_info info;
  char object[64], address[32];
  mw_process_result result = {0};
  if (!place || !dladdr(place, &info) || strncmp(info.dli_fname, "/proc/self/", 11)) return false;
  snprintf(object, sizeof object, "/proc/%d/%s", (int)getpid(), info.dli_fname + 11);
  snprintf(address, sizeof address, "0x%zx", (size_t)((const char *)place - 1 - (const char *)info.dli_fbase));
  const char *const argv[] = {"addr2line", "-i", "-e", object, address, NULL};
  const mw_process process = {.argv = argv, .seconds = SECONDS};
  if (mw_process_run(&process, &result, NULL)) return false;
  const bool found = result.exit == 0 && read_answer(result.out, file, size, line);
  if (found) shorten(launch, file);
  mw_process_result_free(&result);
  return found;
}

static void copy_line(const char *text, int line, char *out, size_t size) {
  while (--line > 0 && text) {
    text = strchr(text, '\n');
    if (text) text++;
  }
  if (!text) return;
  while (*text == ' ' || *text == '\t') text++;
  size_t length = strcspn(text, "\r\n");
  while (length && isspace((unsigned char)text[length - 1])) length--;
  snprintf(out, size, "%.*s", (int)length, text);
}

void cpu_place_text(const cpu_checked_launch *launch, const char *file, int line, char *out, size_t size) {
  *out = 0;
  if (!strcmp(file, launch->source_name)) return copy_line(launch->source_text, line, out, size);
  char *text = mw_file_read(file, SOURCE_MOST, NULL);
  if (text) copy_line(text, line, out, size);
  mw_free(text);
}
