/* SPDX-License-Identifier: MIT
 *
 * One block of a kernel in the fiber engine: one fiber a CUDA thread, and the rules they meet under (barriers, warp
 * operations, the grid barrier). A crew belongs to one worker and is used again for every block it runs. */
#ifndef MW_CPU_BLOCK_H
#define MW_CPU_BLOCK_H

#include "core/backend/cpu/fiber.h"
#include "core/backend/cpu/grid.h"

enum { CPU_WARP = 32, CPU_WARPS = 32, CPU_THREADS = CPU_WARP * CPU_WARPS };

typedef struct cpu_lane { /* one CUDA thread */
  mw_thread thread;
  cpu_crew *crew;
  cpu_fiber fiber;
  const mw_warp_request *request; /* while it waits in a warp operation */
  unsigned long long result;
  const char *what, *file; /* where it waits */
  int line, column;
  unsigned named;   /* the named barrier it waits at */
  const void *site; /* caller of active_mask */
} cpu_lane;

typedef struct cpu_group {
  uint32_t mask, arrived;
} cpu_group; /* lanes that meet in a warp operation */

typedef struct cpu_warp { /* one bit a lane; a lane is in exactly one of ready ... exited */
  uint32_t ready, at_barrier, at_named, at_warp, at_grid, asking, exited;
  cpu_lane *lanes;
  cpu_slab slab;
  unsigned ngroups;
  cpu_group groups[CPU_WARP];
} cpu_warp;

typedef struct cpu_named { /* a named barrier being gathered */
  unsigned arrived, count; /* count 0: all threads that have not exited */
} cpu_named;

enum { CPU_NAMED = 16 };

struct cpu_crew {
  cpu_worker *worker;
  cpu_grid *grid;
  mw_thread **self;
  cpu_fiber home;
  unsigned threads, live, current;
  unsigned yields;
  uint32_t ready_warps;
  bool dirty;     /* fibers were left in the middle of a kernel: make them again */
  bool abandoned; /* a fiber gave the block up; worker->fault says why */
  unsigned made;  /* warps whose fibers exist */
  /* the block barrier being gathered */
  unsigned arrived, truths;
  enum mw_barrier_op op;
  const char *file;
  int line, column, result;
  bool any_named; /* some named barrier was used in this block */
  cpu_named named[CPU_NAMED];
  unsigned at_grid; /* threads at the grid barrier, and where it is */
  const char *grid_file;
  int grid_line;
  cpu_warp warps[CPU_WARPS];
};

cpu_crew *cpu_crew_make(cpu_worker *);
void cpu_crew_free(cpu_crew *);
/* Runs block `block` of the grid. False: it was given up, worker->fault says why. */
bool cpu_crew_run(cpu_crew *, cpu_grid *, unsigned long long block);

/* For what units call, on a fiber (crew = cpu_current->crew). */
cpu_lane *cpu_crew_lane(cpu_crew *); /* the running one */
void cpu_crew_wait(cpu_crew *);      /* its ready bit is cleared already: runs others until it is set */
void cpu_crew_wake(cpu_crew *, unsigned warp, uint32_t lanes);
void cpu_crew_abandon(cpu_crew *, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

unsigned long long cpu_warp_meet(cpu_crew *, const mw_warp_request *); /* warp.c */
void cpu_warp_settle(cpu_crew *, unsigned warp);                       /* warp.c: groups completed by an exit */
uint32_t cpu_warp_lanes(const cpu_warp *);                             /* all that have not exited */

extern const mw_runtime cpu_runtime; /* what units call */

#endif
