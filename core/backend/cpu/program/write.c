/* SPDX-License-Identifier: MIT
 *
 * What happens to a variable where its name stands, in one walk down the body's tree, which carries what is done with an
 * expression to the names in it. Constructs known to read a variable are listed; all else may change it, or keep its
 * address:
 *
 *   x + n    n < x    a[n]    f(n) of a parameter by value    c ? n : m    x = n       read, of scalars
 *   n = 1    n += 1   n++     n.x = 1                                                  changed
 *   &n       T &r = n   (c ? n : m) = 1   set(n)   s.put(n)   R{n}   [&] { n = 1; }    escapes
 *   p[n] = 1   p->x = 1   *p = 1   &p[n]                                               what p points to does
 *
 * Next to an operator, and where a value of another type is made of it, as much as the program's own operators and
 * constructors may do to what they take (hidden.c). Arrays are taken by value as others: who asks counts the brackets. */
#include <string.h>

#include "core/backend/cpu/program/program.h"

typedef enum use { READ, FAR_CHANGED, FAR_ESCAPED, CHANGED, ESCAPED } use; /* FAR: what it points to */

typedef struct walk {
  const cpu_program *program;
  const mw_body *body;
} walk;

static const mw_expr *expr_of(const walk *it, int expr) {
  return &it->body->exprs[expr];
}

static const mw_token *token_of(const walk *it, int token) {
  return &it->body->tokens->at[token];
}

static use most(use a, use b) {
  return a > b ? a : b;
}

static use far_of(use one) {
  return one > FAR_ESCAPED ? one - FAR_ESCAPED : one;
}

static void range_note(const walk *it, int first, int last, use one) {
  for (int i = first; i < last; i++) it->body->uses[i - it->body->first] = (unsigned char)one;
}

/* ---- what is known of an operand ------------------------------------------------------------------------------- */

/* In W (b), int (*b)(int): what reads like a function's parameter. */
static bool in_brackets(const mw_tokens *tokens, int i) {
  while (mw_token_any(&tokens->at[i - 1], WORDS("*", "&", "&&", "const", "volatile"))) i--;
  return mw_token_is(&tokens->at[i - 1], "(");
}

/* The declaration of a class's member that token i may be declared by, without its ; last 0 if none. */
static mw_span member_around(const mw_tokens *tokens, int i) {
  int open = mw_enclosing(tokens, 0, i);
  while (open > 0 && !mw_token_is(&tokens->at[open], "{")) open = mw_enclosing(tokens, 0, open);
  const int head = mw_begin_after(tokens, 0, open, WORDS(";", "{", "}"));
  if (open < 0 || mw_class_braces(tokens, head, open + 1) != open || mw_has(tokens, head, open, "enum"))
    return (mw_span){0};
  mw_declaration member = {.last = open + 1};
  while (member.last <= i) member = mw_declaration_read(tokens, member.last, tokens->at[open].match);
  const bool behind = member.open >= 0 && i > member.close && (member.body < 0 || i < member.body) &&
                      mw_find(tokens, member.close, i, WORDS(":", "->")) == i; /* of what is no function: f(1) x; */
  const bool formal = member.open >= 0 && !behind && !(i < member.close && in_brackets(tokens, i));
  return (mw_span){member.begin, formal ? 0 : member.last - 1};
}

/* Does the member's declaration say that token i is a scalar, a bit-field of one, or a pointer? */
static bool declares_scalar(const cpu_program *program, mw_span member, int i) {
  const mw_tokens *tokens = &program->tokens;
  const int end = mw_find_open(tokens, member.first, member.last, WORDS(":"));
  mw_declared list[CPU_MOST_DECLARED];
  const int count = mw_declared_read(tokens, member.first, end, NULL, list, CPU_MOST_DECLARED);
  const mw_declared *it = list;
  while (it < list + count && it->name != i) it++;
  if (it == list + count || it->dims_last > it->dims) return false;
  return mw_has(tokens, it->first, it->name, "*") ||
         cpu_type_knows(program, NULL, tokens, it->spec, it->spec_last) >= CPU_KNOWN;
}

/* Is every member of that name, in whatever class, a scalar, as far as its declaration tells? Where there is none, it
 * is CUDA's vectors' or not known. */
static bool member_scalar(const cpu_program *program, const mw_token *name) {
  const mw_tokens *tokens = &program->tokens;
  bool found = mw_token_any(name, WORDS("x", "y", "z", "w"));
  for (int i = 0; (i = mw_find_use(tokens, i + 1, tokens->count, name)) < tokens->count;) {
    const mw_span member = member_around(tokens, i);
    if (!member.last) continue;
    if (!declares_scalar(program, member, i)) return false;
    found = true;
  }
  return found;
}

static bool is_scalar_member(const walk *it, const mw_expr *e) {
  cpu_name *name = cpu_name_find(it->program, token_of(it, e->op));
  if (mw_type_is_plain(e->type)) return true;
  if (!name) return false;
  if (!name->member)
    name->member = member_scalar(it->program, token_of(it, e->op)) ? CPU_MEMBER_SCALAR : CPU_MEMBER_ANY;
  return name->member == CPU_MEMBER_SCALAR;
}

/* Are its operators and conversions the language's own? */
static bool is_known(const walk *it, int expr) {
  const mw_expr *e = expr_of(it, expr);
  if (e->kind == MW_EXPR_BRACKETS) return is_known(it, e->a);
  if (e->kind == MW_EXPR_MEMBER && is_scalar_member(it, e)) return true;
  return mw_type_is_plain(e->type) || (e->type.class == MW_TYPE_VECTOR && !it->program->operators);
}

static use hidden_of(const walk *it) {
  return it->program->hidden.operand == CPU_READ ? READ : ESCAPED;
}

/* Of an operand next to another; 0: alone. */
static use beside(const walk *it, int expr, int other) {
  const bool known = is_known(it, expr);
  if (known && (!other || is_known(it, other))) return READ;
  return !known && it->program->operators ? ESCAPED : hidden_of(it);
}

/* A value of such a type, or array of them, is made by the language's own means. */
static bool makes_plain(mw_type type) {
  return !type.reference && (type.levels > type.arrays || type.class >= MW_TYPE_VECTOR);
}

/* What becomes a T: by (T)n, T x = n, or as a parameter. */
static use converted(const walk *it, int expr, mw_type to) {
  if (makes_plain(to)) return beside(it, expr, 0);
  if (to.reference || it->program->hidden.references) return ESCAPED;
  return most(hidden_of(it), beside(it, expr, 0));
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

/* Where the call names no types, those of a template are the arguments' own. */
static use formal_use(const walk *it, const cpu_function *function, const mw_formal *formal, bool named) {
  const mw_tokens *tokens = &it->program->tokens;
  cpu_binder binder = {it->program, function};
  const mw_type type =
      mw_type_read(tokens, formal->first, formal->type_last, &(mw_names){cpu_binder_meaning, &binder, false});
  const bool own = !named && type.class == MW_TYPE_UNKNOWN && !mw_has(tokens, formal->first, formal->name, "typename");
  if (formal->reference || type.reference) return ESCAPED;
  if (makes_plain(type)) return READ;
  return own ? READ : it->program->hidden.references ? ESCAPED : hidden_of(it);
}

/* By value, as all functions of that name take their parameters: a class may be made of it. */
static use formals_use(const walk *it, const mw_token *name, bool named) {
  const cpu_program *program = it->program;
  use all = READ;
  for (int k = -1; (k = cpu_function_next(program, name, k)) >= 0;) {
    const cpu_function *function = &program->functions[k];
    if (function->is_class) return ESCAPED;
    for (int i = 0; i < function->nformals; i++)
      all = most(all, formal_use(it, function, &function->formals[i], named));
  }
  return all;
}

static use taken(const walk *it, const mw_expr *callee) {
  const mw_token *name = token_of(it, callee->op);
  const bool named = callee->last > callee->op + 1;
  unsigned char *passed = &cpu_name_find(it->program, name)->passed[named];
  if (!*passed) *passed = (unsigned char)(1 + formals_use(it, name, named));
  return (use)(*passed - 1);
}

/* The lambda that is called, by a variable that names it or in its place, and does not change itself; NULL: none is. */
static const mw_expr *lambda_of(const walk *it, const mw_expr *callee) {
  while (callee->kind == MW_EXPR_BRACKETS) callee = expr_of(it, callee->a);
  if (callee->kind == MW_EXPR_NAME && callee->of) callee = expr_of(it, it->body->declared[callee->of].init);
  const bool stays = !mw_has(it->body->tokens, callee->first, callee->last, "mutable");
  return callee->kind == MW_EXPR_LAMBDA && stays ? callee : NULL;
}

/* By value, as the lambda takes its parameters? */
static use lambda_formals_use(const walk *it, const mw_expr *lambda) {
  for (const mw_declared *own = it->body->declared; own < it->body->declared + it->body->ndeclared; own++)
    if (lambda->first < own->name && own->name < lambda->op && !makes_plain(own->type)) return ESCAPED;
  return READ;
}

/* What a call does to its arguments. */
static use arguments_use(const walk *it, const mw_expr *callee) {
  const mw_token *name = token_of(it, callee->op);
  const bool plain = callee->last == callee->op + 1 ||
                     (!it->program->hidden.references && mw_find(it->body->tokens, callee->op, callee->last,
                                                                 WORDS("&", "&&", "decltype")) == callee->last);
  if (lambda_of(it, callee)) return lambda_formals_use(it, lambda_of(it, callee));
  if (callee->kind != MW_EXPR_NAME || callee->first < callee->op || !plain) return ESCAPED;
  if (callee->binding == MW_NAME_BUILTIN || cpu_is_generated(name)) return READ;
  if (callee->binding == MW_NAME_FUNCTIONS && !cpu_is_object(it->program, name)) return taken(it, callee);
  if (callee->binding != MW_NAME_UNKNOWN || (it->program->opens && !mw_is_builtin(name, ~0u)) ||
      mw_token_any(name, WORDS("__builtin_addressof", "addressof")))
    return ESCAPED;
  return cpu_is_declared(it->program, name) ? ESCAPED : READ;
}

/* ---- expressions ----------------------------------------------------------------------------------------------- */

static void expr_walk(const walk *, int expr, use);

/* { n, m }, { { n }, { m } } of an array of arrays: a class may hold a reference to what it is made of. */
static void braces_walk(const walk *it, const mw_expr *e, mw_type type) {
  mw_type element = type;
  if (type.arrays) element.levels--, element.arrays--;
  for (int i = e->a; i; i = expr_of(it, i)->next) {
    const mw_expr *inner = expr_of(it, i);
    if (inner->kind == MW_EXPR_BRACES && inner->op == inner->first)
      braces_walk(it, inner, element);
    else
      expr_walk(it, i, makes_plain(type) ? beside(it, i, 0) : ESCAPED);
  }
}

static void cast_walk(const walk *it, const mw_expr *e) {
  const bool named = mw_token_any(token_of(it, e->first), WORDS("static_cast", "reinterpret_cast", "const_cast"));
  const char *standard = it->program->source.standard; /* from C++20 on any cast makes an aggregate */
  const bool constructs =
      (!named && token_of(it, e->op)->match == e->last - 1) || (standard && !strcmp(standard, "c++20"));
  for (int i = e->a; i; i = expr_of(it, i)->next)
    expr_walk(it, i, constructs && !makes_plain(e->type) ? ESCAPED : converted(it, i, e->type));
}

/* a[b], *a: an array's element is part of it. */
static use element_use(const walk *it, int expr, use one) {
  const mw_type type = expr_of(it, expr)->type;
  return type.arrays ? one : type.levels ? far_of(one) : one == CHANGED ? CHANGED : ESCAPED;
}

/* Of an object only a scalar member is read; what else is done to it, or to an array in it, is not followed. */
static use object_use(const walk *it, const mw_expr *e, use one) {
  return one < CHANGED && !is_scalar_member(it, e) ? ESCAPED : one;
}

static void unary_walk(const walk *it, const mw_expr *e, use one) {
  const mw_token *op = token_of(it, e->op);
  if (mw_token_is(op, "&"))
    one = ESCAPED;
  else if (mw_token_any(op, WORDS("++", "--")))
    one = most(one, CHANGED);
  else if (mw_token_is(op, "*") && expr_of(it, e->a)->type.levels)
    one = element_use(it, e->a, one);
  else
    one = most(one, beside(it, e->a, 0));
  expr_walk(it, e->a, one);
}

static void binary_walk(const walk *it, const mw_expr *e, use one) {
  const use left = beside(it, e->a, e->b), right = beside(it, e->b, e->a);
  expr_walk(it, e->a, left);
  expr_walk(it, e->b, mw_token_is(token_of(it, e->op), ",") ? most(one, right) : right);
}

static void assign_walk(const walk *it, const mw_expr *e, use one) {
  const bool plain = mw_token_is(token_of(it, e->op), "=") && makes_plain(expr_of(it, e->a)->type);
  expr_walk(it, e->a, most(one, CHANGED));
  expr_walk(it, e->b, beside(it, e->b, plain ? 0 : e->a));
}

static void call_walk(const walk *it, const mw_expr *e) {
  const mw_expr *callee = expr_of(it, e->a);
  const bool function =
      lambda_of(it, callee) ||
      (callee->kind == MW_EXPR_NAME && (callee->binding == MW_NAME_UNKNOWN || callee->binding >= MW_NAME_FUNCTIONS));
  const use all = arguments_use(it, callee);
  expr_walk(it, e->a, function ? READ : ESCAPED);
  for (int i = e->b; i; i = expr_of(it, i)->next) expr_walk(it, i, most(all, beside(it, i, 0)));
}

static void statements_walk(const walk *, int first);

bool cpu_refers_alone(const mw_body *body, const mw_expr *lambda) {
  const mw_token *at = body->tokens->at;
  const int open = lambda->first, close = at[open].match;
  bool alone =
      mw_token_is(&at[open], "[") && mw_find(body->tokens, close, lambda->last, WORDS("static")) == lambda->last;
  for (int i = open + 1; alone && i < close; i++)
    alone = mw_token_any(&at[i], WORDS("&", ",")) || (at[i].kind == MW_TOKEN_NAME && mw_token_is(&at[i - 1], "&"));
  return alone;
}

/* What a lambda does to variables from outside is done where it is called, which is not followed: it reads them, or they
 * escape. */
static void lambda_walk(const walk *it, const mw_expr *e) {
  unsigned char *uses = it->body->uses - it->body->first;
  if (!cpu_refers_alone(it->body, e) || mw_has(it->body->tokens, e->first, e->op, "->")) return;
  range_note(it, e->first, token_of(it, e->first)->match, READ);
  statements_walk(it, it->body->statements[e->c].child);
  for (int i = e->op; i < e->last; i++) {
    const int own = it->body->bound[i - it->body->first];
    if (!(own && it->body->declared[own].name > e->first) && far_of(uses[i]) == FAR_CHANGED) uses[i]++;
  }
}

static void expr_walk(const walk *it, int expr, use one) {
  const mw_expr *e = expr_of(it, expr);
  switch (e->kind) {
  case MW_EXPR_NAME:
    range_note(it, e->first, e->last, READ); /* and the arguments of a template */
    range_note(it, e->op, e->op + 1, one);
    break;
  case MW_EXPR_SIZEOF:
    range_note(it, e->first, e->last, READ);
    break;
  case MW_EXPR_MEMBER:
    expr_walk(it, e->a, object_use(it, e, one));
    break;
  case MW_EXPR_ARROW:
    expr_walk(it, e->a, expr_of(it, e->a)->type.arrays ? ESCAPED : element_use(it, e->a, one));
    break;
  case MW_EXPR_INDEX:
    expr_walk(it, e->a, element_use(it, e->a, one));
    expr_walk(it, e->b, beside(it, e->b, e->a));
    break;
  case MW_EXPR_CALL:
    call_walk(it, e);
    break;
  case MW_EXPR_CAST:
    range_note(it, e->first, e->a ? expr_of(it, e->a)->first : e->last, READ);
    cast_walk(it, e);
    break;
  case MW_EXPR_BRACES:
    range_note(it, e->first, e->op, READ);
    braces_walk(it, e, e->type);
    break;
  case MW_EXPR_BRACKETS:
    expr_walk(it, e->a, one);
    break;
  case MW_EXPR_UNARY:
    unary_walk(it, e, one);
    break;
  case MW_EXPR_POSTFIX:
    expr_walk(it, e->a, is_known(it, e->a) ? CHANGED : most(one, CHANGED));
    break;
  case MW_EXPR_BINARY:
    binary_walk(it, e, one);
    break;
  case MW_EXPR_ASSIGN:
    assign_walk(it, e, one);
    break;
  case MW_EXPR_LAMBDA:
    lambda_walk(it, e);
    break;
  case MW_EXPR_CONDITIONAL:
    expr_walk(it, e->a, beside(it, e->a, 0));
    expr_walk(it, e->b, most(one, beside(it, e->b, e->c)));
    expr_walk(it, e->c, most(one, beside(it, e->c, e->b)));
    break;
  default:
    break; /* unknown: each name in it escapes */
  }
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static void declared_walk(const walk *it, const mw_declared *own) {
  int end = own->name + 1;
  while (mw_token_is(token_of(it, end), "[")) end = token_of(it, end)->match + 1;
  range_note(it, own->spec, own->spec_last, READ);
  range_note(it, own->name, end, READ); /* sizes are constants */
  if (!own->init) return;
  range_note(it, own->name, own->name + 1, CHANGED);
  expr_walk(it, own->init, converted(it, own->init, own->type));
}

static use test_use(const walk *it, const mw_statement *statement) {
  if (statement->kind == MW_STATEMENT_RANGE) return ESCAPED; /* begin(n), end(n) */
  return statement->kind == MW_STATEMENT_EXPR ? READ : beside(it, statement->test, 0);
}

static void statements_walk(const walk *it, int first) {
  for (int i = first; i; i = it->body->statements[i].next) {
    const mw_statement *one = &it->body->statements[i];
    const bool evaluates = one->kind != MW_STATEMENT_TYPE ||
                           !mw_token_any(token_of(it, one->first), WORDS("using", "typedef", "static_assert"));
    if (!evaluates) range_note(it, one->first, one->last, READ);
    if (one->kind == MW_STATEMENT_UNKNOWN) continue; /* each name in it escapes */
    statements_walk(it, one->head);
    for (int k = one->declared; k < one->declared + one->ndeclared; k++) declared_walk(it, &it->body->declared[k]);
    if (one->test) expr_walk(it, one->test, test_use(it, one));
    if (one->step) expr_walk(it, one->step, READ);
    statements_walk(it, one->child);
    statements_walk(it, one->otherwise);
  }
}

void cpu_uses_read(const cpu_program *program, mw_body *body) {
  const walk it = {program, body};
  body->uses = mw_calloc((size_t)(body->last - body->first) + 1, sizeof *body->uses);
  range_note(&it, body->first, body->last, ESCAPED);
  statements_walk(&it, body->statements[0].child);
}

cpu_write cpu_use_at(const mw_body *body, int token, cpu_kind kind) {
  if (!body->uses || token < body->first || token >= body->last) return CPU_ESCAPED;
  const use one = body->uses[token - body->first];
  return (cpu_write)(one <= FAR_ESCAPED && kind == CPU_POINTER ? READ : far_of(one));
}

bool cpu_is_written(const mw_body *body, int first, int last, const mw_token *name) {
  for (int i = first; (i = mw_find_use(body->tokens, i, last, name)) < last; i++)
    if (cpu_use_at(body, i, CPU_POINTER) != CPU_READ) return true;
  return false;
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

mw_body *cpu_tree_around(const cpu_program *program, int i) {
  const cpu_function *it = program->functions, *end = it + program->nfunctions;
  while (it < end && !(it->body >= 0 && it->body <= i && i < it->last)) it++;
  if (it == end) return NULL;
  if (!it->is_class) return cpu_function_tree(program, it);
  const cpu_routines *all = cpu_routines_of(program);
  const cpu_function *found = NULL;
  for (int k = 0; k < all->count; k++) {
    const cpu_function *one = &all->at[k].function;
    if (one->body <= i && i < one->last && (!found || found->body < one->body)) found = one;
  }
  return found ? found->tree : NULL;
}

cpu_write cpu_write_at(const cpu_program *program, const mw_tokens *tokens, int i, cpu_kind kind) {
  mw_body *body = tokens == &program->tokens ? cpu_tree_around(program, i) : NULL;
  if (!body) return CPU_ESCAPED;
  if (!body->uses) cpu_uses_read(program, body);
  return cpu_use_at(body, i, kind);
}

bool cpu_written_in(const cpu_program *program, const mw_tokens *tokens, int first, int last, const mw_token *name,
                    cpu_kind kind) {
  for (int i = first; (i = mw_find_use(tokens, i, last, name)) < last; i++)
    if (cpu_write_at(program, tokens, i, kind) != CPU_READ) return true;
  return false;
}
