/* SPDX-License-Identifier: MIT
 *
 * What front.c, front_explain.c and front_refuse.c share: the declarations of a file and which of them are kept. */
#ifndef MW_COMPILE_FRONT_PARTS_H
#define MW_COMPILE_FRONT_PARTS_H

#include "core/compile/front.h"
#include "core/source/outline.h"

struct mw_front {
  const char *(*lacks)(const char *name);
  const char *declared; /* of the dialect; "" for none */
  const char *constant; /* what stands for const before a number with a fraction */
  mw_preprocessed source;
  mw_outline outline;
};

/* Keeps one entry and what it needs, and nothing else; keeps kernels, variables and what is asked for again. */
void mw_front_keep_only(mw_outline *, int entry);
void mw_front_keep_again(mw_outline *);

/* Adds the user's own headers that were not found to a message: at most three. */
void mw_front_missing_add(const mw_front *, char *message, size_t size);

#endif
