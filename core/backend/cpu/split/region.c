/* SPDX-License-Identifier: MIT
 *
 * One region as text: a loop over the threads of the block, in which the statements between two split points stand,
 * with the variables they need. Called by writer.c's walk.
 *
 *   int i = 2 * threadIdx.x;        i: cheap and constant, computed again
 *   sum += x[i];                    sum: lives across barriers
 *   MW_THREADS { MW_THREAD const int i = 2 * threadIdx.x; mw_T0 &sum = mw_L0.at[mw_e]; sum += x[i]; } */
#include "core/backend/cpu/split/region.h"

#include <stdarg.h>
#include <string.h>

/* How many threads may have an element each: of a block, or of a piece of a row (mw_piece_threads in shim/entry.h). */
int cpu_threads_most(const cpu_splitter *in) {
  return in->plain ? 1024 : in->kernel->max_threads;
}

bool cpu_some_wait(const cpu_writer *it) {
  return it->nbounds_checks || it->returns;
}

void cpu_put(cpu_writer *it, const char *format, ...) {
  if (!it->out) return;
  size_t from = it->out->size;
  va_list args;
  va_start(args, format);
  mw_text_vformat(it->out, format, args);
  va_end(args);
  if (memchr(it->out->at + from, '\n', it->out->size - from)) it->out->file = 0;
}

const char cpu_stack_shared[] = " MW_STACK_SHARED ";

void cpu_shared_put(cpu_writer *it, int first, int last, const char *shared) {
  if (it->out) cpu_emit_tokens(&it->in->work, it->out, first, last, shared);
  for (int i = first; it->regions && i < last; i++) {
    const int local = cpu_local_find(it->in, i);
    if (local >= 0) it->in->locals[local].typed = true;
  }
}

void cpu_put_tokens(cpu_writer *it, int first, int last) {
  cpu_shared_put(it, first, last, cpu_stack_shared);
}

/* Is a name among them declared in the body, and no constant that precedes the thread loops? */
static bool names_variable(const cpu_splitter *in, int first, int last) {
  for (int i = first; i < last; i++) {
    const int local = cpu_local_find(in, i);
    const bool front = local >= 0 && (in->locals[local].class == CPU_UNIFORM || in->locals[local].class == CPU_AGAIN);
    if (in->body.bound[i - 1] && !(front && in->locals[local].is_const)) return true;
  }
  return false;
}

void cpu_sizes_put(cpu_writer *it, int first, int last) {
  for (int i = first; it->out && i < last; i++) {
    const mw_token *token = &it->in->work.at[i];
    const int close = token->match;
    if (mw_token_is(token, "[") && names_variable(it->in, i + 1, close)) {
      cpu_put(it, " static_assert(sizeof(int");
      cpu_put_tokens(it, i, close + 1);
      cpu_put(it, ") + 1, \"\");");
    }
    if (close > i) i = close;
  }
}

void cpu_segment_add(cpu_writer *it, cpu_segment_kind kind, int first, int last, int node) {
  if (it->nopen == CPU_MOST_SEGMENTS) {
    cpu_split_reject(it->in, first, "the kernel is too long");
    return;
  }
  it->open[it->nopen++] = (cpu_segment){kind, first, last, node};
  for (int i = first; it->regions && i < last; i++) it->regions[i] = it->region;
}

/* ---- questions ------------------------------------------------------------------------------------------------- */

/* Subscripts as 0: what is asked is the type. */
static void type_ask(void *writer, const char *macro, int first, int last) {
  cpu_writer *it = writer;
  cpu_put(it, " %s(", macro);
  for (int i = first; i < last; i++) {
    const bool subscript = mw_token_is(&it->in->work.at[i], "[");
    if (subscript)
      cpu_put(it, "[0]");
    else
      cpu_put_tokens(it, i, i + 1);
    if (subscript) i = it->in->work.at[i].match;
  }
  cpu_put(it, ");");
}

void cpu_known_put(cpu_writer *it, int first, int last) {
  if (it->out) cpu_known_ask(it->in, first, last, type_ask, it);
}

void cpu_known_local_put(cpu_writer *it, const cpu_local *local) {
  const int name = local->declarator.name;
  if (it->out && cpu_local_knows(it->in, local) == CPU_ASKED) type_ask(it, "MW_KNOWN", name, name + 1);
}

/* ---- the variables that a region uses -------------------------------------------------------------------------- */

/* Marks the variables that tokens first ... last-1 use, and what they are made of: through those that are computed again,
 * or through all. */
static void need(const cpu_splitter *in, int first, int last, bool through_all, bool *needed) {
  for (int i = first; i < last; i++) {
    const int local = cpu_local_find(in, i);
    if (local < 0 || needed[local]) continue;
    const cpu_local *it = &in->locals[local];
    needed[local] = true;
    if (through_all || it->class == CPU_AGAIN)
      need(in, it->declarator.value, it->declarator.value_last, through_all, needed);
  }
}

void cpu_variable_put(cpu_writer *it, int index, const char *element) {
  const cpu_local *local = &it->in->locals[index];
  cpu_put(it, "%s mw_T%d &%.*s = %smw_L%d.at[%s];", local->is_const ? " const" : "", index,
          TEXT(&it->in->work.at[local->declarator.name]), local->reference ? "*" : "", index, element);
}

static void again_put(cpu_writer *it, const cpu_local *local) {
  cpu_known_put(it, local->declarator.value, local->declarator.value_last);
  cpu_put_tokens(it, local->declarator.spec, local->declarator.value_last);
  cpu_put(it, "; ");
  cpu_known_local_put(it, local);
}

/* Does the open region begin the life of the reference? It is not bound before that. */
static bool binds(const cpu_writer *it, const cpu_local *local) {
  int k = 0;
  while (k < it->nopen && !(it->open[k].kind == CPU_SEGMENT_DECLARE && it->open[k].node == local->node)) k++;
  return local->reference && k < it->nopen;
}

/* int i = blockIdx.x * blockDim.x + threadIdx.x; float &x = mw_L3.at[mw_e]; for what the open region uses.
 * known_only: what is computed again, for a bounds check. */
static void locals_put(cpu_writer *it, bool known_only) {
  const cpu_splitter *in = it->in;
  bool *needed = mw_calloc((size_t)in->nlocals + 1, sizeof *needed);
  for (int k = 0; k < it->nopen; k++) need(in, it->open[k].first, it->open[k].last, false, needed);
  for (int i = 0; i < in->nlocals; i++) {
    const cpu_local *local = &in->locals[i];
    if (needed[i] && local->class == CPU_AGAIN) again_put(it, local);
    if (needed[i] && local->class == CPU_PRIVATE && !known_only && !binds(it, local)) cpu_variable_put(it, i, "mw_e");
  }
  mw_free(needed);
}

/* ---- the pieces of a region ------------------------------------------------------------------------------------ */

/* Of Tile x{1, 2}; and Tile x = Tile(1): the bracket; 0: another form. */
static int constructor_open(const cpu_splitter *in, const mw_declared *d) {
  const mw_token *at = in->work.at;
  int i = d->value, k = d->spec;
  if (mw_token_is(&at[i], "{")) return i;
  while (mw_token_any(&at[k], WORDS("const", "constexpr"))) k++;
  for (; k < d->spec_last && mw_same_text(&at[i], &at[k]); k++) i++;
  return k == d->spec_last && mw_token_any(&at[i], WORDS("(", "{")) && at[i].match == d->value_last - 1 ? i : 0;
}

/* float x = 1;  ->  mw_start<mw_T3>::of(x) = 1;   Tile x(1);  ->  new (mw_at(x), mw_here()) mw_T3(1);   Tile x = 1; 
 * ->  mw_start<mw_T3>::make(x, [&]() -> mw_T3 { return 1; });
 * float x[2] = {1};  ->  a copy of such an array.  An argument (body_copy in split.c) is copied as CUDA copies it: byte
 * by byte, whatever operator= its class has. */
static void private_init_put(cpu_writer *it, int index) {
  const cpu_splitter *in = it->in;
  const cpu_local *local = &in->locals[index];
  const mw_declared *d = &local->declarator;
  const mw_token *init = &in->work.at[d->value];
  const bool argument = init->size > 5 && !strncmp(init->text, "mw_a_", 5), braces = mw_token_is(init, "{");
  const bool known = !local->is_auto && cpu_local_knows(in, local) >= CPU_KNOWN;
  /* the name of a constant is one */
  char *name = local->is_const ? mw_format("mw_L%d.at[mw_e]", index) : mw_format("%.*s", TEXT(&in->work.at[d->name]));
  if (d->value_last == d->value) {
    cpu_put(it, " mw_start<mw_T%d>::plain(%s);", index, name);
  } else if (local->reference) {
    cpu_put(it, " mw_L%d.at[mw_e] = __builtin_addressof(", index);
    cpu_put_tokens(it, d->value, d->value_last);
    cpu_put(it, ");");
    cpu_variable_put(it, index, "mw_e");
  } else if (argument) {
    cpu_put(it, " mw_assign(%s, %.*s);", name, TEXT(init));
  } else if (d->dims_last > d->dims) {
    cpu_put(it, " { const mw_T%d mw_i%d = ", index, index);
    cpu_put_tokens(it, d->value, d->value_last);
    cpu_put(it, "; mw_start<mw_T%d>::copy(%s, mw_i%d); }", index, name, index);
  } else {
    const int value = known ? 0 : constructor_open(in, d);
    if (known)
      cpu_put(it, braces ? " mw_start<mw_T%d>::of(%s) = mw_T%d " : " mw_start<mw_T%d>::of(%s) = ", index, name, index);
    else if (value)
      cpu_put(it, " mw_start<mw_T%d>::%s(); new (mw_at(%s), mw_here()) mw_T%d ", index,
              mw_token_is(&in->work.at[value], "{") ? "listed" : "called", name, index);
    else
      cpu_put(it, " mw_start<mw_T%d>::make(%s, [&]() MW_INLINE -> mw_T%d { return ", index, name, index);
    cpu_put_tokens(it, value ? value : d->value, d->value_last);
    cpu_put(it, known || value ? ";" : "; });");
  }
  mw_free(name);
}

static void declare_put(cpu_writer *it, const cpu_segment *piece) {
  const cpu_splitter *in = it->in;
  for (int i = cpu_locals_from(in, piece->node); i < in->nlocals && in->locals[i].node == piece->node; i++) {
    const cpu_local *local = &in->locals[i];
    if (local->class == CPU_LOCAL) {
      cpu_put_tokens(it, piece->first, piece->last);
      if (local->is_auto || cpu_local_knows(in, local) < CPU_KNOWN)
        cpu_put(it, " MW_LASTS(%.*s);", TEXT(&in->work.at[local->declarator.name]));
    } else
      private_init_put(it, i);
  }
}

static void shuffle_put(cpu_writer *it, const cpu_segment *piece) {
  bool shuffle = cpu_shuffle_kind(it->in, &it->in->nodes[piece->node]) == 0;
  cpu_put(it, " mw_x%.*s.%s", TEXT(&it->in->work.at[piece->first + 2]), shuffle ? "at[mw_t + 32] = (" : "set(mw_t, (");
  cpu_put_tokens(it, piece->first + 6, piece->last - 2);
  cpu_put(it, shuffle ? ");" : "));");
}

static void predicate_put(cpu_writer *it, const cpu_segment *piece) {
  const cpu_node *node = &it->in->nodes[piece->node];
  cpu_put(it, " mw_p%d.at[mw_t] = (", node->predicate);
  if (piece->first == piece->last)
    cpu_put(it, "true");
  else
    cpu_put_tokens(it, piece->first, piece->last);
  cpu_put(it, node->kind == CPU_NODE_IF ? ") ? 1 : 2;" : ") ? 1 : 0;");
}

/* return; inside of a thread loop: the thread is done, the loop is not. */
static void statement_put(cpu_writer *it, const cpu_segment *piece) {
  int from = piece->first;
  for (int i = from; (i = cpu_return_find(&it->in->work, i, piece->last)) < piece->last; i++) {
    cpu_put_tokens(it, from, i);
    cpu_put(it, it->returns ? " { mw_live.at[mw_t] = 0; goto mw_out%d_%d; }" : " goto mw_out%d_%d;", it->region,
            it->copy);
    from = i + 2;
  }
  cpu_put_tokens(it, from, piece->last);
}

/* Of a bounds check of the region, an `if` at its top, or an early return, that only asks for coordinates and
 * constants: its scale; 0: it is not one. */
static int piece_scale(const cpu_writer *it, const cpu_segment *piece) {
  const cpu_node *node = &it->in->nodes[piece->node];
  bool whole = piece->kind == CPU_SEGMENT_STATEMENT && piece->first == node->first;
  return whole && !node->bounds_check ? cpu_bounds_check_scale(it->in, piece->node) : 0;
}

/* One of the kernel's own bounds checks, in text for threads that pass them all. */
static bool is_passed(const cpu_writer *it, const cpu_segment *piece) {
  return it->passed && piece->kind == CPU_SEGMENT_STATEMENT && it->in->nodes[piece->node].bounds_check;
}

/* The largest of the open region's bounds checks; 0: it has none. */
static int region_scale(const cpu_writer *it) {
  int scale = 0;
  for (int k = 0; k < it->nopen; k++) {
    int one = piece_scale(it, &it->open[k]);
    if (one > scale) scale = one;
  }
  return scale;
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
    bool passes = is_passed(it, piece) && cpu_leaves_if(it->in, piece->node);
    if (!passes && cpu_return_find(&it->in->work, piece->first, piece->last) < piece->last) return true;
  }
  return false;
}

/* passed: for a row whose threads are known to pass the region's own bounds checks */
static void piece_put(cpu_writer *it, const cpu_segment *piece, bool passed) {
  void (*const puts[])(cpu_writer *, const cpu_segment *) = {statement_put, declare_put, shuffle_put, predicate_put};
  (is_passed(it, piece) || (passed && piece_scale(it, piece)) ? passed_put : puts[piece->kind])(it, piece);
}

/* ---- the loop over the threads --------------------------------------------------------------------------------- */

static void thread_put(cpu_writer *it, const char *loop, bool passed) {
  bool leaves = open_leaves(it);
  cpu_put(it, "%s", loop);
  if (it->in->sets_index) cpu_put(it, " ::threadIdx = threadIdx;");
  if (it->returns) cpu_put(it, " if (!mw_live.at[mw_t]) continue;");
  if (it->nbounds_checks) {
    const cpu_bounds_check *inner = &it->bounds_checks[it->nbounds_checks - 1];
    cpu_put(it, " if (mw_p%d.at[mw_t] != %d) continue;", inner->predicate, inner->value);
  }
  locals_put(it, false);
  if (leaves) cpu_put(it, " {");
  for (int k = 0; k < it->nopen; k++) piece_put(it, &it->open[k], passed);
  if (leaves) cpu_put(it, " } mw_out%d_%d:;", it->region, it->copy);
  it->copy++;
  cpu_put(it, "\n}\n");
}

/* The declarations and conditions of bounds checks, for one thread. */
static void bounds_check_put(cpu_writer *it, int index) {
  const cpu_node *node = &it->in->nodes[index];
  cpu_known_put(it, node->head, node->head_last);
  cpu_put(it, cpu_leaves_if(it->in, index) ? " mw_full &= !(" : " mw_full &= bool(");
  cpu_put_tokens(it, node->head, node->head_last);
  cpu_put(it, ");");
}

static void region_bounds_checks_put(cpu_writer *it, int scale) {
  const cpu_splitter *in = it->in;
  if (!in->plain) cpu_put(it, "\nMW_ROWS");
  cpu_put(it, " {\n bool mw_full = MW_LINEAR(%d);\n MW_ENDS {", scale);
  cpu_put(it, in->plain ? "\n MW_ROW_THREAD" : "\n MW_THREAD");
  locals_put(it, true);
  for (int k = 0; k < it->nopen; k++)
    if (piece_scale(it, &it->open[k])) bounds_check_put(it, it->open[k].node);
  cpu_put(it, "\n}\nif (mw_full) {\n");
}

/* Everything that the kernel's own bounds checks are made of precedes them again. */
static void bounds_check_locals_put(cpu_writer *it) {
  const cpu_splitter *in = it->in;
  bool *needed = mw_calloc((size_t)in->nlocals + 1, sizeof *needed);
  for (int k = 0; k < in->nnodes; k++)
    if (in->nodes[k].bounds_check) need(in, in->nodes[k].head, in->nodes[k].head_last, true, needed);
  for (int i = 0; i < in->nlocals; i++)
    if (needed[i]) again_put(it, &in->locals[i]);
  mw_free(needed);
}

void cpu_bounds_checks_put(cpu_writer *it) {
  const cpu_splitter *in = it->in;
  cpu_put(it, "\nbool mw_full = MW_LINEAR(%d);\n", in->bounds_check_scale);
  cpu_put(it, in->plain ? "MW_ENDS {\n MW_ROW_THREAD" : "MW_ROWS MW_ENDS {\n MW_THREAD");
  bounds_check_locals_put(it);
  for (int k = 0; k < in->nnodes; k++)
    if (in->nodes[k].bounds_check) bounds_check_put(it, k);
  cpu_put(it, "\n}\n");
}

static void region_put(cpu_writer *it) {
  const char *row = it->in->plain ? "MW_ROW {\n MW_ROW_THREAD\n" : "MW_ROW {\n MW_THREAD\n";
  const int scale = it->nbounds_checks || it->returns ? 0 : region_scale(it);
  if (scale) {
    region_bounds_checks_put(it, scale);
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
