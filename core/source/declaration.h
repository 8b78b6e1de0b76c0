/* SPDX-License-Identifier: MIT
 *
 * The declarations of a file, a namespace or a class, as tokens. No C++ front end: it knows what a declaration looks
 * like from outside, and what it does not know stays a name.
 *
 *   template <class T> __global__ void __launch_bounds__(256) scale(T *x, int) { ... }
 *   first              begin                                  name  open     close  body, last: after the }
 *
 * has the parameters `T *x`, named x, and `int`, without a name. A walk over the declarations of a file, a namespace
 * or a class reads one after the other:
 *
 *   for (cpu_declaration it; i < end; i = it.last) {
 *     it = cpu_declaration_read(tokens, i, end);
 *     if (it.kind == CPU_DECLARES_REGION) ... it.body + 1 to it.last - 1 */
#ifndef MW_SOURCE_DECLARATION_H
#define MW_SOURCE_DECLARATION_H

#include "core/source/lexer.h"

typedef enum cpu_declaration_kind {
  CPU_DECLARES_NOTHING,  /* ; public: #pragma, text of a system header, brackets */
  CPU_DECLARES_REGION,   /* namespace a { ... }   extern "C" { ... } */
  CPU_DECLARES_ALIAS,    /* using name = int;   namespace a = b;   concept small = sizeof(T) < 4; */
  CPU_DECLARES_USING,    /* using a::name;   using namespace a; */
  CPU_DECLARES_INSTANCE, /* template void f<int>(int *);   template class A<int>; */
  CPU_DECLARES_FUNCTION,
  CPU_DECLARES_TYPEDEF,  /* perhaps of a class */
  CPU_DECLARES_CLASS,    /* or an enumeration, perhaps with variables that are not for devices */
  CPU_DECLARES_VARIABLES,
} cpu_declaration_kind;

typedef struct cpu_declaration {
  cpu_declaration_kind kind;
  int  first, begin, last; /* begin: after the template headers; last: after its ; or } */
  int  name;        /* of all but variables and new names of types; -1: none */
  int  open, close; /* the parentheses of a function's parameters; -1: no function */
  int  body;        /* the { of a function, class or region; -1: it is only declared */
  bool is_template, is_kernel, is_const, is_constexpr, is_extern, is_class;
  bool is_enum; /* and a class */
  bool is_device, is_constant, is_shared; /* is_device: __device__, __constant__, __managed__ or __shared__ */
} cpu_declaration;

/* What is at token `first`, up to `end`. Of several names with parentheses, the last is the function's: those before it
 * are attributes that macros stand for. */
cpu_declaration cpu_declaration_read(const cpu_tokens *, int first, int end);

/* B of struct A<int>::B { ... } among tokens first ... last-1; -1: it has no name. end: what follows. */
int cpu_class_name(const cpu_tokens *, int first, int last, int *end);

/* t.f<4>(x) becomes t.template f<4>(x), which C++ wants where t's type depends on a template's arguments, and nvcc does
 * not; of names that the tokens declare as templates of functions. */
void cpu_templates_mark(cpu_tokens *);

/* The name under which "space::scale<float>" is declared: scale, which points into the text. */
cpu_token cpu_bare_name(const char *kernel);

/* A word whose parentheses hold no parameters: __launch_bounds__, alignas, noexcept, ... */
bool cpu_is_attribute(const cpu_token *);

typedef struct cpu_formal { /* a parameter as declared */
  int first, last;          /* tokens of its declaration, default argument excluded */
  int name;                 /* token; -1: unnamed */
  int type_last;            /* its type's tokens end there, or go on after the name: [4] */
  bool far, reference;      /* by a * or [; by a & or && */
} cpu_formal;

/* The parameters between the parentheses `open` and `close`; returns their count. Freed by mw_free. */
int cpu_formals_read(const cpu_tokens *, int open, int close, cpu_formal **out);

#endif
