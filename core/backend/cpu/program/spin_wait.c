/* SPDX-License-Identifier: MIT
 *
 * Loops in which a thread waits for what another one writes: while (flag == 0); with a volatile flag, or an atomic
 * read. Threads of a block that run one after the other would never leave them, so fibers run such kernels, and yield
 * where the loop's condition is evaluated.
 *
 * A loop waits where its condition reads memory that others may write, and all else in it stays the same. What makes
 * its own way is none: a counter, a compare-and-swap of a value just read, a lock that the thread gives back, a value
 * that the thread writes in each round to see whether it stays: do { h[b] = c; } while (h[b] != c). There a thread that
 * yields between the two would let others write, which count what it takes back. A barrier in the loop lets the others
 * run. */
#include <string.h>

#include "core/backend/backend.h"
#include "core/backend/cpu/program/program.h"

typedef struct loop {
  int test, test_last; /* the condition; equal: none */
  int first, last;     /* all of it, in tokens */
} loop;

typedef struct waiter {
  cpu_program *program;
  const cpu_token *at;
  cpu_function *function;
} waiter;

static bool is_name(const cpu_token *token, const cpu_token *name) {
  return token->kind == CPU_NAME && cpu_same_text(token, name);
}

/* ---- what others may write ------------------------------------------------------------------------------------- */

/* The name that the declaration with a `volatile` at i declares; -1: it is a cast. */
static int volatile_name(const waiter *in, int i) {
  static const char *const ends[] = {";", ",", "=", "[", ")", "{", NULL};
  for (int k = i + 1; k < in->program->tokens.count; k++) {
    if (cpu_token_any(&in->at[k], ends)) return in->at[k - 1].kind == CPU_NAME && k > i + 2 ? k - 1 : -1;
    if (cpu_token_is(&in->at[k], "<")) k = cpu_angle_end(&in->program->tokens, k, in->program->tokens.count) - 1;
  }
  return -1;
}

/* Declared outside of functions, or in this one. */
static bool concerns(const waiter *in, int i) {
  for (int k = 0; k < in->program->nfunctions; k++) {
    const cpu_function *other = &in->program->functions[k];
    if (other != in->function && !other->is_class && other->first <= i && i < other->last) return false;
  }
  return true;
}

static bool is_volatile(const waiter *in, int name) {
  for (int i = 0; i < in->program->tokens.count; i++) {
    if (!cpu_token_is(&in->at[i], "volatile") || !concerns(in, i)) continue;
    int declared = volatile_name(in, i);
    if (declared >= 0 && is_name(&in->at[name], &in->at[declared])) return true;
  }
  return false;
}

/* 0, 0u, 0ULL */
static bool is_zero(const cpu_token *token) {
  int digits = 1;
  while (digits < (int)token->size && strchr("uUlL", token->text[digits])) digits++;
  return token->text[0] == '0' && digits == (int)token->size;
}

/* atomicAdd(&x, 0) reads; atomicAdd(&x, 1) makes its own way. */
static bool atomic_reads(const waiter *in, int i) {
  if (!cpu_token_any(&in->at[i], WORDS("atomicAdd", "atomicSub", "atomicInc", "atomicDec"))) return true;
  int last = in->at[i + 1].match - 1;
  return is_zero(&in->at[last]) && cpu_token_is(&in->at[last - 1], ",");
}

static bool is_atomic(const waiter *in, int i) {
  const cpu_token *at = &in->at[i];
  if (at->kind != CPU_NAME || !cpu_token_is(at + 1, "(")) return false;
  const int prefix = at->size > 5 && !memcmp(at->text, "__nv_", 5) ? 5 : 0;
  return at->size > prefix + 6 && !memcmp(at->text + prefix, "atomic", 6);
}

static bool reads_others(const waiter *in, int first, int last);

/* A helper that returns such a value: while (load(flag) == 0); */
static bool helper_reads(const waiter *in, int i) {
  if (!cpu_token_is(&in->at[i + 1], "(")) return false;
  int found = cpu_function_next(in->program, &in->at[i], -1);
  if (found < 0) return false;
  waiter helper = {in->program, in->at, &in->program->functions[found]};
  if (helper.function == in->function || helper.function->kernel || helper.function->body < 0) return false;
  for (int k = helper.function->body; k < helper.function->last; k++) {
    int end = k;
    if (!cpu_token_is(&in->at[k], "return")) continue;
    while (!cpu_token_is(&in->at[end], ";")) end++;
    for (int n = k; n < end; n++) /* helpers of helpers are not looked into */
      if (cpu_token_is(&in->at[n], "volatile") || (is_atomic(in, n) && atomic_reads(in, n)) ||
          (in->at[n].kind == CPU_NAME && is_volatile(&helper, n)))
        return true;
  }
  return false;
}

static bool reads_others(const waiter *in, int first, int last) {
  for (int i = first; i < last; i++) {
    if (in->at[i].kind != CPU_NAME) continue;
    if (cpu_token_any(&in->at[i], WORDS("volatile", "__ldcg", "__ldcv")) || (is_atomic(in, i) && atomic_reads(in, i)))
      return true;
    if (is_volatile(in, i) || helper_reads(in, i)) return true;
  }
  return false;
}

/* ---- what the loop itself changes ------------------------------------------------------------------------------ */

/* v = ...: the end of what is assigned, at its , ; or ). */
static int value_end(const waiter *in, int i, int last) {
  return cpu_find_open(&in->program->tokens, i, last, WORDS(";", ",", ")"));
}

static bool changes(const waiter *in, const loop *it, int i, int name) {
  bool tested = it->test <= i && i < it->test_last;
  cpu_write change = is_name(&in->at[i], &in->at[name]) && !cpu_is_member(&in->program->tokens, i)
                         ? cpu_write_at(in->program, &in->program->tokens, i, false)
                         : CPU_READ;
  return change == CPU_CHANGED || (change == CPU_ESCAPED && !tested);
}

static bool steady(const waiter *in, const loop *it, int first, int last);

/* Is the name the same in every round, or (again: may be) whatever others have written? */
static bool fixed(const waiter *in, const loop *it, int name, bool again) {
  for (int i = it->first; i < it->last; i++) {
    if (!changes(in, it, i, name)) continue;
    int end = value_end(in, i + 2, it->last);
    if (!again || !cpu_token_is(&in->at[i + 1], "=") || !reads_others(in, i + 2, end) || !steady(in, it, i + 2, end))
      return false;
  }
  return true;
}

static bool steady(const waiter *in, const loop *it, int first, int last) {
  for (int i = first; i < last; i++)
    if (in->at[i].kind == CPU_NAME && !cpu_is_member(&in->program->tokens, i) && !fixed(in, it, i, false)) return false;
  return true;
}

/* Is the name assigned what others write? */
static bool is_read(const waiter *in, const loop *it, int name) {
  for (int i = it->first; i < it->last; i++)
    if (is_name(&in->at[i], &in->at[name]) && cpu_token_is(&in->at[i + 1], "=") &&
        reads_others(in, i + 2, value_end(in, i + 2, it->last)))
      return true;
  return false;
}

static bool asks_others(const waiter *in, const loop *it, int first, int last) {
  if (reads_others(in, first, last)) return true;
  for (int i = first; i < last; i++)
    if (in->at[i].kind == CPU_NAME && !cpu_is_member(&in->program->tokens, i) && is_read(in, it, i)) return true;
  return false;
}

/* ---- loops ----------------------------------------------------------------------------------------------------- */

/* The loop that begins at token i. */
static bool loop_read(const waiter *in, int i, int last, loop *out) {
  const cpu_token *at = in->at;
  bool is_do = cpu_token_is(&at[i], "do"), is_for = cpu_token_is(&at[i], "for");
  if (!is_do && !is_for && !cpu_token_is(&at[i], "while")) return false;
  int head = is_do ? cpu_statement_end(&in->program->tokens, i + 1, last) + 1 : i + 1;
  if (head >= last || !cpu_token_is(&at[head], "(")) return false;
  *out = (loop){head + 1, at[head].match, i, 0};
  out->last = is_do ? at[head].match + 1 : cpu_statement_end(&in->program->tokens, at[head].match + 1, last);
  if (!is_for) return true;
  const int close = at[head].match, first = cpu_find_open(&in->program->tokens, head + 1, close, WORDS(";"));
  if (first == close) return false; /* for (T x : list) */
  out->test = out->first = first + 1;
  out->test_last = cpu_find_open(&in->program->tokens, first + 1, close, WORDS(";"));
  return true;
}

static bool is_endless(const waiter *in, const loop *it) {
  const cpu_token *test = &in->at[it->test];
  return it->test == it->test_last || (it->test + 1 == it->test_last && cpu_token_any(test, WORDS("true", "1")));
}

/* for (;;) { if (flag) break; } */
static bool leaves_when_told(const waiter *in, const loop *it) {
  for (int i = it->test_last; i < it->last; i++) {
    if (is_atomic(in, i) && !(atomic_reads(in, i) && steady(in, it, i + 2, in->at[i + 1].match))) return false;
  }
  for (int i = it->test_last; i < it->last; i++) {
    if (!cpu_token_is(&in->at[i], "if") || !cpu_token_is(&in->at[i + 1], "(")) continue;
    int close = in->at[i + 1].match, end = cpu_statement_end(&in->program->tokens, close + 1, it->last);
    bool leaves = cpu_find(&in->program->tokens, close, end, WORDS("break", "return")) < end;
    if (leaves && asks_others(in, it, i + 2, close)) return true;
  }
  return false;
}

static bool same_range(const waiter *in, int first, int last, int other, int other_last) {
  int same = 0;
  while (first + same < last && other + same < other_last &&
         cpu_same_text(&in->at[first + same], &in->at[other + same]))
    same++;
  return first + same == last && other + same == other_last;
}

/* Does the condition ask whether the value of the assignment is still there: x != value, or value != x? */
static bool asks_for(const waiter *in, const loop *it, const cpu_range *target, const cpu_range *value) {
  const int sign = cpu_find_open(&in->program->tokens, it->test, it->test_last, WORDS("!="));
  const cpu_range *const sides[] = {target, value};
  for (int k = 0; k < 2; k++)
    if (same_range(in, it->test, sign, sides[k]->first, sides[k]->last) &&
        same_range(in, sign + 1, it->test_last, sides[!k]->first, sides[!k]->last))
      return true;
  return false;
}

/* By a statement of the loop's own block, which every round executes. */
static bool writes_tested(const waiter *in, const loop *it) {
  const int open = cpu_token_is(&in->at[it->first], "do") ? it->first + 1 : it->test_last + 1;
  if (!cpu_token_is(&in->at[open], "{")) return false;
  for (int i = open + 1, begin = i; i < in->at[open].match; i++) {
    const cpu_range target = {begin, i}, value = {i + 1, value_end(in, i + 1, in->at[open].match)};
    if (cpu_token_is(&in->at[i], "=") && asks_for(in, it, &target, &value)) return true;
    if (in->at[i].match > i) i = in->at[i].match;
    if (cpu_token_any(&in->at[i], WORDS(";", "}"))) begin = i + 1;
  }
  return false;
}

static bool test_waits(const waiter *in, const loop *it) {
  if (writes_tested(in, it)) return false;
  for (int i = it->test; i < it->test_last; i++)
    if (in->at[i].kind == CPU_NAME && !cpu_is_member(&in->program->tokens, i) && !fixed(in, it, i, true)) return false;
  return asks_others(in, it, it->test, it->test_last);
}

/* The lock taken at token i is given back before the next barrier: atomicExch(&lock, 0). */
static bool gives_back(const waiter *in, int i) {
  const char *const *const locks =
      WORDS("atomicCAS", "atomicExch", "__nv_atomic_compare_exchange_n", "__nv_atomic_exchange_n");
  if (!cpu_token_any(&in->at[i], locks)) return false;
  for (int k = in->at[i + 1].match; k < in->function->last && !cpu_is_barrier(&in->at[k]); k++) {
    if (!cpu_token_any(&in->at[k], locks)) continue;
    int same = 2;
    while (cpu_same_text(&in->at[i + same], &in->at[k + same]) && !cpu_token_is(&in->at[i + same], ",")) same++;
    if (cpu_token_is(&in->at[i + same], ",") && cpu_token_is(&in->at[k + same], ",")) return true;
  }
  return false;
}

static bool loop_waits(const waiter *in, const loop *it) {
  for (int i = it->first; i < it->last; i++)
    if (cpu_is_barrier(&in->at[i]) || gives_back(in, i)) return false;
  return is_endless(in, it) ? leaves_when_told(in, it) : test_waits(in, it);
}

/* The `while` of a do loop, which has been read with its `do`. */
static bool ends_do(const waiter *in, int i) {
  for (int k = in->function->body + 1; k < i; k++)
    if (cpu_token_is(&in->at[k], "do") && cpu_statement_end(&in->program->tokens, k + 1, in->function->last) == i)
      return true;
  return false;
}

static void function_read(waiter *in) {
  cpu_function *function = in->function;
  for (int i = function->body + 1; i < function->last; i++) {
    loop found;
    if (!loop_read(in, i, function->last, &found) || ends_do(in, i) || !loop_waits(in, &found)) continue;
    in->program->tokens.at[found.test].yields = true;
    if (function->wait < 0) function->wait = i;
  }
}

void cpu_spin_waits_find(cpu_program *program) {
  waiter in = {program, program->tokens.at, NULL};
  const int count = program->tokens.count;
  bool any = cpu_find(&program->tokens, 0, count, WORDS("volatile", "__ldcg", "__ldcv")) < count;
  for (int i = 0; i < count && !any; i++) any = is_atomic(&in, i);
  for (int i = 0; any && i < program->nfunctions; i++) {
    in.function = &program->functions[i];
    if (in.function->body >= 0) function_read(&in);
  }
}
