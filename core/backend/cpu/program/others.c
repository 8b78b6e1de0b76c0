/* SPDX-License-Identifier: MIT
 *
 * Volatile names, and what expressions and functions do to memory that others write. */
#include "core/backend/cpu/program/others.h"

#include <string.h>

/* A read past the caches, or of what is volatile by its type. */
static bool is_plain_read(const cpu_token *token) {
  return cpu_token_is(token, "volatile") || cpu_is_builtin(token, CPU_FRESH);
}

/* ---- what there is to read ------------------------------------------------------------------------------------- */

/* Of what has no tree one is made. */
static void code_add(cpu_others *in, const cpu_function *like, int owner) {
  in->codes = mw_realloc(in->codes, (size_t)(in->ncodes + 1) * sizeof *in->codes);
  cpu_code *it = &in->codes[in->ncodes++];
  *it = (cpu_code){.function = *like, .owner = owner};
  if (like->tree) return;
  cpu_binder binder = {in->program, &it->function};
  it->function.tree = mw_calloc(1, sizeof *it->function.tree);
  mw_body_read(it->function.tree, &in->program->tokens, like->body + 1, like->last - 1,
               &(mw_names){cpu_binder_meaning, &binder});
}

/* Of a declaration outside of functions: its words, and the signs that end before the name. */
static void declared_read(cpu_others *in, int first, int last, int name) {
  const cpu_tokens *tokens = &in->program->tokens;
  cpu_binder binder = {in->program, NULL};
  mw_type type = mw_type_read(tokens, first, last, &(mw_names){cpu_binder_meaning, &binder});
  if (type.volatiles || cpu_find(tokens, last, name, WORDS("volatile")) < name)
    cpu_name_find(in->program, &in->at[name])->is_volatile = true;
}

static void members_read(cpu_others *in, const cpu_declaration *member) {
  const cpu_declarators list = cpu_declarators_read(&in->program->tokens, member->begin, member->last - 1);
  for (const cpu_declarator *it = list.at; it < list.at + list.count; it++)
    declared_read(in, it->spec, it->spec_last, it->name);
}

/* Of a class whose { is at `open`, with what is in it. */
static void class_read(cpu_others *in, const cpu_function *class, int owner, int open) {
  const cpu_tokens *tokens = &in->program->tokens;
  cpu_declaration it;
  for (int i = open + 1; i < in->at[open].match; i = it.last) {
    it = cpu_declaration_read(tokens, i, in->at[open].match);
    cpu_function method = {.name = it.name, .head_first = class->head_first, .head_last = class->head_last};
    method.body = it.body, method.last = it.last;
    if (it.body >= 0 && it.open < 0) class_read(in, class, owner, it.body);
    if (it.open < 0) members_read(in, &it);
    if (it.open < 0 || it.body < 0 || owner < 0) continue;
    method.nformals = cpu_formals_read(tokens, it.open, it.close, &method.formals);
    code_add(in, &method, owner);
  }
}

/* Braces that are not understood, and those of classes. */
static void rest_read(cpu_others *in, int code) {
  const cpu_function like = in->codes[code].function;
  const mw_body *tree = like.tree;
  for (int i = 0; i < tree->nstatements; i++) in->taken[tree->statements[i].first] = true;
  for (int i = 1; i < tree->nexprs; i++) in->taken[tree->exprs[i].op] |= tree->exprs[i].kind != MW_EXPR_UNKNOWN;
  for (int i = tree->first; i < tree->last; i++) {
    if (!cpu_token_is(&in->at[i], "{") || in->taken[i]) continue;
    const int begin = cpu_begin_after(&in->program->tokens, tree->first, i, WORDS(";", "{", "}"));
    cpu_function block = {.name = -1, .head_first = like.head_first, .head_last = like.head_last};
    block.body = i, block.last = in->at[i].match + 1;
    if (cpu_class_braces(&in->program->tokens, begin, i + 1) == i)
      class_read(in, &like, in->codes[code].owner, i);
    else
      code_add(in, &block, in->codes[code].owner);
    i = in->at[i].match;
  }
}

/* Variables, and classes that only a typedef gives a name. */
static void outside_read(cpu_others *in) {
  const cpu_program *program = in->program;
  for (const cpu_named *it = program->globals.at; it < program->globals.at + program->globals.count; it++)
    declared_read(in, it->first, it->last, it->name);
  for (const cpu_item *it = program->items; it < program->items + program->nitems; it++) {
    const int open = it->kind == CPU_ITEM_TEXT ? cpu_class_braces(&program->tokens, it->first, it->last) : 0;
    if (open) class_read(in, &(cpu_function){0}, -1, open);
  }
}

static void codes_read(cpu_others *in) {
  for (int i = 0; i < in->program->nfunctions; i++) {
    const cpu_function *it = &in->program->functions[i];
    if (it->body >= 0 && it->is_class) class_read(in, it, i, it->body);
    if (it->body < 0 || it->is_class) continue;
    cpu_function_tree(in->program, it);
    code_add(in, it, i);
  }
  for (int i = 0; i < in->ncodes; i++) rest_read(in, i);
}

/* ---- volatile names -------------------------------------------------------------------------------------------- */

static bool is_volatile(const cpu_others *in, const cpu_code *code, int i) {
  cpu_binder binder = {in->program, &code->function};
  const mw_body *tree = code->function.tree;
  const int own = tree->bound[i - tree->first];
  if (own) return tree->declared[own].type.volatiles;
  const mw_meaning found = cpu_binder_meaning(&binder, &in->at[i]);
  const bool open = cpu_is_member(&in->program->tokens, i) || found.binding == MW_NAME_UNKNOWN;
  return found.type.volatiles || (open && cpu_name_find(in->program, &in->at[i])->is_volatile);
}

/* Wherever it stands: what is not volatile may be taken for it, and then waits by fibers. */
static void volatiles_read(cpu_others *in) {
  for (const cpu_code *it = in->codes; it < in->codes + in->ncodes; it++)
    for (int i = it->function.body + 1; i < it->function.last - 1; i++)
      in->fresh[i] |= in->at[i].kind == CPU_NAME && is_volatile(in, it, i);
}

/* ---- atomics --------------------------------------------------------------------------------------------------- */

bool cpu_is_atomic(const cpu_others *in, int i) {
  const cpu_token *at = &in->at[i];
  if (at->kind != CPU_NAME || !cpu_token_is(at + 1, "(")) return false;
  const int prefix = at->size > 5 && !memcmp(at->text, "__nv_", 5) ? 5 : at->size > 9 && at->text[0] == '_' ? 2 : 0;
  return at->size > prefix + 6 && !memcmp(at->text + prefix, "atomic", 6) &&
         !cpu_token_any(at, WORDS("__atomic_store_n", "__atomic_thread_fence", "__atomic_signal_fence"));
}

static bool has_text(const cpu_token *token, const char *text) {
  return memmem(token->text, (size_t)token->size, text, strlen(text)) != NULL;
}

bool cpu_atomic_loads(const cpu_others *in, int i) {
  return has_text(&in->at[i], "load") || has_text(&in->at[i], "Load");
}

/* 0, 0u, 0x0, 0.0f, (unsigned)0, and mw_register<unsigned>(0) of inline PTX */
static bool is_zero(const cpu_token *at, const cpu_range *value) {
  const bool cast = cpu_token_is(&at[value->first], "(") && at[value->first].match == value->last - 2;
  const bool kept = cpu_token_is(&at[value->first], "mw_register") && at[value->last - 1].match == value->last - 3;
  const cpu_token *token = &at[kept ? value->last - 2 : value->last - 1];
  if (value->last - value->first != 1 && !cast && !kept) return false;
  return token->kind == CPU_NUMBER && strspn(token->text, "0.xXuUlLfF") >= (size_t)token->size;
}

/* atomicAdd(&x, 0) reads; atomicAdd(&x, 1) makes its own way. */
bool cpu_atomic_acts(const cpu_others *in, int i) {
  static const char *const steps[] = {"Add", "Sub", "Inc", "Dec", "_add", "_sub", NULL};
  cpu_range arguments[8];
  bool step = false;
  for (int k = 0; steps[k]; k++) step |= has_text(&in->at[i], steps[k]);
  return step && !(cpu_arguments(&in->program->tokens, i + 1, arguments, 8) > 1 && is_zero(in->at, &arguments[1]));
}

/* ---- what is called -------------------------------------------------------------------------------------------- */

static cpu_effects both(cpu_effects a, cpu_effects b) {
  return (cpu_effects){a.reads || b.reads, a.acts || b.acts};
}

static cpu_effects of_token(const cpu_others *in, int i) {
  if (in->at[i].kind != CPU_NAME) return (cpu_effects){0};
  if (cpu_is_atomic(in, i)) return (cpu_effects){!cpu_atomic_acts(in, i), cpu_atomic_acts(in, i)};
  return (cpu_effects){.reads = is_plain_read(&in->at[i]) || in->fresh[i]};
}

static cpu_effects of_code(cpu_others *in, cpu_code *it) {
  if (it->known || it->function.kernel) return it->effects;
  it->known = true; /* a function that calls itself adds nothing */
  it->effects = cpu_effects_of(in, it, it->function.body, it->function.last);
  return it->effects;
}

/* auto f = [&] { ... }; before its call */
static cpu_effects of_lambda(cpu_others *in, const cpu_code *code, int call) {
  const mw_body *tree = code->function.tree;
  const mw_expr *init = &tree->exprs[tree->declared[tree->bound[call - tree->first]].init];
  if (init->kind != MW_EXPR_LAMBDA || init->last > call) return (cpu_effects){0};
  return cpu_effects_of(in, code, init->op, init->last);
}

static cpu_effects of_call(cpu_others *in, const cpu_code *code, int i) {
  cpu_effects found = of_lambda(in, code, i);
  for (int k = 0; k < in->ncodes; k++)
    if (cpu_function_named(in->program, &in->codes[k].function, &in->at[i]))
      found = both(found, of_code(in, &in->codes[k]));
  return found;
}

cpu_effects cpu_effects_of(cpu_others *in, const cpu_code *code, int first, int last) {
  cpu_effects found = {0};
  for (int i = first; i < last; i++) {
    if (in->at[i].kind != CPU_NAME) continue;
    cpu_effects one = of_token(in, i);
    if (!one.reads && !one.acts && cpu_call_open(&in->program->tokens, i) >= 0) one = of_call(in, code, i);
    found = both(found, one);
  }
  return found;
}

/* ---- lifetime -------------------------------------------------------------------------------------------------- */

bool cpu_others_find(cpu_others *in, cpu_program *program) {
  const int count = program->tokens.count;
  *in = (cpu_others){.program = program, .at = program->tokens.at};
  bool any = false;
  for (int i = 0; i < count && !any; i++)
    any = cpu_is_atomic(in, i) || cpu_is_builtin(&in->at[i], CPU_FENCE) || is_plain_read(&in->at[i]);
  if (!any) return false;
  in->fresh = mw_calloc((size_t)count + 1, sizeof *in->fresh);
  in->taken = mw_calloc((size_t)count + 1, sizeof *in->taken);
  outside_read(in);
  codes_read(in);
  volatiles_read(in);
  return true;
}

void cpu_others_free(cpu_others *in) {
  for (cpu_code *it = in->codes; it < in->codes + in->ncodes; it++) {
    if (it->function.tree == in->program->functions[it->owner].tree) continue;
    mw_body_free(it->function.tree);
    mw_free(it->function.tree);
    mw_free(it->function.formals);
  }
  mw_free(in->codes);
  mw_free(in->fresh);
  mw_free(in->taken);
}
