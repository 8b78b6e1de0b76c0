/* SPDX-License-Identifier: MIT
 *
 * What an expression computes, over the body's tree: is it the same for all threads, can it be computed again? One case
 * for each kind of expression, and no where nothing is known:
 *
 *   m = n / 2;   for (k = 0; k < TILE; k++)     int n and constexpr int TILE: by the words of their declarations
 *   m = p.n;     T m = s * 2;   S::size         asked of the compiler: static_assert(mw_knows<decltype((p.n))>)
 *   Index i;     op(3)   c[3] of a class   x    of which no declaration is found: each thread computes it
 *
 * An operand whose type has no operators, conversions or constructors of the program's computes what its text says: a
 * scalar, a pointer, or what the compiler finds to be one. Loads from uniform addresses count as uniform: where threads
 * could read different values, the program has a data race. */
#include <string.h>

#include "core/backend/cpu/split/split.h"
#include "core/base/interrupt.h"

typedef struct question {
  const cpu_splitter *in;
  bool again;      /* computed again: neither loads, calls nor divisions */
  int first, last; /* the tokens it is about */
  cpu_ask *ask;    /* is told what the compiler has to confirm; NULL */
  void *with;
} question;

void cpu_uses_need(cpu_splitter *in) {
  if (!in->body.uses) cpu_uses_read(in->program, &in->body);
  in->local_of = mw_realloc(in->local_of, (size_t)in->body.ndeclared * sizeof *in->local_of);
  for (int i = 0; i < in->body.ndeclared; i++) in->local_of[i] = -1;
  for (int i = 0; i < in->nlocals; i++) in->local_of[in->locals[i].of] = i;
}

/* The name of what the body only may declare is among its words (core/source/body.c). */
int cpu_declared_find(const cpu_splitter *in, int first, int last, const mw_token *name) {
  const mw_token *at = in->work.at;
  for (int i = mw_declared_from(&in->body, first); i < in->body.ndeclared && in->body.declared[i].name < last; i++) {
    const mw_declared *it = &in->body.declared[i];
    if (it->spec <= it->name && mw_same_text(&at[it->name], name) &&
        !(it->is_type && mw_token_is(&at[it->name + 2], "cooperative_groups")))
      return it->name;
  }
  return -1;
}

bool cpu_kernel_declares(const cpu_splitter *in, const mw_token *name) {
  const mw_tokens *from = &in->program->tokens;
  const int head = in->kernel->head_last, i = mw_find_same(from, in->kernel->head_first, head, name);
  const bool parameter = i < head && mw_token_any(&from->at[i + 1], WORDS(",", ">", "=")) &&
                         !mw_token_any(&from->at[i - 1], WORDS(",", "<")); /* not int of template <int> */
  return parameter || cpu_is_formal(in->program, in->kernel, name) ||
         cpu_declared_find(in, 0, in->work.count, name) >= 0;
}

/* Nothing is found and known after an interrupt, so that the passes over a long kernel end soon; engine.c throws away
 * their result. */
static bool is_interrupted(void) {
  return atomic_load_explicit(&mw_interrupted, memory_order_relaxed);
}

int cpu_local_find(const cpu_splitter *in, int token) {
  if (!in->nlocals || token < 1 || token >= in->work.count - 1) return -1;
  return is_interrupted() ? -1 : in->local_of[in->body.bound[token - 1]];
}

/* ---- what the compiler is asked -------------------------------------------------------------------------------- */

/* Is the name declared among the tokens that are asked about? Before them it is not known. */
static bool declares(const question *it, int token) {
  const mw_body *body = &it->in->body;
  const int name = body->declared[body->bound[token - 1]].name;
  return it->first <= name && name < it->last;
}

/* The operand's type is not known. */
static bool asked(const question *it, const mw_expr *e) {
  if (it->in->kernel->strict || (e->kind == MW_EXPR_NAME && !e->binding && e->first == e->op)) return false;
  if (e->kind == MW_EXPR_NAME && e->of && declares(it, e->op)) return true; /* its type was asked for */
  for (int i = e->first; i < e->last; i++)
    if (declares(it, i)) return false;
  if (it->ask) it->ask(it->with, "MW_KNOWN", e->first, e->last);
  return true;
}

/* ---- what is known --------------------------------------------------------------------------------------------- */

static bool same(const question *, int expr);

static bool type_known(const question *it, mw_type type) {
  return mw_type_is_plain(type) || (type.class == MW_TYPE_VECTOR && !it->in->program->operators);
}

/* What the language's own operators make of known operands is known, and what functions of scalars give. */
static bool is_computed(const question *it, const mw_expr *e) {
  const mw_token *op = &it->in->work.at[e->op];
  if (e->kind == MW_EXPR_CALL) return !mw_token_is(&it->in->work.at[it->in->body.exprs[e->a].op], "__ldg");
  return (e->kind >= MW_EXPR_UNARY && !(e->kind == MW_EXPR_UNARY && mw_token_is(op, "*"))) || e->kind == MW_EXPR_NUMBER;
}

/* Of an operator, or an argument. */
static bool operand(const question *it, int expr) {
  const mw_expr *e = &it->in->body.exprs[expr];
  const mw_declared *own = &it->in->body.declared[e->of];
  const int local = e->of ? it->in->local_of[e->of] : -1;
  const bool constant = local >= 0 && it->in->locals[local].constant;
  const bool automatic = e->of && own->is_auto && !own->is_shared && !constant; /* known as its initialiser is */
  if (e->kind == MW_EXPR_BRACKETS) return operand(it, e->a);
  if (!same(it, expr)) return false;
  if (is_computed(it, e) || type_known(it, e->type) || (automatic && !e->type.class)) return true;
  return e->type.class == MW_TYPE_UNKNOWN && asked(it, e);
}

static bool operands(const question *it, int first) {
  int i = first;
  while (i && operand(it, i)) i = it->in->body.exprs[i].next;
  return !i;
}

/* After a :: is it a variable outside of functions? */
static bool may_change(const question *it, const mw_token *name) {
  const mw_meaning found = cpu_binder_meaning(&(cpu_binder){it->in->program, NULL}, name);
  return found.binding == MW_NAME_VARIABLE || found.binding == MW_NAME_FUNCTIONS || /* int v(5); */
         found.type.class == MW_TYPE_CLASS;
}

static bool name_same(const question *it, const mw_expr *e) {
  const mw_token *name = &it->in->work.at[e->op];
  const mw_declared *own = &it->in->body.declared[e->of];
  const int local = e->of ? it->in->local_of[e->of] : -1;
  switch (e->binding) {
  case MW_NAME_LOCAL:
    if (own->is_shared) return !it->again;
    return local < 0 ? cpu_is_generated(name) : it->again || it->in->locals[local].uniform;
  case MW_NAME_BUILTIN:
    return mw_is_builtin(name, MW_CUDA_OF_BLOCK) ||
           (it->again && (mw_is_builtin(name, MW_CUDA_COORDINATE) || mw_token_is(name, "mw_t")));
  case MW_NAME_VARIABLE:
    return !it->again;
  case MW_NAME_UNKNOWN:
    return e->first < e->op && !(it->again && may_change(it, name)); /* S::size */
  default:
    return e->binding == MW_NAME_PARAMETER || e->binding == MW_NAME_CONSTANT;
  }
}

/* A function of CUDA's, or of the program's, that gives each thread the same for the same arguments. */
static bool call_same(const question *it, const mw_expr *e) {
  const mw_expr *callee = &it->in->body.exprs[e->a];
  const mw_token *name = &it->in->work.at[callee->op];
  const cpu_program *program = it->in->program;
  if (callee->kind != MW_EXPR_NAME || callee->last > callee->first + 1) return false;
  if (mw_token_is(name, "mw_first")) return !it->again; /* the first thread's value */
  if (callee->binding == MW_NAME_BUILTIN)
    return mw_is_builtin(name, it->again ? MW_CUDA_CHEAP : MW_CUDA_PURE) && operands(it, e->b);
  if (callee->binding != MW_NAME_FUNCTIONS || it->again || it->in->plain || cpu_is_object(program, name)) return false;
  for (int k = -1; (k = cpu_function_next(program, name, k)) >= 0;)
    if (!cpu_function_is_pure(program, &program->functions[k])) return false;
  return operands(it, e->b);
}

static bool unary_same(const question *it, const mw_expr *e) {
  const mw_token *op = &it->in->work.at[e->op];
  return !(it->again && mw_token_any(op, WORDS("*", "&", "++", "--"))) && operand(it, e->a);
}

/* A division may fail where no thread divides. */
static bool binary_same(const question *it, const mw_expr *e) {
  const mw_expr *b = &it->in->body.exprs[e->b];
  const bool divides = mw_token_any(&it->in->work.at[e->op], WORDS("/", "%"));
  const bool constant =
      b->kind == MW_EXPR_NUMBER || (b->kind == MW_EXPR_NAME && mw_token_is(&it->in->work.at[b->op], "warpSize"));
  return !(it->again && divides && !constant) && operand(it, e->a) && operand(it, e->b);
}

/* To what is not known the compiler is asked whether it is of a class. */
static bool cast_same(const question *it, const mw_expr *e) {
  if (!operands(it, e->a)) return false;
  return type_known(it, e->type) || (e->type.class == MW_TYPE_UNKNOWN && asked(it, e));
}

/* May a member be another's memory? */
static bool shares(const question *it) {
  return it->in->program->hidden.shares || it->in->program->hidden.references;
}

static bool same(const question *it, int expr) {
  const mw_expr *e = &it->in->body.exprs[expr];
  switch (e->kind) {
  case MW_EXPR_NUMBER:
  case MW_EXPR_SIZEOF:
    return true;
  case MW_EXPR_NAME:
    return name_same(it, e);
  case MW_EXPR_MEMBER: /* of whatever object: only a method could be the program's */
    return !(it->again && !mw_type_is_plain(e->type) && shares(it)) && same(it, e->a);
  case MW_EXPR_BRACKETS:
    return same(it, e->a);
  case MW_EXPR_ARROW:
    return !it->again && operand(it, e->a);
  case MW_EXPR_INDEX:
    return !it->again && operand(it, e->a) && operand(it, e->b);
  case MW_EXPR_CALL:
    return call_same(it, e);
  case MW_EXPR_CAST:
    return cast_same(it, e);
  case MW_EXPR_BRACES:
    return !it->again && type_known(it, e->type) && operands(it, e->a);
  case MW_EXPR_UNARY:
    return unary_same(it, e);
  case MW_EXPR_POSTFIX:
    return !it->again && operand(it, e->a);
  case MW_EXPR_BINARY:
    return binary_same(it, e);
  case MW_EXPR_ASSIGN:
    return !it->again && operand(it, e->a) && operand(it, e->b);
  case MW_EXPR_CONDITIONAL:
    return !it->again && operand(it, e->a) && operand(it, e->b) && operand(it, e->c);
  default:
    return false;
  }
}

/* ---- ranges of tokens ------------------------------------------------------------------------------------------ */

static bool declaration_known(const question *it, const mw_declared *own) {
  const bool asks = own->type.class == MW_TYPE_UNKNOWN && !own->is_auto;
  if (asks && it->ask) it->ask(it->with, "MW_KNOWN_TYPE", own->spec, own->spec_last);
  return type_known(it, own->type) || own->is_auto || (asks && !it->in->kernel->strict);
}

/* Past what stands at token i: a declaration's words and name, a sign; or an expression, which is to be known. 0: it is
 * not. */
static int piece_end(const question *it, int i) {
  const mw_body *body = &it->in->body;
  const int expr = mw_body_find(body, i, it->last);
  const mw_expr *e = &body->exprs[expr];
  const bool copied = e->kind == MW_EXPR_BRACES || (e->type.class == MW_TYPE_VECTOR && !e->type.levels);
  if (expr) return (copied ? same : operand)(it, expr) ? e->last : 0;
  const mw_declared *declared = &body->declared[mw_declared_from(body, i)];
  if (declared < body->declared + body->ndeclared && declared->spec >= it->first && declared->spec <= i)
    return declaration_known(it, declared) ? declared->name + 1 : 0;
  return mw_token_any(&it->in->work.at[i], WORDS(";", ",", "=", "[", "]")) ? i + 1 : 0;
}

static bool range_known(const question *it) {
  int i = is_interrupted() ? 0 : it->first;
  while (i && i < it->last) i = piece_end(it, i);
  return i > 0;
}

bool cpu_is_uniform(const cpu_splitter *in, int first, int last) {
  return range_known(&(question){in, false, first, last, NULL, NULL});
}

bool cpu_is_pure(const cpu_splitter *in, int first, int last) {
  return range_known(&(question){in, true, first, last, NULL, NULL});
}

void cpu_known_ask(const cpu_splitter *in, int first, int last, cpu_ask *ask, void *with) {
  range_known(&(question){in, !cpu_is_uniform(in, first, last), first, last, ask, with});
}

static bool is_lasting(const mw_body *body, int expr) {
  const mw_expr *e = &body->exprs[expr];
  if (e->kind == MW_EXPR_MEMBER || e->kind == MW_EXPR_BRACKETS) return is_lasting(body, e->a);
  if (e->kind == MW_EXPR_NAME) return e->binding != MW_NAME_BUILTIN;
  if (e->kind == MW_EXPR_CONDITIONAL) return is_lasting(body, e->b) && is_lasting(body, e->c);
  return e->kind == MW_EXPR_INDEX || e->kind == MW_EXPR_ARROW ||
         (e->kind == MW_EXPR_UNARY && mw_token_is(&body->tokens->at[e->op], "*"));
}

bool cpu_is_lasting(const cpu_splitter *in, int first, int last) {
  return is_lasting(&in->body, mw_body_find(&in->body, first, last));
}

/* ---- variables ------------------------------------------------------------------------------------------------- */

cpu_knowledge cpu_local_knows(const cpu_splitter *in, const cpu_local *local) {
  const mw_declared *it = &local->declarator;
  const mw_type type = it->type;
  const bool braces = it->value_last > it->value && mw_token_is(&in->work.at[it->value], "{");
  const bool hidden = type.reference && !local->reference;     /* decltype, a typedef */
  if (local->is_auto) return braces ? CPU_UNKNOWN : CPU_KNOWN; /* as its initialiser, which is asked for */
  if (type.levels > type.arrays && !type.reference && !braces) return CPU_KNOWN;
  if (type.class == MW_TYPE_SCALAR && !hidden) return CPU_SCALAR;
  if (type.class == MW_TYPE_VECTOR && !hidden) return in->program->operators ? CPU_UNKNOWN : CPU_KNOWN;
  const bool asks = type.class == MW_TYPE_UNKNOWN && !type.reference && !braces && !in->kernel->strict;
  return asks ? CPU_ASKED : CPU_UNKNOWN;
}
