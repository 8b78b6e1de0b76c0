/* SPDX-License-Identifier: MIT
 *
 * Check mode: may a class of the unit have bytes between its members, which nobody writes? A read of some bytes that
 * hold values and some that do not is then no finding: it may be of such a class. The compiler is asked:
 *
 *   struct pair { int key; short next[2]; };     sizeof(pair) != sizeof(pair::key) + sizeof(pair::next)
 *
 * Of other than plain structures it is not known. */
#include "core/backend/cpu/check/mark/mark.h"

#include <string.h>

typedef struct classes { /* of a program */
  const cpu_program *program;
  const mw_tokens *tokens;
  const mw_token *at;
} classes;

/* Headers of the shim whose own classes have such bytes, or may have; each is a token of its own. */
static bool has_others(const classes *in) {
  static const char *const headers[] = {"/cub/", "/cuda/", "/curand_kernel.h", "/utility", NULL};
  for (int i = 0; i < in->tokens->count; i++)
    for (int h = 0; headers[h] && in->at[i].kind == MW_TOKEN_CHUNK; h++)
      if (memmem(in->at[i].text, (size_t)in->at[i].size, headers[h], strlen(headers[h]))) return true;
  return false;
}

/* + sizeof(pair::key) for each member; false: it has other than variables and methods. */
static bool members_put(const classes *in, int open, const mw_token *name, const char *scope, mw_text *out) {
  const int last = in->at[open].match;
  if (mw_find(in->tokens, open, last, WORDS("virtual", "private", "protected")) < last) return false;
  mw_declaration it;
  for (int i = open + 1; i < last; i = it.last) {
    it = mw_declaration_read(in->tokens, i, last);
    if (it.kind == MW_DECLARES_CLASS && !it.is_enum) return false;
    if (it.kind != MW_DECLARES_VARIABLES || mw_has(in->tokens, it.first, it.last, "static")) continue;
    mw_declared members[CPU_MOST_DECLARED];
    const int count = mw_declared_read(in->tokens, it.begin, it.last - 1, NULL, members, CPU_MOST_DECLARED);
    const bool plain = count && mw_find_open(in->tokens, it.begin, it.last, WORDS(":", "&")) == it.last;
    for (int m = 0; plain && m < count; m++)
      mw_text_format(out, " + sizeof(%s%.*s::%.*s)", scope, TEXT(name), TEXT(&in->at[members[m].name]));
    if (!plain) return false;
  }
  return true;
}

/* The scope of an item whose own declaration, which is no template, begins at token i; NULL: none does. */
static const char *scope_of(const classes *in, int i) {
  for (const cpu_item *item = in->program->items; item < in->program->items + in->program->nitems; item++)
    if (item->first == i) return item->scope;
  return NULL;
}

/* The class that is defined at token i, its name before `end`: what follows; false: it is no plain structure. */
static bool class_put(const classes *in, int i, int end, mw_text *out) {
  const bool renamed = i > 0 && mw_token_is(&in->at[i - 1], "typedef");
  const mw_token *name = renamed ? &in->at[in->at[end].match + 1] : &in->at[i + 1];
  const char *scope = scope_of(in, i - renamed);
  if (!scope || !mw_token_is(&in->at[i], "struct") || name->kind != MW_TOKEN_NAME || end > i + 2) return false;
  mw_text_format(out, " || mw_has_gap(sizeof(%s%.*s), 0", scope, TEXT(name));
  const bool is_plain = in->at[end].match > end && members_put(in, end, name, scope, out);
  mw_text_put(out, ")");
  return is_plain;
}

void cpu_padding_put(const cpu_program *program, mw_text *out) {
  const classes in = {program, &program->tokens, program->tokens.at};
  mw_text sizes = {0};
  bool known = !has_others(&in);
  for (int i = 0, end; known && i < in.tokens->count; i++) {
    const bool names = mw_token_any(&in.at[i], WORDS("struct", "class", "union"));
    if (!names || (i && mw_token_is(&in.at[i - 1], "enum"))) continue;
    mw_class_name(in.tokens, i, in.tokens->count, &end);
    if (in.at[end].match > end || mw_token_is(&in.at[end], ":")) known = class_put(&in, i, end, &sizes);
  }
  mw_text_format(out, "MW_CHECK_PADDED(false%s)\n", !known ? " || true" : sizes.at ? sizes.at : "");
  mw_free(sizes.at);
}
