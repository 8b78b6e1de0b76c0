/* SPDX-License-Identifier: MIT
 *
 * Volatile names, and what expressions and functions do to memory that others write. */
#include "core/backend/cpu/program/others.h"

#include <string.h>

/* A read past the caches, or of what is volatile by its type. */
static bool is_plain_read(const cpu_token *token) {
  return cpu_token_is(token, "volatile") || cpu_is_builtin(token, CPU_FRESH);
}

bool cpu_declares(const cpu_others *in, int i) {
  const cpu_token *at = in->at;
  int k = i - 1;
  while (k > 0 && cpu_token_any(&at[k], WORDS("*", "&", "const", "__restrict__", "volatile"))) k--;
  if (k < 1 || at[k].kind != CPU_NAME) return k > 0 && k < i - 1 && cpu_token_is(&at[k], ">"); /* S<T> *x */
  const char *const *const not_types = WORDS("return", "else", "do", "goto", "case", "new", "typename", "sizeof");
  if (cpu_token_any(&at[k], not_types)) return false;
  return k == i - 1 || cpu_token_any(&at[k - 1], WORDS(";", "{", "}", "::")) ||
         (at[k - 1].kind == CPU_NAME && !cpu_token_any(&at[k - 1], not_types));
}

/* ---- volatile names -------------------------------------------------------------------------------------------- */

/* The name that the declaration with a `volatile` at i declares; -1: it is a cast. */
static int declared_name(const cpu_others *in, int i) {
  if (i > 2 && cpu_token_is(&in->at[i - 1], "=") && cpu_token_is(&in->at[i - 3], "using")) return i - 2;
  for (int k = i + 1; k < in->program->tokens.count; k++) {
    if (cpu_token_any(&in->at[k], WORDS(";", ",", "=", "[", ")", "{", ">")))
      return in->at[k - 1].kind == CPU_NAME && k > i + 2 ? k - 1 : -1;
    if (cpu_token_is(&in->at[k], "<")) k = cpu_angle_end(&in->program->tokens, k, in->program->tokens.count) - 1;
  }
  return -1;
}

/* auto p = (volatile int *)q; also is a pointer to volatile memory. */
static int initialised_name(const cpu_others *in, int i) {
  int k = i - 1;
  while (k > 2 && !cpu_token_any(&in->at[k], WORDS(";", "{", "}", "="))) k--;
  const bool pointer = cpu_token_is(&in->at[k], "=") && cpu_token_any(&in->at[k - 2], WORDS("auto", "*", "&"));
  return pointer && in->at[k - 1].kind == CPU_NAME ? k - 1 : -1;
}

/* Wherever it stands: what is not volatile may be taken for it, and then waits by fibers. */
static void volatile_add(cpu_others *in, int name) {
  in->volatiles = mw_grow(in->volatiles, (size_t)in->nvolatiles, sizeof *in->volatiles);
  in->volatiles[in->nvolatiles++] = name;
}

static bool is_volatile(const cpu_others *in, int i) {
  int k = 0;
  while (k < in->nvolatiles && !cpu_same_text(&in->at[i], &in->at[in->volatiles[k]])) k++;
  return k < in->nvolatiles;
}

/* typedef volatile int flag; flag *f; */
static void by_type(cpu_others *in, int type) {
  for (int i = type + 1; (i = cpu_find_same(&in->program->tokens, i, in->program->tokens.count, &in->at[type])) <
                         in->program->tokens.count;
       i++) {
    int k = i + 1;
    while (cpu_token_any(&in->at[k], WORDS("*", "&", "const", "__restrict__"))) k++;
    if (in->at[k].kind == CPU_NAME) volatile_add(in, k);
  }
}

static void volatiles_read(cpu_others *in) {
  for (int i = 0; i < in->program->tokens.count; i++) {
    if (!cpu_token_is(&in->at[i], "volatile")) continue;
    int name = declared_name(in, i);
    if (name < 0) name = initialised_name(in, i);
    if (name < 0) continue;
    volatile_add(in, name);
    if (name < i || (i > 0 && cpu_token_is(&in->at[i - 1], "typedef"))) by_type(in, name);
  }
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
  return (cpu_effects){.reads = is_plain_read(&in->at[i]) || is_volatile(in, i)};
}

static cpu_effects effects_in(cpu_others *, const cpu_function *, int first, int last);

static cpu_effects of_function(cpu_others *in, int index) {
  const cpu_function *function = &in->program->functions[index];
  if (in->known[index] || function->kernel || function->is_class || function->body < 0) return in->of[index];
  in->known[index] = true; /* a function that calls itself adds nothing */
  in->of[index] = effects_in(in, function, function->body, function->last);
  return in->of[index];
}

/* Without what the method calls: methods may call each other. */
static cpu_effects of_method(cpu_others *in, const cpu_function *holder, const cpu_token *name) {
  cpu_effects found = {0};
  for (int i = holder->body + 1; i < holder->last; i++) {
    if (!cpu_same_text(&in->at[i], name) || !cpu_token_is(&in->at[i + 1], "(") || !cpu_declares(in, i)) continue;
    const int body = cpu_find(&in->program->tokens, in->at[i + 1].match, holder->last, WORDS("{", ";"));
    for (int k = body; body < holder->last && k < in->at[body].match; k++) found = both(found, of_token(in, k));
  }
  return found;
}

/* auto f = [&] { ... }; before its call */
static cpu_effects of_lambda(cpu_others *in, const cpu_function *function, int call) {
  const cpu_token *at = in->at;
  for (int i = call - 1; i > function->body; i--) {
    if (!cpu_same_text(&at[i], &at[call]) || !cpu_token_is(&at[i + 1], "=") || !cpu_token_is(&at[i + 2], "[")) continue;
    const int body = cpu_find(&in->program->tokens, at[i + 2].match, call, WORDS("{"));
    return body < call ? effects_in(in, function, body, at[body].match) : (cpu_effects){0};
  }
  return (cpu_effects){0};
}

static cpu_effects of_call(cpu_others *in, const cpu_function *function, int i) {
  cpu_effects found = of_lambda(in, function, i);
  for (int k = -1; (k = cpu_callee_next(in->program, &in->program->tokens, i, k)) >= 0;) {
    const cpu_function *callee = &in->program->functions[k];
    found = both(found, callee->is_class ? of_method(in, callee, &in->at[i]) : of_function(in, k));
  }
  return found;
}

static cpu_effects effects_in(cpu_others *in, const cpu_function *function, int first, int last) {
  cpu_effects found = {0};
  for (int i = first; i < last; i++) {
    if (in->at[i].kind != CPU_NAME) continue;
    cpu_effects one = of_token(in, i);
    if (!one.reads && !one.acts && cpu_call_open(&in->program->tokens, i) >= 0) one = of_call(in, function, i);
    found = both(found, one);
  }
  return found;
}

cpu_effects cpu_effects_of(cpu_others *in, const cpu_function *function, int first, int last) {
  return effects_in(in, function, first, last);
}

/* ---- lifetime -------------------------------------------------------------------------------------------------- */

bool cpu_others_find(cpu_others *in, cpu_program *program) {
  const int count = program->tokens.count;
  *in = (cpu_others){.program = program, .at = program->tokens.at};
  bool any = false;
  for (int i = 0; i < count && !any; i++)
    any = cpu_is_atomic(in, i) || cpu_is_builtin(&in->at[i], CPU_FENCE) || is_plain_read(&in->at[i]);
  if (!any) return false;
  volatiles_read(in);
  in->of = mw_calloc((size_t)program->nfunctions + 1, sizeof *in->of);
  in->known = mw_calloc((size_t)program->nfunctions + 1, sizeof *in->known);
  return true;
}

void cpu_others_free(cpu_others *in) {
  mw_free(in->volatiles);
  mw_free(in->of);
  mw_free(in->known);
}
