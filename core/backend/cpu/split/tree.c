/* SPDX-License-Identifier: MIT
 *
 * What splitting notes of the statements that core/source/body.c reads, and what can be asked of them:
 *
 *   if (n > 3) {                       IF, barrier: the token of __syncthreads; warp: none
 *     v += __shfl_xor_sync(m, v, 1);   LEAF, until inline.c makes an EXCHANGE of it
 *     __syncthreads();                 BARRIER
 *   } */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/backend/cpu/split/split.h"
#include "core/base/interrupt.h"

static const char *const passed_words[] = {"using", "typedef", "static_assert", "struct",     "class",   "union",
                                           "enum",  "extern",  "static",        "__shared__", "mw_kept", "namespace",
                                           NULL};
void cpu_split_reject(cpu_splitter *in, int token, const char *format, ...) {
  char text[200];
  va_list args;
  if (in->rejected) return;
  in->rejected = true;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const mw_token *at = &in->work.at[token < in->work.count ? token : 0];
  snprintf(in->why, in->why_size, "line %d: %s", at->line, text);
}

bool cpu_node_splits(const cpu_node *node) {
  return node->barrier >= 0 || node->warp >= 0;
}

/* Past an attribute by which nothing else is computed; all others, such as [[no_unique_address]], stay. */
static int attribute_end(const mw_tokens *from, int i) {
  const char *const *const idle =
      WORDS("maybe_unused", "likely", "unlikely", "fallthrough", "nodiscard", "deprecated", ",", "(");
  const int end = mw_attribute_end(from, i);
  for (int k = i + 2; k < end - 2; k++) {
    if (!mw_token_any(&from->at[k], idle)) return i;
    if (from->at[k].match > k) k = from->at[k].match;
  }
  return end;
}

/* union { int i; float f; } u; in two: union mw_class_7 { int i; float f; }; mw_class_7 u; */
static int class_end(cpu_splitter *in, int i) {
  const mw_token *at = in->program->tokens.at;
  const int close = mw_class_close(&in->program->tokens, i);
  const bool named = at[i + 1].kind == MW_TOKEN_NAME;
  char name[32];
  if (close < 0) return i;
  snprintf(name, sizeof name, " mw_class_%d", i);
  mw_tokens_push(&in->work, &at[i]);
  if (!named) mw_tokens_scan(&in->work, name, &at[i]);
  cpu_work_add(in, i + 1, close + 1);
  mw_tokens_scan(&in->work, ";", &at[close]);
  if (named) mw_tokens_push(&in->work, &at[i + 1]);
  if (!named) mw_tokens_scan(&in->work, name, &at[close]);
  return close + 1;
}

void cpu_work_add(cpu_splitter *in, int first, int last) {
  const mw_tokens *from = &in->program->tokens;
  for (int i = first, past; i < last; i = past) {
    past = attribute_end(from, i);
    if (past == i) past = class_end(in, i);
    if (past > i) continue;
    mw_tokens_push(&in->work, &from->at[past++]);
    in->work.at[in->work.count - 1].from = i;
  }
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

/* struct P { int a, b; } p; declares a variable of each thread next to its type. */
static void type_check(cpu_splitter *in, int i, int last) {
  const mw_token *at = in->work.at;
  if (!mw_token_any(&at[i], WORDS("struct", "class", "union", "enum"))) return;
  int end = mw_find(&in->work, i + 1, last, WORDS("{", ";"));
  bool forward = mw_token_is(&at[end], ";") && end == i + 2;
  bool named = at[i + 1].kind != MW_TOKEN_NAME || at[i + 2].kind != MW_TOKEN_NAME ||
               mw_token_any(&at[i + 1], WORDS("class", "struct")) || mw_token_is(&at[i + 2], "final");
  bool body = mw_token_is(&at[end], "{") && mw_token_is(&at[at[end].match + 1], ";") && named;
  if (!forward && !body) cpu_split_reject(in, i, "a variable is declared together with its %.*s", TEXT(&at[i]));
}

/* T x(1); */
static bool is_parenthesised(const cpu_splitter *in, const mw_declared *it) {
  return it->value_last > it->value && it->value == it->dims_last && mw_token_is(&in->work.at[it->value], "(");
}

/* One variable that is declared so is made another declaration of by inline.c. */
static bool declares(const cpu_splitter *in, const mw_statement *it) {
  const mw_declared *first = &in->body.declared[it->declared];
  if (it->kind != MW_STATEMENT_DECLARE) return it->kind == MW_STATEMENT_UNKNOWN && it->declared && !it->wrong;
  return it->last - 1 > first->value_last || !is_parenthesised(in, first);
}

/* Of a statement without others in it. */
static cpu_node_kind simple_kind(cpu_splitter *in, const mw_statement *it) {
  const mw_token *token = &in->work.at[it->first];
  const mw_declared *first = &in->body.declared[it->declared];
  if (mw_token_any(token, WORDS("__syncwarp", "mw_meet"))) return CPU_NODE_WARP;
  if (mw_token_is(token, "mw_exchange")) return CPU_NODE_EXCHANGE;
  if (mw_token_any(token, WORDS("__syncthreads", "mw_grid_sync")) && it->last == it->first + 4) return CPU_NODE_BARRIER;
  if (mw_token_any(token, passed_words)) {
    type_check(in, it->first, it->last);
    return CPU_NODE_TYPE;
  }
  if (!declares(in, it)) return mw_has(&in->work, it->first, it->last, "__shared__") ? CPU_NODE_TYPE : CPU_NODE_LEAF;
  return first->is_static || first->is_shared ? CPU_NODE_TYPE : CPU_NODE_DECLARE;
}

static cpu_node_kind kind_of(cpu_splitter *in, const mw_statement *it) {
  static const cpu_node_kind kinds[] = {
      [MW_STATEMENT_BLOCK] = CPU_NODE_BLOCK,      [MW_STATEMENT_IF] = CPU_NODE_IF,
      [MW_STATEMENT_FOR] = CPU_NODE_FOR,          [MW_STATEMENT_RANGE] = CPU_NODE_FOR,
      [MW_STATEMENT_WHILE] = CPU_NODE_WHILE,      [MW_STATEMENT_DO] = CPU_NODE_DO,
      [MW_STATEMENT_SWITCH] = CPU_NODE_SWITCH,    [MW_STATEMENT_CASE] = CPU_NODE_CASE,
      [MW_STATEMENT_RETURN] = CPU_NODE_RETURN,    [MW_STATEMENT_BREAK] = CPU_NODE_BREAK,
      [MW_STATEMENT_CONTINUE] = CPU_NODE_CONTINUE};
  const bool listed = it->kind < (int)(sizeof kinds / sizeof *kinds) && kinds[it->kind];
  return listed ? kinds[it->kind] : simple_kind(in, it);
}

static void statement_check(cpu_splitter *in, const mw_statement *it) {
  if (in->body.deep && it->first >= in->body.deep)
    cpu_split_reject(in, it->first, "statements nest deeper than %d", MW_MOST_DEPTH);
  else if (it->wrong) /* left to the compiler's own message */
    cpu_split_reject(in, it->first, "a statement is not understood");
  else if (it->kind == MW_STATEMENT_GOTO || it->kind == MW_STATEMENT_TRY)
    cpu_split_reject(in, it->first, "there is a %.*s", TEXT(&in->work.at[it->first]));
  else if (it->kind == MW_STATEMENT_LABEL)
    cpu_split_reject(in, it->first, "there is a label");
}

/* An attribute that computes something makes a leaf of the statement, which is not understood (inline.c). */
static cpu_node node_of(cpu_splitter *in, int statement, int parent) {
  const mw_statement *it = &in->body.statements[statement];
  const mw_token *at = in->work.at;
  cpu_node node = {.statement = statement,
                   .first = it->first,
                   .last = it->last,
                   .head = it->open + 1,
                   .head_last = it->close,
                   .init_last = it->init_last,
                   .test_last = it->test_last,
                   .child = -1,
                   .otherwise = -1,
                   .next = -1,
                   .parent = parent};
  if (!it->open) node.head = 0;
  const bool attribute = it->first && mw_token_is(&at[it->first - 1], "]");
  if (attribute) node.first = at[it->first - 1].match;
  node.kind = attribute ? CPU_NODE_LEAF : kind_of(in, it);
  while (node.first && at[node.first - 1].kind == MW_TOKEN_PRAGMA) node.first--;
  return node;
}

static void nodes_add(cpu_splitter *, const mw_statement *, int node);

/* The node of a statement and those of the statements in it; -1: none. Nodes are in the order of their first tokens,
 * outer ones before what they hold. */
static int node_add(cpu_splitter *in, int statement, int parent) {
  const mw_statement *it = &in->body.statements[statement];
  if (!statement || in->rejected || in->work.at[it->first].kind == MW_TOKEN_PRAGMA) return -1;
  statement_check(in, it);
  in->nodes = mw_grow(in->nodes, (size_t)in->nnodes, sizeof *in->nodes);
  in->nodes[in->nnodes] = node_of(in, statement, parent);
  const int node = in->nnodes++;
  if (in->nodes[node].kind > CPU_NODE_TYPE && in->nodes[node].kind < CPU_NODE_CASE) nodes_add(in, it, node);
  return node;
}

static void nodes_add(cpu_splitter *in, const mw_statement *it, int node) {
  const mw_statement *all = in->body.statements;
  for (int i = it->child, before = -1, one; i; i = it->kind == MW_STATEMENT_BLOCK ? all[i].next : 0) {
    if ((one = node_add(in, i, node)) < 0) continue;
    *(before < 0 ? &in->nodes[node].child : &in->nodes[before].next) = one;
    before = one;
  }
  const int otherwise = node_add(in, it->otherwise, node);
  in->nodes[node].otherwise = otherwise;
}

/* ---- asking the tree ------------------------------------------------------------------------------------------- */

int cpu_node_at(const cpu_splitter *in, int token) {
  int at = 0, end = in->nnodes;
  while (end - at > 1) {
    const int middle = at + (end - at) / 2;
    if (in->nodes[middle].first <= token)
      at = middle;
    else
      end = middle;
  }
  while (at > 0 && in->nodes[at].last <= token) at = in->nodes[at].parent;
  return at;
}

int cpu_loop_around(const cpu_splitter *in, int node) {
  bool is_break = in->nodes[node].kind == CPU_NODE_BREAK;
  for (int up = in->nodes[node].parent; up >= 0; up = in->nodes[up].parent) {
    cpu_node_kind kind = in->nodes[up].kind;
    if (kind == CPU_NODE_FOR || kind == CPU_NODE_WHILE || kind == CPU_NODE_DO) return up;
    if (kind == CPU_NODE_SWITCH && is_break) return up;
  }
  return -1;
}

bool cpu_is_jump(const cpu_splitter *in, int node) {
  if (node < 0) return false;
  cpu_node_kind kind = in->nodes[node].kind;
  if (kind == CPU_NODE_BLOCK)
    return in->nodes[node].child >= 0 && in->nodes[in->nodes[node].child].next < 0 &&
           cpu_is_jump(in, in->nodes[node].child);
  return kind == CPU_NODE_RETURN || kind == CPU_NODE_BREAK || kind == CPU_NODE_CONTINUE;
}

int cpu_return_find(const mw_tokens *tokens, int first, int last) {
  int i = first;
  for (int open; i < last && !mw_token_is(&tokens->at[i], "return"); i = open ? tokens->at[open].match : i + 1)
    open = mw_lambda_open(tokens, i);
  return i;
}

bool cpu_has_jump(const cpu_splitter *in, const cpu_node *node) {
  return mw_has_jump(&in->body, node->first, node->last);
}

int cpu_declared_next(const cpu_splitter *in, const cpu_node *node, int after) {
  const mw_body *body = &in->body;
  const mw_statement *all = body->statements, *it = &all[node->statement];
  if (node->kind == CPU_NODE_FOR) it = &all[it->head];
  if (it->kind != MW_STATEMENT_DECLARE || !(node->kind == CPU_NODE_DECLARE || node->kind == CPU_NODE_FOR)) return 0;
  int i = after ? after + 1 : it->declared;
  while (i < it->declared + it->ndeclared && body->declared[i].spec != body->declared[it->declared].spec) i++;
  if (i == it->declared + it->ndeclared) return 0;
  return node->kind == CPU_NODE_FOR && is_parenthesised(in, &body->declared[i]) ? 0 : i;
}

const mw_declared *cpu_declared_only(const cpu_splitter *in, const cpu_node *node) {
  const int one = cpu_declared_next(in, node, 0);
  return one && !cpu_declared_next(in, node, one) ? &in->body.declared[one] : NULL;
}

bool cpu_counts(const cpu_splitter *in, const cpu_node *node, cpu_count *out) {
  const mw_token *at = in->work.at;
  const mw_declared *variable = node->kind == CPU_NODE_FOR ? cpu_declared_only(in, node) : NULL;
  const int test = node->init_last + 1, step = node->test_last + 1, size = node->head_last - step;
  if (!variable) return false;
  const mw_token *name = &at[variable->name];
  const bool prefix = mw_token_is(&at[step], "++"), one = size == 2 && (prefix || mw_token_is(&at[step + 1], "++"));
  *out = (cpu_count){*variable, {test + 2, node->test_last}, {step + 2, node->head_last}};
  return mw_same_text(&at[test], name) && mw_token_is(&at[test + 1], "<") && test + 2 < node->test_last &&
         mw_same_text(&at[step + prefix], name) && (one || (size > 2 && mw_token_is(&at[step + 1], "+="))) &&
         !cpu_is_written(&in->body, node->head_last, node->last, name);
}

/* ---- split points ---------------------------------------------------------------------------------------------- */

enum { EXCHANGE_BLOCK = 3 }; /* this kind and those after it are of the whole block */

int cpu_shuffle_kind(const cpu_splitter *in, const cpu_node *node) {
  return in->work.at[node->first + 4].text[0] - '0';
}

static void split_mark(cpu_splitter *in, int index) {
  cpu_node *node = &in->nodes[index];
  bool block = node->kind == CPU_NODE_BARRIER, warp = node->kind == CPU_NODE_WARP;
  if (node->kind == CPU_NODE_EXCHANGE) {
    block = cpu_shuffle_kind(in, node) >= EXCHANGE_BLOCK;
    warp = !block;
  }
  for (int up = index; (block || warp) && up >= 0; up = in->nodes[up].parent) {
    if (block && in->nodes[up].barrier < 0) in->nodes[up].barrier = node->first;
    if (warp && in->nodes[up].warp < 0) in->nodes[up].warp = node->first;
  }
}

void cpu_marks_renew(cpu_splitter *in) {
  for (cpu_node *node = in->nodes; node < in->nodes + in->nnodes; node++) {
    node->barrier = node->warp = -1;
    node->lifted = node->bounds_check = false;
    node->predicate = 0;
  }
  for (int i = 0; i < in->nnodes; i++) split_mark(in, i);
}

void cpu_tree_read(cpu_splitter *in, const cpu_function *function) {
  cpu_binder binder = {in->program, in->kernel};
  mw_body old = in->body;
  const mw_body *like = old.tokens ? &old : cpu_function_tree(in->program, function);
  in->nnodes = in->nlocals = 0;
  if (atomic_load(&mw_interrupted)) cpu_split_reject(in, 0, "interrupted"); /* engine.c makes an error of it */
  mw_body_read(&in->body, &in->work, 1, in->work.count - 1, &(mw_names){cpu_binder_meaning, &binder, false}, like);
  for (int i = 0; i < in->work.count; i++) in->work.at[i].from = i;
  mw_body_free(&old);
  in->nodes = mw_grow(in->nodes, 0, sizeof *in->nodes);
  in->nodes[in->nnodes++] = node_of(in, 0, -1);
  in->nodes[0].first = 0, in->nodes[0].last = in->work.count;
  nodes_add(in, &in->body.statements[0], 0);
  cpu_marks_renew(in);
}

void cpu_node_interchange(cpu_splitter *in, int node) {
  int body = in->nodes[node].child;
  in->nodes[node].lifted = true;
  if (body >= 0 && in->nodes[body].kind == CPU_NODE_BLOCK) in->nodes[body].warp = in->nodes[node].first;
  for (int up = node; up >= 0; up = in->nodes[up].parent)
    if (in->nodes[up].warp < 0) in->nodes[up].warp = in->nodes[node].first;
}

void cpu_edit(cpu_splitter *in, int first, int last, mw_tokens *part) {
  mw_tokens_copy(&in->next, &in->work, in->edited, first);
  mw_tokens_copy(&in->next, part, 0, part->count);
  mw_tokens_adopt(&in->next, part);
  mw_tokens_free(part);
  in->edited = last;
  in->edits++;
}

bool cpu_edits_make(cpu_splitter *in) {
  if (!in->edits) return false;
  mw_tokens_copy(&in->next, &in->work, in->edited, in->work.count);
  mw_tokens_become(&in->work, &in->next);
  in->edited = in->edits = 0;
  cpu_tree_read(in, in->kernel);
  return true;
}

void cpu_splitter_free(cpu_splitter *in) {
  mw_free(in->prelude.at);
  mw_free(in->nodes);
  mw_free(in->locals);
  mw_free(in->local_of);
  mw_body_free(&in->body);
  mw_tokens_free(&in->work);
  mw_tokens_free(&in->next);
}
