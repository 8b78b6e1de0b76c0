/* SPDX-License-Identifier: MIT
 *
 * What a mangled C++ name says of a kernel or a device variable: its readable name and its parameters' types.
 * Itanium C++ ABI (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling), the part of it that kernels use:
 * builtin and vector types, pointers, const, namespaces, class templates, function templates with type and number
 * arguments, substitutions. What is outside it (lambdas, packs, computed numbers) is rejected, never misread.
 * Knows neither Lua nor a device. */
#ifndef MW_SOURCE_SIGNATURE_H
#define MW_SOURCE_SIGNATURE_H

#include <stddef.h>

#include "core/source/types.h"

typedef struct mw_signature {
  char name[256];  /* "lab::scale<float, 3>" */
  char plain[256]; /* without the function's template arguments: "lab::scale" */
  bool is_template;
  bool unknown;     /* the name was read, the parameters are outside the part above: none are told */
  mw_param *params; /* names are "", offsets by natural alignment; the size of a struct passed by value is 0 */
  int nparams;
  size_t args_bytes;
} mw_signature;

/* False: not a mangled name, or one whose very name cannot be read; out is then empty. Ends with mw_signature_free. */
bool mw_signature_parse(const char *mangled, mw_signature *out);
void mw_signature_free(mw_signature *);

/* The last component: "lab::scale" -> "scale", also of a whole signature. */
const char *mw_signature_bare(const char *qualified);

/* "lab::scale(float *, int)" of one that is no template; cut where there is no more room. */
void mw_signature_write(const mw_signature *, char *out, size_t size);
/* How a name such as "scale", "lab::scale" or "scale(float *, int)" means a kernel of that signature: 2: with all of its
 * namespaces; 1: without them; 0: it does not. The most is meant. */
int mw_signature_answers(const char *signature, const char *name);

/* Names that differ in white space only: "scale<float, 4>" and "scale<float,4>". */
bool mw_same_name(const char *a, const char *b);

#endif
