/* SPDX-License-Identifier: MIT
 *
 * Memory that other threads may write: which expressions read it, and which change it so that the thread goes on by
 * itself. For spin_wait.c, which asks it of loops. */
#ifndef MW_CPU_PROGRAM_OTHERS_H
#define MW_CPU_PROGRAM_OTHERS_H

#include "core/backend/cpu/program/program.h"

typedef struct cpu_effects {
  bool reads; /* a volatile or atomic read, or one past the caches */
  bool acts;  /* an atomic that changes the memory it reads: atomicAdd(&next, 1) */
} cpu_effects;

typedef struct cpu_others {
  cpu_program     *program;
  const mw_token  *at;
  const cpu_routines *routines;
  cpu_effects     *effects; /* of each routine, once it is asked for */
  bool            *known;   /* they are */
  bool            *fresh;   /* of each token: the name of what is volatile, or points to it */
} cpu_others;

/* False: the program has no such access, and there is nothing to free. */
bool cpu_others_find(cpu_others *, cpu_program *);
void cpu_others_free(cpu_others *);

/* What tokens first ... last-1 of the code do, with the functions, methods and lambdas that they call. */
cpu_effects cpu_effects_of(cpu_others *, const cpu_routine *, int first, int last);
bool        cpu_is_atomic(const cpu_others *, int i); /* atomicMax( */
bool        cpu_atomic_acts(const cpu_others *, int i);
bool        cpu_atomic_loads(const cpu_others *, int i); /* it can only read */

#endif
