/* SPDX-License-Identifier: MIT
 *
 * The declarations of a .cu source: walks namespaces, tells functions from variables, classes and host code, and
 * leaves one item for each in program->items. No C++ front end: it knows what a declaration looks like from outside,
 * and passes on what it does not know. */
#include "core/backend/cpu/translate/translate.h"

#include <stdlib.h>
#include <string.h>

#include "core/backend/backend.h"

typedef struct walk {
  cpu_program *program;
  const cpu_token *at;
  int head_first, head_last; /* the template header in front of the declaration being read */
} walk;

static const char *const attribute_words[] = {"__attribute__",     "__attribute", "__launch_bounds__", "__align__",
                                              "__builtin_align__", "alignas",     "decltype",          "__declspec",
                                              "noexcept",          "__maxnreg__", "__cluster_dims__",  "__block_size__",
                                              "explicit",          NULL};

const char *cpu_program_string(cpu_program *program, char *text) {
  program->strings = mw_realloc(program->strings, (size_t)(program->nstrings + 1) * sizeof *program->strings);
  return program->strings[program->nstrings++] = text;
}

static cpu_item *item_add(walk *in, cpu_item_kind kind, int first, int last, const char *scope) {
  cpu_program *program = in->program;
  program->items = mw_realloc(program->items, (size_t)(program->nitems + 1) * sizeof *program->items);
  cpu_item *item = &program->items[program->nitems++];
  *item = (cpu_item){.kind = kind, .first = first, .last = last, .function = -1, .scope = scope};
  return item;
}

static cpu_function *function_add(walk *in, int first, int last, const char *scope) {
  cpu_program *program = in->program;
  size_t count = (size_t)program->nfunctions + 1;
  program->functions = mw_realloc(program->functions, count * sizeof *program->functions);
  cpu_function *function = &program->functions[program->nfunctions];
  *function = (cpu_function){.first = first, .last = last, .body = -1, .name = -1, .open = -1, .close = -1};
  function->barrier = function->own_barrier = function->wait = -1;
  function->max_threads = 1024;
  function->scope = scope;
  function->head_first = in->head_first;
  function->head_last = in->head_last;
  function->is_template = in->head_last > in->head_first;
  item_add(in, CPU_ITEM_FUNCTION, function->is_template ? in->head_first : first, last, scope)->function =
      program->nfunctions;
  function->item = program->nitems - 1;
  program->nfunctions++;
  return function;
}

/* ---- one declaration ------------------------------------------------------------------------------------------- */

typedef struct shape {          /* of a declaration that begins at first */
  int first, name, open, close; /* open: ( of the parameters, -1: no function */
  int body, last;
  bool global, device, variable, shared, constant, is_const, is_extern, constexpr_, class_;
} shape;

static void word_note(shape *out, const cpu_token *token) {
  out->global |= cpu_token_is(token, "__global__");
  out->device |= cpu_token_is(token, "__device__");
  out->variable |= cpu_token_is(token, "__constant__") || cpu_token_is(token, "__managed__");
  out->constant |= cpu_token_is(token, "__constant__");
  out->shared |= cpu_token_is(token, "__shared__");
  out->is_const |= cpu_token_is(token, "const") || cpu_token_is(token, "constexpr");
  out->constexpr_ |= cpu_token_is(token, "constexpr");
  out->is_extern |= cpu_token_is(token, "extern");
}

/* After the ) of parameters: the { of a body, or the ; of a prototype; -1: this is no function. */
static int function_tail(const cpu_token *at, int i, int end) {
  for (; i < end; i++) {
    if (cpu_token_is(&at[i], "{") || cpu_token_is(&at[i], ";")) return i;
    if (cpu_token_is(&at[i], "->")) continue;
    if (at[i].match > i) {
      i = at[i].match;
      continue;
    }
    if (cpu_token_is(&at[i], "=") || cpu_token_is(&at[i], ",")) return -1;
  }
  return -1;
}

static int declaration_end(const cpu_token *at, int i, int end) {
  for (; i < end && !cpu_token_is(&at[i], ";"); i++)
    if (at[i].match > i) i = at[i].match;
  return i < end ? i + 1 : end;
}

/* The name in front of the parameters at `open`: also operator+ and the like. */
static int function_name(const cpu_token *at, int open, int first) {
  for (int i = open - 1; i >= first && i > open - 5; i--)
    if (cpu_token_is(&at[i], "operator")) return i;
  int i = open - 1;
  if (i >= first && cpu_token_is(&at[i], ">")) { /* f<int>(...): an explicit specialisation */
    for (int depth = 0; i >= first; i--) {
      depth += cpu_token_is(&at[i], ">") - cpu_token_is(&at[i], "<");
      if (!depth) break;
    }
    i--;
  }
  return i >= first && at[i].kind == CPU_NAME ? i : -1;
}

/* At an opening parenthesis: parameters, an attribute's arguments, or neither. Returns where to go on; -1: stop. */
static int parenthesis_read(walk *in, shape *out, int i, int end) {
  const cpu_token *at = in->at;
  if (i > out->first && cpu_token_any(&at[i - 1], attribute_words)) return at[i].match;
  int name = function_name(at, i, out->first), tail = name < 0 ? -1 : function_tail(at, at[i].match + 1, end);
  if (tail < 0) return -1;
  out->name = name;
  out->open = i;
  out->close = at[i].match;
  out->body = cpu_token_is(&at[tail], "{") ? tail : -1;
  out->last = out->body >= 0 ? at[tail].match + 1 : tail + 1;
  return -1;
}

static shape declaration_shape(walk *in, int first, int end) {
  const cpu_token *at = in->at;
  shape out = {.first = first, .name = -1, .open = -1, .close = -1, .body = -1};
  static const char *const stops[] = {"=", "[", ";", "{", NULL};
  static const char *const classes[] = {"struct", "class", "union", "enum", NULL};
  for (int i = first; i < end; i++) {
    word_note(&out, &at[i]);
    if (at[i].kind == CPU_NAME && cpu_token_any(&at[i], classes)) out.class_ = true;
    if (cpu_token_is(&at[i], "operator")) { /* operator() and operator< */
      while (i + 1 < end && (!cpu_token_is(&at[i + 1], "(") || cpu_token_is(&at[i], "operator")))
        i += cpu_token_is(&at[i + 1], "(") ? 2 : 1;
      continue;
    }
    if (cpu_token_is(&at[i], "[") && i + 1 < end && cpu_token_is(&at[i + 1], "[")) {
      i = at[i].match; /* [[attribute]] */
      continue;
    }
    if (cpu_token_any(&at[i], stops)) break;
    if (cpu_token_is(&at[i], "<")) {
      i = cpu_angle_end(&in->program->tokens, i, end) - 1;
      continue;
    }
    if (!cpu_token_is(&at[i], "(")) continue;
    int next = parenthesis_read(in, &out, i, end);
    if (next < 0) break;
    i = next;
  }
  if (out.open < 0) out.last = declaration_end(at, first, end);
  return out;
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

static int formal_name(const cpu_token *at, int first, int last) {
  int name = -1, words = 0;
  for (int i = first; i < last; i++) {
    if (cpu_token_is(&at[i], "[")) break;
    if (at[i].match > i && cpu_token_is(&at[i], "(") && i + 1 < last && cpu_token_is(&at[i + 1], "*")) {
      for (int k = i + 2; k < at[i].match; k++)
        if (at[k].kind == CPU_NAME) return k; /* float (*name)[4] */
    }
    if (at[i].kind != CPU_NAME || cpu_token_is(&at[i], "const") || cpu_token_is(&at[i], "__restrict__") ||
        cpu_token_is(&at[i], "__restrict"))
      continue;
    words++, name = i;
  }
  static const char *const types[] = {"int",  "float", "double", "unsigned", "char", "short",
                                      "long", "bool",  "signed", "void",     NULL};
  if (name >= 0 && cpu_token_any(&at[name], types)) return -1;
  return words > 1 ? name : -1;
}

static void formal_add(cpu_function *function, const cpu_tokens *tokens, int first, int last) {
  const cpu_token *at = tokens->at;
  if (first >= last || (last == first + 1 && cpu_token_is(&at[first], "void"))) return;
  int stop = first;
  while (stop < last && !cpu_token_is(&at[stop], "=")) stop++;
  size_t count = (size_t)function->nformals + 1;
  function->formals = mw_realloc(function->formals, count * sizeof *function->formals);
  function->formals[function->nformals++] = (cpu_formal){first, stop, formal_name(at, first, stop)};
}

static void formals_read(cpu_function *function, const cpu_tokens *tokens) {
  int first = function->open + 1;
  for (int i = first; i < function->close; i++) {
    if (tokens->at[i].match > i)
      i = tokens->at[i].match;
    else if (cpu_token_is(&tokens->at[i], "<"))
      i = cpu_angle_end(tokens, i, function->close) - 1;
    else if (cpu_token_is(&tokens->at[i], ",")) {
      formal_add(function, tokens, first, i);
      first = i + 1;
    }
  }
  formal_add(function, tokens, first, function->close);
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

static void function_read(walk *in, const shape *found, const char *scope) {
  cpu_function *function = function_add(in, found->first, found->last, scope);
  function->name = found->name;
  function->kernel = found->global;
  function->open = found->open;
  function->close = found->close;
  function->body = found->body;
  function->special = function->is_template && function->head_last - function->head_first == 3;
  if (function->special) function->is_template = false;
  formals_read(function, &in->program->tokens);
  bounds_read(function, in->at);
}

/* Host functions stay where device code may use them: constexpr ones, and templates. */
static void function_item(walk *in, const shape *found, const char *scope) {
  bool template = in->head_last > in->head_first;
  if (found->global || found->device || found->constexpr_)
    function_read(in, found, scope);
  else
    item_add(in, CPU_ITEM_HOST, template ? in->head_first : found->first, found->last, scope);
}

/* ---- variables and classes ------------------------------------------------------------------------------------- */

static void variable_add(cpu_program *program, int name, const shape *found, const char *scope) {
  size_t count = (size_t)program->nvariables + 1;
  program->variables = mw_realloc(program->variables, count * sizeof *program->variables);
  program->variables[program->nvariables++] = (cpu_variable){name, scope, found->constant || found->is_const};
}

/* a, b[4] = {...}: the last name in front of [ = { , or ; is what is declared. */
static void variables_read(walk *in, const shape *found, const char *scope) {
  const cpu_token *at = in->at;
  int name = -1;
  bool open = true;
  for (int i = found->first; i < found->last; i++) {
    bool ends = cpu_token_is(&at[i], ",") || cpu_token_is(&at[i], ";");
    if (ends || cpu_token_is(&at[i], "=") || cpu_token_is(&at[i], "[") || cpu_token_is(&at[i], "{")) {
      if (open && name >= 0) variable_add(in->program, name, found, scope);
      open = ends;
      name = -1;
    } else if (cpu_token_is(&at[i], "<"))
      i = cpu_angle_end(&in->program->tokens, i, found->last) - 1;
    else if (open && at[i].kind == CPU_NAME)
      name = i;
    if (at[i].match > i) i = at[i].match;
  }
}

static void class_item(walk *in, const shape *found, const char *scope) {
  cpu_function *function = function_add(in, found->first, found->last, scope);
  function->is_class = true;
  for (int i = found->first; i < found->last; i++) {
    if (cpu_token_is(&in->at[i], "{")) {
      function->body = i;
      break;
    }
    if (cpu_token_is(&in->at[i], ":")) break;
    if (in->at[i].kind == CPU_NAME && i > found->first) function->name = i;
  }
  for (int i = found->first; function->body < 0 && i < found->last; i++)
    if (cpu_token_is(&in->at[i], "{")) function->body = i;
}

static void other_item(walk *in, const shape *found, const char *scope) {
  static const char *const passed[] = {"using", "typedef", "static_assert", "friend", NULL};
  int first = in->head_last > in->head_first ? in->head_first : found->first;
  if (found->shared)
    item_add(in, CPU_ITEM_SHARED, first, found->last, scope);
  else if (found->device || found->variable) {
    item_add(in, CPU_ITEM_VARIABLE, first, found->last, scope);
    if (in->head_last == in->head_first && !found->is_extern) variables_read(in, found, scope);
  } else if (cpu_token_any(&in->at[found->first], passed))
    item_add(in, CPU_ITEM_TEXT, first, found->last, scope);
  else if (found->class_)
    class_item(in, found, scope);
  else
    item_add(in, found->is_const ? CPU_ITEM_TEXT : CPU_ITEM_HOST, first, found->last, scope);
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
  while (open < last && !cpu_token_is(&in->at[open], "{") && !cpu_token_is(&in->at[open], ";")) {
    const cpu_token *token = &in->at[open++];
    if (cpu_token_is(token, "=")) inlined = true; /* an alias */
    if (token->kind != CPU_NAME || cpu_token_is(token, "namespace") || inlined) continue;
    cpu_text_add(&path, token->text, (size_t)token->size);
    cpu_text_put(&path, "::");
  }
  const char *inner = cpu_program_string(in->program, path.at ? path.at : mw_strdup(""));
  if (open < last && cpu_token_is(&in->at[open], "{")) return region_walk(in, i, open, scope, inner);
  item_add(in, CPU_ITEM_TEXT, i, open + 1, scope);
  return open + 1;
}

static int template_head(walk *in, int i, int last) {
  in->head_first = i;
  int end = cpu_angle_end(&in->program->tokens, i + 1, last);
  in->head_last = end;
  return end;
}

/* template __global__ void k<float>(...); instantiates explicitly: the CPU device instantiates by name. */
static bool is_instantiation(walk *in, int i, int last) {
  return cpu_token_is(&in->at[i], "template") && i + 1 < last && !cpu_token_is(&in->at[i + 1], "<");
}

static int declaration_walk(walk *in, int i, int last, const char *scope) {
  shape found = declaration_shape(in, i, last);
  if (found.open >= 0 && !cpu_token_is(&in->at[i], "typedef")) /* typedef int (*op)(int); has parentheses too */
    function_item(in, &found, scope);
  else
    other_item(in, &found, scope);
  in->head_first = in->head_last = 0;
  return found.last;
}

static int step(walk *in, int i, int last, const char *scope) {
  const cpu_token *at = in->at;
  if (at[i].kind == CPU_CHUNK || at[i].kind == CPU_PRAGMA || cpu_token_is(&at[i], ";") || at[i].match >= 0) {
    int end = at[i].match > i ? at[i].match + 1 : i + 1;
    item_add(in, CPU_ITEM_TEXT, i, end, scope);
    return end;
  }
  if (is_instantiation(in, i, last)) {
    int end = declaration_end(at, i, last);
    item_add(in, CPU_ITEM_HOST, i, end, scope);
    return end;
  }
  if (cpu_token_is(&at[i], "template")) return template_head(in, i, last);
  if (cpu_token_is(&at[i], "namespace") ||
      (cpu_token_is(&at[i], "inline") && i + 1 < last && cpu_token_is(&at[i + 1], "namespace")))
    return namespace_walk(in, i, last, scope);
  if (cpu_token_is(&at[i], "extern") && i + 2 < last && at[i + 1].kind == CPU_STRING && cpu_token_is(&at[i + 2], "{"))
    return region_walk(in, i, i + 2, scope, scope);
  return declaration_walk(in, i, last, scope);
}

static void scope_walk(walk *in, int first, int last, const char *scope) {
  for (int i = first; i < last;) i = step(in, i, last, scope);
}

void cpu_declarations_read(cpu_program *program) {
  walk in = {.program = program, .at = program->tokens.at};
  scope_walk(&in, 0, program->tokens.count, "");
}
