/* SPDX-License-Identifier: MIT
 *
 * Kernels of one name. Of what is generated next to a kernel the name is all that says which is meant, so each of those
 * that differ by their parameters or their namespace gets a name of its own. So does a kernel that is declared with
 * other parameters and never defined with those, and one with the name of a template or of a function of the device.
 *
 *   __global__ void fill(int *a) { ... }   __global__ void fill(float *a) { ... }
 *   __global__ void fill_mw_of1(int *a) { ... }   __global__ void fill_mw_of2(float *a) { ... }
 *
 * To users both are called fill: module.c finds them by their parameters' types. */
#include "core/backend/cpu/program/program.h"

#include "core/source/declaration.h"

#define MARK "_mw_of"

typedef struct function {
  mw_declaration as;
  int region; /* where its namespace begins */
} function;

typedef struct functions {
  const mw_tokens *tokens;
  function *at;
  int count;
} functions;

static bool is_plain(const function *it) {
  return it->as.is_kernel && !it->as.is_template;
}

static void scope_read(functions *in, int i, int last) {
  const int region = i;
  for (mw_declaration it; i < last; i = it.last) {
    it = mw_declaration_read(in->tokens, i, last);
    if (it.kind == MW_DECLARES_REGION) scope_read(in, it.body + 1, it.last - 1);
    if (it.kind != MW_DECLARES_FUNCTION || (!it.is_kernel && (!it.is_device || it.body < 0))) continue;
    in->at = mw_grow(in->at, (size_t)in->count, sizeof *in->at);
    in->at[in->count++] = (function){it, region};
  }
}

/* The types of the parameters as they are written. */
static char *types_of(const functions *in, const mw_declaration *it) {
  mw_formal *formals;
  mw_text out = {0};
  const int count = mw_formals_read(in->tokens, it->open, it->close, &formals);
  for (int i = 0; i < count; i++) {
    const int name = formals[i].name < 0 ? formals[i].last : formals[i].name;
    mw_text_plain(&out, in->tokens, formals[i].first, name);
    if (name < formals[i].last) mw_text_plain(&out, in->tokens, name + 1, formals[i].last);
    mw_text_put(&out, ",");
  }
  mw_text_add(&out, "", 1);
  mw_free(formals);
  return out.at;
}

static bool is_another(const functions *in, const function *one, const function *other) {
  const mw_token *at = in->tokens->at;
  if (one == other || !mw_same_text(&at[one->as.name], &at[other->as.name])) return false;
  if (one->region != other->region || !is_plain(other)) return true;
  char *types = types_of(in, &one->as), *others = types_of(in, &other->as);
  const bool differ = strcmp(types, others) != 0;
  mw_free(types);
  mw_free(others);
  return differ;
}

void cpu_overloads_rename(mw_tokens *tokens) {
  functions in = {.tokens = tokens};
  scope_read(&in, 0, tokens->count);
  bool *renamed = mw_calloc((size_t)in.count + 1, sizeof *renamed);
  for (int i = 0; i < in.count; i++)
    for (int k = 0; k < in.count && in.at[i].as.body >= 0 && is_plain(&in.at[i]); k++)
      renamed[i] |= is_another(&in, &in.at[i], &in.at[k]);
  for (int i = 0, number = 0; i < in.count; i++) {
    mw_token *name = &tokens->at[in.at[i].as.name];
    if (!renamed[i]) continue;
    name->text = mw_tokens_own(tokens, mw_format("%.*s" MARK "%d", TEXT(name), ++number));
    name->size = (int)strlen(name->text);
  }
  mw_free(renamed);
  mw_free(in.at);
}

int cpu_known_size(const char *name, int size) {
  const char *mark = memmem(name, (size_t)size, MARK, strlen(MARK));
  return mark ? (int)(mark - name) : size;
}
