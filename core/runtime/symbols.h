/* SPDX-License-Identifier: MIT
 *
 * What the symbols of a compiled host part say of its kernels and device variables. The static variable of a kernel's
 * body is named after its function (Itanium C++ ABI): _ZZ5scaleIfEvPT_E16moonwarp_kernel0 is that of scale<float>, in
 * source 0. */
#ifndef MW_RUNTIME_SYMBOLS_H
#define MW_RUNTIME_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNTIME_SITE "moonwarp_kernel" /* then the source's number */

typedef struct runtime_symbol {
  char *name;        /* readable, "lab::scale<float>"; of what is no kernel "lab::table" */
  char *signature;   /* of a kernel whose name others have as well, "scale(float *, int)"; else NULL */
  uint64_t address;  /* from where the object is loaded; of a kernel, its site */
  uint64_t function; /* of a kernel's host function */
  size_t bytes;
  int source; /* of a kernel; -1: it is a variable */
  bool is_template, unnamed; /* unnamed: the name cannot be read, and is the symbol */
} runtime_symbol;

typedef struct runtime_symbols {
  runtime_symbol *at;
  size_t count;
} runtime_symbols;

runtime_symbols runtime_symbols_read(const void *object, size_t size);
void runtime_symbols_free(runtime_symbols *);

#endif
