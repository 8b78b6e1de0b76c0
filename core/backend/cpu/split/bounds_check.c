/* SPDX-License-Identifier: MIT
 *
 * Conditions such as i < n that need not be asked of each thread: true at both ends of a row of threads, true within.
 * That holds for comparisons of a value that grows with threadIdx.x by a constant step, without wrapping, with a value
 * that does not depend on threadIdx.x, and for conjunctions of such. Growing values are sums of coordinates, products
 * blockIdx.d * blockDim.d and small literals: never negative, bounded by the grid's own indices times a factor.
 *
 *   for (threads) { if (i < n) y[i] = 2 * x[i]; }
 *   bool mw_full = i < n of the first thread && i < n of the last one;
 *   if (mw_full) for (threads) { y[i] = 2 * x[i]; } else for (threads) { if (i < n) y[i] = 2 * x[i]; }
 *
 * A masked store makes the processor read the line that it writes. An `if` at the top of a kernel is asked once for
 * the whole text, one inside of a region for each row of threads. Measured with clang++: the first 1.7 to 1.9 times as
 * fast on diffusion_shared, 2.6 to 5.6 on potential_direct; the second 1.3 to 1.4 on cumsum_shuffle, 1.3 to 3.7 on
 * memcopy_stride, and 0.6 to 0.96 on reduce_tree with a block for every 256 elements. With g++ 1.5 to 2.1 on
 * memcopy_stride and within the noise elsewhere. */
#include <string.h>

#include "core/backend/cpu/program/growth.h"
#include "core/backend/cpu/split/split.h"

enum { FEW_TERMS = 4, MOST_SCALE = 1 << 16, MOST_DEPTH = 6 };

/* The variable of a grid-stride loop (stride.c): it counts up from zero, and its sum with an index stays below the
 * bound by less than one step. In 32 unsigned bits that may wrap. */
static bool is_turn(const cpu_splitter *in, const cpu_local *variable) {
  const char *const *const words = WORDS("int", "long", "size_t", "int32_t", "int64_t", "uint64_t");
  const mw_token *name = &in->work.at[variable->declarator.name];
  int i = variable->declarator.spec;
  while (i < variable->declarator.spec_last && mw_token_any(&in->work.at[i], words)) i++;
  return i == variable->declarator.spec_last && variable->class == CPU_UNIFORM && name->size > 4 &&
         !memcmp(name->text, "mw_k", 4);
}

/* A parameter that the kernel changes is a variable of the body. */
static unsigned variable(cpu_grower *it, const mw_expr *name) {
  const cpu_splitter *in = it->with;
  const int local = name->binding == MW_NAME_LOCAL ? in->local_of[name->of] : -1;
  if (local < 0) return name->binding == MW_NAME_PARAMETER ? CPU_STAYS : 0;
  const cpu_local *of = &in->locals[local];
  if (is_turn(in, of)) return CPU_STAYS | CPU_SMALL;
  if (of->class != CPU_AGAIN && of->class != CPU_UNIFORM) return 0;
  return (of->class == CPU_UNIFORM ? CPU_STAYS : 0) | (of->changes ? 0 : CPU_FOLLOWS);
}

static cpu_grower grower(const cpu_splitter *in) {
  return (cpu_grower){.body = &in->body, .variable = variable, .with = in};
}

/* The expression that is all of the tokens; 0. */
static int expression(const cpu_splitter *in, int first, int last) {
  const int expr = mw_body_find(&in->body, first, last);
  return in->body.exprs[expr].last == last ? expr : 0;
}

static int growing_scale(const cpu_splitter *in, int expr) {
  cpu_grower it = grower(in);
  const cpu_growth value = cpu_growth_of(&it, expr);
  const long scale = (long)value.scale * (value.terms > FEW_TERMS ? value.terms : FEW_TERMS);
  return value.known && value.by > 0 && scale < MOST_SCALE ? (int)scale : 0;
}

int cpu_growing_scale(const cpu_splitter *in, int first, int last) {
  return growing_scale(in, expression(in, first, last));
}

/* The same for the whole row, and nothing a thread could change. */
static bool constant_in_row(const cpu_splitter *in, int expr) {
  cpu_grower it = grower(in);
  const mw_expr *e = &in->body.exprs[expr];
  return cpu_growth_of(&it, expr).stays && cpu_is_pure(in, e->first, e->last);
}

static int conjunction(const cpu_splitter *in, int expr, bool negated, int depth);

static int comparison(const cpu_splitter *in, int expr, int depth) {
  const mw_expr *e = &in->body.exprs[expr];
  const int local = e->kind == MW_EXPR_NAME && e->binding == MW_NAME_LOCAL ? in->local_of[e->of] : -1;
  if (constant_in_row(in, expr)) return 1;
  if (local >= 0 && in->locals[local].class == CPU_AGAIN && in->body.declared[e->of].type.class == MW_TYPE_SCALAR)
    return conjunction(in, in->body.declared[e->of].init, false, depth + 1); /* bool inside = i < n && j < m; */
  if (e->kind != MW_EXPR_BINARY || !mw_token_any(&in->work.at[e->op], WORDS("<", "<=", ">", ">="))) return 0;
  if (constant_in_row(in, e->b)) return growing_scale(in, e->a);
  return constant_in_row(in, e->a) ? growing_scale(in, e->b) : 0;
}

/* a && b && c; negated: the opposite of a || b || c. */
static int conjunction(const cpu_splitter *in, int expr, bool negated, int depth) {
  const mw_expr *e = &in->body.exprs[expr];
  const mw_token *op = &in->work.at[e->op];
  if (depth > MOST_DEPTH) return 0;
  if (e->kind == MW_EXPR_BRACKETS) return conjunction(in, e->a, negated, depth);
  if (e->kind == MW_EXPR_UNARY && mw_token_is(op, "!")) return conjunction(in, e->a, !negated, depth);
  if (e->kind != MW_EXPR_BINARY || !mw_token_is(op, negated ? "||" : "&&"))
    return negated && e->kind == MW_EXPR_NAME ? 0 : comparison(in, expr, depth);
  const int left = conjunction(in, e->a, negated, depth), right = conjunction(in, e->b, negated, depth);
  return !left || !right ? 0 : left > right ? left : right;
}

bool cpu_leaves_if(const cpu_splitter *in, int node) {
  return in->nodes[node].otherwise < 0 && cpu_is_jump(in, in->nodes[node].child);
}

int cpu_bounds_check_scale(const cpu_splitter *in, int index) {
  const cpu_node *node = &in->nodes[index];
  if (node->kind != CPU_NODE_IF) return 0;
  if (!cpu_is_pure(in, node->head, node->head_last) || cpu_is_uniform(in, node->head, node->head_last)) return 0;
  for (int i = node->head; i < node->head_last; i++) {
    int local = cpu_local_find(in, i);
    if (local >= 0 && in->locals[local].class != CPU_AGAIN && in->locals[local].class != CPU_UNIFORM) return 0;
  }
  return conjunction(in, expression(in, node->head, node->head_last), cpu_leaves_if(in, index), 0);
}

/* The bounds checks of a kernel are written once more before everything: what they are made of must mean the same
 * there. */
static bool made_of_constants(const cpu_splitter *in, const cpu_node *node) {
  for (int i = node->head; i < node->head_last; i++) {
    int local = cpu_local_find(in, i);
    if (cpu_is_generated(&in->work.at[i])) return false;
    if (local >= 0 && in->locals[local].changes) return false;
  }
  return true;
}

void cpu_bounds_checks(cpu_splitter *in) {
  in->bounds_check_scale = 0;
  for (int i = 0; i < in->nnodes; i++) {
    cpu_node *node = &in->nodes[i];
    int scale =
        node->parent == 0 && node->otherwise < 0 && made_of_constants(in, node) ? cpu_bounds_check_scale(in, i) : 0;
    node->bounds_check = scale > 0;
    if (scale > in->bounds_check_scale) in->bounds_check_scale = scale;
  }
}
