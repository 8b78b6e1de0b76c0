/* SPDX-License-Identifier: MIT
 *
 * Runs another program (a compiler, a disassembler) and collects what it prints. */
#ifndef MW_COMPILE_PROCESS_H
#define MW_COMPILE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"
#include "core/compile/spawn.h"

/* The words of a command line, or a compiler's options. */
typedef struct mw_argv {
  const char **at; /* ends in NULL, where it has any */
  int count;
} mw_argv;

void mw_argv_add(mw_argv *, const char *format, ...) __attribute__((format(printf, 2, 3))); /* one word */
void mw_argv_add_words(mw_argv *, const char *words);                                       /* with a blank between */
void mw_argv_add_all(mw_argv *, const char *prefix, const char *const *list); /* before each; NULL: no list */
void mw_argv_free(mw_argv *);

typedef struct mw_process_result {
  int exit;        /* exit status; 128 + signal when killed */
  char *out, *err; /* what it wrote; NUL-terminated, mw_malloc'ed */
  size_t out_size, err_size;
} mw_process_result;

typedef struct mw_process {
  const char *const *argv; /* ends in NULL; argv[0] is looked up on the PATH */
  const char *input;       /* its standard input; NULL: none */
  size_t input_size;
  const char *folder; /* its TMPDIR; NULL: ours */
  const char *locale; /* its LC_ALL; NULL: ours */
  double seconds;     /* 0: no limit */
  uint64_t output;    /* bytes that it may write to either of its streams; 0: any number */
  mw_process_limits limits;
  const char *hint; /* ends the message about a limit on time: how to raise it; may be NULL */
} mw_process;

/* Ctrl-C (mw_interrupted) kills it and its children: MW_INTERRUPTED. Not started, or ended because of a limit: MW_IO.
 * After either the result is empty, with nothing to free. Its children end with this process, even by SIGKILL. */
mw_status mw_process_run(const mw_process *, mw_process_result *out, mw_error *);
void mw_process_result_free(mw_process_result *);
bool mw_process_find(const char *program, char *path, size_t size); /* on the PATH, executable */

#endif
