/* SPDX-License-Identifier: MIT
 *
 * What the translator knows of CUDA's built-in names, in one table (builtin.c). */
#ifndef MW_SOURCE_BUILTIN_H
#define MW_SOURCE_BUILTIN_H

#include "core/source/lexer.h"

typedef enum mw_builtin_kind {
  MW_CUDA_COORDINATE = 1 << 0, /* threadIdx to gridDim */
  MW_CUDA_OF_BLOCK = 1 << 1, /* the same for all threads of a block */
  MW_CUDA_BARRIER = 1 << 2,  /* all threads of the block meet */
  MW_CUDA_WARP = 1 << 3,     /* those of a warp */
  MW_CUDA_CUT = 1 << 4,      /* they meet, and exchange nothing */
  MW_CUDA_EXCHANGE = 1 << 5, /* `exchange` is how */
  MW_CUDA_GROUP = 1 << 6,    /* threads that meet have a type or a namespace of that name */
  MW_CUDA_GROUP_MEMBER = 1 << 7, /* tile.shfl(v, 0) */
  MW_CUDA_FENCE = 1 << 8,    /* plain memory is read again after it */
  MW_CUDA_FRESH = 1 << 9,    /* a load past the caches */
  MW_CUDA_LOCK = 1 << 10,    /* an atomic operation by which locks are made */
  MW_CUDA_PURE = 1 << 11,    /* a value of the arguments alone, and of memory that nothing writes */
  MW_CUDA_CHEAP = 1 << 12,   /* and no more than a few instructions */
} mw_builtin_kind;

typedef struct mw_exchange_form {
  enum { MW_CUDA_SHUFFLE, MW_CUDA_VOTE, MW_CUDA_VALUES, MW_CUDA_COUNT_OF_BLOCK, MW_CUDA_ALL_OF_BLOCK, MW_CUDA_ANY_OF_BLOCK } kind;
  int value;       /* which argument is exchanged; -1: true */
  int least, most; /* arguments */
} mw_exchange_form;

typedef struct mw_builtin {
  const char *const *names;
  unsigned           kinds;
  mw_exchange_form   exchange;
} mw_builtin;

/* What the token is, if it is of any of the kinds; NULL. A program may give some of these names another meaning. */
const mw_builtin *mw_builtin_of(const mw_token *, unsigned kinds);
bool               mw_is_builtin(const mw_token *, unsigned kinds);

#endif
