/* SPDX-License-Identifier: MIT
 *
 * Functions without side effects: int up(int a, int b) { return (a + b - 1) / b; }. For the same arguments they give
 * every thread the same, so that a bound that calls one is computed once for all threads. Whatever is not understood
 * counts as an effect. */
#include "core/backend/cpu/program/program.h"

enum { MOST_CALLS = 8 };

static bool is_pure(const cpu_program *program, const cpu_function *function, int depth);

static bool is_formal(const cpu_program *program, const cpu_function *function, const cpu_token *name) {
  for (int i = 0; i < function->nformals; i++) {
    const int formal = function->formals[i].name;
    if (formal >= 0 && cpu_same_text(&program->tokens.at[formal], name)) return true;
  }
  return false;
}

/* A parameter, or declared in the body: `int k = 0`, that is a name after the name of a type. */
static bool is_own(const cpu_program *program, const cpu_function *function, int i) {
  const cpu_token *at = program->tokens.at;
  if (is_formal(program, function, &at[i])) return true;
  for (int k = function->body + 1; (k = cpu_find_same(&program->tokens, k, i + 1, &at[i])) <= i; k++)
    if (at[k - 1].kind == CPU_NAME && !cpu_token_any(&at[k - 1], WORDS("return", "else", "do"))) return true;
  return false;
}

/* Parameters by value, and pointers through which nothing is written. */
static bool formals_allow(const cpu_program *program, const cpu_function *function) {
  for (int i = 0; i < function->nformals; i++) {
    const cpu_formal *formal = &function->formals[i];
    const bool far = cpu_find(&program->tokens, formal->first, formal->last, WORDS("*", "&", "&&", "[")) < formal->last;
    if (far && !cpu_token_is(&program->tokens.at[formal->first], "const")) return false;
  }
  return true;
}

static bool call_allows(const cpu_program *program, const cpu_token *name, int depth) {
  const char *const *const known =
      WORDS("sizeof", "int", "unsigned", "float", "double", "bool", "char", "long", "size_t", "min", "max", "abs",
            "fminf", "fmaxf", "fmin", "fmax", "sqrtf", "sqrt", "ceilf", "ceil", "floorf", "floor", "log2f", "log2",
            "__clz", "__ffs", "__popc", "__brev", "mw_highest_bit", "mw_register", "decltype", "static_cast", "if",
            "for", "while", "switch", "return");
  int k = -1, found = 0;
  while ((k = cpu_function_next(program, name, k)) >= 0) {
    if (!is_pure(program, &program->functions[k], depth + 1)) return false;
    found++;
  }
  return found || cpu_token_any(name, known);
}

/* At an assignment: does it change a variable of the function's own, a plain name? */
static bool change_allows(const cpu_program *program, const cpu_function *function, int i) {
  const cpu_token *at = program->tokens.at;
  const int name = at[i - 1].kind == CPU_NAME ? i - 1 : i + 1; /* k++, k = 1; ++k */
  if (at[name].kind != CPU_NAME || cpu_is_member(&program->tokens, name)) return false;
  const bool through = cpu_token_is(&at[name - 1], "*") && !cpu_ends_operand(&at[name - 2]);
  return !through && is_own(program, function, name);
}

static bool token_allows(const cpu_program *program, const cpu_function *function, int i, int depth) {
  const char *const *const effects =
      WORDS("asm", "volatile", "static", "threadIdx", "goto", "__shared__", "new", "delete", "throw");
  const cpu_token *at = program->tokens.at;
  if (cpu_is_assignment(&at[i])) return change_allows(program, function, i);
  if (cpu_token_is(&at[i], "&") && !cpu_ends_operand(&at[i - 1])) return false; /* an address */
  if (at[i].kind != CPU_NAME) return true;
  if (cpu_token_any(&at[i], effects)) return false;
  if (cpu_call_open(&program->tokens, i) < 0) return true;
  return !cpu_is_member(&program->tokens, i) && call_allows(program, &at[i], depth);
}

static bool is_pure(const cpu_program *program, const cpu_function *function, int depth) {
  if (function->is_class || function->kernel || function->body < 0 || function->recursive || depth > MOST_CALLS ||
      function->barrier >= 0 || function->wait >= 0 || function->reaches_thread || !formals_allow(program, function))
    return false;
  for (int i = function->body + 1; i < function->last - 1; i++)
    if (!token_allows(program, function, i, depth)) return false;
  return true;
}

bool cpu_function_is_pure(const cpu_program *program, const cpu_function *function) {
  return is_pure(program, function, 0);
}
