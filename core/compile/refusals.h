/* SPDX-License-Identifier: MIT
 *
 * Kernels and device variables of a module that cannot be compiled where others can, and why. One text, so that a cache
 * entry can hold it: for each its status, what it is, its name, its message and its log, each with its NUL. */
#ifndef MW_COMPILE_REFUSALS_H
#define MW_COMPILE_REFUSALS_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct mw_refusals {
  char  *at; /* NULL: none */
  size_t size;
} mw_refusals;

typedef enum mw_refused { MW_REFUSED_KERNEL = 'k', MW_REFUSED_TEMPLATE = 't', MW_REFUSED_VARIABLE = 'v' } mw_refused;

typedef struct mw_refusal {
  const char *name; /* without namespaces */
  mw_refused  what;
  mw_status   status;
  const char *text, *log;
} mw_refusal;

/* A name that is there already keeps its reason. */
void mw_refusals_add(mw_refusals *, const mw_refusal *);
/* False: it is not what mw_refusals_add makes. */
bool mw_refusals_copy(mw_refusals *, const char *bytes, size_t size);
void mw_refusals_free(mw_refusals *);

/* Each in turn, *at from 0 on; false: that was the last. */
bool mw_refusals_next(const mw_refusals *, size_t *at, mw_refusal *out);
/* Fails with its own message; MW_OK: "f", "f<int>" or "lab::f" is not refused. */
mw_status mw_refusals_check(const mw_refusals *, const char *name, mw_error *);
size_t mw_refusals_count(const mw_refusals *);

#endif
