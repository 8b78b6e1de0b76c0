/* SPDX-License-Identifier: MIT
 *
 * How a program's text is made one that check mode can judge: what is written into its tokens where the compiler's hooks
 * see nothing. Each file has an example at its head. */
#ifndef MW_CPU_MARK_H
#define MW_CPU_MARK_H

#include "core/backend/cpu/program/program.h"

/* They write into a copy of the program's tokens: what follows local variables (locals.c), */
void cpu_locals_follow(const cpu_program *, mw_tokens *);
/* what says which iteration a loop is in, for counters (loops.c), */
void cpu_loops_mark(const cpu_program *, mw_tokens *);
/* and, when those have, what tests the alignment of whole vectors (aligned.c). */
void cpu_aligned_test(const cpu_program *, mw_tokens *);
/* Then nothing is written into it: no variable that is followed may be there. */
static inline bool cpu_is_constexpr(const cpu_program *program, const cpu_function *it) {
  return mw_find(&program->tokens, it->first, it->body, WORDS("constexpr", "consteval")) < it->body;
}
/* Whether some class of a checked unit may have bytes between its members (padding.c). */
void cpu_padding_put(const cpu_program *, mw_text *);
/* Of clang++'s LLVM text, the same with calls for the accesses that it has none for; mw_free (accesses.c). False: the
 * program has no such, its numbers all being of 4 or 8 bytes, and no bit-fields. */
char *cpu_accesses_call(const char *text);
bool  cpu_accesses_differ(const cpu_program *);

#endif
