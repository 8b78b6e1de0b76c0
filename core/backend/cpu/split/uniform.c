/* SPDX-License-Identifier: MIT
 *
 * Which variables are the same for all threads of a block, and which can be computed again at no cost. A variable of a
 * known type counts as uniform where its initialiser and every assignment are (known.c), and where every assignment
 * stands under the same conditions as its declaration.
 *
 *   int t = threadIdx.x, m = n / 2; float v = x[t];     v: an array of one element per thread if it lives across a
 *   if (m > 3) __syncthreads();                         barrier; m: uniform, an ordinary variable outside of the
 *   x[t] = v + m;                                       thread loops; t: declared again in each of them
 *
 * Uniform variables are needed by every loop around a barrier. Measured for what is computed again: 4.9 to 8.6 times as
 * fast on reduce_tree with a block for every 256 elements, 3.6 to 5.6 on diffusion_shared, 6 to 26 on scan_add with
 * clang++; 6, 3.4 to 3.8 and 6 to 21 with g++; but 0.02 on potential_shared with g++. */
#include <string.h>

#include "core/backend/cpu/split/split.h"

/* The one branch of an `if` may have a barrier and the other none: both are walked alike. */
static bool is_branch(const cpu_splitter *in, int node) {
  int parent = in->nodes[node].parent;
  return in->nodes[node].kind == CPU_NODE_BLOCK && parent >= 0 && in->nodes[parent].kind == CPU_NODE_IF &&
         cpu_node_splits(&in->nodes[parent]);
}

/* Stands directly where split points stand. */
static bool at_barrier_level(const cpu_splitter *in, int node) {
  int parent = in->nodes[node].parent;
  return parent < 0 || cpu_node_splits(&in->nodes[parent]) || is_branch(in, parent) || (in->plain && parent == 0);
}

int cpu_context(const cpu_splitter *in, int node) {
  for (int up = in->nodes[node].parent; up >= 0; node = up, up = in->nodes[up].parent)
    if (in->nodes[up].predicate) return in->nodes[up].predicate * 2 + (in->nodes[up].otherwise == node);
  return 0;
}

/* ---- variables ------------------------------------------------------------------------------------------------- */

/* The variable itself, not what it points to, nor an argument of its type's. */
static bool is_const(const mw_tokens *tokens, const mw_declared *it) {
  const mw_token *at = tokens->at;
  int i = mw_has(tokens, it->first, it->name, "*") ? it->first : it->spec;
  while (i < it->name && !mw_token_any(&at[i], WORDS("const", "constexpr")))
    i = mw_token_is(&at[i], "<") ? mw_angle_end(tokens, i, it->name) : i + 1;
  return i < it->name;
}

static void local_add(cpu_splitter *in, int node, int of, int until) {
  const mw_declared *declarator = &in->body.declared[of];
  in->locals = mw_realloc(in->locals, (size_t)(in->nlocals + 1) * sizeof *in->locals);
  cpu_local *local = &in->locals[in->nlocals++];
  *local = (cpu_local){.declarator = *declarator, .of = of, .node = node, .until = until, .header = -1, .region = -2};
  local->is_auto = declarator->is_auto;
  local->is_const = is_const(&in->work, declarator);
  local->pointer = mw_has(&in->work, declarator->first, declarator->name, "*");
  local->reference = mw_find(&in->work, declarator->first, declarator->name, WORDS("&", "&&")) < declarator->name;
  local->array = declarator->dims_last > declarator->dims;
  local->fixed = mw_has(&in->work, declarator->spec, declarator->spec_last, "constexpr");
}

/* Is all of the declaration understood? */
static bool is_read(const cpu_splitter *in, const cpu_node *node) {
  const mw_statement *it = &in->body.statements[node->statement];
  int last = 0;
  for (int i = 0; (i = cpu_declared_next(in, node, i));) last = in->body.declared[i].value_last;
  return it->kind == MW_STATEMENT_DECLARE && last == it->last - 1;
}

static void locals_collect(cpu_splitter *in) {
  for (int i = 0; i < in->nnodes; i++) {
    const cpu_node *node = &in->nodes[i];
    const bool head = node->kind == CPU_NODE_FOR;
    if (head ? !cpu_node_splits(node) : node->kind != CPU_NODE_DECLARE || !at_barrier_level(in, i)) continue;
    if (!head && !is_read(in, node)) cpu_split_reject(in, node->first, "a declaration is not understood");
    for (int k = 0; (k = cpu_declared_next(in, node, k));)
      local_add(in, i, k, head ? node->last : in->nodes[node->parent].last);
  }
}

/* x = e; x += e; x++; ++x; as a whole statement: where e begins, or `last`; 0: another form. */
static int plain_assignment(const cpu_splitter *in, const cpu_node *node, int name) {
  static const char *const steps[] = {"++", "--", NULL};
  const mw_token *at = in->work.at;
  if (node->kind != CPU_NODE_LEAF) return 0;
  if (name == node->first + 1 && mw_token_any(&at[node->first], steps) && name + 2 == node->last) return node->last;
  if (name != node->first) return 0;
  if (mw_token_any(&at[name + 1], steps)) return name + 3 == node->last ? node->last : 0;
  return at[name + 1].kind == MW_TOKEN_PUNCT && at[name + 1].text[at[name + 1].size - 1] == '=' ? name + 2 : 0;
}

/* while (n-- > 0): evaluated once for all threads where all go on together. */
static bool in_condition(const cpu_node *node, int name) {
  if (!cpu_node_splits(node) || node->predicate) return false;
  if (node->kind == CPU_NODE_WHILE || node->kind == CPU_NODE_DO) return node->head <= name && name < node->head_last;
  return node->kind == CPU_NODE_FOR && node->init_last < name && name < node->test_last;
}

int cpu_locals_from(const cpu_splitter *in, int node) {
  int low = 0, high = in->nlocals;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (in->locals[middle].node < node)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool cpu_declares_uniform(const cpu_splitter *in, int node) {
  int i = cpu_locals_from(in, node);
  while (i < in->nlocals && in->locals[i].node == node && in->locals[i].uniform) i++;
  return i == in->nlocals || in->locals[i].node != node;
}

static bool change_is_uniform(const cpu_splitter *in, const cpu_local *local, int name) {
  int index = cpu_node_at(in, name), declared = cpu_context(in, local->node);
  const cpu_node *node = &in->nodes[index];
  if (in_condition(node, name))
    return cpu_context(in, index) == declared && cpu_is_uniform(in, node->head, node->head_last);
  if (node->kind == CPU_NODE_FOR && cpu_node_splits(node) && !node->predicate) {
    if (cpu_context(in, index) != declared) return false;
    if (name < node->init_last) return cpu_is_uniform(in, node->head, node->init_last);
    return name > node->test_last && cpu_is_uniform(in, node->test_last + 1, node->head_last);
  }
  const int value = plain_assignment(in, node, name);
  return at_barrier_level(in, index) && cpu_context(in, index) == declared &&
         (value ? cpu_is_uniform(in, value, node->last)
                : in->nodes[index].kind == CPU_NODE_DECLARE && cpu_declares_uniform(in, index)); /* int m = n--; */
}

/* How many [ ] follow each other? */
static int levels(const mw_tokens *tokens, int i) {
  int count = 0;
  for (; mw_token_is(&tokens->at[i], "["); count++) i = tokens->at[i].match + 1;
  return count;
}

static void changes_count(cpu_splitter *in) {
  for (int i = 0; i < in->work.count; i++) {
    int index = cpu_local_find(in, i);
    if (index < 0 || i == in->locals[index].declarator.name) continue;
    cpu_local *local = &in->locals[index];
    const cpu_write change = cpu_use_at(&in->body, i, CPU_POINTER);
    int node = cpu_node_at(in, i);
    if (local->array && levels(&in->work, i + 1) < levels(&in->work, local->declarator.dims) &&
        !mw_token_is(&in->work.at[i - 2], "mw_elements"))
      local->escapes = true; /* a row */
    if (change == CPU_ESCAPED) local->escapes = true;
    if (change == CPU_READ || local->fixed) continue;
    bool in_header = in->nodes[node].kind == CPU_NODE_FOR && cpu_node_splits(&in->nodes[node]);
    local->header = in_header && (!local->changes || local->header == node) ? node : -1;
    local->changes++;
  }
}

/* A constexpr is the same for all threads, whatever it is made of: before their loops it does not compile if it is
 * none. What is done with it may call the program's own operators. */
static bool is_constant(const cpu_splitter *in, const cpu_local *local) {
  return local->fixed && !local->reference && in->nodes[local->node].kind == CPU_NODE_DECLARE &&
         !cpu_has_word(in->program, "mutable");
}

static bool still_uniform(const cpu_splitter *in, int index) {
  const cpu_local *local = &in->locals[index];
  if (local->constant) return true;
  if (!cpu_local_knows(in, local) || !cpu_is_uniform(in, local->declarator.value, local->declarator.value_last))
    return false;
  if (in->nodes[local->node].predicate) return false; /* of a masked loop */
  for (int i = local->declarator.name + 1; local->changes && i < local->until; i++)
    if (cpu_local_find(in, i) == index && !change_is_uniform(in, local, i) &&
        cpu_use_at(&in->body, i, CPU_POINTER) != CPU_READ)
      return false;
  return true;
}

static void constant_or_none(const cpu_splitter *in, cpu_local *local) {
  local->uniform = local->constant = local->uniform && is_constant(in, local);
}

static void uniform_settle(cpu_splitter *in) {
  for (int i = 0; i < in->nlocals; i++) {
    cpu_local *local = &in->locals[i];
    local->uniform = (!local->escapes || local->fixed) && !local->reference &&
                     (!local->array || (local->is_const && !local->changes));
    bool elsewhere = local->changes && local->header < 0;
    if (in->plain && (elsewhere || !cpu_is_pure(in, local->declarator.value, local->declarator.value_last)))
      constant_or_none(in, local); /* without barriers nothing is gained by leaving the thread loop for it */
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < in->nlocals; i++)
      if (in->locals[i].uniform && !still_uniform(in, i)) {
        constant_or_none(in, &in->locals[i]);
        changed = true;
      }
  }
}

/* May the value be computed again wherever it is used? `depth` bounds the chain of variables it is made of. */
static bool again(const cpu_splitter *in, const cpu_local *local, int depth) {
  const mw_declared *it = &local->declarator;
  const bool braces = it->value == it->dims_last && mw_token_is(&in->work.at[it->value], "{");
  bool loop_variable = in->nodes[local->node].kind == CPU_NODE_FOR;
  if (local->changes || local->escapes || local->reference || loop_variable || local->array) return false;
  if (it->value_last == it->value || it->value_last - it->value > 28 || braces || depth > 4) return false;
  if (!cpu_local_knows(in, local) || !cpu_is_pure(in, it->value, it->value_last)) return false;
  for (int i = it->value; i < it->value_last; i++) {
    int used = cpu_local_find(in, i);
    if (used < 0) continue;
    const cpu_local *other = &in->locals[used];
    const cpu_node *header = other->header < 0 ? NULL : &in->nodes[other->header];
    bool fixed = !other->changes || (header && header->first <= it->name && it->name < header->last);
    if (other->uniform ? !fixed : !again(in, other, depth + 1)) return false;
  }
  return true;
}

void cpu_locals_read(cpu_splitter *in) {
  in->nlocals = 0;
  locals_collect(in);
  cpu_uses_need(in);
  changes_count(in);
  uniform_settle(in);
  for (int i = 0; i < in->nlocals; i++) {
    cpu_local *local = &in->locals[i];
    local->class = local->uniform ? CPU_UNIFORM : again(in, local, 0) ? CPU_AGAIN : CPU_PRIVATE;
  }
}
