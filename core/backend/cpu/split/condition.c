/* SPDX-License-Identifier: MIT
 *
 * Which conditions around split points are the same for all threads. Those stay outside of the thread loops,
 * unchanged. One that differs gets a predicate, a mask of one byte per thread, if only warp operations stand under it:
 *
 *   if (n > 3) __syncthreads();                          as it is
 *   if (t < 16) v += __shfl_down_sync(all, v, 1);        predicate 1: threads with mask 1 go through the body
 *   if (t < 16) __syncthreads();                         rejected: threads would wait for those that never come
 *
 * Needed by every kernel that is split. */
#include "core/backend/cpu/split/split.h"

bool cpu_header_uniform(const cpu_splitter *in, int index) {
  const cpu_node *node = &in->nodes[index];
  return cpu_is_uniform(in, node->head, node->head_last) && cpu_declares_uniform(in, index);
}

/* A condition that differs between threads: warp operations go under a predicate, a barrier cannot. */
static bool predicate_give(cpu_splitter *in, int index) {
  cpu_node *node = &in->nodes[index];
  bool headed = node->kind >= CPU_NODE_IF && node->kind <= CPU_NODE_SWITCH;
  if (!headed || !cpu_node_splits(node) || node->predicate) return false;
  if (node->kind == CPU_NODE_FOR && node->test_last == node->head_last && node->init_last == node->head_last)
    cpu_split_reject(in, node->first, "a range-based for with a barrier or warp operation in it is not understood");
  if (cpu_header_uniform(in, index)) return false;
  if (node->barrier >= 0)
    cpu_split_reject(in, node->barrier, "barrier is under a condition that differs between threads: line %d",
                     in->work.at[node->first].line);
  else if (node->kind == CPU_NODE_DO)
    cpu_split_reject(in, node->first, "a warp operation is in a do loop whose condition differs between threads");
  node->predicate = ++in->predicates;
  return true;
}

/* The threads of a loop under a predicate leave it only at its head. */
static void jumps_check(cpu_splitter *in) {
  for (int k = 0; k < in->nnodes; k++) {
    const cpu_node *jump = &in->nodes[k];
    int loop = jump->kind == CPU_NODE_BREAK || jump->kind == CPU_NODE_CONTINUE ? cpu_loop_around(in, k) : -1;
    if (loop >= 0 && in->nodes[loop].predicate && in->nodes[loop].kind != CPU_NODE_SWITCH)
      cpu_split_reject(in, jump->first,
                       "a jump in a loop with warp operations whose condition differs between threads: line %d",
                       in->work.at[in->nodes[loop].first].line);
  }
}

/* Predicates make fewer variables uniform, which makes more predicates: until nothing changes. */
void cpu_conditions(cpu_splitter *in) {
  for (bool changed = true; changed && !in->rejected;) {
    changed = false;
    cpu_locals_read(in);
    for (int i = 0; i < in->nnodes; i++) changed |= predicate_give(in, i);
  }
  jumps_check(in);
}

bool cpu_conditions_renew(cpu_splitter *in) {
  const bool edited = cpu_edits_make(in);
  if (edited) cpu_conditions(in);
  return edited && !in->rejected;
}
