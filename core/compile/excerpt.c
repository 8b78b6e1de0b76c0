/* SPDX-License-Identifier: MIT
 *
 * Source lines below messages; see excerpt.h. */
#include "core/compile/excerpt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/memory.h"

enum { MOST_FILE = 16 << 20, MOST_LINE = 300 };

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* Where the word, or mark, begins in a line; its first character that is no blank, if it is not there. */
static int word_find(const char *line, int size, const cpu_token *word) {
  const bool mark = word->size && !is_word(word->text[0]);
  for (int i = 0; word->size && i + word->size <= size; i++)
    if (!memcmp(line + i, word->text, (size_t)word->size) &&
        (mark || ((!i || !is_word(line[i - 1])) && !is_word(line[i + word->size]))))
      return i;
  return (int)strspn(line, " \t");
}

static void line_put(cpu_text *out, const char *line, int number, const cpu_token *word) {
  const int size = (int)strcspn(line, "\r\n"), column = word_find(line, size, word);
  const int length =
      column + word->size <= size && !memcmp(line + column, word->text, (size_t)word->size) ? word->size : 1;
  if (size > MOST_LINE || column >= size) return;
  cpu_text_format(out, "%5d | %.*s\n      | ", number, size, line);
  for (int i = 0; i < column; i++) cpu_text_put(out, line[i] == '\t' ? "\t" : " ");
  cpu_text_put(out, "^");
  for (int i = 1; i < length; i++) cpu_text_put(out, "~");
  cpu_text_put(out, "\n");
}

void mw_excerpt_put(cpu_text *out, const mw_source *source, const char *file, int line, const cpu_token *word) {
  const cpu_token none = {.text = ""};
  char *read = strcmp(file, source->name) ? mw_file_read(file, MOST_FILE, NULL) : NULL;
  const char *at = strcmp(file, source->name) ? read : source->text;
  for (int i = 1; at && i < line; i++) {
    at = strchr(at, '\n');
    if (at) at++;
  }
  if (at && line > 0) line_put(out, at, line, word ? word : &none);
  mw_free(read);
}

void mw_excerpt_error(cpu_text *out, const mw_source *source, const char *message) {
  const char *colon = message, *end = message + strcspn(message, "\n");
  while (colon < end && !(colon[0] == ':' && isdigit((unsigned char)colon[1]))) colon++;
  if (colon >= end) return;
  cpu_token word = {.text = ""};
  const char *quote = memchr(colon, '\'', (size_t)(end - colon));
  if (!quote) quote = strstr(colon, "\u2018"); /* as g++ writes it */
  if (quote && quote < end) {
    quote += *quote == '\'' ? 1 : strlen("\u2018");
    word = (cpu_token){.kind = CPU_NAME, .text = quote};
    while (is_word(quote[word.size])) word.size++;
  }
  char *file = mw_format("%.*s", (int)(colon - message), message);
  mw_excerpt_put(out, source, file, atoi(colon + 1), &word);
  mw_free(file);
}
