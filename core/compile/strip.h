/* SPDX-License-Identifier: MIT
 *
 * The first two steps of reading C++: line splices joined, comments made blank. Called by source.c and
 * declarations.c. */
#ifndef MW_COMPILE_STRIP_H
#define MW_COMPILE_STRIP_H

/* A copy without comments (each becomes a blank, its newlines stay) and without backslash-newlines; string, character
 * and raw string literals are untouched. mw_malloc'ed. */
char *mw_strip_comments(const char *text);

/* Length of the string, character or raw string literal at `at`, prefix included; 0: there is none. An unterminated
 * one ends at the end of its line (a raw one: of the text). */
unsigned long mw_literal_length(const char *at);

#endif
