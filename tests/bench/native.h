/* SPDX-License-Identifier: MIT
 *
 * How a benchmark calls what it compares with: C functions of one type, found by name in a shared library (native.c,
 * lib/lab.lua). They know nothing of Lua, so that a machine without its headers builds them. */
#ifndef NATIVE_H
#define NATIVE_H

#include <stdint.h>

enum { NATIVE_ARGUMENTS = 16 };

typedef struct native_value {
  int64_t integer; /* an address too */
  double number;   /* of an integer too */
  const char *text;
} native_value;

/* Returns NULL or what went wrong; *result is what the call gives, 0 where nothing is stored. */
typedef const char *native_function(const native_value *arguments, double *result);

/* An array by its address. */
#define NATIVE_ARRAY(type, value) ((type *)(uintptr_t)(value).integer)

#endif
