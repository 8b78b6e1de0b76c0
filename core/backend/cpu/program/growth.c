/* SPDX-License-Identifier: MIT
 *
 * How a value grows along a row of threads; see growth.h. One case for each kind of expression, and nothing where
 * nothing is known: a narrow type may wrap, so that of its values neither a number nor a bound is known. */
#include "core/backend/cpu/program/growth.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SCALE = 1 << 16, MOST_SMALL = 1024, MOST_VALUE = 1 << 30, MOST_DEPTH = 6 };

static const cpu_growth nothing = {0}, the_same = {.known = true, .stays = true};

/* Of what is changed by the same for all threads its growth is left. */
static cpu_growth stepped(cpu_growth value) {
  return (cpu_growth){.known = value.known, .stays = value.stays, .by = value.by};
}

static const mw_token *token_of(const cpu_grower *it, int token) {
  return &it->body->tokens->at[token];
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

static cpu_growth converted(cpu_growth value, mw_type type, bool automatic) {
  const bool number = (type.class == MW_TYPE_SCALAR || automatic) && !type.levels && !type.reference;
  if (!number)
    return value.stays && !type.reference && (type.levels || type.class != MW_TYPE_CLASS) ? the_same : nothing;
  if (automatic) return value;
  value.literal &= type.wide && value.value >= 0;
  if (type.wide) return value;
  value.scale = 0, value.parts = 0, value.coordinate = NULL;
  return value;
}

cpu_growth cpu_growth_declared(cpu_grower *it, int declared) {
  const mw_declared *own = &it->body->declared[declared];
  if (!own->init || it->depth > MOST_DEPTH) return nothing;
  it->depth++;
  const cpu_growth value = cpu_growth_of(it, own->init);
  it->depth--;
  return converted(value, own->type, own->is_auto);
}

static cpu_growth variable_growth(cpu_grower *it, const mw_expr *e) {
  const unsigned is = it->variable(it, e);
  const cpu_growth value = is & CPU_FOLLOWS ? cpu_growth_declared(it, e->of) : nothing;
  if (value.known) return is & CPU_STEPS ? stepped(value) : value;
  if (!(is & CPU_STAYS)) return nothing;
  return (cpu_growth){
      .known = true, .stays = true, .runtime = is & CPU_RUNTIME, .scale = !!(is & CPU_SMALL), .terms = 1};
}

static cpu_growth name_growth(cpu_grower *it, const mw_expr *e) {
  switch (e->binding) {
  case MW_NAME_LOCAL:
  case MW_NAME_PARAMETER:
    return variable_growth(it, e);
  case MW_NAME_VARIABLE:
  case MW_NAME_CONSTANT:
    return the_same;
  case MW_NAME_BUILTIN:
    return mw_is_builtin(token_of(it, e->op), MW_CUDA_OF_BLOCK) ? the_same : nothing;
  default:
    return e->binding == MW_NAME_UNKNOWN && e->first < e->op ? the_same : nothing; /* S::size */
  }
}

/* By itself: the program may have operators of what is no scalar. */
static cpu_growth operand_growth(cpu_grower *it, const mw_expr *e) {
  const bool operators = it->program && it->program->operators;
  if (e->type.class == MW_TYPE_CLASS && !e->type.levels) return nothing;
  return operators && !mw_type_is_plain(e->type) ? nothing : name_growth(it, e);
}

/* threadIdx.x grows by one from thread to thread; the other coordinates stay. */
static cpu_growth member_growth(cpu_grower *it, const mw_expr *e) {
  const mw_expr *object = &it->body->exprs[e->a];
  const mw_token *name = token_of(it, object->op);
  if (object->kind != MW_EXPR_NAME) return cpu_growth_of(it, e->a).stays ? the_same : nothing;
  if (object->binding != MW_NAME_BUILTIN || !mw_is_builtin(name, MW_CUDA_COORDINATE))
    return name_growth(it, object).stays ? the_same : nothing;
  const bool moves = mw_token_is(name, "threadIdx") && mw_token_is(token_of(it, e->op), "x");
  return (cpu_growth){.known = true,
                      .stays = !moves,
                      .by = moves,
                      .runtime = true,
                      .scale = 1,
                      .terms = 1,
                      .parts = moves ? CPU_THREAD_PART : 0,
                      .coordinate = name};
}

static cpu_growth number_growth(const mw_token *token) {
  char *end;
  cpu_growth value = the_same;
  const long number = strtol(token->text, &end, 0);
  while (end < token->text + token->size && strchr("uUlL", *end)) end++;
  if (end < token->text + token->size || labs(number) > MOST_VALUE) return value;
  value.literal = true, value.value = number, value.terms = 1;
  if (number >= 0 && number <= MOST_SMALL) value.scale = number ? (int)number : 1;
  return value;
}

/* ---- operators ------------------------------------------------------------------------------------------------- */

/* 0: it is too large, or one of them is not known. */
static int scales(const cpu_growth *a, const cpu_growth *b) {
  const long scale = (long)a->scale * b->scale;
  return scale < MOST_SCALE && a->terms + b->terms < MOST_SCALE ? (int)scale : 0;
}

static cpu_growth sum(cpu_growth a, cpu_growth b) {
  const bool apart = a.parts && b.parts && !(a.parts & b.parts);
  return (cpu_growth){.known = a.known && b.known,
                      .stays = a.stays && b.stays,
                      .by = a.by + b.by,
                      .literal = a.literal && b.literal && labs(a.value + b.value) <= MOST_VALUE,
                      .value = a.value + b.value,
                      .scale = scales(&a, &b),
                      .terms = a.terms + b.terms,
                      .parts = apart ? a.parts | b.parts : 0};
}

static cpu_growth negative(cpu_growth a) {
  return (cpu_growth){.known = a.known, .stays = a.stays, .by = -a.by, .literal = a.literal, .value = -a.value};
}

/* blockIdx.d * blockDim.d, which is no larger than the grid along d. */
static bool is_block_pair(const cpu_growth *a, const cpu_growth *b) {
  if (!a->coordinate || !b->coordinate || !mw_same_text(a->coordinate + 2, b->coordinate + 2)) return false;
  return (mw_token_is(a->coordinate, "blockIdx") && mw_token_is(b->coordinate, "blockDim")) ||
         (mw_token_is(b->coordinate, "blockIdx") && mw_token_is(a->coordinate, "blockDim"));
}

/* By a literal. */
static cpu_growth multiple(cpu_growth a, cpu_growth by) {
  if (labs(a.by) > MOST_VALUE || labs(a.value) > MOST_VALUE) return nothing;
  return (cpu_growth){.known = labs(a.by * by.value) <= MOST_VALUE,
                      .stays = a.stays,
                      .by = a.by * by.value,
                      .literal = a.literal && labs(a.value * by.value) <= MOST_VALUE,
                      .value = a.value * by.value,
                      .scale = scales(&a, &by),
                      .terms = a.terms};
}

static cpu_growth product(cpu_growth a, cpu_growth b) {
  const cpu_growth *moving = a.stays ? &b : &a, *still = a.stays ? &a : &b;
  if (!a.known || !b.known) return nothing;
  if (b.literal) return multiple(a, b);
  if (a.literal) return multiple(b, a);
  if (is_block_pair(&a, &b))
    return (cpu_growth){.known = true,
                        .stays = true,
                        .runtime = true,
                        .scale = 1,
                        .terms = 1,
                        .parts = mw_token_is(a.coordinate + 2, "x") ? CPU_BLOCK_PART : 0};
  if (a.stays && b.stays) return (cpu_growth){.known = true, .stays = true, .runtime = a.runtime && b.runtime};
  return (cpu_growth){.known = still->stays && (still->runtime || !moving->by)}; /* t * n */
}

static cpu_growth binary_growth(cpu_grower *it, const mw_expr *e) {
  const mw_token *op = token_of(it, e->op);
  const cpu_growth a = cpu_growth_of(it, e->a), b = cpu_growth_of(it, e->b);
  if (mw_token_is(op, "+")) return sum(a, b);
  if (mw_token_is(op, "-")) return sum(a, negative(b));
  if (mw_token_is(op, "*")) return product(a, b);
  return a.stays && b.stays ? the_same : nothing;
}

static cpu_growth unary_growth(cpu_grower *it, const mw_expr *e) {
  const mw_token *op = token_of(it, e->op);
  const cpu_growth a = cpu_growth_of(it, e->a);
  if (mw_token_is(op, "-")) return negative(a);
  if (mw_token_is(op, "+")) return a;
  if (mw_token_any(op, WORDS("++", "--"))) return stepped(a);
  return a.stays && mw_token_any(op, WORDS("!", "~")) ? the_same : nothing;
}

static bool all_stay(cpu_grower *it, int first) {
  int i = first;
  while (i && cpu_growth_of(it, i).stays) i = it->body->exprs[i].next;
  return !i;
}

static bool calls_pure(const cpu_grower *it, const mw_expr *callee) {
  return callee->kind == MW_EXPR_NAME && callee->first == callee->op && callee->binding == MW_NAME_BUILTIN &&
         mw_is_builtin(token_of(it, callee->op), MW_CUDA_PURE);
}

cpu_growth cpu_growth_of(cpu_grower *it, int expr) {
  const mw_expr *e = &it->body->exprs[expr];
  switch (e->kind) {
  case MW_EXPR_NUMBER:
    return number_growth(token_of(it, e->op));
  case MW_EXPR_SIZEOF:
    return the_same;
  case MW_EXPR_NAME:
    return operand_growth(it, e);
  case MW_EXPR_MEMBER:
    return member_growth(it, e);
  case MW_EXPR_BRACKETS:
    return cpu_growth_of(it, e->a);
  case MW_EXPR_CAST:
    return it->body->exprs[e->a].next ? nothing : converted(cpu_growth_of(it, e->a), e->type, false);
  case MW_EXPR_CALL:
    return calls_pure(it, &it->body->exprs[e->a]) && all_stay(it, e->b) ? the_same : nothing;
  case MW_EXPR_UNARY:
    return unary_growth(it, e);
  case MW_EXPR_POSTFIX:
    return stepped(cpu_growth_of(it, e->a));
  case MW_EXPR_BINARY:
    return binary_growth(it, e);
  case MW_EXPR_CONDITIONAL:
    return all_stay(it, e->a) && all_stay(it, e->b) && all_stay(it, e->c) ? the_same : nothing;
  default:
    return nothing;
  }
}

/* ---- the variables of a function ------------------------------------------------------------------------------- */

typedef struct subject {
  int of, name; /* its declaration in the body, or 0; the token of its name there, or of the parameter */
} subject;

static bool subject_find(const cpu_grower *in, const mw_expr *e, subject *out) {
  const cpu_program *program = in->program;
  const cpu_function *function = in->function;
  const mw_declared *own = &in->body->declared[e->of];
  const mw_tokens *tokens = &program->tokens;
  if (e->binding == MW_NAME_LOCAL) {
    *out = (subject){e->of, own->name};
    return true;
  }
  for (const mw_formal *it = function->formals; it < function->formals + function->nformals; it++)
    if (it->name >= 0 && mw_same_text(&tokens->at[it->name], &tokens->at[e->op])) {
      *out = (subject){0, it->name};
      return e->binding == MW_NAME_PARAMETER;
    }
  return false;
}

/* The next token from i on that stands for it, its declaration left out. */
static int use_next(const mw_body *body, const subject *it, int i) {
  if (!it->of) return mw_find_use(body->tokens, i, body->last, &body->tokens->at[it->name]);
  while (i < body->last && (i == it->name || body->bound[i - body->first] != it->of)) i++;
  return i;
}

static bool changes(const cpu_grower *in, const subject *it) {
  for (int i = in->body->first; (i = use_next(in->body, it, i)) < in->body->last; i++)
    if (cpu_write_at(in->program, in->body->tokens, i, CPU_POINTER) != CPU_READ) return true;
  return false;
}

/* Is what it is changed by, if at all, the same for all threads? steps: it is only stepped, as in
 * for (i = t; i < n; i += 256). */
static bool changes_stay(cpu_grower *in, const subject *it, bool steps) {
  for (int i = in->body->first; (i = use_next(in->body, it, i)) < in->body->last; i++) {
    const mw_token *sign = token_of(in, i + 1);
    const cpu_write change = cpu_write_at(in->program, in->body->tokens, i, CPU_VALUE);
    if (change == CPU_READ || mw_token_any(sign, WORDS("++", "--"))) continue;
    if (mw_token_any(token_of(in, i - 1), WORDS("++", "--"))) continue;
    const bool known = steps ? mw_token_any(sign, WORDS("+=", "-=")) : change == CPU_CHANGED && mw_is_assignment(sign);
    const int by = known ? mw_body_find(in->body, i + 2, in->body->last) : 0;
    if (!by || !cpu_growth_of(in, by).stays) return false;
  }
  return true;
}

/* A variable that is being asked about stays until the opposite is known: s = s + n. */
struct cpu_asked {
  int name, depth;
  bool stays;
  const struct cpu_asked *around;
};

static unsigned changed_variable(cpu_grower *in, const subject *it, bool formal) {
  const int init = formal ? 0 : in->body->declared[it->of].init;
  struct cpu_asked asked = {it->name, in->asked ? in->asked->depth + 1 : 0, true, in->asked};
  for (const struct cpu_asked *up = in->asked; up; up = up->around)
    if (up->name == it->name) return up->stays ? CPU_STAYS : 0;
  if (asked.depth > MOST_DEPTH) return 0;
  in->asked = &asked;
  const bool stays = (!init || cpu_growth_of(in, init).stays) && changes_stay(in, it, false);
  asked.stays = false;
  const bool steps = !stays && init && changes_stay(in, it, true);
  in->asked = asked.around;
  return stays ? CPU_STAYS : steps ? CPU_FOLLOWS | CPU_STEPS : 0;
}

static unsigned function_variable(cpu_grower *in, const mw_expr *e) {
  const bool formal = e->binding == MW_NAME_PARAMETER;
  const mw_declared *own = &in->body->declared[e->of];
  subject it;
  if (!subject_find(in, e, &it)) return 0;
  if (formal ? !in->function->kernel : own->is_static || own->type.class == MW_TYPE_CLASS) return 0;
  if (e->type.levels || e->type.reference) return 0;
  if (changes(in, &it)) return changed_variable(in, &it, formal) | (formal ? CPU_RUNTIME : 0);
  return formal ? CPU_STAYS | CPU_RUNTIME : own->init ? CPU_FOLLOWS : CPU_STAYS;
}

cpu_grower cpu_function_grower(const cpu_program *program, const cpu_function *function) {
  return (cpu_grower){.body = cpu_function_tree(program, function),
                      .variable = function_variable,
                      .program = program,
                      .function = function};
}
