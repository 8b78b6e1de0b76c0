/* SPDX-License-Identifier: MIT
 *
 * Finds a declaration in a copy of the source without comments, strings and directives, and reads its words. */
#include "core/backend/declared.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/backend/signature.h"
#include "core/compile/strip.h"

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static bool one_of(const char *word, const char *const *list) {
  for (; *list; list++)
    if (strcmp(word, *list) == 0) return true;
  return false;
}

/* ---- blanking -------------------------------------------------------------------------------------------------- */

static size_t directive_length(const char *s, bool line_start) {
  if (*s != '#' || !line_start) return 0;
  const char *c = s;
  while (*c && *c != '\n') c += c[0] == '\\' && c[1] ? 2 : 1;
  return (size_t)(c - s);
}

static char *blanked(const char *source) {
  char *copy = mw_strip_comments(source);
  bool line_start = true;
  for (char *c = copy; *c;) {
    size_t skip = c > copy && is_word(c[-1]) ? 0 : mw_literal_length(c); /* 1'000 is no literal */
    if (!skip) skip = directive_length(c, line_start);
    line_start = *c == '\n' || (line_start && (skip || isspace((unsigned char)*c)));
    for (size_t i = 0; i < skip; i++)
      if (c[i] != '\n') c[i] = ' ';
    c += skip ? skip : 1;
  }
  return copy;
}

/* ---- one declaration ------------------------------------------------------------------------------------------- */

typedef struct declared {
  char words[96]; /* the type's own words, one blank between */
  char last[64];  /* the declarator's name */
  int stars;
  bool is_const, unknown;
} declared;

/* Adds the word before the newest one to the type: the newest may still turn out to be the name. */
static void add_word(declared *d, const char *word) {
  if (*d->last) {
    if (strlen(d->words) + strlen(d->last) + 2 > sizeof d->words)
      d->unknown = true;
    else
      sprintf(d->words + strlen(d->words), "%s%s", *d->words ? " " : "", d->last);
  }
  snprintf(d->last, sizeof d->last, "%s", word);
}

static declared read_declared(const char *from, const char *to) {
  static const char *const ignored[] = {
      "volatile",   "__restrict__", "__restrict",  "restrict", "__grid_constant__", "static",    "extern", "inline",
      "__device__", "__constant__", "__managed__", "struct",   "typename",          "constexpr", "std",    NULL};
  declared d = {.words = ""};
  while (from < to && !d.unknown) {
    if (is_word(*from)) {
      char word[64];
      size_t length = 0;
      while (from + length < to && is_word(from[length])) length++;
      snprintf(word, sizeof word, "%.*s", (int)length, from);
      if (strcmp(word, "const") == 0)
        d.is_const = d.is_const || !d.stars;
      else if (!one_of(word, ignored))
        add_word(&d, word);
      from += length;
      continue;
    }
    d.stars += *from == '*';
    d.unknown = *from == '<' || *from == '&' || *from == '(';
    from++;
  }
  return d;
}

/* "long unsigned int" and its kin in the one spelling that the table of types has. */
static void spell(const char *words, char *out, size_t size) {
  int longs = 0, shorts = 0, signs = 0, unsigns = 0, chars = 0, other = 0;
  char copy[96], *state = NULL;
  snprintf(copy, sizeof copy, "%s", words);
  for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
    if (strcmp(word, "long") == 0)
      longs++;
    else if (strcmp(word, "short") == 0)
      shorts++;
    else if (strcmp(word, "signed") == 0)
      signs++;
    else if (strcmp(word, "unsigned") == 0)
      unsigns++;
    else if (strcmp(word, "char") == 0)
      chars++;
    else if (strcmp(word, "int") != 0)
      other++;
  }
  const char *base = chars ? "char" : shorts ? "short" : longs > 1 ? "long long" : longs ? "long" : "int";
  if (other)
    snprintf(out, size, "%s", words);
  else
    snprintf(out, size, "%s%s", unsigns ? "unsigned " : chars && signs ? "signed " : "", base);
}

static bool param_of(const declared *d, mw_param *out, uint32_t *align) {
  char base[96];
  *out = (mw_param){.lanes = 1};
  spell(d->words, base, sizeof base);
  if (d->unknown || !*d->words || !mw_type_by_name(base, out, align)) return false;
  snprintf(out->type, sizeof out->type, "%s%.80s%s%.*s", d->is_const ? "const " : "", base, d->stars ? " " : "",
           d->stars > 4 ? 4 : d->stars, "****");
  if (!d->stars) return true;
  if (d->stars > 1) *out = (mw_param){.dtype = MW_POINTER, .lanes = 1};
  if (d->stars > 1) snprintf(out->type, sizeof out->type, "%.80s %.*s", base, d->stars > 4 ? 4 : d->stars, "****");
  out->pointer = true;
  out->is_const = d->is_const && d->stars == 1;
  out->size = *align = 8;
  return true;
}

/* ---- finding them ---------------------------------------------------------------------------------------------- */

static const char *find_word(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *c = strstr(text, word); c; c = strstr(c + 1, word))
    if ((c == text || !is_word(c[-1])) && !is_word(c[length])) return c;
  return NULL;
}

/* The start of the statement that holds `at`: after the last ; { } or the text's beginning. */
static const char *statement_start(const char *text, const char *at) {
  while (at > text && !strchr(";{}", at[-1])) at--;
  return at;
}

static bool range_has(const char *from, const char *to, const char *word) {
  const char *found = find_word(from, word);
  return found && found < to;
}

/* The bracketed parameter list of the kernel: *open at '(', its matching ')' returned; NULL: none. */
static const char *find_list(const char *text, const char *kernel, const char **open) {
  size_t length = strlen(kernel);
  for (const char *c = find_word(text, kernel); c; c = find_word(c + length, kernel)) {
    const char *list = c + length + strspn(c + length, " \t\r\n");
    if (*list != '(' || !range_has(statement_start(text, c), c, "__global__")) continue;
    int depth = 0;
    for (const char *end = list; *end; end++) {
      depth += (*end == '(') - (*end == ')');
      if (depth) continue;
      *open = list;
      return end;
    }
  }
  return NULL;
}

static int read_list(const char *open, const char *close, mw_param *out, int most) {
  int count = 0;
  size_t offset = 0;
  for (const char *from = open + 1; from < close;) {
    const char *comma = memchr(from, ',', (size_t)(close - from)), *to = comma ? comma : close;
    declared d = read_declared(from, to);
    uint32_t align = 1;
    if (!comma && count == 0 && !*d.words && (!*d.last || strcmp(d.last, "void") == 0)) return 0;
    if (count == most || !param_of(&d, &out[count], &align)) return -1;
    offset = (offset + align - 1) / align * align;
    out[count].offset = (uint32_t)offset;
    snprintf(out[count].name, sizeof out[count].name, "%s", d.last);
    offset += out[count++].size;
    from = to + 1;
  }
  return count;
}

int mw_declared_params(const char *source, const char *kernel, mw_param *out, int most) {
  char *text = blanked(source);
  const char *open, *close = find_list(text, kernel, &open);
  int count = close ? read_list(open, close, out, most) : -1;
  mw_free(text);
  return count;
}

/* `int *a, b[4]`: the type's words stand before the first declarator, the stars before the name itself. */
static bool read_variable(const char *start, const char *at, const char *name, mw_param *out) {
  const char *comma = memchr(start, ',', (size_t)(at - start));
  const char *own = at;
  int stars = 0;
  for (; own > start && !strchr(",;", own[-1]) && !is_word(own[-1]); own--) stars += own[-1] == '*';
  declared d = read_declared(start, comma ? comma : at + strlen(name));
  d.stars = stars;
  uint32_t align;
  return param_of(&d, out, &align);
}

bool mw_declared_variable(const char *source, const char *name, mw_param *out) {
  char *text = blanked(source);
  bool found = false;
  for (const char *c = find_word(text, name); c && !found; c = find_word(c + 1, name)) {
    const char *start = statement_start(text, c);
    bool device =
        range_has(start, c, "__device__") || range_has(start, c, "__constant__") || range_has(start, c, "__managed__");
    found = device && !memchr(start, '(', (size_t)(c - start)) && !memchr(start, '=', (size_t)(c - start)) &&
            read_variable(start, c, name, out);
  }
  mw_free(text);
  return found;
}

/* A declarator stands behind its type or behind a comma; what stands behind an operator or in a call is a use. */
static bool is_declarator(const char *start, const char *at) {
  const char *before = at;
  while (before > start && isspace((unsigned char)before[-1])) before--;
  if (before == start || memchr(start, '(', (size_t)(at - start))) return false;
  bool assigned = memchr(start, '=', (size_t)(at - start)) != NULL;
  return before[-1] == ',' || (!assigned && (is_word(before[-1]) || strchr("*&>", before[-1])));
}

bool mw_declared_constant(const char *source, const char *name) {
  char *text = blanked(source);
  int constant = 0, other = 0;
  for (const char *c = find_word(text, name); c; c = find_word(c + 1, name)) {
    const char *start = statement_start(text, c);
    if (!is_declarator(start, c) || range_has(start, c, "return")) continue;
    bool pointer = memchr(start, '*', (size_t)(c - start)) != NULL; /* const char *p: p itself may change */
    if (range_has(start, c, "constexpr") || (range_has(start, c, "const") && !pointer))
      constant++;
    else
      other++;
  }
  mw_free(text);
  return constant > 0 && other == 0;
}
