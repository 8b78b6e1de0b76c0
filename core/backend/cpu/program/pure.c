/* SPDX-License-Identifier: MIT
 *
 * Functions without side effects: int up(int a, int b) { return (a + b - 1) / b; }. For the same arguments they give
 * every thread the same, so that a bound that calls one is computed once for all threads. Whatever is not understood
 * counts as an effect. */
#include "core/backend/cpu/program/program.h"

enum { MOST_CALLS = 8 };

static bool is_pure(const cpu_program *program, const cpu_function *function, int depth);

/* A parameter, or declared in the body: `int k = 0`, `float *p`, a name behind the words of a type. */
static bool is_own(const cpu_program *program, const cpu_function *function, int i) {
  const cpu_token *at = program->tokens.at;
  if (cpu_is_formal(program, function, &at[i])) return true;
  if (cpu_name_find(program, &at[i])->global >= 0) return false; /* in another block it may be that */
  for (int k = function->body + 1; (k = cpu_find_same(&program->tokens, k, i + 1, &at[i])) <= i; k++) {
    const cpu_token *type = &at[k - 1 - cpu_token_is(&at[k - 1], "*")];
    if (type->kind == CPU_NAME &&
        cpu_type_knows(program, function, &program->tokens, (int)(type - at), (int)(type - at) + 1))
      return true;
  }
  return false;
}

/* Template parameters count where they are deduced from arguments, whose types are known. */
static bool type_allows(const cpu_program *program, const cpu_function *function, int first, int last) {
  const cpu_knowledge type = cpu_type_knows(program, function, &program->tokens, first, last);
  for (int i = first; type == CPU_ASKED && i < last; i++)
    if (cpu_type_knows(program, function, &program->tokens, i, i + 1) == CPU_ASKED &&
        cpu_find_same(&program->tokens, function->open, function->close, &program->tokens.at[i]) == function->close)
      return false;
  return type != CPU_UNKNOWN;
}

/* Parameters by value, and pointers through which nothing is written. */
static bool formals_allow(const cpu_program *program, const cpu_function *function) {
  for (int i = 0; i < function->nformals; i++) {
    const cpu_formal *formal = &function->formals[i];
    if ((formal->far || formal->reference) && !cpu_token_is(&program->tokens.at[formal->first], "const")) return false;
    if (!type_allows(program, function, formal->first, formal->type_last)) return false;
  }
  return true;
}

static bool call_allows(const cpu_program *program, const cpu_token *name, int depth) {
  int k = -1, found = 0;
  while ((k = cpu_function_next(program, name, k)) >= 0) {
    if (!is_pure(program, &program->functions[k], depth + 1)) return false;
    found++;
  }
  return found || cpu_token_is(name, "sizeof") || cpu_is_builtin(name, CPU_PURE);
}

/* At an assignment: does it change a variable of the function's own, a plain name? */
static bool change_allows(const cpu_program *program, const cpu_function *function, int i) {
  const cpu_token *at = program->tokens.at;
  const int name = at[i - 1].kind == CPU_NAME ? i - 1 : i + 1; /* k++, k = 1; ++k */
  if (at[name].kind != CPU_NAME || cpu_is_member(&program->tokens, name)) return false;
  const bool through = cpu_token_is(&at[name - 1], "*") && !cpu_ends_operand(&at[name - 2]);
  return !through && is_own(program, function, name);
}

/* Blocks, but no lists; calls of names, but of nothing else. */
static bool sign_allows(const cpu_program *program, const cpu_function *function, int i) {
  const char *const *const others = WORDS("::", "->", "...", ".*", "->*", "[[", "#");
  const cpu_token *at = program->tokens.at;
  if (cpu_is_assignment(&at[i])) return change_allows(program, function, i);
  if (cpu_token_is(&at[i], "&") || cpu_token_is(&at[i], "["))
    return cpu_ends_operand(&at[i - 1]); /* an address, a lambda */
  if (cpu_token_is(&at[i], "{")) return cpu_token_any(&at[i - 1], WORDS(")", ";", "{", "}", "else", "do"));
  if (cpu_token_is(&at[i], "(") && cpu_token_any(&at[i - 1], WORDS(")", "]")))
    return cpu_token_is(&at[i - 1], ")") && type_allows(program, function, at[i - 1].match + 1, i - 1);
  return !cpu_token_any(&at[i], others);
}

static bool name_allows(const cpu_program *program, const cpu_function *function, int i, int depth) {
  const char *const *const words = WORDS("if", "else", "for", "while", "do", "switch", "case", "default", "break",
                                         "continue", "return", "true", "false", "warpSize", "static_cast", "decltype");
  const cpu_token *at = program->tokens.at;
  if (cpu_token_any(&at[i], words)) return true;
  if (cpu_token_any(&at[i], WORDS("static", "volatile", "__shared__"))) return false;
  if (cpu_is_builtin(&at[i], CPU_OF_BLOCK)) return cpu_token_is(&at[i + 1], ".");
  if (cpu_is_member(&program->tokens, i)) return cpu_call_open(&program->tokens, i) < 0;
  if (type_allows(program, function, i, i + 1)) return true;
  if (cpu_call_open(&program->tokens, i) >= 0) return call_allows(program, &at[i], depth);
  const cpu_named *global = cpu_global_find(program, &at[i]);
  return is_own(program, function, i) ||
         (global && cpu_type_knows(program, function, &program->tokens, global->first, global->last) >= CPU_KNOWN);
}

static bool is_pure(const cpu_program *program, const cpu_function *function, int depth) {
  const cpu_token *at = program->tokens.at;
  if (function->is_class || function->kernel || function->body < 0 || function->recursive || depth > MOST_CALLS ||
      function->barrier >= 0 || function->wait >= 0 || function->reaches_thread || !formals_allow(program, function))
    return false;
  for (int i = function->first; i < function->name; i++) /* the type of the result */
    if (!cpu_token_any(&at[i], WORDS("__host__", "__forceinline__", "__noinline__")) &&
        !type_allows(program, function, i, i + 1) && !cpu_token_is(&at[i], "*"))
      return false;
  for (int i = function->body + 1; i < function->last - 1; i++)
    if (at[i].kind == CPU_NUMBER ? !cpu_is_plain_number(&at[i])
        : at[i].kind == CPU_NAME
            ? !name_allows(program, function, i, depth)
            : at[i].kind != CPU_PRAGMA && !(at[i].kind == CPU_PUNCT && sign_allows(program, function, i)))
      return false;
  return true;
}

bool cpu_function_is_pure(const cpu_program *program, const cpu_function *function) {
  return is_pure(program, function, 0);
}
