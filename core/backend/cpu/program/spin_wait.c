/* SPDX-License-Identifier: MIT
 *
 * Loops in which a thread waits for what another one writes. Threads of a block that run one after the other would
 * never leave them, so fibers run such kernels, and yield where the loop's condition is evaluated:
 *
 *   while (*flag == 0) n++;    ->    while ( mw_yield(), *flag == 0) n++;     with a volatile flag
 *
 * A loop waits if it reads volatile or atomic memory, or has a fence, and is not one of these:
 *
 *   for (i = t; i < n; i += 256)                          every round steps what the condition asks for
 *   do { was = old; old = atomicCAS(p, was, was + v); } while (old != was);
 *   while (atomicCAS(&keys[i], 0, k) != 0) i++;           it is left by an atomic that takes what every round sets,
 *   while ((i = atomicAdd(next, 1)) < n)                  by a ticket,
 *   while (atomicCAS(lock, 0, 1)); ... atomicExch(lock, 0);    or by a lock that is given back
 *   do { h[b] = c; } while (h[b] != c);                   no other thread may write between the two
 *   for (;;) { __syncthreads(); if (*flag) break; }       a barrier lets the others run
 *
 * A wait in a form that is not understood is still one, and a loop that only looks like one takes longer by fibers. The
 * others that read such memory are counted, unless they count themselves: after very many rounds of one thread the loop
 * and split engines end the launch with an error instead of hanging. */
#include <string.h>

#include "core/backend/cpu/program/program.h"

/* What stands at a token, or what a function does. */
enum {
  READS = 1,    /* memory that others may write: a volatile or atomic read, or one past the caches */
  ACTS = 2,     /* an atomic that changes the memory it reads: atomicAdd(&next, 1) */
  FENCES = 4,   /* plain memory is read again */
  MEETS = 8,    /* lanes of a warp, or: */
  BARRIER = 16, /* threads of the block */
  KNOWN = 32,   /* of a function: it has been asked for */
};

typedef struct waits {
  cpu_program *program;
  const mw_tokens *tokens;
  mw_token *at;
  unsigned char *does, *effects;    /* of each token; of each word: what the functions of that name do */
  int *first, *next;                /* of each word its first routine, of that the next of the same name; + 1 */
  int *labels;                      /* of each word: the last label of that name */
  int *sets, *steps, *given, *ways; /* of each variable, the last loop that sets or steps it in every round, gets it of
                                       an atomic, or by making its own way */
  int nloops;
  const cpu_routine *code;
  const mw_body *tree; /* of the code, with: */
  const mw_statement *all;
  const mw_expr *exprs;
} waits;

typedef struct loop {
  int number, head;    /* the for, while, do or label: statements of the loop follow it */
  int first, last;     /* tokens that are repeated */
  int test, test_last; /* the condition; equal: none */
} loop;

/* ---- what stands at a token ------------------------------------------------------------------------------------ */

static bool has_text(const mw_token *token, const char *text) {
  return memmem(token->text, (size_t)token->size, text, strlen(text)) != NULL;
}

static bool is_atomic(const mw_token *at) {
  if (at->kind != MW_TOKEN_NAME || !mw_token_is(at + 1, "(")) return false;
  const int prefix = at->size > 5 && !memcmp(at->text, "__nv_", 5) ? 5 : at->size > 9 && at->text[0] == '_' ? 2 : 0;
  return at->size > prefix + 6 && !memcmp(at->text + prefix, "atomic", 6) &&
         !mw_token_any(at, WORDS("__atomic_store_n", "__atomic_thread_fence", "__atomic_signal_fence"));
}

/* An atomic that may change memory. */
static bool is_change(const mw_token *at) {
  return is_atomic(at) && !has_text(at, "load") && !has_text(at, "Load");
}

/* atomicAdd(&x, 1), not of 0, 0u, 0x0, 0.0f, (unsigned)0, or mw_register<unsigned>(0) of inline PTX */
static bool atomic_acts(const waits *in, int i) {
  static const char *const steps[] = {"Add", "Sub", "Inc", "Dec", "_add", "_sub", NULL};
  mw_span arguments[8];
  const char *const *step = steps;
  while (*step && !has_text(&in->at[i], *step)) step++;
  if (!*step || mw_arguments(in->tokens, i + 1, arguments, 8) < 2) return *step != NULL;
  const mw_token *value = &in->at[arguments[1].last - 1];
  if (mw_token_is(value, ")")) value--;
  return value->kind != MW_TOKEN_NUMBER || strspn(value->text, "0.xXuUlLfF") < (size_t)value->size;
}

static int token_does(const waits *in, int i) {
  const mw_token *at = &in->at[i];
  if (is_atomic(at)) return atomic_acts(in, i) ? ACTS : READS;
  if (mw_token_is(at, "volatile") || mw_is_builtin(at, MW_CUDA_FRESH)) return READS;
  if (mw_is_builtin(at, MW_CUDA_BARRIER)) return BARRIER | MEETS;
  return mw_is_builtin(at, MW_CUDA_WARP) ? MEETS : mw_is_builtin(at, MW_CUDA_FENCE) ? FENCES : 0;
}

static int range_does(const waits *in, int first, int last) {
  int all = 0;
  for (int i = first; i < last; i++) all |= in->does[i];
  return all;
}

static bool is_own(const waits *in, int first, int last) {
  return !(range_does(in, first, last) & (READS | ACTS));
}

/* ---- volatile names -------------------------------------------------------------------------------------------- */

/* Of variables outside of functions, and members: their words know it. */
static void volatile_note(const waits *in, int first, int last, int name) {
  cpu_binder binder = {in->program, NULL};
  const mw_type type = mw_type_read(in->tokens, first, last, &(mw_names){cpu_binder_meaning, &binder, false});
  if (type.volatiles || mw_find(in->tokens, last, name, WORDS("volatile")) < name)
    cpu_name_find(in->program, &in->at[name])->is_volatile = true;
}

static void members_read(const waits *in, int open) {
  mw_declared list[CPU_MOST_DECLARED];
  mw_declaration it;
  for (int i = open + 1; i < in->at[open].match; i = it.last) {
    it = mw_declaration_read(in->tokens, i, in->at[open].match);
    if (it.open >= 0) continue;
    const int count = mw_declared_read(in->tokens, it.begin, it.last - 1, NULL, list, CPU_MOST_DECLARED);
    for (int k = 0; k < count; k++) volatile_note(in, list[k].spec, list[k].spec_last, list[k].name);
  }
}

/* A name of what is volatile and not the thread's own, or points to it. What is not may be taken for it. */
static bool is_volatile(const waits *in, int i) {
  cpu_binder binder = {in->program, &in->code->function};
  const mw_declared *own = &in->tree->declared[in->tree->bound[i - in->tree->first]];
  if (own->name) return own->type.volatiles && (own->type.levels || own->type.reference || own->is_shared);
  const mw_meaning found = cpu_binder_meaning(&binder, &in->at[i]);
  const bool open = mw_is_member(in->tokens, i) || found.binding == MW_NAME_UNKNOWN;
  return found.type.volatiles || (open && cpu_name_find(in->program, &in->at[i])->is_volatile);
}

/* The words of a local's type read nothing, nor does atomicMax(&x, v); whose value is not used. */
static void names_read(waits *in) {
  for (const mw_declared *own = in->tree->declared; own < in->tree->declared + in->tree->ndeclared; own++)
    memset(in->does + own->spec, 0, own->spec_last > own->spec ? (size_t)(own->spec_last - own->spec) : 0);
  for (int i = in->code->function.body + 1; i < in->code->function.last - 1; i++)
    if (in->at[i].kind == MW_TOKEN_NAME && is_volatile(in, i)) in->does[i] |= READS;
  for (const mw_statement *it = in->all; it < in->all + in->tree->nstatements; it++) {
    const mw_expr *e = &in->exprs[it->test];
    const int name = in->exprs[e->a].op;
    const bool alone = it->kind == MW_STATEMENT_EXPR && e->kind == MW_EXPR_CALL && e->last < it->last;
    if (alone && in->at[name].text[0] == 'a' && is_change(&in->at[name])) in->does[name] = 0;
  }
}

/* ---- what is called -------------------------------------------------------------------------------------------- */

static int word_of(const waits *in, int i) { /* -1: none */
  const cpu_name *name = cpu_name_find(in->program, &in->at[i]);
  return name ? (int)(name - in->program->names.at) : -1;
}

/* What a call at token i does. A function that calls itself adds nothing. */
static int call_does(waits *in, int i) {
  const int word = mw_call_open(in->tokens, i) < 0 ? -1 : word_of(in, i);
  if (word < 0) return 0;
  int all = in->effects[word];
  in->effects[word] |= KNOWN;
  for (int k = all & KNOWN ? 0 : in->first[word]; k; k = in->next[k - 1]) {
    const cpu_function *it = &in->program->routines->at[k - 1].function;
    for (int n = it->body; n < it->last; n++) all |= in->does[n] | call_does(in, n);
  }
  in->effects[word] |= (unsigned char)all;
  return all & (READS | ACTS | MEETS);
}

/* And of auto f = [&] { ... }; before its call. */
static void calls_read(waits *in) {
  for (int i = in->tree->first; i < in->tree->last; i++) {
    const mw_expr *init = &in->exprs[in->tree->declared[in->tree->bound[i - in->tree->first]].init];
    if (init->kind == MW_EXPR_LAMBDA && init->last <= i) in->does[i] |= range_does(in, init->op, init->last);
    in->does[i] |= call_does(in, i);
  }
}

/* ---- what rounds set ------------------------------------------------------------------------------------------- */

static bool is_loop(const mw_statement *it) {
  return it->kind >= MW_STATEMENT_FOR && it->kind <= MW_STATEMENT_DO;
}

/* The statement after k in the loop, those of loops in it left out; 0: none. */
static int statement_next(const waits *in, const loop *it, int k) {
  const int past = k != it->head && is_loop(&in->all[k]) ? in->all[k].last : it->first;
  do k++;
  while (k < in->tree->nstatements && in->all[k].first < past);
  return k < in->tree->nstatements && in->all[k].first < it->last ? k : 0;
}

/* The first of the statements that a statement repeats or decides on. */
static int child_of(const waits *in, int k) {
  const int child = in->all[k].child;
  return in->all[child].kind == MW_STATEMENT_BLOCK ? in->all[child].child : child;
}

/* Of a local its declaration, else the word; -1: no variable. */
static int variable_of(const waits *in, int i) {
  const int own = in->tree->bound[i - in->tree->first];
  return mw_is_member(in->tokens, i) ? -1 : own ? in->program->names.count + own : word_of(in, i);
}

/* Is one of the variables in tokens first ... last-1 among those of the loop? */
static bool has_variable(const waits *in, const loop *it, const int *of, int first, int last) {
  for (int i = first; i < last; i++)
    if (variable_of(in, i) >= 0 && of[variable_of(in, i)] == it->number) return true;
  return false;
}

/* Of x = value and x++ the whole, of a declaration the value; surely: whenever the statement is executed. */
typedef void setting(waits *, const loop *, int variable, const mw_expr *, bool surely);

static bool is_step_sign(const waits *in, const mw_expr *e) {
  return e->kind == MW_EXPR_POSTFIX || (e->kind == MW_EXPR_UNARY && mw_token_any(&in->at[e->op], WORDS("++", "--")));
}

static void expr_settings(waits *in, const loop *it, int expr, bool surely, setting *note) {
  const mw_expr *e = &in->exprs[expr], *target = &in->exprs[e->a];
  const bool sets = (e->kind == MW_EXPR_ASSIGN || is_step_sign(in, e)) && target->kind == MW_EXPR_NAME;
  const bool goes_on = mw_token_is(&in->at[e->op], "&&") && it->test <= e->first && e->last <= it->test_last;
  const bool both = goes_on || !mw_token_any(&in->at[e->op], WORDS("&&", "||", "?"));
  if (e->kind == MW_EXPR_LAMBDA || e->kind == MW_EXPR_SIZEOF) return;
  if (sets && variable_of(in, target->op) >= 0) note(in, it, variable_of(in, target->op), e, surely);
  for (int i = e->a; i; i = in->exprs[i].next) expr_settings(in, it, i, surely, note);
  for (int i = e->b; i; i = in->exprs[i].next) expr_settings(in, it, i, surely && both, note);
  if (e->c) expr_settings(in, it, e->c, false, note);
}

static void statement_settings(waits *in, const loop *it, int k, bool surely, setting *note) {
  const mw_statement *one = &in->all[k];
  const mw_declared *own = in->tree->declared + one->declared;
  expr_settings(in, it, one->test, surely, note);
  if (k == it->head) expr_settings(in, it, one->step, surely, note);
  for (int i = 0; i < one->ndeclared; i++)
    if (own[i].init) note(in, it, variable_of(in, own[i].name), &in->exprs[own[i].init], surely);
}

/* x++, x += n, x = x + n by what the thread alone decides? */
static bool is_step(const waits *in, int variable, const mw_expr *e) {
  if (!is_own(in, e->first, e->last)) return false;
  if (is_step_sign(in, e)) return true;
  if (e->kind != MW_EXPR_ASSIGN || variable_of(in, in->exprs[e->a].op) != variable) return false;
  int i = in->exprs[e->b].first;
  while (i < e->last && variable_of(in, i) != variable) i++;
  return i < e->last || !mw_token_is(&in->at[e->op], "=");
}

static void set_note(waits *in, const loop *it, int variable, const mw_expr *e, bool every) {
  bool given = has_variable(in, it, in->given, e->first, e->last);
  for (int i = e->first; i < e->last; i++) given |= is_change(&in->at[i]);
  if (given) in->given[variable] = it->number;
  if (given || every) in->sets[variable] = it->number;
  if (every && is_step(in, variable, e)) in->steps[variable] = it->number;
}

static void sets_read(waits *in, const loop *it) {
  int k = it->head, direct = is_loop(&in->all[k]) ? child_of(in, k) : in->all[k].next;
  statement_settings(in, it, k, true, set_note);
  while ((k = statement_next(in, it, k))) {
    statement_settings(in, it, k, k == direct, set_note);
    if (k == direct) direct = in->all[k].next;
  }
}

/* ---- loops that do not wait ------------------------------------------------------------------------------------ */

/* Is the loop left when what the thread alone steps in every round has come somewhere? */
static bool counts_rounds(const waits *in, const loop *it, int test) {
  const mw_expr *e = &in->exprs[test];
  if (e->kind == MW_EXPR_BRACKETS) return counts_rounds(in, it, e->a);
  if (e->kind == MW_EXPR_BINARY && mw_token_is(&in->at[e->op], "&&"))
    return counts_rounds(in, it, e->a) || counts_rounds(in, it, e->b);
  return mw_find(in->tokens, e->first, e->last, WORDS("&&", "||", "?")) == e->last && is_own(in, e->first, e->last) &&
         has_variable(in, it, in->steps, e->first, e->last);
}

static bool same_text(const waits *in, int a, int b) {
  const mw_expr *x = &in->exprs[a], *y = &in->exprs[b];
  int i = x->last - x->first;
  if (i != y->last - y->first) return false;
  while (i && mw_same_text(&in->at[x->first + i - 1], &in->at[y->first + i - 1])) i--;
  return i == 0;
}

/* Is the lock given back by a statement from k on, before lanes meet: atomicExch(&lock, 0); */
static bool gives_back(const waits *in, int lock, int k) {
  for (; k && !(range_does(in, in->all[k].first, in->all[k].last) & MEETS); k = in->all[k].next) {
    const mw_expr *e = &in->exprs[in->all[k].test];
    if (e->kind == MW_EXPR_CALL && mw_is_builtin(&in->at[in->exprs[e->a].op], MW_CUDA_LOCK) &&
        same_text(in, e->b, lock))
      return true;
  }
  return false;
}

/* Does a thread make its own way there: by a ticket, an atomic of what every round sets or an atomic gave, a lock that
 * statements from k on give back, or a variable that tells of them? */
static bool has_way(const waits *in, const loop *it, int first, int last, int k) {
  if ((range_does(in, first, last) & ACTS) || has_variable(in, it, in->ways, first, last)) return true;
  for (int i = first; i < last; i++) {
    if (!is_change(&in->at[i])) continue;
    const int close = in->at[i + 1].match, call = mw_body_find(in->tree, i, close + 1);
    if (has_variable(in, it, in->sets, i + 2, close)) return true;
    if (mw_is_builtin(&in->at[i], MW_CUDA_LOCK) && gives_back(in, in->exprs[call].b, k)) return true;
  }
  return false;
}

static void way_note(waits *in, const loop *it, int variable, const mw_expr *e, bool decided) {
  const mw_expr *value = e->kind == MW_EXPR_ASSIGN ? &in->exprs[e->b] : e;
  if (decided || has_way(in, it, value->first, value->last, 0)) in->ways[variable] = it->number;
}

/* Does a jump stand behind the condition of statement k? */
static bool leaves(const waits *in, const loop *it, int k) {
  const int last = in->all[k].last;
  while ((k = statement_next(in, it, k)) && in->all[k].first < last)
    if ((in->all[k].kind >= MW_STATEMENT_RETURN && in->all[k].kind <= MW_STATEMENT_CONTINUE) ||
        in->all[k].kind == MW_STATEMENT_GOTO)
      return true;
  return false;
}

/* Is the loop left so? */
static bool makes_way(waits *in, const loop *it) {
  int decided = 0;
  for (int k = it->head; (k = statement_next(in, it, k));) {
    const mw_statement *one = &in->all[k];
    statement_settings(in, it, k, one->first < decided, way_note);
    if (one->kind != MW_STATEMENT_IF && one->kind != MW_STATEMENT_SWITCH) continue;
    if (!has_way(in, it, one->open + 1, one->close, child_of(in, k))) continue;
    if (leaves(in, it, k)) return true;
    if (decided < one->last) decided = one->last;
  }
  return has_way(in, it, it->test, it->test_last, in->all[it->head].next);
}

/* do { x = value; } while (x != value); */
static bool writes_tested(const waits *in, const loop *it) {
  const mw_expr *test = &in->exprs[in->all[it->head].test];
  if (test->kind != MW_EXPR_BINARY || !mw_token_is(&in->at[test->op], "!=")) return false;
  for (int k = child_of(in, it->head); k; k = in->all[k].next) {
    const mw_expr *e = &in->exprs[in->all[k].test];
    if (e->kind == MW_EXPR_ASSIGN && in->exprs[e->a].kind != MW_EXPR_NAME &&
        (same_text(in, e->a, test->a) || same_text(in, e->a, test->b)))
      return true;
  }
  return false;
}

/* ---- loops ----------------------------------------------------------------------------------------------------- */

/* for, while and do; what goes over a range ends. Or again: ... goto again; */
static bool loop_read(waits *in, loop *it, int i) {
  const mw_statement *one = &in->all[i];
  if (is_loop(one)) {
    const bool is_for = one->kind == MW_STATEMENT_FOR;
    const int test = is_for ? one->init_last + 1 : one->open + 1;
    *it = (loop){++in->nloops, i, is_for ? test : one->first, one->last, test, is_for ? one->test_last : one->close};
    return one->kind != MW_STATEMENT_RANGE;
  }
  const int name = one->first + (one->kind == MW_STATEMENT_GOTO), word = word_of(in, name);
  const int label = word >= 0 && in->labels[word] < i ? in->labels[word] : 0, begin = in->all[label].first + 1;
  if (word >= 0 && one->kind == MW_STATEMENT_LABEL) in->labels[word] = i;
  *it = (loop){++in->nloops, label, begin, one->last, begin, begin};
  return one->kind == MW_STATEMENT_GOTO && in->all[label].kind == MW_STATEMENT_LABEL &&
         mw_same_text(&in->at[begin - 1], &in->at[name]);
}

static void loop_judge(waits *in, const loop *it) {
  const mw_statement *head = &in->all[it->head];
  cpu_function *function = &in->program->functions[in->code->owner];
  const int does = range_does(in, it->first, it->last);
  const bool once = it->test + 1 == it->test_last && mw_token_any(&in->at[it->test], WORDS("0", "false"));
  if (!(does & (READS | ACTS | FENCES)) || (does & BARRIER) || once || writes_tested(in, it)) return;
  sets_read(in, it);
  bool whole = true; /* every round comes to the end of the body */
  for (int k = it->head; (k = statement_next(in, it, k));) whole &= in->all[k].kind != MW_STATEMENT_CONTINUE;
  const bool counts = head->test && counts_rounds(in, it, head->test);
  if (counts && whole) return;
  if ((does & (READS | FENCES)) && !counts && !makes_way(in, it)) {
    in->at[it->test].marks |= CPU_YIELDS;
    if (function->wait < 0) function->wait = head->first;
  } else if (is_loop(head) && (does & (READS | ACTS))) {
    in->at[head->first].marks |= CPU_COUNTED;
    in->at[it->test].marks |= CPU_COUNTS;
    function->counted = true;
  }
}

static void loops_read(waits *in) {
  loop it;
  for (int i = 1; i < in->tree->nstatements; i++)
    if (loop_read(in, &it, i)) loop_judge(in, &it);
}

/* ---- the program ----------------------------------------------------------------------------------------------- */

static void each_code(waits *in, void (*read)(waits *)) {
  const cpu_routines *routines = in->program->routines;
  for (in->code = routines->at; in->code < routines->at + routines->count; in->code++) {
    in->tree = in->code->function.tree;
    in->all = in->tree->statements;
    in->exprs = in->tree->exprs;
    read(in);
  }
}

static void routine_link(waits *in) {
  const cpu_function *it = &in->code->function;
  const int word = it->name < 0 || it->kernel ? -1 : word_of(in, it->name),
            index = (int)(in->code - in->program->routines->at);
  if (word < 0) return;
  in->next[index] = in->first[word];
  in->first[word] = index + 1;
}

void cpu_spin_waits_find(cpu_program *program) {
  const size_t count = (size_t)program->tokens.count + 1, words = (size_t)program->names.count + 1;
  waits in = {.program = program, .tokens = &program->tokens, .at = program->tokens.at};
  in.does = mw_calloc(count, 1);
  for (int i = 0; i < program->tokens.count; i++) in.does[i] = (unsigned char)token_does(&in, i);
  if (range_does(&in, 0, program->tokens.count) & (READS | ACTS | FENCES)) {
    const cpu_routines *routines = cpu_routines_of(program);
    const size_t variables = words + count; /* a body declares no more than it has tokens */
    in.effects = mw_calloc(words, 1);
    in.next = mw_calloc((size_t)routines->count + 1, sizeof *in.next);
    in.first = mw_calloc(2 * words + 4 * variables, sizeof *in.first);
    in.labels = in.first + words, in.sets = in.labels + words, in.steps = in.sets + variables;
    in.given = in.steps + variables, in.ways = in.given + variables;
    for (const cpu_named *it = program->globals.at; it < program->globals.at + program->globals.count; it++)
      volatile_note(&in, it->first, it->last, it->name);
    for (int i = 0; i < routines->nclasses; i++) members_read(&in, routines->classes[i]);
    each_code(&in, routine_link);
    each_code(&in, names_read);
    each_code(&in, calls_read);
    each_code(&in, loops_read);
  }
  mw_free(in.does);
  mw_free(in.effects);
  mw_free(in.first);
  mw_free(in.next);
}
