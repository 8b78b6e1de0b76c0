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
 *   for (mw_declaration it; i < end; i = it.last) {
 *     it = mw_declaration_read(tokens, i, end);
 *     if (it.kind == MW_DECLARES_REGION) ... it.body + 1 to it.last - 1 */
#ifndef MW_SOURCE_DECLARATION_H
#define MW_SOURCE_DECLARATION_H

#include "core/source/lexer.h"

typedef enum mw_declaration_kind {
  MW_DECLARES_NOTHING,   /* ; public: #pragma, text of a system header, brackets */
  MW_DECLARES_REGION,    /* namespace a { ... }   extern "C" { ... } */
  MW_DECLARES_ALIAS,     /* using name = int;   namespace a = b;   concept small = sizeof(T) < 4; */
  MW_DECLARES_USING,     /* using a::name;   using namespace a; */
  MW_DECLARES_INSTANCE, /* template void f<int>(int *);    template class A<int>; */
  MW_DECLARES_FUNCTION,
  MW_DECLARES_TYPEDEF,   /* perhaps of a class */
  MW_DECLARES_CLASS,     /* or an enumeration, perhaps with variables that are not for devices */
  MW_DECLARES_VARIABLES,
} mw_declaration_kind;

typedef struct mw_declaration {
  mw_declaration_kind kind;
  int  first, begin, last; /* begin: after the template headers; last: after its ; or } */
  int  name;        /* of all but variables and new names of types; -1: none */
  int  open, close; /* the parentheses of a function's parameters; -1: no function */
  int  body;        /* the { of a function, class or region; -1: it is only declared */
  bool is_template, is_kernel, is_const, is_constexpr, is_extern, is_class;
  bool is_enum; /* and a class */
  bool is_device, is_constant, is_shared; /* is_device: __device__, __constant__, __managed__ or __shared__ */
} mw_declaration;

/* What is at token `first`, up to `end`. Of several names with parentheses, the last is the function's: those before it
 * are attributes that macros stand for. */
mw_declaration mw_declaration_read(const mw_tokens *, int first, int end);

/* B of struct A<int>::B { ... } among tokens first ... last-1; -1: it has no name. end: what follows. */
int mw_class_name(const mw_tokens *, int first, int last, int *end);

/* t.f<4>(x) becomes t.template f<4>(x), which C++ wants where t's type depends on a template's arguments, and nvcc does
 * not; of names that the tokens declare as templates of functions. */
void mw_templates_mark(mw_tokens *);

/* The name under which "space::scale<float>" is declared: scale, which points into the text. */
mw_token mw_bare_name(const char *kernel);

/* A word whose parentheses hold no parameters: __launch_bounds__, alignas, noexcept, ... */
bool mw_is_attribute(const mw_token *);

typedef struct mw_formal { /* a parameter as declared */
  int first, last;          /* tokens of its declaration, default argument excluded */
  int name;                 /* token; -1: unnamed */
  int type_last;            /* its type's tokens end there, or go on after the name: [4] */
  bool far, reference;      /* by a * or [; by a & or && */
} mw_formal;

/* The parameters between the parentheses `open` and `close`; returns their count. Freed by mw_free. */
int mw_formals_read(const mw_tokens *, int open, int close, mw_formal **out);

#endif
