/* SPDX-License-Identifier: MIT
 *
 * Check mode: whole vectors and structures that a pointer points to. clang++ tests the alignment where a member is
 * accessed, but not where the whole is copied. So the pointer becomes an mw_aligned (moonwarp/memory.h) where the whole
 * is meant, which tests it:
 *
 *   *(const float4 *)p                   *(mw_aligned<const float4>)p
 *   ((float4 *)p)[i]                     mw_at(((float4 *)p))[i]
 *   v[i]   *v   *(v + i)                 mw_at(v)[i]   *mw_at(v)   *mw_at((v + i))
 *   v[i].x   &v[i]                       the same
 *
 * What does not point to a class is the same by mw_at. */
#include "core/backend/cpu/check/mark/mark.h"

typedef struct reading { /* of a routine; what is written goes to `out`, whose tokens are the program's */
  const cpu_program *program;
  const mw_token *at;
  const mw_body *tree;
  mw_tokens *out;
} reading;

static bool may_point_to_class(mw_type type) {
  return type.levels == 1 && !type.arrays && !type.volatiles && (type.class != MW_TYPE_SCALAR || type.half);
}

/* Is the token the name of a variable that the generator may look for? */
static bool is_shared(const reading *in, int i) {
  const cpu_name *name = cpu_name_find(in->program, &in->at[i]);
  return (name && name->global >= 0) || in->tree->declared[in->tree->bound[i - in->tree->first]].is_shared;
}

static void around_put(const reading *in, int first, int last, const char *before, const char *after) {
  mw_token_set(in->out, first, mw_format("%s%.*s", before, TEXT(&in->out->at[first])));
  mw_token_set(in->out, last, mw_format("%.*s%s", TEXT(&in->out->at[last]), after));
}

static void pointer_test(const reading *in, const mw_expr *e) {
  const int close = in->at[e->op].match;
  if (e->kind == MW_EXPR_CAST && e->op == e->first && close < e->last - 1 && mw_token_is(&in->at[close - 1], "*")) {
    mw_token_set(in->out, e->op, mw_strdup("(mw_aligned<"));
    mw_token_set(in->out, close - 1, mw_strdup(">"));
  } else if (!is_shared(in, e->first) && !is_shared(in, e->last - 1)) {
    around_put(in, e->first, e->last - 1, "mw_at(", ")");
  }
}

static bool is_unary(const reading *in, const mw_expr *e, const char *op) {
  return e->kind == MW_EXPR_UNARY && mw_token_is(&in->at[e->op], op);
}

/* A part of an expression comes before it. */
static void tree_test(const reading *in) {
  const mw_expr *exprs = in->tree->exprs;
  bool *passed = mw_calloc((size_t)in->tree->nexprs, sizeof *passed); /* a member is meant, or the address */
  for (int i = in->tree->nexprs - 1; i > 0; i--)
    passed[exprs[i].a] |= exprs[i].kind == MW_EXPR_MEMBER || is_unary(in, &exprs[i], "&") ||
                          (exprs[i].kind == MW_EXPR_BRACKETS && passed[i]);
  for (int i = 1; i < in->tree->nexprs; i++) {
    const mw_expr *e = &exprs[i], *pointer = &exprs[e->a];
    const bool follows = e->kind == MW_EXPR_INDEX || is_unary(in, e, "*");
    if (follows && !passed[i] && may_point_to_class(pointer->type) && mw_body_find(in->tree, e->first, e->last) == i)
      pointer_test(in, pointer);
  }
  mw_free(passed);
}

void cpu_aligned_test(const cpu_program *program, mw_tokens *out) {
  const cpu_routines *all = cpu_routines_of(program);
  for (const cpu_routine *it = all->at; it < all->at + all->count; it++)
    if (!cpu_is_constexpr(program, &it->function))
      tree_test(&(reading){program, program->tokens.at, it->function.tree, out});
}
