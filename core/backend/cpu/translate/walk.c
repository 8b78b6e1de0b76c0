/* SPDX-License-Identifier: MIT
 *
 * In which order the blocks of a barrier-free kernel may be walked. CUDA gives none, so neighbours in x may share long
 * rows of threads, unless a block keeps something in shared memory meanwhile. Where blockIdx.x and threadIdx.x stand
 * only together, as blockIdx.x * blockDim.x + threadIdx.x, a whole row of neighbours is one loop over threadIdx.x:
 * the sum does not show where one block ends and the next begins. See shim/entry.h. */
#include "core/backend/cpu/translate/translate.h"

static bool uses_shared(const cpu_program *program, const cpu_function *kernel) {
  for (int i = 0; i < program->nitems; i++)
    if (program->items[i].kind == CPU_ITEM_SHARED) return true;
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *function = &program->functions[i];
    if ((function == kernel || !function->kernel) && cpu_function_has(program, function, "__shared__")) return true;
  }
  return false;
}

static bool is_member(const cpu_token *at, const char *name, const char *member) {
  return cpu_token_is(at, name) && cpu_token_is(at + 1, ".") && cpu_token_is(at + 2, member);
}

enum { SUM = 11 }; /* tokens of blockIdx.x * blockDim.x + threadIdx.x */

static bool is_product(const cpu_token *at) {
  if (!cpu_token_is(at + 3, "*")) return false;
  return (is_member(at, "blockIdx", "x") && is_member(at + 4, "blockDim", "x")) ||
         (is_member(at, "blockDim", "x") && is_member(at + 4, "blockIdx", "x"));
}

static bool is_sum(const cpu_token *at) {
  if (is_product(at)) return cpu_token_is(at + 7, "+") && is_member(at + 8, "threadIdx", "x");
  return is_member(at, "threadIdx", "x") && cpu_token_is(at + 3, "+") && is_product(at + 4);
}

/* Nothing beside the sum may bind closer than its own plus: then it would not be a sum. A cast to its left is rejected
 * too, since it would bind only to the product. */
static bool stands_alone(const cpu_token *at, int i) {
  static const char *const left[] = {"=",      "(", ",", "[", "<",  ">",  "<=", ">=", "+",
                                     "return", "{", "?", ":", "&&", "||", ";",  NULL};
  static const char *const right[] = {
      ";", ")", ",", "]", "<", ">", "<=", ">=", "==", "!=", "+", "-", "}", "?", ":", "&&", "||", NULL};
  return cpu_token_any(&at[i - 1], left) && cpu_token_any(&at[i + SUM], right);
}

static bool is_index(const cpu_token *at) {
  return cpu_token_any(at, WORDS("blockIdx", "threadIdx"));
}

/* Every use of the coordinates along x is such a sum; y and z may be used as they please. */
static bool only_sums(const cpu_program *program, const cpu_function *kernel) {
  const cpu_token *at = program->tokens.at;
  for (int i = kernel->body + 1; i < kernel->last; i++) {
    if (i + SUM < kernel->last && is_sum(&at[i])) {
      if (!stands_alone(at, i)) return false;
      i += SUM - 1;
    } else if (at[i].kind == CPU_NAME && is_index(&at[i])) {
      if (!cpu_token_is(&at[i + 1], ".") || cpu_token_is(&at[i + 2], "x")) return false;
    }
  }
  return true;
}

/* Does anything but a kernel name blockIdx? */
static bool names_block(const cpu_program *program) {
  const cpu_function *function = program->functions;
  for (const cpu_item *item = program->items; item < program->items + program->nitems; item++) {
    const bool kernel = item->kind == CPU_ITEM_FUNCTION && function++->kernel;
    if (!kernel && item->kind != CPU_ITEM_HOST && cpu_has(&program->tokens, item->first, item->last, "blockIdx"))
      return true;
  }
  return false;
}

const char *cpu_walk(const cpu_program *program, const cpu_function *kernel) {
  if (uses_shared(program, kernel)) return "mw_blocks";
  if (cpu_calls_for_index(program, kernel) || names_block(program)) return "mw_rows";
  return only_sums(program, kernel) ? "mw_line" : "mw_rows";
}
