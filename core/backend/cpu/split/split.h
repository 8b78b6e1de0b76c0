/* SPDX-License-Identifier: MIT
 *
 * What the splitter's files share: a copy of a kernel's body as tokens, the statement tree over it, and its variables.
 * split.c is a list of passes over that; tree.c reads the statements, uniform.c knows the variables, writer.c and
 * region.c write the result.
 *
 * A pass that finds what it does not understand calls cpu_split_reject and returns. The first reason stays, and the
 * kernel is left to fibers. Nothing is guessed. */
#ifndef MW_CPU_SPLIT_H
#define MW_CPU_SPLIT_H

#include "core/backend/cpu/program/program.h"

typedef enum cpu_node_kind {
  CPU_NODE_LEAF,    /* an expression */
  CPU_NODE_DECLARE, /* variables of one declaration */
  CPU_NODE_TYPE,    /* using, typedef, __shared__, static: stays outside of thread loops */
  CPU_NODE_BLOCK,
  CPU_NODE_IF,
  CPU_NODE_FOR,
  CPU_NODE_WHILE,
  CPU_NODE_DO,
  CPU_NODE_SWITCH,
  CPU_NODE_CASE, /* case 1: or default: in a block */
  CPU_NODE_RETURN,
  CPU_NODE_BREAK,
  CPU_NODE_CONTINUE,
  CPU_NODE_BARRIER,  /* __syncthreads(); */
  CPU_NODE_WARP,     /* __syncwarp(); */
  CPU_NODE_EXCHANGE, /* mw_exchange(number, kind, value); made by inline.c */
} cpu_node_kind;

typedef struct cpu_node {
  cpu_node_kind kind;
  int statement;            /* of the body */
  int first, last;          /* tokens, ; and } included, and the pragmas before it */
  int head, head_last;      /* between the parentheses of if, for, while, do */
  int init_last, test_last; /* for: the two ; inside */
  int child, otherwise;     /* body or first statement of a block; else */
  int next, parent;         /* -1: none */
  int barrier, warp;        /* first split token of the block, of the warp in it; -1: none */
  bool lifted;              /* a loop without split points that stands outside of the thread loop all the same */
  bool bounds_check;        /* an `if` at the top that is asked once for all threads: bounds_check.c */
  int predicate;            /* CPU_NODE_IF, _FOR, _WHILE that warp operations are under: its number; 0: none */
} cpu_node;

typedef enum cpu_class {
  CPU_PRIVATE, /* one for each thread, in an array that lives across thread loops */
  CPU_LOCAL,   /* lives in one region: an ordinary variable of the thread loop */
  CPU_AGAIN,   /* cheap and constant: computed again in each region */
  CPU_UNIFORM, /* the same for all threads: an ordinary variable outside of thread loops */
} cpu_class;

typedef struct cpu_local { /* a variable declared where barriers are */
  mw_declared declarator;
  int of;    /* the same of the body's */
  int node;  /* that declares it */
  int until; /* token where its scope ends */
  cpu_class class;
  bool uniform, pointer, reference, is_const, is_auto;
  bool array, fixed; /* fixed: constexpr */
  bool constant; /* uniform for no other reason */
  bool escapes;  /* address taken, bound to a reference, or changed where that cannot be followed */
  bool typed;    /* named outside of thread loops, where only its type is known */
  int changes;   /* besides its initialiser */
  int header;    /* changed in the header of this loop only; -1 */
  int region;    /* of all uses; -1: more than one */
  int predicate; /* of the declaration */
} cpu_local;

typedef struct cpu_splitter {
  cpu_program *program;
  cpu_function *kernel;
  mw_tokens work;               /* { body } */
  mw_tokens next;               /* the same with the edits that are planned, as far as token `edited` */
  int edited, edits;
  bool changed[MW_MOST_PARAMS]; /* parameters that the kernel changes: variables of the body */
  cpu_node *nodes;
  int nnodes;
  cpu_local *locals;
  int nlocals;
  mw_body body; /* the tree over `work` */
  int *local_of; /* of each declaration in it: the variable; -1 */
  mw_text prelude; /* declarations before the block function */
  int serial;       /* of generated names */
  int predicates;
  char *why;
  size_t why_size;
  bool rejected;
  bool late;              /* the text is a template, for the sake of omitted parts of it (overload.c) */
  bool plain;             /* no barriers at all: the text is of a row of threads */
  bool masks;             /* some mask of a warp operation is looked at */
  bool sets_index;        /* functions that are called read threadIdx */
  bool returns[2];        /* some thread may leave before the end; [1]: where all pass the bounds checks */
  int bounds_check_scale; /* of the bounds checks, see cpu_bounds_check_scale; 0 if none */
} cpu_splitter;

/* The block function of a kernel, or NULL with the reason why it cannot be split (split.c). */
char *cpu_split(cpu_program *, cpu_function *, char *why, size_t why_size);
/* What the thread loops may not promise: whether the kernel is ordered, and whether it rereads (dependence.c). */
void cpu_dependences_find(const cpu_program *, cpu_function *kernel);

/* The passes, in their order; each may reject. */
typedef void cpu_pass(cpu_splitter *);
cpu_pass cpu_inline;        /* helpers with barriers and warp operations become statements (inline.c) */
cpu_pass cpu_conditions;    /* which are the same for all threads, which need a predicate (condition.c) */
cpu_pass cpu_strides;       /* grid-stride loops whose header is the same for all threads (stride.c) */
cpu_pass cpu_hoist;         /* elements that all threads read, before what they do with them (hoist.c) */
cpu_pass cpu_interchange;   /* loops outside of the thread loops (interchange.c) */
cpu_pass cpu_bounds_checks; /* conditions that are asked once for all threads (bounds_check.c) */
cpu_pass cpu_places;        /* where each variable lives (writer.c) */
cpu_pass cpu_gather;        /* elements that all threads read under a condition (hoist.c) */
/* The statements as text; first_label: two texts of one function have different labels (writer.c). */
void cpu_body_put(cpu_splitter *, mw_text *, int first_label);

static inline const mw_token *cpu_kernel_name(const cpu_splitter *in) {
  return &in->program->tokens.at[in->kernel->name];
}

/* tree.c: the statements, and what can be asked of them. */
void cpu_splitter_free(cpu_splitter *); /* what is in it */
void cpu_split_reject(cpu_splitter *, int token, const char *format, ...) __attribute__((format(printf, 3, 4)));
void cpu_work_add(cpu_splitter *, int first, int last); /* of the program's tokens, to `work` */
void cpu_tree_read(cpu_splitter *, const cpu_function *); /* whose body `work` was; nodes[0] is the body's block */
void cpu_marks_renew(cpu_splitter *); /* what passes have marked is forgotten, but split points */
/* Passes plan their edits against one tree, from the front to the back: `part` (given up) is to stand in place of tokens
 * first ... last-1. Then all are made, and the tree is read again; false: there were none. */
void cpu_edit(cpu_splitter *, int first, int last, mw_tokens *part);
bool cpu_edits_make(cpu_splitter *);
void cpu_node_interchange(cpu_splitter *, int node);
bool cpu_node_splits(const cpu_node *);              /* has a split point in it */
int cpu_node_at(const cpu_splitter *, int token);    /* the innermost statement around a token */
int cpu_loop_around(const cpu_splitter *, int node); /* the loop or switch that a break or continue leaves; -1: none */
bool cpu_is_jump(const cpu_splitter *, int node);    /* return, break or continue, in braces or not */
bool cpu_has_jump(const cpu_splitter *, const cpu_node *);    /* somewhere in it */
int cpu_return_find(const mw_tokens *, int first, int last); /* the next `return`, of no lambda; `last` */
/* What a declaration, or a for's head, declares: the next one after `after` (0: the first) of the body's; 0: none. */
int cpu_declared_next(const cpu_splitter *, const cpu_node *, int after);
const mw_declared *cpu_declared_only(const cpu_splitter *, const cpu_node *); /* of one variable; NULL */
typedef struct cpu_count { /* for (T i = ...; i < bound; i += step); of i++ the step is empty */
  mw_declared variable;
  mw_span bound, step;
} cpu_count;
bool cpu_counts(const cpu_splitter *, const cpu_node *, cpu_count *); /* false: another form, or the body changes i */
int cpu_shuffle_kind(const cpu_splitter *, const cpu_node *); /* 0 shuffle, 1 vote, 2 values; 3 on: of the block */

/* uniform.c: the variables and expressions. */
void cpu_locals_read(cpu_splitter *);
/* The first variable that is not of a statement before that one: they stand in the statements' order. */
int cpu_locals_from(const cpu_splitter *, int node);
bool cpu_declares_uniform(const cpu_splitter *, int node); /* all that the statement declares */
int cpu_context(const cpu_splitter *, int node); /* which predicate a statement is under: 2n then, 2n+1 else; 0 none */

/* known.c: what the body does to variables, and which of them are known so far. */
void cpu_uses_need(cpu_splitter *);
int cpu_declared_find(const cpu_splitter *, int first, int last, const mw_token *name); /* where a variable or type is; -1 */
bool cpu_kernel_declares(const cpu_splitter *, const mw_token *name); /* or a parameter */
int cpu_local_find(const cpu_splitter *, int token); /* the variable a name stands for; -1 */
/* CPU_ASKED: of a known type if a static_assert in the generated text holds. */
cpu_knowledge cpu_local_knows(const cpu_splitter *, const cpu_local *);
bool cpu_is_uniform(const cpu_splitter *, int first, int last); /* the same for all threads? */
bool cpu_is_pure(const cpu_splitter *, int first, int last);    /* neither loads nor calls */
/* An object that a pointer may refer to in the next region? A value is none, nor what each region has of its own. */
bool cpu_is_lasting(const cpu_splitter *, int first, int last);
/* Tells what the compiler has to confirm of an expression that is either: the macro that asks, and the tokens. */
typedef void cpu_ask(void *with, const char *macro, int first, int last);
void cpu_known_ask(const cpu_splitter *, int first, int last, cpu_ask *, void *with);

/* condition.c: is the head of a statement the same for all threads, with the variables that it declares? */
bool cpu_header_uniform(const cpu_splitter *, int node);
/* Makes the edits and asks again; false: there were none, or it rejects. */
bool cpu_conditions_renew(cpu_splitter *);
bool cpu_conditions_renew(cpu_splitter *); /* makes the edits; false: there were none, or it rejects */
/* interchange.c */
bool cpu_has_interchanged(const cpu_splitter *);
/* bounds_check.c: is the `if` true for all threads of a row (x from 0 to the last) if it is for the first and the last?
 * Returns the factor by which its values exceed the grid's indices, else 0. if (...) return; asks the opposite. */
int cpu_bounds_check_scale(const cpu_splitter *, int node);
bool cpu_leaves_if(const cpu_splitter *, int node);               /* if (...) return; */
int cpu_growing_scale(const cpu_splitter *, int first, int last); /* of a value that grows with threadIdx.x; 0: no */

/* group.c: makes barriers and warp operations of cooperative groups, some at a time; false: nothing is left to do. */
bool cpu_group_expand(cpu_splitter *);
/* Plans that the declaration goes, and the name that it declares at token `name` becomes the pattern, to the end of its
 * block. False: it stands in none. */
bool cpu_name_expand(cpu_splitter *, const cpu_node *, int name, const char *pattern, const mw_span *parts);
bool cpu_group_is(const cpu_splitter *, const mw_span *); /* an expression that makes the block or a tile of it */
/* overload.c: template <class T, int N> */
typedef struct cpu_header {
  const mw_token *names[16];
  bool types[16];
  int count;
} cpu_header;
bool cpu_header_read(const cpu_splitter *, const cpu_function *, cpu_header *); /* false: not understood */
/* helper.c: the body of function `callee` before statement `node`, whose call at `name` it replaces. */
void cpu_helper_expand(cpu_splitter *, int node, int name, int callee, mw_tokens *next);
/* overload.c: done, where the call has to be made plainer first: by default arguments, or by the choice among several
 * functions. */
bool cpu_call_clear(cpu_splitter *, int node, int call, int *callee, mw_tokens *next);
int cpu_overload_at(const cpu_splitter *, int i); /* the function that a name written by overload.c stands for; -1 */
/* static_shared.c: shared memory of a helper lasts as CUDA's does. `node`: its declaration in `body`, the helper's own.
 * NULL, or why not. Writes the function that holds it. */
const char *cpu_static_shared_put(cpu_splitter *, const cpu_function *helper, const cpu_splitter *body, int node);
/* The name of that function, for the variable at a token of the body. */
void cpu_static_shared_name(const cpu_splitter *, const cpu_function *helper, const cpu_splitter *body, int variable,
                            mw_text *);

#endif
