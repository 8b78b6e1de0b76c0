/* SPDX-License-Identifier: MIT
 *
 * From a kernel with barriers to a function that runs a whole block: each stretch between two split points (a region)
 * becomes a loop over the threads, uniform control flow stays outside of those loops, variables that live across
 * regions become arrays with one element a thread. The same walk is done twice: first to number the regions, which
 * decides where each variable lives, then to write. The text is C++ over shim/split.h. */
#include "core/backend/cpu/split/split.h"

#include <string.h>

#include "core/backend/backend.h"

enum { NARROW_LABELS = 10000 }; /* the second text of a function begins to count here */

/* ---- variables where barriers are ------------------------------------------------------------------------------ */

static void type_tokens_put(cpu_writer *it, const cpu_local *local) {
  const cpu_token *at = it->in->work.at;
  bool after = false;
  for (int i = local->declarator.spec; i < local->declarator.name; i++) {
    if (i == local->declarator.spec_last) i = local->declarator.first;
    if (i >= local->declarator.name) break;
    after |= cpu_token_is(&at[i], "*");
    bool constant =
        cpu_token_is(&at[i], "const") || cpu_token_is(&at[i], "constexpr") || cpu_token_is(&at[i], "__restrict__");
    if (constant && (after || !local->pointer)) continue;
    cpu_put_tokens(it, i, i + 1);
    cpu_put(it, " ");
  }
}

/* Threads that do not take part leave no value. Vector code computes with their elements all the same, before it drops
 * the results; what lies there by chance may be denormal, and slow beyond measure (seen: 60 times). */
static bool some_wait(const cpu_writer *it) {
  return it->nguards || it->returns;
}

/* typedef float mw_T3; mw_private<mw_T3, 1024> mw_L3; mw_T3 &x = mw_L3.at[0]; the last for the sake of its type. */
static void storage_put(cpu_writer *it, int index) {
  const cpu_local *local = &it->in->locals[index];
  if (!it->out) return;
  if (local->is_auto) {
    cpu_put_numbers(it, "typedef mw_plain<decltype(", 0, 0);
    cpu_put_tokens(it, local->declarator.init, local->declarator.init_last);
    cpu_put_numbers(it, ")> mw_T%d;", index, 0);
  } else {
    cpu_put(it, " typedef ");
    type_tokens_put(it, local);
    cpu_put_numbers(it, " mw_T%d", index, 0);
    cpu_put_tokens(it, local->declarator.dims, local->declarator.dims_last);
    cpu_put(it, ";");
  }
  const cpu_token *name = &it->in->work.at[local->declarator.name];
  cpu_text_format(it->out, " mw_private<mw_T%d, %d> mw_L%d; mw_T%d &%.*s = mw_L%d.at[0]; (void)%.*s;", index,
                  cpu_threads_most(it->in), index, index, name->size, name->text, index, name->size, name->text);
  if (some_wait(it)) cpu_put_numbers(it, " mw_L%d.clear(mw_n);", index, 0);
}

static void declare_walk(cpu_writer *it, int node, int first, int last) {
  cpu_splitter *in = it->in;
  for (int i = 0; i < in->nlocals; i++) {
    cpu_local *local = &in->locals[i];
    if (local->node != node) continue;
    if (local->class == CPU_UNIFORM) {
      if (!cpu_is_pure(in, local->declarator.init, local->declarator.init_last)) cpu_region_flush(it);
      cpu_put_tokens(it, first, last);
    } else if (local->class == CPU_AGAIN)
      cpu_put_tokens(it, first, last);
    else {
      if (local->reference && local->class == CPU_PRIVATE && it->out)
        cpu_split_refuse(in, first, "the reference '%.*s' is used on both sides of a barrier",
                         in->work.at[local->declarator.name].size, in->work.at[local->declarator.name].text);
      if (local->class == CPU_PRIVATE) storage_put(it, i);
      cpu_segment_add(it, CPU_SEGMENT_DECLARE, first, last, node);
    }
  }
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static void walk(cpu_writer *it, int node);

static bool in_predicate(const cpu_splitter *in, int node) {
  return cpu_context(in, node) != 0;
}

static bool inside(const cpu_splitter *in, int node, int outer) {
  return node >= 0 && in->nodes[outer].first <= in->nodes[node].first && in->nodes[node].last <= in->nodes[outer].last;
}

/* Jumps in a statement that runs in a thread loop: none may leave a loop that stands outside. */
static void jumps_check(cpu_splitter *in, int node) {
  for (int i = 0; i < in->nnodes; i++) {
    const cpu_node *jump = &in->nodes[i];
    bool is_break = jump->kind == CPU_NODE_BREAK;
    if (!inside(in, i, node)) continue;
    if (jump->kind == CPU_NODE_RETURN && in_predicate(in, node))
      cpu_split_refuse(in, jump->first,
                       "return under a condition that differs between threads, with warp operations beside it");
    if (!is_break && jump->kind != CPU_NODE_CONTINUE) continue;
    if (!inside(in, cpu_loop_around(in, i, is_break), node))
      cpu_split_refuse(in, jump->first,
                       "%s out of a loop with barriers, under a condition that differs between threads",
                       is_break ? "break" : "continue");
  }
}

/* A jump that all threads take together, standing outside of thread loops. */
static void jump_check(cpu_splitter *in, int node) {
  while (in->nodes[node].kind == CPU_NODE_BLOCK) node = in->nodes[node].child;
  const cpu_node *jump = &in->nodes[node];
  int loop = cpu_loop_around(in, node, jump->kind == CPU_NODE_BREAK);
  bool fits = jump->kind == CPU_NODE_RETURN
                  ? !in_predicate(in, node)
                  : loop >= 0 && !in->nodes[loop].predicate && cpu_context(in, node) == cpu_context(in, loop);
  if (!fits) cpu_split_refuse(in, jump->first, "a jump under a condition that differs between threads");
}

static bool assigns_uniform(const cpu_splitter *in, const cpu_node *node) {
  static const char *const steps[] = {"++", "--", NULL};
  int name = node->first + cpu_token_any(&in->work.at[node->first], steps);
  int local = cpu_local_find(in, name);
  return local >= 0 && in->locals[local].class == CPU_UNIFORM &&
         cpu_change_at(in->program, &in->work, name, in->locals[local].pointer) == CPU_CHANGED;
}

static bool jumps_together(const cpu_splitter *in, int index) {
  const cpu_node *node = &in->nodes[index];
  return cpu_is_jump(in, index) || (node->kind == CPU_NODE_IF && node->otherwise < 0 && cpu_is_jump(in, node->child) &&
                                    cpu_is_uniform(in, node->head, node->head_last));
}

static void simple_walk(cpu_writer *it, int index) {
  cpu_splitter *in = it->in;
  const cpu_node *node = &in->nodes[index];
  if (node->kind == CPU_NODE_TYPE)
    cpu_type_put(it, node);
  else if (node->kind == CPU_NODE_DECLARE)
    declare_walk(it, index, node->first, node->last);
  else if (!(in->plain && it->nopen) && jumps_together(in, index)) {
    cpu_region_flush(it);
    jump_check(in, node->kind == CPU_NODE_IF ? node->child : index);
    cpu_put_tokens(it, node->first, node->last);
  } else if (node->kind == CPU_NODE_LEAF && assigns_uniform(in, node)) {
    cpu_region_flush(it);
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
          cpu_same_text(&in->work.at[in->locals[i].declarator.name], &in->work.at[in->locals[k].declarator.name]))
        return true;
  return false;
}

static void body_walk(cpu_writer *it, int node) {
  if (node < 0) return;
  if (it->in->nodes[node].kind == CPU_NODE_BLOCK)
    for (int i = it->in->nodes[node].child; i >= 0; i = it->in->nodes[i].next) walk(it, i);
  else
    walk(it, node);
}

/* using T_mw3 = ...; __shared__ float part_mw3[32]; made by helper.c under a name of its own */
static bool own_type(const cpu_splitter *in, const cpu_node *node) {
  const cpu_token *at = in->work.at;
  int i = node->first + 1;
  while (i < node->last && !cpu_token_is(&at[i], "[") && !cpu_token_is(&at[i], "=") && !cpu_token_is(&at[i], ";")) i++;
  return memmem(at[i - 1].text, (size_t)at[i - 1].size, "_mw", 3) || !strncmp(at[i - 1].text, "mw_", 3);
}

/* A block whose names are used for nothing else needs no braces: regions may reach across its end. */
static bool transparent(const cpu_splitter *in, int block) {
  for (int i = 0; i < in->nnodes; i++)
    if (in->nodes[i].kind == CPU_NODE_TYPE && inside(in, i, block) && !own_type(in, &in->nodes[i])) return false;
  for (int i = 0; i < in->nlocals; i++)
    for (int k = 0; k < in->nlocals; k++)
      if (i != k && inside(in, in->locals[i].node, block) &&
          cpu_same_text(&in->work.at[in->locals[i].declarator.name], &in->work.at[in->locals[k].declarator.name]))
        return false;
  for (int i = 0; i < in->nlocals; i++)
    for (int k = 0; k < in->kernel->nformals; k++)
      if (inside(in, in->locals[i].node, block) && in->kernel->formals[k].name >= 0 &&
          cpu_same_text(&in->work.at[in->locals[i].declarator.name],
                        &in->program->tokens.at[in->kernel->formals[k].name]))
        return false;
  return true;
}

static void block_walk(cpu_writer *it, int node) {
  if (transparent(it->in, node)) {
    body_walk(it, node);
    return;
  }
  if (shadows(it->in, node)) cpu_region_flush(it);
  cpu_put(it, " {\n");
  body_walk(it, node);
  cpu_region_flush(it);
  cpu_put(it, " }\n");
}

static void uniform_if_walk(cpu_writer *it, int index) {
  const cpu_node *node = &it->in->nodes[index];
  cpu_region_flush(it);
  cpu_put(it, "\nif (");
  cpu_put_tokens(it, node->head, node->head_last);
  cpu_put(it, ") {\n");
  body_walk(it, node->child);
  cpu_region_flush(it);
  cpu_put(it, "\n}\n");
  if (node->otherwise < 0) return;
  cpu_put(it, "else {\n");
  body_walk(it, node->otherwise);
  cpu_region_flush(it);
  cpu_put(it, "\n}\n");
}

static void guarded_walk(cpu_writer *it, int predicate, int value, int body) {
  if (it->nguards == CPU_MOST_GUARDS) {
    cpu_split_refuse(it->in, it->in->nodes[body].first, "conditions are nested too deeply");
    return;
  }
  it->guards[it->nguards][0] = predicate;
  it->guards[it->nguards++][1] = value;
  cpu_put_numbers(it, "if (mw_p%d.some(%d, mw_n)) {\n", predicate, value);
  body_walk(it, body);
  cpu_region_flush(it);
  cpu_put(it, "\n}\n");
  it->nguards--;
}

static void mask_put(cpu_writer *it, int predicate) {
  cpu_put_numbers(it, "\nmw_mask<%d> mw_p%d; ", cpu_threads_most(it->in), predicate);
  cpu_put_numbers(it, "mw_p%d.clear(mw_n);\n", predicate, 0);
}

/* All threads are known to pass. */
static void passed_if_walk(cpu_writer *it, int index) {
  cpu_region_flush(it);
  cpu_put(it, " {\n");
  if (!cpu_leaves_if(it->in, index)) body_walk(it, it->in->nodes[index].child);
  cpu_region_flush(it);
  cpu_put(it, " }\n");
}

static void predicated_if_walk(cpu_writer *it, int index) {
  const cpu_node *node = &it->in->nodes[index];
  cpu_put(it, " {\n");
  mask_put(it, node->predicate);
  cpu_segment_add(it, CPU_SEGMENT_PREDICATE, node->head, node->head_last, index);
  cpu_region_flush(it);
  guarded_walk(it, node->predicate, 1, node->child);
  if (node->otherwise >= 0) guarded_walk(it, node->predicate, 2, node->otherwise);
  cpu_put(it, " }\n");
}

/* Each thread leaves the loop in its own time; the loop ends when all have. */
static void masked_loop_walk(cpu_writer *it, int index) {
  cpu_splitter *in = it->in;
  const cpu_node *node = &in->nodes[index];
  bool is_for = node->kind == CPU_NODE_FOR;
  int test = is_for ? node->init_last + 1 : node->head, test_last = is_for ? node->test_last : node->head_last;
  bool declares = false;
  cpu_region_flush(it);
  cpu_put(it, " {\n");
  for (int i = 0; i < in->nlocals; i++) declares |= in->locals[i].node == index;
  if (declares)
    declare_walk(it, index, node->head, node->init_last + 1);
  else if (is_for && node->init_last > node->head)
    cpu_segment_add(it, CPU_SEGMENT_STATEMENT, node->head, node->init_last + 1, index);
  mask_put(it, node->predicate);
  cpu_segment_add(it, CPU_SEGMENT_ENTER, node->first, node->first, index);
  cpu_region_flush(it);
  it->guards[it->nguards][0] = node->predicate;
  it->guards[it->nguards++][1] = 1;
  cpu_put(it, "for (;;) {\n");
  cpu_segment_add(it, CPU_SEGMENT_PREDICATE, test, test_last, index);
  cpu_region_flush(it);
  cpu_put_numbers(it, "if (!mw_p%d.some(1, mw_n)) break;\n", node->predicate, 0);
  body_walk(it, node->child);
  if (is_for && node->head_last > node->test_last + 1) {
    cpu_segment_add(it, CPU_SEGMENT_STATEMENT, node->test_last + 1, node->head_last, index);
    cpu_segment_add(it, CPU_SEGMENT_STATEMENT, node->test_last, node->test_last + 1, index);
  }
  cpu_region_flush(it);
  it->nguards--;
  cpu_put(it, "\n}\n }\n");
}

static void uniform_loop_walk(cpu_writer *it, int index) {
  const cpu_node *node = &it->in->nodes[index];
  cpu_region_flush(it);
  if (node->kind == CPU_NODE_DO) {
    cpu_put(it, "\ndo {\n");
    body_walk(it, node->child);
    cpu_region_flush(it);
    cpu_put(it, "\n} while (");
    cpu_put_tokens(it, node->head, node->head_last);
    cpu_put(it, ");\n");
    return;
  }
  cpu_put(it, node->kind == CPU_NODE_FOR ? "\nfor (" : "\nwhile (");
  cpu_put_tokens(it, node->head, node->head_last);
  cpu_put(it, ") {\n");
  body_walk(it, node->child);
  cpu_region_flush(it);
  cpu_put(it, "\n}\n");
}

static const char *const exchange_types[] = {"mw_shuffle", "mw_votes", "mw_values", "mw_votes", "mw_votes", "mw_votes"};
static const char *const exchange_results[] = {"", "", "", "count", "all", "any"};

static void exchange_walk(cpu_writer *it, int index) {
  const cpu_node *node = &it->in->nodes[index];
  const cpu_token *number = &it->in->work.at[node->first + 2];
  int kind = it->in->work.at[node->first + 4].text[0] - '0';
  if (it->out) {
    cpu_text_format(it->out, "\n%s<%d", exchange_types[kind], cpu_threads_most(it->in));
    if (kind == 0 || kind == 2) {
      cpu_put(it, ", mw_plain<decltype(");
      cpu_put_tokens(it, node->first + 6, node->last - 2);
      cpu_put(it, ")>");
    }
    cpu_text_format(it->out, "> mw_x%.*s;", number->size, number->text);
    if (kind || some_wait(it)) cpu_text_format(it->out, " mw_x%.*s.clear(mw_n);\n", number->size, number->text);
  }
  cpu_segment_add(it, CPU_SEGMENT_EXCHANGE, node->first, node->last, index);
  cpu_region_flush(it);
  if (!it->out || !kind) return;
  cpu_text_format(it->out, "mw_x%.*s.collect(mw_n);\n", number->size, number->text);
  if (kind >= 3)
    cpu_text_format(it->out, "const int mw_v%.*s = mw_x%.*s.%s(mw_n);\n", number->size, number->text, number->size,
                    number->text, exchange_results[kind]);
  it->out->file = 0;
}

static void walk(cpu_writer *it, int index) {
  const cpu_node *node = &it->in->nodes[index];
  if (it->in->refused) return;
  bool loop = node->kind == CPU_NODE_FOR || node->kind == CPU_NODE_WHILE || node->kind == CPU_NODE_DO;
  if (!cpu_node_splits(node))
    simple_walk(it, index);
  else if (node->kind == CPU_NODE_BARRIER || node->kind == CPU_NODE_WARP)
    cpu_region_flush(it);
  else if (node->kind == CPU_NODE_EXCHANGE)
    exchange_walk(it, index);
  else if (node->kind == CPU_NODE_BLOCK)
    block_walk(it, index);
  else if (node->guard && it->passed)
    passed_if_walk(it, index);
  else if (node->kind == CPU_NODE_IF)
    (node->predicate ? predicated_if_walk : uniform_if_walk)(it, index);
  else if (loop)
    (node->predicate ? masked_loop_walk : uniform_loop_walk)(it, index);
  else
    cpu_split_refuse(it->in, node->first, "a barrier stands inside of a switch");
}

/* ---- the function ---------------------------------------------------------------------------------------------- */

/* After a first walk: which variables have all their uses in one region? */
static void places_note(cpu_writer *it, bool *alone) {
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
    bool one = local->region >= 0 && !local->escapes && !local->typed && declared;
    alone[i] &= one || (in->plain && it->last_region == 0);
  }
}

/* Variables that are alone in both forms of the text, with guards and without, need no array. */
static void places_choose(cpu_splitter *in, const bool *alone) {
  for (int i = 0; i < in->nlocals; i++)
    if (in->locals[i].class == CPU_PRIVATE && alone[i]) in->locals[i].class = CPU_LOCAL;
}

static void helpers_check(cpu_writer *it) {
  cpu_splitter *in = it->in;
  for (int i = 0; i < in->work.count; i++) {
    const cpu_token *token = &in->work.at[i];
    if (token->kind != CPU_NAME) continue;
    for (int k = 0; k < in->program->nfunctions; k++) {
      const cpu_function *function = &in->program->functions[k];
      if (function->name < 0 || !cpu_same_text(&in->program->tokens.at[function->name], token)) continue;
      if (function->barrier >= 0 && !function->kernel)
        cpu_split_refuse(in, i, "'%.*s' has barriers and is not called in a way that can be unfolded", token->size,
                         token->text);
      it->sets_index |= function->reaches_thread;
    }
  }
}

static void formal_put(const cpu_program *program, cpu_text *out, const cpu_formal *formal, bool changed) {
  int name = changed ? formal->name : formal->last;
  cpu_emit_declaration(program, out, formal->first, name);
  if (!changed) return;
  cpu_text_put(out, " mw_a_");
  cpu_text_plain(out, &program->tokens, name, name + 1);
  cpu_emit_declaration(program, out, name + 1, formal->last);
}

static void signature_put(const cpu_splitter *in, cpu_text *out) {
  const cpu_function *kernel = in->kernel;
  const cpu_tokens *tokens = &in->program->tokens;
  cpu_text_put(out, "\n");
  if (in->prelude.at) cpu_text_put(out, in->prelude.at);
  cpu_text_range(out, tokens, kernel->head_first, kernel->head_last);
  cpu_text_put(out, " MW_SPLIT void ");
  cpu_text_plain(out, tokens, kernel->name, kernel->name + 1);
  cpu_text_put(out, in->plain ? "_mw(MW_ROW_PARAMETERS" : "_mw(");
  if (in->plain && kernel->nformals) cpu_text_put(out, ", ");
  for (int i = 0; i < kernel->nformals; i++) {
    if (i) cpu_text_put(out, ", ");
    formal_put(in->program, out, &kernel->formals[i], in->changed[i]);
  }
  cpu_text_put(out, in->plain ? ") {\n MW_ROW_BLOCK\n" : ") {\n MW_BLOCK\n");
  out->file = 0;
  cpu_emit_shared(in->program, out, &in->work, 0, in->work.count);
  cpu_text_put(out, "\n");
}

static void first_walk(cpu_writer *it, bool passed, bool *alone, bool *returns) {
  for (int i = 0; i <= it->in->work.count; i++) it->regions[i] = -1;
  it->passed = passed;
  it->returns = false;
  it->region = it->last_region = 0;
  body_walk(it, 0);
  cpu_region_flush(it);
  *returns = it->returns && !(it->in->plain && it->last_region == 0);
  places_note(it, alone);
}

static void body_put(cpu_writer *it, bool passed, bool returns) {
  it->passed = passed;
  it->returns = returns;
  it->region = 0;
  if (returns) cpu_put_numbers(it, " mw_mask<%d> mw_live; mw_live.fill(mw_n);\n", cpu_threads_most(it->in), 0);
  body_walk(it, 0);
  cpu_region_flush(it);
}

static bool formal_changed(const cpu_splitter *in, const cpu_formal *formal) {
  const cpu_tokens *from = &in->program->tokens;
  bool pointer = false;
  for (int i = formal->first; i < formal->last; i++)
    pointer |= cpu_token_is(&from->at[i], "*") || cpu_token_is(&from->at[i], "[");
  for (int i = in->kernel->body; formal->name >= 0 && i < in->kernel->last; i++)
    if (cpu_same_text(&from->at[i], &from->at[formal->name]) && !cpu_is_member(from, i) &&
        cpu_change_at(in->program, from, i, pointer) != CPU_READ)
      return true;
  return false;
}

/* The body's tokens. A parameter that the kernel changes becomes a variable of the body:
 *   int n  ->  int mw_a_n; { int n = mw_a_n; */
static void start(cpu_splitter *in) {
  const cpu_tokens *from = &in->program->tokens;
  int open = in->kernel->body;
  in->work.files = from->files;
  in->work.nfiles = from->nfiles;
  if (in->kernel->nformals > CPU_MOST_PARAMS)
    cpu_split_refuse(in, 0, "there are more than %d parameters", CPU_MOST_PARAMS);
  cpu_tokens_copy(&in->work, from, open, open + 1);
  for (int i = 0; i < in->kernel->nformals && !in->refused; i++) {
    const cpu_formal *formal = &in->kernel->formals[i];
    in->changed[i] = formal_changed(in, formal);
    if (!in->changed[i]) continue;
    const cpu_token *name = &from->at[formal->name];
    if (formal->name != formal->last - 1)
      cpu_split_refuse(in, 0, "parameter '%.*s' is changed, and of a type that is not understood", name->size,
                       name->text);
    cpu_tokens_copy(&in->work, from, formal->first, formal->last);
    cpu_tokens_format(&in->work, name, " = mw_a_%.*s ; ", name->size, name->text);
  }
  cpu_tokens_copy(&in->work, from, open + 1, from->at[open].match + 1);
  cpu_tokens_match(&in->work);
}

/* Where there are guards the text stands twice: for blocks or rows whose threads all pass them, and for the rest. */
static void text_put(cpu_writer *it, const bool *returns) {
  if (it->in->guard_scale) {
    cpu_guards_put(it);
    cpu_put(it, "if (mw_full) {\n");
    body_put(it, true, returns[1]);
    cpu_put(it, "return;\n}\n");
  }
  body_put(it, false, returns[0]);
}

static void text_make(cpu_splitter *in, cpu_text *out, int first_label) {
  int *regions = mw_malloc((size_t)(in->work.count + 1) * sizeof *regions);
  bool *alone = mw_malloc((size_t)in->nlocals + 1), returns[2] = {false, false};
  cpu_writer it = {.in = in, .regions = regions, .copy = first_label};
  memset(alone, 1, (size_t)in->nlocals + 1);
  cpu_types_mark(in);
  helpers_check(&it);
  first_walk(&it, false, alone, &returns[0]);
  if (in->guard_scale) first_walk(&it, true, alone, &returns[1]);
  places_choose(in, alone);
  it.out = out;
  if (!in->refused) text_put(&it, returns);
  mw_free(regions);
  mw_free(alone);
}

static bool body_make(cpu_splitter *in, cpu_text *out, int first_label) {
  start(in);
  cpu_inline(in);
  if (!in->refused) cpu_loops_lift(in);
  if (!in->refused) text_make(in, out, first_label);
  return !in->refused;
}

static void splitter_free(cpu_splitter *in) {
  mw_free(in->prelude.at);
  mw_free(in->nodes);
  mw_free(in->locals);
  in->work.nfiles = 0;
  in->work.files = NULL;
  cpu_tokens_free(&in->work);
}

/* With few threads side by side a lifted loop costs more than it saves. */
static void narrow_put(const cpu_splitter *wide, cpu_text *out) {
  cpu_splitter in = {.program = wide->program, .kernel = wide->kernel, .why = wide->why, .why_size = wide->why_size};
  cpu_text body = {0};
  in.plain = true;
  if (body_make(&in, &body, NARROW_LABELS)) cpu_text_format(out, "if (mw_n < 8) {\n%s\nreturn;\n}\n", body.at);
  mw_free(body.at);
  splitter_free(&in);
}

static char *split_once(cpu_program *program, cpu_function *kernel, bool lift, char *why, size_t why_size) {
  cpu_splitter in = {.program = program, .kernel = kernel, .why = why, .why_size = why_size, .lift = lift};
  cpu_text body = {0}, all = {0};
  in.plain = kernel->barrier < 0;
  if (body_make(&in, &body, 0)) {
    signature_put(&in, &all);
    if (in.plain && cpu_has_lifted(&in)) narrow_put(&in, &all);
    if (body.at) cpu_text_put(&all, body.at);
    cpu_text_put(&all, "\n}\n");
  }
  mw_free(body.at);
  splitter_free(&in);
  return all.at;
}

char *cpu_split(cpu_program *program, cpu_function *kernel, char *why, size_t why_size) {
  char *text = split_once(program, kernel, true, why, why_size);
  return text ? text : split_once(program, kernel, false, why, why_size);
}
