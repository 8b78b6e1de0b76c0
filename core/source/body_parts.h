/* SPDX-License-Identifier: MIT
 *
 * What expression.c has for body.c. Every reader begins at a token and gives what it made, which says where it ends. */
#ifndef MW_SOURCE_BODY_PARTS_H
#define MW_SOURCE_BODY_PARTS_H

#include "core/source/body.h"

static inline const mw_token *mw_at(const mw_body *in, int i) {
  return &in->tokens->at[i];
}
static inline bool mw_is(const mw_body *in, int i, const char *text) {
  return mw_token_is(mw_at(in, i), text);
}

int mw_expr_add(mw_body *, mw_expr);
/* The last of the names that can be seen that has the same text; 0: none. */
int mw_visible_find(const mw_body *, const mw_token *);
/* The scope ends: as many names as before can be seen. */
void mw_scope_end(mw_body *, int visible);
/* No expression that is understood begins among tokens first ... last-1. */
void mw_unknown_note(mw_body *, int first, int last);
/* An expression that is not understood, of at least one token. */
int mw_unknown_add(mw_body *, int first, int last);
/* All of the tokens as one expression, or an unknown one; 0 if none. */
int mw_expr_read(mw_body *, int first, int last);
/* From token i on, up to a comma. */
int mw_assignment_read(mw_body *, int i, int last);
/* ( a, b ) or { a, b } after a name, which makes it a T. */
int mw_construction_read(mw_body *, int first, int open, mw_type);

/* Past the words of a type: const unsigned int, typename S<T>::type, struct P; i if none. */
int mw_words_end(const mw_body *, int i, int last, mw_type *);
void mw_declared_add(mw_body *, mw_declared);
void mw_declared_see(mw_body *, int declared); /* from here on it can be seen */

#endif
