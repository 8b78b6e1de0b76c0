/* SPDX-License-Identifier: MIT
 *
 * The stack that blocks of the loop and split engines run on: not the host's, since a kernel that overruns a local
 * array writes over the frames above it. Its top ends at an inaccessible area, so what runs on reaches that and not the
 * host; whoever comes back reads nothing from it but takes everything from the worker. */
#ifndef MW_CPU_AWAY_H
#define MW_CPU_AWAY_H

#include "core/backend/cpu/fiber.h"
#include "core/backend/cpu/grid.h"

struct cpu_away {
  char *map;
  size_t map_bytes;
  cpu_fiber fiber, home;
  cpu_grid *grid; /* what to run */
  unsigned long long first, last;
  bool made;  /* the fiber waits for work */
  bool there; /* a kernel runs on it */
};

enum { CPU_AWAY_STACK = 8 << 20, CPU_AWAY_GUARD = 1 << 20, CPU_AWAY_ABOVE = 16 << 20 };

/* Makes the stack, before a signal may end the run. False: the system gives no memory; worker->fault says so. */
bool cpu_away_prepare(cpu_worker *);
/* Runs the blocks there; worker->fault says it where bytes above the frames were overwritten. */
void cpu_away_run(cpu_worker *, cpu_grid *, unsigned long long first, unsigned long long last);
/* A kernel was left in the middle, from the host's stack again. */
void cpu_away_left(cpu_away *);
void cpu_away_free(cpu_away *);

#endif
