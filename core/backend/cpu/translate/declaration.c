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
  const cpu_tokens *tokens;
  const cpu_token *at;
} walk;

static void item_add(walk *in, cpu_item_kind kind, int first, int last, const char *scope) {
  cpu_program *program = in->program;
  program->items = mw_realloc(program->items, (size_t)(program->nitems + 1) * sizeof *program->items);
  program->items[program->nitems++] = (cpu_item){.kind = kind, .first = first, .last = last, .scope = scope};
}

/* ---- functions, classes, variables ----------------------------------------------------------------------------- */

static cpu_function *function_add(walk *in, const cpu_declaration *found, const char *scope) {
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
  function->special = found->is_template && cpu_token_is(&in->at[found->first + 2], ">"); /* template <> */
  function->is_template = found->is_template && !function->special;
  item_add(in, CPU_ITEM_FUNCTION, found->first, found->last, scope);
  return function;
}

/* __launch_bounds__(256): a plain number counts, anything else leaves 1024. */
static void bounds_read(cpu_function *function, const cpu_token *at) {
  for (int i = function->first; i < function->open; i++)
    if (cpu_token_is(&at[i], "__launch_bounds__") && at[i + 2].kind == CPU_NUMBER && at[i + 3].kind == CPU_PUNCT &&
        strchr(",)", at[i + 3].text[0])) {
      int bound = (int)strtol(at[i + 2].text, NULL, 0);
      if (bound > 0 && bound < function->max_threads) function->max_threads = bound;
    }
}

/* template <class T> W(T) -> W<T>; */
static bool is_deduction_guide(const walk *in, const cpu_declaration *found) {
  const int first = found->begin + cpu_token_is(&in->at[found->begin], "explicit");
  return found->body < 0 && first == found->name && cpu_token_is(&in->at[found->close + 1], "->");
}

/* Host functions stay where device code may use them: constexpr ones. */
static void function_item(walk *in, const cpu_declaration *found, const char *scope) {
  if (is_deduction_guide(in, found)) {
    item_add(in, CPU_ITEM_TEXT, found->first, found->last, scope);
    return;
  }
  if (!found->is_kernel && !found->is_device && !found->is_constexpr) {
    item_add(in, CPU_ITEM_HOST, found->first, found->last, scope);
    return;
  }
  cpu_function *function = function_add(in, found, scope);
  function->nformals = cpu_formals_read(in->tokens, found->open, found->close, &function->formals);
  bounds_read(function, in->at);
}

static void class_item(walk *in, const cpu_declaration *found, const char *scope) {
  cpu_function *function = function_add(in, found, scope);
  const int head = cpu_find(in->tokens, found->begin, found->last, WORDS("{", ":"));
  const int body = cpu_find(in->tokens, head, found->last, WORDS("{"));
  function->is_class = true;
  function->is_template = found->is_template;
  function->special = false;
  for (int i = found->begin + 1; i < head; i++)
    if (in->at[i].kind == CPU_NAME) function->name = i;
  if (body < found->last) function->body = body;
}

static void variables_add(walk *in, const cpu_declaration *found, const char *scope) {
  cpu_program *program = in->program;
  for (int name = -1; (name = cpu_variable_next(in->tokens, found->begin, found->last, name)) >= 0;) {
    program->variables = mw_grow(program->variables, (size_t)program->nvariables, sizeof *program->variables);
    program->variables[program->nvariables++] = (cpu_variable){name, scope, found->is_constant || found->is_const};
  }
}

static void other_item(walk *in, const cpu_declaration *found, const char *scope) {
  bool variable = found->is_device || found->is_constant || found->is_managed;
  bool text = cpu_token_any(&in->at[found->begin], WORDS("using", "typedef", "static_assert", "friend", "concept"));
  if (!found->is_shared && !variable && !text && found->is_class) {
    class_item(in, found, scope);
    return;
  }
  cpu_item_kind kind = found->is_shared          ? CPU_ITEM_SHARED
                       : variable                ? CPU_ITEM_VARIABLE
                       : text || found->is_const ? CPU_ITEM_TEXT
                                                 : CPU_ITEM_HOST;
  item_add(in, kind, found->first, found->last, scope);
  if (kind == CPU_ITEM_VARIABLE && !found->is_template && !found->is_extern) variables_add(in, found, scope);
}

/* ---- the walk -------------------------------------------------------------------------------------------------- */

static void scope_walk(walk *in, int first, int last, const char *scope);

/* namespace a::b {, extern "C" {: the braces are passed on, what is inside is walked. */
static int region_walk(walk *in, int i, int open, const char *scope, const char *inner) {
  item_add(in, CPU_ITEM_TEXT, i, open + 1, scope);
  scope_walk(in, open + 1, in->at[open].match, inner);
  item_add(in, CPU_ITEM_TEXT, in->at[open].match, in->at[open].match + 1, scope);
  return in->at[open].match + 1;
}

static int namespace_walk(walk *in, int i, int last, const char *scope) {
  int open = i;
  cpu_text path = {0};
  cpu_text_put(&path, scope);
  bool inlined = cpu_token_is(&in->at[i], "inline");
  while (open < last && !cpu_token_any(&in->at[open], WORDS("{", ";"))) {
    const cpu_token *token = &in->at[open++];
    if (cpu_token_is(token, "=")) inlined = true; /* an alias */
    if (token->kind != CPU_NAME || cpu_token_is(token, "namespace") || inlined) continue;
    cpu_text_add(&path, token->text, (size_t)token->size);
    cpu_text_put(&path, "::");
  }
  const char *inner = cpu_tokens_own(&in->program->tokens, path.at);
  if (open < last && cpu_token_is(&in->at[open], "{")) return region_walk(in, i, open, scope, inner);
  item_add(in, CPU_ITEM_TEXT, i, open + 1, scope);
  return open + 1;
}

static int declaration_walk(walk *in, int i, int last, const char *scope) {
  cpu_declaration found = cpu_declaration_read(in->tokens, i, last);
  if (found.is_instance) /* the CPU device instantiates by name */
    item_add(in, CPU_ITEM_HOST, i, found.last, scope);
  else if (found.open >= 0 && !cpu_token_is(&in->at[i], "typedef")) /* typedef int (*op)(int); has parentheses too */
    function_item(in, &found, scope);
  else
    other_item(in, &found, scope);
  return found.last;
}

static int step(walk *in, int i, int last, const char *scope) {
  const cpu_token *at = in->at;
  if (at[i].kind == CPU_CHUNK || at[i].kind == CPU_PRAGMA || cpu_token_is(&at[i], ";") || at[i].match >= 0) {
    int end = at[i].match > i ? at[i].match + 1 : i + 1;
    item_add(in, CPU_ITEM_TEXT, i, end, scope);
    return end;
  }
  if (cpu_token_is(&at[i], "namespace") || (cpu_token_is(&at[i], "inline") && cpu_token_is(&at[i + 1], "namespace")))
    return namespace_walk(in, i, last, scope);
  if (cpu_token_is(&at[i], "extern") && i + 2 < last && at[i + 1].kind == CPU_STRING && cpu_token_is(&at[i + 2], "{"))
    return region_walk(in, i, i + 2, scope, scope);
  return declaration_walk(in, i, last, scope);
}

static void scope_walk(walk *in, int first, int last, const char *scope) {
  for (int i = first; i < last;) i = step(in, i, last, scope);
}

void cpu_declarations_read(cpu_program *program) {
  walk in = {program, &program->tokens, program->tokens.at};
  scope_walk(&in, 0, program->tokens.count, "");
}
