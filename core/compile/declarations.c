/* SPDX-License-Identifier: MIT
 *
 * The __global__ functions of a source and their parameters' names, read from the text alone: what a compiled cubin no
 * longer tells. The text is cut into tokens once; a declaration is recognised by the parenthesis group that stands
 * before its '{' or ';'. Kernels whose declarations are made by macros are not seen. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/compile/source.h"
#include "core/compile/strip.h"

typedef struct token {
  const char *at;
  int length;
} token;

typedef struct tokens {
  char *text; /* owned, comments removed */
  token *at;  /* ends with a token of length 0 */
  int count, room;
} tokens;

typedef struct declaration {
  token name;
  int open, close; /* the parentheses around the parameters; token indices */
  bool is_template, is_definition;
} declaration;

/* ---- tokens ---------------------------------------------------------------------------------------------------- */

static bool word_char(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static int token_length(const char *at) {
  unsigned long literal = mw_literal_length(at);
  if (literal) return (int)literal;
  int length = 0;
  while (word_char(at[length])) length++;
  if (length) return length;
  return at[0] == ':' && at[1] == ':' ? 2 : 1;
}

static void add_token(tokens *list, const char *at, int length) {
  if (list->count == list->room) {
    list->room = list->room ? 2 * list->room : 256;
    list->at = mw_realloc(list->at, (size_t)list->room * sizeof *list->at);
  }
  list->at[list->count++] = (token){at, length};
}

/* Preprocessor lines are left out: their macros are not expanded, and half a declaration in one would confuse. */
static tokens tokenize(const char *text) {
  tokens list = {.text = mw_strip_comments(text)};
  bool line_start = true;
  for (const char *at = list.text; *at;) {
    if (isspace((unsigned char)*at)) {
      if (*at++ == '\n') line_start = true;
    } else if (line_start && *at == '#') {
      at += strcspn(at, "\n");
    } else {
      int length = token_length(at);
      add_token(&list, at, length);
      at += length;
      line_start = false;
    }
  }
  add_token(&list, "", 0);
  list.count--;
  return list;
}

static void tokens_free(tokens *list) {
  mw_free(list->text);
  mw_free(list->at);
}

static bool is(token t, const char *text) {
  return (int)strlen(text) == t.length && memcmp(t.at, text, (size_t)t.length) == 0;
}

static bool is_any(token t, const char *const *texts) {
  for (; *texts; texts++)
    if (is(t, *texts)) return true;
  return false;
}

static bool is_word(token t) {
  return t.length && (isalpha((unsigned char)*t.at) || *t.at == '_');
}

/* Index of the bracket that closes the one at i, or count. Round, square and curly ones nest in any of them. */
static int matching(const tokens *list, int i) {
  static const char opens[] = "([{", closes[] = ")]}";
  int depth = 0;
  for (; i < list->count; i++) {
    if (list->at[i].length != 1) continue;
    if (strchr(opens, *list->at[i].at))
      depth++;
    else if (strchr(closes, *list->at[i].at) && --depth == 0)
      return i;
  }
  return list->count;
}

/* The same for '<'; a comparison or shift in template arguments has to be in parentheses, as C++ wants it too. */
static int matching_angle(const tokens *list, int i) {
  int depth = 0;
  for (; i < list->count; i++) {
    token t = list->at[i];
    if (is(t, "(") || is(t, "[") || is(t, "{"))
      i = matching(list, i);
    else if (is(t, "<"))
      depth++;
    else if (is(t, ";"))
      break;
    else if (is(t, ">") && --depth == 0)
      return i;
  }
  return list->count;
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

static bool is_attribute(token t) {
  static const char *const names[] = {"__launch_bounds__", "__attribute__", "__cluster_dims__", "__block_size__",
                                      "__maxnreg__",       "__declspec",    "alignas",          "__align__",
                                      "decltype",          "noexcept",      "requires",         NULL};
  return is_any(t, names);
}

/* i is behind __global__. Sets i to the token that ended the declaration. */
static bool read_declaration(const tokens *list, int *i, declaration *out) {
  out->name.length = 0;
  for (; *i < list->count && !is(list->at[*i], "{") && !is(list->at[*i], ";"); ++*i) {
    token t = list->at[*i];
    int next = *i + 1;
    if (is(t, "[") || is(t, "(")) {
      *i = matching(list, *i);
      continue;
    }
    if (!is_word(t)) continue;
    if (is(list->at[next], "<")) next = matching_angle(list, next) + 1; /* scale<float>(...) */
    if (next >= list->count || !is(list->at[next], "(")) continue;
    int close = matching(list, next);
    if (!is_attribute(t)) { /* a macro used as an attribute looks the same; the last group wins */
      out->name = t;
      out->open = next;
      out->close = close;
    }
    *i = close;
  }
  out->is_definition = is(list->at[*i < list->count ? *i : list->count], "{");
  return out->name.length > 0 && out->close < list->count;
}

/* The next __global__ function from *i on; *i goes behind it. */
static bool next_declaration(const tokens *list, int *i, declaration *out) {
  bool is_template = false;
  for (; *i < list->count; ++*i) {
    token t = list->at[*i];
    if (is(t, ";") || is(t, "{") || is(t, "}"))
      is_template = false;
    else if (is(t, "template")) {
      is_template = true;
      if (is(list->at[*i + 1], "<")) *i = matching_angle(list, *i + 1);
    } else if (is(t, "__global__")) {
      ++*i;
      out->is_template = is_template;
      if (read_declaration(list, i, out)) return true;
      is_template = false;
    }
  }
  return false;
}

/* ---- parameters ------------------------------------------------------------------------------------------------ */

static bool is_qualifier(token t) {
  static const char *const names[] = {
      "const",    "volatile",          "struct", "class", "enum", "union", "typename", "__restrict__", "__restrict",
      "restrict", "__grid_constant__", NULL};
  return is_any(t, names);
}

static bool is_type_word(token t) {
  static const char *const names[] = {"void",    "bool",     "char",     "short",  "int",
                                      "long",    "float",    "double",   "signed", "unsigned",
                                      "wchar_t", "char16_t", "char32_t", "auto",   NULL};
  return is_any(t, names);
}

/* The declared name among tokens first ... last-1: the last word that is neither part of the type nor the type itself;
 * for a pointer to a function or an array, the word in the parentheses. */
static token param_name(const tokens *list, int first, int last) {
  token name = {"", 0};
  bool typed = false;
  for (int i = first; i < last; i++) {
    token t = list->at[i];
    if (is(t, "=")) break;
    if (is(t, "[") || is(t, "{"))
      i = matching(list, i);
    else if (is(t, "<"))
      i = matching_angle(list, i), typed = true;
    else if (is(t, "(")) {
      int close = matching(list, i);
      if (typed && (is(list->at[i + 1], "*") || is(list->at[i + 1], "&"))) return param_name(list, i + 1, close);
      i = close;
    } else if (is(t, "*") || is(t, "&") || is(t, "."))
      typed = true, name.length = 0;
    else if (is_word(t) && !is_qualifier(t) && !is_attribute(t)) {
      bool qualified = i > first && is(list->at[i - 1], "::");
      if (typed && !qualified && !is_type_word(t)) name = t;
      typed = true;
    }
  }
  return name;
}

static void store_name(token name, char names[][64], int index, int most) {
  if (index < most) snprintf(names[index], 64, "%.*s", name.length, name.at);
}

static int read_params(const tokens *list, const declaration *d, char names[][64], int most) {
  int first = d->open + 1, count = 0;
  if (first == d->close || (first + 1 == d->close && is(list->at[first], "void"))) return 0;
  for (int i = first; i <= d->close; i++) {
    token t = list->at[i];
    if (is(t, "(") || is(t, "[") || is(t, "{"))
      i = matching(list, i);
    else if (is(t, "<")) {
      int close = matching_angle(list, i);
      if (close < d->close) i = close; /* else a comparison in a default argument */
    } else if (i == d->close || is(t, ",")) {
      store_name(param_name(list, first, i), names, count++, most);
      first = i + 1;
    }
  }
  return count;
}

/* "space::scale<float>" is declared as scale. */
static token bare_name(const char *kernel) {
  int length = (int)strcspn(kernel, "<");
  while (length && isspace((unsigned char)kernel[length - 1])) length--;
  int start = length;
  while (start && word_char(kernel[start - 1])) start--;
  return (token){kernel + start, length - start};
}

int mw_source_param_names(const char *text, const char *kernel, char names[][64], int most) {
  tokens list = tokenize(text);
  token wanted = bare_name(kernel);
  declaration d;
  int count = -1;
  for (int i = 0; next_declaration(&list, &i, &d);) {
    if (d.name.length != wanted.length || memcmp(d.name.at, wanted.at, (size_t)wanted.length) != 0) continue;
    if (count < 0 || d.is_definition) count = read_params(&list, &d, names, most);
    if (d.is_definition) break; /* a declaration may leave the names out */
  }
  tokens_free(&list);
  return count;
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

typedef struct kernel_list {
  token *names;
  bool *templates;
  int count;
  size_t bytes; /* of all names with their ends */
} kernel_list;

/* Declarations, specialisations and instantiations of one name are one kernel. */
static void note_kernel(kernel_list *list, const declaration *d) {
  for (int i = 0; i < list->count; i++)
    if (list->names[i].length == d->name.length && memcmp(list->names[i].at, d->name.at, (size_t)d->name.length) == 0) {
      list->templates[i] |= d->is_template;
      return;
    }
  size_t room = (size_t)list->count + 1;
  list->names = mw_realloc(list->names, room * sizeof *list->names);
  list->templates = mw_realloc(list->templates, room * sizeof *list->templates);
  list->names[list->count] = d->name;
  list->templates[list->count++] = d->is_template;
  list->bytes += (size_t)d->name.length + 1;
}

static char **pack_names(const kernel_list *list) {
  size_t pointers = ((size_t)list->count + 1) * sizeof(char *);
  char **out = mw_malloc(pointers + list->bytes), *at = (char *)out + pointers;
  for (int i = 0; i < list->count; i++) {
    out[i] = at;
    at += sprintf(at, "%.*s", list->names[i].length, list->names[i].at) + 1;
  }
  out[list->count] = NULL;
  return out;
}

char **mw_source_kernels(const char *text, bool **is_template) {
  tokens list = tokenize(text);
  kernel_list found = {0};
  declaration d;
  for (int i = 0; next_declaration(&list, &i, &d);) note_kernel(&found, &d);
  char **names = pack_names(&found);
  if (is_template)
    *is_template = found.templates ? found.templates : mw_malloc(1);
  else
    mw_free(found.templates);
  mw_free(found.names);
  tokens_free(&list);
  return names;
}
