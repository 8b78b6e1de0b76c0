/* SPDX-License-Identifier: MIT
 *
 * Check mode: local variables that hooks shall see (shim/moonwarp/local.h). A compiler keeps what nothing points to in
 * registers, and where something does, the bytes next to it are other variables. So an array that is used otherwise
 * than by all of its indices lies between two closed zones, and a variable that is declared without a value is asked
 * for one where a condition names it:
 *
 *   float a[4], *p = a;      mw_fenced<float[4], false> mw_fenced_7{"a", {}}; auto &a = mw_fenced_7.get(); float *p = a;
 *   int n;                   int n; mw_unset<decltype(n)> mw_unset_9(n, "n");
 *   if (n > 2)               if (mw_used(n) > 2)
 *
 * A value that others may set where no hook sees it counts as set. What only some lanes have set is handed over by
 * shuffles: so it is in functions that reach one. */
#include "core/backend/cpu/check/mark/mark.h"

#include <string.h>

typedef struct body { /* of a function; what is written goes to `out`, whose tokens are the program's */
  const cpu_program *program;
  const mw_token *at;
  mw_body *tree;
  int *around; /* of each expression: what it is a part of; less than 0: -1 times the statement that tests it */
  mw_tokens *out;
  bool shuffles;
} body;

/* ---- uses ------------------------------------------------------------------------------------------------------ */

static void around_read(body *in) {
  const mw_expr *exprs = in->tree->exprs;
  in->around = mw_calloc((size_t)in->tree->nexprs, sizeof *in->around);
  for (int i = 1; i < in->tree->nexprs; i++) {
    const int parts[] = {exprs[i].a, exprs[i].b, exprs[i].kind == MW_EXPR_CONDITIONAL ? exprs[i].c : 0};
    for (int p = 0; p < 3; p++)
      for (int part = parts[p]; part; part = exprs[part].next) in->around[part] = i;
  }
  for (int i = 1; i < in->tree->nstatements; i++) {
    const mw_statement *it = &in->tree->statements[i];
    if (it->kind >= MW_STATEMENT_IF && it->kind <= MW_STATEMENT_SWITCH && it->kind != MW_STATEMENT_RANGE && it->test)
      in->around[it->test] = -i;
  }
}

/* The first use of what is declared at token i or after it, behind its own declaration; the body's last token: none. */
static int use_find(const body *in, const mw_declared *it, int i) {
  if (i <= it->value_last) i = it->value_last + 1;
  while (i < in->tree->last &&
         (in->at[i].kind != MW_TOKEN_NAME || &in->tree->declared[in->tree->bound[i - in->tree->first]] != it))
    i++;
  return i;
}

/* The expression that is the name at token i; 0: it is not understood, or not evaluated. */
static int name_at(const body *in, int i) {
  return mw_body_find(in->tree, i, i + 1);
}

/* What the expression is a part of; 0: of no other. */
static const mw_expr *outer(const body *in, int expr) {
  return &in->tree->exprs[in->around[expr] > 0 ? in->around[expr] : 0];
}

/* May a function that is not the program's write there, where no hook sees it? */
static bool is_given_away(const body *in, int i) {
  const mw_expr *call = outer(in, name_at(in, i)), *callee = &in->tree->exprs[call->a];
  if (!name_at(in, i)) return cpu_use_at(in->tree, i, CPU_VALUE) != CPU_READ;
  return call->kind == MW_EXPR_CALL && callee->binding != MW_NAME_FUNCTIONS &&
         !mw_token_any(&in->at[callee->op], WORDS("memcpy", "memmove", "memset"));
}

/* Is the name at i used otherwise than by all indices of its array? */
static bool is_reached(const body *in, const mw_declared *it, int i) {
  int dims = it->type.arrays, one = name_at(in, i);
  if (!one) return cpu_use_at(in->tree, i, CPU_VALUE) != CPU_READ;
  for (; dims && outer(in, one)->kind == MW_EXPR_INDEX && outer(in, one)->a == one; one = in->around[one]) dims--;
  return dims || (outer(in, one)->kind == MW_EXPR_UNARY && mw_token_is(&in->at[outer(in, one)->op], "&"));
}

/* Is what the expression computes read for what is around it? What is handed to a call may not matter. */
static bool is_operand(const body *in, int expr) {
  const mw_expr *e = outer(in, expr);
  switch (e->kind) {
  case MW_EXPR_BRACKETS:
  case MW_EXPR_UNARY:
  case MW_EXPR_BINARY:
  case MW_EXPR_CONDITIONAL:
    return true;
  case MW_EXPR_CAST: /* (T)n */
    return in->at[e->op].match < e->last - 1;
  case MW_EXPR_INDEX:
  case MW_EXPR_ASSIGN:
  case MW_EXPR_POSTFIX:
  case MW_EXPR_MEMBER:
    return e->b == expr || in->tree->exprs[expr].kind != MW_EXPR_NAME;
  default:
    return false;
  }
}

/* Is the name at i read where a condition is computed? */
static bool is_tested(const body *in, int i) {
  int one = name_at(in, i);
  while (one && is_operand(in, one)) one = in->around[one];
  return in->around[one] < 0;
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

/* Not T x{1}, nor T x[] = {1}. */
static bool is_array(const body *in, const mw_declared *it) {
  const bool braces = it->init && it->value == it->dims_last;
  if (it->dims == it->dims_last || it->dims + 1 == in->at[it->dims].match || braces) return false;
  for (int i = 0; (i = use_find(in, it, i)) < in->tree->last; i++)
    if (is_reached(in, it, i)) return true;
  return false;
}

static bool is_set(const body *in, const mw_declared *it) {
  if (it->value < it->value_last || in->shuffles) return true;
  for (int i = 0; (i = use_find(in, it, i)) < in->tree->last; i++)
    if (is_given_away(in, i)) return true;
  return false;
}

/* A variable without a value, which a condition names and nothing but the function's own text can set. */
static bool is_unset(const body *in, const mw_declared *it) {
  if (it->dims < it->dims_last || it->value < it->value_last) return false;
  bool tested = false;
  for (int i = 0; (i = use_find(in, it, i)) < in->tree->last; i++) {
    if (cpu_use_at(in->tree, i, CPU_POINTER) == CPU_ESCAPED) return false;
    tested |= is_tested(in, i);
  }
  return tested;
}

static void uses_mark(const body *in, const mw_declared *it) {
  for (int i = 0; (i = use_find(in, it, i)) < in->tree->last; i++)
    if (is_tested(in, i)) mw_token_set(in->out, i, mw_format("mw_used(%.*s)", TEXT(&in->at[it->name])));
}

/* The words of a declaration's type, for a further declaration. */
static void type_put(const body *in, const mw_declared *it, mw_text *out) {
  for (int i = it->spec; i < it->spec_last; i++) mw_text_format(out, " %.*s", TEXT(&in->at[i]));
  mw_text_put(out, " ");
}

/* What ends a declarator; the next one begins another declaration. */
static void declarator_end(const body *in, const mw_declared *it, bool fenced, bool unset, mw_text *out) {
  const mw_token *name = &in->at[it->name];
  const int n = it->name;
  if (fenced) mw_text_format(out, "}; auto &%.*s = mw_fenced_%d.get()", TEXT(name), n);
  mw_text_put(out, ";");
  if (unset)
    mw_text_format(out, " mw_unset<decltype(%.*s)> mw_unset_%d(%.*s, \"%.*s\");", TEXT(name), n, TEXT(name),
                   TEXT(name));
}

/* float *a[4] = {p};   mw_fenced<float *[4], true> mw_fenced_7{"a", {}, {p} */
static void fence(const body *in, const mw_declared *it) {
  const mw_token *name = &in->at[it->name];
  const bool has_value = it->value < it->value_last;
  mw_token_set(in->out, it->name, mw_strdup(""));
  mw_token_set(in->out, it->dims_last - 1,
               mw_format("], %s> mw_fenced_%d{\"%.*s\", {}%s", is_set(in, it) ? "true" : "false", it->name, TEXT(name),
                         has_value ? "," : ""));
  if (has_value) mw_token_set(in->out, it->value - 1, mw_strdup(""));
}

/* Is nothing among the words of the type but names, and the arguments of a template? */
static bool is_plain(const body *in, const mw_declared *it) {
  const char *const *const others = WORDS("static", "extern", "constexpr", "volatile", "register", "thread_local",
                                          "__shared__", "alignas", "__align__", "__attribute__", "&", "&&");
  int i = it->spec;
  while (i < it->spec_last && in->at[i].match < 0 && !mw_token_any(&in->at[i], others)) i++;
  return i == it->spec_last;
}

/* What the statement declares, but not what lambdas in it do; 0: too many. */
static int declared_list(const body *in, const mw_statement *statement, const mw_declared *list[CPU_MOST_DECLARED]) {
  const mw_declared *first = &in->tree->declared[statement->declared];
  int count = 0;
  for (const mw_declared *it = first; it < first + statement->ndeclared; it++) {
    if (it->spec != first->spec) continue;
    if (count == CPU_MOST_DECLARED) return 0;
    list[count++] = it;
  }
  return count;
}

static void declaration(const body *in, const mw_statement *statement) {
  const mw_declared *list[CPU_MOST_DECLARED];
  const int count = declared_list(in, statement, list);
  bool fenced[CPU_MOST_DECLARED] = {0}, unset[CPU_MOST_DECLARED] = {0}, any = false;
  if (!count || !is_plain(in, list[0])) return;
  for (int d = 0; d < count; d++) {
    if (list[d]->type.reference) return;
    any |= fenced[d] = is_array(in, list[d]);
    any |= unset[d] = is_unset(in, list[d]);
  }
  for (int d = 0; any && d < count; d++) {
    const mw_declared *it = list[d], *next = d + 1 < count ? list[d + 1] : NULL;
    mw_text text = {0};
    if (fenced[d]) fence(in, it);
    if (unset[d]) uses_mark(in, it);
    declarator_end(in, it, fenced[d], unset[d], &text);
    if (next && fenced[d + 1]) mw_text_put(&text, " mw_fenced<");
    if (next) type_put(in, next, &text);
    mw_text_add(&text, "", 1);
    mw_token_set(in->out, it->value_last, text.at);
  }
  if (fenced[0]) mw_token_set(in->out, statement->first, mw_format("mw_fenced<%.*s", TEXT(&in->at[statement->first])));
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

/* What stands in a block, but that of a switch: a jump may pass over it. */
static void blocks_read(const body *in) {
  const mw_statement *all = in->tree->statements;
  bool *switches = mw_calloc((size_t)in->tree->nstatements, sizeof *switches);
  for (int i = 1; i < in->tree->nstatements; i++)
    if (all[i].kind == MW_STATEMENT_SWITCH && all[i].child) switches[all[i].child] = true;
  for (int i = 0; i < in->tree->nstatements; i++)
    for (int k = all[i].kind == MW_STATEMENT_BLOCK && !switches[i] ? all[i].child : 0; k; k = all[k].next)
      if (all[k].kind == MW_STATEMENT_DECLARE) declaration(in, &all[k]);
  mw_free(switches);
}

static bool reaches_shuffle(const cpu_program *program, const cpu_function *function) {
  bool *reached = mw_calloc((size_t)program->nfunctions, sizeof *reached), found = false;
  reached[function - program->functions] = true;
  cpu_called(program, function, reached);
  for (int f = 0; f < program->nfunctions; f++)
    for (int i = program->functions[f].body; reached[f] && i >= 0 && i < program->functions[f].last; i++)
      found |= mw_is_builtin(&program->tokens.at[i], MW_CUDA_WARP) || cpu_is_group_call(program, i);
  mw_free(reached);
  return found;
}

static bool has_goto(const mw_body *tree) {
  int i = tree->nstatements - 1;
  while (i > 0 && tree->statements[i].kind != MW_STATEMENT_GOTO) i--;
  return i > 0;
}

void cpu_locals_follow(const cpu_program *program, mw_tokens *out) {
  const mw_tokens *tokens = &program->tokens;
  for (int f = 0; f < program->nfunctions; f++) {
    const cpu_function *it = &program->functions[f];
    if (it->body < 0 || it->is_class || cpu_is_constexpr(program, it) ||
        mw_find(tokens, it->body, it->last, WORDS("asm", "__asm__")) < it->last)
      continue;
    body in = {program, tokens->at, cpu_function_tree(program, it), NULL, out, reaches_shuffle(program, it)};
    if (has_goto(in.tree)) continue;
    if (!in.tree->uses) cpu_uses_read(program, in.tree);
    around_read(&in);
    blocks_read(&in);
    mw_free(in.around);
  }
}
