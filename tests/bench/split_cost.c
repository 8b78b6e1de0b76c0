/* SPDX-License-Identifier: MIT
 *
 * CPU time of cpu_split for each kernel of the files given: split_cost [--all] FILE... Every file is read afresh a few
 * times, as a launch would read it, and the least time of each kernel counts, with what it is the first to ask of its
 * program. Prints the mean over kernels, the worst, and how many bodies and statements are read for a kernel; --all: a
 * line per kernel. Files that the CPU device refuses are left out. The linker puts __wrap_cpu_split in the place of
 * cpu_split, and the same of mw_body_read (Makefile). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/backend/cpu/split/split.h"
#include "core/backend/cpu/translate/unit.h"
#include "core/base/file.h"

enum { ROUNDS = 15, MOST_KERNELS = 1000, MOST_SOURCE = 1 << 20 };

typedef struct cost {
  const char *file;
  char kernel[128];
  double seconds; /* the least */
} cost;

static cost costs[MOST_KERNELS];
static int count, next;                 /* kernels so far; the one that comes now */
static long splits, trees, bodies, statements; /* calls of cpu_split; what is read in them, as a whole or in part */
static bool inside;
static const char *file;

char *__real_cpu_split(cpu_program *, cpu_function *, char *why, size_t why_size);
char *__wrap_cpu_split(cpu_program *, cpu_function *, char *why, size_t why_size);

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fail(const char *what, const char *about) {
  fprintf(stderr, "split_cost: %s%s\n", what, about);
  exit(1);
}

static void note(const mw_token *name, double seconds) {
  if (next == MOST_KERNELS) fail("too many kernels from ", file);
  cost *one = &costs[next];
  if (next++ == count) {
    count++;
    *one = (cost){.file = file, .seconds = seconds};
    snprintf(one->kernel, sizeof one->kernel, "%.*s", TEXT(name));
  }
  if (seconds < one->seconds) one->seconds = seconds;
}

char *__wrap_cpu_split(cpu_program *program, cpu_function *kernel, char *why, size_t why_size) {
  const double begun = cpu_seconds();
  inside = true;
  splits++;
  char *text = __real_cpu_split(program, kernel, why, why_size);
  inside = false;
  note(&program->tokens.at[kernel->name], cpu_seconds() - begun);
  return text;
}

void __real_mw_body_read(mw_body *, const mw_tokens *, int first, int last, const mw_names *, const mw_body *);
void __wrap_mw_body_read(mw_body *, const mw_tokens *, int first, int last, const mw_names *, const mw_body *);

void __wrap_mw_body_read(mw_body *body, const mw_tokens *tokens, int first, int last, const mw_names *names,
                         const mw_body *old) {
  __real_mw_body_read(body, tokens, first, last, names, old);
  if (!inside) return;
  bodies += !old;
  trees++;
  statements += body->nstatements - 1 - body->taken;
}

/* False: refused. */
static bool parse(const mw_source *source) {
  mw_error error = {0};
  cpu_program *program;
  const mw_status status = cpu_program_parse(source, false, &program, &error);
  mw_error_clear(&error);
  if (!status) cpu_program_free(program);
  return !status;
}

static void measure(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
  char *text = mw_file_read(path, MOST_SOURCE, NULL);
  if (!text) fail("cannot read ", path);
  const mw_source source = {.name = path, .text = text, .folder = folder, .no_cache = true};
  const int first = count;
  file = path;
  for (int i = 0; i < ROUNDS; i++) {
    next = first;
    if (!parse(&source)) break;
  }
  mw_free(text);
  free(folder);
}

int main(int argc, char **argv) {
  const bool all = argc > 1 && !strcmp(argv[1], "--all");
  double sum = 0;
  const cost *worst = costs;
  for (int i = 1 + all; i < argc; i++) measure(argv[i]);
  for (int i = 0; i < count; i++) {
    if (all) printf("%s\t%s\t%.1f\n", costs[i].file, costs[i].kernel, costs[i].seconds * 1e6);
    sum += costs[i].seconds;
    if (costs[i].seconds > worst->seconds) worst = &costs[i];
  }
  if (!count) fail("usage: split_cost [--all] FILE...", "");
  printf("cpu_split, CPU time: mean of %d kernels %.0f us, to reach: at most 300 us; worst %.0f us, %s of %s\n", count,
         sum / count * 1e6, worst->seconds * 1e6, worst->kernel, worst->file);
  printf("read for a kernel: %.1f bodies, %.1f statements, for %.1f trees\n", (double)bodies / (double)splits,
         (double)statements / (double)splits, (double)trees / (double)splits);
  return 0;
}
