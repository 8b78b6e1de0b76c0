/* SPDX-License-Identifier: MIT
 *
 * The host part of a program as Lua tables, for lua/moonwarp/port: what core/source reads of it, statement by statement.
 *
 *   core.program.tree{ file =, text =, folder =, includes =, defines = }
 *     tokens, lines    lists: the text and the line of each token; a line of 0 is one of an included file
 *     declarations     of { kind =, name =, first =, last = }: "function", with formals and body; "kernel"; "variables" and
 *                      "class", with body
 *
 *   s += x[2 * k];     { kind = "expr", first = 1, last = 10, test = { kind = "assign", op = 2, a =, b =, ... } }
 *
 * Tokens are counted from 1, ranges include their last. Fields have the names of core/source/body.h; what is linked by
 * `next` there is a list. */
#include <string.h>

#include "core/base/memory.h"
#include "core/bind/bind.h"
#include "core/compile/preprocess.h"
#include "core/source/body.h"
#include "core/source/declaration.h"
#include "core/source/declarator.h"
#include "core/source/outline.h"

typedef struct tree {
  lua_State *L;
  const mw_tokens *tokens;
  const mw_outline *outline;
  const mw_body *body;
} tree;

static const char *const expr_kinds[] = {"unknown", "number",      "string", "name",     "member", "arrow",   "index",
                                         "call",    "cast",        "braces", "brackets", "unary",  "postfix", "binary",
                                         "assign",  "conditional", "sizeof", "lambda",   "launch", "new"};

static const char *const statement_kinds[] = {"unknown", "expr",  "declare",  "type",  "block",  "if",
                                              "for",     "range", "while",    "do",    "switch", "case",
                                              "return",  "break", "continue", "label", "goto",   "try"};

/* ---- names outside of bodies ----------------------------------------------------------------------------------- */

static mw_meaning meaning(void *with, const mw_token *name) {
  const tree *in = with;
  const int found = mw_outline_next(in->outline, name, -1);
  if (found < 0) return (mw_meaning){0};
  const mw_entry *entry = &in->outline->entries[in->outline->names[found].entry];
  switch (mw_declaration_read(in->tokens, entry->first, in->tokens->count).kind) {
  case MW_DECLARES_FUNCTION:
    return (mw_meaning){MW_NAME_FUNCTIONS, {0}};
  case MW_DECLARES_VARIABLES:
    return (mw_meaning){MW_NAME_VARIABLE, {0}};
  case MW_DECLARES_CLASS:
  case MW_DECLARES_TYPEDEF:
  case MW_DECLARES_ALIAS:
    return (mw_meaning){MW_NAME_TYPE, {.class = MW_TYPE_CLASS}};
  default:
    return (mw_meaning){0};
  }
}

/* ---- trees ----------------------------------------------------------------------------------------------------- */

static void integer_set(lua_State *L, const char *field, int value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, field);
}

/* Of the table on top: tokens first ... last-1. */
static void range_set(lua_State *L, int first, int last) {
  integer_set(L, "first", first + 1);
  integer_set(L, "last", last);
}

static void expr_push(const tree *, int index);
static void statement_set(const tree *, const char *field, int index);

static void expr_set(const tree *in, const char *field, int index) {
  if (!index) return;
  expr_push(in, index);
  lua_setfield(in->L, -2, field);
}

static void exprs_set(const tree *in, const char *field, int index) {
  lua_newtable(in->L);
  for (int i = 1; index; i++, index = in->body->exprs[index].next) {
    expr_push(in, index);
    lua_rawseti(in->L, -2, i);
  }
  lua_setfield(in->L, -2, field);
}

/* Does what an expression holds make a list? Its first is a, or, after what is called, b. */
static bool is_list(const mw_expr *it) {
  return it->kind == MW_EXPR_CALL || it->kind == MW_EXPR_LAUNCH || it->kind == MW_EXPR_BRACES ||
         it->kind == MW_EXPR_NEW || it->kind == MW_EXPR_CAST;
}

static void expr_push(const tree *in, int index) {
  const mw_expr *it = &in->body->exprs[index];
  const bool calls = it->kind == MW_EXPR_CALL || it->kind == MW_EXPR_LAUNCH;
  luaL_checkstack(in->L, 8, "expressions nest too deeply");
  lua_createtable(in->L, 0, 7);
  set_string(in->L, "kind", expr_kinds[it->kind]);
  range_set(in->L, it->first, it->last);
  integer_set(in->L, "op", it->op + 1);
  if (!is_list(it) || calls) expr_set(in, "a", it->a);
  if (is_list(it)) exprs_set(in, "list", calls ? it->b : it->a);
  if (!calls) expr_set(in, "b", it->b);
  if (it->kind == MW_EXPR_CONDITIONAL) expr_set(in, "c", it->c);
}

static void statement_push(const tree *, int index);

static void statement_set(const tree *in, const char *field, int index) {
  if (!index) return;
  statement_push(in, index);
  lua_setfield(in->L, -2, field);
}

static void statements_set(const tree *in, const char *field, int index) {
  lua_newtable(in->L);
  for (int i = 1; index; i++, index = in->body->statements[index].next) {
    statement_push(in, index);
    lua_rawseti(in->L, -2, i);
  }
  lua_setfield(in->L, -2, field);
}

/* A list of the expressions in [ ] [ ]; false: none, as in [ ]. */
static void sizes_set(const tree *in, const mw_declared *it) {
  lua_newtable(in->L);
  for (int i = it->dims, n = 0, close; i < it->dims_last; i = close + 1) {
    close = in->tokens->at[i].match;
    const int size = mw_body_find(in->body, i + 1, close);
    if (size)
      expr_push(in, size);
    else
      lua_pushboolean(in->L, false);
    lua_rawseti(in->L, -2, ++n);
  }
  lua_setfield(in->L, -2, "sizes");
}

static void declared_set(const tree *in, const mw_statement *it) {
  lua_newtable(in->L);
  for (int i = it->declared, n = 0; i < it->declared + it->ndeclared; i++) {
    const mw_declared *one = &in->body->declared[i];
    if (one->spec != in->body->declared[it->declared].spec) continue; /* of a lambda */
    lua_createtable(in->L, 0, 8);
    integer_set(in->L, "name", one->name + 1);
    range_set(in->L, one->spec, one->spec_last); /* of the type's words */
    integer_set(in->L, "signs", one->first + 1); /* those from there up to the name */
    sizes_set(in, one);
    lua_pushboolean(in->L, one->is_static);
    lua_setfield(in->L, -2, "is_static");
    expr_set(in, "init", one->init);
    lua_rawseti(in->L, -2, ++n);
  }
  lua_setfield(in->L, -2, "declared");
}

static void statement_push(const tree *in, int index) {
  const mw_statement *it = &in->body->statements[index];
  luaL_checkstack(in->L, 8, "statements nest too deeply");
  lua_createtable(in->L, 0, 9);
  set_string(in->L, "kind", statement_kinds[it->kind]);
  range_set(in->L, it->first, it->last);
  if (it->kind == MW_STATEMENT_DECLARE) declared_set(in, it);
  if (it->kind == MW_STATEMENT_BLOCK)
    statements_set(in, "body", it->child);
  else
    statement_set(in, "child", it->child);
  if (it->head) statements_set(in, "head", it->head);
  expr_set(in, "test", it->test);
  expr_set(in, "step", it->step);
  statement_set(in, "otherwise", it->otherwise);
}

/* What stands between braces, or all of tokens first ... last-1. */
static void body_set(const tree *in, int first, int last) {
  mw_body body;
  tree it = *in;
  it.body = &body;
  mw_body_read(&body, in->tokens, first, last, &(mw_names){meaning, &it, true}, NULL);
  statements_set(&it, "body", body.statements[0].child);
  mw_body_free(&body);
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

static void formals_set(const tree *in, const mw_declaration *it) {
  mw_formal *formals;
  const int count = mw_formals_read(in->tokens, it->open, it->close, &formals);
  lua_newtable(in->L);
  for (int i = 0; i < count; i++) {
    lua_newtable(in->L);
    range_set(in->L, formals[i].first, formals[i].last);
    if (formals[i].name >= 0) integer_set(in->L, "name", formals[i].name + 1);
    lua_rawseti(in->L, -2, i + 1);
  }
  mw_free(formals);
  lua_setfield(in->L, -2, "formals");
}

static const char *kind_of(const mw_declaration *it) {
  const bool class = it->kind == MW_DECLARES_CLASS || it->kind == MW_DECLARES_TYPEDEF || it->kind == MW_DECLARES_ALIAS;
  if (it->kind == MW_DECLARES_FUNCTION) return it->is_kernel ? "kernel" : it->is_device ? "device" : "function";
  return class                                                ? "class"
         : it->kind == MW_DECLARES_VARIABLES && it->is_device ? "symbols"
         : it->kind == MW_DECLARES_VARIABLES                  ? "variables"
                                                              : NULL;
}

static void declarations_add(const tree *in, int first, int last) {
  for (mw_declaration it; first < last; first = it.last) {
    it = mw_declaration_read(in->tokens, first, last);
    const char *kind = kind_of(&it);
    const int close = it.body >= 0 ? in->tokens->at[it.body].match : -1;
    if (it.kind == MW_DECLARES_REGION && close > it.body) declarations_add(in, it.body + 1, close);
    if (!kind) continue;
    lua_newtable(in->L);
    set_string(in->L, "kind", kind);
    range_set(in->L, it.begin, it.last);
    if (it.name >= 0) integer_set(in->L, "name", it.name + 1);
    lua_pushboolean(in->L, it.is_template);
    lua_setfield(in->L, -2, "is_template");
    if (it.kind == MW_DECLARES_FUNCTION) formals_set(in, &it);
    if (it.kind == MW_DECLARES_VARIABLES)
      body_set(in, it.begin, it.last);
    else if (close > it.body && !it.is_kernel && !it.is_enum)
      body_set(in, it.body + 1, close);
    lua_rawseti(in->L, -2, (lua_Integer)lua_rawlen(in->L, -2) + 1);
  }
}

static void tokens_set(const tree *in) {
  const mw_tokens *tokens = in->tokens;
  lua_createtable(in->L, tokens->count, 0);
  lua_createtable(in->L, tokens->count, 0);
  for (int i = 0; i < tokens->count; i++) {
    lua_pushlstring(in->L, tokens->at[i].text, (size_t)tokens->at[i].size);
    lua_rawseti(in->L, -3, i + 1);
    lua_pushinteger(in->L, tokens->at[i].file ? 0 : tokens->at[i].line);
    lua_rawseti(in->L, -2, i + 1);
  }
  lua_setfield(in->L, -3, "lines");
  lua_setfield(in->L, -2, "tokens");
}

static bool no_header(const char *name) {
  (void)name;
  return false;
}

int bind_host_tree(lua_State *L) {
  const mw_dialect dialect = {.macros = "#define __CUDACC__ 1\n#define __NVCC__ 1\n#define __cplusplus 201703L\n",
                              .has_header = no_header,
                              .constants = true};
  lua_settop(L, 1);
  lua_getfield(L, 1, "file");
  lua_getfield(L, 1, "text");
  lua_getfield(L, 1, "folder");
  const mw_source source = {.name = lua_tostring(L, 2),
                            .text = lua_tostring(L, 3),
                            .folder = lua_tostring(L, 4),
                            .includes = bind_string_list(L, "includes"),
                            .defines = bind_string_list(L, "defines")};
  mw_preprocessed read;
  mw_outline outline;
  mw_preprocess_source(&source, &dialect, &read);
  const mw_tokens *tokens = &read.tokens;
  lua_newtable(L);
  if (tokens->wrong.what) {
    lua_pushfstring(L, "%s:%d: %s", tokens->files[tokens->wrong.file], tokens->wrong.line, tokens->wrong.what);
    lua_setfield(L, -2, "wrong");
    mw_preprocessed_free(&read);
    return 1;
  }
  mw_outline_read(tokens, &outline);
  const tree in = {.L = L, .tokens = tokens, .outline = &outline};
  tokens_set(&in);
  lua_newtable(L);
  declarations_add(&in, 0, tokens->count);
  lua_setfield(L, -2, "declarations");
  mw_outline_free(&outline);
  mw_preprocessed_free(&read);
  return 1;
}
