/* SPDX-License-Identifier: MIT
 *
 * What a declaration of variables and a call look like in tokens. Nothing here knows what a name stands for. */
#ifndef MW_SOURCE_DECLARATOR_H
#define MW_SOURCE_DECLARATOR_H

#include "core/source/lexer.h"

/* Brings specifiers into the order in which they are read elsewhere: double extern __shared__ s[] becomes extern
 * __shared__ double s[], and an [[attribute]] goes before __device__. */
void mw_specifiers_order(mw_tokens *);
/* The next name, after that at token `after` (-1: the first), that tokens first ... last-1 declare, as those of shared
 * memory and with a class of their own; -1: none. */
int mw_variable_next(const mw_tokens *, int first, int last, int after);
int mw_variable_find(const mw_tokens *, int first, int last, const mw_token *name); /* where they declare it; -1 */
/* The next enumerator after token `after`, at first the { itself, of the braces at `open`; 0: none. */
int mw_enumerator_next(const mw_tokens *, int open, int after);
/* The { of the class that a declaration defines next to its variables; 0: none. */
int mw_class_braces(const mw_tokens *, int first, int last);
/* The } of a class that is declared before its variables by the statement that begins at i: struct P { int x; } p; -1: none. */
int mw_class_close(const mw_tokens *, int i);

/* Index of the token after the > that closes the < at `open`; `open` + 1 where it closes nothing. */
int mw_angle_end(const mw_tokens *, int open, int last);
/* The bracket that token i stands in, from token `least` on; -1: none. */
int mw_enclosing(const mw_tokens *, int least, int i);
/* What is after the last of the texts before token i that is not in brackets of its own; `first` at least. */
int mw_begin_after(const mw_tokens *, int first, int i, const char *const *texts);
bool mw_is_assignment(const mw_token *); /* = or += or ++, ... */
/* May an operand end here? Then what follows is a binary operator. */
bool mw_ends_operand(const mw_token *);
int mw_lambda_open(const mw_tokens *, int i);   /* the { of the lambda that begins at token i; 0: none, as of x[i] */
int mw_attribute_end(const mw_tokens *, int i); /* past the [[attribute]] at token i; i: none */
bool mw_is_member(const mw_tokens *, int i);    /* after a . or -> or :: */
/* The next use of the name among tokens first ... last-1, which is not a member's; `last`: none. */
int mw_find_use(const mw_tokens *, int first, int last, const mw_token *name);
int mw_call_open(const mw_tokens *, int name);                          /* its ( past template arguments; -1: no call */
/* The >>> that closes the <<< at `open`; `last`: none. */
int mw_launch_end(const mw_tokens *, int open, int last);
int mw_arguments(const mw_tokens *, int open, mw_span out[], int most); /* their count; -1: too many */

#endif
