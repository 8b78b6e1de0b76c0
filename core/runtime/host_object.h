/* SPDX-License-Identifier: MIT
 *
 * The host part of a program as a shared object: of each source its host text (host_text.h), compiled by the compiler of
 * the CPU device and linked with the libraries asked for; or found in the cache. */
#ifndef MW_RUNTIME_HOST_OBJECT_H
#define MW_RUNTIME_HOST_OBJECT_H

#include <stddef.h>

#include "core/base/error.h"

typedef struct runtime_order {
  const char *const *files;     /* .cu, .cpp, .cc, .cxx or .c, at least one; this list and the next three end in NULL */
  const char *const *includes;  /* folders */
  const char *const *defines;   /* "NAME" or "NAME=VALUE" */
  const char *const *libraries; /* "gomp" of -lgomp */
} runtime_order;

typedef struct runtime_host runtime_host;

/* Reads and preprocesses the sources, and compiles and links on a thread of its own, so that kernels are compiled
 * meanwhile. The order is copied. */
mw_status runtime_host_begin(const runtime_order *, runtime_host **, mw_error *);
/* Of a source: has it kernels, and are some of them templates? */
bool runtime_host_has_kernels(const runtime_host *, int source);
bool runtime_host_has_templates(const runtime_host *);
/* Waits for the object. Compilers' errors are about the user's files and lines. */
mw_status runtime_host_end(runtime_host *, const void **object, size_t *size, mw_error *);
void runtime_host_free(runtime_host *);

#endif
