/* SPDX-License-Identifier: MIT
 *
 * The walk over a kernel's statements that writes the function of a whole block. What stands between two split points
 * is gathered (a region) and written by region.c as a loop over the threads; control flow that is the same for all
 * threads stays outside of those loops:
 *
 *   for (int k = 0; k < n; k++) {         for (int k = 0; k < n; k++) {
 *     s[t] = x[k * 64 + t];                 for (threads) { s[t] = x[k * 64 + t]; }
 *     __syncthreads();                ->
 *     sum += s[63 - t];                     for (threads) { sum of t += s[63 - t]; }
 *     __syncthreads();
 *   }                                     }
 *
 * The same walk is done twice: first without text, to number the regions, which decides where each variable lives
 * (cpu_places), then to write. A variable whose uses are all in one region is an ordinary variable of its thread loop
 * instead of an array: measured, 1 to 2.4 times as fast on random_uniform with clang++. */
#include <string.h>

#include "core/backend/cpu/split/region.h"
#include "core/base/interrupt.h"

/* ---- variables where barriers are ------------------------------------------------------------------------------ */

static void type_tokens_put(cpu_writer *it, const cpu_local *local) {
  const mw_token *at = it->in->work.at;
  const mw_declared *d = &local->declarator;
  bool after = false;
  for (int i = d->spec, end; i < d->name; i = end == d->spec_last ? d->first : end) {
    end = mw_token_is(&at[i], "<") ? mw_angle_end(&it->in->work, i, d->spec_last) : i + 1;
    after |= mw_token_is(&at[i], "*");
    if (mw_token_any(&at[i], WORDS("&", "&&")) ||
        ((after || !local->pointer) && mw_token_any(&at[i], WORDS("const", "constexpr", "__restrict__", "__restrict"))))
      continue;
    cpu_put_tokens(it, i, end);
    cpu_put(it, " ");
  }
}

/* typedef float mw_T3; mw_private<mw_T3, 1024> mw_L3; mw_T3 &x = mw_L3.at[0]; the last for the sake of its type. Of a
 * reference the elements are pointers. */
static void storage_put(cpu_writer *it, int index) {
  const cpu_local *local = &it->in->locals[index];
  const mw_declared *d = &local->declarator;
  if (local->is_auto) {
    cpu_put(it, local->reference ? "typedef __typeof__((" : "typedef mw_plain<decltype(");
    cpu_put_tokens(it, d->value, d->value_last);
    cpu_put(it, local->reference ? ")) mw_T%d;" : ")> mw_T%d;", index);
  } else {
    cpu_put(it, " typedef ");
    type_tokens_put(it, local);
    cpu_put(it, " mw_T%d", index);
    cpu_put_tokens(it, d->name + 1, d->dims_last);
    cpu_put(it, ";");
  }
  cpu_put(it, " mw_private<%smw_T%d%s, %d> mw_L%d;", local->reference && local->is_const ? "const " : "", index,
          local->reference ? " *" : "", cpu_threads_most(it->in), index);
  cpu_variable_put(it, index, "0");
  /* (void)x would read through a reference to what is volatile */
  cpu_put(it, local->reference ? " (void)__builtin_addressof(%.*s);" : " (void)%.*s;", TEXT(&it->in->work.at[d->name]));
  if (cpu_some_wait(it)) cpu_put(it, " mw_L%d.clear(mw_n);", index);
}

/* a[t] = c; const int c = 3;  What is declared precedes the open region, which must not name another c. */
static bool hides(const cpu_writer *it, const mw_token *name) {
  const mw_body *body = &it->in->body;
  for (const cpu_segment *piece = it->open; piece < it->open + it->nopen; piece++)
    for (int i = piece->first; (i = mw_find_use(&it->in->work, i, piece->last, name)) < piece->last; i++)
      if (body->declared[body->bound[i - 1]].name < piece->first) return true;
  return false;
}

static void hidden_flush(cpu_writer *it, int first, int last) {
  const mw_body *body = &it->in->body;
  const mw_token *at = it->in->work.at;
  for (int i = mw_declared_from(body, first); i < body->ndeclared && body->declared[i].name < last; i++)
    if (hides(it, &at[body->declared[i].name])) cpu_region_flush(it);
  for (int i = first + 1; mw_token_is(&at[first], "enum") && i < last; i++)
    if (mw_token_any(&at[i - 1], WORDS("{", ",")) && hides(it, &at[i])) cpu_region_flush(it);
}

static void declare_walk(cpu_writer *it, int node, int first, int last) {
  cpu_splitter *in = it->in;
  hidden_flush(it, first, last);
  for (int i = cpu_locals_from(in, node); i < in->nlocals && in->locals[i].node == node; i++) {
    const cpu_local *local = &in->locals[i];
    const mw_declared *d = &local->declarator;
    if (local->class == CPU_UNIFORM && !local->constant && !cpu_is_pure(in, d->value, d->value_last))
      cpu_region_flush(it);
    if (local->class == CPU_PRIVATE && local->reference && it->out && !cpu_is_lasting(in, d->value, d->value_last))
      cpu_split_reject(in, first, "the reference '%.*s' to a value is used on both sides of a barrier",
                       TEXT(&in->work.at[d->name]));
    if (local->class == CPU_PRIVATE && it->out && mw_lambda_open(&in->work, d->value))
      cpu_split_reject(in, first, "the lambda '%.*s' has variables of its own, and is used on both sides of a barrier",
                       TEXT(&in->work.at[d->name]));
    if (local->class == CPU_PRIVATE) storage_put(it, i);
    if (local->class == CPU_UNIFORM || local->class == CPU_AGAIN) {
      if (!local->constant) cpu_known_put(it, d->value, d->value_last);
      cpu_put_tokens(it, first, last);
      cpu_sizes_put(it, d->dims, d->dims_last);
      if (!local->constant) cpu_known_local_put(it, local);
    } else
      cpu_segment_add(it, CPU_SEGMENT_DECLARE, first, last, node);
  }
}

/* ---- jumps ----------------------------------------------------------------------------------------------------- */

static bool inside(const cpu_splitter *in, int node, int outer) {
  return node >= 0 && in->nodes[outer].first <= in->nodes[node].first && in->nodes[node].last <= in->nodes[outer].last;
}

/* Jumps in a statement that runs in a thread loop: none may leave a loop that stands outside. */
static void jumps_check(cpu_splitter *in, int node) {
  for (int i = node; i < in->nnodes && in->nodes[i].first < in->nodes[node].last; i++) {
    const cpu_node *jump = &in->nodes[i];
    bool is_break = jump->kind == CPU_NODE_BREAK;
    if (jump->kind == CPU_NODE_RETURN && cpu_context(in, node))
      cpu_split_reject(in, jump->first,
                       "return under a condition that differs between threads, with warp operations beside it");
    if (!is_break && jump->kind != CPU_NODE_CONTINUE) continue;
    if (!inside(in, cpu_loop_around(in, i), node))
      cpu_split_reject(in, jump->first,
                       "%s out of a loop with barriers, under a condition that differs between threads",
                       is_break ? "break" : "continue");
  }
}

/* A jump that all threads take together, standing outside of thread loops. */
static void jump_check(cpu_splitter *in, int node) {
  while (in->nodes[node].kind == CPU_NODE_BLOCK) node = in->nodes[node].child;
  const cpu_node *jump = &in->nodes[node];
  int loop = cpu_loop_around(in, node);
  bool fits = jump->kind == CPU_NODE_RETURN
                  ? !cpu_context(in, node)
                  : loop >= 0 && !in->nodes[loop].predicate && cpu_context(in, node) == cpu_context(in, loop);
  if (!fits) cpu_split_reject(in, jump->first, "a jump under a condition that differs between threads");
}

static bool jumps_together(const cpu_splitter *in, int index) {
  const cpu_node *node = &in->nodes[index];
  return cpu_is_jump(in, index) || (node->kind == CPU_NODE_IF && node->otherwise < 0 && cpu_is_jump(in, node->child) &&
                                    cpu_is_uniform(in, node->head, node->head_last));
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static void walk(cpu_writer *it, int node);

static void body_walk(cpu_writer *it, int node) {
  if (node < 0) return;
  if (it->in->nodes[node].kind == CPU_NODE_BLOCK)
    for (int i = it->in->nodes[node].child; i >= 0; i = it->in->nodes[i].next) walk(it, i);
  else
    walk(it, node);
}

/* The body after a { that has been written, and its }. */
static void braced_walk(cpu_writer *it, int body) {
  body_walk(it, body);
  cpu_region_flush(it);
  cpu_put(it, "\n}\n");
}

static bool assigns_uniform(const cpu_splitter *in, const cpu_node *node) {
  int name = node->first + mw_token_any(&in->work.at[node->first], WORDS("++", "--"));
  int local = cpu_local_find(in, name);
  return local >= 0 && in->locals[local].class == CPU_UNIFORM &&
         cpu_use_at(&in->body, name, CPU_POINTER) == CPU_CHANGED;
}

/* Shared memory declared inside of a loop or a branch keeps its contents when that ends. */
static void type_put(cpu_writer *it, const cpu_node *node) {
  hidden_flush(it, node->first, node->last);
  cpu_shared_put(it, node->first, node->last, node->parent == 0 ? cpu_stack_shared : cpu_placed_kept);
  cpu_sizes_put(it, node->first, node->last);
}

static void simple_walk(cpu_writer *it, int index) {
  cpu_splitter *in = it->in;
  const cpu_node *node = &in->nodes[index];
  if (node->kind == CPU_NODE_TYPE)
    type_put(it, node);
  else if (node->kind == CPU_NODE_DECLARE)
    declare_walk(it, index, node->first, node->last);
  else if (!(in->plain && it->nopen) && jumps_together(in, index)) {
    cpu_region_flush(it);
    jump_check(in, node->kind == CPU_NODE_IF ? node->child : index);
    cpu_known_put(it, node->head, node->head_last);
    cpu_put_tokens(it, node->first, node->last);
  } else if (node->kind == CPU_NODE_LEAF && assigns_uniform(in, node)) {
    cpu_region_flush(it);
    cpu_known_put(it, node->first, node->last);
    cpu_put_tokens(it, node->first, node->last);
  } else if (node->last > node->first + 1 || node->kind != CPU_NODE_LEAF) {
    jumps_check(in, index);
    cpu_segment_add(it, CPU_SEGMENT_STATEMENT, node->first, node->last, index);
  }
}

/* Does the block declare a name that means another variable outside? Then nothing from outside may be written in it. */
static bool shadows(const cpu_splitter *in, int block) {
  for (int i = 0; i < in->nlocals; i++)
    for (int k = 0; k < in->nlocals; k++)
      if (i != k && inside(in, in->locals[i].node, block) && !inside(in, in->locals[k].node, block) &&
          mw_same_text(&in->work.at[in->locals[i].declarator.name], &in->work.at[in->locals[k].declarator.name]))
        return true;
  return false;
}

static void block_walk(cpu_writer *it, int node) {
  if (shadows(it->in, node)) cpu_region_flush(it);
  cpu_put(it, " {\n");
  braced_walk(it, node);
}

static void head_put(cpu_writer *it, const char *front, const cpu_node *node, const char *back) {
  cpu_put(it, "%s", front);
  cpu_put_tokens(it, node->head, node->head_last);
  cpu_put(it, "%s", back);
}

/* if (n > 3) __syncthreads();  ->  the same */
static void uniform_if_walk(cpu_writer *it, const cpu_node *node) {
  cpu_region_flush(it);
  cpu_known_put(it, node->head, node->head_last);
  const bool is_constexpr = mw_token_is(&it->in->work.at[node->first + 1], "constexpr");
  head_put(it, is_constexpr ? "\nif constexpr (" : "\nif (", node, ") {\n");
  braced_walk(it, node->child);
  if (node->otherwise < 0) return;
  cpu_put(it, "else {\n");
  braced_walk(it, node->otherwise);
}

/* All threads are known to pass. */
static void passed_if_walk(cpu_writer *it, int index) {
  cpu_region_flush(it);
  cpu_put(it, " {\n");
  braced_walk(it, cpu_leaves_if(it->in, index) ? -1 : it->in->nodes[index].child);
}

static void bounds_check_push(cpu_writer *it, const cpu_node *node, int value) {
  if (it->nbounds_checks == CPU_MOST_GUARDS)
    cpu_split_reject(it->in, node->first, "conditions are nested too deeply");
  else
    it->bounds_checks[it->nbounds_checks++] = (cpu_bounds_check){node->predicate, value};
}

static void mask_put(cpu_writer *it, const cpu_node *node) {
  cpu_put(it, "\nmw_mask<%d> mw_p%d; mw_p%d.clear(mw_n);\n", cpu_threads_most(it->in), node->predicate,
          node->predicate);
}

static void guarded_walk(cpu_writer *it, const cpu_node *node, int value, int body) {
  if (body < 0) return;
  bounds_check_push(it, node, value);
  if (it->in->rejected) return;
  cpu_put(it, "if (mw_p%d.some(%d, mw_n)) {\n", node->predicate, value);
  braced_walk(it, body);
  it->nbounds_checks--;
}

/* if (t < 16) v += __shfl_down_sync(m, v, 1);  ->
 * for (threads) { p of t = t < 16 ? 1 : 2; } if (some p is 1) { for (threads) { if (p of t != 1) continue; ... } } */
static void predicated_if_walk(cpu_writer *it, int index) {
  const cpu_node *node = &it->in->nodes[index];
  cpu_put(it, " {\n");
  mask_put(it, node);
  cpu_segment_add(it, CPU_SEGMENT_PREDICATE, node->head, node->head_last, index);
  cpu_region_flush(it);
  guarded_walk(it, node, 1, node->child);
  guarded_walk(it, node, 2, node->otherwise);
  cpu_put(it, " }\n");
}

/* Each thread leaves the loop in its own time; the loop ends when all have. */
static void masked_loop_walk(cpu_writer *it, int index) {
  const cpu_splitter *in = it->in;
  const cpu_node *node = &in->nodes[index];
  const int local = cpu_locals_from(in, index);
  const bool is_for = node->kind == CPU_NODE_FOR, declares = local < in->nlocals && in->locals[local].node == index;
  int test = is_for ? node->init_last + 1 : node->head, test_last = is_for ? node->test_last : node->head_last;
  cpu_region_flush(it);
  cpu_put(it, " {\n");
  if (declares)
    declare_walk(it, index, node->head, node->init_last + 1);
  else if (is_for && node->init_last > node->head)
    cpu_segment_add(it, CPU_SEGMENT_STATEMENT, node->head, node->init_last + 1, index);
  mask_put(it, node);
  cpu_segment_add(it, CPU_SEGMENT_PREDICATE, node->first, node->first, index);
  cpu_region_flush(it);
  bounds_check_push(it, node, 1);
  if (in->rejected) return;
  cpu_put(it, "for (;;) {\n");
  cpu_segment_add(it, CPU_SEGMENT_PREDICATE, test, test_last, index);
  cpu_region_flush(it);
  cpu_put(it, "if (!mw_p%d.some(1, mw_n)) break;\n", node->predicate);
  body_walk(it, node->child);
  if (is_for && node->head_last > node->test_last + 1) {
    cpu_segment_add(it, CPU_SEGMENT_STATEMENT, node->test_last + 1, node->head_last, index);
    cpu_segment_add(it, CPU_SEGMENT_STATEMENT, node->test_last, node->test_last + 1, index); /* its ; */
  }
  braced_walk(it, -1);
  it->nbounds_checks--;
  cpu_put(it, " }\n");
}

static void uniform_loop_walk(cpu_writer *it, const cpu_node *node) {
  bool is_do = node->kind == CPU_NODE_DO;
  cpu_region_flush(it);
  cpu_known_put(it, node->head, node->head_last);
  if (is_do)
    cpu_put(it, "\ndo {\n");
  else
    head_put(it, node->kind == CPU_NODE_FOR ? "\nfor (" : "\nwhile (", node, ") {\n");
  braced_walk(it, node->child);
  if (is_do) head_put(it, "while (", node, ");\n");
}

static const char *const shuffle_types[] = {"mw_shuffle", "mw_votes", "mw_values", "mw_votes", "mw_votes", "mw_votes"};
static const char *const shuffle_results[] = {"", "", "", "count", "all", "any"};

/* mw_exchange(3, 0, v);  ->  mw_shuffle<1024, float> mw_x3; for (threads) { mw_x3.at[mw_t + 32] = (v); } */
static void shuffle_walk(cpu_writer *it, int index) {
  const cpu_node *node = &it->in->nodes[index];
  const mw_token *number = &it->in->work.at[node->first + 2];
  int kind = cpu_shuffle_kind(it->in, node);
  cpu_put(it, "\n%s<%d", shuffle_types[kind], cpu_threads_most(it->in));
  if (kind == 0 || kind == 2) {
    cpu_put(it, ", mw_word<decltype(");
    cpu_put_tokens(it, node->first + 6, node->last - 2);
    cpu_put(it, ")>");
  }
  cpu_put(it, "> mw_x%.*s;", TEXT(number));
  if (kind || cpu_some_wait(it))
    cpu_put(it, " mw_x%.*s.clear(mw_n);\n", TEXT(number));
  else
    cpu_put(it, " mw_x%.*s.end(mw_n);\n", TEXT(number));
  cpu_segment_add(it, CPU_SEGMENT_EXCHANGE, node->first, node->last, index);
  cpu_region_flush(it);
  if (kind) cpu_put(it, "mw_x%.*s.collect(mw_n);\n", TEXT(number));
  if (kind >= 3)
    cpu_put(it, "const int mw_v%.*s = mw_x%.*s.%s(mw_n);\n", TEXT(number), TEXT(number), shuffle_results[kind]);
}

/* Before each case ends the region, and a block, so that no case jumps over a declaration. */
static void switch_walk(cpu_writer *it, const cpu_node *node) {
  if (node->predicate || it->in->nodes[node->child].kind != CPU_NODE_BLOCK)
    cpu_split_reject(it->in, node->first, "a switch around a warp operation differs between threads, or has no braces");
  cpu_region_flush(it);
  cpu_known_put(it, node->head, node->head_last);
  head_put(it, "\nswitch (", node, ") {{\n");
  body_walk(it, node->child);
  braced_walk(it, -1);
  cpu_put(it, "}\n");
}

static void case_walk(cpu_writer *it, const cpu_node *node) {
  const cpu_node *around = &it->in->nodes[it->in->nodes[node->parent].parent];
  if (around->kind != CPU_NODE_SWITCH || mw_has(&it->in->work, node->first, node->last, "?"))
    cpu_split_reject(it->in, node->first, "a case around a barrier is not understood");
  cpu_region_flush(it);
  cpu_put(it, "}\n");
  cpu_put_tokens(it, node->first, node->last);
  cpu_put(it, " {\n");
}

/* That of the grid waits for the other blocks. */
static void barrier_walk(cpu_writer *it, const cpu_node *node) {
  cpu_region_flush(it);
  if (mw_token_is(&it->in->work.at[node->first], "mw_grid_sync")) cpu_put_tokens(it, node->first, node->last);
}

static void walk(cpu_writer *it, int index) {
  const cpu_node *node = &it->in->nodes[index];
  if (it->in->rejected || atomic_load_explicit(&mw_interrupted, memory_order_relaxed)) return;
  if (node->kind == CPU_NODE_CASE)
    case_walk(it, node);
  else if (!cpu_node_splits(node))
    simple_walk(it, index);
  else if (node->kind == CPU_NODE_BARRIER || node->kind == CPU_NODE_WARP)
    barrier_walk(it, node);
  else if (node->kind == CPU_NODE_EXCHANGE)
    shuffle_walk(it, index);
  else if (node->kind == CPU_NODE_BLOCK)
    block_walk(it, index);
  else if (node->bounds_check && it->passed)
    passed_if_walk(it, index);
  else if (node->kind == CPU_NODE_SWITCH)
    switch_walk(it, node);
  else if (node->kind == CPU_NODE_IF)
    node->predicate ? predicated_if_walk(it, index) : uniform_if_walk(it, node);
  else
    node->predicate ? masked_loop_walk(it, index) : uniform_loop_walk(it, node);
}

/* ---- where variables live -------------------------------------------------------------------------------------- */

/* After a first walk: which variables have all their uses in one region? */
static void places_note(cpu_writer *it, bool *single) {
  cpu_splitter *in = it->in;
  for (int i = 0; i < in->nlocals; i++) in->locals[i].region = -2;
  for (int i = 0; i < in->work.count; i++) {
    int index = cpu_local_find(in, i);
    if (index < 0) continue;
    cpu_local *local = &in->locals[index];
    if (local->region == -2)
      local->region = it->regions[i];
    else if (local->region != it->regions[i])
      local->region = -1;
  }
  for (int i = 0; i < in->nlocals; i++) {
    const cpu_local *local = &in->locals[i];
    bool declared = in->nodes[local->node].kind == CPU_NODE_DECLARE;
    const bool kept = in->program->hidden.makes && cpu_local_knows(in, local) < CPU_KNOWN; /* by its constructor */
    bool one = local->region >= 0 && !local->escapes && !kept && !local->typed && declared;
    single[i] &= one || (in->plain && it->last_region == 0);
  }
}

static void first_walk(cpu_splitter *in, bool passed, int *regions, bool *single) {
  cpu_writer it = {.in = in, .regions = regions, .passed = passed};
  for (int i = 0; i <= in->work.count; i++) regions[i] = -1;
  body_walk(&it, 0);
  cpu_region_flush(&it);
  in->returns[passed] = it.returns && !(in->plain && it.last_region == 0);
  places_note(&it, single);
}

void cpu_places(cpu_splitter *in) {
  int *regions = mw_malloc((size_t)(in->work.count + 1) * sizeof *regions);
  bool *single = mw_malloc((size_t)in->nlocals + 1);
  memset(single, 1, (size_t)in->nlocals + 1);
  first_walk(in, false, regions, single);
  if (in->bounds_check_scale) first_walk(in, true, regions, single);
  for (int i = 0; i < in->nlocals; i++)
    if (in->locals[i].class == CPU_PRIVATE && single[i]) in->locals[i].class = CPU_LOCAL;
  mw_free(regions);
  mw_free(single);
}

/* ---- the text -------------------------------------------------------------------------------------------------- */

static void body_put(cpu_writer *it, bool passed) {
  it->passed = passed;
  it->returns = it->in->returns[passed];
  it->region = 0;
  if (it->returns) cpu_put(it, " mw_mask<%d> mw_live; mw_live.fill(mw_n);\n", cpu_threads_most(it->in));
  if (it->in->masks) cpu_put(it, " mw_masks mw_unnamed;\n");
  body_walk(it, 0);
  cpu_region_flush(it);
}

void cpu_body_put(cpu_splitter *in, mw_text *out, int first_label) {
  cpu_writer it = {.in = in, .out = out, .copy = first_label};
  out->indexed = true;
  if (in->bounds_check_scale) {
    cpu_bounds_checks_put(&it);
    cpu_put(&it, "if (mw_full) {\n");
    body_put(&it, true);
    cpu_put(&it, "return;\n}\n");
  }
  body_put(&it, false);
}
