/* SPDX-License-Identifier: MIT
 *
 * Makes statements of what splits: a call of a helper with barriers becomes the helper's body (helper.c), a warp
 * operation in an expression becomes an exchange statement before it and a read in its place. Every statement by one
 * step; then the tree is read again, until nothing is left.
 *
 *   float sum = block_sum(x[t]);          float mw_r1; { ... mw_r1 = v_mw1; } float sum = mw_given(mw_r1);
 *   v += __shfl_down_sync(all, v, 1);     mw_exchange(2, 0, v); v += mw_get_shfl_down(mw_x2, mw_t, mw_n, 1);
 *
 * A mask that is not plainly that of a whole warp is looked at in front: mw_unnamed |= mw_lacks(mask, mw_t);
 *
 * Needed by every kernel with a helper that waits or a warp operation: without it fibers run them. */
#include "core/backend/cpu/split/split.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 400 };

static const char tile_reduce[] = "mw_tile_reduce"; /* of group.c */

/* ---- what there is to hoist ------------------------------------------------------------------------------------ */

static int barrier_helper(const cpu_splitter *in, int i) {
  int k = cpu_overload_at(in, i);
  if (k >= 0) return k;
  k = cpu_function_next(in->program, &in->work.at[i], -1);
  while (k >= 0 && (in->program->functions[k].barrier < 0 || in->program->functions[k].kernel))
    k = cpu_function_next(in->program, &in->work.at[i], k);
  return k;
}

static bool hoistable(const cpu_splitter *in, int i) {
  const mw_token *token = &in->work.at[i];
  if (token->kind != MW_TOKEN_NAME || (i && (mw_token_is(token - 1, ".") || mw_token_is(token - 1, "->"))))
    return false;
  const mw_builtin *builtin = mw_builtin_of(token, MW_CUDA_BARRIER | MW_CUDA_WARP);
  if (builtin) return !(builtin->kinds & MW_CUDA_CUT);
  return mw_token_is(token, tile_reduce) || barrier_helper(in, i) >= 0;
}

/* The last token of what sizeof or noexcept at token i asks about, which is not computed. */
static int asked_last(const mw_token *at, int i) {
  while (mw_token_any(&at[++i], WORDS("*", "&", "-", "..."))) continue;
  if (at[i].match > i) i = at[i].match;
  while (mw_token_any(&at[i + 1], WORDS("(", "[", ".", "->"))) i = at[i + 1].match > i ? at[i + 1].match : i + 2;
  return i;
}

/* The first operation in the range whose arguments hold none themselves; -1. */
static int operation_find(const cpu_splitter *in, int first, int last) {
  for (int i = first; i < last; i++) {
    if (in->work.at[i].kind != MW_TOKEN_NAME) continue;
    if (mw_token_any(&in->work.at[i], WORDS("sizeof", "noexcept"))) i = asked_last(in->work.at, i);
    if (i >= last || !hoistable(in, i)) continue;
    int open = mw_call_open(&in->work, i);
    if (open < 0) return i;
    int inner = operation_find(in, open + 1, in->work.at[open].match);
    return inner < 0 ? i : inner;
  }
  return -1;
}

/* A call that ends before the operation: of a function that changes nothing. */
static bool call_fits(const cpu_splitter *in, int i) {
  const mw_token *name = &in->work.at[i];
  const bool qualified =
      mw_token_any(name, WORDS("plus", "less", "greater", "bit_and", "bit_or", "bit_xor")); /* cg:: */
  if ((mw_is_member(&in->work, i) && !qualified) ||
      (name->size > 6 && memmem(name->text, (size_t)name->size, "atomic", 6)))
    return false;
  for (int k = -1; (k = cpu_function_next(in->program, name, k)) >= 0;)
    if (!cpu_function_is_pure(in->program, &in->program->functions[k])) return false;
  return cpu_is_generated(name) || qualified || cpu_function_next(in->program, name, -1) >= 0 ||
         !cpu_is_declared(in->program, name) || cpu_type_knows(in->program, in->kernel, &in->work, i, i + 1);
}

/* What precedes the operation and decides whether, or changes with what, it is computed; NULL: nothing. An
 * assignment's own left side does not: x[i] += __shfl_down_sync(all, v, 1); */
static const mw_token *stop_find(const cpu_splitter *in, const cpu_node *node, int operation) {
  const mw_token *at = in->work.at;
  bool assigned = false;
  for (int i = node->first, inside = -1; i < operation; i++) {
    if (i >= inside) inside = -1;
    if (at[i].match > i && inside < 0) inside = at[i].match;
    const bool own = mw_is_assignment(&at[i]) && !mw_token_any(&at[i], WORDS("++", "--")) && inside < 0 && !assigned;
    assigned |= own;
    if (at[i].kind == MW_TOKEN_PUNCT && mw_token_any(&at[i], WORDS("&&", "||", "?"))) return &at[i];
    if (mw_is_assignment(&at[i]) && !own) return &at[i];
    if (node->kind == CPU_NODE_LEAF && mw_token_is(&at[i], ",") && inside < 0) return &at[i];
    const int open = at[i].kind == MW_TOKEN_NAME ? mw_call_open(&in->work, i) : -1;
    if (open >= 0 && at[open].match < operation && !call_fits(in, i)) return &at[i];
    if (open >= 0 && open <= operation) i = open - 1; /* pair<K, V>( */
  }
  return NULL;
}

/* ---- what C++ evaluates before the operation, by the body's tree ------------------------------------------- */

static bool holds(const mw_expr *e, int token) {
  return e->first <= token && token < e->last;
}

/* v of v << f(v), p[f(p)] and { v, f(v) }: the expressions that end before the operation, linked by `next`; 0. */
static int ordered_first(const cpu_splitter *in, const mw_expr *e, int operation) {
  const mw_expr *exprs = in->body.exprs;
  const mw_token *op = &in->work.at[e->op];
  const bool right = mw_token_is(op, ">") && mw_token_is(op + 1, ">");
  const bool shifts = e->kind == MW_EXPR_BINARY && (right || mw_token_is(op, "<<"));
  if (!holds(e, operation)) return 0;
  if (e->kind == MW_EXPR_BRACES) return e->a;
  return (shifts || e->kind == MW_EXPR_INDEX) && holds(&exprs[e->b], operation) ? e->a : 0;
}

/* Is it an array's address, or a variable that the call does not change and nothing else may reach? */
static bool own_stays(const cpu_splitter *in, const mw_declared *own, int first, mw_span call) {
  const mw_token *name = &in->work.at[own->name];
  if (own->is_shared || own->type.arrays) return true;
  for (int i = 1; (i = mw_find_use(&in->work, i, in->work.count - 1, name)) < in->work.count - 1; i++) {
    const cpu_write use = cpu_use_at(&in->body, i, CPU_POINTER);
    const bool front = first <= i && i < call.first;
    if (i >= call.first && i < call.last ? use != CPU_READ : use == CPU_ESCAPED && !front) return false;
  }
  return !own->type.reference;
}

/* Is the expression the same before the call and after it? Made of numbers, coordinates and variables. */
static bool stays(const cpu_splitter *in, const mw_expr *e, int first, mw_span call) {
  for (int i = e->first; i < e->last; i++) {
    const mw_token *token = &in->work.at[i];
    const mw_declared *own = &in->body.declared[in->body.bound[i - 1]];
    const bool fixed = cpu_is_generated(token) || mw_is_builtin(token, MW_CUDA_COORDINATE) ||
                       mw_is_member(&in->work, i) || cpu_is_formal(in->program, in->kernel, token);
    const bool sign = mw_token_any(token, WORDS("(", ")", ".", ",", "+", "-", "/", "%", "~", "!")) ||
                      (mw_token_is(token, "*") && mw_ends_operand(token - 1));
    const bool name = own->name ? own_stays(in, own, first, call) : fixed;
    if (token->kind != MW_TOKEN_NUMBER && !(token->kind == MW_TOKEN_NAME ? name : sign)) return false;
  }
  return true;
}

/* Where the operation is a barrier or a helper, or its arguments change something: what must not be computed after it;
 * NULL: nothing. */
static const mw_token *order_find(cpu_splitter *in, const cpu_node *node, int operation) {
  const int open = mw_call_open(&in->work, operation);
  const mw_span call = {operation, open < 0 ? operation + 1 : in->work.at[open].match};
  bool changes = !mw_is_builtin(&in->work.at[operation], MW_CUDA_WARP);
  for (int i = call.first; i < call.last; i++) changes |= mw_is_assignment(&in->work.at[i]);
  if (!changes || mw_find(&in->work, node->first, operation, WORDS("<<", ">", "[", "{")) == operation) return NULL;
  cpu_uses_need(in);
  for (int k = 1; k < in->body.nexprs; k++)
    for (int i = ordered_first(in, &in->body.exprs[k], operation); i; i = in->body.exprs[i].next) {
      const mw_expr *e = &in->body.exprs[i];
      if (e->last <= operation && !stays(in, e, node->first, call)) return &in->work.at[e->first];
    }
  return NULL;
}

static bool dependence_allows(cpu_splitter *in, const cpu_node *node, int operation) {
  const mw_token *stop = stop_find(in, node, operation);
  if (!stop) stop = order_find(in, node, operation);
  for (int i = node->first; i < operation; i++) {
    const int open = mw_lambda_open(&in->work, i);
    if (open && in->work.at[open].match > operation)
      cpu_split_reject(in, operation, "%.*s stands in a lambda", TEXT(&in->work.at[operation]));
  }
  if (stop)
    cpu_split_reject(in, operation, "%.*s may not be reached by all, or depends on order: '%.*s' stands in front of it",
                     TEXT(&in->work.at[operation]), TEXT(stop));
  return !stop;
}

/* ---- exchanges ------------------------------------------------------------------------------------------------- */

/* Plainly that of a whole warp: 0xffffffff, 0u, -1? */
static bool mask_is_full(const cpu_splitter *in, const mw_span *mask) {
  const mw_token *token = &in->work.at[mask->first];
  const bool sign = mask->last == mask->first + 2 && mw_token_any(token, WORDS("~", "-"));
  if (!sign && mask->last != mask->first + 1) return false;
  if (token[sign].kind != MW_TOKEN_NUMBER) return false;
  return strtoull(token[sign].text, NULL, 0) == (!sign ? 0xffffffffu : mw_token_is(token, "-"));
}

/* A mask is evaluated more often than it stands there. */
static bool mask_matters(cpu_splitter *in, const mw_span *mask) {
  for (int i = mask->first; i < mask->last; i++) {
    const bool calls = in->work.at[i].kind == MW_TOKEN_NAME && mw_call_open(&in->work, i) >= 0;
    if (mw_is_assignment(&in->work.at[i]) || (calls && !call_fits(in, i)))
      cpu_split_reject(in, i, "the mask of a warp operation may change something");
  }
  return !mask_is_full(in, mask);
}

/* What stands for the operation: mw_get_shfl_down ( mw_x3 , mw_t , mw_n , 1 ), mw_masked_shfl_down ( mw_x3 , mw_t ,
 * mw_n , mask , 1 ) */
static void read_put(cpu_splitter *in, const mw_exchange_form *what, int number, const mw_span *arguments, int count,
                     const mw_token *like, mw_tokens *next) {
  if (what->kind >= MW_CUDA_COUNT_OF_BLOCK) {
    mw_tokens_format(next, like, " mw_given ( mw_v%d ) ", number);
    return;
  }
  const bool masked = what->kind == MW_CUDA_SHUFFLE && mask_matters(in, &arguments[0]);
  const int size = like->size - (int)strlen(what->least ? "___sync" : "__"); /* shfl_down of __shfl_down_sync */
  mw_tokens_format(next, like,
                   masked ? " mw_masked_%.*s ( mw_x%d , mw_t , mw_n" : " mw_get_%.*s ( mw_x%d , mw_t , mw_n", size,
                   like->text + 2, number);
  for (int i = what->kind == MW_CUDA_SHUFFLE && !masked; i < count; i++)
    if (i != what->value) mw_tokens_build(next, &in->work, like, 0, " , $0", &arguments[i]);
  mw_tokens_scan(next, " ) ", like);
}

static void mask_put(cpu_splitter *in, const mw_span *mask, const mw_token *like, mw_tokens *next) {
  if (!mask_matters(in, mask)) return;
  in->masks = true;
  mw_tokens_build(next, &in->work, like, 0, "mw_unnamed |= mw_lacks ( $0 , mw_t ) ; ", mask);
}

/* __syncwarp(m);  ->  mw_unnamed |= mw_lacks ( m , mw_t ) ; __syncwarp ( ) ; */
static bool syncwarp_expand(cpu_splitter *in, const cpu_node *node, mw_tokens *next) {
  const mw_token *like = &in->work.at[node->first];
  const mw_span mask = {node->first + 2, node->last - 2};
  if (!mw_token_is(like, "__syncwarp") || mask.last <= mask.first || mask_is_full(in, &mask)) return false;
  mw_tokens_scan(next, "{ ", like);
  mask_put(in, &mask, like, next);
  mw_tokens_scan(next, "__syncwarp ( ) ; }", like);
  return true;
}

/* sum += __shfl_down_sync(all, v, 1);  ->
 * mw_exchange ( 3 , 0 , v ) ; sum += mw_get_shfl_down ( mw_x3 , mw_t , mw_n , 1 ) ; */
static void shuffle_expand(cpu_splitter *in, int node, int name, mw_tokens *next) {
  const cpu_node *statement = &in->nodes[node];
  const mw_token *like = &in->work.at[name];
  const mw_builtin *builtin = mw_builtin_of(like, MW_CUDA_EXCHANGE);
  const mw_exchange_form *what = builtin ? &builtin->exchange : NULL;
  mw_span arguments[4];
  int open = mw_call_open(&in->work, name), number = ++in->serial;
  int count = open < 0 ? -1 : mw_arguments(&in->work, open, arguments, 4);
  if (!what || count < what->least || count > what->most) {
    cpu_split_reject(in, name, "%.*s is not called in a known form", TEXT(like));
    return;
  }
  bool wrap = statement->kind != CPU_NODE_DECLARE && in->nodes[statement->parent].kind != CPU_NODE_BLOCK;
  if (wrap) mw_tokens_scan(next, "{ ", like);
  if (what->kind < MW_CUDA_COUNT_OF_BLOCK && what->least) mask_put(in, &arguments[0], like, next);
  mw_tokens_format(next, like, "mw_exchange ( %d , %d , ", number, what->kind);
  mw_tokens_build(next, &in->work, like, 0, what->value < 0 ? " true ) ; " : " $0 ) ; ",
                  &arguments[what->value < 0 ? 0 : what->value]);
  mw_tokens_copy(next, &in->work, statement->first, name);
  read_put(in, what, number, arguments, count, like, next);
  mw_tokens_copy(next, &in->work, in->work.at[open].match + 1, statement->last);
  if (wrap) mw_tokens_scan(next, " }", like);
}

/* sum = mw_tile_reduce ( 32 , v , op ) ;  ->  the steps of cooperative groups' reduce, before it */
static void reduce_expand(cpu_splitter *in, int node, int name, mw_tokens *next) {
  const cpu_node *statement = &in->nodes[node];
  const mw_token *like = &in->work.at[name];
  const int open = name + 1, number = ++in->serial;
  mw_span parts[5];
  mw_arguments(&in->work, open, parts, 3);
  parts[3] = (mw_span){statement->first, name};
  parts[4] = (mw_span){in->work.at[open].match + 1, statement->last};
  const bool wrap = statement->kind != CPU_NODE_DECLARE && in->nodes[statement->parent].kind != CPU_NODE_BLOCK;
  if (wrap) mw_tokens_scan(next, "{ ", like);
  mw_tokens_build(next, &in->work, like, number,
                  "auto mw_r# = $1 ; for ( int mw_d# = $0 / 2 ; mw_d# ; mw_d# /= 2 ) mw_r# = $2 ( mw_r# , "
                  "__shfl_xor_sync ( 0xffffffff , mw_r# , mw_d# , $0 ) ) ; $3 mw_r# $4",
                  parts);
  if (wrap) mw_tokens_scan(next, " }", like);
}

/* ---- conditions ------------------------------------------------------------------------------------------------ */

/* An operation in the head moves before it: of an `if` once, of a loop into each turn. */
static void head_expand(cpu_splitter *in, const cpu_node *node, mw_tokens *next) {
  const cpu_node *body = &in->nodes[node->child];
  const mw_span parts[] = {{node->head, node->head_last}, {node->head_last + 1, node->last}, {body->first, body->last}};
  const char *pattern = node->kind == CPU_NODE_IF ? "{ bool mw_c# = bool ( $0 ) ; if ( mw_c# ) $1 }"
                        : node->kind == CPU_NODE_DO
                            ? "for ( ; ; ) { $2 bool mw_c# = bool ( $0 ) ; if ( ! mw_c# ) break ; }"
                            : "for ( ; ; ) { bool mw_c# = bool ( $0 ) ; if ( ! mw_c# ) break ; $2 }";
  mw_tokens_build(next, &in->work, &in->work.at[node->first], ++in->serial, pattern, parts);
}

/* ---- heads that declare ---------------------------------------------------------------------------------------- */

/* if (int m = n; m > 3) A else B  ->  { int m = n ; if ( m > 3 ) A else B }; the same of switch and for (...; T x : a).
 * if (int m = n) A                ->  { int m = n ; if ( m ) A };  the same of switch
 * while (int m = n--) A           ->  for ( ; ; ) { int m = n-- ; if ( ! ( m ) ) break ; A } */
static bool declaration_expand(cpu_splitter *in, const cpu_node *node, mw_tokens *next) {
  const bool once = node->kind == CPU_NODE_IF || node->kind == CPU_NODE_SWITCH;
  const bool range = node->kind == CPU_NODE_FOR && node->test_last == node->head_last;
  if (!cpu_node_splits(node) || !(once || range || node->kind == CPU_NODE_WHILE)) return false;
  const int semi = node->init_last, rest = node->head_last;
  const mw_statement *head = &in->body.statements[in->body.statements[node->statement].head];
  const mw_declared *one = &in->body.declared[head->declared];
  if (semi < rest) {
    const mw_span parts[] = {{node->head, semi + 1}, {node->first, node->head}, {semi + 1, node->last}};
    mw_tokens_build(next, &in->work, &in->work.at[node->first], 0, "{ $0 $1 $2 }", parts);
  } else if (!range && one->value_last == node->head_last && one->value_last > one->value) {
    const int name = one->name;
    const mw_span parts[] = {
        {node->head, rest}, {node->first, node->head}, {name, name + 1}, {rest, node->last}, {rest + 1, node->last}};
    mw_tokens_build(next, &in->work, &in->work.at[node->first], 0,
                    once ? "{ $0 ; $1 $2 $3 }" : "for ( ; ; ) { $0 ; if ( ! ( $2 ) ) break ; $4 }", parts);
  }
  return semi < rest || next->count;
}

/* for (T x : a) A, of an array a  ->  for ( int i = 0 ; i < the elements of a ; i ++ ) { T x = a [ i ] ; A } */
static bool range_expand(cpu_splitter *in, const cpu_node *node, mw_tokens *next) {
  if (node->kind != CPU_NODE_FOR || node->init_last < node->head_last || !cpu_node_splits(node)) return false;
  const int colon = mw_find_open(&in->work, node->head, node->head_last, WORDS(":"));
  const mw_span parts[] = {{node->head, colon}, {colon + 1, colon + 2}, {node->head_last + 1, node->last}};
  if (colon + 2 != node->head_last) return false;
  mw_tokens_build(
      next, &in->work, &in->work.at[node->first], ++in->serial,
      "for ( int mw_i# = 0 ; mw_i# < ( int ) sizeof ( mw_elements ( $1 ) ) ; mw_i# ++ ) { $0 = $1 [ mw_i# ] ; $2 }",
      parts);
  return true;
}

/* auto &[u, v] = p;  ->  auto & mw_b3 = p ; auto & u = * mw_bound2 < 0 > ( __builtin_addressof ( mw_b3 ) ) ; ... */
static bool bindings_expand(cpu_splitter *in, const cpu_node *node, mw_tokens *next) {
  const mw_tokens *work = &in->work;
  const mw_token *like = &work->at[node->first];
  mw_span names[4];
  if (in->body.statements[node->statement].kind != MW_STATEMENT_UNKNOWN || !mw_token_any(like, WORDS("auto", "const")))
    return false;
  const int open = mw_find(work, node->first, node->last - 1, WORDS("[")), equals = work->at[open].match + 1;
  const int count = equals > open ? mw_arguments(work, open, names, 4) : 0;
  if (count < 1 || !mw_token_is(&work->at[equals], "=") || cpu_has_word(in->program, "tuple_size")) return false;
  const mw_span parts[] = {{node->first, open}, {equals + 1, node->last}};
  const int number = ++in->serial;
  mw_tokens_build(next, work, like, number, "$0 mw_b# = $1", parts);
  for (int i = 0; i < count; i++) {
    mw_tokens_build(next, work, like, 0, "auto & $0", &names[i]);
    mw_tokens_format(next, like, " = * mw_bound%d < %d > ( __builtin_addressof ( mw_b%d ) ) ; ", count, i, number);
  }
  return true;
}

/* ---- lambdas --------------------------------------------------------------------------------------------------- */

/* Does the lambda mean the same to the end of the block that token `until` closes? */
static bool lambda_lasts(cpu_splitter *in, const mw_expr *lambda, int until) {
  bool lasts = lambda->kind == MW_EXPR_LAMBDA && cpu_refers_alone(&in->body, lambda);
  for (int i = lambda->op; lasts && i < lambda->last; i++) {
    const int outer = in->body.declared[in->body.bound[i - in->body.first]].name < lambda->first;
    if (in->work.at[i].kind == MW_TOKEN_NAME && outer && !mw_is_member(&in->work, i))
      lasts = cpu_declared_find(in, lambda->last, until, &in->work.at[i]) < 0;
  }
  return lasts;
}

/* auto f = [&](int i) { return s[i]; }; goes, and f becomes ( [ & ] ( int i ) { return s[i]; } ). */
static bool lambda_expand(cpu_splitter *in, const cpu_node *node) {
  const mw_declared *it = node->kind == CPU_NODE_DECLARE ? cpu_declared_only(in, node) : NULL;
  if (!it || it->first < it->name || !it->is_auto) return false;
  const mw_expr *lambda = &in->body.exprs[mw_body_find(&in->body, it->value, it->value_last)];
  const mw_span parts[] = {{in->work.at[it->value].match + 1, it->value_last}};
  return lambda->last == it->value_last && lambda_lasts(in, lambda, in->nodes[node->parent].last - 1) &&
         cpu_name_expand(in, node, it->name, "( [ & ] $0 )", parts);
}

/* ---- one step -------------------------------------------------------------------------------------------------- */

/* const float a = 1, *b = p;  ->  const float a = 1; const float *b = p; */
static bool declarators_expand(cpu_splitter *in, const cpu_node *node, mw_tokens *next) {
  if (node->kind != CPU_NODE_DECLARE || in->nodes[node->parent].kind != CPU_NODE_BLOCK) return false;
  const int first = cpu_declared_next(in, node, 0);
  if (!first || !cpu_declared_next(in, node, first)) return false;
  for (int i = first, after; i; i = after) {
    const mw_declared *it = &in->body.declared[i];
    after = cpu_declared_next(in, node, i);
    const mw_span parts[] = {{it->spec, it->spec_last},
                             {it->first, after ? in->body.declared[after].first - 1 : node->last - 1}};
    mw_tokens_build(next, &in->work, &in->work.at[it->name], 0, "$0 $1 ; ", parts);
  }
  return true;
}

/* float v(x);  ->  float v = (float)(x);  Tile v(x);  ->  Tile v = Tile(x); where v may live across barriers. */
static bool constructor_expand(cpu_splitter *in, const cpu_node *node, mw_tokens *next) {
  const mw_tokens *work = &in->work;
  const mw_statement *it = &in->body.statements[node->statement];
  const mw_declared *one = &in->body.declared[it->declared];
  mw_span arguments[MW_MOST_PARAMS];
  if (node->kind != CPU_NODE_LEAF || it->kind != MW_STATEMENT_DECLARE) return false; /* of one variable: tree.c */
  const int open = one->value, close = one->value_last - 1, count = mw_arguments(work, open, arguments, MW_MOST_PARAMS);
  mw_span parts[] = {{node->first, open}, {open + 1, close}, {node->first, one->name}};
  if (count < 1) return false;
  bool far = one->type.levels > 0;
  for (int i = node->first; i < open; i++) far |= mw_is_builtin(&work->at[i], MW_CUDA_GROUP);
  const bool known = cpu_type_knows(in->program, in->kernel, work, node->first, open - 1) >= CPU_KNOWN;
  while (mw_token_any(&work->at[parts[2].first], WORDS("const", "constexpr"))) parts[2].first++;
  const char *pattern = count > 1 ? "$0 = $2 ( $1 ) ;"
                        : far     ? "$0 = $1 ;"
                        : known   ? "$0 = ( $2 ) ( $1 ) ;"
                                  : "$0 = $2 ( $1 ) ;";
  mw_tokens_build(next, work, &work->at[node->first], 0, pattern, parts);
  return true;
}

/* for (int c(16); c; c /= 2)  ->  for (int c = (16); c; c /= 2): the ( before which an = belongs; 0: none */
static int init_find(const cpu_splitter *in, const cpu_node *node) {
  const mw_tokens *work = &in->work;
  const mw_statement *all = in->body.statements, *head = &all[all[node->statement].head];
  mw_span arguments[2];
  if (node->kind != CPU_NODE_FOR || head->kind != MW_STATEMENT_DECLARE) return 0;
  for (const mw_declared *it = &in->body.declared[head->declared], *end = it + head->ndeclared; it < end; it++)
    if (it->value == it->dims_last && it->value_last > it->value && mw_type_is_plain(it->type) &&
        mw_token_is(&work->at[it->value], "(") && mw_arguments(work, it->value, arguments, 2) == 1)
      return it->value;
  return 0;
}

static void statement_expand(cpu_splitter *in, int node, int operation, mw_tokens *next) {
  const cpu_node *it = &in->nodes[node];
  if (!dependence_allows(in, it, operation)) return;
  int callee = barrier_helper(in, operation);
  if (callee >= 0)
    cpu_helper_expand(in, node, operation, callee, next);
  else if (mw_token_is(&in->work.at[operation], tile_reduce))
    reduce_expand(in, node, operation, next);
  else
    shuffle_expand(in, node, operation, next);
}

/* Expands what this node needs; false: nothing to do here. */
static bool node_expand(cpu_splitter *in, int index, mw_tokens *next) {
  const cpu_node *node = &in->nodes[index];
  bool simple = node->kind == CPU_NODE_LEAF || node->kind == CPU_NODE_DECLARE;
  bool headed = node->kind == CPU_NODE_IF || node->kind == CPU_NODE_WHILE || node->kind == CPU_NODE_DO;
  int operation = -1;
  if (declarators_expand(in, node, next) || syncwarp_expand(in, node, next) || constructor_expand(in, node, next) ||
      bindings_expand(in, node, next) || declaration_expand(in, node, next) || range_expand(in, node, next))
    return true;
  if (in->plain) return false;
  if (simple) operation = operation_find(in, node->first, node->last);
  if (headed || node->kind == CPU_NODE_FOR || node->kind == CPU_NODE_SWITCH)
    operation = operation_find(in, node->head, node->head_last);
  if (operation < 0) return false;
  if (simple)
    statement_expand(in, index, operation, next);
  else if (!headed || (node->kind == CPU_NODE_DO && mw_has(&in->work, node->first, node->last, "continue")))
    cpu_split_reject(in, operation, "%.*s stands in the head of a loop", TEXT(&in->work.at[operation]));
  else
    head_expand(in, node, next);
  return true;
}

static void node_plan(cpu_splitter *in, int index) {
  const cpu_node *node = &in->nodes[index];
  const int init = init_find(in, node);
  mw_tokens part = {0};
  if (init) mw_tokens_scan(&part, " =", &in->work.at[init]);
  if (init)
    cpu_edit(in, init, init, &part);
  else if (lambda_expand(in, node))
    return;
  else if (node_expand(in, index, &part) && !in->rejected)
    cpu_edit(in, node->first, node->last, &part);
  else
    mw_tokens_free(&part);
}

/* What every statement needs next; returns how many edits that are. Of several reasons to reject the first in the text
 * is given: one that comes after an edit waits until no edit precedes it. */
static int step(cpu_splitter *in, bool groups) {
  if (groups && cpu_group_expand(in)) return 1;
  for (int i = 0; i < in->nnodes && !in->rejected; i++)
    if (in->nodes[i].first >= in->edited) node_plan(in, i);
  const int edits = in->edits;
  if (edits) in->rejected = false;
  cpu_edits_make(in);
  return edits;
}

/* A name of the program's functions: was it to be unfolded, or does it read threadIdx? */
static void name_check(cpu_splitter *in, int i) {
  for (int k = -1; (k = cpu_callee_next(in->program, &in->work, i, k)) >= 0;) {
    const cpu_function *function = &in->program->functions[k];
    if (function->barrier >= 0 && !function->kernel)
      cpu_split_reject(in, i, "'%.*s' has barriers and is not called in a way that can be unfolded",
                       TEXT(&in->work.at[i]));
    in->sets_index |= function->reaches_thread && !function->kernel;
  }
}

/* Other code may declare variables, which would not be found in the next region; so may f(x) = 1 where f is no value. */
static bool is_expression(const cpu_splitter *in, const cpu_node *node) {
  const mw_statement *it = &in->body.statements[node->statement];
  const mw_expr *exprs = in->body.exprs, *e = &exprs[it->test];
  const mw_token *at = in->work.at;
  const bool attribute = it->first && mw_token_is(&at[it->first - 1], "]");
  const bool word = mw_token_any(&at[it->first], WORDS("delete", "throw", "asm", "__asm__", "new", "static_cast",
                                                       "reinterpret_cast", "const_cast", ";"));
  if (attribute || word || it->kind != MW_STATEMENT_EXPR || !e->kind) return word && !attribute;
  while (e->kind != MW_EXPR_CALL && e->kind != MW_EXPR_CAST && e->a && exprs[e->a].first == e->first) e = &exprs[e->a];
  const bool called = e->kind == MW_EXPR_CALL, made = e->kind == MW_EXPR_CAST && e->op > e->first;
  const mw_binding binding = called ? exprs[e->a].binding : MW_NAME_UNKNOWN;
  return !(called || made) || at[it->first].kind != MW_TOKEN_NAME || (binding && binding != MW_NAME_TYPE) ||
         !mw_token_any(&at[e->last], WORDS("=", "(", "{", "["));
}

/* using mw_k3 = decltype(...); */
static bool is_generated_type(const cpu_splitter *in, int i) {
  const mw_token *first = &in->work.at[in->nodes[cpu_node_at(in, i)].first];
  return mw_token_is(first, "using") && cpu_is_generated(first + 1);
}

/* Whatever is left of barriers and warp operations outside of statements of their own was not understood. */
static void rest_check(cpu_splitter *in) {
  int unevaluated = 0; /* the ) of a decltype */
  in->sets_index |= in->program->hidden.all.reaches_thread;
  if (in->program->hidden.all.barrier >= 0)
    cpu_split_reject(in, 0, "a barrier or warp operation may be reached by a call without a name, from line %d",
                     in->program->tokens.at[in->program->hidden.all.barrier].line);
  for (int i = 0; i < in->nnodes; i++)
    if (in->nodes[i].kind == CPU_NODE_LEAF && !is_expression(in, &in->nodes[i]))
      cpu_split_reject(in, in->nodes[i].first, "a declaration is not understood");
  for (int i = 0; i < in->work.count; i++) {
    const mw_token *token = &in->work.at[i];
    if (token->kind != MW_TOKEN_NAME) continue;
    if (mw_token_is(token, "mw_kept")) i = mw_find(&in->work, i, in->work.count, WORDS(";"));
    /* Variables are references here. */
    const bool asks = mw_token_any(token, WORDS("decltype", "typeof", "__typeof__")) && !is_generated_type(in, i) &&
                      !(i > 1 && mw_token_is(token - 2, "mw_register"));
    if (asks || mw_token_any(token, cpu_function_names)) cpu_split_reject(in, i, "there is a %.*s", TEXT(token));
    if (mw_token_is(token, "decltype")) { /* nothing in it is computed; what it hands on may be */
      unevaluated = token[1].match;
      i += 2;
      continue;
    }
    if (in->plain && mw_token_is(token, "__shared__")) cpu_split_reject(in, i, "shared memory without a barrier");
    if (cpu_is_group(in->program, token) && i > unevaluated) /* not cooperative_groups::plus<T> */
      cpu_split_reject(in, i, "%.*s is used in a way that is not split", TEXT(token));
    name_check(in, i);
    if (!mw_is_builtin(token, MW_CUDA_BARRIER | MW_CUDA_WARP)) continue;
    cpu_node_kind kind = in->nodes[cpu_node_at(in, i)].kind;
    if (kind != CPU_NODE_BARRIER && kind != CPU_NODE_WARP)
      cpu_split_reject(in, i, "%.*s is not a separate statement", TEXT(token));
  }
}

void cpu_inline(cpu_splitter *in) {
  const bool groups = cpu_has_word(in->program, "cooperative_groups");
  int steps = 0;
  cpu_tree_read(in, in->kernel);
  for (int edits = 1; edits && !in->rejected; steps += edits = step(in, groups))
    if (steps > MOST_STEPS) cpu_split_reject(in, 0, "its helpers with barriers unfold too far");
  if (!in->rejected) rest_check(in);
}
