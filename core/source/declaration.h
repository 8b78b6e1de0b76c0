/* SPDX-License-Identifier: MIT
 *
 * One declaration outside of functions, as tokens. No C++ front end: it knows what a declaration looks like from
 * outside, and what it does not know stays a name.
 *
 *   template <class T> __global__ void __launch_bounds__(256) scale(T *x, int) { ... }
 *   first              begin                                  name  open     close  body, last: after the }
 *
 * has the parameters `T *x`, named x, and `int`, without a name. */
#ifndef MW_SOURCE_DECLARATION_H
#define MW_SOURCE_DECLARATION_H

#include "core/source/lexer.h"

typedef struct cpu_declaration {
  int  first, begin, last; /* begin: after the template headers; last: after its ; or } */
  int  name, open, close;  /* a function's name and the parentheses of its parameters; -1: no function */
  int  body;               /* its {; -1: it is only declared */
  bool is_template, is_instance; /* is_instance: template void f<int>(int *); */
  bool is_kernel;                                /* __global__ */
  bool is_device, is_constant, is_managed, is_shared; /* __device__, ... */
  bool is_const, is_constexpr, is_extern, is_class;
} cpu_declaration;

/* The declaration that begins at token `first` and ends in front of `end`. Of several names with parentheses, the last
 * is the function's: those before it are attributes that macros stand for. */
cpu_declaration cpu_declaration_read(const cpu_tokens *, int first, int end);

/* The name under which "space::scale<float>" is declared: scale, which points into the text. */
cpu_token cpu_bare_name(const char *kernel);

/* A word whose parentheses hold no parameters: __launch_bounds__, alignas, noexcept, ... */
bool cpu_is_attribute(const cpu_token *);

typedef struct cpu_formal { /* a parameter as declared */
  int first, last;          /* tokens of its declaration, default argument excluded */
  int name;                 /* token; -1: unnamed */
  int type_last;            /* its type's tokens end there, or go on behind the name: [4] */
  bool far, reference;      /* by a * or [; by a & or && */
} cpu_formal;

/* The parameters between the parentheses `open` and `close`; returns their count. Freed by mw_free. */
int cpu_formals_read(const cpu_tokens *, int open, int close, cpu_formal **out);

#endif
