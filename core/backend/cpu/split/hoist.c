/* SPDX-License-Identifier: MIT
 *
 * Elements of shared memory, of a known type, that all threads read, in a loop over a known part of the array:
 *
 *   for (int k = 0; k < 256; k++) sum += near ? mass[k] * f : 0;    ->
 *   for (int k = 0; k < 256; k++) { const auto mw_h1 = mass[(k)]; sum += near ? mw_h1 * f : 0; }
 *
 * The element exists, so it may be read though no thread asks for it; and what is read under a condition of each
 * thread's own keeps g++ from vectorising the threads (it has no masked load of one and the same address).
 *
 * Measured on potential_tiled: 67 to 81 times as fast with g++, 2.5 to 18 with clang++; on potential_shared, of which
 * three of four arrays were left out before, 5 with both.
 *
 * An element of a parameter's memory need not exist where no thread asks for it. Under a condition in a lifted loop it
 * gets an index that seems to differ between threads, so that g++ gathers it:
 *
 *   sum += near ? mass[k] * f : 0;    ->    sum += near ? mass[(k) MW_SEEMS_OWN] * f : 0;
 *
 * Measured on potential_direct with g++: 2.1 times as fast, as clang++. */
#include <stdlib.h>

#include "core/backend/cpu/split/split.h"

typedef struct counted { /* for (int k = 0; k < 256; k++) */
  int name;
  long last; /* 256 */
} counted;

static bool is_number(const mw_token *at, const mw_span *range, long *value) {
  const mw_token *token = &at[range->first];
  char *end;
  *value = token->kind == MW_TOKEN_NUMBER ? strtol(token->text, &end, 0) : -1;
  return range->last == range->first + 1 && token->kind == MW_TOKEN_NUMBER && end == token->text + token->size;
}

static bool counted_form(const cpu_splitter *in, const cpu_node *loop, counted *out) {
  const mw_token *at = in->work.at;
  cpu_count it;
  long first, by;
  if (cpu_node_splits(loop) || !cpu_counts(in, loop, &it)) return false;
  const mw_span init = {it.variable.value, it.variable.value_last};
  out->name = it.variable.name;
  return is_number(at, &init, &first) && is_number(at, &it.bound, &out->last) &&
         (it.step.first == it.step.last || is_number(at, &it.step, &by));
}

static bool declares_shared(const cpu_splitter *in, const cpu_node *node) {
  return node->kind == CPU_NODE_TYPE && mw_token_is(&in->work.at[node->first], "__shared__");
}

/* The name is an array of at least so many elements, which is used by its elements only. */
static bool is_array(const cpu_splitter *in, int name, long least) {
  const mw_token *at = in->work.at;
  bool found = false;
  for (int i = 0; i < in->nnodes; i++) {
    const cpu_node *node = &in->nodes[i];
    long size;
    if (!declares_shared(in, node)) continue;
    const int dims = mw_variable_find(&in->work, node->first, node->last, &at[name]) + 1;
    if (!dims || mw_token_is(&at[node->first + 1], "volatile")) continue;
    const int last = mw_variable_next(&in->work, node->first, node->last, -1); /* of the type */
    found = cpu_type_knows(in->program, in->kernel, &in->work, node->first, last) >= CPU_KNOWN &&
            mw_token_is(&at[dims], "[") && is_number(at, &(mw_span){dims + 1, at[dims].match}, &size) &&
            !mw_token_is(&at[at[dims].match + 1], "[") && size >= least;
  }
  for (int i = 0; found && (i = mw_find_use(&in->work, i, in->work.count, &at[name])) < in->work.count; i++)
    found = declares_shared(in, &in->nodes[cpu_node_at(in, i)]) ||
            (mw_token_is(&at[i + 1], "[") && cpu_use_at(&in->body, i, CPU_POINTER) != CPU_ESCAPED);
  return found;
}

static bool is_element(const cpu_splitter *in, int i, int index) {
  const mw_token *at = in->work.at;
  return at[i].kind == MW_TOKEN_NAME && !mw_is_member(&in->work, i) && mw_token_is(&at[i + 1], "[") &&
         mw_same_text(&at[i + 2], &at[index]) && at[i + 1].match == i + 3;
}

/* An element that may be read before the loop's body; -1: none. */
static int element_find(const cpu_splitter *in, const cpu_node *loop, const counted *it) {
  for (int i = loop->head_last + 1; i < loop->last; i++)
    if (is_element(in, i, it->name) && cpu_local_find(in, i) < 0 && is_array(in, i, it->last) &&
        !cpu_is_written(&in->body, loop->head_last, loop->last, &in->work.at[i]))
      return i;
  return -1;
}

static void element_hoist(cpu_splitter *in, const cpu_node *loop, int element) {
  const mw_token *at = in->work.at, *array = &at[element];
  const mw_span parts[] = {{loop->first, loop->head_last + 1}, {element, element + 1}, {element + 2, element + 3}};
  mw_tokens next = {0};
  const int number = ++in->serial, body = loop->head_last + 1, block = mw_token_is(&at[body], "{");
  mw_tokens_build(&next, &in->work, array, number, "$0 { const auto mw_h# = $1 [ ( $2 ) ] ;", parts);
  for (int i = body + block; i < loop->last; i++)
    if (is_element(in, i, element + 2) && mw_same_text(&at[i], array)) {
      mw_tokens_format(&next, &at[i], " mw_h%d ", number);
      i += 3;
    } else
      mw_tokens_push(&next, &at[i]);
  if (!block) mw_tokens_scan(&next, " }", array);
  cpu_edit(in, loop->first, loop->last, &next);
}

void cpu_hoist(cpu_splitter *in) {
  counted it;
  do {
    for (const cpu_node *node = in->nodes; node < in->nodes + in->nnodes; node++) {
      const int element = node->first >= in->edited && counted_form(in, node, &it) ? element_find(in, node, &it) : -1;
      if (element >= 0) element_hoist(in, node, element);
    }
  } while (cpu_conditions_renew(in));
}

/* In an arm of a conditional, or in the body of an if, in the loop? */
static bool is_conditional(const cpu_splitter *in, int i, int loop) {
  const int own = cpu_node_at(in, i);
  for (int up = own; up != loop; up = in->nodes[up].parent)
    if (up < 0)
      return false;
    else if (in->nodes[up].kind == CPU_NODE_IF && i > in->nodes[up].head_last)
      return true;
  for (int k = in->nodes[own].first; (k = mw_find(&in->work, k, i, WORDS("?"))) < i; k++)
    if (i < mw_find_open(&in->work, k, in->nodes[own].last, WORDS(";", ",", ")", "]", "}"))) return true;
  return false;
}

static bool is_pointer_formal(const cpu_splitter *in, const mw_token *name) {
  for (int k = 0; k < in->kernel->nformals; k++) {
    const mw_formal *formal = &in->kernel->formals[k];
    if (formal->name >= 0 && mw_same_text(&in->program->tokens.at[formal->name], name)) return formal->far;
  }
  return false;
}

/* The same for all threads, in memory that a parameter points to, and only read. */
static bool is_common(const cpu_splitter *in, int i) {
  const mw_token *at = in->work.at;
  return at[i].kind == MW_TOKEN_NAME && mw_token_is(&at[i + 1], "[") && !mw_is_member(&in->work, i) &&
         cpu_local_find(in, i) < 0 && is_pointer_formal(in, &at[i]) && !mw_token_is(&at[at[i + 1].match + 1], "[") &&
         cpu_is_uniform(in, i + 2, at[i + 1].match) && cpu_use_at(&in->body, i, CPU_POINTER) == CPU_READ;
}

void cpu_gather(cpu_splitter *in) {
  for (int loop = 0; loop < in->nnodes; loop++) {
    const cpu_node *node = &in->nodes[loop];
    for (int i = node->head_last + 1; node->lifted && i < node->last; i++) {
      const int open = i + 1, close = in->work.at[open].match;
      if (!is_common(in, i) || !is_conditional(in, i, loop)) continue;
      mw_token_set(&in->work, open, mw_strdup("[("));
      mw_token_set(&in->work, close, mw_strdup(") MW_SEEMS_OWN]"));
    }
  }
}
