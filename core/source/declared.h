/* SPDX-License-Identifier: MIT
 *
 * What the text of a source declares, for all that compiled code and mangled names do not carry: which kernels there
 * are, how their parameters are called, the parameters' types of an extern "C" kernel, the types of device variables.
 * Read from the text as it was written: macros are not expanded, every branch of an #if counts. Typedefs and the user's
 * classes are types that are not known, and then it says so instead of guessing. */
#ifndef MW_SOURCE_DECLARED_H
#define MW_SOURCE_DECLARED_H

#include "core/source/types.h"

typedef struct mw_declared_kernel {
  char name[256]; /* bare: "scale" of lab::scale */
  bool is_template;
} mw_declared_kernel;

/* The __global__ functions in the text's order, each name once; returns their count. Freed by mw_free. */
int mw_declared_kernels(const char *text, mw_declared_kernel **out);

/* Arguments that the template of a __global__ function may take, by the kinds of its parameters: "float, 16" of
 * template <class T, int TILE>, "..." for a kind of which none is known; not of those with defaults. */
void mw_declared_instance(const char *text, const char *kernel, char *out, size_t size);

/* The parameters of a __global__ function, "scale", "lab::scale" or "scale<float>", by its definition where the text
 * has it: a declaration may leave names out. Each gets its name ("" where it has none), type, size and natural offset;
 * size 0: the type is not known. Returns their count, which may be more than the `most` that are written; -1: there is
 * no such kernel. */
int mw_declared_params(const char *text, const char *kernel, mw_param *out, int most);

/* The element type of the __device__, __constant__ or __managed__ variable of that bare name (out->pointer where it
 * holds pointers). False if none, or its type is not known. */
bool mw_declared_variable(const char *text, const char *name, mw_param *out);

/* Makes a number of a parameter that is a structure of unknown kind, where its type is an enumeration of the text; size
 * is known. False if not. */
bool mw_declared_enum(const char *text, mw_param *);

/* The members of the struct of that bare name, as the text writes it: names, types, natural offsets, and the bytes of all
 * elements of an array; *size is the whole's. Returns their count; -1: there is no such struct, or it has a base, virtual
 * functions, a member of unknown type or more than `most`. */
int mw_declared_fields(const char *text, const char *name, mw_param *out, int most, uint32_t *size);

/* True: every variable of that bare name that the text declares, at least one, is const or constexpr. */
bool mw_declared_constant(const char *text, const char *name);

#endif
