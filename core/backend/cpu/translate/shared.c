/* SPDX-License-Identifier: MIT
 *
 * How much static shared memory a kernel has: a constexpr function beside it, with the same template header, which the
 * table of kernels calls for each instance. What a declaration needs of the body's own constants and type names is
 * repeated there:
 *
 *   template <class T> static constexpr unsigned k_mw_shared() { const int W = 32; return 0 + sizeof(T[W]); } */
#include <string.h>

#include "core/backend/cpu/translate/translate.h"

typedef struct sizes {
  const cpu_program *program;
  const cpu_function *function;
  const cpu_token *at;
  bool *repeated; /* of each token of the body: a statement begins here that is repeated */
  cpu_text *types;
} sizes;

static int statement_first(const sizes *in, int i) {
  return cpu_begin_after(&in->program->tokens, in->function->body + 1, i, WORDS(";", "{", "}"));
}

static int statement_last(const sizes *in, int i) {
  return cpu_find_open(&in->program->tokens, i, in->function->last, WORDS(";")) + 1;
}

/* Where the body declares the name, in front of token `before`; -1: nowhere, so it is known outside. In `const half
 * one` half is not a declared name. */
static int declared_at(const sizes *in, const cpu_token *name, int before) {
  const char *const *const ends = WORDS("=", ";", "[", "{", "(", ",");
  const cpu_tokens *tokens = &in->program->tokens;
  for (int i = in->function->body + 1; (i = cpu_find_use(tokens, i, before, name)) < before; i++)
    if (cpu_token_any(&in->at[i + 1], ends)) return i;
  return -1;
}

/* Repeats what tokens first ... last-1 need. False: a name means something else here than outside. */
static bool names_repeat(const sizes *in, int first, int last, int depth) {
  const char *const *const starts = WORDS("const", "constexpr", "using", "typedef", "static");
  for (int i = first; i < last; i++) {
    if (in->at[i].kind != CPU_NAME || cpu_is_member(&in->program->tokens, i)) continue;
    int declared = declared_at(in, &in->at[i], first);
    if (declared < 0) continue;
    int begin = statement_first(in, declared);
    if (in->repeated[begin - in->function->body]) continue;
    bool known = cpu_token_any(&in->at[begin], starts) && !cpu_token_is(&in->at[begin + 1], "__shared__");
    if (!known || depth > 4 || !names_repeat(in, begin + 1, declared, depth + 1)) {
      bool type = in->at[i + 1].kind == CPU_NAME || cpu_token_any(&in->at[i], starts);
      if (type && !known) continue; /* a word of the language, or of the type's name */
      return false;
    }
    if (!names_repeat(in, declared + 1, statement_last(in, declared), depth + 1)) return false;
    in->repeated[begin - in->function->body] = true;
  }
  return true;
}

static void type_put(const sizes *in, int first, int last, cpu_text *out) {
  for (int i = first; i < last; i++) {
    if (cpu_token_any(&in->at[i], WORDS("__align__", "alignas")))
      i = in->at[i + 1].match;
    else if (!cpu_token_any(&in->at[i], WORDS("static", "__shared__"))) {
      cpu_text_token(out, &in->program->tokens, &in->at[i]);
      cpu_text_put(out, " ");
    }
  }
}

/* using namespace cub; in front of it, in a block around it. */
static void namespaces_repeat(const sizes *in, int declaration) {
  for (int i = in->function->body; i < declaration; i++)
    if (cpu_token_is(&in->at[i], "using") && cpu_token_is(&in->at[i + 1], "namespace"))
      in->repeated[i - in->function->body] |= in->at[cpu_enclosing(&in->program->tokens, 0, i)].match > declaration;
}

/* __shared__ struct { int a; } s[2]; its type gets a name in front: sizeof(mw_size_7[2]). */
static void class_put(const sizes *in, int first, int last) {
  cpu_text_put(in->types, " typedef ");
  type_put(in, first, last, in->types);
  cpu_text_format(in->types, "mw_size_%d;", first);
}

/* + sizeof(T[32]) for each of __shared__ T a[32], b; of tokens first ... last-1. */
static void declaration_put(const sizes *in, int first, int last, cpu_text *out) {
  const cpu_tokens *tokens = &in->program->tokens;
  const int braces = cpu_class_braces(tokens, first, last), foremost = cpu_variable_next(tokens, first, last, -1);
  namespaces_repeat(in, first);
  for (int name = foremost; name >= 0; name = cpu_variable_next(tokens, first, last, name)) {
    int end = name + 1;
    while (cpu_token_is(&in->at[end], "[")) end = in->at[end].match + 1;
    if (!names_repeat(in, name + 1, end, 0) || !names_repeat(in, first, foremost, 0)) continue;
    cpu_text_put(out, " + sizeof(");
    if (braces && name == foremost) class_put(in, first, in->at[braces].match + 1);
    if (braces)
      cpu_text_format(out, "mw_size_%d", first);
    else
      type_put(in, first, foremost, out);
    cpu_text_range(out, tokens, name + 1, end);
    cpu_text_put(out, ")");
  }
}

static bool is_counted(const cpu_function *function) {
  return function->body >= 0 && !function->is_class && !function->special && !function->overloaded &&
         function->name >= 0;
}

static void name_put(const cpu_program *program, const cpu_function *function, cpu_text *out) {
  cpu_text_plain(out, &program->tokens, function->name, function->name + 1);
  cpu_text_put(out, "_mw_shared()");
}

/* Helpers bring their own; which instances of templates are called is not known here. */
static void helpers_put(const cpu_program *program, const cpu_function *kernel, const bool *reached, cpu_text *out) {
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *helper = &program->functions[i];
    if (!reached[i] || helper == kernel || !is_counted(helper) || helper->is_template ||
        helper->first > kernel->first || !cpu_function_has(program, helper, "__shared__"))
      continue;
    cpu_text_format(out, " + %s", helper->scope);
    name_put(program, helper, out);
  }
}

static bool is_named(const cpu_program *program, const bool *reached, const cpu_item *item) {
  const cpu_tokens *tokens = &program->tokens;
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *function = &program->functions[i];
    for (int name = -1; reached[i] && function->body >= 0;) {
      if ((name = cpu_variable_next(tokens, item->first, item->last, name)) < 0) break;
      if (cpu_find_use(tokens, function->body, function->last, &tokens->at[name]) < function->last) return true;
    }
  }
  return false;
}

/* Declarations outside of functions, where the kernel or a helper names one of their variables. */
static void items_put(const cpu_program *program, const cpu_function *kernel, const bool *reached, cpu_text *out) {
  for (const cpu_item *item = program->items; item < program->items + program->nitems; item++) {
    const cpu_token *place = item->last <= kernel->first ? cpu_item_place(program, item) : NULL;
    if (place && is_named(program, reached, item))
      cpu_text_format(out, " + sizeof(%smw_place_%.*s)", item->scope, TEXT(place));
  }
}

static void outside_put(const cpu_program *program, const cpu_function *kernel, cpu_text *out) {
  bool *reached = mw_calloc((size_t)program->nfunctions, sizeof *reached);
  cpu_called(program, kernel, reached);
  reached[kernel - program->functions] = true;
  helpers_put(program, kernel, reached, out);
  items_put(program, kernel, reached, out);
  mw_free(reached);
}

void cpu_shared_size_put(const cpu_program *program, const cpu_function *function, cpu_text *out) {
  bool helper = !function->kernel && !function->is_template && cpu_function_has(program, function, "__shared__");
  if (!is_counted(function) || !(function->kernel || helper)) return;
  const cpu_token *at = program->tokens.at;
  cpu_text sum = {0}, types = {0};
  sizes in = {program, function, at, mw_calloc((size_t)(function->last - function->body) + 1, sizeof(bool)), &types};
  for (int i = function->body; i < function->last; i++)
    if (cpu_token_is(&at[i], "__shared__") && !cpu_token_is(&at[i - 1], "extern") &&
        !cpu_token_is(&at[i + 1], "extern"))
      declaration_put(&in, statement_first(&in, i), statement_last(&in, i), &sum);
  if (function->kernel) outside_put(program, function, &sum);
  cpu_text_put(out, "\n");
  cpu_text_plain(out, &program->tokens, function->head_first, function->head_last);
  cpu_text_put(out, " static constexpr unsigned ");
  name_put(program, function, out);
  cpu_text_put(out, " {");
  for (int i = function->body; i < function->last; i++)
    if (in.repeated[i - function->body]) cpu_text_plain(out, &program->tokens, i, statement_last(&in, i));
  cpu_text_format(out, "%s return 0%s; }\n", types.at ? types.at : "", sum.at ? sum.at : "");
  out->file = 0;
  mw_free(types.at);
  mw_free(sum.at);
  mw_free(in.repeated);
}
