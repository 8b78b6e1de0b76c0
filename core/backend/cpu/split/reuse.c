/* SPDX-License-Identifier: MIT
 *
 * A variable that serves several loops becomes one for each: what one loop does to it says nothing of another.
 *
 *   int i;                                            int i;
 *   for (i = 0; i < n; i++) { __syncthreads(); }      { int i; for (i = 0; i < n; i++) { __syncthreads(); } }
 *   for (i = threadIdx.x; i < n; i += 32) ...         { int i; for (i = threadIdx.x; i < n; i += 32) ... }
 *
 * Every use must be in a loop that begins by assigning it. Needed where one of the loops has barriers and another's
 * variable differs between threads: without it fibers run such kernels. */
#include "core/backend/cpu/split/split.h"

enum { MOST_LOOPS = 32 };

/* The outermost loop around the token that begins with an assignment of the variable: for (i = ...; -1: none. */
static int loop_of(const cpu_splitter *in, const cpu_local *local, int token) {
  const cpu_token *name = &in->work.at[local->declarator.name];
  int found = -1;
  for (int up = cpu_node_at(in, token); up >= 0; up = in->nodes[up].parent) {
    const cpu_node *node = &in->nodes[up];
    if (node->kind == CPU_NODE_FOR && cpu_same_text(&in->work.at[node->head], name) &&
        cpu_token_is(&in->work.at[node->head + 1], "=") &&
        cpu_find_same(&in->work, node->head + 2, node->init_last, name) == node->init_last)
      found = up;
  }
  return found;
}

/* The loops that all uses are in; -1: not all are in one, or one is enough. */
static int loops_find(const cpu_splitter *in, int index, int loops[MOST_LOOPS]) {
  int count = 0;
  for (int i = in->locals[index].declarator.name + 1; i < in->locals[index].until; i++) {
    if (cpu_local_find(in, i) != index) continue;
    const int loop = loop_of(in, &in->locals[index], i);
    if (loop < 0) return -1;
    if (count && loops[count - 1] == loop) continue;
    if (count == MOST_LOOPS) return -1;
    loops[count++] = loop;
  }
  return count > 1 ? count : -1;
}

/* int i = 0, *p;  of which only a plain variable is understood. */
static bool is_plain(const cpu_local *local) {
  const cpu_declarator *it = &local->declarator;
  return !local->uniform && !local->is_auto && !local->pointer && !local->reference && !local->escapes &&
         it->dims == it->dims_last;
}

static bool variable_part(cpu_splitter *in, int index) {
  const cpu_declarator it = in->locals[index].declarator;
  int loops[MOST_LOOPS];
  if (in->nodes[in->locals[index].node].kind != CPU_NODE_DECLARE || !is_plain(&in->locals[index])) return false;
  const int count = loops_find(in, index, loops);
  bool waits = false;
  for (int i = 0; i < count; i++) waits |= in->nodes[loops[i]].barrier >= 0;
  if (!waits) return false;
  cpu_tokens next = {0};
  const int begin = in->nodes[loops[0]].first, end = in->nodes[loops[count - 1]].last;
  for (int i = 0, at = begin; i < count; i++) {
    const cpu_node *loop = &in->nodes[loops[i]];
    const cpu_range parts[] = {
        {at, loop->first}, {it.spec, it.spec_last}, {it.name, it.name + 1}, {loop->first, loop->last}};
    cpu_tokens_build(&next, &in->work, &in->work.at[loop->first], 0, "$0 { $1 $2 ; $3 }", parts);
    at = loop->last;
  }
  cpu_tokens_replace(in, begin, end, &next);
  return true;
}

void cpu_reuse(cpu_splitter *in) {
  if (in->plain) return;
  cpu_locals_read(in);
  for (int i = 0; i < in->nlocals && !in->rejected; i++)
    if (variable_part(in, i)) {
      cpu_locals_read(in);
      i = -1;
    }
}
