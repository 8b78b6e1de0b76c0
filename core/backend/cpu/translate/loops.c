/* SPDX-License-Identifier: MIT
 *
 * Counters in check mode: loops say which iteration they are in, so that the lanes of a warp are put together as on a
 * GPU (shim/check/counter.h). An mw_loop (shim/moonwarp/thread.h) lives as long as the loop runs, however it is left:
 *
 *   for (a; test; b) body       if (mw_loop mw_loop_7{7}) ; else for (a; mw_loop_7.step() && (test); b) body
 *   while (test) body           if (mw_loop mw_loop_7{7}) ; else while (mw_loop_7.step() && (test)) body
 *   do body while (test);       if (mw_loop mw_loop_7{7}) ; else do body while (mw_loop_7.step() && (test));
 *
 * Others stay as they are: of a range, with a declaration for a test, or with a label that something else jumps to. */
#include "core/backend/cpu/translate/translate.h"

#include <string.h>

/* int n = next(): two words or more before the =. */
static bool declares(const cpu_tokens *tokens, int first, int last) {
  const cpu_token *at = tokens->at;
  const int sign = cpu_find_open(tokens, first, last, WORDS("="));
  if (sign >= last || sign < first + 2 || at[sign - 1].kind != CPU_NAME) return false;
  const cpu_token *before = &at[sign - 2];
  if (cpu_token_any(before, WORDS("*", "&"))) return sign > first + 2;
  return before->kind == CPU_NAME || cpu_token_is(before, ">");
}

/* Whether something outside of the tokens jumps between them. */
static bool is_entered(const cpu_tokens *tokens, int first, int last, int first_goto) {
  const cpu_token *at = tokens->at;
  if (cpu_has(tokens, first, last, "case") && !cpu_has(tokens, first, last, "switch")) return true;
  for (int i = first_goto; i + 1 < tokens->count; i++) {
    if ((i >= first && i < last) || !cpu_token_is(&at[i], "goto")) continue;
    const int label = cpu_find_same(tokens, first, last, &at[i + 1]);
    if (label + 1 < last && cpu_token_is(&at[label + 1], ":")) return true;
  }
  return false;
}

/* The loop whose keyword is at i. False: it stays as it is. */
static bool loop_read(const cpu_tokens *tokens, int i, int first_goto, cpu_loop *out) {
  return cpu_loop_read(tokens, i, tokens->count, out) && !declares(tokens, out->test, out->test_last) &&
         !is_entered(tokens, i, out->last, first_goto);
}

static void loop_mark(cpu_tokens *tokens, const cpu_loop *it) {
  const cpu_token *at = tokens->at;
  const int number = it->first;
  cpu_token_set(tokens, it->first,
                mw_format("if (mw_loop mw_loop_%d{%d}) ; else %.*s", number, number, TEXT(&at[it->first])));
  if (it->test == it->open + 1) {
    cpu_token_set(tokens, it->open, mw_format("(mw_loop_%d.step() && (", number));
    cpu_token_set(tokens, it->test_last, mw_format("))"));
  } else {
    const bool is_empty = it->test == it->test_last;
    cpu_token_set(tokens, it->test - 1, mw_format("; mw_loop_%d.step() && (", number));
    cpu_token_set(tokens, it->test_last, mw_format("%s);", is_empty ? "true" : ""));
  }
}

/* One past the body of what is constexpr at i; else the next token. An mw_loop cannot be in it. */
static int constexpr_end(const cpu_tokens *tokens, int i) {
  const int end = cpu_find_open(tokens, i + 1, tokens->count, WORDS("{", ";", "="));
  return end < tokens->count && cpu_token_is(&tokens->at[end], "{") ? tokens->at[end].match + 1 : i + 1;
}

void cpu_loops_mark(cpu_tokens *tokens) {
  cpu_loop *loops = mw_calloc((size_t)tokens->count + 1, sizeof *loops);
  bool *ends_do = mw_calloc((size_t)tokens->count + 2, sizeof *ends_do); /* the while that does */
  const int first_goto = cpu_find(tokens, 0, tokens->count, WORDS("goto"));
  int count = 0;
  for (int i = 0; i < tokens->count; i++) {
    const cpu_token *token = &tokens->at[i];
    if (token->kind == CPU_PRAGMA && memmem(token->text, (size_t)token->size, "unroll", 6)) {
      cpu_token_set(tokens, i, mw_strdup(""));
      tokens->at[i].kind = CPU_NAME;
    } else if (cpu_token_any(token, WORDS("constexpr", "consteval")) && !cpu_token_is(&tokens->at[i + 1], "(")) {
      i = constexpr_end(tokens, i) - 1;
    } else if (!ends_do[i]) {
      if (cpu_token_is(token, "do")) ends_do[cpu_statement_end(tokens, i + 1, tokens->count)] = true;
      count += loop_read(tokens, i, first_goto, &loops[count]);
    }
  }
  for (int i = 0; i < count; i++) loop_mark(tokens, &loops[i]);
  mw_free(ends_do);
  mw_free(loops);
}
