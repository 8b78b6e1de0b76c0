/* SPDX-License-Identifier: MIT
 *
 * Comments and line splices out of C++ text, literals left alone. */
#include "core/compile/strip.h"

#include <stdbool.h>
#include <string.h>

#include "core/backend/backend.h"

static unsigned long raw_length(const char *at) { /* at: R"delimiter( ... )delimiter" */
  const char *open = at + 2 + strcspn(at + 2, "(\n");
  size_t delimiter = (size_t)(open - at - 2);
  if (*open != '(' || delimiter > 16) return 0;
  for (const char *end = open; (end = strchr(end + 1, ')'));)
    if (strncmp(end + 1, at + 2, delimiter) == 0 && end[1 + delimiter] == '"')
      return (unsigned long)(end + 2 + delimiter - at);
  return strlen(at);
}

static unsigned long quoted_length(const char *at) {
  const char *end = at + 1;
  while (*end && *end != *at && *end != '\n') end += *end == '\\' && end[1] ? 2 : 1;
  return (unsigned long)(end - at) + (*end == *at);
}

unsigned long mw_literal_length(const char *at) {
  const char *quote = at;
  if (strncmp(quote, "u8", 2) == 0)
    quote += 2;
  else if (*quote == 'u' || *quote == 'U' || *quote == 'L')
    quote++;
  if (quote[0] == 'R' && quote[1] == '"') {
    unsigned long length = raw_length(quote);
    return length ? length + (unsigned long)(quote - at) : 0;
  }
  if (*quote != '"' && *quote != '\'') return 0;
  return quoted_length(quote) + (unsigned long)(quote - at);
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Length of the comment at `at`, 0: none. */
static unsigned long comment_length(const char *at) {
  if (at[0] != '/') return 0;
  if (at[1] == '*') {
    const char *end = strstr(at + 2, "*/");
    return end ? (unsigned long)(end + 2 - at) : strlen(at);
  }
  if (at[1] != '/') return 0;
  const char *end = at;
  do end += strcspn(end + 1, "\n") + 1;
  while (*end && end[-1] == '\\'); /* a spliced line comment goes on */
  return (unsigned long)(end - at);
}

static char *copy_blank(char *to, const char *comment, unsigned long length) {
  *to++ = ' ';
  for (unsigned long i = 0; i < length; i++)
    if (comment[i] == '\n') *to++ = '\n';
  return to;
}

/* A quote inside a number (1'000) or right behind a word that is no prefix is no literal's beginning. */
static unsigned long literal_here(const char *text, const char *at) {
  if (at > text && is_word(at[-1])) return 0;
  return mw_literal_length(at);
}

/* Length of the backslash-newline at `at`, 0: none. */
static unsigned long splice_length(const char *at) {
  if (at[0] != '\\') return 0;
  return at[1] == '\n' ? 2 : at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

/* Splices are joined in literals too, but not in raw ones. */
static char *copy_literal(char *to, const char *at, unsigned long length) {
  bool raw = at[strcspn(at, "\"'") - (at[0] != '"' && at[0] != '\'')] == 'R';
  for (const char *end = at + length; at < end;) {
    unsigned long splice = raw ? 0 : splice_length(at);
    if (splice)
      at += splice;
    else
      *to++ = *at++;
  }
  return to;
}

/* A comment cannot be longer as a blank than it was, so the copy fits in the original's size. */
char *mw_strip_comments(const char *text) {
  char *clean = mw_malloc(strlen(text) + 1), *to = clean;
  for (const char *at = text; *at;) {
    unsigned long comment = comment_length(at), splice = splice_length(at), literal = literal_here(text, at);
    if (comment) to = copy_blank(to, at, comment);
    if (literal) to = copy_literal(to, at, literal);
    unsigned long length = comment + splice + literal; /* at most one of them is not 0 */
    if (!length) *to++ = *at++;
    at += length;
  }
  *to = '\0';
  return clean;
}
