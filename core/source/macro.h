/* SPDX-License-Identifier: MIT
 *
 * Macros: their table and their expansion, as C++20 (cpp.replace) and gcc's ", ## __VA_ARGS__" have it.
 *
 *   #define HALF(x) ((x) / 2)
 *   HALF(n + 1)                ((n + 1) / 2)
 *
 * What comes of a macro has the line and file of the name that called it. */
#ifndef MW_SOURCE_MACRO_H
#define MW_SOURCE_MACRO_H

#include "core/source/lexer.h"

typedef struct mw_macros mw_macros;

/* texts: a list that owns what expansions make; it must outlive the tokens. */
mw_macros *mw_macros_new(mw_tokens *texts);
void        mw_macros_free(mw_macros *);

/* Tokens first ... last-1 are what is after #define: N 1, or F(x, ...) x. False: they do not define a macro. */
bool mw_macro_define(mw_macros *, const mw_tokens *, int first, int last);
void mw_macro_undefine(mw_macros *, const mw_token *name);
bool mw_macro_defined(const mw_macros *, const mw_token *name);

/* Appends tokens first ... last-1 with their macros replaced. */
void mw_macros_expand(mw_macros *, const mw_tokens *, int first, int last, mw_tokens *out);

/* The value of the expression after #if, 0 for names that are no macros; `has` answers __has_include of "x" or <x>. */
typedef bool mw_has_include(void *context, const char *name, bool quoted);
long long    mw_condition(mw_macros *, const mw_tokens *, int first, int last, mw_has_include *has, void *context);

#endif
