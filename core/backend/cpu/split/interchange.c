/* SPDX-License-Identifier: MIT
 *
 * Loops whose header is the same for all threads change places with the loop over the threads:
 *
 *   for (threads) for (int k = 0; k < n; k++) c += a[k] * b[k * n + t];
 *   for (int k = 0; k < n; k++) for (threads) c of t += a[k] * b[k * n + t];
 *
 * The second reads memory as a GPU's threads do, side by side, and vectorises; in the first, one thread walks through
 * all of it before the next begins. CUDA orders nothing between threads but at barriers, so either is right. A lifted
 * loop is a split point of its warp.
 *
 * Measured with clang++: 17 to 63 times as fast on potential_tiled, 3.5 to 7 on potential_direct, 2.3 to 2.6 on
 * potential_shared. With g++ 12 to 25 times on memcopy_stride, nothing on potential_tiled, and a loss on the other two,
 * whose lifted loops it does not vectorise (docs/measurements.md). */
#include <stdlib.h>

#include "core/backend/cpu/split/split.h"

enum { SHORT_LOOP = 32 };

/* for (int k = 0; k < 4; k++): unrolled by the compiler, inside of the thread loop. */
static bool is_short(const cpu_splitter *in, const cpu_node *node) {
  int last = node->test_last - 1;
  const mw_token *token = &in->work.at[last];
  return token->kind == MW_TOKEN_NUMBER && last == node->init_last + 3 && strtol(token->text, NULL, 0) <= SHORT_LOOP;
}

static bool interchangeable(const cpu_splitter *in, int index) {
  const cpu_node *node = &in->nodes[index];
  return node->kind == CPU_NODE_FOR && !node->lifted && !cpu_has_jump(in, node) && !is_short(in, node);
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
    if (in->nodes[up].predicate && !in->nodes[up].bounds_check) return false;
  return true;
}

static bool lifts(const cpu_splitter *in, int index) {
  const cpu_node *node = &in->nodes[index];
  return !node->predicate && cpu_header_uniform(in, index) && stands_free(in, index) && !uses_outer_array(in, node);
}

/* Marks all that may be lifted but the blocked ones; blocks those that turn out not to fit. False: none had to be. */
static bool interchange_round(cpu_splitter *in, bool *blocked) {
  bool again = false;
  cpu_marks_renew(in);
  for (int i = 0; i < in->nnodes; i++)
    if (!blocked[i] && interchangeable(in, i)) cpu_node_interchange(in, i);
  cpu_conditions(in);
  cpu_bounds_checks(in);
  for (int i = 0; i < in->nnodes; i++)
    if (in->nodes[i].lifted && !lifts(in, i)) blocked[i] = again = true;
  return again && !in->rejected;
}

void cpu_interchange(cpu_splitter *in) {
  bool *blocked = mw_calloc((size_t)in->nnodes + 1, sizeof *blocked);
  while (interchange_round(in, blocked)) continue;
  mw_free(blocked);
}

bool cpu_has_interchanged(const cpu_splitter *in) {
  for (int i = 0; i < in->nnodes; i++)
    if (in->nodes[i].lifted) return true;
  return false;
}
