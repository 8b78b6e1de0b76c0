/* SPDX-License-Identifier: MIT
 *
 * How a value grows along a row of threads, from one threadIdx.x to the next: one evaluator over the tree of a body
 * (growth.c). Whoever asks says what the names of the tree stand for, and believes of the answer what it needs:
 *
 *   3 * (blockIdx.x * blockDim.x + threadIdx.x) + 2     by 3; from 0 on, no more than `scale` times the grid's size
 *   n / 2 + blockIdx.y                                  stays
 *   n * threadIdx.x                                     by what only the launch knows
 *   threadIdx.x % 2     x[threadIdx.x]     f()          not known */
#ifndef MW_CPU_GROWTH_H
#define MW_CPU_GROWTH_H

#include "core/backend/cpu/program/program.h"

/* What a value is, as a whole, that is the sum of both: blockIdx.x * blockDim.x + threadIdx.x. */
enum { CPU_THREAD_PART = 1, CPU_BLOCK_PART = 2, CPU_WHOLE_INDEX = 3 };

typedef struct cpu_growth {
  bool known;   /* false: nothing is */
  bool stays;   /* nothing in it depends on threadIdx.x */
  long by;      /* where nothing wraps: from thread to thread, besides what only the launch knows */
  bool literal; /* the compiler knows that it is `value` */
  long value;
  bool runtime; /* the compiler does not know it */
  int scale;    /* 0; or it is a sum of so many `terms`, integers from 0 on, none above `scale` times the size of the */
  int terms;    /* grid along an axis */
  unsigned parts;
  const mw_token *coordinate; /* blockIdx of blockIdx.x, by itself or under another name; NULL */
} cpu_growth;

/* What a variable stands for; 0: not known. */
enum {
  CPU_FOLLOWS = 1, /* its initialiser */
  CPU_STEPS = 2,   /* and what is the same for the row has been added to it */
  CPU_STAYS = 4,   /* whatever it is, the same for the row */
  CPU_RUNTIME = 8, /* and the compiler does not know it */
  CPU_SMALL = 16,  /* and an integer from 0 on, not above the size of the grid */
};

typedef struct cpu_grower cpu_grower;
struct cpu_grower {
  const mw_body *body;
  unsigned (*variable)(cpu_grower *, const mw_expr *name); /* what a local or a parameter stands for */
  const void *with;                                        /* of who asks */
  int depth;
  const cpu_program *program; /* of a function's grower, with what it is asked meanwhile */
  const cpu_function *function;
  const struct cpu_asked *asked;
};

cpu_growth cpu_growth_of(cpu_grower *, int expr);
/* The same of what a declaration of the body makes of its initialiser. */
cpu_growth cpu_growth_declared(cpu_grower *, int declared);

/* Over cpu_function_tree: as the compiler sees it. A value computed under conditions of each thread's own counts as the
 * same for the row, if it is. */
cpu_grower cpu_function_grower(const cpu_program *, const cpu_function *);

#endif
