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
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/split/split.h"

enum { MOST_SCALE = 1 << 16, MOST_DEPTH = 6 };

typedef struct reading {
  const cpu_splitter *in;
  int at, last;
  int scale; /* of the value; 0: not understood */
  int depth;
} reading;

static bool token_at(const reading *it, const char *text) {
  return it->at < it->last && cpu_token_is(&it->in->work.at[it->at], text);
}

/* Does anything in the range depend on threadIdx.x? Follows variables that are computed again. */
static bool depends(const cpu_splitter *in, int first, int last, int depth) {
  for (int i = first; i < last; i++) {
    const cpu_token *token = &in->work.at[i];
    const bool other = cpu_token_is(token + 1, ".") && cpu_token_any(token + 2, WORDS("y", "z"));
    if ((cpu_token_is(token, "threadIdx") && !other) || cpu_token_is(token, "mw_t")) return true;
    int local = cpu_local_find(in, i);
    if (local < 0 || in->locals[local].uniform) continue;
    const cpu_declarator *it = &in->locals[local].declarator;
    if (in->locals[local].class != CPU_AGAIN || depth > MOST_DEPTH || depends(in, it->init, it->init_last, depth + 1))
      return true;
  }
  return false;
}

/* The same for the whole row, and nothing a thread could change. */
static bool constant_in_row(const cpu_splitter *in, int first, int last) {
  return first < last && !depends(in, first, last, 0) && cpu_is_pure(in, first, last);
}

bool cpu_is_integer(const cpu_token *token) {
  return cpu_token_any(token, WORDS("int", "unsigned", "long", "size_t", "uint32_t", "int32_t", "uint64_t", "int64_t"));
}

/* Only tokens of the names of integer types. */
static bool integer_type(const cpu_splitter *in, int first, int last) {
  for (int i = first; i < last; i++)
    if (!cpu_is_integer(&in->work.at[i]) && !cpu_token_any(&in->work.at[i], WORDS("const", "auto"))) return false;
  return last > first;
}

typedef struct factor {
  int degree; /* 1: grows with threadIdx.x; 0: constant in the row; -1: not understood */
  bool literal;
  const cpu_token *coordinate; /* blockIdx of blockIdx.x, by itself or under another name; else NULL */
} factor;

static const factor unknown = {.degree = -1};

static factor sum_read(reading *it);

static factor literal_read(reading *it) {
  const cpu_token *token = &it->in->work.at[it->at++];
  long value = strtol(token->text, NULL, 0);
  if (value < 0 || value > 1024 || memchr(token->text, '.', (size_t)token->size)) return unknown;
  it->scale *= value ? (int)value : 1;
  return it->scale < MOST_SCALE ? (factor){.literal = true} : unknown;
}

/* threadIdx.x grows by one from thread to thread; the other coordinates stay. */
static factor coordinate_read(reading *it) {
  const cpu_token *token = &it->in->work.at[it->at];
  it->at += 3;
  return (factor){.degree = cpu_token_is(token, "threadIdx") && cpu_token_is(token + 2, "x"), .coordinate = token};
}

/* The variable of a grid-stride loop (interchange.c): it counts up from zero, and its sum with an index stays
 * below the bound by less than one step. In 32 unsigned bits that may wrap. */
static bool is_turn(const cpu_splitter *in, const cpu_local *variable) {
  const cpu_token *name = &in->work.at[variable->declarator.name];
  if (variable->class != CPU_UNIFORM || name->size < 5 || memcmp(name->text, "mw_k", 4)) return false;
  for (int i = variable->declarator.spec; i < variable->declarator.spec_last; i++)
    if (cpu_token_is(&in->work.at[i], "unsigned") || cpu_token_is(&in->work.at[i], "uint32_t")) return false;
  return true;
}

static factor variable_read(reading *it) {
  int local = cpu_local_find(it->in, it->at);
  if (local < 0 || it->depth > MOST_DEPTH) return unknown;
  const cpu_local *variable = &it->in->locals[local];
  const cpu_declarator *d = &variable->declarator;
  if (is_turn(it->in, variable)) {
    it->at++;
    return (factor){.degree = 0};
  }
  if ((variable->class != CPU_AGAIN && variable->class != CPU_UNIFORM) || variable->changes) return unknown;
  if (!integer_type(it->in, d->spec, d->name) || d->init == d->init_last || d->braces) return unknown;
  reading inner = {.in = it->in, .at = d->init, .last = d->init_last, .scale = it->scale, .depth = it->depth + 1};
  factor value = sum_read(&inner);
  it->scale = inner.scale;
  it->at++;
  return inner.at == inner.last ? value : unknown;
}

static factor factor_read(reading *it) {
  if (it->at >= it->last) return unknown;
  const cpu_token *token = &it->in->work.at[it->at];
  if (token_at(it, "(") && integer_type(it->in, it->at + 1, token->match)) { /* values are small: no cast changes one */
    it->at = token->match + 1;
    return factor_read(it);
  }
  if (token_at(it, "(")) {
    it->at++;
    factor inner = sum_read(it);
    bool closed = token_at(it, ")");
    it->at++;
    return closed ? inner : unknown;
  }
  if (token->kind == CPU_NUMBER) return literal_read(it);
  if (cpu_is_builtin(token, CPU_COORDINATE) && cpu_token_is(token + 1, ".")) return coordinate_read(it);
  return variable_read(it);
}

static bool block_pair(const factor *a, const factor *b) {
  if (!a->coordinate || !b->coordinate || !cpu_same_text(a->coordinate + 2, b->coordinate + 2)) return false;
  return (cpu_token_is(a->coordinate, "blockIdx") && cpu_token_is(b->coordinate, "blockDim")) ||
         (cpu_token_is(b->coordinate, "blockIdx") && cpu_token_is(a->coordinate, "blockDim"));
}

/* Literals times one value, or times blockIdx.d * blockDim.d: anything else could be larger than the grid. */
static factor product_read(reading *it) {
  factor all = factor_read(it), value = all;
  bool pair = false;
  while (all.degree >= 0 && token_at(it, "*")) {
    it->at++;
    factor one = factor_read(it);
    if (one.degree < 0 || (!one.literal && !value.literal && (pair || !block_pair(&value, &one)))) return unknown;
    pair |= !one.literal && !value.literal;
    if (!one.literal) value = one;
    all = (factor){.degree = value.degree};
  }
  return all;
}

static factor sum_read(reading *it) {
  factor all = product_read(it);
  while (all.degree >= 0 && token_at(it, "+")) {
    it->at++;
    factor other = product_read(it);
    if (other.degree < 0 || all.degree + other.degree > 1) return unknown;
    all = (factor){.degree = all.degree + other.degree};
  }
  return all;
}

/* The factor by which the value exceeds the grid's indices; 0: it is not known to grow steadily. */
int cpu_growing_scale(const cpu_splitter *in, int first, int last) {
  reading it = {.in = in, .at = first, .last = last, .scale = 4};
  return sum_read(&it).degree == 1 && it.at == last ? it.scale : 0;
}

static int conjunction(const cpu_splitter *in, int first, int last, bool negated, int depth);

static int comparison(const cpu_splitter *in, int first, int last, int depth) {
  static const char *const operators[] = {"<", "<=", ">", ">=", NULL};
  if (constant_in_row(in, first, last)) return 1;
  int local = last == first + 1 ? cpu_local_find(in, first) : -1;
  if (local >= 0) { /* bool inside = i < n && j < n; */
    const cpu_local *it = &in->locals[local];
    if (it->class != CPU_AGAIN || !cpu_token_is(&in->work.at[it->declarator.spec_last - 1], "bool")) return 0;
    return conjunction(in, it->declarator.init, it->declarator.init_last, false, depth + 1);
  }
  const int at = cpu_find_open(&in->work, first, last, operators);
  if (at == last || cpu_find_open(&in->work, at + 1, last, operators) < last) return 0;
  if (constant_in_row(in, at + 1, last)) return cpu_growing_scale(in, first, at);
  return constant_in_row(in, first, at) ? cpu_growing_scale(in, at + 1, last) : 0;
}

/* a && b && c; negated: the opposite of a || b || c. */
static int conjunction(const cpu_splitter *in, int first, int last, bool negated, int depth) {
  static const char *const both[] = {"&&", NULL}, *const either[] = {"||", NULL};
  if (depth > MOST_DEPTH || first >= last) return 0;
  if (cpu_token_is(&in->work.at[first], "(") && in->work.at[first].match == last - 1)
    return conjunction(in, first + 1, last - 1, negated, depth + 1);
  if (cpu_token_is(&in->work.at[first], "!") && (last == first + 2 || in->work.at[first + 1].match == last - 1))
    return conjunction(in, first + 1, last, !negated, depth + 1);
  const int at = cpu_find_open(&in->work, first, last, negated ? either : both);
  if (at == last) {
    if (cpu_find_open(&in->work, first, last, negated ? both : either) < last) return 0;
    return negated && last == first + 1 ? 0 : comparison(in, first, last, depth);
  }
  int left = conjunction(in, first, at, negated, depth + 1), right = conjunction(in, at + 1, last, negated, depth + 1);
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
  return conjunction(in, node->head, node->head_last, cpu_leaves_if(in, index), 0);
}

/* The bounds checks of a kernel are written once more in front of everything: what they are made of must mean the same
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
