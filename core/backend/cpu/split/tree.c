/* SPDX-License-Identifier: MIT
 *
 * Statements of a kernel's body, as far as splitting needs them; see split.h. */
#include <string.h>

#include "core/backend/backend.h"
#include "core/backend/cpu/split/split.h"

static const char *const type_words[] = {"void",     "bool",      "char",     "short",    "int",  "long",
                                         "float",    "double",    "signed",   "unsigned", "auto", "const",
                                         "volatile", "constexpr", "register", "size_t",   NULL};
static const char *const passed_words[] = {"using", "typedef", "static_assert", "struct",     "class",   "union",
                                           "enum",  "extern",  "static",        "__shared__", "mw_kept", NULL};
static const char *const not_types[] = {"return", "delete", "new",   "throw",    "goto",     "case", "default",
                                        "else",   "sizeof", "break", "continue", "operator", NULL};

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

/* ---- declarations ---------------------------------------------------------------------------------------------- */

/* Past the type: int, unsigned long, const T, ns::T<int>. Returns `first` where no type begins. */
static int type_end(const cpu_tokens *tokens, int first, int last) {
  const cpu_token *at = tokens->at;
  int i = first;
  bool named = false, word = false;
  while (i < last && at[i].kind == CPU_NAME) {
    bool keyword = cpu_token_any(&at[i], type_words);
    bool qualifier = cpu_token_is(&at[i], "const") || cpu_token_is(&at[i], "volatile") ||
                     cpu_token_is(&at[i], "constexpr") || cpu_token_is(&at[i], "register");
    if (cpu_token_is(&at[i], "__align__") || cpu_token_is(&at[i], "alignas")) {
      i = at[i + 1].match + 1;
      continue;
    }
    if (cpu_token_is(&at[i], "typename")) {
      i++;
      continue;
    }
    if (!keyword && (named || word || cpu_token_any(&at[i], not_types))) break;
    word |= keyword && !qualifier;
    named |= !keyword;
    i++;
    if (keyword) continue;
    if (i < last && cpu_token_is(&at[i], "<")) i = cpu_angle_end(tokens, i, last);
    if (i < last && cpu_token_is(&at[i], "::")) named = false, i++;
  }
  return named || word ? i : first;
}

static int pointer_end(const cpu_tokens *tokens, int i, int last) {
  while (i < last && (cpu_token_is(&tokens->at[i], "*") || cpu_token_is(&tokens->at[i], "&") ||
                      cpu_token_is(&tokens->at[i], "const") || cpu_token_is(&tokens->at[i], "__restrict__") ||
                      cpu_token_is(&tokens->at[i], "volatile")))
    i++;
  return i;
}

static int initialiser_end(const cpu_tokens *tokens, int i, int last) {
  for (; i < last && !cpu_token_is(&tokens->at[i], ",") && !cpu_token_is(&tokens->at[i], ";"); i++)
    if (tokens->at[i].match > i) i = tokens->at[i].match;
  return i;
}

/* One declarator from i on; returns its end, or 0 where this is none. */
static int declarator_one(const cpu_tokens *tokens, int i, int last, cpu_declarator *out) {
  const cpu_token *at = tokens->at;
  out->first = i;
  i = pointer_end(tokens, i, last);
  if (i >= last || at[i].kind != CPU_NAME) return 0;
  out->name = i++;
  out->dims = i;
  while (i < last && cpu_token_is(&at[i], "[")) i = at[i].match + 1;
  out->dims_last = out->init = out->init_last = i;
  if (i < last && cpu_token_is(&at[i], "=")) {
    out->init = i + 1;
    out->init_last = i = initialiser_end(tokens, i + 1, last);
  } else if (i < last && cpu_token_is(&at[i], "{")) {
    out->braces = true;
    out->init = i;
    out->init_last = i = at[i].match + 1;
  }
  return i >= last || cpu_token_is(&at[i], ";") || cpu_token_is(&at[i], ",") ? i : 0;
}

bool cpu_declarator_read(const cpu_tokens *tokens, int first, int last, cpu_declarator *out, int most, int *count) {
  int spec_last = type_end(tokens, first, last);
  if (spec_last == first || spec_last >= last) return false;
  *count = 0;
  for (int i = spec_last; *count < most;) {
    cpu_declarator one = {.spec = first, .spec_last = spec_last};
    int end = declarator_one(tokens, i, last, &one);
    if (!end) return false;
    out[(*count)++] = one;
    if (end >= last || !cpu_token_is(&tokens->at[end], ",")) return true;
    i = end + 1;
  }
  return false;
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static int statement_read(cpu_splitter *in, int i, int last, int parent, int *made);

static int simple_end(cpu_splitter *in, int i, int last) {
  const cpu_token *at = in->work.at;
  for (; i < last && !cpu_token_is(&at[i], ";"); i++)
    if (at[i].match > i) i = at[i].match;
  return i < last ? i + 1 : last;
}

/* struct P { int a, b; } p; declares a variable of each thread beside its type. */
static void type_check(cpu_splitter *in, int i, int last) {
  static const char *const classes[] = {"struct", "class", "union", "enum", NULL};
  const cpu_token *at = in->work.at;
  int end = i + 1;
  if (!cpu_token_any(&at[i], classes)) return;
  while (end < last && !cpu_token_is(&at[end], "{") && !cpu_token_is(&at[end], ";")) end++;
  bool forward = cpu_token_is(&at[end], ";") && end == i + 2;
  bool body = cpu_token_is(&at[end], "{") && cpu_token_is(&at[at[end].match + 1], ";");
  if (!forward && !body)
    cpu_split_refuse(in, i, "a variable is declared together with its %.*s", at[i].size, at[i].text);
}

static cpu_node_kind simple_kind(cpu_splitter *in, int i, int last) {
  const cpu_token *token = &in->work.at[i];
  cpu_declarator scratch[16];
  int count;
  if (cpu_token_is(token, "return")) return CPU_NODE_RETURN;
  if (cpu_token_is(token, "break")) return CPU_NODE_BREAK;
  if (cpu_token_is(token, "continue")) return CPU_NODE_CONTINUE;
  if (cpu_token_is(token, "__syncthreads") && last == i + 4) return CPU_NODE_BARRIER;
  if (cpu_token_is(token, "__syncwarp")) return CPU_NODE_WARP;
  if (cpu_token_is(token, "mw_exchange")) return CPU_NODE_EXCHANGE;
  if (cpu_token_any(token, passed_words)) {
    type_check(in, i, last);
    return CPU_NODE_TYPE;
  }
  if (cpu_declarator_read(&in->work, i, last - 1, scratch, 16, &count)) {
    for (int k = i; k < scratch[0].spec_last; k++)
      if (cpu_token_is(&in->work.at[k], "__shared__") || cpu_token_is(&in->work.at[k], "static")) return CPU_NODE_TYPE;
    return CPU_NODE_DECLARE;
  }
  for (int k = i; k < last; k++)
    if (cpu_token_is(&in->work.at[k], "__shared__")) return CPU_NODE_TYPE;
  return CPU_NODE_LEAF;
}

static int block_read(cpu_splitter *in, int open, int parent, int *made) {
  int node = node_add(in, CPU_NODE_BLOCK, open, parent), before = -1, end = in->work.at[open].match;
  for (int i = open + 1; i < end;) {
    int child;
    i = statement_read(in, i, end, node, &child);
    if (child < 0) continue;
    if (before < 0)
      in->nodes[node].child = child;
    else
      in->nodes[before].next = child;
    before = child;
  }
  in->nodes[node].last = end + 1;
  *made = node;
  return end + 1;
}

static void for_header(cpu_splitter *in, int node) {
  const cpu_token *at = in->work.at;
  cpu_node *it = &in->nodes[node];
  it->init_last = it->test_last = it->head_last;
  for (int i = it->head, found = 0; i < it->head_last; i++) {
    if (at[i].match > i) i = at[i].match;
    if (!cpu_token_is(&at[i], ";")) continue;
    if (!found++)
      it->init_last = i;
    else
      it->test_last = i;
  }
}

/* What is no statement of C++ is left to the compiler's own message. */
static int misread(cpu_splitter *in, int node, int last, int *made) {
  cpu_split_refuse(in, in->nodes[node].first, "a statement is not understood");
  in->nodes[node].last = last;
  *made = node;
  return last;
}

static int headed_read(cpu_splitter *in, cpu_node_kind kind, int i, int last, int parent, int *made) {
  const cpu_token *at = in->work.at;
  int node = node_add(in, kind, i, parent), child, open = i + 1;
  if (open < last && cpu_token_is(&at[open], "constexpr")) open++;
  if (open >= last || !cpu_token_is(&at[open], "(")) return misread(in, node, last, made);
  in->nodes[node].head = open + 1;
  in->nodes[node].head_last = at[open].match;
  if (kind == CPU_NODE_FOR) for_header(in, node);
  int end = statement_read(in, at[open].match + 1, last, node, &child);
  in->nodes[node].child = child;
  if (kind == CPU_NODE_IF && end < last && cpu_token_is(&at[end], "else")) {
    end = statement_read(in, end + 1, last, node, &child);
    in->nodes[node].otherwise = child;
  }
  in->nodes[node].last = end;
  *made = node;
  return end;
}

static int do_read(cpu_splitter *in, int i, int last, int parent, int *made) {
  const cpu_token *at = in->work.at;
  int node = node_add(in, CPU_NODE_DO, i, parent), child;
  int end = statement_read(in, i + 1, last, node, &child);
  in->nodes[node].child = child;
  if (end + 1 >= last || !cpu_token_is(&at[end], "while") || !cpu_token_is(&at[end + 1], "("))
    return misread(in, node, last, made);
  in->nodes[node].head = end + 2;
  in->nodes[node].head_last = at[end + 1].match;
  in->nodes[node].last = simple_end(in, at[end + 1].match, last);
  *made = node;
  return in->nodes[node].last;
}

static int pragma_read(cpu_splitter *in, int i, int last, int parent, int *made) {
  int end = statement_read(in, i + 1, last, parent, made);
  if (*made >= 0 && in->nodes[*made].first == i + 1) in->nodes[*made].first = i;
  return end;
}

static int statement_read(cpu_splitter *in, int i, int last, int parent, int *made) {
  const cpu_token *at = in->work.at;
  *made = -1;
  if (i >= last) return last;
  if (at[i].kind == CPU_PRAGMA) return pragma_read(in, i, last, parent, made);
  if (cpu_token_is(&at[i], "{")) return block_read(in, i, parent, made);
  if (cpu_token_is(&at[i], "if")) return headed_read(in, CPU_NODE_IF, i, last, parent, made);
  if (cpu_token_is(&at[i], "for")) return headed_read(in, CPU_NODE_FOR, i, last, parent, made);
  if (cpu_token_is(&at[i], "while")) return headed_read(in, CPU_NODE_WHILE, i, last, parent, made);
  if (cpu_token_is(&at[i], "switch")) return headed_read(in, CPU_NODE_SWITCH, i, last, parent, made);
  if (cpu_token_is(&at[i], "do")) return do_read(in, i, last, parent, made);
  if (cpu_token_is(&at[i], "goto") || cpu_token_is(&at[i], "try"))
    cpu_split_refuse(in, i, "there is a %.*s", at[i].size, at[i].text);
  if (cpu_token_is(&at[i], "case") || cpu_token_is(&at[i], "default")) {
    while (i < last && !cpu_token_is(&at[i], ":")) i++;
    return statement_read(in, i + 1, last, parent, made);
  }
  int end = simple_end(in, i, last);
  *made = node_add(in, simple_kind(in, i, end), i, parent);
  in->nodes[*made].last = end;
  return end;
}

/* ---- split points ---------------------------------------------------------------------------------------------- */

enum { EXCHANGE_BLOCK = 3 };

/* mw_exchange(number, kind, value): kinds from EXCHANGE_BLOCK on are of the whole block. */
static bool exchange_is_block(const cpu_splitter *in, const cpu_node *node) {
  return in->work.at[node->first + 4].text[0] - '0' >= EXCHANGE_BLOCK;
}

static void split_mark(cpu_splitter *in, int index) {
  cpu_node *node = &in->nodes[index];
  bool block = node->kind == CPU_NODE_BARRIER, warp = node->kind == CPU_NODE_WARP;
  if (node->kind == CPU_NODE_EXCHANGE) {
    block = exchange_is_block(in, node);
    warp = !block;
  }
  for (int up = index; (block || warp) && up >= 0; up = in->nodes[up].parent) {
    if (block && in->nodes[up].barrier < 0) in->nodes[up].barrier = node->first;
    if (warp && in->nodes[up].warp < 0) in->nodes[up].warp = node->first;
  }
}

void cpu_tree_read(cpu_splitter *in) {
  int body;
  mw_free(in->nodes);
  in->nodes = NULL;
  in->nnodes = 0;
  block_read(in, 0, -1, &body);
  for (int i = 0; i < in->nnodes; i++) split_mark(in, i);
}

void cpu_node_lift(cpu_splitter *in, int node) {
  int body = in->nodes[node].child;
  in->nodes[node].lifted = true;
  if (body >= 0 && in->nodes[body].kind == CPU_NODE_BLOCK) in->nodes[body].warp = in->nodes[node].first;
  for (int up = node; up >= 0; up = in->nodes[up].parent)
    if (in->nodes[up].warp < 0) in->nodes[up].warp = in->nodes[node].first;
}
