/* SPDX-License-Identifier: MIT
 *
 * What the splitter's files share: a copy of a kernel's body as tokens, the statement tree over it, and its variables.
 * split.c is the way through them: tree.c reads statements, inline.c makes statements of helpers (helper.c, keep.c) and
 * warp operations, uniform.c finds what is the same for all threads or can be computed again, lift.c which loops and
 * guards (guard.c) stand outside of the thread loops, region.c writes one stretch between two split points.
 *
 * Whoever finds what it does not understand calls cpu_split_refuse and returns: the first reason stays, the kernel is
 * left to fibers. Nothing is guessed. */
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
  CPU_NODE_SWITCH, /* and whatever else has a body; never split */
  CPU_NODE_RETURN,
  CPU_NODE_BREAK,
  CPU_NODE_CONTINUE,
  CPU_NODE_BARRIER,  /* __syncthreads(); */
  CPU_NODE_WARP,     /* __syncwarp(); */
  CPU_NODE_EXCHANGE, /* mw_exchange(number, kind, value); made by inline.c */
} cpu_node_kind;

typedef struct cpu_node {
  cpu_node_kind kind;
  int first, last;          /* tokens, ; and } included */
  int head, head_last;      /* between the parentheses of if, for, while, do */
  int init_last, test_last; /* for: the two ; inside */
  int child, otherwise;     /* body or first statement of a block; else */
  int next, parent;         /* -1: none */
  int barrier, warp;        /* first split token of the block, of the warp in it; -1: none */
  bool lifted;              /* a loop without split points that stands outside of the thread loop all the same */
  bool guard;               /* an `if` at the top that is asked once for all threads: lift.c */
  int predicate;            /* CPU_NODE_IF, _FOR, _WHILE that warp operations are under: its number; 0: none */
} cpu_node;

typedef enum cpu_class {
  CPU_PRIVATE, /* one for each thread, in an array that lives across thread loops */
  CPU_LOCAL,   /* lives in one region: an ordinary variable of the thread loop */
  CPU_AGAIN,   /* cheap and constant: computed again in each region */
  CPU_UNIFORM, /* the same for all threads: an ordinary variable outside of thread loops */
} cpu_class;

typedef struct cpu_local { /* a variable declared where barriers are */
  cpu_declarator declarator;
  int node;  /* that declares it */
  int until; /* token where its scope ends */
  cpu_class class;
  bool uniform, pointer, reference, is_const, is_auto;
  bool escapes;  /* address taken, bound to a reference, or changed where that cannot be followed */
  bool typed;    /* its type is needed outside of thread loops */
  int changes;   /* besides its initialiser */
  int header;    /* changed in the header of this loop only; -1 */
  int region;    /* of all uses; -1: more than one */
  int predicate; /* of the declaration */
} cpu_local;

typedef struct cpu_splitter {
  cpu_program *program;
  cpu_function *kernel;
  cpu_tokens work;               /* { body } */
  bool changed[CPU_MOST_PARAMS]; /* parameters that the kernel changes: variables of the body */
  cpu_node *nodes;
  int nnodes;
  cpu_local *locals;
  int nlocals;
  cpu_text prelude; /* declarations in front of the block function */
  int serial;       /* of generated names */
  int predicates;
  char *why;
  size_t why_size;
  bool refused;
  bool plain;      /* no barriers at all: the text is of a row of threads */
  bool lift;       /* loops may be lifted */
  int guard_scale; /* of the guards, see cpu_guard_scale; 0: there are none */
} cpu_splitter;

enum { CPU_MOST_SEGMENTS = 512, CPU_MOST_GUARDS = 32 };

typedef enum cpu_segment_kind {
  CPU_SEGMENT_STATEMENT,
  CPU_SEGMENT_DECLARE,
  CPU_SEGMENT_EXCHANGE,
  CPU_SEGMENT_PREDICATE,
  CPU_SEGMENT_ENTER
} cpu_segment_kind;

typedef struct cpu_segment { /* a piece of a region */
  cpu_segment_kind kind;
  int first, last; /* tokens */
  int node;
} cpu_segment;

typedef struct cpu_writer {
  cpu_splitter *in;
  cpu_text *out; /* NULL in the first walk */
  int *regions;  /* of each token; -1: in none */
  int region;    /* the open one */
  int last_region;
  cpu_segment open[CPU_MOST_SEGMENTS];
  int nopen;
  int guards[CPU_MOST_GUARDS][2]; /* predicate and the value that lets a thread pass */
  int nguards;
  bool passed;     /* this walk is for threads that pass all guards */
  bool returns;    /* some thread may leave before the end: the others must know */
  int copy;        /* of a region's text: labels differ */
  bool sets_index; /* helpers read threadIdx */
} cpu_writer;

/* The block function of a kernel, or NULL with the reason why it cannot be split (split.c). */
char *cpu_split(cpu_program *, cpu_function *, char *why, size_t why_size);
/* Must the thread loops leave the order within a thread to the compiler's own analysis (order.c)? */
bool cpu_needs_order(const cpu_program *, const cpu_function *kernel);

/* tree.c: the statements, and what can be asked of them. */
void cpu_split_refuse(cpu_splitter *, int token, const char *format, ...) __attribute__((format(printf, 3, 4)));
void cpu_tree_read(cpu_splitter *); /* nodes[0] is the body's block */
/* Puts `part` (given up) in place of the tokens first ... last-1 and reads the tree again. */
void cpu_tokens_replace(cpu_splitter *, int first, int last, cpu_tokens *part);
void cpu_node_lift(cpu_splitter *, int node);
bool cpu_node_splits(const cpu_node *);           /* has a split point in it */
int cpu_node_at(const cpu_splitter *, int token); /* the innermost statement around a token */
/* The loop or switch that a break or continue at `node` is for; -1: none. */
int cpu_loop_around(const cpu_splitter *, int node, bool is_break);
bool cpu_is_jump(const cpu_splitter *, int node); /* return, break or continue, in braces or not */

/* inline.c: helpers with barriers are put in place of their calls, warp operations become exchanges. */
void cpu_inline(cpu_splitter *);
/* helper.c: the body of function `callee` in front of statement `node`, whose call at `name` it replaces. */
void cpu_helper_expand(cpu_splitter *, int node, int name, int callee, cpu_tokens *next);
/* keep.c: shared memory of a helper, or of a block inside of a kernel, lasts as CUDA's does. `node`: its declaration in
 * `body`, the helper's own; NULL, or why not. Writes the function that holds it. */
const char *cpu_keeper_put(cpu_splitter *, const cpu_function *helper, const cpu_splitter *body, int node);
/* keep.c: the name of that function */
void cpu_keeper_name(const cpu_splitter *, const cpu_function *helper, const cpu_token *variable, cpu_text *);
/* keep.c: a statement of kind CPU_NODE_TYPE */
void cpu_type_put(cpu_writer *, const cpu_node *);

/* guard.c: is the condition true for all threads of a row (x from 0 to the last) if it is for the first and the last?
 * Returns the factor by which its values exceed the grid's own indices, 0: no. negated: for the opposite of it. */
int cpu_guard_scale(const cpu_splitter *, int first, int last, bool negated);
bool cpu_is_guard(const cpu_splitter *, int node);  /* an `if` of that kind, made of coordinates and constants */
bool cpu_leaves_if(const cpu_splitter *, int node); /* if (...) return; */
int cpu_growing_scale(const cpu_splitter *, int first, int last); /* of a value that grows with threadIdx.x; 0: no */
bool cpu_constant_in_row(const cpu_splitter *, int first, int last);

/* lift.c: settles which conditions are uniform, which loops are lifted, which conditions are guards. */
void cpu_loops_lift(cpu_splitter *);
bool cpu_has_lifted(const cpu_splitter *);
bool cpu_header_uniform(const cpu_splitter *, int node); /* and so are the variables that it declares */

/* hoist.c: reads one element that all threads read in front of what they do with it; false: there is none left. */
bool cpu_element_hoist(cpu_splitter *);

/* uniform.c */
void cpu_locals_read(cpu_splitter *);
void cpu_types_mark(cpu_splitter *); /* variables whose types are asked for outside of thread loops */
bool cpu_is_uniform(const cpu_splitter *, int first, int last); /* the same for all threads? */
bool cpu_is_pure(const cpu_splitter *, int first, int last);    /* neither loads nor calls */
int cpu_local_find(const cpu_splitter *, int token);            /* the variable a name stands for; -1 */
int cpu_context(const cpu_splitter *, int node); /* which predicate a statement is under: 2n then, 2n+1 else; 0 none */
bool cpu_at_barrier_level(const cpu_splitter *, int node); /* stands directly where split points stand */

/* region.c: all of these write nothing in the first walk. */
int cpu_threads_most(const cpu_splitter *); /* that an array of one element a thread is made for */
void cpu_put(cpu_writer *, const char *text);
void cpu_put_numbers(cpu_writer *, const char *format, int a, int b); /* format: none, one or two %d */
void cpu_put_tokens(cpu_writer *, int first, int last);
void cpu_segment_add(cpu_writer *, cpu_segment_kind, int first, int last, int node);
void cpu_region_flush(cpu_writer *);              /* closes the open region: a split point */
void cpu_guards_put(cpu_writer *);                /* bool mw_full: do all threads pass the guards? */

#endif
