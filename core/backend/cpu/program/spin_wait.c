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

typedef enum tri { UNKNOWN, ASKED, NO, YES } tri; /* ASKED: the answer is being looked for */

/* Does its value depend on what the thread itself carries on from round to round; does it come from what others write? */
typedef enum question { MOVES, READS } question;

typedef struct fact { /* a name in a loop */
  const cpu_token *name;
  tri of[READS + 1];
} fact;

enum { MOST_NAMES = 64 };

typedef struct loop {
  cpu_others *others;
  const cpu_token *at;
  const cpu_code *code;
  int begin;           /* its first token */
  int test, test_last; /* the condition; equal: none */
  int first, last;     /* what is repeated, the condition included */
  int open;            /* the { of its body; 0: none */
  bool fenced;         /* plain memory is read anew in each round */
  fact facts[MOST_NAMES];
  int nfacts;
} loop;

static const cpu_tokens *tokens_of(const loop *it) {
  return &it->others->program->tokens;
}

/* ---- the loop's parts ------------------------------------------------------------------------------------------ */

/* The loop that begins at token i. */
static bool loop_read(loop *it, int i, int last) {
  cpu_loop found;
  if (!cpu_loop_read(tokens_of(it), i, last, &found)) return false;
  it->begin = i, it->last = found.last;
  it->test = found.test, it->test_last = found.test_last;
  it->first = cpu_token_is(&it->at[i], "for") ? found.test : i;
  it->open = cpu_token_is(&it->at[found.body], "{") ? found.body : 0;
  it->nfacts = 0;
  return true;
}

/* again: ... goto again; */
static bool backward_read(loop *it, int i) {
  if (!cpu_token_is(&it->at[i], "goto")) return false;
  for (int k = it->code->function.body + 1; k < i; k++) {
    if (!cpu_same_text(&it->at[k], &it->at[i + 1]) || !cpu_token_is(&it->at[k + 1], ":")) continue;
    it->begin = k, it->first = it->test = it->test_last = k + 1;
    it->last = i + 2;
    it->open = it->nfacts = 0;
    return true;
  }
  return false;
}

/* Calls `visit` with each if and switch of the loop: the condition, and the end of all that it decides. */
typedef bool decision(loop *, cpu_range condition, int last, void *of);

static bool any_decision(loop *it, decision *visit, void *of) {
  for (int i = it->first; i < it->last; i++) {
    if (!cpu_token_any(&it->at[i], WORDS("if", "switch")) || !cpu_token_is(&it->at[i + 1], "(")) continue;
    const cpu_range condition = {i + 2, it->at[i + 1].match};
    if (visit(it, condition, cpu_statement_end(tokens_of(it), i, it->last), of)) return true;
  }
  return false;
}

static bool is_endless(const loop *it) {
  const cpu_token *test = &it->at[it->test];
  return it->test == it->test_last || (it->test + 1 == it->test_last && cpu_token_any(test, WORDS("true", "1")));
}

/* ---- what changes from round to round -------------------------------------------------------------------------- */

/* v = ...: the end of what is assigned, at its , ; or ). */
static int value_end(const loop *it, int i) {
  return cpu_find_open(tokens_of(it), i, it->last, WORDS(";", ",", ")"));
}

/* Past the subscripts and members of the name at i. */
static int postfix_end(const loop *it, int i) {
  for (i++;; i = cpu_token_is(&it->at[i], "[") ? it->at[i].match + 1 : i + 2)
    if (!cpu_token_any(&it->at[i], WORDS("[", ".", "->"))) return i;
}

/* The function that takes the address of, or a reference to, the name at i; or its method; -1: none. */
static int callee_of(const loop *it, int i) {
  int after = i + 1;
  while (cpu_token_any(&it->at[after], WORDS(".", "->"))) after += 2;
  if (after > i + 1 && cpu_token_is(&it->at[after], "(")) return after - 1;
  const int open = cpu_enclosing(tokens_of(it), it->begin, i);
  return open > 0 && cpu_token_is(&it->at[open], "(") && it->at[open - 1].kind == CPU_NAME ? open - 1 : -1;
}

/* What is not followed keeps its value: a wait that is taken for none would never end. */
static bool changes(const loop *it, int i, const cpu_token *name, cpu_write *how) {
  if (!cpu_same_text(&it->at[i], name) || cpu_is_member(tokens_of(it), i) || cpu_token_is(&it->at[i + 1], "("))
    return false;
  *how = cpu_write_at(it->others->program, tokens_of(it), i, CPU_VALUE);
  if (*how != CPU_ESCAPED) return *how == CPU_CHANGED;
  const int callee = callee_of(it, i);
  const bool address = cpu_token_is(&it->at[i - 1], "&");
  if (address && cpu_token_is(&it->at[i - 2], ")")) return false; /* *(volatile int *)&count */
  return address || (callee >= 0 && !cpu_token_any(&it->at[callee], WORDS("while", "if", "for", "switch")));
}

static bool is_declared(const loop *it, const cpu_token *name) {
  const mw_body *tree = it->code->tree;
  int i = 1;
  while (i < tree->ndeclared && (tree->declared[i].name < it->first || tree->declared[i].name >= it->last ||
                                 !cpu_same_text(&it->at[tree->declared[i].name], name)))
    i++;
  return i < tree->ndeclared;
}

/* Does each round set it before anything else? */
static bool is_set_first(const loop *it, const cpu_token *name) {
  const int i = cpu_find_use(tokens_of(it), it->open ? it->open : it->first, it->last, name);
  return i < it->last && cpu_token_is(&it->at[i + 1], "=") && cpu_enclosing(tokens_of(it), it->begin, i) == it->open &&
         cpu_token_any(&it->at[i - 1], WORDS(";", "{", "}"));
}

static fact *fact_of(loop *it, const cpu_token *name) {
  int i = 0;
  while (i < it->nfacts && !cpu_same_text(it->facts[i].name, name)) i++;
  if (i == MOST_NAMES) return NULL;
  if (i == it->nfacts) it->facts[it->nfacts++] = (fact){.name = name};
  return &it->facts[i];
}

static cpu_effects effects_at(const loop *it, int first, int last) {
  return cpu_effects_of(it->others, it->code, first, last);
}

static bool range_reads(loop *, int first, int last);

/* An atomic that counts, or changes memory by a value that was just read: a step of the thread's own. */
static bool atomic_moves(loop *it, int i) {
  const int close = it->at[i + 1].match, comma = cpu_find_open(tokens_of(it), i + 2, close, WORDS(","));
  if (cpu_atomic_acts(it->others, i)) return true;
  return !cpu_atomic_loads(it->others, i) && range_reads(it, comma, close);
}

static bool name_is(loop *, const cpu_token *name, question);

static bool range_moves(loop *it, int first, int last) {
  for (int i = first; i < last; i++) {
    if (cpu_token_is(&it->at[i], "decltype")) i = it->at[i + 1].match;
    if (it->at[i].kind != CPU_NAME || cpu_is_member(tokens_of(it), i)) continue;
    const bool atomic = cpu_is_atomic(it->others, i);
    if (atomic ? atomic_moves(it, i) : effects_at(it, i, i + 1).acts || name_is(it, &it->at[i], MOVES)) return true;
  }
  return false;
}

/* Is the token of number *of what it decides? */
static bool decides(loop *it, cpu_range condition, int last, void *of) {
  (void)it;
  const int i = *(const int *)of;
  return condition.last <= i && i < last;
}

/* Is the change at *of decided by what others write, and by nothing else: if (f[i]) i++? */
static bool told_by_others(loop *it, cpu_range condition, int last, void *of) {
  if (!decides(it, condition, last, of)) return false;
  const bool other = cpu_find(tokens_of(it), condition.last, last, WORDS("else")) < last;
  return !other && effects_at(it, condition.first, condition.last).reads;
}

static bool decision_moves(loop *it, cpu_range condition, int last, void *of) {
  return decides(it, condition, last, of) && range_moves(it, condition.first, condition.last);
}

static bool change_moves(loop *it, int i, cpu_write how, bool carried) {
  if (how == CPU_ESCAPED) {
    const int callee = callee_of(it, i);
    if (callee < 0) return true;
    const cpu_effects found = effects_at(it, callee, callee + 1);
    return cpu_is_atomic(it->others, callee) ? false : found.acts || !found.reads;
  }
  const int sign = postfix_end(it, i);
  const bool set = cpu_token_is(&it->at[sign], "=");
  if (!set && !cpu_token_any(&it->at[sign], WORDS("|=", "&="))) {
    if (carried) return !any_decision(it, told_by_others, &i);
    return cpu_token_any(&it->at[sign], WORDS("+=", "-=", "*=", "^=")) &&
           range_moves(it, sign + 1, value_end(it, sign + 1));
  }
  const int end = value_end(it, sign + 1);
  for (int k = sign + 1; k < end; k++)
    if (cpu_same_text(&it->at[k], &it->at[i]) && !carried) return false;
  return range_moves(it, sign + 1, end) || any_decision(it, decision_moves, &i);
}

/* ---- what others decide ---------------------------------------------------------------------------------------- */

/* *p, p[i], p->x */
static bool is_dereference(const loop *it, int i) {
  const cpu_token *at = &it->at[i];
  if (cpu_token_any(at, WORDS("[", "->"))) return true;
  return cpu_token_is(at, "*") && !cpu_ends_operand(at - 1);
}

/* Has it a fence, after which plain memory is read again, and does it write none itself? */
static bool is_fenced(const loop *it) {
  bool fence = false;
  for (int i = it->first; i < it->last; i++) {
    fence |= cpu_is_builtin(&it->at[i], CPU_FENCE);
    if (is_dereference(it, i) && cpu_is_assignment(&it->at[postfix_end(it, i + 1)])) return false;
    if (cpu_token_is(&it->at[i], "]") && cpu_is_assignment(&it->at[i + 1])) return false;
  }
  return fence;
}

static bool range_reads(loop *it, int first, int last) {
  if (effects_at(it, first, last).reads) return true;
  for (int i = first; i < last; i++) {
    if (it->fenced && is_dereference(it, i)) return true;
    if (it->at[i].kind == CPU_NAME && !cpu_is_member(tokens_of(it), i) && name_is(it, &it->at[i], READS)) return true;
  }
  return false;
}

static bool decision_reads(loop *it, cpu_range condition, int last, void *of) {
  return decides(it, condition, last, of) && range_reads(it, condition.first, condition.last);
}

static bool change_reads(loop *it, int i, cpu_write how) {
  const int sign = postfix_end(it, i), callee = how == CPU_ESCAPED ? callee_of(it, i) : -1;
  if (how == CPU_ESCAPED) return callee >= 0 && effects_at(it, callee, callee + 1).reads;
  if (cpu_is_assignment(&it->at[sign]) && range_reads(it, sign + 1, value_end(it, sign + 1))) return true;
  return any_decision(it, decision_reads, &i);
}

static bool name_is(loop *it, const cpu_token *name, question what) {
  fact *of = fact_of(it, name);
  if (!of || of->of[what] == ASKED) return what == MOVES; /* computed from itself */
  if (of->of[what] != UNKNOWN) return of->of[what] == YES;
  of->of[what] = ASKED;
  const bool carried = what == MOVES && !is_declared(it, name) && !is_set_first(it, name);
  bool is = false;
  for (int i = it->first; i < it->last && !is; i++) {
    cpu_write how;
    if (changes(it, i, name, &how)) is = what == MOVES ? change_moves(it, i, how, carried) : change_reads(it, i, how);
  }
  of->of[what] = is ? YES : NO;
  return is;
}

/* ---- loops that wait ------------------------------------------------------------------------------------------- */

typedef struct exits {
  bool move, read;
} exits;

static void exit_note(loop *it, exits *found, int first, int last) {
  if (!found->move) found->move = range_moves(it, first, last);
  if (!found->move && !found->read) found->read = range_reads(it, first, last);
}

static bool leaves(loop *it, cpu_range condition, int last, void *of) {
  exits *found = of;
  const bool jumps = cpu_find(tokens_of(it), condition.last, last, WORDS("break", "return", "continue", "goto")) < last;
  if (jumps) exit_note(it, found, condition.first, condition.last);
  return found->move;
}

/* do { if (x) break; ... } while (0); */
static bool runs_once(const loop *it) {
  const cpu_token *test = &it->at[it->test];
  return it->test + 1 == it->test_last && cpu_token_any(test, WORDS("0", "false"));
}

static bool loop_waits(loop *it) {
  exits found = {false, false};
  if (runs_once(it)) return false;
  if (!is_endless(it)) exit_note(it, &found, it->test, it->test_last);
  if (!found.move) any_decision(it, leaves, &found);
  return !found.move && found.read;
}

static bool same_range(const loop *it, int first, int last, int other, int other_last) {
  int same = 0;
  while (first + same < last && other + same < other_last &&
         cpu_same_text(&it->at[first + same], &it->at[other + same]))
    same++;
  return first + same == last && other + same == other_last;
}

/* Does the condition ask whether the value of the assignment is still there: x != value, or value != x? */
static bool asks_for(const loop *it, const cpu_range *target, const cpu_range *value) {
  const int sign = cpu_find_open(tokens_of(it), it->test, it->test_last, WORDS("!="));
  const cpu_range *const sides[] = {target, value};
  for (int k = 0; k < 2; k++)
    if (same_range(it, it->test, sign, sides[k]->first, sides[k]->last) &&
        same_range(it, sign + 1, it->test_last, sides[!k]->first, sides[!k]->last))
      return true;
  return false;
}

/* By a statement of the loop's own block, which every round executes. */
static bool writes_tested(const loop *it) {
  for (int i = it->open + 1, begin = i; it->open && i < it->at[it->open].match; i++) {
    const cpu_range target = {begin, i}, value = {i + 1, value_end(it, i + 1)};
    if (cpu_token_is(&it->at[i], "=") && asks_for(it, &target, &value)) return true;
    if (it->at[i].match > i) i = it->at[i].match;
    if (cpu_token_any(&it->at[i], WORDS(";", "}"))) begin = i + 1;
  }
  return false;
}

/* The name that the statement at token i sets; -1: none. */
static int name_set(const loop *it, int i) {
  const cpu_token *at = it->at;
  while (!cpu_token_any(&at[i], WORDS(";", "{", "}", "="))) i--;
  return cpu_token_is(&at[i], "=") ? i - 1 : -1;
}

/* Does a thread that has been at token i come to token k? Not if an if in between that does not ask for what i gave
 * sends only some there. */
static bool comes_to(const loop *it, int i, int k) {
  const cpu_token *at = it->at;
  int block = k - 1; /* the { of the block that holds k */
  while (!cpu_token_is(&at[block], "{") || at[block].match < k) block--;
  const bool single = cpu_token_is(&at[k - 1], ")");
  if (!single && block < i) return true;
  const int close = single ? k - 1 : block - 1, open = at[close].match, name = name_set(it, i);
  if (!cpu_token_is(&at[close], ")") || open > close) return false;
  return (open < i && i < close) || (name >= 0 && cpu_find_same(tokens_of(it), open, close, &at[name]) < close);
}

/* The lock taken at token i is given back before the next barrier: atomicExch(&lock, 0). */
static bool gives_back(const loop *it, int i) {
  const cpu_token *at = it->at;
  if (!cpu_is_builtin(&at[i], CPU_LOCK)) return false;
  for (int k = at[i + 1].match; k < it->code->function.last && !cpu_is_builtin(&at[k], CPU_BARRIER); k++) {
    if (!cpu_is_builtin(&at[k], CPU_LOCK)) continue;
    int same = 2;
    while (cpu_same_text(&at[i + same], &at[k + same]) && !cpu_token_is(&at[i + same], ",")) same++;
    if (cpu_token_is(&at[i + same], ",") && cpu_token_is(&at[k + same], ",") && comes_to(it, i, k)) return true;
  }
  return false;
}

/* ---- loops that are counted ------------------------------------------------------------------------------------ */

static bool is_compared(const loop *it, int i) {
  const char *const *const relations = WORDS("<", ">", "<=", ">=", "!=");
  return cpu_token_any(&it->at[i - 1], relations) || cpu_token_any(&it->at[i + 1], relations);
}

/* Does every round step a variable of the condition, as in for (i = 0; i < n; i++)? */
static bool counts_rounds(loop *it) {
  for (int i = it->first; i < it->last; i++)
    for (int k = it->test; k < it->test_last; k++) {
      cpu_write how;
      if (it->at[k].kind == CPU_NAME && changes(it, i, &it->at[k], &how) && how == CPU_CHANGED && is_compared(it, k) &&
          !cpu_token_is(&it->at[postfix_end(it, i)], "=") && !any_decision(it, decides, &i))
        return true;
    }
  return false;
}

static bool is_counted(loop *it) {
  const cpu_effects found = effects_at(it, it->first, it->last);
  return (found.reads || found.acts) && !runs_once(it) && !counts_rounds(it);
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

/* The `while` of a do loop, which has been read with its `do`. */
static bool ends_do(const loop *it, int i) {
  for (int k = it->code->function.body + 1; k < i; k++)
    if (cpu_token_is(&it->at[k], "do") && cpu_statement_end(tokens_of(it), k + 1, it->code->function.last) == i)
      return true;
  return false;
}

/* A loop with a barrier lets the others run. */
static bool is_let_be(const loop *it) {
  for (int i = it->first; i < it->last; i++)
    if (cpu_is_builtin(&it->at[i], CPU_BARRIER) || gives_back(it, i)) return true;
  return writes_tested(it);
}

static void code_read(cpu_others *others, const cpu_code *code) {
  cpu_token *at = others->program->tokens.at;
  cpu_function *function = &others->program->functions[code->owner];
  loop it = {.others = others, .at = at, .code = code};
  for (int i = code->function.body + 1; i < code->function.last; i++) {
    const bool backward = backward_read(&it, i);
    if (!backward && (!loop_read(&it, i, code->function.last) || ends_do(&it, i))) continue;
    if (is_let_be(&it)) continue;
    it.fenced = is_fenced(&it);
    if (loop_waits(&it)) {
      at[it.test].yields = true;
      if (function->wait < 0) function->wait = i;
    } else if (!backward && is_counted(&it))
      at[i].counted = at[it.test].counts = function->counted = true;
  }
}

void cpu_spin_waits_find(cpu_program *program) {
  cpu_others others;
  if (!cpu_others_find(&others, program)) return;
  for (int i = 0; i < others.ncodes; i++) code_read(&others, &others.codes[i]);
  cpu_others_free(&others);
}
