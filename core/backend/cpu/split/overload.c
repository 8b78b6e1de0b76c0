/* SPDX-License-Identifier: MIT
 *
 * Calls of helpers that have to be made plainer before helper.c takes their bodies: default arguments are written out,
 * and which of several functions of one name a call means the compiler is asked. */
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/split/split.h"

enum { MOST_OVERLOADS = 8 };

static const char overload[] = "mw_overload_"; /* and the function's index: of several with that name */

int cpu_overload_at(const cpu_splitter *in, int i) {
  const mw_token *token = &in->work.at[i];
  const int size = (int)sizeof overload - 1;
  if (token->kind != MW_TOKEN_NAME || token->size <= size || memcmp(token->text, overload, (size_t)size)) return -1;
  return (int)strtol(token->text + size, NULL, 10);
}

/* May it be called with so many arguments? */
static bool takes(const cpu_splitter *in, const cpu_function *function, int count) {
  const mw_token *at = in->program->tokens.at;
  return count == function->nformals ||
         (count >= 0 && count < function->nformals && mw_token_is(&at[function->formals[count].last], "="));
}

/* The functions of the name that take so many arguments. */
static int overloads_find(const cpu_splitter *in, const mw_token *name, int count, int list[MOST_OVERLOADS]) {
  int found = 0;
  for (int k = -1; found < MOST_OVERLOADS && (k = cpu_function_next(in->program, name, k)) >= 0;) {
    const cpu_function *function = &in->program->functions[k];
    if (!function->kernel && function->body >= 0 && takes(in, function, count)) list[found++] = k;
  }
  return found;
}

/* f ( a )  ->  f ( a , 32 ), where that is the parameter's default. */
static void defaults_put(cpu_splitter *in, int node, int call, const cpu_function *callee, int count, mw_tokens *next) {
  const mw_tokens *from = &in->program->tokens, *work = &in->work;
  const int close = work->at[mw_call_open(work, call)].match;
  mw_tokens_copy(next, work, in->nodes[node].first, close);
  for (int i = count; i < callee->nformals; i++) {
    const int begin = callee->formals[i].last + 1;
    const int end = mw_find_open(from, begin, callee->close, WORDS(","));
    for (int k = begin; k < end; k++)
      if (from->at[k].kind == MW_TOKEN_NAME && cpu_kernel_declares(in, &from->at[k]))
        cpu_split_reject(in, call, "a default argument names '%.*s', which is another in the kernel",
                         TEXT(&from->at[k]));
    if (i) mw_tokens_scan(next, " , ", &work->at[call]);
    mw_tokens_copy(next, from, begin, end);
  }
  mw_tokens_copy(next, work, close, in->nodes[node].last);
}

static bool any_special(const cpu_splitter *in, const int *list, int count) {
  for (int i = 0; i < count; i++)
    if (in->program->functions[list[i]].special) return true;
  return false;
}

/* Can the compiler be asked which of them a call means? All precedes the kernel, in one namespace, without a
 * `requires` after their parameters. Specialisations are chosen after their template, which has to be the only one. */
static bool are_choosable(const cpu_splitter *in, const int *list, int count) {
  int templates = 0;
  bool named = true;
  for (int i = 0; i < count; i++) {
    const cpu_function *function = &in->program->functions[list[i]];
    const bool constrained = mw_has(&in->program->tokens, function->close, function->body, "requires");
    const bool seen =
        function->name < in->kernel->name && !strcmp(function->scope, in->program->functions[list[0]].scope);
    if (function->is_class || constrained || !seen) return false;
    templates += function->is_template;
    named &= !function->special || function->name + 1 < function->open; /* template <> int sum<int>(int v) */
  }
  return !any_special(in, list, count) || (templates == 1 && named);
}

/* template <class T> constexpr int mw_special_k_f = 4; template <> constexpr int mw_special_k_f<int> = 5; */
static void specials_put(const cpu_splitter *in, const mw_token *name, const int *list, int count, mw_text *out) {
  const mw_tokens *from = &in->program->tokens;
  for (int i = 0; i < count; i++) {
    const cpu_function *function = &in->program->functions[list[i]];
    if (!function->is_template && !function->special) continue;
    mw_text_plain(out, from, function->head_first, function->head_last);
    mw_text_format(out, " constexpr int mw_special_%.*s_%.*s", TEXT(cpu_kernel_name(in)), TEXT(name));
    if (function->special) mw_text_plain(out, from, function->name + 1, function->open);
    mw_text_format(out, " = %d;\n", list[i]);
  }
}

/* The number of a function of the list, as a constant: that of a template with specialisations depends on its
 * arguments. */
static void number_put(const cpu_splitter *in, const mw_token *name, int index, bool special, mw_text *out) {
  const cpu_function *function = &in->program->functions[index];
  cpu_header names = {0};
  if (!special || !function->is_template || !cpu_header_read(in, function, &names)) {
    mw_text_format(out, "%d", index);
    return;
  }
  mw_text_format(out, "mw_special_%.*s_%.*s", TEXT(cpu_kernel_name(in)), TEXT(name));
  for (int i = 0; i < names.count; i++) mw_text_format(out, "%s%.*s", i ? ", " : "<", TEXT(names.names[i]));
  mw_text_put(out, ">");
}

/* mw_constant<int, 3> mw_which_k_f(float v); for each: the compiler's own choice. */
static void choosers_put(cpu_splitter *in, const mw_token *name, const int *list, int count) {
  mw_text text = {0}, *out = &in->prelude;
  const bool special = any_special(in, list, count);
  for (int i = 0; i < count; i++) {
    const cpu_function *function = &in->program->functions[list[i]];
    if (function->special) continue;
    text.size = 0;
    mw_text_put(&text, "mw_constant<int, ");
    number_put(in, name, list[i], special, &text);
    mw_text_format(&text, "> mw_which_%.*s_%.*s(", TEXT(cpu_kernel_name(in)), TEXT(name));
    if (out->at && strstr(out->at, text.at)) continue;
    if (special && function->is_template) specials_put(in, name, list, count, out);
    mw_text_plain(out, &in->program->tokens, function->head_first, function->head_last);
    mw_text_put(out, "\n");
    mw_text_put(out, text.at);
    mw_text_plain(out, &in->program->tokens, function->open + 1, function->close);
    mw_text_put(out, ");\n");
  }
  mw_free(text.at);
}

/* Is the text not a template by itself, and can the kernel call one with its parameters? */
static bool may_be_late(const cpu_splitter *in) {
  for (int i = 0; i < in->kernel->nformals; i++)
    if (in->kernel->formals[i].name < 0) return false;
  return !in->kernel->is_template;
}

/* x = f ( v ) ;  ->
 * using mw_w3 = decltype ( mw_which_k_f ( v ) ) ; using mw_T3 = mw_plain < decltype ( f ( v ) ) > ; mw_T3 mw_r3 ;
 * if constexpr ( mw_w3 :: value == 5 ) mw_r3 = mw_overload_5 ( v ) ; else ... x = mw_r3 ;
 * In a template, which split.c makes of the text, only that of the one that is called has to compile. */
static void overloads_expand(cpu_splitter *in, int node, int call, const int *list, int count, mw_tokens *next) {
  const mw_tokens *work = &in->work;
  const cpu_node *statement = &in->nodes[node];
  const mw_token *name = &work->at[call];
  const int end = work->at[mw_call_open(work, call)].match + 1, number = ++in->serial;
  const mw_span parts[] = {{call + 1, end}, {statement->first, call}, {end, statement->last}};
  const bool alone = statement->first == call && end == statement->last - 1;
  const bool wrap = statement->kind != CPU_NODE_DECLARE;
  choosers_put(in, name, list, count);
  in->late |= may_be_late(in);
  mw_tokens_format(next, name, "%s using mw_w%d = decltype ( mw_which_%.*s_%.*s ", wrap ? "{" : "", number,
                   TEXT(cpu_kernel_name(in)), TEXT(name));
  mw_tokens_build(next, work, name, 0, "$0 ) ; ", parts);
  if (!alone) {
    mw_tokens_format(next, name, "using mw_t%d = mw_plain < decltype ( %.*s ", number, TEXT(name));
    mw_tokens_build(next, work, name, number, "$0 ) > ; mw_t# mw_r# ; ", parts);
  }
  for (int i = 0; i < count; i++) {
    mw_tokens_format(next, name, "%s if constexpr ( mw_w%d :: value == %d ) { ", i ? " else" : "", number, list[i]);
    if (!alone) mw_tokens_format(next, name, "mw_r%d = ", number);
    mw_tokens_format(next, name, "%s%d ", overload, list[i]);
    mw_tokens_build(next, work, name, 0, "$0 ; }", parts);
  }
  if (!alone) mw_tokens_build(next, work, name, number, " $1 mw_r# $2", parts);
  if (wrap) mw_tokens_scan(next, " }", name);
}

bool cpu_call_clear(cpu_splitter *in, int node, int call, int *callee, mw_tokens *next) {
  const mw_token *name = &in->work.at[call];
  const bool chosen = cpu_overload_at(in, call) >= 0;
  const int open = mw_call_open(&in->work, call);
  mw_span arguments[MW_MOST_PARAMS];
  int list[MOST_OVERLOADS] = {*callee};
  const int count = open < 0 ? -1 : mw_arguments(&in->work, open, arguments, MW_MOST_PARAMS);
  const int found = chosen ? takes(in, &in->program->functions[*callee], count) : overloads_find(in, name, count, list);
  if (found < 1) return false;
  if (found > 1 && !are_choosable(in, list, found)) {
    cpu_split_reject(in, call, "which '%.*s' is called is not understood", TEXT(name));
    return true;
  }
  *callee = list[0];
  const cpu_function *function = &in->program->functions[*callee];
  if (found > 1)
    overloads_expand(in, node, call, list, found, next);
  else if (count < function->nformals)
    defaults_put(in, node, call, function, count, next);
  return found > 1 || count < function->nformals;
}

/* The parameters of a template, by their names. */
bool cpu_header_read(const cpu_splitter *in, const cpu_function *function, cpu_header *out) {
  const mw_token *at = in->program->tokens.at;
  int first = function->head_first + 2, last = function->head_last - 1;
  for (int i = first, begin = first; i <= last; i++) {
    if (i < last && mw_token_is(&at[i], "...")) return false;
    if (i < last && !mw_token_is(&at[i], ",")) continue;
    int name = begin;
    while (name < i && !mw_token_is(&at[name], "=")) name++;
    name--;
    if (out->count == 16 || name <= begin || at[name].kind != MW_TOKEN_NAME) return false;
    out->types[out->count] = mw_token_is(&at[begin], "class") || mw_token_is(&at[begin], "typename");
    out->names[out->count++] = &at[name];
    begin = i + 1;
  }
  return out->count > 0;
}
