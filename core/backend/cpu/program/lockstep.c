/* SPDX-License-Identifier: MIT
 *
 * Code of before Volta that counts on the lanes of a warp to run in step: a lane reads through volatile what another
 * one has written through it, and nothing stands between (M. Harris, "Optimizing parallel reduction in CUDA", 2007).
 * Here the lanes meet where such memory is read and written, so that each reads before any of them writes:
 *
 *   s[t] += s[t + 32];  ->  { mw_meet(1); auto mw_w1 = s[t] + (s[t + 32]); mw_meet(2); s[t] = mw_w1; mw_meet(3); }
 *
 * Lanes that are elsewhere are not waited for (cpu_fibers_meet). A function counts on it where a statement, or two that
 * follow each other, write an element of an array through volatile and read another one of it: flags that threads wait for, locks and
 * words by which blocks pass each other values do not. All its statements that use volatile memory then meet; conditions of
 * loops, by which threads wait, do not. A statement that is behind a lock, or before a barrier of the block, keeps its
 * form, and so does a function with fences, which orders its accesses itself. */
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/program/program.h"

enum { MOST_NAMES = 16 };         /* that stand for each other */
enum { CLOSES, OPENS, REPLACES }; /* in which order edits at one token are made */

typedef struct edit {
  int kind, first, last; /* tokens that are replaced; equal: none */
  char *pattern;         /* of mw_tokens_build */
  mw_span parts[3];
} edit;

typedef struct fact { /* of a statement */
  bool meets;         /* its lanes meet at its end */
  bool in_head;       /* it stands in the parentheses of another */
  bool is_child;      /* another holds it, perhaps without braces */
} fact;

typedef struct stepper {
  cpu_program *program;
  const mw_token *at;
  const mw_body *tree;
  int *before; /* of each statement of the tree: the one before it in its block */
  fact *facts; /* of each */
  int lock;    /* the first token of the body by which a lock is made, or its end */
  edit *edits;
  int nedits;
} stepper;

/* ---- accesses -------------------------------------------------------------------------------------------------- */

/* Is it a variable of the thread's own, or an element of one? */
static bool is_own(const stepper *in, const mw_expr *e) {
  while (e->kind == MW_EXPR_INDEX || e->kind == MW_EXPR_MEMBER || e->kind == MW_EXPR_BRACKETS)
    e = &in->tree->exprs[e->a];
  if (e->kind != MW_EXPR_NAME || e->type.reference) return false;
  const mw_declared *own = &in->tree->declared[e->of];
  if (e->binding == MW_NAME_LOCAL) return !own->is_shared && !own->is_static && own->type.levels == own->type.arrays;
  return e->binding == MW_NAME_PARAMETER && !e->type.levels;
}

static bool is_access(const stepper *in, const mw_expr *e) {
  const bool place = e->kind == MW_EXPR_NAME || e->kind == MW_EXPR_INDEX || e->kind == MW_EXPR_MEMBER ||
                     e->kind == MW_EXPR_ARROW || (e->kind == MW_EXPR_UNARY && mw_token_is(&in->at[e->op], "*"));
  return place && !e->type.levels && e->type.volatiles & 1 && !is_own(in, e);
}

static bool begins_with(const stepper *in, const mw_expr *whole, const mw_expr *part) {
  int i = 0;
  const int size = part->last - part->first;
  while (i < size && mw_same_text(&in->at[whole->first + i], &in->at[part->first + i])) i++;
  return i == size;
}

/* The name of the array that the element is of, through local pointers and references; 0: it is not known. */
static int array_of(const stepper *in, const mw_expr *e) {
  for (int steps = 0; steps < MOST_NAMES; steps++) {
    const mw_declared *own = &in->tree->declared[e->of];
    const bool refers = e->kind == MW_EXPR_NAME && e->binding == MW_NAME_LOCAL && own->init && !own->type.arrays;
    if (e->kind == MW_EXPR_NAME && !refers) return e->op;
    if (e->kind == MW_EXPR_BINARY && !in->tree->exprs[e->a].type.levels)
      e = &in->tree->exprs[e->b];
    else if (refers || (e->kind >= MW_EXPR_MEMBER && e->kind != MW_EXPR_CALL && e->kind <= MW_EXPR_BINARY))
      e = &in->tree->exprs[refers ? own->init : e->a];
    else
      return 0;
  }
  return 0;
}

static bool same_array(const stepper *in, const mw_expr *a, const mw_expr *b) {
  const int one = array_of(in, a), other = array_of(in, b);
  return !one || !other || mw_same_text(&in->at[one], &in->at[other]);
}

/* The first access among tokens first ... last-1, of another element of the array than `mine`, or NULL: any. */
static const mw_expr *access_find(const stepper *in, int first, int last, const mw_expr *mine) {
  for (const mw_expr *e = in->tree->exprs + 1; e < in->tree->exprs + in->tree->nexprs; e++)
    if (first <= e->first && e->last <= last && is_access(in, e) &&
        !(mine && (begins_with(in, mine, e) || !same_array(in, mine, e))))
      return e;
  return NULL;
}

/* The last of a = b = c += value; NULL: the statement is none, or does not write through volatile. */
static const mw_expr *assignment_of(const stepper *in, const mw_statement *statement) {
  const mw_expr *exprs = in->tree->exprs, *e = &exprs[statement->test];
  bool writes = false;
  if (statement->kind != MW_STATEMENT_EXPR || e->kind != MW_EXPR_ASSIGN || e->last != statement->last - 1) return NULL;
  for (;; e = &exprs[e->b]) {
    writes |= is_access(in, &exprs[e->a]);
    if (exprs[e->b].kind != MW_EXPR_ASSIGN) return writes ? e : NULL;
  }
}

/* What the statement computes: of an if, switch or return the condition or the value; false: nothing that is followed.
 * What stands in a lambda is a statement of its own, and so is what stands in the parentheses of an if. */
static bool computed(const stepper *in, const mw_statement *it, mw_span *out) {
  const bool head = it->kind == MW_STATEMENT_IF || it->kind == MW_STATEMENT_SWITCH;
  const bool whole =
      it->kind == MW_STATEMENT_EXPR || it->kind == MW_STATEMENT_DECLARE || it->kind == MW_STATEMENT_RETURN;
  *out = head ? (mw_span){it->open, it->close} : (mw_span){it->first, it->last};
  for (const mw_expr *e = in->tree->exprs + 1; e < in->tree->exprs + in->tree->nexprs; e++)
    if (e->kind == MW_EXPR_LAMBDA && out->first <= e->first && e->last <= out->last) return false;
  return (head || whole) && !in->facts[it - in->tree->statements].in_head && out->first < in->lock;
}

/* ---- which functions count on it ------------------------------------------------------------------------------- */

/* The token behind the statement, and behind the blocks that it ends. */
static int behind(const stepper *in, const mw_statement *it) {
  int i = it->last;
  while (i < in->tree->last && mw_token_is(&in->at[i], "}")) i++;
  return i;
}

static const mw_expr *written_by(const stepper *in, const mw_statement *it) {
  return assignment_of(in, it) ? &in->tree->exprs[in->tree->exprs[it->test].a] : NULL;
}

/* v = s[t + 1]; s[t] = v;  and  s[t] = v; v = s[t + 1]; */
static bool pair_depends(const stepper *in, const mw_statement *before, const mw_statement *it) {
  const mw_expr *first = written_by(in, before), *second = written_by(in, it), *e = assignment_of(in, it);
  mw_span one, other;
  if (!before->kind || (!first && !second) || !computed(in, before, &one) || !computed(in, it, &other)) return false;
  if (e) other.first = in->tree->exprs[e->b].first;
  return first ? access_find(in, other.first, other.last, first) : access_find(in, one.first, one.last, second);
}

/* The first statement of those by which the lanes depend on each other that ends in this one; NULL: they do not. */
static const mw_statement *dependence_of(const stepper *in, int statement) {
  const mw_statement *it = &in->tree->statements[statement], *before = &in->tree->statements[in->before[statement]];
  const mw_expr *e = assignment_of(in, it);
  mw_span range;
  if (!computed(in, it, &range) || mw_is_builtin(&in->at[behind(in, it)], MW_CUDA_BARRIER)) return NULL;
  const mw_expr *value = e ? &in->tree->exprs[e->b] : NULL;
  if (e && access_find(in, value->first, value->last, written_by(in, it))) return it;
  return pair_depends(in, before, it) ? before : NULL;
}

/* Does a loop that has no warp operation go round it, or does something else follow than one? */
static bool lacks_sync(const stepper *in, const mw_statement *it) {
  const unsigned meetings = MW_CUDA_BARRIER | MW_CUDA_WARP;
  for (const mw_statement *loop = in->tree->statements + 1; loop < in->tree->statements + in->tree->nstatements;
       loop++) {
    const bool repeats =
        loop->kind == MW_STATEMENT_FOR || loop->kind == MW_STATEMENT_WHILE || loop->kind == MW_STATEMENT_DO;
    int i = loop->first;
    if (!repeats || it->first < i || it->last > loop->last) continue;
    while (i < loop->last && !mw_is_builtin(&in->at[i], meetings | MW_CUDA_GROUP_MEMBER)) i++;
    if (i == loop->last) return true;
  }
  const int next = behind(in, it);
  const bool member = in->at[next].kind == MW_TOKEN_NAME && mw_token_is(&in->at[next + 1], ".");
  return next < in->tree->last && !member && !mw_is_builtin(&in->at[next], meetings);
}

/* ---- edits ----------------------------------------------------------------------------------------------------- */

static edit *edit_add(stepper *in, int kind, int first, int last, char *pattern) {
  in->edits = mw_grow(in->edits, (size_t)in->nedits, sizeof *in->edits);
  in->edits[in->nedits] = (edit){.kind = kind, .first = first, .last = last, .pattern = pattern};
  return &in->edits[in->nedits++];
}

/* Is it evaluated twice without harm? */
static bool is_repeatable(const stepper *in, const mw_expr *e) {
  for (int i = e->first; i < e->last; i++)
    if (mw_is_assignment(&in->at[i]) || (in->at[i].kind == MW_TOKEN_NAME && mw_call_open(&in->program->tokens, i) >= 0))
      return false;
  return true;
}

/* s[t] = sum += s[t + 1];  ->  { auto mw_w = sum + (s[t + 1]); mw_meet(); s[t] = sum = mw_w; mw_meet(); } */
static bool assignment_edit(stepper *in, const mw_statement *it, const char *begin) {
  const mw_expr *e = assignment_of(in, it), *exprs = in->tree->exprs;
  if (!e || exprs[e->b].kind == MW_EXPR_BRACES) return false;
  const mw_token *sign = &in->at[e->op];
  const bool compound = !mw_token_is(sign, "=");
  if (!compound && !access_find(in, exprs[e->b].first, exprs[e->b].last, NULL)) return false;
  if (compound && !is_repeatable(in, &exprs[e->a])) return false;
  char *value = compound ? mw_format("$1 %.*s ( $2 )", sign->size - 1, sign->text) : mw_strdup("$2");
  char *pattern =
      mw_format(" { %s auto mw_w# = %s ; mw_meet ( #1 ) ; $0 $1 = mw_w# ; mw_meet ( #2 ) ; }", begin, value);
  edit *out = edit_add(in, REPLACES, it->first, it->last, pattern);
  out->parts[0] = (mw_span){it->first, exprs[e->a].first};
  out->parts[1] = (mw_span){exprs[e->a].first, exprs[e->a].last};
  out->parts[2] = (mw_span){exprs[e->b].first, exprs[e->b].last};
  mw_free(value);
  return true;
}

static void statement_edit(stepper *in, int statement) {
  const mw_statement *it = &in->tree->statements[statement];
  const bool plain = it->kind == MW_STATEMENT_EXPR || it->kind == MW_STATEMENT_DECLARE;
  mw_span range;
  if (!computed(in, it, &range) || !access_find(in, range.first, range.last, NULL)) return;
  const char *begin = in->facts[in->before[statement]].meets ? "" : " mw_meet ( #0 ) ;";
  const bool braces = in->facts[statement].is_child;
  in->facts[statement].meets = plain;
  if (assignment_edit(in, it, begin)) return;
  edit_add(in, OPENS, it->first, it->first, mw_format("%s%s", braces ? " {" : "", begin));
  edit_add(in, CLOSES, it->last, it->last, mw_format("%s%s", plain ? " mw_meet ( #1 ) ;" : "", braces ? " }" : ""));
}

/* The statements in the parentheses of an if or a loop come before the one that it holds. */
static void statement_place(stepper *in, int statement) {
  const mw_statement *it = &in->tree->statements[statement];
  in->before[it->next] = statement;
  if (it->kind < MW_STATEMENT_IF || it->kind > MW_STATEMENT_SWITCH) return;
  for (int i = statement + 1; i < it->child; i++) in->facts[i].in_head = true;
  in->facts[it->child].is_child = in->facts[it->otherwise].is_child = true;
}

/* The first token of the body that is a builtin of the kinds, and of none of the others; else its end. */
static int builtin_find(const stepper *in, unsigned kinds, unsigned others) {
  int i = in->tree->first;
  while (i < in->tree->last && (!mw_is_builtin(&in->at[i], kinds) || mw_is_builtin(&in->at[i], others))) i++;
  return i;
}

static void routine_edit(stepper *in, const cpu_routine *routine) {
  const mw_body *tree = in->tree = routine->function.tree;
  bool depends = false;
  if (builtin_find(in, MW_CUDA_FENCE, MW_CUDA_WARP) < tree->last) return;
  in->lock = builtin_find(in, MW_CUDA_LOCK, 0);
  in->before = mw_calloc((size_t)tree->nstatements + 1, sizeof *in->before);
  in->facts = mw_calloc((size_t)tree->nstatements + 1, sizeof *in->facts);
  for (int i = 1; i < tree->nstatements; i++) statement_place(in, i);
  for (int i = 1; i < tree->nstatements; i++) {
    const mw_statement *found = dependence_of(in, i);
    depends |= found != NULL;
    if (!found || !lacks_sync(in, found)) continue;
    if (!in->program->in_step.size) in->program->in_step = in->at[found->first];
    break;
  }
  for (int i = 1; depends && i < tree->nstatements; i++) statement_edit(in, i);
  mw_free(in->before);
  mw_free(in->facts);
}

static int compare(const void *a, const void *b) {
  const edit *one = a, *other = b;
  return one->first != other->first ? one->first - other->first : one->kind - other->kind;
}

static void edits_make(stepper *in) {
  mw_tokens *tokens = &in->program->tokens, next = mw_tokens_beside(tokens);
  int from = 0;
  qsort(in->edits, (size_t)in->nedits, sizeof *in->edits, compare);
  for (int i = 0; i < in->nedits; i++) {
    const edit *it = &in->edits[i];
    mw_tokens_copy(&next, tokens, from, it->first);
    mw_tokens_build(&next, tokens, &tokens->at[it->first - (it->kind == CLOSES)], i + 1, it->pattern, it->parts);
    from = it->last;
    mw_free(it->pattern);
  }
  mw_tokens_copy(&next, tokens, from, tokens->count + 1);
  next.count--;
  mw_tokens_become(tokens, &next);
}

bool cpu_lockstep_write(cpu_program *program) {
  stepper in = {.program = program, .at = program->tokens.at};
  if (!mw_has(&program->tokens, 0, program->tokens.count, "volatile")) return false;
  const cpu_routines *routines = cpu_routines_of(program);
  for (int i = 0; i < routines->count; i++) routine_edit(&in, &routines->at[i]);
  if (in.nedits) edits_make(&in);
  mw_free(in.edits);
  return in.nedits > 0;
}
