/* SPDX-License-Identifier: MIT
 *
 * The line that a message is about, below it:
 *
 *   x.cu:12: error: 'late' is declared (x.cu:3) and not defined
 *      12 |   y[0] = late(2.0f);
 *         |          ^ */
#ifndef MW_COMPILE_EXCERPT_H
#define MW_COMPILE_EXCERPT_H

#include "core/compile/source.h"
#include "core/source/lexer.h"

/* The file and line that a line of a log begins with: "x.cu:12:3: ..." or "x.cu(12): ...". */
bool mw_place_read(const char *line, mw_token *file, int *number);
/* Adds an error about a token, in the form of a compiler's, and the line that it is in. */
void mw_excerpt_say(mw_text *, const mw_source *, const mw_tokens *, const mw_token *, const char *why);
/* That line of the source or of a file next to it, which ends at its new line; NULL if none. read: to be freed. */
const char *mw_excerpt_line(const mw_source *, const char *file, int line, char **read);
/* Adds that line of the source or of a file next to it, with a mark below the word; nothing without such a line. */
void mw_excerpt_put(mw_text *, const mw_source *, const char *file, int line, const mw_token *word);
/* The same of a compiler's message "x.cu:12:3: error: ...": the word is the first one in quotes. */
void mw_excerpt_error(mw_text *, const mw_source *, const char *message);
/* Is the word in quotes in the line that the message names? If not, the message is about generated text. */
bool mw_excerpt_fits(const mw_source *, const char *message);
/* Adds the message's line without the column, which is one of generated text. */
void mw_excerpt_place(mw_text *, const char *message);

#endif
