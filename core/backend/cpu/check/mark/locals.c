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
  const cpu_function *function;
  const mw_tokens *tokens;
  const mw_token *at;
  const mw_body *tree;
  mw_tokens *out;
  bool shuffles;
} body;

static const char *const *const others =
    WORDS("static", "extern", "constexpr", "volatile", "register", "thread_local", "__shared__", "alignas", "__align__",
          "__attribute__", "[", "(", "{", "&", "&&");

/* ---- uses ------------------------------------------------------------------------------------------------------ */

/* The first use of what is declared at token i or after it, behind its own declaration; the body's last token: none. */
static int use_find(const body *in, const mw_declared *it, int i) {
  if (i <= it->value_last) i = it->value_last + 1;
  while (i < in->tree->last &&
         (in->at[i].kind != MW_TOKEN_NAME || &in->tree->declared[in->tree->bound[i - in->tree->first]] != it))
    i++;
  return i;
}

/* Is the ( at token `open` that of a call, or of something else than an expression or a condition? */
static bool is_call(const body *in, int open) {
  const mw_token *before = &in->at[open - 1];
  if (mw_token_any(before, WORDS("if", "while", "switch", "for", "return", "sizeof"))) return false;
  return before->kind == MW_TOKEN_NAME || mw_token_any(before, WORDS(">", ")", "]", "}"));
}

/* The ( of the call to which the name at i is handed over as it is; -1: to none. */
static int call_of(const body *in, int i) {
  if (!mw_token_any(&in->at[i - 1], WORDS("(", ",")) || !mw_token_any(&in->at[i + 1], WORDS(")", ","))) return -1;
  const int open = mw_enclosing(in->tokens, in->function->body, i);
  return mw_token_is(&in->at[open], "(") && is_call(in, open) ? open : -1;
}

static bool has_address_taken(const body *in, int i) {
  return mw_token_is(&in->at[i - 1], "&") && !mw_ends_operand(&in->at[i - 2]);
}

/* May a function that is not the program's write there, where no hook sees it? */
static bool is_given_away(const body *in, int i) {
  const int open = call_of(in, i);
  return open >= 0 && cpu_function_next(in->program, &in->at[open - 1], -1) < 0 &&
         !mw_token_any(&in->at[open - 1], WORDS("memcpy", "memmove", "memset"));
}

/* Is the name at i used otherwise than by all indices of its array? */
static bool is_reached(const body *in, const mw_declared *it, int i) {
  int dims = 0, end = i + 1;
  for (int d = it->dims; d < it->dims_last; d = in->at[d].match + 1) dims++;
  for (; dims && mw_token_is(&in->at[end], "["); end = in->at[end].match + 1) dims--;
  if (mw_token_is(&in->at[i - 1], "(") && mw_token_is(&in->at[i - 2], "sizeof")) return false;
  return dims || has_address_taken(in, i);
}

/* Does the bracket at `open` stand around the condition that is tested at token i? */
static bool is_condition(const body *in, int open, int i) {
  if (mw_token_any(&in->at[open - 1], WORDS("if", "while", "switch"))) return true;
  const int test = mw_find_open(in->tokens, open + 1, in->at[open].match, WORDS(";"));
  return mw_token_is(&in->at[open - 1], "for") && i > test &&
         i < mw_find_open(in->tokens, test + 1, in->at[open].match, WORDS(";"));
}

/* Is the name at i read where a condition is computed? What is handed to a call may not matter. */
static bool is_tested(const body *in, int i) {
  if (mw_is_assignment(&in->at[i + 1]) || mw_token_any(&in->at[i + 1], WORDS(".", "->", "[", "(", "::"))) return false;
  for (int open = i; (open = mw_enclosing(in->tokens, in->function->body, open)) > in->function->body;) {
    if (mw_token_is(&in->at[open], "[")) continue;
    if (!mw_token_is(&in->at[open], "(") || is_call(in, open)) return false;
    if (is_condition(in, open, i)) return true;
    if (mw_token_any(&in->at[open - 1], WORDS("for", "return", "sizeof"))) return false;
  }
  return false;
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

static bool has_braces(const body *in, const mw_declared *it) { /* T x{1} */
  return it->value == it->dims_last && it->value < it->value_last && mw_token_is(&in->at[it->value], "{");
}

static bool is_array(const body *in, const mw_declared *it) {
  if (it->dims == it->dims_last || it->dims + 1 == in->at[it->dims].match || has_braces(in, it)) return false;
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
    if (has_address_taken(in, i) || call_of(in, i) >= 0) return false;
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
  if (!count || mw_find(in->tokens, statement->first, list[0]->spec_last, others) < list[0]->spec_last) return;
  for (int d = 0; d < count; d++) {
    if (mw_find(in->tokens, list[d]->first, list[d]->name, WORDS("&", "&&")) < list[d]->name) return;
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

static bool has_shuffle(const cpu_program *program, const cpu_function *function) {
  for (int i = function->body; i < function->last; i++)
    if (mw_is_builtin(&program->tokens.at[i], MW_CUDA_WARP) || cpu_is_group_call(program, i)) return true;
  return false;
}

static bool reaches_shuffle(const cpu_program *program, const cpu_function *function) {
  bool *reached = mw_calloc((size_t)program->nfunctions, sizeof *reached), found = has_shuffle(program, function);
  cpu_called(program, function, reached);
  for (int i = 0; i < program->nfunctions && !found; i++)
    found = reached[i] && program->functions[i].body >= 0 && has_shuffle(program, &program->functions[i]);
  mw_free(reached);
  return found;
}

void cpu_locals_follow(const cpu_program *program, mw_tokens *out) {
  const mw_tokens *tokens = &program->tokens;
  for (int f = 0; f < program->nfunctions; f++) {
    const cpu_function *it = &program->functions[f];
    if (it->body < 0 || it->is_class ||
        mw_find(tokens, it->first, it->body, WORDS("constexpr", "consteval")) < it->body ||
        mw_find(tokens, it->body, it->last, WORDS("goto", "asm", "__asm__")) < it->last)
      continue;
    blocks_read(
        &(body){program, it, tokens, tokens->at, cpu_function_tree(program, it), out, reaches_shuffle(program, it)});
  }
}
