/* SPDX-License-Identifier: MIT
 *
 * One launch while it runs: its blocks, who takes part, what stopped it. Copies and fills of large arrays are grids
 * too, with a run of their own and no kernel. Lives on the stack of the thread that launches it. */
#ifndef MW_CPU_GRID_H
#define MW_CPU_GRID_H

#include "core/backend/cpu/device.h"
#include "core/backend/cpu/kernel.h"
#include "core/backend/cpu/worker.h"

typedef enum cpu_stop { CPU_GOING, CPU_STOP_FAULT, CPU_STOP_INTERRUPT } cpu_stop;

typedef void cpu_grid_run_function(cpu_grid *, cpu_worker *, unsigned long long first, unsigned long long last);

typedef struct cpu_meeting { /* the grid barrier of a cooperative launch */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned blocks, waiting, finished;
  unsigned long turn;
} cpu_meeting;

struct cpu_grid {
  mw_grid abi;
  cpu_kernel *kernel;         /* NULL: a copy or a fill */
  const mw_unit_kernel *unit; /* the kernel, or its twin in the fiber flavor */
  const mw_unit_table *table;
  cpu_grid_run_function *run;
  void *data; /* of a copy or a fill */
  unsigned long long blocks;
  double block_seconds; /* estimate of one block on one thread; 0: unknown */
  int priority;
  unsigned interrupts;  /* cpu_interrupts when it began */
  cpu_meeting *meeting; /* cooperative launch only */
  /* shared by those who take part */
  _Atomic unsigned long long next;
  unsigned long long chunk;
  atomic_int stop;      /* cpu_stop */
  atomic_int users;     /* pool threads inside */
  bool launcher_sleeps; /* under the pool's lock */
  cpu_grid *link;       /* in the pool's list */
  const cpu_slack *watch; /* looked at after every thread: which one writes there? NULL: usually */
  cpu_fault fault;      /* the first one; valid when stop == CPU_STOP_FAULT */
};

/* A launch as a stream's slot or a graph's node holds it; args stay the caller's. */
typedef struct cpu_launch {
  cpu_kernel *kernel;
  mw_dim3 grid, block;
  size_t shared;
  bool cooperative;
  const void *args;
} cpu_launch;

/* Runs it to its end with `me`, which must serve the calling thread. */
mw_status cpu_grid_launch(cpu_device *, cpu_worker *me, const cpu_launch *, int priority, mw_error *);
/* The same for work that is no kernel: run over `blocks` pieces. */
mw_status cpu_grid_work(cpu_device *, cpu_worker *me, cpu_grid_run_function *, void *data, unsigned long long blocks,
                        double block_seconds, int priority, mw_error *);

/* For those who take part. */
unsigned long long cpu_grid_take_part(cpu_grid *, cpu_worker *); /* runs chunks until there are no more; blocks run */
void cpu_grid_caught(cpu_grid *, cpu_worker *);                  /* a run was stopped: keeps the first fault */
bool cpu_grid_stopped(cpu_grid *);                               /* also looks at Ctrl-C */
/* A grid of one block of `like`, to run it again in the fiber flavor. */
void cpu_grid_again(cpu_grid *, const cpu_grid *like, const mw_unit_kernel *, const mw_unit_table *);
mw_dim3 cpu_grid_block(const cpu_grid *, unsigned long long linear);

#endif
