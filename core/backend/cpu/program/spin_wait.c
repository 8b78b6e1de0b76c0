/* SPDX-License-Identifier: MIT
 *
 * Loops in which a thread waits for what another one writes: while (flag == 0); with a volatile flag, or an atomic
 * read. Threads of a block that run one after the other would never leave them, so fibers run such kernels, and yield
 * where the loop's condition is evaluated.
 *
 * A loop waits where a condition that leaves it reads memory that others may write, and no such condition moves: it
 * depends on nothing that the thread itself carries on from round to round. What moves is a counter, a value computed
 * from itself, a compare-and-swap of a value just read, a ticket. Two more do not wait: a lock that the thread gives
 * back, and a value that the thread writes in each round to see whether it stays: do { h[b] = c; } while (h[b] != c).
 * There a thread that yields between the two would let others write, which count what it takes back. A barrier in the
 * loop lets the others run.
 *
 * A loop that reads such memory, and neither waits nor counts its rounds, is counted: after very many rounds of one
 * thread the loop and split engines end the launch with an error instead of hanging. */
#include <string.h>

#include "core/backend/cpu/program/others.h"

/* Does its value depend on what the thread itself carries on from round to round; does it come from what others write? */
typedef enum question { MOVES, READS } question;

typedef enum tri { UNKNOWN, ASKED, NO, YES } tri; /* ASKED: the answer is being looked for */

typedef struct change { /* v = value; v += value; v++; T v = value; f(&v), with nobody's &: all else */
  int name, sign;       /* tokens; sign: of a declaration the name, of an argument the function's */
  int value;            /* expression; 0: none */
  tri of[READS + 1];    /* of the name, at its first change */
} change;

typedef struct loop {
  cpu_others *others;
  const cpu_routine *code;
  const mw_body *tree; /* of the code */
  const mw_token *at;
  const mw_statement *statement; /* NULL: it goes back to a label */
  int test, test_last;           /* the condition; equal: none */
  int first, last;               /* what is repeated, the condition included */
  int open;                      /* the { of its body; 0: none */
  bool stores;                   /* to memory */
  bool fenced;                   /* plain memory is read anew in each round */
  change *changes;
  int nchanges;
} loop;

static const mw_tokens *tokens_of(const loop *it) {
  return &it->others->program->tokens;
}

static cpu_effects effects_at(const loop *it, int first, int last) {
  return cpu_effects_of(it->others, it->code, first, last);
}

/* ---- the loop's parts ------------------------------------------------------------------------------------------ */

/* for, while and do; what goes over a range ends. */
static bool loop_read(loop *it, const mw_statement *head) {
  const mw_statement *all = it->tree->statements;
  const bool is_for = head->kind == MW_STATEMENT_FOR;
  if (!is_for && head->kind != MW_STATEMENT_WHILE && head->kind != MW_STATEMENT_DO) return false;
  const mw_statement *body = &all[head->child];
  it->statement = head;
  it->test = is_for ? head->init_last + 1 : head->open + 1;
  it->test_last = is_for ? head->test_last : head->close;
  it->first = is_for ? it->test : head->first;
  it->last = head->last;
  it->open = body->kind == MW_STATEMENT_BLOCK ? body->first : 0;
  return true;
}

/* again: ... goto again; */
static bool backward_read(loop *it, const mw_statement *jump) {
  const mw_statement *label = it->tree->statements, *end = label + it->tree->nstatements;
  if (jump->kind != MW_STATEMENT_GOTO) return false;
  while (label < end &&
         !(label->kind == MW_STATEMENT_LABEL && mw_same_text(&it->at[label->first], &it->at[jump->first + 1])))
    label++;
  it->statement = NULL;
  if (label == end) return false;
  it->first = it->test = it->test_last = label->first + 1;
  it->last = jump->last;
  it->open = 0;
  return label->first < jump->first;
}

/* The next if or switch of the loop; 0 if none. */
static int decision_next(const loop *it, int i) {
  const mw_statement *all = it->tree->statements;
  while (++i < it->tree->nstatements)
    if ((all[i].kind == MW_STATEMENT_IF || all[i].kind == MW_STATEMENT_SWITCH) && all[i].first >= it->first &&
        all[i].last <= it->last)
      return i;
  return 0;
}

/* Of an if or switch, with its parentheses. */
static mw_span condition_of(const loop *it, int decision) {
  const mw_statement *all = it->tree->statements;
  return (mw_span){all[decision].first + 1, all[all[decision].child].first};
}

/* The next one that decides whether token i is come to. */
static int decides_next(const loop *it, int decision, int i) {
  do decision = decision_next(it, decision);
  while (decision && !(condition_of(it, decision).last <= i && i < it->tree->statements[decision].last));
  return decision;
}

static bool test_is(const loop *it, const char *const *words) {
  return it->test + 1 == it->test_last && mw_token_any(&it->at[it->test], words);
}

/* ---- what changes from round to round -------------------------------------------------------------------------- */

static bool same_name(const loop *it, int i, int k) {
  const int a = it->tree->bound[i - it->tree->first], b = it->tree->bound[k - it->tree->first];
  return it->at[i].kind == MW_TOKEN_NAME && !mw_is_member(tokens_of(it), i) &&
         (a || b ? a == b : mw_same_text(&it->at[i], &it->at[k]));
}

/* The first use of the name at token `name` in tokens i ... last-1, or `last`. */
static int use_find(const loop *it, int i, int last, int name) {
  while (i < last && !same_name(it, i, name)) i++;
  return i;
}

/* The name that x, x.m, x[i] and *x are of; -1: none that is followed. */
static int name_of(const loop *it, int expr) {
  const mw_expr *e = &it->tree->exprs[expr];
  while (e->kind == MW_EXPR_BRACKETS || e->kind == MW_EXPR_MEMBER || e->kind == MW_EXPR_INDEX ||
         (e->kind == MW_EXPR_UNARY && mw_token_is(&it->at[e->op], "*")))
    e = &it->tree->exprs[e->a];
  return e->kind == MW_EXPR_NAME ? e->op : -1;
}

static void change_add(loop *it, int name, int sign, int value) {
  if (name < 0) return;
  it->changes = mw_grow(it->changes, (size_t)it->nchanges, sizeof *it->changes);
  it->changes[it->nchanges++] = (change){.name = name, .sign = sign, .value = value};
}

/* An argument by reference, and the object of a method. */
static void call_read(loop *it, const mw_expr *call) {
  const mw_expr *callee = &it->tree->exprs[call->a];
  for (int i = call->b; i; i = it->tree->exprs[i].next) {
    const int name = name_of(it, i);
    if (name >= 0 && cpu_write_at(it->others->program, tokens_of(it), name, CPU_VALUE) == CPU_ESCAPED)
      change_add(it, name, callee->op, 0);
  }
  if (callee->kind == MW_EXPR_MEMBER || callee->kind == MW_EXPR_ARROW)
    change_add(it, name_of(it, callee->a), callee->op, 0);
}

/* &v, for the function in whose parentheses it stands; not *(volatile int *)&v. */
static void address_read(loop *it, const mw_expr *e) {
  const int open = mw_enclosing(tokens_of(it), it->first, e->op);
  const bool call = open > 0 && mw_token_is(&it->at[open], "(") && it->at[open - 1].kind == MW_TOKEN_NAME;
  if (!mw_token_is(&it->at[e->op - 1], ")")) change_add(it, name_of(it, e->a), call ? open - 1 : e->op, 0);
}

/* *p, p[i], p->x */
static bool is_dereference(const loop *it, int i) {
  const mw_token *at = &it->at[i];
  if (mw_token_any(at, WORDS("[", "->"))) return true;
  return mw_token_is(at, "*") && !mw_ends_operand(at - 1);
}

static void assignment_read(loop *it, const mw_expr *e) {
  const mw_expr *target = &it->tree->exprs[e->a];
  change_add(it, name_of(it, e->a), e->op, e->kind == MW_EXPR_ASSIGN ? e->b : 0);
  for (int i = target->first; i < target->last; i++) it->stores |= is_dereference(it, i);
}

/* What is not followed keeps its value: a wait that is taken for none would never end. */
static void changes_read(loop *it) {
  const mw_body *tree = it->tree;
  it->nchanges = it->stores = 0;
  for (const mw_declared *own = tree->declared; own < tree->declared + tree->ndeclared; own++)
    if (own->init && own->name >= it->first && own->name < it->last) change_add(it, own->name, own->name, own->init);
  for (const mw_expr *e = tree->exprs; e < tree->exprs + tree->nexprs; e++) {
    if (e->first < it->first || e->last > it->last) continue;
    if (e->kind == MW_EXPR_CALL) call_read(it, e);
    if (e->kind == MW_EXPR_UNARY && mw_token_is(&it->at[e->op], "&")) address_read(it, e);
    if (e->kind >= MW_EXPR_UNARY && mw_is_assignment(&it->at[e->op])) assignment_read(it, e);
  }
}

static bool is_given(const loop *it, const change *of) {
  return of->sign != of->name && !mw_is_assignment(&it->at[of->sign]);
}

/* Does each round set it before anything else? */
static bool is_set_first(const loop *it, int name) {
  const int i = use_find(it, it->open ? it->open : it->first, it->last, name);
  return i < it->last && mw_token_is(&it->at[i + 1], "=") && mw_enclosing(tokens_of(it), it->first, i) == it->open &&
         mw_token_any(&it->at[i - 1], WORDS(";", "{", "}"));
}

static bool name_is(loop *, int name, question);
static bool range_is(loop *, int first, int last, question);

/* An atomic that counts, or changes memory by a value that was just read: a step of the thread's own. */
static bool atomic_moves(loop *it, int i) {
  const int close = it->at[i + 1].match, comma = mw_find_open(tokens_of(it), i + 2, close, WORDS(","));
  if (cpu_atomic_acts(it->others, i)) return true;
  return !cpu_atomic_loads(it->others, i) && range_is(it, comma, close, READS);
}

static bool token_is(loop *it, int i, question what) {
  const bool name = it->at[i].kind == MW_TOKEN_NAME && !mw_is_member(tokens_of(it), i);
  if (name && name_is(it, i, what)) return true;
  if (what == READS) return effects_at(it, i, i + 1).reads || (it->fenced && is_dereference(it, i));
  return name && (cpu_is_atomic(it->others, i) ? atomic_moves(it, i) : effects_at(it, i, i + 1).acts);
}

static bool range_is(loop *it, int first, int last, question what) {
  for (int i = first; i < last; i++) {
    if (mw_token_is(&it->at[i], "decltype")) i = it->at[i + 1].match;
    if (token_is(it, i, what)) return true;
  }
  return false;
}

/* Is the change at token i decided by what others write, and by nothing else: if (f[i]) i++? */
static bool told_by_others(const loop *it, int i) {
  for (int k = 0; (k = decides_next(it, k, i));) {
    const mw_span condition = condition_of(it, k);
    if (!it->tree->statements[k].otherwise && effects_at(it, condition.first, condition.last).reads) return true;
  }
  return false;
}

static bool decision_is(loop *it, int i, question what) {
  for (int k = 0; (k = decides_next(it, k, i));) {
    const mw_span condition = condition_of(it, k);
    if (range_is(it, condition.first, condition.last, what)) return true;
  }
  return false;
}

static bool change_moves(loop *it, const change *of, bool carried) {
  const mw_expr *value = &it->tree->exprs[of->value];
  const mw_token *sign = &it->at[of->sign];
  if (is_given(it, of)) {
    const cpu_effects found = effects_at(it, of->sign, of->sign + 1);
    return !cpu_is_atomic(it->others, of->sign) && (found.acts || !found.reads);
  }
  if (mw_is_assignment(sign) && !mw_token_any(sign, WORDS("=", "|=", "&="))) {
    if (carried) return !told_by_others(it, of->sign);
    return mw_token_any(sign, WORDS("+=", "-=", "*=", "^=")) && range_is(it, value->first, value->last, MOVES);
  }
  if (!carried && use_find(it, value->first, value->last, of->name) < value->last) return false;
  return range_is(it, value->first, value->last, MOVES) || decision_is(it, of->sign, MOVES);
}

/* ---- what others decide ---------------------------------------------------------------------------------------- */

/* Has it a fence, after which plain memory is read again, and does it write none itself? */
static bool is_fenced(const loop *it) {
  int i = it->first;
  while (i < it->last && !mw_is_builtin(&it->at[i], MW_CUDA_FENCE)) i++;
  return i < it->last && !it->stores;
}

static bool change_reads(loop *it, const change *of) {
  const mw_expr *value = &it->tree->exprs[of->value];
  if (is_given(it, of)) return effects_at(it, of->sign, of->sign + 1).reads;
  return (of->value && range_is(it, value->first, value->last, READS)) || decision_is(it, of->sign, READS);
}

static bool name_is(loop *it, int name, question what) {
  int i = 0;
  while (i < it->nchanges && !same_name(it, it->changes[i].name, name)) i++;
  if (i == it->nchanges) return false;
  tri *of = &it->changes[i].of[what];
  if (*of == ASKED) return what == MOVES; /* computed from itself */
  if (*of != UNKNOWN) return *of == YES;
  *of = ASKED;
  const int declared = it->tree->declared[it->tree->bound[name - it->tree->first]].name;
  const bool own = it->first <= declared && declared < it->last;
  const bool carried = what == MOVES && !own && !is_set_first(it, name);
  bool is = false;
  for (; i < it->nchanges && !is; i++)
    if (same_name(it, it->changes[i].name, name))
      is = what == MOVES ? change_moves(it, &it->changes[i], carried) : change_reads(it, &it->changes[i]);
  *of = is ? YES : NO;
  return is;
}

/* ---- loops that wait ------------------------------------------------------------------------------------------- */

static bool loop_waits(loop *it) {
  const bool endless = it->test == it->test_last || test_is(it, WORDS("true", "1"));
  if (!endless && range_is(it, it->test, it->test_last, MOVES)) return false;
  bool reads = !endless && range_is(it, it->test, it->test_last, READS);
  for (int i = 0; (i = decision_next(it, i));) {
    const mw_span condition = condition_of(it, i);
    const int last = it->tree->statements[i].last;
    if (!mw_has_jump(it->tree, condition.last, last)) continue;
    if (range_is(it, condition.first, condition.last, MOVES)) return false;
    reads = reads || range_is(it, condition.first, condition.last, READS);
  }
  return reads;
}

static bool same_text(const loop *it, int a, int b) {
  const mw_expr *x = &it->tree->exprs[a], *y = &it->tree->exprs[b];
  int i = x->last - x->first;
  if (i != y->last - y->first) return false;
  while (i && mw_same_text(&it->at[x->first + i - 1], &it->at[y->first + i - 1])) i--;
  return i == 0;
}

/* Does a statement that every round executes write a value of which the condition asks whether it is still there:
 * x != value, or value != x? */
static bool writes_tested(const loop *it) {
  const mw_body *tree = it->tree;
  const mw_expr *test = &tree->exprs[it->statement ? it->statement->test : 0];
  if (!it->open || test->kind != MW_EXPR_BINARY || !mw_token_is(&it->at[test->op], "!=")) return false;
  for (int i = tree->statements[it->statement->child].child; i; i = tree->statements[i].next) {
    const mw_expr *e = &tree->exprs[tree->statements[i].test];
    if (tree->statements[i].kind != MW_STATEMENT_EXPR || e->kind != MW_EXPR_ASSIGN || !mw_token_is(&it->at[e->op], "="))
      continue;
    if ((same_text(it, e->a, test->a) && same_text(it, e->b, test->b)) ||
        (same_text(it, e->a, test->b) && same_text(it, e->b, test->a)))
      return true;
  }
  return false;
}

/* Does a thread that has been at token i come to token k? Not if what stands around k, and not around i, and does not
 * ask for what i gave, sends only some there. */
static bool comes_to(const loop *it, int i, int k) {
  const mw_statement *all = it->tree->statements, *around = NULL;
  for (const mw_statement *s = all; s < all + it->tree->nstatements; s++)
    if (s->kind >= MW_STATEMENT_IF && s->kind <= MW_STATEMENT_SWITCH && s->kind != MW_STATEMENT_DO &&
        all[s->child].first <= k && k < s->last)
      around = s;
  if (!around) return true;
  const int body = all[around->child].first;
  const mw_statement *branch = &all[around->otherwise ? around->otherwise : around->child];
  if (branch->first <= i || (around->first < i && i < body) || (k < branch->first && body <= i)) return true;
  for (const change *of = it->changes; of < it->changes + it->nchanges; of++) {
    const mw_expr *value = &it->tree->exprs[of->value];
    if (value->first <= i && i < value->last && use_find(it, around->first, body, of->name) < body) return true;
  }
  return false;
}

/* Barriers, and functions in which lanes of a warp meet. */
static bool is_meeting(const loop *it, int i) {
  const cpu_program *program = it->others->program;
  bool meets = mw_is_builtin(&it->at[i], MW_CUDA_BARRIER);
  for (int k = -1; !meets && (k = cpu_callee_next(program, &program->tokens, i, k)) >= 0;)
    meets = cpu_function_has(program, &program->functions[k], "mw_meet");
  return meets;
}

/* The lock taken at token i is given back before the next meeting: atomicExch(&lock, 0). */
static bool gives_back(const loop *it, int i) {
  const mw_token *at = it->at;
  if (!mw_is_builtin(&at[i], MW_CUDA_LOCK)) return false;
  for (int k = at[i + 1].match; k < it->tree->last && !is_meeting(it, k); k++) {
    if (!mw_is_builtin(&at[k], MW_CUDA_LOCK)) continue;
    int same = 2;
    while (mw_same_text(&at[i + same], &at[k + same]) && !mw_token_is(&at[i + same], ",")) same++;
    if (mw_token_is(&at[i + same], ",") && mw_token_is(&at[k + same], ",") && comes_to(it, i, k)) return true;
  }
  return false;
}

/* ---- loops that are counted ------------------------------------------------------------------------------------ */

static bool is_compared(const loop *it, int i) {
  const char *const *const relations = WORDS("<", ">", "<=", ">=", "!=");
  return mw_token_any(&it->at[i - 1], relations) || mw_token_any(&it->at[i + 1], relations);
}

/* d && t < n */
static bool is_asked_alone(const loop *it, int i) {
  const bool begins = i == it->test || mw_token_is(&it->at[i - 1], "&&");
  return begins && (i + 1 == it->test_last || mw_token_is(&it->at[i + 1], "&&"));
}

/* Does every round step a variable of the condition, as in for (i = 0; i < n; i++)? */
static bool counts_rounds(const loop *it) {
  for (const change *of = it->changes; of < it->changes + it->nchanges; of++) {
    const mw_token *sign = &it->at[of->sign];
    if (!mw_is_assignment(sign) || mw_token_is(sign, "=") || decides_next(it, 0, of->sign)) continue;
    for (int i = it->test; i < it->test_last; i++)
      if (same_name(it, i, of->name) && (is_compared(it, i) || is_asked_alone(it, i))) return true;
  }
  return false;
}

static bool is_counted(const loop *it) {
  const cpu_effects found = effects_at(it, it->first, it->last);
  return it->statement && (found.reads || found.acts) && !counts_rounds(it);
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

/* A loop with a barrier lets the others run; do { if (x) break; ... } while (0); runs once. */
static bool is_let_be(const loop *it) {
  if (test_is(it, WORDS("0", "false"))) return true;
  for (int i = it->first; i < it->last; i++)
    if (mw_is_builtin(&it->at[i], MW_CUDA_BARRIER) || gives_back(it, i)) return true;
  return writes_tested(it);
}

static void code_read(cpu_others *others, const cpu_routine *code) {
  mw_token *at = others->program->tokens.at;
  cpu_function *function = &others->program->functions[code->owner];
  loop it = {.others = others, .at = at, .code = code, .tree = code->function.tree};
  for (int i = 1; i < it.tree->nstatements; i++) {
    const mw_statement *statement = &it.tree->statements[i];
    if (!loop_read(&it, statement) && !backward_read(&it, statement)) continue;
    changes_read(&it);
    if (is_let_be(&it)) continue;
    it.fenced = is_fenced(&it);
    if (loop_waits(&it)) {
      at[it.test].marks |= CPU_YIELDS;
      if (function->wait < 0) function->wait = statement->first;
    } else if (is_counted(&it)) {
      at[statement->first].marks |= CPU_COUNTED;
      at[it.test].marks |= CPU_COUNTS;
      function->counted = true;
    }
  }
  mw_free(it.changes);
}

void cpu_spin_waits_find(cpu_program *program) {
  cpu_others others;
  if (!cpu_others_find(&others, program)) return;
  for (int i = 0; i < others.routines->count; i++) code_read(&others, &others.routines->at[i]);
  cpu_others_free(&others);
}
