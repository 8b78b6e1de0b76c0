/* SPDX-License-Identifier: MIT
 *
 * Shared memory that a helper declares. CUDA has one for each function (and each instance of a template), whoever calls
 * it, and it keeps its contents from one call to the next. So it stays in a separate function, which stands in front
 * of the kernel and returns it; the unfolded calls refer to that:
 *
 *   template <class T> auto &mw_keep_k_3_12_part() { __shared__ T part[32]; return part; }, placed by entry.h */
#include <string.h>

#include "core/backend/cpu/split/split.h"

void cpu_static_shared_name(const cpu_splitter *in, const cpu_function *helper, const cpu_splitter *body, int variable,
                            mw_text *out) {
  const int number = (int)(helper - in->program->functions); /* it may have several variables of that name */
  mw_text_format(out, "mw_keep_%.*s_%d_%d_%.*s", TEXT(cpu_kernel_name(in)), number, variable,
                 TEXT(&body->work.at[variable]));
}

static bool names(const mw_tokens *tokens, const cpu_node *node, const mw_token *name) {
  return mw_find_use(tokens, node->first, node->last, name) < node->last;
}

/* Marks the declarations that the marked ones name, from the last to the first. False: one is not a constant. */
static bool constants_mark(const cpu_splitter *body, int node, bool *marked) {
  const mw_tokens *work = &body->work;
  marked[node] = true;
  for (int i = node - 1; i >= 0; i--) {
    if (body->nodes[i].kind != CPU_NODE_DECLARE) continue;
    const int first = cpu_declared_next(body, &body->nodes[i], 0);
    for (int k = i + 1; k <= node; k++)
      for (int n = first; marked[k] && n; n = cpu_declared_next(body, &body->nodes[i], n))
        marked[i] |= names(work, &body->nodes[k], &work->at[body->body.declared[n].name]);
    const mw_declared *it = &body->body.declared[first];
    if (marked[i] && mw_find(work, it->spec, it->spec_last, WORDS("const", "constexpr")) == it->spec_last) return false;
  }
  return true;
}

static bool names_formal(const cpu_splitter *in, const cpu_function *helper, const cpu_splitter *body,
                         const bool *marked) {
  for (int i = 0; i < body->nnodes; i++)
    for (int k = 0; marked[i] && k < helper->nformals; k++)
      if (helper->formals[k].name >= 0 &&
          names(&body->work, &body->nodes[i], &in->program->tokens.at[helper->formals[k].name]))
        return true;
  return false;
}

/* Once for each variable of each helper, however often it is called. */
static void static_shared_one(cpu_splitter *in, const cpu_function *helper, const cpu_splitter *body,
                              const bool *marked, int variable) {
  mw_text name = {0}, *out = &in->prelude;
  cpu_static_shared_name(in, helper, body, variable, &name);
  mw_text_put(&name, "()");
  if (!out->at || !strstr(out->at, name.at)) {
    if (helper->is_template) mw_text_plain(out, &in->program->tokens, helper->head_first, helper->head_last);
    mw_text_format(out, " MW_HELPER auto &%s {", name.at);
    out->file = 0;
    for (int i = 0; i < body->nnodes; i++)
      if (marked[i]) cpu_emit_tokens(&body->work, out, body->nodes[i].first, body->nodes[i].last, cpu_placed_kept);
    mw_text_format(out, " return %.*s; }\n", TEXT(&body->work.at[variable]));
    out->file = 0;
  }
  mw_free(name.at);
}

const char *cpu_static_shared_put(cpu_splitter *in, const cpu_function *helper, const cpu_splitter *body, int node) {
  const int first = body->nodes[node].first, last = body->nodes[node].last;
  int name = mw_variable_next(&body->work, first, last, -1);
  bool *marked = mw_calloc((size_t)body->nnodes, sizeof *marked);
  const bool fits = name >= 0 && constants_mark(body, node, marked) && !names_formal(in, helper, body, marked);
  for (; fits && name >= 0; name = mw_variable_next(&body->work, first, last, name))
    static_shared_one(in, helper, body, marked, name);
  mw_free(marked);
  return fits ? NULL : "has shared memory of a kind that is not understood";
}
