/* SPDX-License-Identifier: MIT
 *
 * One region as text: a loop over the threads of the block, in which the statements between two split points stand,
 * with the variables they need. Called by split.c's walk. */
#include <stdio.h>
#include <string.h>

#include "core/backend/backend.h"
#include "core/backend/cpu/split/split.h"

static const char stack_shared[] = " MW_STACK_SHARED ";

/* ---- regions --------------------------------------------------------------------------------------------------- */

/* How many threads may have an element each: of a block, or of a piece of a row (mw_piece_threads in shim/entry.h). */
int cpu_threads_most(const cpu_splitter *in) {
  return in->plain ? 1024 : in->kernel->max_threads;
}

void cpu_put(cpu_writer *it, const char *text) {
  if (!it->out) return;
  cpu_text_put(it->out, text);
  if (strchr(text, '\n')) it->out->file = 0;
}

void cpu_put_numbers(cpu_writer *it, const char *format, int a, int b) {
  char text[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  snprintf(text, sizeof text, format, a, b);
#pragma GCC diagnostic pop
  cpu_put(it, text);
}

void cpu_put_tokens(cpu_writer *it, int first, int last) {
  if (it->out) cpu_emit_tokens(&it->in->work, it->out, first, last, stack_shared);
}

void cpu_segment_add(cpu_writer *it, cpu_segment_kind kind, int first, int last, int node) {
  if (it->nopen == CPU_MOST_SEGMENTS) {
    cpu_split_refuse(it->in, first, "the kernel is too long");
    return;
  }
  it->open[it->nopen++] = (cpu_segment){kind, first, last, node};
  for (int i = first; i < last; i++) it->regions[i] = it->region;
}

static bool segment_uses(const cpu_writer *it, int local) {
  for (int k = 0; k < it->nopen; k++)
    for (int i = it->open[k].first; i < it->open[k].last; i++)
      if (cpu_local_find(it->in, i) == local) return true;
  return false;
}

/* Marks what the open region needs, through the variables that are computed again. */
static void need(const cpu_splitter *in, int local, bool *needed) {
  const cpu_local *it = &in->locals[local];
  if (needed[local]) return;
  needed[local] = true;
  if (it->class != CPU_AGAIN) return;
  for (int i = it->declarator.init; i < it->declarator.init_last; i++) {
    int used = cpu_local_find(in, i);
    if (used >= 0 && used != local) need(in, used, needed);
  }
}

/* The same through uniform variables too: for text in front of their declarations. */
static void need_all(const cpu_splitter *in, int local, bool *needed) {
  const cpu_declarator *it = &in->locals[local].declarator;
  if (needed[local]) return;
  needed[local] = true;
  for (int i = it->init; i < it->init_last; i++) {
    int used = cpu_local_find(in, i);
    if (used >= 0 && used != local) need_all(in, used, needed);
  }
}

/* Declarations of what the open region uses; known_only: of what is computed again, for a guard. */
static void locals_put(cpu_writer *it, bool known_only) {
  cpu_splitter *in = it->in;
  bool *needed = mw_calloc((size_t)in->nlocals + 1, sizeof *needed);
  for (int i = 0; i < in->nlocals; i++)
    if (segment_uses(it, i)) need(in, i, needed);
  for (int i = 0; i < in->nlocals; i++) {
    const cpu_local *local = &in->locals[i];
    if (!needed[i]) continue;
    const cpu_token *name = &in->work.at[local->declarator.name];
    if (local->class == CPU_AGAIN) {
      cpu_put_tokens(it, local->declarator.spec, local->declarator.init_last);
      cpu_put(it, "; ");
    } else if (local->class == CPU_PRIVATE && !known_only)
      cpu_text_format(it->out, " mw_T%d &%.*s = mw_L%d.at[mw_t];", i, name->size, name->text, i);
  }
  mw_free(needed);
}

/* float x = 1;  ->  x = 1;   float x[2] = {1};  ->  a copy of such an array */
static void private_init_put(cpu_writer *it, int index) {
  const cpu_local *local = &it->in->locals[index];
  const cpu_declarator *d = &local->declarator;
  if (d->init_last == d->init) return;
  bool braces = cpu_token_is(&it->in->work.at[d->init], "{");
  if (d->dims_last > d->dims) {
    cpu_put_numbers(it, " { const mw_T%d mw_i%d = ", index, index);
    cpu_put_tokens(it, d->init, d->init_last);
    cpu_put(it, "; mw_assign(");
    cpu_put_tokens(it, d->name, d->name + 1);
    cpu_put_numbers(it, ", mw_i%d); }", index, 0);
    return;
  }
  cpu_put_tokens(it, d->name, d->name + 1);
  cpu_put(it, " = ");
  if (braces) cpu_put_numbers(it, "mw_T%d ", index, 0);
  cpu_put_tokens(it, d->init, d->init_last);
  cpu_put(it, ";");
}

static void declare_put(cpu_writer *it, const cpu_segment *piece) {
  for (int i = 0; i < it->in->nlocals; i++) {
    const cpu_local *local = &it->in->locals[i];
    if (local->node != piece->node) continue;
    if (local->class == CPU_LOCAL)
      cpu_put_tokens(it, piece->first, piece->last);
    else
      private_init_put(it, i);
  }
}

static void exchange_put(cpu_writer *it, const cpu_segment *piece) {
  const cpu_token *at = it->in->work.at;
  int number = piece->first + 2, kind = at[piece->first + 4].text[0] - '0';
  cpu_text_format(it->out, " mw_x%.*s.%s", at[number].size, at[number].text,
                  kind == 0 ? "at[mw_t + 32] = (" : "set(mw_t, (");
  cpu_put_tokens(it, piece->first + 6, piece->last - 2);
  cpu_put(it, kind == 0 ? ");" : "));");
}

static void predicate_put(cpu_writer *it, const cpu_segment *piece) {
  const cpu_node *node = &it->in->nodes[piece->node];
  cpu_put_numbers(it, " mw_p%d.at[mw_t] = ", node->predicate, 0);
  if (piece->kind == CPU_SEGMENT_ENTER) {
    cpu_put(it, "1;");
    return;
  }
  cpu_put(it, "(");
  if (piece->first == piece->last)
    cpu_put(it, "true");
  else
    cpu_put_tokens(it, piece->first, piece->last);
  cpu_put(it, node->kind == CPU_NODE_IF ? ") ? 1 : 2;" : ") ? 1 : 0;");
}

/* return; inside of a thread loop: the thread is done, the loop is not. */
static void statement_put(cpu_writer *it, const cpu_segment *piece) {
  const cpu_token *at = it->in->work.at;
  int from = piece->first;
  for (int i = piece->first; i < piece->last; i++) {
    if (!cpu_token_is(&at[i], "return")) continue;
    cpu_put_tokens(it, from, i);
    cpu_put_numbers(it, it->returns ? " { mw_live.at[mw_t] = 0; goto mw_out%d_%d; }" : " goto mw_out%d_%d;", it->region,
                    it->copy);
    from = i + 2;
  }
  cpu_put_tokens(it, from, piece->last);
}

/* A guard is an `if` at the top of the region, or an early return, that only asks for coordinates and constants. It is
 * asked of both ends of a row of threads: rows in which all pass need no masks in vector code (a masked store makes the
 * processor read the line it writes, which costs a copy half as much again). */
static bool is_guard(const cpu_writer *it, const cpu_segment *piece) {
  const cpu_node *node = &it->in->nodes[piece->node];
  if (piece->kind != CPU_SEGMENT_STATEMENT || piece->first != node->first) return false;
  return !node->guard && cpu_is_guard(it->in, piece->node);
}

/* One of the kernel's own guards, in text for threads that pass them all. */
static bool is_passed(const cpu_writer *it, const cpu_segment *piece) {
  return it->passed && piece->kind == CPU_SEGMENT_STATEMENT && it->in->nodes[piece->node].guard;
}

static bool has_guard(const cpu_writer *it) {
  for (int k = 0; k < it->nopen; k++)
    if (is_guard(it, &it->open[k])) return true;
  return false;
}

/* In rows that are known to pass. */
static void passed_put(cpu_writer *it, const cpu_segment *piece) {
  const cpu_node *node = &it->in->nodes[piece->node];
  cpu_segment rest = *piece;
  if (cpu_leaves_if(it->in, piece->node)) return;
  cpu_put(it, " if (true) ");
  rest.first = node->head_last + 1;
  statement_put(it, &rest);
}

/* May a thread leave the kernel in the open region? */
static bool open_leaves(const cpu_writer *it) {
  for (int k = 0; k < it->nopen; k++) {
    const cpu_segment *piece = &it->open[k];
    if (is_passed(it, piece) && cpu_leaves_if(it->in, piece->node)) continue;
    for (int i = piece->first; i < piece->last; i++)
      if (cpu_token_is(&it->in->work.at[i], "return")) return true;
  }
  return false;
}

static void thread_put(cpu_writer *it, const char *loop, bool passed) {
  bool leaves = open_leaves(it);
  cpu_put(it, loop);
  if (it->sets_index) cpu_put(it, " ::threadIdx = threadIdx;");
  if (it->returns) cpu_put(it, " if (!mw_live.at[mw_t]) continue;");
  if (it->nguards)
    cpu_put_numbers(it, " if (mw_p%d.at[mw_t] != %d) continue;", it->guards[it->nguards - 1][0],
                    it->guards[it->nguards - 1][1]);
  locals_put(it, false);
  if (leaves) cpu_put(it, " {");
  for (int k = 0; k < it->nopen; k++) {
    const cpu_segment *piece = &it->open[k];
    if (is_passed(it, piece) || (passed && is_guard(it, piece)))
      passed_put(it, piece);
    else if (piece->kind == CPU_SEGMENT_STATEMENT)
      statement_put(it, piece);
    if (piece->kind == CPU_SEGMENT_DECLARE) declare_put(it, piece);
    if (piece->kind == CPU_SEGMENT_EXCHANGE) exchange_put(it, piece);
    if (piece->kind == CPU_SEGMENT_PREDICATE || piece->kind == CPU_SEGMENT_ENTER) predicate_put(it, piece);
  }
  if (leaves) cpu_put_numbers(it, " } mw_out%d_%d:;", it->region, it->copy);
  it->copy++;
  cpu_put(it, "\n}\n");
}

/* The declarations and conditions of guards, for one thread. */
static void guard_put(cpu_writer *it, int index) {
  const cpu_node *node = &it->in->nodes[index];
  cpu_put(it, cpu_leaves_if(it->in, index) ? " mw_full &= !(" : " mw_full &= bool(");
  cpu_put_tokens(it, node->head, node->head_last);
  cpu_put(it, ");");
}

static void region_guards_put(cpu_writer *it) {
  const cpu_splitter *in = it->in;
  int scale = 1;
  for (int k = 0; k < it->nopen; k++) {
    int node = it->open[k].node, one = 1;
    if (is_guard(it, &it->open[k]))
      one = cpu_guard_scale(in, in->nodes[node].head, in->nodes[node].head_last, cpu_leaves_if(in, node));
    scale = one > scale ? one : scale;
  }
  if (!in->plain) cpu_put(it, "\nMW_ROWS");
  cpu_put_numbers(it, " {\n bool mw_full = MW_LINEAR(%d);\n MW_ENDS {", scale, 0);
  cpu_put(it, in->plain ? "\n MW_ROW_THREAD" : "\n MW_THREAD");
  locals_put(it, true);
  for (int k = 0; k < it->nopen; k++)
    if (is_guard(it, &it->open[k])) guard_put(it, it->open[k].node);
  cpu_put(it, "\n}\nif (mw_full) {\n");
}

/* Everything that the kernel's own guards are made of stands in front of them again. */
static void guard_locals_put(cpu_writer *it) {
  cpu_splitter *in = it->in;
  bool *needed = mw_calloc((size_t)in->nlocals + 1, sizeof *needed);
  for (int k = 0; k < in->nnodes; k++)
    for (int i = in->nodes[k].head; in->nodes[k].guard && i < in->nodes[k].head_last; i++)
      if (cpu_local_find(in, i) >= 0) need_all(in, cpu_local_find(in, i), needed);
  for (int i = 0; i < in->nlocals; i++)
    if (needed[i]) {
      cpu_put_tokens(it, in->locals[i].declarator.spec, in->locals[i].declarator.init_last);
      cpu_put(it, "; ");
    }
  mw_free(needed);
}

void cpu_guards_put(cpu_writer *it) {
  const cpu_splitter *in = it->in;
  cpu_put_numbers(it, "\nbool mw_full = MW_LINEAR(%d);\n", in->guard_scale, 0);
  cpu_put(it, in->plain ? "MW_ENDS {\n MW_ROW_THREAD" : "MW_ROWS MW_ENDS {\n MW_THREAD");
  guard_locals_put(it);
  for (int k = 0; k < in->nnodes; k++)
    if (in->nodes[k].guard) guard_put(it, k);
  cpu_put(it, "\n}\n");
}

static void region_put(cpu_writer *it) {
  const char *row = it->in->plain ? "MW_ROW {\n MW_ROW_THREAD\n" : "MW_ROW {\n MW_THREAD\n";
  if (!it->nguards && !it->returns && has_guard(it)) {
    region_guards_put(it);
    thread_put(it, row, true);
    cpu_put(it, "} else ");
    thread_put(it, row, false);
    cpu_put(it, "}\n");
  } else
    thread_put(it, it->in->plain ? row : "\nMW_THREADS {\n MW_THREAD\n", false);
  if (open_leaves(it) && it->returns) cpu_put(it, "if (mw_live.none(mw_n)) return;\n");
}

void cpu_region_flush(cpu_writer *it) {
  if (!it->nopen) return;
  if (it->out)
    region_put(it);
  else if (open_leaves(it))
    it->returns = true;
  it->last_region = it->region++;
  it->nopen = 0;
}
