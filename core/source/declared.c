/* SPDX-License-Identifier: MIT
 *
 * Finds declarations by the word that marks them, wherever it stands, and reads their types; see declared.h. Of
 *
 *   namespace lab { __constant__ float *table[3]; }
 *   extern "C" __global__ void KEEP(3) f(const float *x, unsigned n) { ... }
 *
 * `table` holds `float *`, and `f` has x, a const float *, and n, an unsigned int. */
#include "core/source/declared.h"

#include "core/source/body.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/source/declaration.h"
#include "core/source/declarator.h"

/* ---- finding declarations -------------------------------------------------------------------------------------- */

/* What is after the last ; { or } before token i. */
static int statement_first(const mw_tokens *tokens, int i) {
  while (i > 0 && !mw_token_any(&tokens->at[i - 1], WORDS(";", "{", "}"))) i--;
  return i;
}

/* The next declaration from token *i on that holds one of the words; *i goes after it, but into a function's body:
 * where the text's braces do not match, nothing is left out. */
static bool declaration_next(const mw_tokens *tokens, int *i, const char *const *words, mw_declaration *out) {
  *i = mw_find(tokens, *i, tokens->count, words);
  if (*i == tokens->count) return false;
  *out = (mw_declaration){.last = statement_first(tokens, *i)};
  while (out->last <= *i) *out = mw_declaration_read(tokens, out->last, tokens->count);
  const int last = out->body < 0 ? out->last : out->body + 1;
  *i = last > *i ? last : *i + 1;
  return true;
}

static bool kernel_next(const mw_tokens *tokens, int *i, mw_declaration *out) {
  while (declaration_next(tokens, i, WORDS("__global__"), out))
    if (out->open >= 0) return true;
  return false;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

enum { INT, CHAR, SHORT, LONG, SIGNED, UNSIGNED, KINDS };

/* "unsigned long" for long unsigned int, as types.c has it, from how often each of the words is there. */
static void spell(char *out, size_t size, const int has[KINDS]) {
  const char *base = has[CHAR]       ? "char"
                     : has[SHORT]    ? "short"
                     : has[LONG] > 1 ? "long long"
                     : has[LONG]     ? "long"
                                     : "int";
  const char *sign = has[UNSIGNED] ? "unsigned " : has[CHAR] && has[SIGNED] ? "signed " : "";
  snprintf(out, size, "%s%s", sign, base);
}

/* The type of tokens first ... last-1 but those of `hole`, the name that is declared. Returns the alignment; 0: not
 * known. */
static uint32_t type_read(const mw_tokens *tokens, int first, int last, mw_span hole, mw_param *out) {
  const char *const *const numbers = WORDS("int", "char", "short", "long", "signed", "unsigned");
  const char *const *const passed =
      WORDS("volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__", "static", "extern", "inline",
            "__device__", "__constant__", "__managed__", "struct", "typename", "constexpr", "std");
  const mw_token *at = tokens->at;
  int has[KINDS] = {0}, words = 0, stars = 0;
  bool is_const = false;
  char base[64] = "";
  for (int i = first; i < last; i++) {
    if (mw_is_attribute(&at[i]) && at[i + 1].match > i) i = at[i + 1].match + 1;
    if ((i >= hole.first && i < hole.last) || i >= last) continue;
    if (mw_token_any(&at[i], WORDS("<", "&", "&&", "(", "["))) return 0;
    stars += mw_token_is(&at[i], "*");
    is_const |= !stars && mw_token_is(&at[i], "const");
    if (at[i].kind != MW_TOKEN_NAME || mw_token_is(&at[i], "const") || mw_token_any(&at[i], passed)) continue;
    int kind = 0;
    while (kind < KINDS && !mw_token_is(&at[i], numbers[kind])) kind++;
    if (kind < KINDS) has[kind]++;
    if (words++ && (kind == KINDS || *base)) return 0;
    if (kind == KINDS) snprintf(base, sizeof base, "%.*s", TEXT(&at[i]));
  }
  *out = (mw_param){.lanes = 1};
  if (words && !*base) spell(base, sizeof base, has);
  const uint32_t align = mw_type_by_name(base, out);
  if (!align) return 0;
  const bool to_const = is_const && stars < 2;
  snprintf(out->type, sizeof out->type, "%s%s%s%.*s", to_const ? "const " : "", base, stars ? " " : "", stars, "****");
  if (!stars) return align;
  if (stars > 1) *out = (mw_param){.dtype = MW_POINTER, .lanes = 1};
  if (stars > 1) snprintf(out->type, sizeof out->type, "%s %.*s", base, stars, "****");
  out->pointer = true;
  out->is_const = to_const;
  return out->size = 8;
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

int mw_declared_kernels(const char *text, mw_declared_kernel **out) {
  mw_tokens tokens;
  mw_declaration found;
  int count = 0;
  *out = NULL;
  mw_tokens_read(&tokens, text, NULL);
  for (int i = 0; kernel_next(&tokens, &i, &found);) {
    const mw_token *name = &tokens.at[found.name];
    int known = 0;
    while (known < count && !mw_token_is(name, (*out)[known].name)) known++;
    if (known == count) {
      *out = mw_realloc(*out, (size_t)++count * sizeof **out);
      (*out)[known] = (mw_declared_kernel){.is_template = false};
      snprintf((*out)[known].name, sizeof(*out)[known].name, "%.*s", name->size, name->text);
    }
    (*out)[known].is_template |= found.is_template;
  }
  mw_tokens_free(&tokens);
  return count;
}

static const char *some_argument(const mw_tokens *tokens, const mw_formal *formal) {
  mw_param type;
  if (mw_token_any(&tokens->at[formal->first], WORDS("class", "typename"))) return "float";
  const mw_span hole = {formal->name, formal->name + 1};
  const bool known = type_read(tokens, formal->first, formal->last, hole, &type) && !type.pointer && type.lanes == 1;
  return !known || mw_dtype_is_float(type.dtype) ? "..." : type.dtype == MW_BOOL ? "true" : "16";
}

void mw_declared_instance(const char *text, const char *kernel, char *out, size_t size) {
  mw_tokens tokens;
  mw_declaration found;
  const mw_token wanted = mw_bare_name(kernel);
  *out = '\0';
  mw_tokens_read(&tokens, text, NULL);
  for (int i = 0; !*out && kernel_next(&tokens, &i, &found);) {
    if (!mw_same_text(&tokens.at[found.name], &wanted)) continue;
    const int open = mw_find(&tokens, found.first, found.begin, WORDS("<"));
    const int close = open < found.begin ? mw_angle_end(&tokens, open, found.begin) - 1 : open;
    mw_formal *formals;
    const int count = mw_formals_read(&tokens, open, close, &formals);
    for (int k = 0; k < count && !mw_token_is(&tokens.at[formals[k].last], "="); k++)
      mw_list_add(out, size, ", ", "%s", some_argument(&tokens, &formals[k]));
    mw_free(formals);
  }
  mw_tokens_free(&tokens);
  if (!*out) snprintf(out, size, "...");
}

static int params_read(const mw_tokens *tokens, const mw_declaration *kernel, mw_param *out, int most) {
  mw_formal *formals;
  int count = mw_formals_read(tokens, kernel->open, kernel->close, &formals);
  uint32_t offset = 0;
  for (int i = 0; i < count && i < most; i++) {
    const mw_token *name = formals[i].name < 0 ? NULL : &tokens->at[formals[i].name];
    uint32_t align =
        type_read(tokens, formals[i].first, formals[i].last, (mw_span){formals[i].name, formals[i].name + 1}, &out[i]);
    if (!align) out[i] = (mw_param){.dtype = MW_VOID};
    if (name) snprintf(out[i].name, sizeof out[i].name, "%.*s", name->size, name->text);
    if (align) offset = (offset + align - 1) / align * align;
    out[i].offset = offset;
    offset += out[i].size;
  }
  mw_free(formals);
  return count;
}

int mw_declared_params(const char *text, const char *kernel, mw_param *out, int most) {
  mw_tokens tokens;
  mw_declaration found;
  const mw_token wanted = mw_bare_name(kernel);
  int count = -1;
  mw_tokens_read(&tokens, text, NULL);
  for (int i = 0; kernel_next(&tokens, &i, &found);) {
    if (!mw_same_text(&tokens.at[found.name], &wanted)) continue;
    if (count < 0 || found.body >= 0) count = params_read(&tokens, &found, out, most);
    if (found.body >= 0) break;
  }
  mw_tokens_free(&tokens);
  return count;
}

/* ---- variables ------------------------------------------------------------------------------------------------- */

/* In int *a, **b[4]; the type's words precedes the first name, the stars before the name itself. */
static bool variable_read(const mw_tokens *tokens, int first, int last, int name, mw_param *out) {
  int spec = mw_variable_next(tokens, first, last, -1), stars = name;
  while (spec > first && mw_token_is(&tokens->at[spec - 1], "*")) spec--;
  while (stars > first && mw_token_is(&tokens->at[stars - 1], "*")) stars--;
  return type_read(tokens, first, name, (mw_span){spec, stars}, out) > 0;
}

bool mw_declared_variable(const char *text, const char *name, mw_param *out) {
  const char *const *const words = WORDS("__device__", "__constant__", "__managed__");
  mw_tokens tokens;
  mw_declaration declared;
  bool found = false;
  mw_tokens_read(&tokens, text, NULL);
  for (int i = 0; !found && declaration_next(&tokens, &i, words, &declared);) {
    const mw_token wanted = mw_bare_name(name);
    const int at = declared.open < 0 ? mw_variable_find(&tokens, declared.begin, declared.last, &wanted) : -1;
    found = at >= 0 && variable_read(&tokens, declared.begin, declared.last, at, out);
  }
  mw_tokens_free(&tokens);
  return found;
}

/* ---- enumerations ---------------------------------------------------------------------------------------------- */

/* The number that an enumeration is: enum Name : type { ... }; where no type is given, values below zero decide whether
 * it is signed. */
static bool enum_read(const mw_tokens *tokens, int word, int open, uint32_t size, mw_param *out) {
  const mw_token *at = tokens->at;
  const int colon = mw_find(tokens, word, open, WORDS(":"));
  if (colon < open) return type_read(tokens, colon + 1, open, (mw_span){0}, out) && out->size == size;
  const bool scoped = mw_token_any(&at[word + 1], WORDS("class", "struct"));
  const bool has_sign = scoped || mw_has(tokens, open, at[open].match, "-");
  const char *type = size == 8 ? (has_sign ? "long long" : "unsigned long long") : has_sign ? "int" : "unsigned";
  return mw_type_by_name(type, out) && out->size == size;
}

bool mw_declared_enum(const char *text, mw_param *param) {
  mw_tokens tokens;
  bool found = false;
  const mw_token wanted = mw_bare_name(param->type);
  mw_tokens_read(&tokens, text, NULL);
  for (int i = 0; !found && (i = mw_find(&tokens, i, tokens.count, WORDS("enum"))) < tokens.count; i++) {
    const int name = i + 1 + mw_token_any(&tokens.at[i + 1], WORDS("class", "struct"));
    const int open = mw_find(&tokens, i, tokens.count, WORDS("{", ";")), close = tokens.at[open].match;
    const bool named = mw_same_text(&tokens.at[name], &wanted) ||
                       (close > open && mw_same_text(&tokens.at[close + 1], &wanted)); /* typedef enum { } Name; */
    mw_param number;
    found = named && enum_read(&tokens, i, open, param->size, &number);
    if (found) param->dtype = number.dtype;
  }
  mw_tokens_free(&tokens);
  return found;
}

/* ---- members --------------------------------------------------------------------------------------------------- */

/* How many elements the tokens [2][3] make; 0: that is not in numbers. */
static uint32_t elements_of(const mw_tokens *tokens, int first, int last) {
  uint32_t count = 1;
  for (int i = first; i < last; i = tokens->at[i].match + 1) {
    if (!mw_token_is(&tokens->at[i], "[") || tokens->at[i + 1].kind != MW_TOKEN_NUMBER || tokens->at[i].match != i + 2)
      return 0;
    count *= (uint32_t)strtoul(tokens->at[i + 1].text, NULL, 0);
  }
  return count;
}

typedef struct members {
  mw_param *out;
  int count, most;
  uint32_t bytes, align;
} members;

static bool member_read(const mw_tokens *tokens, const mw_declared *d, members *all) {
  mw_param *out = &all->out[all->count];
  if (all->count == all->most || mw_token_is(&tokens->at[d->name - 1], "(") || mw_has(tokens, d->first, d->name, "&"))
    return false;
  const uint32_t align = type_read(tokens, d->spec, d->name, (mw_span){d->spec_last, d->first}, out);
  const uint32_t elements = elements_of(tokens, d->dims, d->dims_last);
  if (!align || !elements) return false;
  snprintf(out->name, sizeof out->name, "%.*s", TEXT(&tokens->at[d->name]));
  out->offset = (all->bytes + align - 1) / align * align;
  out->size *= elements;
  all->bytes = out->offset + out->size;
  if (align > all->align) all->align = align;
  all->count++;
  return true;
}

static bool members_read(const mw_tokens *tokens, int open, members *all) {
  enum { MOST_DECLARED = 64 };
  const int close = tokens->at[open].match;
  mw_declared list[MOST_DECLARED];
  mw_declaration it;
  for (int i = open + 1; i < close; i = it.last) {
    it = mw_declaration_read(tokens, i, close);
    if (mw_has(tokens, it.first, it.last, "virtual")) return false;
    if (it.kind == MW_DECLARES_NOTHING || it.kind == MW_DECLARES_FUNCTION) continue;
    const int count = mw_declared_read(tokens, it.begin, it.last - 1, NULL, list, MOST_DECLARED);
    if (it.kind != MW_DECLARES_VARIABLES || !count || mw_has(tokens, it.first, it.last, ":")) return false;
    if (mw_has(tokens, it.first, it.last, "static")) continue;
    for (int k = 0; k < count; k++)
      if (!member_read(tokens, &list[k], all)) return false;
  }
  return true;
}

/* The { of struct Name { or typedef struct { } Name; 0: none. */
static int struct_open(const mw_tokens *tokens, const mw_token *name) {
  for (int i = 0; (i = mw_find(tokens, i, tokens->count, WORDS("struct", "class"))) < tokens->count; i++) {
    const int open = mw_find(tokens, i, tokens->count, WORDS("{", ";", ":", "(", ">"));
    if (open >= tokens->count || !mw_token_is(&tokens->at[open], "{")) continue;
    const mw_token *after = &tokens->at[tokens->at[open].match + 1];
    if (mw_same_text(&tokens->at[open - 1], name) || mw_same_text(after, name)) return open;
  }
  return 0;
}

int mw_declared_fields(const char *text, const char *name, mw_param *out, int most, uint32_t *size) {
  mw_tokens tokens;
  members all = {.out = out, .most = most, .align = 1};
  const mw_token wanted = mw_bare_name(name);
  mw_tokens_read(&tokens, text, NULL);
  const int open = struct_open(&tokens, &wanted);
  const bool known = open && tokens.at[open].match > open && members_read(&tokens, open, &all);
  mw_tokens_free(&tokens);
  *size = (all.bytes + all.align - 1) / all.align * all.align;
  return known ? all.count : -1;
}

/* ---- constants ------------------------------------------------------------------------------------------------- */

/* Does token i declare a variable? A declarator is after its type or after a comma; what is after an operator or in
 * a call is a use. */
static bool is_declarator(const mw_tokens *tokens, int first, int i) {
  if (first == i || mw_find(tokens, first, i, WORDS("(", "return")) < i) return false;
  const mw_token *before = &tokens->at[i - 1];
  const bool typed = before->kind == MW_TOKEN_NAME || mw_token_any(before, WORDS("*", "&", ">"));
  return mw_token_is(before, ",") || (typed && !mw_has(tokens, first, i, "="));
}

bool mw_declared_constant(const char *text, const char *name) {
  mw_tokens tokens;
  int constants = 0, others = 0;
  mw_tokens_read(&tokens, text, NULL);
  for (int i = 0; i < tokens.count; i++) {
    if (!mw_token_is(&tokens.at[i], name)) continue;
    const int first = statement_first(&tokens, i);
    if (!is_declarator(&tokens, first, i)) continue;
    const bool fixed = mw_has(&tokens, first, i, "const") && !mw_has(&tokens, first, i, "*"); /* not const char *p */
    const bool constant = fixed || mw_has(&tokens, first, i, "constexpr");
    constants += constant;
    others += !constant;
  }
  mw_tokens_free(&tokens);
  return constants > 0 && others == 0;
}
