/* SPDX-License-Identifier: MIT
 *
 * Functions that are called where their names do not stand: constructors, destructors, conversions and operators,
 * initialisers of members, methods of classes that have no name, lambdas of device variables, and functions whose
 * address is taken. What one of them reaches, every kernel of the program may reach:
 *
 *   struct Index { int x; __device__ Index() : x(threadIdx.x) {} };     Index i;        reads threadIdx
 *   __device__ int me() { return threadIdx.x; }                          (*table[1])()   the same
 *
 * Methods that are called by their names are found by those (callgraph.c). */
#include <limits.h>

#include "core/backend/cpu/program/program.h"

/* All that the tokens name counts. */
static void range_take(cpu_program *program, int first, int last) {
  const mw_token *at = program->tokens.at;
  const int parameters = mw_find(&program->tokens, first, last, WORDS("("));
  for (int i = parameters + 1; i < last; i++)
    program->hidden.has_elements |=
        mw_token_any(&at[i], WORDS("[", "->")) || (mw_token_is(&at[i], "*") && !mw_ends_operand(&at[i - 1]));
  cpu_names_take(program, &program->hidden.all, first, last);
}

/* ---- operands -------------------------------------------------------------------------------------------------- */

/* An operator's or constructor's parameters, between the parentheses. Nothing happens to a scalar by value, or to one of
 * CUDA's vectors, which none is made into. The left side of an assignment is seen to change without it. */
static void formals_take(cpu_program *program, int open, bool assigns) {
  mw_formal *formals;
  cpu_program plain = *program; /* as if there were no operators of vectors */
  plain.operators = false;
  const int count = mw_formals_read(&program->tokens, open, program->tokens.at[open].match, &formals);
  for (int i = assigns && count == 2; i < count; i++) {
    const mw_formal *it = &formals[i];
    const cpu_knowledge type = cpu_type_knows(&plain, NULL, &program->tokens, it->first, it->type_last);
    const bool read = type == CPU_KNOWN || (type == CPU_SCALAR && !it->reference);
    if (!read || program->hidden.references) program->hidden.operand = CPU_ESCAPED;
  }
  mw_free(formals);
}

/* ---- classes --------------------------------------------------------------------------------------------------- */

/* Called by other means than its name, such as a constructor, which has the class's? A member that is no method may have
 * an initialiser. */
static bool is_hidden_member(const cpu_program *program, const cpu_function *class, const mw_declaration *member) {
  if (member->kind == MW_DECLARES_NOTHING || member->kind == MW_DECLARES_TYPEDEF) return false;
  return member->open < 0 || mw_token_is(&program->tokens.at[member->name], "operator") ||
         cpu_function_named(program, class, &program->tokens.at[member->name]);
}

static void class_take(cpu_program *program, const cpu_function *class, bool methods) {
  const mw_token *at = program->tokens.at;
  if (class->body < 0) return;
  if (methods) range_take(program, class->body, class->last); /* m.*f, by which any may be called */
  range_take(program, class->first + 2, class->body);         /* its bases */
  mw_declaration member;
  for (int i = class->body + 1; i < at[class->body].match; i = member.last) {
    member = mw_declaration_read(&program->tokens, i, at[class->body].match);
    if (is_hidden_member(program, class, &member)) {
      range_take(program, i, member.last);
      if (class->wait >= i && class->wait < member.last) program->hidden.all.wait = class->wait;
      program->hidden.makes |= member.open >= 0 || mw_has(&program->tokens, i, member.last, "this");
    }
  }
}

/* ---- the program ----------------------------------------------------------------------------------------------- */

/* May the parameter of the template, a value, be a function? Not of a scalar type or an enumeration. */
static bool may_be_function(const cpu_program *program, const cpu_function *function, const mw_token *name) {
  const mw_tokens *tokens = &program->tokens;
  const mw_span words = cpu_template_words(program, function, name);
  const int first = words.first, last = words.last;
  if (first == last || mw_find(tokens, first, last, WORDS("=", "typename", "class")) < last) return false; /* a type */
  for (int i = first; i < last; i++)
    for (int k = 0; k < program->aliases.count; k++)
      if (program->aliases.at[k].far && mw_same_text(&tokens->at[program->aliases.at[k].name], &tokens->at[i]))
        return true;
  return mw_find(tokens, first, last, WORDS("(", "*", "&", "auto")) < last ||
         cpu_type_knows(program, NULL, tokens, first, last) < CPU_KNOWN;
}

/* The fewest arguments that may be passed to what a parameter of a template stands for; INT_MAX: it is no function.
 * Scripts name instances, as in k<plus>, so that it may be any. */
static int template_arguments(const cpu_program *program) {
  int least = INT_MAX;
  for (int k = 0; k < program->nfunctions; k++) {
    const cpu_function *function = &program->functions[k];
    for (int i = function->body; function->head_last > function->head_first && i >= 0 && i < function->last; i++) {
      const mw_token *name = &program->tokens.at[i];
      mw_span list[64];
      if (name->kind != MW_TOKEN_NAME || !cpu_is_template_value(program, function, name) ||
          !may_be_function(program, function, name))
        continue;
      const int count = mw_token_is(name + 1, "(") ? mw_arguments(&program->tokens, i + 1, list, 64) : 0;
      if (count < least) least = count;
    }
  }
  return least;
}

/* &N::get, N::get as an argument: is a name after :: a method's, and not called? */
static bool takes_methods(const cpu_program *program) {
  const mw_tokens *tokens = &program->tokens;
  for (int i = 2; i < tokens->count; i++) {
    if (mw_token_any(&tokens->at[i], WORDS(".*", "->*"))) return true;
    if (!mw_token_is(&tokens->at[i - 1], "::") || mw_call_open(tokens, i) >= 0) continue;
    for (int k = 0; k < program->nfunctions; k++)
      if (cpu_class_defines(program, &program->functions[k], &tokens->at[i])) return true;
  }
  return false;
}

static void functions_take(cpu_program *program) {
  const bool methods = takes_methods(program);
  const int arguments = template_arguments(program);
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *function = &program->functions[i];
    if (function->kernel) continue;
    if (function->is_class)
      class_take(program, function, methods);
    else if (function->body >= 0 &&
             (function->name < 0 || mw_token_is(&program->tokens.at[function->name], "operator") ||
              (function->barrier < 0 && function->nformals >= arguments) || /* with one: callgraph.c */
              cpu_name_find(program, &program->tokens.at[function->name])->taken)) {
      cpu_call_note(&program->hidden.all, i);
      range_take(program, function->body, function->last);
    }
  }
}

/* Operators, wherever they are declared; but for operator(), which is called like a function. */
static void operators_take(cpu_program *program) {
  const mw_tokens *tokens = &program->tokens;
  for (int i = 0; (i = mw_find(tokens, i, tokens->count, WORDS("operator"))) < tokens->count; i++) {
    const int open = mw_find(tokens, i + 1, tokens->count, WORDS("(", ";"));
    if (mw_token_is(&tokens->at[open], "(") && open > i + 1)
      formals_take(program, open, mw_is_assignment(&tokens->at[i + 1]));
  }
}

/* The sign of a reference that is an argument of a template: put<int &>, Pick<true, int &, int>, Argument<void(int &)>; or
 * a decltype that may give one: Same<decltype((n))>, template <class T = decltype((n))> */
static bool is_reference(const mw_tokens *tokens, int i) {
  const mw_token *at = tokens->at;
  if (i && mw_token_is(&at[i], "decltype") && mw_token_any(&at[i - 1], WORDS("<", ",", "=", "const"))) return true;
  if (!mw_token_any(&at[i], WORDS("&", "&&")) || !mw_token_any(&at[i + 1], WORDS(">", ",", ")"))) return false;
  const int open = mw_token_is(&at[i + 1], ">") ? -1 : mw_enclosing(tokens, 0, i);
  return open < 0 || !mw_token_is(&at[open], "(") || mw_has(tokens, open, i, "<") ||
         mw_token_any(&at[at[open].match + 1], WORDS(">", ","));
}

/* Constructors of any class, wherever it stands. */
static void constructors_take(cpu_program *program) {
  const mw_tokens *tokens = &program->tokens;
  for (int i = 0; i < tokens->count; i++) {
    if (!mw_token_any(&tokens->at[i], WORDS("struct", "class", "union"))) continue;
    if (i && mw_token_any(&tokens->at[i - 1], WORDS("<", ",", "enum"))) continue;
    const int open = mw_class_braces(tokens, i, tokens->count);
    mw_declaration it;
    for (int k = open + 1; open && k < tokens->at[open].match; k = it.last) {
      it = mw_declaration_read(tokens, k, tokens->at[open].match);
      program->hidden.shares |= it.open < 0 && mw_find(tokens, k, it.last, WORDS("&", "&&", "mutable")) < it.last;
      if (it.open < 0 || mw_find_same(tokens, i, open, &tokens->at[it.name]) == open) continue;
      formals_take(program, it.open, false);
      program->hidden.makes = true;
    }
  }
}

void cpu_hidden_read(cpu_program *program) {
  cpu_function *all = &program->hidden.all;
  *all = (cpu_function){.name = -1, .barrier = -1, .own_barrier = -1, .wait = -1, .by_parameter = -1};
  for (int i = 0; i < program->aliases.count; i++) {
    const cpu_named *alias = &program->aliases.at[i];
    program->hidden.references |=
        mw_find(&program->tokens, alias->first, alias->last, WORDS("&", "&&", "decltype")) < alias->last;
  }
  for (int i = 0; i + 1 < program->tokens.count; i++) program->hidden.references |= is_reference(&program->tokens, i);
  functions_take(program);
  operators_take(program);
  constructors_take(program);
  for (int i = 0; i < program->nitems; i++) {
    const cpu_item *item = &program->items[i];
    const bool calls = mw_has(&program->tokens, item->first, item->last, "("); /* unlike namespace cg = ...; */
    if (item->kind == CPU_ITEM_VARIABLE || (item->kind == CPU_ITEM_TEXT && calls))
      range_take(program, item->first, item->last);
  }
  cpu_calls_take(program, all);
  all->loops = false; /* they are counted where they are called */
  for (int i = 0; i < program->nfunctions; i++) {
    if (program->functions[i].kernel) cpu_reach_take(&program->functions[i], all);
    if (!program->functions[i].tree) continue;
    mw_free(program->functions[i].tree->uses); /* found without what is known now */
    program->functions[i].tree->uses = NULL;
  }
}
