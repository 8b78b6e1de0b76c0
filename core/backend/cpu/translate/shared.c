/* SPDX-License-Identifier: MIT
 *
 * How much static shared memory a kernel has. For each declaration of it there is a function that is never called, whose
 * type has the size. It stands next to the kernel, with the same template header and parameters, and repeats the local
 * declarations whose names the shared one needs, in their blocks:
 *
 *   template <class T> __global__ void k(T *x, int n) { enum { W = 32 }; ... { __shared__ decltype(n) a[W]; ... } }
 *
 *   template <class T> static auto k_mw_shared_19(T *x, int n) {
 *     enum { W = 32 }; { decltype(n) a[W]; return mw_size<0 + sizeof(a)>(); } }
 *
 * The table of kernels adds them up for each instance. */
#include <string.h>

#include "core/backend/cpu/translate/translate.h"

enum { HIDDEN, VISIBLE, NEEDED }; /* NEEDED: it is repeated */

typedef struct sizes { /* of a function */
  const mw_body *tree;
  unsigned char *marks; /* of each statement, by what the declaration at hand sees */
} sizes;

static const mw_statement *statement_of(const sizes *in, int i) {
  return &in->tree->statements[i];
}

/* Is the statement a block around the other one? The first is the body. */
static bool is_around(const sizes *in, int i, const mw_statement *other) {
  const mw_statement *it = statement_of(in, i);
  return !i || (it->kind == MW_STATEMENT_BLOCK && it->first < other->first && other->last <= it->last);
}

/* using namespace cub; and enumerations, whose members it may name. */
static bool opens_names(const mw_token *at) {
  return mw_token_any(at, WORDS("using", "enum")) || (mw_token_is(at, "typedef") && mw_token_is(at + 1, "enum"));
}

static void visible_mark(const sizes *in, const mw_statement *shared) {
  memset(in->marks, HIDDEN, (size_t)in->tree->nstatements);
  for (int i = 0; i < in->tree->nstatements; i++)
    for (int k = is_around(in, i, shared) ? statement_of(in, i)->child : 0;
         k && statement_of(in, k)->last <= shared->first; k = statement_of(in, k)->next)
      in->marks[k] = opens_names(&in->tree->tokens->at[statement_of(in, k)->first]) ? NEEDED : VISIBLE;
}

/* Marks what declares a name, which is not the statement's own. False: that stands in the head of a loop or the like, or is
 * not understood, but for typedef int row[4]; */
static bool name_need(const sizes *in, const mw_statement *by, const mw_declared *it) {
  const char *const *const declares = WORDS("typedef", "auto", "const", "constexpr", "static");
  int i = in->tree->nstatements - 1;
  if (by->first <= it->name && it->name < by->last) return true;
  while (i && !(in->marks[i] && statement_of(in, i)->first <= it->name && it->name < statement_of(in, i)->last)) i--;
  if (!i || in->marks[i] == NEEDED) return i;
  in->marks[i] = NEEDED;
  return statement_of(in, i)->kind != MW_STATEMENT_UNKNOWN ||
         mw_token_any(&in->tree->tokens->at[statement_of(in, i)->first], declares);
}

static bool names_need(const sizes *in, const mw_statement *by) {
  bool known = true;
  for (int i = by->first; known && i < by->last; i++) {
    const int of = in->tree->bound[i - in->tree->first];
    known = !of || mw_is_member(in->tree->tokens, i) || name_need(in, by, &in->tree->declared[of]);
  }
  return known;
}

/* What the declaration needs precedes it. False: that is not known. */
static bool all_need(const sizes *in, const mw_statement *shared) {
  visible_mark(in, shared);
  bool known = names_need(in, shared);
  for (int i = in->tree->nstatements - 1; known && i > 0; i--)
    if (in->marks[i] == NEEDED) known = names_need(in, statement_of(in, i));
  return known;
}

/* { enum { W = 32 }; { decltype(n) a[W]; return mw_size<0 + sizeof(a)>(); } } */
static void body_put(const sizes *in, const mw_statement *shared, mw_text *out) {
  const mw_tokens *tokens = in->tree->tokens;
  int blocks = 0;
  if (!all_need(in, shared)) {
    mw_text_put(out, "{ return mw_size<0>(); }\n");
    return;
  }
  for (int i = 0; i < in->tree->nstatements; i++) {
    if (is_around(in, i, shared)) mw_text_put(out, "{"), blocks++;
    if (in->marks[i] == NEEDED) cpu_emit_tokens(tokens, out, statement_of(in, i)->first, statement_of(in, i)->last, "");
  }
  cpu_emit_tokens(tokens, out, shared->first, shared->last, "");
  mw_text_put(out, " return mw_size<0");
  for (int i = shared->declared; i < shared->declared + shared->ndeclared; i++)
    mw_text_format(out, " + sizeof(%.*s)", TEXT(&tokens->at[in->tree->declared[i].name]));
  mw_text_put(out, ">();");
  while (blocks--) mw_text_put(out, "}");
  mw_text_put(out, "\n");
}

/* The next declaration of static shared memory after statement i; 0: none. */
static int shared_next(const mw_body *tree, int i) {
  for (i++; i < tree->nstatements; i++) {
    const mw_declared *first = &tree->declared[tree->statements[i].declared];
    if (tree->statements[i].kind == MW_STATEMENT_DECLARE && first->is_shared &&
        !mw_has(tree->tokens, first->spec, first->spec_last, "extern"))
      return i;
  }
  return 0;
}

/* Not a method that is defined outside of its class, whose names mean something else there. */
static bool is_counted(const cpu_program *program, const cpu_function *function) {
  return function->body >= 0 && function->name >= 0 && !function->is_class && !function->special &&
         !cpu_function_is_member(program, function);
}

static void name_put(const cpu_program *program, const cpu_function *function, int shared, mw_text *out) {
  mw_text_plain(out, &program->tokens, function->name, function->name + 1);
  mw_text_format(out, "_mw_shared_%d", shared);
}

void cpu_shared_size_put(const cpu_program *program, const cpu_function *function, mw_text *out) {
  const mw_body *tree = is_counted(program, function) ? cpu_function_tree(program, function) : NULL;
  int i = tree ? shared_next(tree, 0) : 0;
  if (!i) return;
  const sizes in = {tree, mw_calloc((size_t)tree->nstatements, 1)};
  mw_text_put(out, "\nMW_UNREAD_BEGIN\n"); /* of what is repeated not all is used */
  for (; i; i = shared_next(tree, i)) {
    mw_text_put(out, "\n");
    mw_text_plain(out, &program->tokens, function->head_first, function->head_last);
    mw_text_put(out, " static auto ");
    name_put(program, function, tree->statements[i].first, out);
    mw_text_put(out, "(");
    cpu_emit_declaration(program, out, function->open + 1, function->close);
    mw_text_put(out, ")");
    body_put(&in, &tree->statements[i], out);
    out->file = 0;
  }
  mw_text_put(out, "\nMW_UNREAD_END\n");
  out->file = 0;
  mw_free(in.marks);
}

/* ---- the sum --------------------------------------------------------------------------------------------------- */

/* Helpers bring their own; which instances of templates are called is not known here. */
static void helper_put(const cpu_program *program, const cpu_function *helper, mw_text *out) {
  if (!is_counted(program, helper) || helper->is_template) return;
  const mw_body *tree = cpu_function_tree(program, helper);
  for (int i = 0; (i = shared_next(tree, i));) {
    mw_text_format(out, " + mw_size_of<decltype(&%s", helper->scope);
    name_put(program, helper, tree->statements[i].first, out);
    mw_text_put(out, ")>::bytes");
  }
}

/* Does one of the functions name a variable of the declaration? */
static bool is_named(const cpu_program *program, const bool *reached, const cpu_item *item) {
  const mw_tokens *tokens = &program->tokens;
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *function = &program->functions[i];
    if (!reached[i] || function->body < 0 || function->is_class) continue;
    for (int name = -1; (name = mw_variable_next(tokens, item->first, item->last, name)) >= 0;)
      if (mw_find_use(tokens, function->body, function->last, &tokens->at[name]) < function->last &&
          cpu_may_mean(program, function, item, &tokens->at[name]))
        return true;
  }
  return false;
}

void cpu_shared_sum_put(const cpu_program *program, const cpu_function *kernel, const char *reference, mw_text *out) {
  const int stem = (int)strcspn(reference, "<");
  bool *reached = mw_calloc((size_t)program->nfunctions, sizeof *reached);
  cpu_called(program, kernel, reached);
  mw_text_put(out, "0");
  const mw_body *tree = cpu_function_tree(program, kernel);
  for (int i = 0; (i = shared_next(tree, i));)
    mw_text_format(out, " + mw_size_of<decltype(&%.*s_mw_shared_%d%s)>::bytes", stem, reference,
                   tree->statements[i].first, reference + stem);
  for (int i = 0; i < program->nfunctions; i++)
    if (reached[i] && &program->functions[i] != kernel) helper_put(program, &program->functions[i], out);
  reached[kernel - program->functions] = true;
  for (const cpu_item *item = program->items; item < program->items + program->nitems; item++) {
    const mw_token *place = cpu_item_place(program, item);
    if (place && is_named(program, reached, item))
      mw_text_format(out, " + sizeof(%smw_place_%.*s)", item->scope, TEXT(place));
  }
  mw_free(reached);
}
