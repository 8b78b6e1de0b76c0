/* SPDX-License-Identifier: MIT
 *
 * Loops in a kernel's body, and which of them are better done by all threads together: for (k ...) for (t ...) reads
 * memory as a GPU's threads do, side by side, and vectorises; for (t ...) for (k ...) lets one thread walk through all
 * of it before the next begins. CUDA orders nothing between threads but at barriers, so either is right.
 *
 * Conditions first: which are the same for all threads, which need a predicate. A loop is lifted where its header is
 * the same for all threads. A grid-stride loop is first made one of that kind: for (int i = E; i < n; i += S) body   ->
 * for (int k = 0; first(E) + k < n; k += S) { int i = E + k; if (i < n) body } where E grows with the thread, so that
 * the first thread is the last to leave. */
#include <stdlib.h>
#include <string.h>

#include "core/backend/backend.h"
#include "core/backend/cpu/split/split.h"

enum { SHORT_LOOP = 32 };

/* ---- conditions ------------------------------------------------------------------------------------------------ */

bool cpu_header_uniform(const cpu_splitter *in, int index) {
  const cpu_node *node = &in->nodes[index];
  if (!cpu_is_uniform(in, node->head, node->head_last)) return false;
  for (int i = 0; i < in->nlocals; i++)
    if (in->locals[i].node == index && !in->locals[i].uniform) return false;
  return true;
}

/* A condition that differs between threads: warp operations go under a predicate, a barrier cannot. */
static bool predicate_give(cpu_splitter *in, int index) {
  cpu_node *node = &in->nodes[index];
  bool headed = node->kind == CPU_NODE_IF || node->kind == CPU_NODE_FOR || node->kind == CPU_NODE_WHILE ||
                node->kind == CPU_NODE_DO;
  if (!headed || !cpu_node_splits(node) || node->predicate) return false;
  if (node->kind == CPU_NODE_FOR && node->test_last == node->head_last && node->init_last == node->head_last)
    cpu_split_refuse(in, node->first, "a range-based for with a barrier or warp operation in it is not understood");
  if (cpu_header_uniform(in, index)) return false;
  if (node->barrier >= 0)
    cpu_split_refuse(in, node->barrier, "barrier is under a condition that differs between threads: line %d",
                     in->work.at[node->first].line);
  else if (node->kind == CPU_NODE_DO)
    cpu_split_refuse(in, node->first, "a warp operation is in a do loop whose condition differs between threads");
  node->predicate = ++in->predicates;
  return true;
}

static void masked_loops_check(cpu_splitter *in) {
  for (int i = 0; i < in->nnodes; i++) {
    const cpu_node *node = &in->nodes[i];
    if (!node->predicate || node->kind == CPU_NODE_IF) continue;
    for (int k = 0; k < in->nnodes; k++)
      if ((in->nodes[k].kind == CPU_NODE_BREAK || in->nodes[k].kind == CPU_NODE_CONTINUE) &&
          cpu_loop_around(in, k, in->nodes[k].kind == CPU_NODE_BREAK) == i)
        cpu_split_refuse(in, in->nodes[k].first,
                         "a jump in a loop with warp operations whose condition differs between threads: line %d",
                         in->work.at[node->first].line);
  }
}

/* Predicates make fewer variables uniform, which makes more predicates: until nothing changes. */
static void conditions_settle(cpu_splitter *in) {
  for (bool changed = true; changed && !in->refused;) {
    changed = false;
    mw_free(in->locals);
    in->locals = NULL;
    in->nlocals = 0;
    cpu_locals_read(in);
    for (int i = 0; i < in->nnodes; i++) changed |= predicate_give(in, i);
  }
  masked_loops_check(in);
}

/* ---- grid-stride loops ----------------------------------------------------------------------------------------- */

typedef struct stride {
  cpu_declarator variable;
  int bound, bound_last, step, step_last;
} stride;

static bool has_word(const cpu_splitter *in, const cpu_node *node, const char *const *words) {
  for (int i = node->first; i < node->last; i++)
    if (in->work.at[i].kind == CPU_NAME && cpu_token_any(&in->work.at[i], words)) return true;
  return false;
}

/* Is the variable only read in the loop's body? */
static bool only_read(const cpu_splitter *in, const cpu_node *node, int name) {
  for (int i = node->head_last; i < node->last; i++)
    if (cpu_same_text(&in->work.at[i], &in->work.at[name]) && !cpu_is_member(&in->work, i) &&
        cpu_change_at(in->program, &in->work, i, false) != CPU_READ)
      return false;
  return true;
}

static bool plain_integer(const cpu_splitter *in, const cpu_declarator *it) {
  static const char *const types[] = {"const",    "int",     "unsigned", "long",    "size_t",
                                      "uint32_t", "int32_t", "uint64_t", "int64_t", NULL};
  for (int i = it->spec; i < it->spec_last; i++)
    if (!cpu_token_any(&in->work.at[i], types)) return false;
  return true;
}

/* for (T i = ...; i < bound; i += step) */
static bool stride_form(const cpu_splitter *in, const cpu_node *node, stride *out) {
  const cpu_token *at = in->work.at;
  int count = 0, test = node->init_last + 1, step = node->test_last + 1;
  if (!cpu_declarator_read(&in->work, node->head, node->init_last, &out->variable, 1, &count) || count != 1)
    return false;
  const cpu_token *name = &at[out->variable.name];
  if (out->variable.first != out->variable.name || out->variable.dims_last > out->variable.dims) return false;
  if (!cpu_same_text(&at[test], name) || !cpu_token_is(&at[test + 1], "<")) return false;
  if (!cpu_same_text(&at[step], name) || !cpu_token_is(&at[step + 1], "+=")) return false;
  out->bound = test + 2;
  out->bound_last = node->test_last;
  out->step = step + 2;
  out->step_last = node->head_last;
  return out->bound < out->bound_last && out->step < out->step_last;
}

static bool steady(const cpu_splitter *in, int first, int last) {
  for (int i = first; i < last; i++) {
    int local = cpu_local_find(in, i);
    if (local >= 0 && (in->locals[local].class != CPU_UNIFORM || in->locals[local].changes)) return false;
    if (in->work.at[i].kind == CPU_PUNCT && cpu_token_is(&in->work.at[i], ",")) return false;
  }
  return cpu_is_pure(in, first, last) && cpu_is_uniform(in, first, last);
}

static bool stride_fits(const cpu_splitter *in, int index, stride *out) {
  static const char *const jumps[] = {"return", "break", "continue", "goto", NULL};
  const cpu_node *node = &in->nodes[index];
  if (node->kind != CPU_NODE_FOR || cpu_node_splits(node) || has_word(in, node, jumps)) return false;
  if (!stride_form(in, node, out) || !plain_integer(in, &out->variable) || !only_read(in, node, out->variable.name))
    return false;
  for (int up = node->parent; up >= 0; up = in->nodes[up].parent) {
    const cpu_node *around = &in->nodes[up];
    bool open = around->kind == CPU_NODE_BLOCK || (around->kind == CPU_NODE_IF && cpu_is_guard(in, up));
    if (!open && !(cpu_node_splits(around) && cpu_header_uniform(in, up))) return false;
  }
  return steady(in, out->bound, out->bound_last) && steady(in, out->step, out->step_last) &&
         cpu_growing_scale(in, out->variable.init, out->variable.init_last) > 0;
}

static void type_put(const cpu_splitter *in, const cpu_declarator *it, cpu_tokens *next) {
  for (int i = it->spec; i < it->spec_last; i++)
    if (!cpu_token_is(&in->work.at[i], "const")) cpu_tokens_push(next, &in->work.at[i]);
}

static void stride_put(cpu_splitter *in, int index, const stride *it, cpu_tokens *next) {
  const cpu_node *node = &in->nodes[index];
  const cpu_token *like = &in->work.at[node->first];
  const cpu_declarator *v = &it->variable;
  int number = ++in->serial;
  cpu_tokens_scan(next, "for ( ", like);
  type_put(in, v, next);
  cpu_tokens_format(next, like, " mw_k%d = 0 ; ( ", number);
  type_put(in, v, next);
  cpu_tokens_scan(next, " ) ( mw_first ( ", like);
  cpu_tokens_copy(next, &in->work, v->init, v->init_last);
  cpu_tokens_format(next, like, " ) + mw_k%d ) < ", number);
  cpu_tokens_copy(next, &in->work, it->bound, it->bound_last);
  cpu_tokens_format(next, like, " ; mw_k%d += ", number);
  cpu_tokens_copy(next, &in->work, it->step, it->step_last);
  cpu_tokens_scan(next, " ) { ", like);
  cpu_tokens_copy(next, &in->work, v->spec, v->name + 1);
  cpu_tokens_scan(next, " = ( ", like);
  cpu_tokens_copy(next, &in->work, v->init, v->init_last);
  cpu_tokens_format(next, like, " ) + mw_k%d ; if ( ", number);
  cpu_tokens_copy(next, &in->work, node->init_last + 1, node->test_last);
  cpu_tokens_scan(next, " ) ", like);
  cpu_tokens_copy(next, &in->work, node->head_last + 1, node->last);
  cpu_tokens_scan(next, " }", like);
}

static bool stride_rewrite(cpu_splitter *in) {
  for (int i = 0; i < in->nnodes; i++) {
    stride found;
    cpu_tokens part = {0};
    if (!stride_fits(in, i, &found)) continue;
    stride_put(in, i, &found, &part);
    cpu_tokens_replace(in, in->nodes[i].first, in->nodes[i].last, &part);
    return true;
  }
  return false;
}

/* ---- which loops ----------------------------------------------------------------------------------------------- */

/* for (int k = 0; k < 4; k++): unrolled by the compiler, inside of the thread loop. */
static bool is_short(const cpu_splitter *in, const cpu_node *node) {
  int last = node->test_last - 1;
  const cpu_token *token = &in->work.at[last];
  return token->kind == CPU_NUMBER && last == node->init_last + 3 && strtol(token->text, NULL, 0) <= SHORT_LOOP;
}

static bool liftable(const cpu_splitter *in, int index) {
  static const char *const jumps[] = {"return", "break", "continue", "goto", NULL};
  const cpu_node *node = &in->nodes[index];
  return node->kind == CPU_NODE_FOR && !node->lifted && !has_word(in, node, jumps) && !is_short(in, node);
}

/* An array of a thread's own, declared outside: its elements would not lie side by side. */
static bool uses_outer_array(const cpu_splitter *in, const cpu_node *node) {
  for (int i = node->first; i < node->last; i++) {
    int local = cpu_local_find(in, i);
    if (local < 0 || in->locals[local].declarator.dims_last == in->locals[local].declarator.dims) continue;
    if (in->locals[local].declarator.name < node->first && !in->locals[local].uniform) return true;
  }
  return false;
}

/* Under a condition that few threads may pass, the others would only wait. */
static bool stands_free(const cpu_splitter *in, int index) {
  for (int up = in->nodes[index].parent; up >= 0; up = in->nodes[up].parent)
    if (in->nodes[up].predicate && !in->nodes[up].guard) return false;
  return true;
}

static bool lifts(const cpu_splitter *in, int index) {
  const cpu_node *node = &in->nodes[index];
  return !node->predicate && cpu_header_uniform(in, index) && stands_free(in, index) && !uses_outer_array(in, node);
}

static bool made_of_constants(const cpu_splitter *in, const cpu_node *node) {
  for (int i = node->head; i < node->head_last; i++) {
    int local = cpu_local_find(in, i);
    if (in->work.at[i].size > 3 && !memcmp(in->work.at[i].text, "mw_", 3)) return false;
    if (local >= 0 && in->locals[local].changes) return false;
  }
  return true;
}

static void guards_mark(cpu_splitter *in) {
  in->guard_scale = 0;
  for (int i = 0; i < in->nnodes; i++) {
    cpu_node *node = &in->nodes[i];
    node->guard = node->parent == 0 && cpu_is_guard(in, i) && made_of_constants(in, node) && node->otherwise < 0;
    if (!node->guard) continue;
    int scale = cpu_guard_scale(in, node->head, node->head_last, cpu_leaves_if(in, i));
    in->guard_scale = scale > in->guard_scale ? scale : in->guard_scale;
  }
}

/* Marks all that may be lifted but the blocked ones; blocks those that turn out not to fit. False: none had to be. */
static bool lift_round(cpu_splitter *in, bool *blocked) {
  bool again = false;
  cpu_tree_read(in);
  for (int i = 0; i < in->nnodes; i++)
    if (!blocked[i] && liftable(in, i)) cpu_node_lift(in, i);
  conditions_settle(in);
  guards_mark(in);
  for (int i = 0; i < in->nnodes; i++)
    if (in->nodes[i].lifted && !lifts(in, i)) blocked[i] = again = true;
  return again && !in->refused;
}

/* A thread that holds a lock must come to its end before the next one waits for it. */
static bool may_lock(const cpu_program *program) {
  static const char *const words[] = {"atomicCAS", "atomicExch", "volatile", NULL};
  for (int i = 0; i < program->tokens.count; i++)
    if (program->tokens.at[i].kind == CPU_NAME && cpu_token_any(&program->tokens.at[i], words)) return true;
  return false;
}

void cpu_loops_lift(cpu_splitter *in) {
  conditions_settle(in);
  guards_mark(in);
  if (!in->lift || in->refused || may_lock(in->program)) return;
  while (!in->refused && (stride_rewrite(in) || cpu_element_hoist(in))) {
    conditions_settle(in);
    guards_mark(in);
  }
  bool *blocked = mw_calloc((size_t)in->nnodes + 1, sizeof *blocked);
  while (lift_round(in, blocked)) continue;
  mw_free(blocked);
}

bool cpu_has_lifted(const cpu_splitter *in) {
  for (int i = 0; i < in->nnodes; i++)
    if (in->nodes[i].lifted) return true;
  return false;
}
