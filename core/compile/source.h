/* SPDX-License-Identifier: MIT
 *
 * What a .cu source tells without being compiled. Both devices ask for the files it includes, for their cache keys
 * (source.c); the CUDA device also for its kernels and their parameters' names (declarations.c). */
#ifndef MW_COMPILE_SOURCE_H
#define MW_COMPILE_SOURCE_H

#include "core/backend/backend.h"
#include "core/compile/cache.h"

/* Adds to a key the text and options of the source and every file it includes, directly or not: each #include
 * "x" or <x>, under whatever #if, looked up in the including file's folder (for "x"), source->folder and
 * source->includes; contents hashed where found, the fact of absence where not. Returns false where an #include
 * names its file by a macro: such a source is not cached. */
bool mw_source_hash(const mw_source *, mw_cache_keymaker *);

/* Names of the parameters of the __global__ function `kernel` in the text: comments, strings, attributes, macros
 * in their place, __launch_bounds__ and template headers are understood. Returns the number of parameters; -1: no such
 * kernel. */
int mw_source_param_names(const char *text, const char *kernel, char names[][64], int most);

/* All plain (non-template) and template __global__ functions in source order; bare names, NULL-terminated, one block
 * released by mw_free. is_template, where not NULL, gets a malloc'ed array beside it. */
char **mw_source_kernels(const char *text, bool **is_template);

#endif
