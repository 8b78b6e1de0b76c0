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

enum { SOURCE_MOST = 16 << 20, SECONDS = 20, ADDRESS_MOST = 24 };

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

/* What addr2line says of places of one unit, and how it is to say it; false: nothing. */
static bool ask(const char *options, const void *const *places, size_t count, mw_process_result *result) {
  Dl_info info;
  char object[64];
  if (!places[0] || !dladdr(places[0], &info) || strncmp(info.dli_fname, "/proc/self/", 11)) return false;
  snprintf(object, sizeof object, "/proc/%d/%s", (int)getpid(), info.dli_fname + 11);
  char *input = mw_calloc(count, ADDRESS_MOST);
  size_t used = 0;
  for (size_t i = 0; i < count; i++)
    used += (size_t)snprintf(input + used, ADDRESS_MOST, "0x%zx\n",
                             (size_t)((const char *)places[i] - 1 - (const char *)info.dli_fbase));
  const char *const argv[] = {"addr2line", options, "-e", object, NULL};
  const mw_process process = {.argv = argv, .input = input, .input_size = used, .seconds = SECONDS};
  const bool ran = !mw_process_run(&process, result, NULL);
  mw_free(input);
  if (ran && result->exit == 0) return true;
  if (ran) mw_process_result_free(result);
  return false;
}

bool cpu_place_find(const cpu_checked_launch *launch, const void *place, char *file, size_t size, int *line) {
  mw_process_result result = {0};
  if (!ask("-i", &place, 1, &result)) return false;
  const bool found = read_answer(result.out, file, size, line);
  if (found) shorten(launch, file);
  mw_process_result_free(&result);
  return found;
}

/* addr2line -a prints "0xaddress" before the lines of each. */
static void read_answers(const char *text, const cpu_checked_launch *launch, const void *const *places, size_t count,
                         void (*found)(void *, const void *, const char *, int), void *owner) {
  for (size_t i = 0; i < count; i++) {
    char file[1024] = "";
    int line = 0;
    const char *begin = text && *text ? strchr(text, '\n') : NULL, *end = begin ? strstr(begin, "\n0x") : NULL;
    char *answer =
        mw_format("%.*s", begin ? (int)(end ? end - begin : (ptrdiff_t)strlen(begin)) : 0, begin ? begin + 1 : "");
    if (read_answer(answer, file, sizeof file, &line)) shorten(launch, file);
    found(owner, places[i], file, line);
    mw_free(answer);
    text = end ? end + 1 : NULL;
  }
}

void cpu_places_find(const cpu_checked_launch *launch, const void *const *places, size_t count,
                     void (*found)(void *owner, const void *place, const char *file, int line), void *owner) {
  mw_process_result result = {0};
  const bool asked = ask("-ia", places, count, &result);
  read_answers(asked ? result.out : NULL, launch, places, count, found, owner);
  if (asked) mw_process_result_free(&result);
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
