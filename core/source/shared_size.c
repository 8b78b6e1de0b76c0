/* SPDX-License-Identifier: MIT
 *
 * Arrays in shared memory of which the size is known only when the kernel runs; see body.h. */
#include "core/base/memory.h"
#include "core/source/body.h"
#include "core/source/builtin.h"

enum { DEEPEST = 4 }; /* const int a = b; where b is another constant */

/* The first name among tokens first ... last-1 that is no constant; -1 if none. */
static int varying(const mw_body *in, int first, int last, int depth) {
  for (int i = first; i < last; i++) {
    const mw_expr *e = &in->exprs[mw_body_find(in, i, i + 1)];
    const mw_declared *own = &in->declared[e->of];
    if (e->kind != MW_EXPR_NAME || own->spec > own->name) continue; /* which may only be declared */
    if (e->binding != MW_NAME_LOCAL) {
      if (e->binding == MW_NAME_PARAMETER || mw_is_builtin(&in->tokens->at[i], MW_CUDA_COORDINATE)) return i;
    } else if (!mw_has(in->tokens, own->spec, own->name, "constexpr")) {
      if (!mw_has(in->tokens, own->spec, own->name, "const")) return i;
      if (depth < DEEPEST && varying(in, own->value, own->value_last, depth + 1) >= 0) return i;
    }
  }
  return -1;
}

int mw_shared_unsized(const mw_body *in, int shared, int *array) {
  int found = -1;
  for (const mw_declared *it = in->declared; found < 0 && it < in->declared + in->ndeclared; it++) {
    if (shared < it->spec || shared >= it->spec_last || mw_has(in->tokens, it->spec, it->spec_last, "extern")) continue;
    found = varying(in, it->dims, it->dims_last, 0);
    *array = it->name;
  }
  return found;
}

char *mw_shared_unsized_text(const mw_tokens *tokens, int name, int array) {
  const mw_token *at = tokens->at;
  return mw_format(
      "the size of the shared array '%.*s' is not a constant, because '%.*s' is known only when the kernel runs; "
      "declare extern __shared__ and give prepare shared = bytes, or make it a macro or template parameter",
      TEXT(&at[array]), TEXT(&at[name]));
}
