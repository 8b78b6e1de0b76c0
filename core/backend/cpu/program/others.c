/* SPDX-License-Identifier: MIT
 *
 * Volatile names, and what expressions and functions do to memory that others write. */
#include "core/backend/cpu/program/others.h"

#include <string.h>

/* A read past the caches, or of what is volatile by its type. */
static bool is_plain_read(const mw_token *token) {
  return mw_token_is(token, "volatile") || mw_is_builtin(token, MW_CUDA_FRESH);
}

/* ---- volatile names -------------------------------------------------------------------------------------------- */

/* Of a declaration outside of functions: its words, and the signs that end before the name. */
static void declared_read(cpu_others *in, int first, int last, int name) {
  const mw_tokens *tokens = &in->program->tokens;
  cpu_binder binder = {in->program, NULL};
  mw_type type = mw_type_read(tokens, first, last, &(mw_names){cpu_binder_meaning, &binder, false});
  if (type.volatiles || mw_find(tokens, last, name, WORDS("volatile")) < name)
    cpu_name_find(in->program, &in->at[name])->is_volatile = true;
}

static void members_read(cpu_others *in, int open) {
  mw_declared list[CPU_MOST_DECLARED];
  mw_declaration it;
  for (int i = open + 1; i < in->at[open].match; i = it.last) {
    it = mw_declaration_read(&in->program->tokens, i, in->at[open].match);
    if (it.open >= 0) continue;
    const int count = mw_declared_read(&in->program->tokens, it.begin, it.last - 1, NULL, list, CPU_MOST_DECLARED);
    for (int k = 0; k < count; k++) declared_read(in, list[k].spec, list[k].spec_last, list[k].name);
  }
}

/* Variables outside of functions, and members. */
static void declarations_read(cpu_others *in) {
  const cpu_program *program = in->program;
  for (const cpu_named *it = program->globals.at; it < program->globals.at + program->globals.count; it++)
    declared_read(in, it->first, it->last, it->name);
  for (int i = 0; i < in->routines->nclasses; i++) members_read(in, in->routines->classes[i]);
}

static bool is_volatile(const cpu_others *in, const cpu_routine *code, int i) {
  cpu_binder binder = {in->program, &code->function};
  const mw_body *tree = code->function.tree;
  const int own = tree->bound[i - tree->first];
  if (own) return tree->declared[own].type.volatiles;
  const mw_meaning found = cpu_binder_meaning(&binder, &in->at[i]);
  const bool open = mw_is_member(&in->program->tokens, i) || found.binding == MW_NAME_UNKNOWN;
  return found.type.volatiles || (open && cpu_name_find(in->program, &in->at[i])->is_volatile);
}

/* Wherever it stands: what is not volatile may be taken for it, and then waits by fibers. */
static void volatiles_read(cpu_others *in) {
  for (const cpu_routine *it = in->routines->at; it < in->routines->at + in->routines->count; it++)
    for (int i = it->function.body + 1; i < it->function.last - 1; i++)
      in->fresh[i] |= in->at[i].kind == MW_TOKEN_NAME && is_volatile(in, it, i);
}

/* ---- atomics --------------------------------------------------------------------------------------------------- */

bool cpu_is_atomic(const cpu_others *in, int i) {
  const mw_token *at = &in->at[i];
  if (at->kind != MW_TOKEN_NAME || !mw_token_is(at + 1, "(")) return false;
  const int prefix = at->size > 5 && !memcmp(at->text, "__nv_", 5) ? 5 : at->size > 9 && at->text[0] == '_' ? 2 : 0;
  return at->size > prefix + 6 && !memcmp(at->text + prefix, "atomic", 6) &&
         !mw_token_any(at, WORDS("__atomic_store_n", "__atomic_thread_fence", "__atomic_signal_fence"));
}

static bool has_text(const mw_token *token, const char *text) {
  return memmem(token->text, (size_t)token->size, text, strlen(text)) != NULL;
}

bool cpu_atomic_loads(const cpu_others *in, int i) {
  return has_text(&in->at[i], "load") || has_text(&in->at[i], "Load");
}

/* 0, 0u, 0x0, 0.0f, (unsigned)0, and mw_register<unsigned>(0) of inline PTX */
static bool is_zero(const mw_token *at, const mw_span *value) {
  const bool cast = mw_token_is(&at[value->first], "(") && at[value->first].match == value->last - 2;
  const bool kept = mw_token_is(&at[value->first], "mw_register") && at[value->last - 1].match == value->last - 3;
  const mw_token *token = &at[kept ? value->last - 2 : value->last - 1];
  if (value->last - value->first != 1 && !cast && !kept) return false;
  return token->kind == MW_TOKEN_NUMBER && strspn(token->text, "0.xXuUlLfF") >= (size_t)token->size;
}

/* atomicAdd(&x, 0) reads; atomicAdd(&x, 1) makes its own way. */
bool cpu_atomic_acts(const cpu_others *in, int i) {
  static const char *const steps[] = {"Add", "Sub", "Inc", "Dec", "_add", "_sub", NULL};
  mw_span arguments[8];
  bool step = false;
  for (int k = 0; steps[k]; k++) step |= has_text(&in->at[i], steps[k]);
  return step && !(mw_arguments(&in->program->tokens, i + 1, arguments, 8) > 1 && is_zero(in->at, &arguments[1]));
}

/* ---- what is called -------------------------------------------------------------------------------------------- */

static cpu_effects both(cpu_effects a, cpu_effects b) {
  return (cpu_effects){a.reads || b.reads, a.acts || b.acts};
}

static cpu_effects of_token(const cpu_others *in, int i) {
  if (in->at[i].kind != MW_TOKEN_NAME) return (cpu_effects){0};
  if (cpu_is_atomic(in, i)) return (cpu_effects){!cpu_atomic_acts(in, i), cpu_atomic_acts(in, i)};
  return (cpu_effects){.reads = is_plain_read(&in->at[i]) || in->fresh[i]};
}

static cpu_effects of_routine(cpu_others *in, int i) {
  const cpu_routine *it = &in->routines->at[i];
  if (in->known[i] || it->function.kernel) return in->effects[i];
  in->known[i] = true; /* a function that calls itself adds nothing */
  in->effects[i] = cpu_effects_of(in, it, it->function.body, it->function.last);
  return in->effects[i];
}

/* auto f = [&] { ... }; before its call */
static cpu_effects of_lambda(cpu_others *in, const cpu_routine *code, int call) {
  const mw_body *tree = code->function.tree;
  const mw_expr *init = &tree->exprs[tree->declared[tree->bound[call - tree->first]].init];
  if (init->kind != MW_EXPR_LAMBDA || init->last > call) return (cpu_effects){0};
  return cpu_effects_of(in, code, init->op, init->last);
}

static cpu_effects of_call(cpu_others *in, const cpu_routine *code, int i) {
  cpu_effects found = of_lambda(in, code, i);
  for (int k = 0; k < in->routines->count; k++)
    if (cpu_function_named(in->program, &in->routines->at[k].function, &in->at[i]))
      found = both(found, of_routine(in, k));
  return found;
}

cpu_effects cpu_effects_of(cpu_others *in, const cpu_routine *code, int first, int last) {
  cpu_effects found = {0};
  for (int i = first; i < last; i++) {
    if (in->at[i].kind != MW_TOKEN_NAME) continue;
    cpu_effects one = of_token(in, i);
    if (!one.reads && !one.acts && mw_call_open(&in->program->tokens, i) >= 0) one = of_call(in, code, i);
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
    any = cpu_is_atomic(in, i) || mw_is_builtin(&in->at[i], MW_CUDA_FENCE) || is_plain_read(&in->at[i]);
  if (!any) return false;
  in->fresh = mw_calloc((size_t)count + 1, sizeof *in->fresh);
  in->routines = cpu_routines_of(program);
  in->effects = mw_calloc((size_t)in->routines->count + 1, sizeof *in->effects);
  in->known = mw_calloc((size_t)in->routines->count + 1, sizeof *in->known);
  declarations_read(in);
  volatiles_read(in);
  return true;
}

void cpu_others_free(cpu_others *in) {
  mw_free(in->effects);
  mw_free(in->known);
  mw_free(in->fresh);
}
