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
static int word_find(const char *line, int size, const mw_token *word) {
  const bool mark = word->size && !is_word(word->text[0]);
  for (int i = 0; word->size && i + word->size <= size; i++)
    if (!memcmp(line + i, word->text, (size_t)word->size) &&
        (mark || ((!i || !is_word(line[i - 1])) && !is_word(line[i + word->size]))))
      return i;
  return (int)strspn(line, " \t");
}

/* Where a mark goes, and how long it is: past the end of a line that lacks a semicolon. */
static int mark_find(const char *line, int size, const mw_token *word, int *length) {
  const int column = mw_token_is(word, ";") ? size : word_find(line, size, word);
  const bool found = column + word->size <= size && !memcmp(line + column, word->text, (size_t)word->size);
  *length = found && word->size ? word->size : 1;
  return column;
}

static void line_put(mw_text *out, const char *line, int number, const mw_token *word) {
  int size = (int)strcspn(line, "\r\n"), length;
  while (size && line[size - 1] == ' ') size--;
  const int column = mark_find(line, size, word, &length);
  if (size > MOST_LINE || !size) return;
  mw_text_format(out, "%5d | %.*s\n      | ", number, size, line);
  for (int i = 0; i < column; i++) mw_text_put(out, line[i] == '\t' ? "\t" : " ");
  mw_text_put(out, "^");
  for (int i = 1; i < length; i++) mw_text_put(out, "~");
  mw_text_put(out, "\n");
}

/* The line of the source or of a file next to it; NULL if none. read: to be freed. */
const char *mw_excerpt_line(const mw_source *source, const char *file, int line, char **read) {
  *read = strcmp(file, source->name) ? mw_file_read(file, MOST_FILE, NULL) : NULL;
  const char *at = strcmp(file, source->name) ? *read : source->text;
  for (int i = 1; at && i < line; i++) {
    at = strchr(at, '\n');
    if (at) at++;
  }
  return line > 0 ? at : NULL;
}

void mw_excerpt_put(mw_text *out, const mw_source *source, const char *file, int line, const mw_token *word) {
  const mw_token none = {.text = ""};
  char *read;
  const char *at = mw_excerpt_line(source, file, line, &read);
  if (at) line_put(out, at, line, word ? word : &none);
  mw_free(read);
}

void mw_excerpt_say(mw_text *out, const mw_source *source, const mw_tokens *tokens, const mw_token *at,
                    const char *why) {
  mw_text_format(out, "%s:%d: error: %s\n", tokens->files[at->file], at->line, why);
  mw_excerpt_put(out, source, tokens->files[at->file], at->line, at);
}

/* ---- compilers' messages --------------------------------------------------------------------------------------- */

bool mw_place_read(const char *line, mw_token *file, int *number) {
  const int size = (int)strcspn(line, "\n");
  for (int i = 0; i < size; i++) {
    const int digits = line[i] == ':' || line[i] == '(' ? (int)strspn(line + i + 1, "0123456789") : 0;
    const char *end = line + i + 1 + digits;
    if (!digits || (line[i] == '(' ? strncmp(end, "):", 2) : *end != ':')) continue;
    const int blanks = (int)strspn(line, " ");
    *file = (mw_token){.kind = MW_TOKEN_NAME, .text = line + blanks, .size = i - blanks};
    *number = atoi(line + i + 1);
    return true;
  }
  return false;
}

/* 'x', or the x that g++ has between its quotes, else the first word; a ; if that is what the message misses. */
static mw_token word_quoted(const char *at, const char *end) {
  static const char mark[] = "\u2018", missing[] = "expected ';'", error[] = "error: ";
  const char *text = memmem(at, (size_t)(end - at), error, sizeof error - 1);
  mw_token word = {.kind = MW_TOKEN_NAME, .text = text ? text + sizeof error - 1 : ""};
  const char *quote = memchr(at, '\'', (size_t)(end - at));
  if (memmem(at, (size_t)(end - at), missing, sizeof missing - 1))
    return (mw_token){.kind = MW_TOKEN_PUNCT, .text = ";", .size = 1};
  if (!quote) quote = memmem(at, (size_t)(end - at), mark, sizeof mark - 1);
  if (quote) word.text = quote + (*quote == '\'' ? 1 : sizeof mark - 1);
  while (is_word(word.text[word.size])) word.size++;
  return word;
}

void mw_excerpt_error(mw_text *out, const mw_source *source, const char *message) {
  mw_token name;
  int number;
  if (!mw_place_read(message, &name, &number)) return;
  const mw_token word = word_quoted(name.text + name.size, message + strcspn(message, "\n"));
  char *file = mw_format("%.*s", TEXT(&name));
  mw_excerpt_put(out, source, file, number, &word);
  mw_free(file);
}

bool mw_excerpt_fits(const mw_source *source, const char *message) {
  mw_token name, word = {.text = ""};
  int number;
  if (mw_place_read(message, &name, &number))
    word = word_quoted(name.text + name.size, message + strcspn(message, "\n"));
  if (!word.size) return true;
  char *file = mw_format("%.*s", TEXT(&name)), *read;
  const char *line = mw_excerpt_line(source, file, number, &read);
  const int size = line ? (int)strcspn(line, "\n") : 0, column = line ? word_find(line, size, &word) : 0;
  const bool fits = !line || (column + word.size <= size && !memcmp(line + column, word.text, (size_t)word.size));
  mw_free(read);
  mw_free(file);
  return fits;
}

void mw_excerpt_place(mw_text *out, const char *message) {
  const char *column = message;
  mw_token name;
  int number;
  if (*message != ' ' && mw_place_read(message, &name, &number)) {
    column = name.text + name.size + 1;
    column += strspn(column, "0123456789");
  }
  mw_text_add(out, message, (size_t)(column - message));
  const int digits = *column == ':' ? (int)strspn(column + 1, "0123456789") : 0;
  if (digits && column[1 + digits] == ':') column += 1 + digits;
  mw_text_format(out, "%.*s\n", (int)strcspn(column, "\n"), column);
}
