/* SPDX-License-Identifier: MIT
 *
 * What happens to a variable where its name stands, by the tokens around it. What is known to read it is listed; all
 * else may change it, or keep its address:
 *
 *   x + n    n < x    a[n]    f(n) of a parameter by value    c ? n : m    x = n       read, of scalars
 *   n = 1    n += 1   n++     n.x = 1                                                  changed
 *   &n       T &r = n   (c ? n : m) = 1   set(n)   s.put(n)   R{n}   [&] { n = 1; }    escapes
 *
 * Beside an operator, and where a value of another type is made of it, as much as the program's own operators and
 * constructors may do to what they take (hidden.c). */
#include <string.h>

#include "core/backend/cpu/program/program.h"

bool cpu_ends_operand(const cpu_token *token) {
  if (token->kind == CPU_NAME) return !cpu_token_any(token, WORDS("return", "case", "else"));
  return token->kind == CPU_NUMBER || token->kind == CPU_STRING || cpu_token_any(token, WORDS(")", "]"));
}

bool cpu_is_lambda(const cpu_tokens *tokens, int i) {
  return cpu_token_is(&tokens->at[i], "[") && i && !cpu_ends_operand(&tokens->at[i - 1]) &&
         !cpu_token_is(&tokens->at[i - 1], ">");
}

bool cpu_is_operator(const cpu_token *token) {
  static const char *const operators[] = {"+", "-",  "*",  "/",  "%",  "<<", ">>", "&",  "|",  "^", "!",
                                          "~", "&&", "||", "==", "!=", "<",  ">",  "<=", ">=", NULL};
  return token->kind == CPU_PUNCT && cpu_token_any(token, operators);
}

bool cpu_is_assignment(const cpu_token *token) {
  return token->kind == CPU_PUNCT &&
         cpu_token_any(token, WORDS("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"));
}

/* ---- who takes it ---------------------------------------------------------------------------------------------- */

/* The function that the parenthesis at `open` calls; -1: none that has a name. */
static int callee_of(const cpu_token *at, int open) {
  int callee = open - 1;
  for (int depth = 0; callee > 0 && (depth || cpu_token_is(&at[callee], ">")); callee--)
    depth += cpu_token_is(&at[callee], ">") - cpu_token_is(&at[callee], "<");
  return callee >= 0 && at[callee].kind == CPU_NAME ? callee : -1;
}

/* What is used in no other way than to be called is taken for the shim's. Those of its functions that take references
 * are
 * members, or stand behind std::. */
bool cpu_is_declared(const cpu_program *program, const cpu_token *name) {
  const cpu_tokens *tokens = &program->tokens;
  if (cpu_is_renamed(name)) return true;
  for (int i = 1; (i = cpu_find_same(tokens, i, tokens->count, name)) < tokens->count; i++) {
    const cpu_token *before = &tokens->at[i - 1];
    const bool typed =
        before->kind == CPU_NAME && cpu_ends_operand(before) && !cpu_token_any(before, WORDS("do", "sizeof"));
    if (typed || cpu_call_open(tokens, i) < 0) return true;
  }
  return false;
}

/* An object, a pointer or a method of that name, beside the functions. */
bool cpu_is_object(const cpu_program *program, const cpu_token *name) {
  const cpu_tokens *tokens = &program->tokens;
  for (int i = 0; (i = cpu_find_same(tokens, i, tokens->count, name)) < tokens->count; i++)
    if (cpu_call_open(tokens, i) < 0) return true;
  for (int i = 0; i < program->nfunctions; i++)
    if (cpu_class_defines(program, &program->functions[i], name)) return true;
  return false;
}

/* By value, as all functions of that name take their parameters: a class may be made of it. */
static cpu_write taken(const cpu_program *program, const cpu_token *name) {
  if (program->hidden.references || cpu_is_object(program, name)) return CPU_ESCAPED;
  cpu_write all = CPU_READ;
  for (int k = -1; (k = cpu_function_next(program, name, k)) >= 0;) {
    const cpu_function *function = &program->functions[k];
    if (function->is_class) return CPU_ESCAPED;
    for (int i = 0; i < function->nformals; i++) {
      const cpu_formal *formal = &function->formals[i];
      if (formal->reference) return CPU_ESCAPED;
      if (cpu_type_knows(program, function, &program->tokens, formal->first, formal->type_last) == CPU_UNKNOWN)
        all = program->hidden.operand;
    }
  }
  return all;
}

/* <4, float>( : without types that may be references. */
static bool arguments_plain(const cpu_program *program, const cpu_tokens *tokens, int callee, int open) {
  return callee + 1 == open ||
         (!program->hidden.references && cpu_find(tokens, callee, open, WORDS("&", "&&", "decltype")) == open);
}

/* (T)n makes another value of it. */
static cpu_write converted(const cpu_program *program, const cpu_tokens *tokens, int first, int last) {
  if (program->hidden.references || cpu_find(tokens, first, last, WORDS("&", "&&", "decltype")) < last)
    return CPU_ESCAPED;
  const bool known = cpu_token_is(&tokens->at[last - 1], "*") || cpu_type_knows(program, NULL, tokens, first, last);
  return known ? CPU_READ : program->hidden.operand;
}

/* An argument as a whole. */
static cpu_write passed(const cpu_program *program, const cpu_tokens *tokens, int open) {
  const char *const *const language = WORDS("if", "while", "switch", "return", "sizeof", "alignof", "decltype", "int",
                                            "unsigned", "float", "double", "bool", "char", "short", "long", "size_t");
  const cpu_token *at = tokens->at;
  const int callee = callee_of(at, open);
  if (callee < 0 || !arguments_plain(program, tokens, callee, open)) return CPU_ESCAPED;
  if (cpu_token_any(&at[callee], language) || cpu_is_generated(&at[callee])) return CPU_READ;
  if (cpu_token_any(&at[callee], WORDS("static_cast", "reinterpret_cast")))
    return converted(program, tokens, callee + 2, open - 1);
  if (cpu_is_member(tokens, callee) || cpu_token_any(&at[callee], WORDS("__builtin_addressof", "addressof")))
    return CPU_ESCAPED;
  if (cpu_function_next(program, &at[callee], -1) >= 0) return taken(program, &at[callee]);
  const bool known = !program->opens || cpu_is_builtin(&at[callee], ~0u);
  return !known || cpu_is_declared(program, &at[callee]) ? CPU_ESCAPED : CPU_READ;
}

/* x = n; T x = n; or the braces of T x[] = {1, n}. */
static cpu_write stored(const cpu_program *program, const cpu_tokens *tokens, int sign, bool braces) {
  const cpu_token *at = tokens->at;
  const int first = cpu_begin_after(tokens, 0, sign, WORDS(";", "{", "}", "("));
  int name = sign - 1;
  while (name > first && cpu_token_is(&at[name], "]")) name = at[name].match - 1;
  if (cpu_find(tokens, first, sign, WORDS("&", "&&", "decltype")) < sign || cpu_has(tokens, first, name, "["))
    return CPU_ESCAPED;
  const bool automatic = cpu_has(tokens, first, name, "auto");
  int last = name;
  while (last > first && cpu_token_any(&at[last - 1], WORDS("*", "const", "__restrict__"))) last--;
  if (automatic || (last > first && cpu_type_knows(program, NULL, tokens, first, last) >= CPU_KNOWN)) return CPU_READ;
  return braces || program->hidden.references ? CPU_ESCAPED : program->hidden.operand;
}

/* ---- where it stands ------------------------------------------------------------------------------------------- */

/* ((n)): the first and last token of the name with the brackets around nothing else, which are not those of a call. */
static cpu_range bracketed(const cpu_token *at, int i) {
  cpu_range range = {i, i};
  while (range.first > 1 && cpu_token_is(&at[range.first - 1], "(") && cpu_token_is(&at[range.last + 1], ")") &&
         (at[range.first - 2].kind != CPU_NAME || cpu_token_is(&at[range.first - 2], "return")) &&
         !cpu_token_is(&at[range.first - 2], ">"))
    range.first--, range.last++;
  return range;
}

/* Past the members and subscripts behind it; *method: it ends at the parenthesis of one. */
static int members_end(const cpu_token *at, int after, bool *method) {
  while (cpu_token_is(&at[after], ".") || cpu_token_is(&at[after], "[")) {
    after = cpu_token_is(&at[after], ".") ? after + 2 : at[after].match + 1;
    *method |= cpu_token_is(&at[after], "(");
  }
  return after;
}

/* A conditional or a comma that the operand is part of, which may stand for it: its brackets, or what it is stored
 * in. */
static cpu_range chosen(const cpu_token *at, cpu_range range) {
  const char *const *const begins = WORDS(";", "{", "}", "=", "return"), *const *const ends = WORDS(";", "}");
  while (range.first > 0 && !(at[range.first - 1].match > range.first) &&
         !cpu_token_any(&at[range.first - 1], begins) && !cpu_is_assignment(&at[range.first - 1]))
    range.first = at[range.first - 1].match >= 0 ? at[range.first - 1].match : range.first - 1;
  while (!cpu_token_any(&at[range.last + 1], ends) && at[range.last + 1].kind != CPU_END &&
         !(at[range.last + 1].match >= 0 && at[range.last + 1].match < range.first))
    range.last = at[range.last + 1].match > range.last ? at[range.last + 1].match : range.last + 1;
  return range;
}

static cpu_write used(const cpu_program *, const cpu_tokens *, cpu_range, int depth);

/* In braces: of the initialiser of a variable, of an array of them, or of what has no name. */
static cpu_write listed(const cpu_program *program, const cpu_tokens *tokens, int open) {
  const cpu_token *at = tokens->at;
  while (open > 1 && cpu_token_any(&at[open - 1], WORDS("{", ","))) open = cpu_enclosing(tokens, 0, open);
  return open > 1 && cpu_token_is(&at[open - 1], "=") ? stored(program, tokens, open - 1, true) : CPU_ESCAPED;
}

/* The whole of what stands between two tokens that end an expression. */
static cpu_write whole(const cpu_program *program, const cpu_tokens *tokens, cpu_range range, int depth) {
  enum { MOST_DEPTH = 8 };
  const cpu_token *at = tokens->at, *before = &at[range.first - 1];
  const int open = cpu_enclosing(tokens, 0, range.first);
  const bool operand = open > 0 && (cpu_ends_operand(&at[open - 1]) || cpu_token_is(&at[open - 1], ">"));
  if (cpu_token_is(before, "return")) return CPU_READ;
  if (cpu_token_is(before, "=")) return stored(program, tokens, range.first - 1, false);
  if (before->kind != CPU_PUNCT || open < 0 || depth > MOST_DEPTH) return CPU_ESCAPED;
  if (cpu_token_is(&at[range.last + 1], ";") || cpu_token_is(before, ";")) return CPU_READ; /* its value is not used */
  if (cpu_token_is(&at[open], "{")) return listed(program, tokens, open);
  if (cpu_token_is(&at[open], "[")) return operand ? program->hidden.operand : CPU_ESCAPED; /* a subscript, a lambda */
  if (!operand) return used(program, tokens, (cpu_range){open, at[open].match}, depth + 1); /* (n, m) */
  return passed(program, tokens, open);
}

/* An operand that is not assigned to by its name. */
static cpu_write used(const cpu_program *program, const cpu_tokens *tokens, cpu_range range, int depth) {
  if (range.first < 1) return CPU_ESCAPED;
  const cpu_token *before = &tokens->at[range.first - 1], *after = &tokens->at[range.last + 1];
  const bool binary = range.first > 1 && cpu_ends_operand(before - 1) && !cpu_token_is(before - 1, ")"); /* (int *)&n */
  if (!binary && cpu_token_is(before, "&")) return CPU_ESCAPED;
  if (cpu_is_assignment(after) || cpu_token_any(before, WORDS("++", "--"))) return CPU_ESCAPED;
  if (cpu_token_any(after, WORDS("(", ".", "[", "->"))) return CPU_ESCAPED;
  if (cpu_token_is(before, ")")) return converted(program, tokens, before->match + 1, range.first - 1);
  const bool updates = cpu_is_assignment(before) && !cpu_token_is(before, "=");
  if (updates || cpu_is_operator(before) || cpu_is_operator(after) || cpu_token_is(after, "?"))
    return program->hidden.operand;
  if (cpu_token_any(before, WORDS("?", ":")) || cpu_token_is(after, ":"))
    return whole(program, tokens, chosen(tokens->at, range), depth);
  return cpu_token_any(after, WORDS(")", ",", "}", ";", "]")) ? whole(program, tokens, range, depth) : CPU_ESCAPED;
}

/* Is every member of that name, in whatever class, a scalar, as far as its declaration tells? */
static bool is_scalar_member(const cpu_program *program, const cpu_token *name) {
  const cpu_tokens *tokens = &program->tokens;
  for (int i = 1; (i = cpu_find_same(tokens, i, tokens->count, name)) < tokens->count; i++) {
    const cpu_token *before = &tokens->at[i - 1];
    const bool declared =
        cpu_token_any(before, WORDS(",", "*", "&", ">")) || (before->kind == CPU_NAME && cpu_ends_operand(before));
    if (!declared || cpu_is_member(tokens, i)) continue;
    if (cpu_token_any(&tokens->at[i + 1], WORDS("[", "("))) return false;
    if (before->kind == CPU_NAME && cpu_type_knows(program, NULL, tokens, i - 1, i) < CPU_KNOWN) return false;
  }
  return true;
}

/* Of an object only a scalar member is read; what else is done to it, or to an array in it, is not followed. */
static bool is_object_read(const cpu_program *program, const cpu_token *after_name) {
  return cpu_token_is(after_name, ".") && is_scalar_member(program, after_name + 1) &&
         !cpu_token_any(after_name + 2, WORDS("[", "(", ".", "->", "<", ".*"));
}

cpu_kind cpu_kind_of(const cpu_program *program, const cpu_function *function, const cpu_tokens *tokens, int first,
                     int last, bool far) {
  const cpu_knowledge type = cpu_type_knows(program, function, tokens, first, last);
  return far ? CPU_POINTER : type >= CPU_KNOWN ? CPU_VALUE : CPU_OBJECT;
}

cpu_write cpu_write_at(const cpu_program *program, const cpu_tokens *tokens, int i, cpu_kind kind) {
  const cpu_token *at = tokens->at;
  const cpu_range name = bracketed(at, i);
  const cpu_token *before = name.first > 0 ? &at[name.first - 1] : &at[i];
  bool method = false;
  if (name.first > 0 && cpu_token_any(before, WORDS("++", "--"))) return CPU_CHANGED;
  if (kind == CPU_POINTER && cpu_token_any(&at[name.last + 1], WORDS("[", "->"))) return CPU_READ;
  const int after = members_end(at, name.last + 1, &method);
  if (method || cpu_token_is(&at[after], "->")) return CPU_ESCAPED;
  const bool prefixed = name.first > 1 && !cpu_ends_operand(&at[name.first - 2]);
  const bool sets = cpu_is_assignment(&at[after]) && !cpu_token_any(&at[after], WORDS("++", "--"));
  if (prefixed && cpu_token_is(before, "*") && kind == CPU_POINTER && sets && name.first == i) return CPU_READ;
  if (cpu_is_assignment(&at[after])) return CPU_CHANGED;
  const bool part = after > name.last + 1;
  if (kind == CPU_OBJECT && (part ? !is_object_read(program, &at[name.last + 1]) : program->operators))
    return CPU_ESCAPED;
  return used(program, tokens, (cpu_range){name.first, after - 1}, 0);
}

bool cpu_written_in(const cpu_program *program, const cpu_tokens *tokens, int first, int last, const cpu_token *name,
                    cpu_kind kind) {
  for (int i = first; (i = cpu_find_use(tokens, i, last, name)) < last; i++)
    if (cpu_write_at(program, tokens, i, kind) != CPU_READ) return true;
  return false;
}
