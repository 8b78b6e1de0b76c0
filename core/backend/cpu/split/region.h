/* SPDX-License-Identifier: MIT
 *
 * A region: the statements between two split points, gathered by writer.c, written by region.c as a loop over the
 * threads. */
#ifndef MW_CPU_REGION_H
#define MW_CPU_REGION_H

#include "core/backend/cpu/split/split.h"

enum { CPU_MOST_SEGMENTS = 512, CPU_MOST_GUARDS = 32 };

typedef enum cpu_segment_kind {
  CPU_SEGMENT_STATEMENT,
  CPU_SEGMENT_DECLARE,
  CPU_SEGMENT_EXCHANGE,
  CPU_SEGMENT_PREDICATE /* sets the mask of a condition; no tokens: of a loop that all enter */
} cpu_segment_kind;

typedef struct cpu_segment { /* a piece of a region */
  cpu_segment_kind kind;
  int first, last; /* tokens */
  int node;
} cpu_segment;

typedef struct cpu_bounds_check { /* a condition of each thread's own that the region is under */
  int predicate, value;           /* value: of the mask, where a thread passes */
} cpu_bounds_check;

typedef struct cpu_writer {
  cpu_splitter *in;
  mw_text *out; /* NULL in a first walk: nothing is written */
  int *regions;  /* in a first walk: of each token; -1: in none */
  int region;    /* the open one */
  int last_region;
  cpu_segment open[CPU_MOST_SEGMENTS];
  int nopen;
  cpu_bounds_check bounds_checks[CPU_MOST_GUARDS];
  int nbounds_checks;
  bool passed;  /* this walk is for threads that pass all bounds checks of the kernel */
  bool returns; /* some thread may leave before the end: the others must know */
  int copy;     /* of a region's text: labels differ */
} cpu_writer;

/* Text; lines of the user's file are found again after a new line. */
void cpu_put(cpu_writer *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cpu_put_tokens(cpu_writer *, int first, int last); /* in a first walk: notes which variables they name */
extern const char cpu_stack_shared[];
void cpu_shared_put(cpu_writer *, int first, int last, const char *shared); /* the same, with what __shared__ becomes */
/* Has the compiler confirm that the sizes in brackets are constants: of an array of another size it says nothing. */
void cpu_sizes_put(cpu_writer *, int first, int last);
/* float &x = mw_L3.at[mw_e];  the name of an element of a variable's array */
void cpu_variable_put(cpu_writer *, int local, const char *element);
int cpu_threads_most(const cpu_splitter *); /* that an array of one element per thread is made for */
/* Threads that do not take part leave no value. Vector code computes with their elements all the same, before it drops
 * the results; what lies there by chance may be denormal, and slow beyond measure (seen: 60 times). So where some wait,
 * arrays are cleared first. */
bool cpu_some_wait(const cpu_writer *);
void cpu_segment_add(cpu_writer *, cpu_segment_kind, int first, int last, int node);
void cpu_region_flush(cpu_writer *);      /* closes the open region: a split point */
void cpu_bounds_checks_put(cpu_writer *); /* bool mw_full: do all threads pass the kernel's bounds checks? */

/* What the compiler has to confirm of an expression that is computed once for all threads, or again, and of a
 * variable that is. */
void cpu_known_put(cpu_writer *, int first, int last);
void cpu_known_local_put(cpu_writer *, const cpu_local *);

#endif
