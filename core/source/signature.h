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

/* The last component: "lab::scale" -> "scale". */
const char *mw_signature_bare(const char *qualified);

/* Names that differ in white space only: "scale<float, 4>" and "scale<float,4>". */
bool mw_same_name(const char *a, const char *b);

#endif
