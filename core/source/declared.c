/* SPDX-License-Identifier: MIT
 *
 * Finds declarations by the word that marks them, wherever it stands, and reads their types; see declared.h. Of
 *
 *   namespace lab { __constant__ float *table[3]; }
 *   extern "C" __global__ void KEEP(3) f(const float *x, unsigned n) { ... }
 *
 * `table` holds `float *`, and `f` has x, a const float *, and n, an unsigned int. */
#include "core/source/declared.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/source/declaration.h"
#include "core/source/declarator.h"

/* ---- finding declarations -------------------------------------------------------------------------------------- */

/* What is after the last ; { or } in front of token i. */
static int statement_first(const cpu_tokens *tokens, int i) {
  while (i > 0 && !cpu_token_any(&tokens->at[i - 1], WORDS(";", "{", "}"))) i--;
  return i;
}

/* The next declaration from token *i on that holds one of the words; *i goes after it, but into a function's body:
 * where the text's braces do not match, nothing is left out. */
static bool declaration_next(const cpu_tokens *tokens, int *i, const char *const *words, cpu_declaration *out) {
  *i = cpu_find(tokens, *i, tokens->count, words);
  if (*i == tokens->count) return false;
  *out = cpu_declaration_read(tokens, statement_first(tokens, *i), tokens->count);
  const int last = out->body < 0 ? out->last : out->body + 1;
  *i = last > *i ? last : *i + 1;
  return true;
}

static bool kernel_next(const cpu_tokens *tokens, int *i, cpu_declaration *out) {
  while (declaration_next(tokens, i, WORDS("__global__"), out))
    if (out->open >= 0) return true;
  return false;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

/* "long unsigned int" and its kin, from the words of the type, in the spelling that types.c has. */
static void spell(char *out, size_t size, const cpu_tokens *tokens, const int *words, int count) {
  enum { INT, CHAR, SHORT, LONG, SIGNED, UNSIGNED, KINDS };
  const char *const *const kinds = WORDS("int", "char", "short", "long", "signed", "unsigned");
  int has[KINDS] = {0}, known = 0;
  for (int i = 0; i < count; i++)
    for (int kind = 0; kind < KINDS; kind++)
      if (cpu_token_is(&tokens->at[words[i]], kinds[kind])) has[kind]++, known++;
  const char *base = has[CHAR]       ? "char"
                     : has[SHORT]    ? "short"
                     : has[LONG] > 1 ? "long long"
                     : has[LONG]     ? "long"
                                     : "int";
  const char *sign = has[UNSIGNED] ? "unsigned " : has[CHAR] && has[SIGNED] ? "signed " : "";
  if (known == count)
    snprintf(out, size, "%s%s", sign, base);
  else
    snprintf(out, size, "%.*s", count == 1 ? tokens->at[words[0]].size : 0, tokens->at[words[0]].text);
}

/* The type of tokens first ... last-1, in which `name` (-1: nothing) is what is declared, and the stars in front of it.
 * Returns the alignment; 0: not known. */
static uint32_t type_read(const cpu_tokens *tokens, int first, int last, int name, mw_param *out) {
  const char *const *const passed =
      WORDS("volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__", "static", "extern", "inline",
            "__device__", "__constant__", "__managed__", "struct", "typename", "constexpr", "std");
  const cpu_token *at = tokens->at;
  int words[8], count = 0, stars = 0;
  bool is_const = false;
  char base[64];
  for (int i = first; i < last; i++) {
    if (cpu_is_attribute(&at[i]) && at[i + 1].match > i) i = at[i + 1].match + 1;
    if (i == name || i >= last) continue;
    if (cpu_token_any(&at[i], WORDS("<", "&", "&&", "(", "["))) return 0;
    stars += cpu_token_is(&at[i], "*");
    if (cpu_token_is(&at[i], "const"))
      is_const |= !stars;
    else if (at[i].kind == CPU_NAME && !cpu_token_any(&at[i], passed)) {
      if (count == 8) return 0;
      words[count++] = i;
    }
  }
  *out = (mw_param){.lanes = 1};
  if (count) spell(base, sizeof base, tokens, words, count);
  const uint32_t align = count ? mw_type_by_name(base, out) : 0;
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
  cpu_tokens tokens;
  cpu_declaration found;
  int count = 0;
  *out = NULL;
  cpu_tokens_read(&tokens, text, NULL);
  for (int i = 0; kernel_next(&tokens, &i, &found);) {
    const cpu_token *name = &tokens.at[found.name];
    int known = 0;
    while (known < count && !cpu_token_is(name, (*out)[known].name)) known++;
    if (known == count) {
      *out = mw_realloc(*out, (size_t)++count * sizeof **out);
      (*out)[known] = (mw_declared_kernel){.is_template = false};
      snprintf((*out)[known].name, sizeof(*out)[known].name, "%.*s", name->size, name->text);
    }
    (*out)[known].is_template |= found.is_template;
  }
  cpu_tokens_free(&tokens);
  return count;
}

static int params_read(const cpu_tokens *tokens, const cpu_declaration *kernel, mw_param *out, int most) {
  cpu_formal *formals;
  int count = cpu_formals_read(tokens, kernel->open, kernel->close, &formals);
  uint32_t offset = 0;
  for (int i = 0; i < count && i < most; i++) {
    const cpu_token *name = formals[i].name < 0 ? NULL : &tokens->at[formals[i].name];
    uint32_t align = type_read(tokens, formals[i].first, formals[i].last, formals[i].name, &out[i]);
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
  cpu_tokens tokens;
  cpu_declaration found;
  const cpu_token wanted = cpu_bare_name(kernel);
  int count = -1;
  cpu_tokens_read(&tokens, text, NULL);
  for (int i = 0; kernel_next(&tokens, &i, &found);) {
    if (!cpu_same_text(&tokens.at[found.name], &wanted)) continue;
    if (count < 0 || found.body >= 0) count = params_read(&tokens, &found, out, most);
    if (found.body >= 0) break;
  }
  cpu_tokens_free(&tokens);
  return count;
}

/* ---- variables ------------------------------------------------------------------------------------------------- */

/* In int *a, **b[4]; the type's words stand in front of the first name, `spec`, the stars in front of the name itself.
 * The tokens of `int **` are what is read for b. */
static bool variable_read(const cpu_tokens *tokens, int first, int spec, int name, mw_param *out) {
  int stars = name;
  while (spec > first && cpu_token_is(&tokens->at[spec - 1], "*")) spec--;
  while (stars > first && cpu_token_is(&tokens->at[stars - 1], "*")) stars--;
  cpu_tokens one = {0};
  cpu_tokens_copy(&one, tokens, first, spec);
  cpu_tokens_copy(&one, tokens, stars, name);
  cpu_tokens_match(&one);
  bool known = type_read(&one, 0, one.count, -1, out) > 0;
  cpu_tokens_free(&one);
  return known;
}

bool mw_declared_variable(const char *text, const char *name, mw_param *out) {
  const char *const *const words = WORDS("__device__", "__constant__", "__managed__");
  cpu_tokens tokens;
  cpu_declaration declared;
  bool found = false;
  cpu_tokens_read(&tokens, text, NULL);
  for (int i = 0; !found && declaration_next(&tokens, &i, words, &declared);) {
    const int first = declared.begin, last = declared.last;
    const cpu_token wanted = cpu_bare_name(name);
    const int at = declared.open < 0 ? cpu_variable_find(&tokens, first, last, &wanted) : -1;
    found = at >= 0 && variable_read(&tokens, first, cpu_variable_next(&tokens, first, last, -1), at, out);
  }
  cpu_tokens_free(&tokens);
  return found;
}

/* ---- enumerations ---------------------------------------------------------------------------------------------- */

/* The number that an enumeration is: enum Name : type { ... }; where no type is given, values below zero decide whether
 * it is signed. */
static bool enum_read(const cpu_tokens *tokens, int word, int open, uint32_t size, mw_param *out) {
  const cpu_token *at = tokens->at;
  const int colon = cpu_find(tokens, word, open, WORDS(":"));
  if (colon < open) return type_read(tokens, colon + 1, open, -1, out) && out->size == size;
  const bool scoped = cpu_token_any(&at[word + 1], WORDS("class", "struct"));
  const bool has_sign = scoped || cpu_has(tokens, open, at[open].match, "-");
  const char *type = size == 8 ? (has_sign ? "long long" : "unsigned long long") : has_sign ? "int" : "unsigned";
  return mw_type_by_name(type, out) && out->size == size;
}

bool mw_declared_enum(const char *text, mw_param *param) {
  cpu_tokens tokens;
  bool found = false;
  const cpu_token wanted = cpu_bare_name(param->type);
  cpu_tokens_read(&tokens, text, NULL);
  for (int i = 0; !found && (i = cpu_find(&tokens, i, tokens.count, WORDS("enum"))) < tokens.count; i++) {
    const int name = i + 1 + cpu_token_any(&tokens.at[i + 1], WORDS("class", "struct"));
    const int open = cpu_find(&tokens, i, tokens.count, WORDS("{", ";")), close = tokens.at[open].match;
    const bool named = cpu_same_text(&tokens.at[name], &wanted) ||
                       (close > open && cpu_same_text(&tokens.at[close + 1], &wanted)); /* typedef enum { } Name; */
    mw_param number;
    found = named && enum_read(&tokens, i, open, param->size, &number);
    if (found) param->dtype = number.dtype;
  }
  cpu_tokens_free(&tokens);
  return found;
}

/* ---- constants ------------------------------------------------------------------------------------------------- */

/* Does token i declare a variable? A declarator is after its type or after a comma; what is after an operator or in
 * a call is a use. Sets what the words in front of it make of it; const char *p may change. */
static bool is_declarator(const cpu_tokens *tokens, int i, bool *constant) {
  const cpu_token *at = tokens->at;
  bool assigned = false, pointer = false, is_const = false, is_constexpr = false;
  for (int k = statement_first(tokens, i); k < i; k++) {
    if (cpu_token_any(&at[k], WORDS("(", "return"))) return false;
    assigned |= cpu_token_is(&at[k], "=");
    pointer |= cpu_token_is(&at[k], "*");
    is_const |= cpu_token_is(&at[k], "const");
    is_constexpr |= cpu_token_is(&at[k], "constexpr");
  }
  *constant = is_constexpr || (is_const && !pointer);
  if (i == statement_first(tokens, i)) return false;
  bool typed = at[i - 1].kind == CPU_NAME || cpu_token_any(&at[i - 1], WORDS("*", "&", ">"));
  return cpu_token_is(&at[i - 1], ",") || (typed && !assigned);
}

bool mw_declared_constant(const char *text, const char *name) {
  cpu_tokens tokens;
  int constants = 0, others = 0;
  cpu_tokens_read(&tokens, text, NULL);
  for (int i = 0; i < tokens.count; i++) {
    bool constant = false;
    if (!cpu_token_is(&tokens.at[i], name) || !is_declarator(&tokens, i, &constant)) continue;
    constants += constant;
    others += !constant;
  }
  cpu_tokens_free(&tokens);
  return constants > 0 && others == 0;
}
