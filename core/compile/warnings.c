/* SPDX-License-Identifier: MIT
 *
 * Warnings out of a compiler's log; see warnings.h. The forms of a line are
 *
 *   red.cu:7:9: warning: text [-Wparentheses]     clang++, g++
 *   red.cu(7): warning #187-D: text               NVRTC */
#include "core/compile/warnings.h"

#include <ctype.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/compile/excerpt.h"
#include "core/source/lexer.h"

enum { MOST_LINE = 160 };

typedef struct warning {
  mw_token place;
  int line;
  const char *number; /* of NVRTC's, "#187-D"; size 0: none */
  int number_size;
  const char *text;
  int text_size;
} warning;

/* One line of a log; false: it is no warning. */
static bool warning_read(const char *line, const char *end, warning *out) {
  static const char word[] = ": warning";
  const char *at = memmem(line, (size_t)(end - line), word, sizeof word - 1);
  if (!at) return false;
  const char *text = at + sizeof word - 1;
  *out = (warning){.number = text};
  if (text < end && *text == ' ') {
    out->number = ++text;
    while (text < end && *text != ':') text++;
    out->number_size = (int)(text - out->number);
  }
  if (text >= end || *text != ':' || !mw_place_read(line, &out->place, &out->line)) return false;
  text++;
  while (text < end && *text == ' ') text++;
  out->text = text;
  out->text_size = (int)(end - text);
  return true;
}

/* Does it name what is generated: mw_x, but not a user's row_mw_x? */
static bool is_generated(const warning *it) {
  const char *at = it->text, *end = at + it->text_size;
  for (; (at = memmem(at, (size_t)(end - at), "mw_", 3)); at += 3)
    if (!isalnum((unsigned char)at[-1]) && at[-1] != '_') return true;
  return false;
}

static void line_put(mw_text *out, const char *text) {
  text += strspn(text, " \t");
  size_t size = strcspn(text, "\r\n");
  if (size > MOST_LINE) size = MOST_LINE;
  if (size) mw_text_format(out, "  %.*s\n", (int)size, text);
}

static void warning_put(mw_text *out, const warning *it, const char *file, const char *line) {
  char *entry = mw_format("%s:%d: warning: %.*s%s%.*s%s\n", file, it->line, it->text_size, it->text,
                          it->number_size ? " [" : "", it->number_size, it->number, it->number_size ? "]" : "");
  if (!strstr(out->at, entry)) {
    mw_text_put(out, entry);
    line_put(out, line);
  }
  mw_free(entry);
}

char *mw_warnings_read(const char *log, const mw_source *source, const char *folder) {
  mw_text out = {0};
  warning it;
  mw_text_put(&out, "");
  for (const char *end; *log; log = end + (*end == '\n')) {
    end = log + strcspn(log, "\n");
    if (!warning_read(log, end, &it)) continue;
    char *file = mw_format("%.*s", TEXT(&it.place)), *read = NULL;
    const bool is_ours = (*folder && !strncmp(file, folder, strlen(folder))) || !strcmp(file, "moonwarp");
    const char *line = is_ours || is_generated(&it) ? NULL : mw_excerpt_line(source, file, it.line, &read);
    if (line) warning_put(&out, &it, file, line);
    mw_free(read);
    mw_free(file);
  }
  return out.at;
}
