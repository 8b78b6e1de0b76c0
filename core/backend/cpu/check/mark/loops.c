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
#include "core/backend/cpu/check/mark/mark.h"

#include <string.h>

typedef struct reading { /* of a routine; what is written goes to `out`, whose tokens are the program's */
  const mw_token *at;
  const mw_body *tree;
  mw_tokens *out;
} reading;

static bool is_loop(const mw_statement *it) {
  return it->kind == MW_STATEMENT_FOR || it->kind == MW_STATEMENT_WHILE || it->kind == MW_STATEMENT_DO;
}

static bool holds(const mw_statement *outer, const mw_statement *inner) {
  return outer->first <= inner->first && inner->last <= outer->last;
}

/* Whether something outside of the loop jumps into it. */
static bool is_entered(const reading *in, const mw_statement *loop) {
  const mw_statement *first = in->tree->statements, *end = first + in->tree->nstatements;
  bool cases = false, switches = false, labels = false;
  for (const mw_statement *it = first; it < end; it++) {
    cases |= it->kind == MW_STATEMENT_CASE && holds(loop, it);
    switches |= it->kind == MW_STATEMENT_SWITCH && holds(loop, it);
    if (it->kind != MW_STATEMENT_GOTO || holds(loop, it)) continue;
    for (const mw_statement *label = first; label < end; label++)
      labels |= label->kind == MW_STATEMENT_LABEL && holds(loop, label) &&
                mw_same_text(&in->at[label->first], &in->at[it->first + 1]);
  }
  return labels || (cases && !switches);
}

/* With a declaration for a test it stays as it is. */
static bool declares_test(const reading *in, const mw_statement *it) {
  if (it->kind == MW_STATEMENT_FOR) return it->test && !in->tree->exprs[it->test].kind;
  return !it->test;
}

static void loop_mark(const reading *in, const mw_statement *it) {
  const mw_token *at = in->out->at;
  const int number = it->first;
  mw_token_set(in->out, it->first,
               mw_format("if (mw_loop mw_loop_%d{%d}) ; else %.*s", number, number, TEXT(&at[it->first])));
  if (it->kind != MW_STATEMENT_FOR) {
    mw_token_set(in->out, it->open, mw_format("(mw_loop_%d.step() && (", number));
    mw_token_set(in->out, it->close, mw_format("))"));
  } else {
    mw_token_set(in->out, it->init_last, mw_format("; mw_loop_%d.step() && (", number));
    mw_token_set(in->out, it->test_last, mw_format("%s);", it->test ? "" : "true"));
  }
}

void cpu_loops_mark(const cpu_program *program, mw_tokens *out) {
  const cpu_routines *all = cpu_routines_of(program);
  for (const cpu_routine *routine = all->at; routine < all->at + all->count; routine++) {
    const reading in = {program->tokens.at, routine->function.tree, out};
    for (int i = 1; i < in.tree->nstatements && !cpu_is_constexpr(program, &routine->function); i++) {
      const mw_statement *it = &in.tree->statements[i];
      if (is_loop(it) && it->open && !declares_test(&in, it) && !is_entered(&in, it)) loop_mark(&in, it);
    }
  }
  for (int i = 0; i < out->count; i++) {
    if (out->at[i].kind != MW_TOKEN_PRAGMA || !memmem(out->at[i].text, (size_t)out->at[i].size, "unroll", 6)) continue;
    mw_token_set(out, i, mw_strdup(""));
    out->at[i].kind = MW_TOKEN_NAME;
  }
}
