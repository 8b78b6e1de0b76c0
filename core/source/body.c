/* SPDX-License-Identifier: MIT
 *
 * Declarations, statements and scopes of a body; see body.h.
 *
 *   for (int i = 0; i < n; i++) {      FOR: open and close its parentheses, init_last and test_last the ; in them
 *     const float *a = x + i, b[4];    DECLARE of a, to a float, and b, an array; their scope ends at the }
 *     if (b[0] > 1) continue;          IF, with a child CONTINUE */
#include "core/source/body.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/source/body_parts.h"
#include "core/source/declaration.h"
#include "core/source/declarator.h"

static int statement_add(mw_body *in, mw_statement_kind kind, int first) {
  in->statements = mw_grow(in->statements, (size_t)in->nstatements, sizeof *in->statements);
  in->statements[in->nstatements] = (mw_statement){.kind = kind, .first = first, .last = first + 1};
  return in->nstatements++;
}

/* Names that tokens first ... last-1 may declare hide what is outside. */
static void names_hide(mw_body *in, int first, int last) {
  for (int i = first; i < last; i++)
    if (mw_at(in, i)->kind == MW_TOKEN_NAME)
      mw_declared_add(in, (mw_declared){.name = i, .spec = last, .until = in->until, .type = {.class = MW_TYPE_CLASS}});
}

static void unknown_make(mw_body *in, int statement, int first, int last) {
  in->statements[statement].kind = MW_STATEMENT_UNKNOWN;
  mw_unknown_note(in, first, last);
  names_hide(in, first, last);
}

static int semicolon(const mw_body *in, int i, int last) {
  return mw_find_open(in->tokens, i, last, WORDS(";"));
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

/* Past the sizes [4][4] at i. */
static int sizes_end(mw_body *in, int i, int last, mw_type *type) {
  for (; i < last && mw_is(in, i, "["); i = mw_at(in, i)->match + 1) {
    mw_expr_read(in, i + 1, mw_at(in, i)->match);
    type->levels++, type->arrays++;
  }
  return i;
}

/* (*x)[4], (&x)[4], (*x)(int): past it. */
static int inner_end(mw_body *in, int i, int last, mw_declared *one) {
  const int close = mw_at(in, i)->match;
  const bool reference = mw_is(in, i + 1, "&"), array = close == i + 3 && mw_is(in, close + 1, "[");
  one->name = i + 2;
  if (!array) one->type = (mw_type){.class = MW_TYPE_CLASS};
  i = array ? sizes_end(in, close + 1, last, &one->type) : close + 1;
  if (array && !reference) one->type.levels++, one->type.arrays = 0;
  one->type.reference = reference;
  while (i < last && mw_token_any(mw_at(in, i), WORDS("(", "["))) i = mw_at(in, i)->match + 1;
  return mw_at(in, one->name)->kind == MW_TOKEN_NAME ? i : 0;
}

/* A declared name with its sizes, in brackets where it points to a function or an array; past them, or 0. */
static int name_end(mw_body *in, int i, int last, mw_declared *one) {
  if (mw_is(in, i, "(") && mw_token_any(mw_at(in, i + 1), WORDS("*", "&")))
    return one->dims = one->dims_last = inner_end(in, i, last, one);
  if (i >= last || mw_at(in, i)->kind != MW_TOKEN_NAME) return 0;
  one->name = i;
  one->dims = mw_attribute_end(in->tokens, i + 1);
  return one->dims_last = sizes_end(in, one->dims, last, &one->type);
}

/* Where an initialiser ends that is not understood. Commas of pair<K, V>(k, v) are passed over; in a = x < y, b = z > (w)
 * there is an =. */
static int unknown_end(const mw_body *in, int i, int last) {
  for (; i < last && !mw_is(in, i, ","); i++) {
    const int open = mw_at(in, i)->kind == MW_TOKEN_NAME && i + 1 < last ? mw_call_open(in->tokens, i) : -1;
    if (open >= 0 && open < last && !mw_has(in->tokens, i, open, "=")) i = open;
    if (mw_at(in, i)->match > i) i = mw_at(in, i)->match;
  }
  return i < last ? i : last;
}

/* Past the initialiser at i: = e, (e), {e} or none. */
static int init_read(mw_body *in, int i, int last, mw_declared *one) {
  one->value = one->value_last = i;
  if (i < last && mw_is(in, i, "="))
    one->init = mw_assignment_read(in, ++i, last);
  else if (i < last && mw_token_any(mw_at(in, i), WORDS("(", "{")))
    one->init = mw_construction_read(in, i, i, one->type);
  if (!one->init) return i;
  const int end = in->exprs[one->init].last;
  if (!in->exprs[one->init].kind || (end != last && !mw_is(in, end, ",")))
    one->init = mw_unknown_add(in, i, unknown_end(in, i, last));
  mw_expr *init = &in->exprs[one->init];
  one->value = i, one->value_last = init->last;
  if (init->kind == MW_EXPR_BRACES && init->op == init->first) init->type = one->type;
  if (one->is_auto) {
    const bool reference = one->type.reference;
    one->type = reference ? init->type : mw_type_value(init->type);
    one->type.reference = reference, one->type.arrays = 0;
  }
  return init->last;
}

/* The declarators from i on, after the words of their type. */
static void declarators_read(mw_body *in, int statement, int i, int last, mw_declared like) {
  like.until = in->until;
  like.spec_last = i;
  like.is_auto = mw_has(in->tokens, like.spec, i, "auto");
  like.is_static = mw_has(in->tokens, like.spec, i, "static");
  like.is_shared = mw_find(in->tokens, like.spec, i, WORDS("__shared__", "mw_kept")) < i;
  in->statements[statement].kind = MW_STATEMENT_DECLARE;
  in->statements[statement].declared = in->ndeclared;
  for (;; i++) {
    mw_declared one = like;
    const int begin = one.first = i;
    i = mw_signs_end(in->tokens, i, last, &one.type);
    i = name_end(in, i, last, &one);
    if (!i) return unknown_make(in, statement, begin, last);
    const int index = in->ndeclared;
    mw_declared_add(in, one); /* int n = n + 1: its own, as in C++ */
    i = init_read(in, i, last, &one);
    in->declared[index] = one;
    in->statements[statement].ndeclared = in->ndeclared - in->statements[statement].declared;
    if (i >= last) return;
    if (!mw_is(in, i, ",")) break;
  }
  unknown_make(in, statement, i, last);
}

/* struct P { ... }, enum E { ... }: the name is a type's. */
static void class_add(mw_body *in, int first, int last) {
  const int braces = mw_class_braces(in->tokens, first, last);
  const int word = mw_find(in->tokens, first, last, WORDS("struct", "class", "union", "enum"));
  int end;
  const int name = braces ? mw_class_name(in->tokens, first, last, &end) : -1;
  if (name >= 0)
    mw_declared_add(
        in, (mw_declared){
                .name = name, .spec = word, .until = in->until, .is_type = true, .type = {.class = MW_TYPE_CLASS}});
}

/* Does tokens first ... last-1 declare variables? Then they are read. */
static bool declaration_read(mw_body *in, int statement, int first, int last) {
  mw_declared like = {.spec = first};
  const int i = mw_words_end(in, first, last, &like.type);
  if (i == first || i >= last) return false;
  const bool inner = mw_is(in, i, "(") && mw_token_any(mw_at(in, i + 1), WORDS("*", "&"));
  if (mw_at(in, i)->kind != MW_TOKEN_NAME && !inner && !mw_token_any(mw_at(in, i), WORDS("*", "&", "&&", "[")))
    return false;
  class_add(in, first, i);
  declarators_read(in, statement, i, last, like);
  return true;
}

/* using T = float; typedef float T; namespace cg = ...; using N::f; */
static void type_read(mw_body *in, int statement, int first, int last) {
  const bool alias = mw_is(in, first + 2, "="), space = mw_is(in, first, "namespace");
  mw_declared one = {.spec = first, .until = in->until, .is_type = true, .type = {.class = MW_TYPE_CLASS}};
  in->statements[statement].kind = MW_STATEMENT_TYPE;
  if (alias || (mw_is(in, first, "typedef") && mw_at(in, last - 1)->kind == MW_TOKEN_NAME)) {
    one.name = alias ? first + 1 : last - 1;
    if (!space) one.type = mw_type_read(in->tokens, alias ? first + 3 : first + 1, alias ? last : last - 1, &in->names);
    mw_declared_add(in, one);
  } else if (!mw_is(in, first, "static_assert") && !mw_is(in, first + 1, "namespace")) {
    unknown_make(in, statement, first, last);
  }
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static int statement_read(mw_body *in, int i, int last);

/* Tokens i ... last-1, without the ; after them. */
static void simple_read(mw_body *in, int statement, int i, int last) {
  const int braces = mw_class_braces(in->tokens, i, last);
  mw_statement *it = &in->statements[statement];
  if (i == last || (braces && mw_at(in, braces)->match + 1 == last)) {
    it->kind = MW_STATEMENT_TYPE; /* ; struct P { ... }; */
    if (braces) class_add(in, i, last);
  } else if (mw_token_any(mw_at(in, i), WORDS("using", "typedef", "static_assert", "namespace"))) {
    type_read(in, statement, i, last);
  } else if (mw_token_any(mw_at(in, i), WORDS("asm", "__asm__"))) {
    mw_unknown_note(in, i, last);
    it->kind = MW_STATEMENT_UNKNOWN;
  } else if (mw_token_any(mw_at(in, i), WORDS("throw", "template"))) {
    unknown_make(in, statement, i, last);
  } else if (!declaration_read(in, statement, i, last)) {
    const int test = mw_expr_read(in, i, last);
    in->statements[statement].kind = MW_STATEMENT_EXPR;
    in->statements[statement].test = test;
  }
}

static int block_read(mw_body *in, int open) {
  const int one = statement_add(in, MW_STATEMENT_BLOCK, open), end = mw_at(in, open)->match;
  const int visible = in->nvisible, until = in->until;
  in->until = end;
  for (int i = open + 1, before = 0, child; i < end; i = in->statements[child].last, before = child) {
    child = statement_read(in, i, end);
    *(before ? &in->statements[before].next : &in->statements[one].child) = child;
  }
  mw_scope_end(in, visible);
  in->until = until;
  in->statements[one].last = end + 1;
  return one;
}

/* A statement in parentheses: its index. */
static int head_read(mw_body *in, int first, int last) {
  const int head = statement_add(in, MW_STATEMENT_TYPE, first);
  simple_read(in, head, first, last);
  in->statements[head].last = last;
  return head;
}

/* if (k > 2), if (int k = f(); k > 2), while (int k = f()), if (int n = f(); int k = n) */
static void condition_read(mw_body *in, int statement, int first, int last) {
  const int semi = in->statements[statement].init_last = semicolon(in, first, last);
  int head = semi < last ? head_read(in, first, semi) : 0, test = 0;
  const int one = head_read(in, semi < last ? semi + 1 : first, last);
  if (in->statements[one].kind == MW_STATEMENT_EXPR)
    test = in->statements[one].test;
  else
    *(head ? &in->statements[head].next : &head) = one;
  in->statements[statement].head = head;
  in->statements[statement].test = test;
}

/* T x : a, int n = f(); T x : a */
static void range_read(mw_body *in, int statement, int first, int last) {
  const int semi = semicolon(in, first, last), begin = semi < last ? semi + 1 : first;
  const int colon = mw_find_open(in->tokens, begin, last, WORDS(":"));
  int head = semi < last ? head_read(in, first, semi) : 0;
  const int condition = mw_expr_read(in, colon + 1, last), one = head_read(in, begin, colon);
  *(head ? &in->statements[head].next : &head) = one;
  in->statements[statement].kind = MW_STATEMENT_RANGE;
  in->statements[statement].head = head;
  in->statements[statement].test = condition;
}

static void for_read(mw_body *in, int statement, int first, int last) {
  const int init = semicolon(in, first, last), test = init < last ? semicolon(in, init + 1, last) : last;
  in->statements[statement].init_last = init, in->statements[statement].test_last = test;
  if (test == last) {
    range_read(in, statement, first, last);
    return;
  }
  const int head = head_read(in, first, init), condition = mw_expr_read(in, init + 1, test);
  const int step = mw_expr_read(in, test + 1, last);
  in->statements[statement].head = head;
  in->statements[statement].test = condition;
  in->statements[statement].step = step;
}

/* What is no statement of C++. */
static int misread(mw_body *in, int statement, int first, int last) {
  unknown_make(in, statement, first, last);
  in->statements[statement].last = last;
  in->statements[statement].wrong = true;
  return statement;
}

/* What a for, if, switch, while or do holds: a statement, with the labels before it. */
static int child_read(mw_body *in, int i, int last) {
  int child = statement_read(in, i, last);
  for (int end; in->statements[child].kind == MW_STATEMENT_CASE || in->statements[child].kind == MW_STATEMENT_LABEL;) {
    end = in->statements[child].last;
    if (end >= last) break;
    child = statement_read(in, end, last);
  }
  return child;
}

static int headed_read(mw_body *in, mw_statement_kind kind, int i, int last) {
  enum { OPEN = -1 }; /* the end of a scope, until it is known */
  const int one = statement_add(in, kind, i), visible = in->nvisible, until = in->until, ndeclared = in->ndeclared;
  const int open = i + 1 + mw_is(in, i + 1, "constexpr");
  if (open >= last || !mw_is(in, open, "(")) return misread(in, one, i, last);
  const int close = mw_at(in, open)->match;
  in->until = OPEN;
  in->statements[one].open = open, in->statements[one].close = close;
  (kind == MW_STATEMENT_FOR ? for_read : condition_read)(in, one, open + 1, close);
  int child = child_read(in, close + 1, last), end = in->statements[child].last;
  in->statements[one].child = child;
  if (kind == MW_STATEMENT_IF && end < last && mw_is(in, end, "else")) {
    child = child_read(in, end + 1, last), end = in->statements[child].last;
    in->statements[one].otherwise = child;
  }
  for (int k = ndeclared; k < in->ndeclared; k++)
    if (in->declared[k].until == OPEN) in->declared[k].until = end;
  in->statements[one].last = end;
  mw_scope_end(in, visible);
  in->until = until;
  return one;
}

static int do_read(mw_body *in, int i, int last) {
  const int one = statement_add(in, MW_STATEMENT_DO, i), child = child_read(in, i + 1, last);
  const int end = in->statements[child].last;
  in->statements[one].child = child;
  if (end + 1 >= last || !mw_is(in, end, "while") || !mw_is(in, end + 1, "(")) return misread(in, one, i, last);
  const int close = mw_at(in, end + 1)->match, test = mw_expr_read(in, end + 2, close);
  in->statements[one].open = end + 1, in->statements[one].close = close;
  in->statements[one].test = test;
  const int stop = semicolon(in, close, last);
  in->statements[one].last = stop < last ? stop + 1 : last;
  return one;
}

/* By its first word; MW_STATEMENT_EXPR: that says nothing. */
static mw_statement_kind word_kind(const mw_token *token) {
  static const struct {
    const char *word;
    mw_statement_kind kind;
  } words[] = {{"if", MW_STATEMENT_IF},
               {"for", MW_STATEMENT_FOR},
               {"while", MW_STATEMENT_WHILE},
               {"switch", MW_STATEMENT_SWITCH},
               {"return", MW_STATEMENT_RETURN},
               {"break", MW_STATEMENT_BREAK},
               {"continue", MW_STATEMENT_CONTINUE},
               {"case", MW_STATEMENT_CASE},
               {"default", MW_STATEMENT_CASE},
               {"do", MW_STATEMENT_DO},
               {"goto", MW_STATEMENT_GOTO},
               {"try", MW_STATEMENT_TRY},
               {"{", MW_STATEMENT_BLOCK}};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (mw_token_is(token, words[k].word)) return words[k].kind;
  return MW_STATEMENT_EXPR;
}

/* A statement that ends at a ; or, of a label, at a : */
static int plain_read(mw_body *in, mw_statement_kind kind, int i, int last) {
  const int one = statement_add(in, kind, i);
  const bool label = kind == MW_STATEMENT_EXPR && mw_at(in, i)->kind == MW_TOKEN_NAME && mw_is(in, i + 1, ":");
  const bool ends = label || kind == MW_STATEMENT_CASE;
  const int end = mw_find_open(in->tokens, i, last, ends ? WORDS(":") : WORDS(";"));
  const int test = kind == MW_STATEMENT_RETURN || kind == MW_STATEMENT_CASE ? mw_expr_read(in, i + 1, end) : 0;
  in->statements[one].test = test;
  if (label) in->statements[one].kind = MW_STATEMENT_LABEL;
  if (label || kind == MW_STATEMENT_GOTO || kind == MW_STATEMENT_TRY) mw_unknown_note(in, i, label ? i + 1 : end);
  if (kind == MW_STATEMENT_TRY) names_hide(in, i, end);
  if (kind == MW_STATEMENT_EXPR && !label) simple_read(in, one, i, end);
  in->statements[one].last = end < last ? end + 1 : last;
  return one;
}

/* ---- statements of another body ---------------------------------------------------------------------------------- */

static bool is_same_type(mw_type a, mw_type b) {
  return a.class == b.class && a.levels == b.levels && a.arrays == b.arrays && a.reference == b.reference &&
         a.volatiles == b.volatiles && a.wide == b.wide;
}

/* Is the statement of the other body the one that begins at token i, and means the same by each name? */
static bool is_same(const mw_body *in, const mw_statement *it, int i, int last) {
  const mw_expr *exprs = in->old->exprs;
  const int by = i - it->first, past = it->last + by;
  if (past > last || it->wrong) return false;
  for (int k = i; k < past; k++)
    if (mw_at(in, k)->from != k - by) return false;
  if (past < last && mw_is(in, past, "else") && mw_at(in, past)->from != it->last) return false;
  for (const mw_expr *e = exprs + it->begin.exprs; e < exprs + it->end.exprs; e++) {
    if (e->kind != MW_EXPR_NAME || e->first != e->op || e->of >= it->begin.declared) continue;
    const int now = mw_visible_find(in, mw_at(in, e->op + by));
    if (!now != !e->of || !is_same_type(in->old->declared[e->of].type, in->declared[now].type)) return false;
  }
  return true;
}

typedef struct taking { /* a statement of the other body */
  const mw_statement *it;
  int tokens, statements, exprs, declared; /* by how much each index grows */
} taking;

/* Index 0 stays: none. */
static void grow(int by, int *const *list) {
  for (; *list; list++)
    if (**list) **list += by;
}
#define GROW(by, ...) grow(by, (int *const[]){__VA_ARGS__, NULL})

static void exprs_take(mw_body *in, const taking *by) {
  for (int k = by->it->begin.exprs; k < by->it->end.exprs; k++) {
    mw_expr e = in->old->exprs[k];
    GROW(by->tokens, &e.first, &e.last, &e.op);
    GROW(by->exprs, &e.a, &e.b, &e.next);
    GROW(e.kind == MW_EXPR_LAMBDA ? by->statements : by->exprs, &e.c);
    if (e.of >= by->it->begin.declared)
      e.of += by->declared;
    else if (e.of)
      e.of = mw_visible_find(in, mw_at(in, e.op));
    mw_expr_add(in, e);
  }
}

/* Of a loop's head the scope ends with the loop; what the statement itself declares lasts. */
static void declared_take(mw_body *in, const taking *by) {
  const int last = by->it->last + (by->it->kind >= MW_STATEMENT_IF && by->it->kind <= MW_STATEMENT_SWITCH);
  for (int k = by->it->begin.declared; k < by->it->end.declared; k++) {
    mw_declared one = in->old->declared[k];
    const bool lasts = one.until >= last;
    GROW(by->tokens, &one.name, &one.spec, &one.spec_last, &one.first, &one.dims, &one.dims_last, &one.value,
         &one.value_last, &one.until);
    GROW(by->exprs, &one.init);
    if (lasts) one.until = in->until;
    mw_declared_add(in, one);
    if (!lasts) mw_scope_end(in, in->nvisible - 1);
  }
}

static void statements_take(mw_body *in, const taking *by) {
  for (int k = by->it->begin.statements; k < by->it->end.statements; k++) {
    mw_statement one = in->old->statements[k];
    if (k == by->it->begin.statements) one.next = 0;
    GROW(by->tokens, &one.first, &one.last, &one.open, &one.close, &one.init_last, &one.test_last);
    GROW(by->statements, &one.head, &one.child, &one.otherwise, &one.next, &one.begin.statements, &one.end.statements);
    GROW(by->exprs, &one.test, &one.step, &one.begin.exprs, &one.end.exprs);
    GROW(by->declared, &one.declared, &one.begin.declared, &one.end.declared);
    const int added = statement_add(in, one.kind, one.first);
    in->statements[added] = one;
    in->taken++;
  }
}

/* The statement at token i as the other body has it; 0: it does not. */
static int statement_take(mw_body *in, int i, int last) {
  const mw_body *old = in->old;
  const int from = mw_at(in, i)->from, found = old && !old->deep ? mw_statement_find(old, from) : 0;
  if (!found || !is_same(in, &old->statements[found], i, last)) return 0;
  const mw_statement *it = &old->statements[found];
  const taking by = {it, i - from, in->nstatements - found, in->nexprs - it->begin.exprs,
                     in->ndeclared - it->begin.declared};
  exprs_take(in, &by);
  declared_take(in, &by);
  statements_take(in, &by);
  for (int k = from; k < it->last; k++) {
    int *begins = &in->begins[k + by.tokens - in->first], *stands = &in->stands[k + by.tokens - in->first];
    *begins = old->begins[k - old->first], *stands = old->stands[k - old->first];
    GROW(by.exprs, begins);
    GROW(by.statements, stands);
  }
  return found + by.statements;
}

/* ---- any statement ----------------------------------------------------------------------------------------------- */

static int statement_read(mw_body *in, int i, int last) {
  const mw_statement_kind kind = word_kind(mw_at(in, i));
  if (mw_at(in, i)->kind == MW_TOKEN_PRAGMA)
    return i + 1 < last ? statement_read(in, i + 1, last) : statement_add(in, MW_STATEMENT_TYPE, i);
  const int past = mw_attribute_end(in->tokens, i);
  if (past > i && past < last) return statement_read(in, past, last); /* [[likely]] n = 1; */
  if (in->depth > MW_MOST_DEPTH && !in->deep) in->deep = i;
  if (i >= last || in->depth > MW_MOST_DEPTH) return misread(in, statement_add(in, MW_STATEMENT_UNKNOWN, i), i, last);
  const int taken = statement_take(in, i, last);
  if (taken) return taken;
  const mw_extent begin = {in->nstatements, in->nexprs, in->ndeclared};
  in->depth++;
  const int one = kind == MW_STATEMENT_BLOCK                               ? block_read(in, i)
                  : kind == MW_STATEMENT_DO                                ? do_read(in, i, last)
                  : kind >= MW_STATEMENT_IF && kind <= MW_STATEMENT_SWITCH ? headed_read(in, kind, i, last)
                                                                           : plain_read(in, kind, i, last);
  in->depth--;
  in->statements[one].begin = begin;
  in->statements[one].end = (mw_extent){in->nstatements, in->nexprs, in->ndeclared};
  in->stands[i - in->first] = one;
  return one;
}

/* ---- the body -------------------------------------------------------------------------------------------------- */

/* The last declaration in whose scope a name stands is meant, as in C++. What only may be declared is seen after its
 * words, and leaves to an outer declaration what is done to it. */
static void names_bind(mw_body *in) {
  mw_scope_end(in, 0);
  for (int i = in->first, next = 1; i < in->last; i++) {
    while (in->nvisible && in->declared[in->visible[in->nvisible - 1]].until <= i) mw_scope_end(in, in->nvisible - 1);
    for (; next < in->ndeclared && in->declared[next].name <= i && in->declared[next].spec <= i; next++) {
      const mw_declared *it = &in->declared[next];
      if (it->spec <= it->name || !mw_visible_find(in, mw_at(in, it->name))) mw_declared_see(in, next);
    }
    const int own = mw_at(in, i)->kind == MW_TOKEN_NAME ? mw_visible_find(in, mw_at(in, i)) : 0;
    if (in->declared[own].name == i || !mw_is_member(in->tokens, i)) in->bound[i - in->first] = own;
  }
}

void mw_body_read(mw_body *in, const mw_tokens *tokens, int first, int last, const mw_names *names,
                  const mw_body *old) {
  const size_t room = (size_t)(last - first) + 2;
  *in = (mw_body){.tokens = tokens, .names = *names, .block = block_read, .first = first, .last = last, .until = last};
  in->old = old;
  in->begins = mw_calloc(room, sizeof *in->begins);
  in->bound = mw_calloc(room, sizeof *in->bound);
  in->stands = mw_calloc(room, sizeof *in->stands);
  in->exprs = mw_calloc(1, sizeof *in->exprs);
  in->nexprs = 1;
  in->hashes = (unsigned)room / 4 + 1;
  in->hashed = mw_calloc(in->hashes, sizeof *in->hashed);
  statement_add(in, MW_STATEMENT_BLOCK, first);
  mw_declared_add(in, (mw_declared){0});
  in->nvisible = 0;
  for (int i = first, before = 0, child; i < last; i = in->statements[child].last, before = child) {
    child = statement_read(in, i, last);
    *(before ? &in->statements[before].next : &in->statements[0].child) = child;
  }
  names_bind(in);
  in->names = (mw_names){0}; /* their reader's */
  in->old = NULL;
}

static mw_meaning no_meaning(void *with, const mw_token *name) {
  (void)with, (void)name;
  return (mw_meaning){0};
}

bool mw_may_be_function(const mw_body *in, int declared) {
  const mw_declared *it = &in->declared[declared];
  const bool inner = mw_is(in, it->first, "(") && !mw_is(in, mw_at(in, it->first)->match + 1, "[");
  const bool alone = it[-1].spec != it->spec && (declared + 1 == in->ndeclared || it[1].spec != it->spec);
  return inner || (alone && it->value_last > it->value && it->value == it->dims_last && mw_is(in, it->value, "("));
}

int mw_declared_read(const mw_tokens *tokens, int first, int last, const mw_names *names, mw_declared *out, int most) {
  mw_body body;
  int count = 0;
  mw_body_read(&body, tokens, first, last, names ? names : &(mw_names){no_meaning, NULL, false}, NULL);
  const mw_statement *it = &body.statements[body.statements[0].child];
  bool known = it->kind == MW_STATEMENT_DECLARE && it->last == last;
  for (int i = it->declared; known && i < it->declared + it->ndeclared; i++) {
    if (body.declared[i].spec != first) continue; /* of a lambda */
    known = count < most && !mw_may_be_function(&body, i);
    if (known) out[count++] = body.declared[i];
  }
  mw_body_free(&body);
  return known ? count : 0;
}

bool mw_has_jump(const mw_body *in, int first, int last) {
  for (int i = first; i < last; i++) {
    const mw_statement_kind kind = in->statements[mw_statement_find(in, i)].kind;
    if ((kind >= MW_STATEMENT_RETURN && kind <= MW_STATEMENT_CONTINUE) || kind == MW_STATEMENT_GOTO) return true;
  }
  return false;
}

int mw_declared_from(const mw_body *in, int first) {
  int low = 1, high = in->ndeclared;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (in->declared[middle].name < first)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int mw_statement_find(const mw_body *in, int first) {
  return in->first <= first && first < in->last ? in->stands[first - in->first] : 0;
}

int mw_body_find(const mw_body *in, int first, int last) {
  if (first < in->first || first >= in->last) return 0;
  int one = in->begins[first - in->first];
  while (one && in->exprs[one].last > last) {
    const int a = in->exprs[one].a;
    one = a && in->exprs[a].first == first ? a : 0;
  }
  return one && in->exprs[one].kind ? one : 0;
}

void mw_body_free(mw_body *in) {
  mw_free(in->exprs);
  mw_free(in->statements);
  mw_free(in->declared);
  mw_free(in->begins);
  mw_free(in->bound);
  mw_free(in->stands);
  mw_free(in->uses);
  mw_free(in->visible);
  mw_free(in->hashed);
  mw_free(in->below);
  *in = (mw_body){0};
}
