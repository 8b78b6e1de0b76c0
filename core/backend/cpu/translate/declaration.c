/* SPDX-License-Identifier: MIT
 *
 * The declarations of a .cu source. Walks namespaces, parts device functions and variables from classes and host code,
 * and leaves one item for each in program->items, a function for each of its functions and classes. */
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/translate/translate.h"
#include "core/source/declaration.h"

typedef struct walk {
  cpu_program *program;
  const mw_tokens *tokens;
  const mw_token *at;
} walk;

static void item_add(walk *in, cpu_item_kind kind, int first, int last, const char *scope) {
  cpu_program *program = in->program;
  program->items = mw_grow(program->items, (size_t)program->nitems, sizeof *program->items);
  program->items[program->nitems++] = (cpu_item){.kind = kind, .first = first, .last = last, .scope = scope};
}

/* ---- functions, classes, variables ----------------------------------------------------------------------------- */

static cpu_function *function_add(walk *in, const mw_declaration *found, const char *scope) {
  cpu_program *program = in->program;
  size_t count = (size_t)program->nfunctions + 1;
  program->functions = mw_realloc(program->functions, count * sizeof *program->functions);
  cpu_function *function = &program->functions[program->nfunctions++];
  *function = (cpu_function){.kernel = found->is_kernel,
                             .name = found->name,
                             .head_first = found->first,
                             .head_last = found->begin,
                             .first = found->begin,
                             .open = found->open,
                             .close = found->close,
                             .body = found->body,
                             .last = found->last,
                             .barrier = -1,
                             .own_barrier = -1,
                             .wait = -1,
                             .by_parameter = -1,
                             .max_threads = 1024,
                             .scope = scope};
  function->special = found->is_template && mw_token_is(&in->at[found->first + 2], ">"); /* template <> */
  function->is_template = found->is_template && !function->special;
  item_add(in, CPU_ITEM_FUNCTION, found->first, found->last, scope);
  return function;
}

/* __launch_bounds__(256): a plain number counts, anything else leaves 1024. */
static void bounds_read(cpu_function *function, const mw_token *at) {
  for (int i = function->first; i < function->open; i++)
    if (mw_token_is(&at[i], "__launch_bounds__") && at[i + 2].kind == MW_TOKEN_NUMBER &&
        at[i + 3].kind == MW_TOKEN_PUNCT && strchr(",)", at[i + 3].text[0])) {
      int bound = (int)strtol(at[i + 2].text, NULL, 0);
      if (bound > 0 && bound < function->max_threads) function->max_threads = bound;
    }
}

/* template <class T> W(T) -> W<T>; */
static bool is_deduction_guide(const walk *in, const mw_declaration *found) {
  int first = found->begin;
  while (mw_token_any(&in->at[first], WORDS("explicit", "__host__", "__device__"))) first++;
  return found->body < 0 && first == found->name && mw_token_is(&in->at[found->close + 1], "->");
}

/* Host functions stay where device code may use them: constexpr ones. */
static void function_item(walk *in, const mw_declaration *found, const char *scope) {
  if (is_deduction_guide(in, found)) {
    item_add(in, CPU_ITEM_TEXT, found->first, found->last, scope);
    return;
  }
  if (!found->is_kernel && !found->is_device && !found->is_constexpr) {
    item_add(in, CPU_ITEM_HOST, found->first, found->last, scope);
    return;
  }
  cpu_function *function = function_add(in, found, scope);
  function->nformals = mw_formals_read(in->tokens, found->open, found->close, &function->formals);
  bounds_read(function, in->at);
}

static void class_item(walk *in, const mw_declaration *it, const char *scope) {
  cpu_function *class = function_add(in, it, scope);
  class->is_class = true;
  class->is_template = it->is_template;
  class->special = false;
}

static void variables_item(walk *in, const mw_declaration *it, const char *scope) {
  cpu_program *program = in->program;
  const cpu_item_kind kind = it->is_shared                  ? CPU_ITEM_SHARED
                             : it->is_device                ? CPU_ITEM_VARIABLE
                             : it->is_const || it->is_class ? CPU_ITEM_TEXT
                                                            : CPU_ITEM_HOST;
  item_add(in, kind, it->first, it->last, scope);
  if (kind != CPU_ITEM_VARIABLE || it->is_template || it->is_extern) return;
  for (int name = -1; (name = mw_variable_next(in->tokens, it->begin, it->last, name)) >= 0;) {
    program->variables = mw_grow(program->variables, (size_t)program->nvariables, sizeof *program->variables);
    program->variables[program->nvariables++] = (cpu_variable){name, scope, it->is_constant || it->is_const};
  }
}

/* ---- the walk -------------------------------------------------------------------------------------------------- */

/* "outer::a::b::" in namespace a::b; extern "C" and inline namespaces need not be named. */
static const char *scope_in(walk *in, const mw_declaration *region, const char *outer) {
  mw_text path = {0};
  mw_text_put(&path, outer);
  for (int i = region->first + 1; mw_token_is(&in->at[region->first], "namespace") && i < region->body; i++)
    if (in->at[i].kind == MW_TOKEN_NAME) mw_text_format(&path, "%.*s::", TEXT(&in->at[i]));
  return mw_tokens_own(&in->program->tokens, path.at);
}

static void scope_walk(walk *in, int i, int last, const char *scope) {
  for (mw_declaration it; i < last; i = it.last) {
    it = mw_declaration_read(in->tokens, i, last);
    if (it.kind == MW_DECLARES_REGION) { /* its braces are passed on, what is inside is walked */
      item_add(in, CPU_ITEM_TEXT, it.first, it.body + 1, scope);
      scope_walk(in, it.body + 1, it.last - 1, scope_in(in, &it, scope));
      item_add(in, CPU_ITEM_TEXT, it.last - 1, it.last, scope);
    } else if (it.kind == MW_DECLARES_FUNCTION) {
      function_item(in, &it, scope);
    } else if (it.kind == MW_DECLARES_CLASS) {
      class_item(in, &it, scope);
    } else if (it.kind == MW_DECLARES_VARIABLES) {
      variables_item(in, &it, scope);
    } else { /* the CPU device instantiates by name */
      item_add(in, it.kind == MW_DECLARES_INSTANCE ? CPU_ITEM_HOST : CPU_ITEM_TEXT, it.first, it.last, scope);
    }
  }
}

/* What friend __device__ int f(P); in a class or __device__ int f(P); in a body declares is not static, nor may f be.
 * Operators have one name. */
static void inner_declarations_find(const cpu_program *program, int first, int last) {
  const mw_tokens *tokens = &program->tokens;
  for (int i = first; (i = mw_find(tokens, i, last, WORDS("friend", "__device__", "__global__"))) < last; i++) {
    const mw_declaration it = mw_declaration_read(tokens, i, last);
    if (it.kind != MW_DECLARES_FUNCTION) continue;
    for (int k = -1; (k = cpu_function_next(program, &tokens->at[it.name], k)) >= 0;)
      program->functions[k].declared_within = true;
  }
}

void cpu_declarations_read(cpu_program *program) {
  walk in = {program, &program->tokens, program->tokens.at};
  scope_walk(&in, 0, program->tokens.count, "");
  for (int i = 0; i < program->nfunctions; i++)
    if (program->functions[i].body >= 0)
      inner_declarations_find(program, program->functions[i].body, program->functions[i].last);
}
