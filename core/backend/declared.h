/* SPDX-License-Identifier: MIT
 *
 * Types as the source text declares them, for what a mangled name does not carry: the parameters of an extern "C"
 * kernel, and device variables (whose mangled name holds no type). A small reader, not a compiler: typedefs, macros
 * and user's structs are unknown to it, and then it says so instead of guessing. */
#ifndef MW_DECLARED_H
#define MW_DECLARED_H

#include "core/backend/backend.h"

/* Parameters of the first __global__ function of that bare name, with names, types, sizes and natural offsets.
 * -1: not found, more than `most`, or a type that cannot be told from the text. */
int mw_declared_params(const char *source, const char *kernel, mw_param *out, int most);

/* The element type of a __device__, __constant__ or __managed__ variable of that bare name (out->pointer where it holds
 * pointers). False: not found or not a type that can be told. */
bool mw_declared_variable(const char *source, const char *name, mw_param *out);

/* True: every variable of that bare name that the text declares, at least one, is const or constexpr. */
bool mw_declared_constant(const char *source, const char *name);

#endif
