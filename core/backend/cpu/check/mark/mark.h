/* SPDX-License-Identifier: MIT
 *
 * How a program's text is made one that check mode can judge: what is written into its tokens where the compiler's hooks
 * see nothing. Each file has an example at its head. */
#ifndef MW_CPU_MARK_H
#define MW_CPU_MARK_H

#include "core/backend/cpu/program/program.h"

/* The program's tokens, by which the alignment of whole vectors is tested; the program's files must outlive them
 * (aligned.c). */
mw_tokens cpu_aligned(const cpu_program *);
/* Writes what follows local variables into the program's tokens (locals.c). */
void cpu_locals_follow(const cpu_program *, mw_tokens *);
/* Lets the loops among the tokens say which iteration they are in, for counters (loops.c). */
void cpu_loops_mark(const cpu_program *, mw_tokens *);
/* Whether some class of a checked unit may have bytes between its members (padding.c). */
void cpu_padding_put(const cpu_program *, mw_text *);
/* Of clang++'s LLVM text, the same with calls for the accesses that it has none for; mw_free (accesses.c). False: the
 * program has no such, its numbers all being of 4 or 8 bytes, and no bit-fields. */
char *cpu_accesses_call(const char *text);
bool  cpu_accesses_differ(const cpu_program *);

#endif
