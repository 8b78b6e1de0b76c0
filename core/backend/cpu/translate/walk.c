/* SPDX-License-Identifier: MIT
 *
 * In which order the blocks of a barrier-free kernel may be walked. CUDA gives none, so neighbours in x may share long
 * rows of threads, unless a block keeps something in shared memory meanwhile. Where blockIdx.x and threadIdx.x stand
 * only together, as blockIdx.x * blockDim.x + threadIdx.x, a whole row of neighbours is one loop over threadIdx.x:
 * the sum does not show where one block ends and the next begins. See shim/entry.h.
 *
 *   int t = threadIdx.x, i = t + blockDim.x * (int)blockIdx.x; x[i] = 1;    a line
 *   int t = threadIdx.x, i = t + blockDim.x * (int)blockIdx.x; x[t] = 1;    rows: t shows where the block begins */
#include <string.h>

#include "core/backend/cpu/program/growth.h"
#include "core/backend/cpu/translate/translate.h"

enum { MOST_TOKENS = 64 }; /* of an index; each part of a longer sum would be asked about all of its operands */

static bool uses_shared(const cpu_program *program, const cpu_function *kernel) {
  for (int i = 0; i < program->nitems; i++)
    if (program->items[i].kind == CPU_ITEM_SHARED) return true;
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *function = &program->functions[i];
    if ((function == kernel || !function->kernel) && cpu_function_has(program, function, "__shared__")) return true;
  }
  return false;
}

/* threadIdx.x, blockIdx.x and blockIdx.x * blockDim.x, by themselves or under another name. */
static bool is_part(const cpu_growth *value) {
  const mw_token *at = value->coordinate;
  return value->parts == CPU_THREAD_PART || value->parts == CPU_BLOCK_PART ||
         (at && mw_token_is(at, "blockIdx") && mw_token_is(at + 2, "x"));
}

/* Marks the tokens of what is the whole index, and of what gives a part of it to a variable. */
static void indices_mark(cpu_grower *in, bool *marked, bool *part) {
  const mw_body *body = in->body;
  for (int i = 1; i < body->nexprs; i++) {
    const mw_expr *e = &body->exprs[i];
    if (e->kind == MW_EXPR_BINARY && e->last - e->first <= MOST_TOKENS && mw_body_find(body, e->first, e->last) == i &&
        cpu_growth_of(in, i).parts == CPU_WHOLE_INDEX)
      memset(&marked[e->first - body->first], true, (size_t)(e->last - e->first));
  }
  for (int i = 1; i < body->ndeclared; i++) {
    const mw_expr *init = &body->exprs[body->declared[i].init];
    const cpu_growth value = cpu_growth_declared(in, i);
    part[i] = is_part(&value);
    if (part[i]) memset(&marked[init->first - body->first], true, (size_t)(init->last - init->first));
  }
}

/* A use of a coordinate along x, or of a variable that is a part. y and z may be used as they please. */
static bool shows_block(const mw_body *body, const bool *part, int i) {
  const mw_token *at = &body->tokens->at[i];
  const int of = body->bound[i - body->first];
  if (mw_token_any(at, WORDS("blockIdx", "threadIdx")))
    return !mw_token_is(at + 1, ".") || !mw_token_any(at + 2, WORDS("y", "z"));
  return part[of] && i != body->declared[of].name;
}

/* Every use of the coordinates along x is in such a sum. */
static bool only_indices(const cpu_program *program, const cpu_function *kernel) {
  cpu_grower in = cpu_function_grower(program, kernel);
  const mw_body *body = in.body;
  bool *marked = mw_calloc((size_t)(body->last - body->first) + 1, sizeof *marked);
  bool *part = mw_calloc((size_t)body->ndeclared, sizeof *part);
  indices_mark(&in, marked, part);
  int i = body->first;
  while (i < body->last && (marked[i - body->first] || !shows_block(body, part, i))) i++;
  mw_free(marked);
  mw_free(part);
  return i == body->last;
}

/* Does anything but a kernel name blockIdx? */
static bool names_block(const cpu_program *program) {
  const cpu_function *function = program->functions;
  for (const cpu_item *item = program->items; item < program->items + program->nitems; item++) {
    const bool kernel = item->kind == CPU_ITEM_FUNCTION && function++->kernel;
    if (!kernel && item->kind != CPU_ITEM_HOST && mw_has(&program->tokens, item->first, item->last, "blockIdx"))
      return true;
  }
  return false;
}

const char *cpu_walk(const cpu_program *program, const cpu_function *kernel) {
  if (uses_shared(program, kernel)) return "mw_blocks";
  if (cpu_calls_for_index(program, kernel) || names_block(program)) return "mw_rows";
  return only_indices(program, kernel) ? "mw_line" : "mw_rows";
}
