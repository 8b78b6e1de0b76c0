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

typedef struct cpu_macros cpu_macros;

/* texts: a list that owns what expansions make; it must outlive the tokens. */
cpu_macros *cpu_macros_new(cpu_tokens *texts);
void        cpu_macros_free(cpu_macros *);

/* Tokens first ... last-1 are what is after #define: N 1, or F(x, ...) x. False: they do not define a macro. */
bool cpu_macro_define(cpu_macros *, const cpu_tokens *, int first, int last);
void cpu_macro_undefine(cpu_macros *, const cpu_token *name);
bool cpu_macro_defined(const cpu_macros *, const cpu_token *name);

/* Appends tokens first ... last-1 with their macros replaced. */
void cpu_macros_expand(cpu_macros *, const cpu_tokens *, int first, int last, cpu_tokens *out);

/* The value of the expression after #if, 0 for names that are no macros; `has` answers __has_include of "x" or <x>. */
typedef bool cpu_has_include(void *context, const char *name, bool quoted);
long long    cpu_condition(cpu_macros *, const cpu_tokens *, int first, int last, cpu_has_include *has, void *context);

#endif
