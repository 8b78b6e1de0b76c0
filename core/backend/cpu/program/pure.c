/* SPDX-License-Identifier: MIT
 *
 * Functions without side effects: int up(int a, int b) { return (a + b - 1) / b; }. For the same arguments they give
 * every thread the same, so that a bound that calls one is computed once for all threads. Whatever is not understood
 * counts as an effect. */
#include "core/backend/cpu/program/program.h"

typedef struct reading {
  const cpu_program *program;
  const cpu_function *function;
  const mw_body *body;
} reading;

/* Is a parameter of that type and no other: T x, const T &x? What a pointer points to may be a class. */
static bool takes_value(const reading *it, const mw_token *type) {
  const mw_token *at = it->program->tokens.at;
  for (int i = 0; i < it->function->nformals; i++) {
    const mw_formal *formal = &it->function->formals[i];
    const int word = formal->first + mw_token_is(&at[formal->first], "const");
    if (!formal->far && mw_same_text(&at[word], type) &&
        (word + 1 == formal->type_last || mw_token_is(&at[word + 1], "&")))
      return true;
  }
  return false;
}

/* Types of the template count where all are deduced from arguments by value, whose types are known: no class. */
static bool is_deduced(const reading *it) {
  const mw_token *at = it->program->tokens.at;
  for (int i = it->function->head_first + 1; i < it->function->head_last; i++)
    if (mw_token_any(&at[i - 1], WORDS("class", "typename")) && !takes_value(it, &at[i])) return false;
  return !mw_has(&it->program->tokens, it->function->first, it->function->last, "typename");
}

static bool type_allows(const reading *it, mw_type type) {
  if (type.class == MW_TYPE_UNKNOWN) return is_deduced(it);
  return type.class == MW_TYPE_SCALAR || (type.class == MW_TYPE_VECTOR && !it->program->operators);
}

/* What decltype gives, and auto that a pointer points to, is not known. */
static bool words_allow(const reading *it, int first, int last, bool far) {
  cpu_binder binder = {it->program, it->function};
  const mw_type type = mw_type_read(&it->program->tokens, first, last, &(mw_names){cpu_binder_meaning, &binder, false});
  return type_allows(it, type) && !mw_has(&it->program->tokens, first, last, "decltype") &&
         !(far && mw_has(&it->program->tokens, first, last, "auto"));
}

/* Parameters by value, and pointers through which nothing is written; arguments by default are numbers. */
static bool formals_allow(const reading *it) {
  const mw_token *at = it->program->tokens.at;
  for (int i = 0; i < it->function->nformals; i++) {
    const mw_formal *formal = &it->function->formals[i];
    const mw_token *value = mw_token_is(&at[formal->last], "=") ? &at[formal->last + 1] : NULL;
    const bool number = value && value->kind == MW_TOKEN_NUMBER && mw_token_any(value + 1, WORDS(",", ")"));
    if (((formal->far || formal->reference) && !mw_token_is(&at[formal->first], "const")) || (value && !number) ||
        !words_allow(it, formal->first, formal->type_last, formal->far))
      return false;
  }
  return true;
}

/* ---- expressions ----------------------------------------------------------------------------------------------- */

static bool is_pure(const reading *, int expr);

static bool are_pure(const reading *it, int first) {
  int i = first;
  while (i && is_pure(it, i)) i = it->body->exprs[i].next;
  return !i;
}

/* A variable of the function's own, a plain name. */
static bool change_allows(const reading *it, int expr) {
  const mw_expr *e = &it->body->exprs[expr];
  const mw_declared *own = &it->body->declared[e->of];
  if (e->kind == MW_EXPR_BRACKETS) return change_allows(it, e->a);
  return e->kind == MW_EXPR_NAME && !own->type.reference && !own->is_static &&
         (e->binding == MW_NAME_LOCAL || e->binding == MW_NAME_PARAMETER);
}

/* blockIdx, blockDim, gridDim */
static bool is_of_block(const reading *it, const mw_expr *e) {
  return e->binding == MW_NAME_BUILTIN && mw_is_builtin(&it->program->tokens.at[e->op], MW_CUDA_OF_BLOCK);
}

static bool name_allows(const reading *it, const mw_expr *e) {
  const mw_declared *own = &it->body->declared[e->of];
  switch (e->binding) {
  case MW_NAME_LOCAL:
    return !own->is_static && !own->is_shared && type_allows(it, own->type);
  case MW_NAME_PARAMETER:
    return true;
  case MW_NAME_VARIABLE:
  case MW_NAME_CONSTANT:
    return e->type.class && type_allows(it, e->type);
  default:
    return is_of_block(it, e) && type_allows(it, e->type);
  }
}

/* What a pointer points to, but not where a T is one. */
static bool element_allows(const reading *it, int pointer) {
  const mw_type type = it->body->exprs[pointer].type;
  return type.levels && type_allows(it, type);
}

static bool call_allows(const reading *it, const mw_expr *e) {
  const mw_expr *callee = &it->body->exprs[e->a];
  const mw_token *name = &it->program->tokens.at[callee->op];
  const bool plain = callee->last == callee->first + 1 || cpu_is_generated(name); /* mw_register<unsigned>(v) of PTX */
  if (callee->kind != MW_EXPR_NAME || !plain || !are_pure(it, e->b)) return false;
  if (callee->binding == MW_NAME_BUILTIN)
    return mw_is_builtin(name, MW_CUDA_PURE) && (!mw_token_is(name, "__ldg") || element_allows(it, e->b));
  for (int k = -1; (k = cpu_function_next(it->program, name, k)) >= 0;)
    if (!cpu_function_is_pure(it->program, &it->program->functions[k])) return false;
  return callee->binding == MW_NAME_FUNCTIONS;
}

static bool unary_allows(const reading *it, const mw_expr *e) {
  const mw_token *op = &it->program->tokens.at[e->op];
  if (mw_token_any(op, WORDS("++", "--"))) return change_allows(it, e->a);
  if (mw_token_is(op, "*") && !element_allows(it, e->a)) return false;
  return !mw_token_is(op, "&") && is_pure(it, e->a);
}

static bool is_pure(const reading *it, int expr) {
  const mw_expr *e = &it->body->exprs[expr];
  if (!expr) return true;
  switch (e->kind) {
  case MW_EXPR_NUMBER:
  case MW_EXPR_SIZEOF:
    return true;
  case MW_EXPR_NAME:
    return name_allows(it, e);
  case MW_EXPR_CALL:
    return call_allows(it, e);
  case MW_EXPR_UNARY:
    return unary_allows(it, e);
  case MW_EXPR_POSTFIX:
    return change_allows(it, e->a);
  case MW_EXPR_ASSIGN:
    return change_allows(it, e->a) && is_pure(it, e->b);
  case MW_EXPR_CAST:
  case MW_EXPR_BRACES:
    return !e->type.reference && type_allows(it, e->type) && are_pure(it, e->a);
  case MW_EXPR_MEMBER:
    return is_of_block(it, &it->body->exprs[e->a]) || is_pure(it, e->a);
  case MW_EXPR_INDEX:
    return element_allows(it, e->a) && is_pure(it, e->a) && is_pure(it, e->b);
  case MW_EXPR_BRACKETS:
  case MW_EXPR_BINARY:
  case MW_EXPR_CONDITIONAL:
    return is_pure(it, e->a) && is_pure(it, e->b) && is_pure(it, e->c);
  default:
    return false;
  }
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

/* No reference to what is not known, as decltype may give one. */
static bool declared_allows(const reading *it, const mw_declared *own) {
  return type_allows(it, own->type) && !(own->type.reference && !own->type.class) && is_pure(it, own->init);
}

static bool statement_allows(const reading *it, const mw_statement *statement) {
  if (statement->kind == MW_STATEMENT_UNKNOWN || statement->kind == MW_STATEMENT_RANGE) return false;
  if (statement->kind >= MW_STATEMENT_LABEL) return false;
  if (statement->kind == MW_STATEMENT_TYPE && statement->last > statement->first + 1) return false;
  for (int i = statement->declared; i < statement->declared + statement->ndeclared; i++)
    if (!declared_allows(it, &it->body->declared[i])) return false;
  return is_pure(it, statement->test) && is_pure(it, statement->step);
}

static bool body_allows(reading *it) {
  it->body = cpu_function_tree(it->program, it->function);
  int i = 1;
  while (i < it->body->nstatements && statement_allows(it, &it->body->statements[i])) i++;
  return i == it->body->nstatements;
}

bool cpu_function_is_pure(const cpu_program *program, const cpu_function *function) {
  cpu_function *own = &program->functions[function - program->functions];
  reading it = {.program = program, .function = function};
  if (own->is_class || own->kernel || own->body < 0 || own->recursive || own->barrier >= 0 || own->wait >= 0 ||
      own->reaches_thread)
    return false;
  if (own->pure) return own->pure == CPU_IS_PURE;
  own->pure = CPU_HAS_EFFECTS;
  if (formals_allow(&it) && words_allow(&it, own->first, own->name, false) &&
      !mw_has(&program->tokens, own->close, own->body, "->") &&
      !mw_has(&program->tokens, own->body, own->last, "volatile") && body_allows(&it))
    own->pure = CPU_IS_PURE;
  return own->pure == CPU_IS_PURE;
}
