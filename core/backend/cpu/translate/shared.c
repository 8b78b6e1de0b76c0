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

typedef struct sizes {
  const cpu_program *program;
  const cpu_function *function;
  const mw_token *at;
  const mw_body *tree;
  bool *needed; /* of each token of the body: it is repeated */
} sizes;

static bool *needed_at(const sizes *in, int i) {
  return &in->needed[i - in->function->body];
}

static int statement_last(const mw_tokens *tokens, int i, int last) {
  const int end = mw_find_open(tokens, i, last, WORDS(";"));
  return end < last ? end + 1 : end;
}

/* The enum of a block around token i, one of whose names it is; 0 if none. */
static int enumeration_of(const sizes *in, int i) {
  const mw_tokens *tokens = &in->program->tokens;
  for (int k = i - 1; k > in->function->body; k--) {
    if (!mw_token_is(&in->at[k], "enum") || in->at[mw_enclosing(tokens, in->function->body, k)].match < i) continue;
    const int open = mw_class_braces(tokens, k, i);
    for (int n = open + 1; open && n < in->at[open].match; n++)
      if (mw_same_text(&in->at[n], &in->at[i]) && mw_token_any(&in->at[n - 1], WORDS("{", ",")))
        return k - mw_token_is(&in->at[k - 1], "typedef");
  }
  return 0;
}

/* Where the local declaration begins that the name at i stands for; 0: it is known outside of the body; -1: it stands in
 * the head of a loop or the like, or is not understood. */
static int declaration_of(const sizes *in, int i) {
  const int of = in->tree->bound[i - in->tree->first];
  const mw_declared *it = &in->tree->declared[of];
  if (!of) return enumeration_of(in, i);
  if (*needed_at(in, it->name)) return 0;
  const mw_tokens *tokens = &in->program->tokens;
  const bool read = it->spec <= it->name; /* else it may be declared in the statement: typedef int row[4]; */
  const int begin = read ? it->spec : mw_begin_after(tokens, in->tree->first, it->name, WORDS(";", "{", "}"));
  const bool declares = read || mw_token_any(&in->at[begin], WORDS("typedef", "auto", "const", "constexpr", "static"));
  return declares && mw_token_is(&in->at[mw_enclosing(tokens, in->function->body, begin)], "{") ? begin : -1;
}

static void need(const sizes *in, int first) {
  const int last = statement_last(&in->program->tokens, first, in->function->last);
  memset(needed_at(in, first), true, (size_t)(last - first));
}

/* using namespace cub; using cub::Sum; using enum E; in a block around the declaration. */
static void using_need(const sizes *in, int declaration) {
  for (int i = in->function->body; i < declaration; i++)
    if (mw_token_is(&in->at[i], "using") && !mw_token_is(&in->at[i + 2], "=") &&
        in->at[mw_enclosing(&in->program->tokens, 0, i)].match > declaration)
      need(in, i);
}

/* The declaration that begins at token `first`, and what it needs, which precedes it. False: that is not
 * known. */
static bool all_need(const sizes *in, int first, int last) {
  memset(in->needed, false, (size_t)(in->function->last - in->function->body) * sizeof *in->needed);
  need(in, first);
  using_need(in, first);
  for (int i = last - 1; i > in->function->body; i--) {
    if (!*needed_at(in, i) || in->at[i].kind != MW_TOKEN_NAME || mw_is_member(&in->program->tokens, i)) continue;
    const int begin = declaration_of(in, i);
    if (begin < 0) return false;
    if (begin > 0 && !*needed_at(in, begin)) need(in, begin);
  }
  return true;
}

/* { enum { W = 32 }; { decltype(n) a[W]; return mw_size<0 + sizeof(a)>(); } } */
static void body_put(const sizes *in, int first, int last, mw_text *out) {
  const mw_tokens *tokens = &in->program->tokens;
  int blocks = 0;
  if (!all_need(in, first, last)) {
    mw_text_put(out, "{ return mw_size<0>(); }\n");
    return;
  }
  for (int i = in->function->body, end; i < last; i = end) {
    end = i + 1;
    if (*needed_at(in, i)) {
      while (end < last && *needed_at(in, end)) end++;
      cpu_emit_tokens(tokens, out, i, end, "");
    } else if (mw_token_is(&in->at[i], "{") && in->at[i].match > first) {
      mw_text_put(out, "{");
      blocks++;
    }
  }
  mw_text_put(out, " return mw_size<0");
  for (int name = -1; (name = mw_variable_next(tokens, first, last, name)) >= 0;)
    mw_text_format(out, " + sizeof(%.*s)", TEXT(&in->at[name]));
  mw_text_put(out, ">();");
  while (blocks--) mw_text_put(out, "}");
  mw_text_put(out, "\n");
}

/* The next declaration of shared memory after *out; false if none. */
static bool shared_next(const cpu_program *program, const cpu_function *function, mw_span *out) {
  const mw_token *at = program->tokens.at;
  for (int i = out->last; i < function->last; i++) {
    if (!mw_token_is(&at[i], "__shared__") || mw_token_is(&at[i - 1], "extern")) continue;
    out->first = mw_begin_after(&program->tokens, function->body + 1, i, WORDS(";", "{", "}", ":"));
    out->last = statement_last(&program->tokens, i, function->last);
    return true;
  }
  return false;
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
  mw_span one = {0, function->body};
  if (!is_counted(program, function) || !shared_next(program, function, &one)) return;
  const size_t room = (size_t)(function->last - function->body);
  sizes in = {program, function, program->tokens.at, cpu_function_tree(program, function),
              mw_calloc(room, sizeof(bool))};
  mw_text_put(out, "\nMW_UNREAD_BEGIN\n"); /* of what is repeated not all is used */
  do {
    mw_text_put(out, "\n");
    mw_text_plain(out, &program->tokens, function->head_first, function->head_last);
    mw_text_put(out, " static auto ");
    name_put(program, function, one.first, out);
    mw_text_put(out, "(");
    cpu_emit_declaration(program, out, function->open + 1, function->close);
    mw_text_put(out, ")");
    body_put(&in, one.first, one.last, out);
    out->file = 0;
  } while (shared_next(program, function, &one));
  mw_text_put(out, "\nMW_UNREAD_END\n");
  out->file = 0;
  mw_free(in.needed);
}

/* ---- the sum --------------------------------------------------------------------------------------------------- */

/* Helpers bring their own; which instances of templates are called is not known here. */
static void helper_put(const cpu_program *program, const cpu_function *helper, mw_text *out) {
  mw_span one = {0, helper->body};
  if (!is_counted(program, helper) || helper->is_template) return;
  while (shared_next(program, helper, &one)) {
    mw_text_format(out, " + mw_size_of<decltype(&%s", helper->scope);
    name_put(program, helper, one.first, out);
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
  for (mw_span one = {0, kernel->body}; shared_next(program, kernel, &one);)
    mw_text_format(out, " + mw_size_of<decltype(&%.*s_mw_shared_%d%s)>::bytes", stem, reference, one.first,
                   reference + stem);
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
