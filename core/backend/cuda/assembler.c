/* SPDX-License-Identifier: MIT
 *
 * From lines of PTX to lines of the source: ".loc 1 12 3" stands above the instructions of line 12 of the file that
 * ".file 1 "/home/me/x.cu"" names at the end. And what a verbose log says of a function's registers:
 *
 *   ptxas info    : Function properties for _Z5spillPdi
 *   ptxas         .     2536 bytes stack frame, 4832 bytes spill stores, 4840 bytes spill loads */
#include "core/backend/cuda/assembler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/compile/excerpt.h"
#include "core/source/declaration.h"
#include "core/source/signature.h"

bool cuda_assembler_undefined(const char *log, char *out, size_t size) {
  static const char front[] = "Unresolved extern function '";
  const char *at = strstr(log, front);
  if (!at) return false;
  at += sizeof front - 1;
  char *symbol = mw_format("%.*s", (int)strcspn(at, "'"), at);
  mw_signature signature;
  const bool mangled = mw_signature_parse(symbol, &signature);
  const mw_token bare = mw_bare_name(mangled ? signature.plain : symbol);
  snprintf(out, size, "%.*s", TEXT(&bare));
  mw_signature_free(&signature);
  mw_free(symbol);
  return true;
}

static const char line_mark[] = "ptx input, line ";

bool cuda_assembler_lines(const char *log) {
  return strstr(log, line_mark) != NULL;
}

static const char *line_next(const char *at) {
  at = strchr(at, '\n');
  return at ? at + 1 : NULL;
}

/* The name of that number, as the source calls it: the compiler puts its own folder in front. "" if none. */
static void file_name(const char *ptx, int number, const mw_source *source, char *out, size_t size) {
  char *directive = mw_format("\n\t.file\t%d \"", number);
  const char *found = strstr(ptx, directive);
  found = found ? found + strlen(directive) : "";
  snprintf(out, size, "%.*s", (int)strcspn(found, "\"\n"), found);
  const size_t length = strlen(out), own = strlen(source->name);
  if (length > own && out[length - own - 1] == '/' && !strcmp(out + length - own, source->name))
    snprintf(out, size, "%s", source->name);
  mw_free(directive);
}

/* One error, at a line of PTX. */
static void error_place(int line, const char *text, const char *ptx, const mw_source *source, mw_text *out) {
  const mw_token word = {.kind = MW_TOKEN_NAME, .text = "asm", .size = 3};
  char file[1024];
  int number = 0, source_line = 0;
  for (const char *at = ptx; at && line > 0; at = line_next(at), line--)
    sscanf(at, " .loc %d %d", &number, &source_line);
  file_name(ptx, number, source, file, sizeof file);
  if (!*file) return;
  mw_text_format(out, "%s:%d: error: PTX: %.*s\n", file, source_line, (int)strcspn(text, "\n"), text);
  mw_excerpt_put(out, source, file, source_line, &word);
}

void cuda_assembler_place(const char *log, const char *ptx, const mw_source *source, mw_text *out) {
  while ((log = strstr(log, line_mark))) {
    log += sizeof line_mark - 1;
    const char *text = strstr(log, ": ");
    if (!text) return;
    error_place(atoi(log), text + 2, ptx, source, out);
  }
}

/* ---- spilled registers ----------------------------------------------------------------------------------------- */

/* The number before the words, on this line; -1: they are not there. */
static int number_before(const char *line, const char *words) {
  const char *at = memmem(line, strcspn(line, "\n"), words, strlen(words));
  while (at && at > line && at[-1] >= '0' && at[-1] <= '9') at--;
  return at ? atoi(at) : -1;
}

char *cuda_assembler_said(const char *log) {
  static const char front[] = "Function properties for ";
  mw_text out = {0};
  mw_text_put(&out, "");
  while ((log = strstr(log, front))) {
    const char *symbol = log + sizeof front - 1, *line = line_next(symbol);
    log = symbol;
    const int stores = line ? number_before(line, " bytes spill stores") : -1;
    const int loads = line ? number_before(line, " bytes spill loads") : -1;
    if (loads >= 0) mw_text_format(&out, "%.*s %d %d\n", (int)strcspn(symbol, "\r\n"), symbol, stores, loads);
  }
  return out.at;
}

void cuda_assembler_spills(const char *said, cuda_image *image) {
  for (; said && *said; said = line_next(said)) {
    char *symbol = mw_format("%.*s", (int)strcspn(said, " "), said);
    cuda_entry *entry = cuda_image_entry(image, symbol);
    if (entry) sscanf(said + strlen(symbol), "%d %d", &entry->spill_stores, &entry->spill_loads);
    mw_free(symbol);
  }
}
