/* SPDX-License-Identifier: MIT
 *
 * Does a use of a variable change it? Answered from the tokens around its name; whatever could change it counts. */
#include "core/backend/cpu/program/program.h"

bool cpu_ends_operand(const cpu_token *token) {
  if (token->kind == CPU_NAME) return !cpu_token_any(token, WORDS("return", "case", "else"));
  return token->kind == CPU_NUMBER || token->kind == CPU_STRING || cpu_token_any(token, WORDS(")", "]"));
}

bool cpu_is_assignment(const cpu_token *token) {
  static const char *const operators[] = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", NULL};
  return token->kind == CPU_PUNCT && cpu_token_any(token, operators);
}

static int enclosing(const cpu_token *at, int i) {
  for (i--; i >= 0; i--) {
    if (at[i].match >= 0 && at[i].match < i)
      i = at[i].match;
    else if (at[i].match > i)
      return i;
  }
  return -1;
}

static bool takes_reference(const cpu_program *program, const cpu_token *name) {
  for (int k = -1; (k = cpu_function_next(program, name, k)) >= 0;) {
    const cpu_function *function = &program->functions[k];
    const int close = function->close;
    if (function->is_class || cpu_find(&program->tokens, function->open, close, WORDS("&", "&&")) < close) return true;
  }
  return false;
}

/* The whole of an argument: does the callee take it by reference? Shim functions take values and pointers. */
static bool passed_by_reference(const cpu_program *program, const cpu_tokens *tokens, int i) {
  const cpu_token *at = tokens->at;
  int open = enclosing(at, i);
  if (open < 1 || !cpu_token_is(&at[open], "("))
    return open >= 1 && cpu_token_is(&at[open], "{") && cpu_ends_operand(&at[open - 1]);
  int callee = open - 1;
  if (cpu_token_is(&at[callee], ">")) {
    for (int depth = 0; callee > 0; callee--) {
      depth += cpu_token_is(&at[callee], ">") - cpu_token_is(&at[callee], "<");
      if (!depth) break;
    }
    callee--;
  }
  if (callee < 0 || at[callee].kind != CPU_NAME) return false;
  if (callee > 0 && (cpu_token_is(&at[callee - 1], ".") || cpu_token_is(&at[callee - 1], "->"))) return true;
  return takes_reference(program, &at[callee]);
}

/* ((n)): the first and last token of the name with the brackets around nothing else, which are not those of a call. */
static cpu_range bracketed(const cpu_token *at, int i) {
  cpu_range range = {i, i};
  while (range.first > 1 && cpu_token_is(&at[range.first - 1], "(") && cpu_token_is(&at[range.last + 1], ")") &&
         (at[range.first - 2].kind != CPU_NAME || cpu_token_is(&at[range.first - 2], "return")))
    range.first--, range.last++;
  return range;
}

cpu_write cpu_write_at(const cpu_program *program, const cpu_tokens *tokens, int i, bool pointer) {
  const cpu_token *at = tokens->at;
  const cpu_token *next_to = i > 0 ? &at[i - 1] : &at[i];
  const cpu_range name = bracketed(at, i);
  const cpu_token *before = name.first > 0 ? &at[name.first - 1] : &at[i];
  if (name.first > 0 && cpu_token_any(before, WORDS("++", "--"))) return CPU_CHANGED;
  int after = name.last + 1;
  while (cpu_token_is(&at[after], ".") || cpu_token_is(&at[after], "[")) {
    if (pointer && cpu_token_is(&at[after], "[")) return CPU_READ;
    if (cpu_token_is(&at[after], "."))
      after += 2;
    else
      after = at[after].match + 1;
    if (cpu_token_is(&at[after], "(")) return CPU_ESCAPED; /* a member function */
  }
  if (cpu_token_is(&at[after], "->")) return CPU_READ;
  const bool prefixed = name.first > 1 && !cpu_ends_operand(&at[name.first - 2]);
  if (prefixed && cpu_token_is(before, "&")) return CPU_ESCAPED;
  if (cpu_is_assignment(&at[after]) && !(prefixed && cpu_token_is(before, "*") && pointer)) return CPU_CHANGED;
  bool whole = cpu_token_any(next_to, WORDS("(", ",", "{")) && cpu_token_any(&at[after], WORDS(")", ",", "}"));
  return whole && passed_by_reference(program, tokens, i) ? CPU_ESCAPED : CPU_READ;
}

bool cpu_written_in(const cpu_program *program, const cpu_tokens *tokens, int first, int last, const cpu_token *name,
                    bool pointer) {
  for (int i = first; (i = cpu_find_use(tokens, i, last, name)) < last; i++)
    if (cpu_write_at(program, tokens, i, pointer) != CPU_READ) return true;
  return false;
}
