/* SPDX-License-Identifier: MIT
 *
 * What the translator knows of CUDA's built-in names, in one table (builtin.c). */
#ifndef MW_CPU_BUILTIN_H
#define MW_CPU_BUILTIN_H

#include "core/source/lexer.h"

typedef enum cpu_builtin_kind {
  CPU_COORDINATE = 1 << 0,   /* threadIdx to gridDim */
  CPU_OF_BLOCK = 1 << 1,     /* the same for all threads of a block */
  CPU_BARRIER = 1 << 2,      /* all threads of the block meet */
  CPU_WARP = 1 << 3,         /* those of a warp */
  CPU_CUT = 1 << 4,          /* they meet, and exchange nothing */
  CPU_EXCHANGE = 1 << 5,     /* `exchange` is how */
  CPU_GROUP = 1 << 6,        /* threads that meet have a type or a namespace of that name */
  CPU_GROUP_MEMBER = 1 << 7, /* tile.shfl(v, 0) */
  CPU_FENCE = 1 << 8,        /* plain memory is read again after it */
  CPU_FRESH = 1 << 9,        /* a load past the caches */
  CPU_LOCK = 1 << 10,        /* an atomic operation by which locks are made */
  CPU_PURE = 1 << 11,        /* a value of the arguments alone, and of memory that nothing writes */
  CPU_CHEAP = 1 << 12,       /* and no more than a few instructions */
} cpu_builtin_kind;

typedef struct cpu_exchange {
  enum { CPU_SHUFFLE, CPU_VOTE, CPU_VALUES, CPU_COUNT_OF_BLOCK, CPU_ALL_OF_BLOCK, CPU_ANY_OF_BLOCK } kind;
  int value;       /* which argument is exchanged; -1: true */
  int least, most; /* arguments */
} cpu_exchange;

typedef struct cpu_builtin {
  const char *const *names;
  unsigned           kinds;
  cpu_exchange       exchange;
} cpu_builtin;

/* What the token is, if it is of any of the kinds; NULL. A program may give some of these names another meaning. */
const cpu_builtin *cpu_builtin_of(const cpu_token *, unsigned kinds);
bool               cpu_is_builtin(const cpu_token *, unsigned kinds);

#endif
