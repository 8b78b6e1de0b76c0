/* SPDX-License-Identifier: MIT
 *
 * Shared libraries that are looked for at run time, and calls of their functions. */
#ifndef MW_SHARED_H
#define MW_SHARED_H

#include <stddef.h>
#include <stdint.h>

/* The first of the names, separated by blanks, that loads: by the system, below $CUDA_HOME and $CUDA_PATH, or where
 * toolkits and Python's wheels lie. NULL: text says what was looked for, or why one that is there does not load; else
 * text is its path. It stays loaded. */
void *mw_shared_open(const char *names, char *text, size_t size);

typedef union mw_word { /* an argument, a result, a variable */
  int64_t i;
  double d;
  float f; /* a register's lower half */
  void *p;
} mw_word;

enum { MW_CALL_WORDS = 24, MW_CALL_REALS = 4 };

/* A function of C called with integers and pointers in order, and with floats and doubles in order. System V's calling
 * conventions of x86-64 and AArch64 pass the two kinds in registers of their own and what is left of the first kind on
 * the stack, eight bytes each; what is passed beyond a function's parameters does no harm. C does not define such a
 * call: tests/library/headers_spec.lua holds each against the declaration of its library. */
int64_t mw_shared_call(void *function, const int64_t words[MW_CALL_WORDS], const double reals[MW_CALL_REALS]);
/* The same, of a function that returns a float (the lower half) or a double. */
double mw_shared_call_real(void *function, const int64_t words[MW_CALL_WORDS], const double reals[MW_CALL_REALS]);

#endif
