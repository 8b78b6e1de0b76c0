/* SPDX-License-Identifier: MIT
 *
 * Statements of a kernel's body, as far as splitting needs them; see split.h. */
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
  const cpu_token *at = &in->work.at[token < in->work.count ? token : 0];
  snprintf(in->why, in->why_size, "line %d: %s", at->line, text);
}

static int node_add(cpu_splitter *in, cpu_node_kind kind, int first, int parent) {
  in->nodes = mw_realloc(in->nodes, (size_t)(in->nnodes + 1) * sizeof *in->nodes);
  in->nodes[in->nnodes] = (cpu_node){.kind = kind,
                                     .first = first,
                                     .last = first,
                                     .child = -1,
                                     .otherwise = -1,
                                     .next = -1,
                                     .parent = parent,
                                     .barrier = -1,
                                     .warp = -1};
  return in->nnodes++;
}

bool cpu_node_splits(const cpu_node *node) {
  return node->barrier >= 0 || node->warp >= 0;
}

/* Past an attribute by which nothing else is computed; all others, such as [[no_unique_address]], stay. */
static int attribute_end(const cpu_tokens *from, int i) {
  const char *const *const idle =
      WORDS("maybe_unused", "likely", "unlikely", "fallthrough", "nodiscard", "deprecated", ",", "(");
  const int end = cpu_attribute_end(from, i);
  for (int k = i + 2; k < end - 2; k++) {
    if (!cpu_token_any(&from->at[k], idle)) return i;
    if (from->at[k].match > k) k = from->at[k].match;
  }
  return end;
}

void cpu_work_add(cpu_splitter *in, int first, int last) {
  const cpu_tokens *from = &in->program->tokens;
  for (int i = first, past; i < last; i = past) {
    past = attribute_end(from, i);
    if (past == i) cpu_tokens_push(&in->work, &from->at[past++]);
  }
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

/* The statement at token i; -1: none is left before `last`. */
static int statement_read(cpu_splitter *in, int i, int last, int parent);

static int end_of(const cpu_splitter *in, int node, int last) {
  return node < 0 ? last : in->nodes[node].last;
}

static int simple_end(const cpu_splitter *in, int i, int last) {
  int end = cpu_find_open(&in->work, i, last, WORDS(";"));
  return end < last ? end + 1 : last;
}

/* struct P { int a, b; } p; declares a variable of each thread next to its type. */
static void type_check(cpu_splitter *in, int i, int last) {
  const cpu_token *at = in->work.at;
  if (!cpu_token_any(&at[i], WORDS("struct", "class", "union", "enum"))) return;
  int end = cpu_find(&in->work, i + 1, last, WORDS("{", ";"));
  bool forward = cpu_token_is(&at[end], ";") && end == i + 2;
  bool named = at[i + 1].kind != CPU_NAME || at[i + 2].kind != CPU_NAME ||
               cpu_token_any(&at[i + 1], WORDS("class", "struct")) || cpu_token_is(&at[i + 2], "final");
  bool body = cpu_token_is(&at[end], "{") && cpu_token_is(&at[at[end].match + 1], ";") && named;
  if (!forward && !body) cpu_split_reject(in, i, "a variable is declared together with its %.*s", TEXT(&at[i]));
}

/* By the statement's first word. */
static cpu_node_kind word_kind(const cpu_token *token) {
  static const struct {
    const char *word;
    cpu_node_kind kind;
  } words[] = {{"if", CPU_NODE_IF},           {"for", CPU_NODE_FOR},
               {"while", CPU_NODE_WHILE},     {"do", CPU_NODE_DO},
               {"switch", CPU_NODE_SWITCH},   {"case", CPU_NODE_CASE},
               {"default", CPU_NODE_CASE},    {"return", CPU_NODE_RETURN},
               {"break", CPU_NODE_BREAK},     {"continue", CPU_NODE_CONTINUE},
               {"__syncwarp", CPU_NODE_WARP}, {"mw_exchange", CPU_NODE_EXCHANGE}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (cpu_token_is(token, words[i].word)) return words[i].kind;
  return CPU_NODE_LEAF;
}

/* Is there a type among the words? */
static bool has_type(const cpu_splitter *in, int first, int last) {
  cpu_binder binder = {in->program, in->kernel};
  int i = first;
  while (i < last && cpu_binder_meaning(&binder, &in->work.at[i]).binding != MW_NAME_TYPE) i++;
  return i < last;
}

/* T (*x)[4], x(1): what has a call's form declares only where the words give a type; in a head x(1) is not understood. */
static bool declares(const cpu_splitter *in, const cpu_declarators *list, bool head) {
  for (const cpu_declarator *it = list->at; it < list->at + list->count && !list->plain; it++)
    if ((it->parentheses && head) || (it->inner && !has_type(in, it->spec, it->spec_last))) return false;
  return list->count > 0;
}

static cpu_node_kind simple_kind(cpu_splitter *in, int i, int last) {
  const cpu_token *token = &in->work.at[i];
  if (word_kind(token) != CPU_NODE_LEAF) return word_kind(token);
  if (cpu_token_any(token, WORDS("__syncthreads", "mw_grid_sync")) && last == i + 4) return CPU_NODE_BARRIER;
  if (cpu_token_any(token, passed_words)) {
    type_check(in, i, last);
    return CPU_NODE_TYPE;
  }
  const cpu_declarators list = cpu_declarators_read(&in->work, i, last - 1);
  const bool declaration = declares(in, &list, false);
  if (declaration && cpu_has(&in->work, i, list.at[0].spec_last, "static")) return CPU_NODE_TYPE;
  if (cpu_has(&in->work, i, declaration ? list.at[0].spec_last : last, "__shared__")) return CPU_NODE_TYPE;
  return declaration ? CPU_NODE_DECLARE : CPU_NODE_LEAF;
}

/* case 1: in a block is a statement of its own, and else part of what follows. */
static int case_read(cpu_splitter *in, int i, int last, int parent) {
  const int end = cpu_find_open(&in->work, i, last, WORDS(":")) + 1;
  if (in->nodes[parent].kind != CPU_NODE_BLOCK) return statement_read(in, end, last, parent);
  const int node = node_add(in, CPU_NODE_CASE, i, parent);
  in->nodes[node].last = end < last ? end : last;
  return node;
}

static int block_read(cpu_splitter *in, int open, int parent) {
  int node = node_add(in, CPU_NODE_BLOCK, open, parent), before = -1, end = in->work.at[open].match;
  for (int i = open + 1, child; i < end; i = end_of(in, child, end)) {
    child = statement_read(in, i, end, node);
    if (child < 0) continue;
    if (before < 0)
      in->nodes[node].child = child;
    else
      in->nodes[before].next = child;
    before = child;
  }
  in->nodes[node].last = end + 1;
  return node;
}

static void for_header(const cpu_splitter *in, cpu_node *it) {
  it->init_last = cpu_find_open(&in->work, it->head, it->head_last, WORDS(";"));
  it->test_last = cpu_find_open(&in->work, it->init_last + 1, it->head_last, WORDS(";"));
}

/* What is not a statement of C++ is left to the compiler's own message. */
static int misread(cpu_splitter *in, int node, int last) {
  cpu_split_reject(in, in->nodes[node].first, "a statement is not understood");
  in->nodes[node].last = last;
  return node;
}

static int headed_read(cpu_splitter *in, cpu_node_kind kind, int i, int last, int parent) {
  const cpu_token *at = in->work.at;
  int node = node_add(in, kind, i, parent), open = i + 1;
  if (open < last && cpu_token_is(&at[open], "constexpr")) open++;
  if (open >= last || !cpu_token_is(&at[open], "(")) return misread(in, node, last);
  in->nodes[node].head = open + 1;
  in->nodes[node].head_last = at[open].match;
  if (kind == CPU_NODE_FOR) for_header(in, &in->nodes[node]);
  int child = statement_read(in, at[open].match + 1, last, node), end = end_of(in, child, last);
  in->nodes[node].child = child;
  if (kind == CPU_NODE_IF && end < last && cpu_token_is(&at[end], "else")) {
    child = statement_read(in, end + 1, last, node), end = end_of(in, child, last);
    in->nodes[node].otherwise = child;
  }
  in->nodes[node].last = end;
  return node;
}

static int do_read(cpu_splitter *in, int i, int last, int parent) {
  const cpu_token *at = in->work.at;
  int node = node_add(in, CPU_NODE_DO, i, parent);
  int child = statement_read(in, i + 1, last, node), end = end_of(in, child, last);
  in->nodes[node].child = child;
  if (end + 1 >= last || !cpu_token_is(&at[end], "while") || !cpu_token_is(&at[end + 1], "("))
    return misread(in, node, last);
  in->nodes[node].head = end + 2;
  in->nodes[node].head_last = at[end + 1].match;
  in->nodes[node].last = simple_end(in, at[end + 1].match, last);
  return node;
}

static int pragma_read(cpu_splitter *in, int i, int last, int parent) {
  int node = statement_read(in, i + 1, last, parent);
  if (node >= 0 && in->nodes[node].first == i + 1) in->nodes[node].first = i;
  return node;
}

static int statement_kind_read(cpu_splitter *in, int i, int last, int parent) {
  const cpu_token *at = in->work.at;
  const cpu_node_kind kind = word_kind(&at[i]);
  if (at[i].kind == CPU_PRAGMA) return pragma_read(in, i, last, parent);
  if (cpu_token_is(&at[i], "{")) return block_read(in, i, parent);
  if (kind == CPU_NODE_DO) return do_read(in, i, last, parent);
  if (kind >= CPU_NODE_IF && kind <= CPU_NODE_SWITCH) return headed_read(in, kind, i, last, parent);
  if (cpu_token_is(&at[i], "goto") || cpu_token_is(&at[i], "try"))
    cpu_split_reject(in, i, "there is a %.*s", TEXT(&at[i]));
  const bool label = at[i].kind == CPU_NAME && i + 1 < last && cpu_token_is(&at[i + 1], ":");
  if (label && !cpu_token_is(&at[i], "default")) cpu_split_reject(in, i, "there is a label");
  if (kind == CPU_NODE_CASE) return case_read(in, i, last, parent);
  int end = simple_end(in, i, last), node = node_add(in, simple_kind(in, i, end), i, parent);
  in->nodes[node].last = end;
  return node;
}

/* Beyond the depth, passes that walk up or down the tree take minutes, and would use up the stack. */
static int statement_read(cpu_splitter *in, int i, int last, int parent) {
  enum { MOST_DEPTH = 256 }; /* what compilers promise */
  if (i >= last) return -1;
  if (in->depth == MOST_DEPTH) cpu_split_reject(in, i, "statements nest deeper than %d", MOST_DEPTH);
  if (in->rejected) return -1;
  in->depth++;
  int node = statement_kind_read(in, i, last, parent);
  in->depth--;
  return node;
}

/* ---- asking the tree ------------------------------------------------------------------------------------------- */

/* Nodes are in the order of their first tokens, outer ones before what they hold. */
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

int cpu_return_find(const cpu_tokens *tokens, int first, int last) {
  int i = first;
  for (int open; i < last && !cpu_token_is(&tokens->at[i], "return"); i = open ? tokens->at[open].match : i + 1)
    open = cpu_lambda_open(tokens, i);
  return i;
}

bool cpu_has_jump(const cpu_splitter *in, const cpu_node *node) {
  return cpu_find(&in->work, node->first, node->last, WORDS("return", "break", "continue", "goto")) < node->last;
}

cpu_declarators cpu_node_declarators(const cpu_splitter *in, const cpu_node *node) {
  const bool head = node->kind == CPU_NODE_FOR;
  const int first = head ? node->head : node->first, last = node->kind == CPU_NODE_DECLARE ? node->last - 1 : first;
  const cpu_declarators list = cpu_declarators_read(&in->work, first, head ? node->init_last : last);
  return declares(in, &list, head) ? list : (cpu_declarators){.count = 0};
}

bool cpu_counts(const cpu_splitter *in, const cpu_node *node, cpu_count *out) {
  const cpu_token *at = in->work.at;
  const cpu_declarators list = cpu_node_declarators(in, node);
  const int test = node->init_last + 1, step = node->test_last + 1, size = node->head_last - step;
  if (node->kind != CPU_NODE_FOR || list.count != 1) return false;
  const cpu_token *name = &at[list.at[0].name];
  const bool prefix = cpu_token_is(&at[step], "++"), one = size == 2 && (prefix || cpu_token_is(&at[step + 1], "++"));
  *out = (cpu_count){list.at[0], {test + 2, node->test_last}, {step + 2, node->head_last}};
  return cpu_same_text(&at[test], name) && cpu_token_is(&at[test + 1], "<") && test + 2 < node->test_last &&
         cpu_same_text(&at[step + prefix], name) && (one || (size > 2 && cpu_token_is(&at[step + 1], "+="))) &&
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

void cpu_tree_read(cpu_splitter *in) {
  mw_free(in->nodes);
  in->nodes = NULL;
  in->nnodes = 0;
  if (atomic_load(&mw_interrupted)) cpu_split_reject(in, 0, "interrupted"); /* engine.c makes an error of it */
  block_read(in, 0, -1);
  for (int i = 0; i < in->nnodes; i++) split_mark(in, i);
}

void cpu_node_interchange(cpu_splitter *in, int node) {
  int body = in->nodes[node].child;
  in->nodes[node].lifted = true;
  if (body >= 0 && in->nodes[body].kind == CPU_NODE_BLOCK) in->nodes[body].warp = in->nodes[node].first;
  for (int up = node; up >= 0; up = in->nodes[up].parent)
    if (in->nodes[up].warp < 0) in->nodes[up].warp = in->nodes[node].first;
}

void cpu_tokens_replace(cpu_splitter *in, int first, int last, cpu_tokens *part) {
  cpu_tokens next = cpu_tokens_beside(&in->work);
  cpu_tokens_copy(&next, &in->work, 0, first);
  cpu_tokens_copy(&next, part, 0, part->count);
  cpu_tokens_copy(&next, &in->work, last, in->work.count);
  cpu_tokens_adopt(&in->work, part);
  cpu_tokens_become(&in->work, &next);
  cpu_tokens_free(part);
  mw_body_free(&in->body);
  in->nlocals = 0;
  cpu_tree_read(in);
}

void cpu_rewrite(cpu_splitter *in, const cpu_node *node, const char *pattern, const cpu_range *ranges) {
  cpu_tokens part = {0};
  cpu_tokens_build(&part, &in->work, &in->work.at[node->first], ++in->serial, pattern, ranges);
  cpu_tokens_replace(in, node->first, node->last, &part);
}

void cpu_splitter_free(cpu_splitter *in) {
  mw_free(in->prelude.at);
  mw_free(in->nodes);
  mw_free(in->locals);
  mw_free(in->local_of);
  mw_body_free(&in->body);
  cpu_tokens_free(&in->work);
}
