/* SPDX-License-Identifier: MIT
 *
 * The threads that share the blocks of a grid with the thread that launches it. Started at the first grid worth it;
 * they spin for a moment, then sleep. The gang holds the threads of cooperative launches, one a block. */
#ifndef MW_CPU_POOL_H
#define MW_CPU_POOL_H

#include <pthread.h>

#include "core/backend/cpu/worker.h"

void cpu_pause(void); /* in a loop that spins */
/* Waits for a signal, at most so many seconds. */
void cpu_wait_briefly(pthread_cond_t *, pthread_mutex_t *, double seconds);

typedef struct cpu_pool {
  cpu_device *device;
  atomic_int helpers; /* threads beside the launching one */
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  cpu_grid *grids;    /* with blocks to hand out, most urgent first */
  atomic_uint posted; /* changes with every grid posted: the spinning ones watch it */
  atomic_int sleeping;
  atomic_bool started;
  bool quit;
  cpu_worker **workers; /* helpers of them once started */
  pthread_t *threads;
} cpu_pool;

void cpu_pool_open(cpu_pool *, cpu_device *, int helpers);
void cpu_pool_close(cpu_pool *);
double cpu_pool_worth(cpu_pool *);                         /* seconds of work from which waking others pays */
void cpu_pool_run(cpu_pool *, cpu_grid *, cpu_worker *me); /* hands out the rest of the grid; returns when all left */

typedef struct cpu_gang {
  cpu_device *device;
  pthread_mutex_t use; /* one cooperative launch at a time */
  pthread_mutex_t lock;
  pthread_cond_t start, done;
  cpu_grid *grid;
  unsigned next, left, running; /* blocks: to hand out next, to hand out, being run */
  bool quit;
  unsigned members, room;
  cpu_worker **workers;
  pthread_t *threads;
} cpu_gang;

enum { CPU_GANG_MOST = 256 }; /* blocks of a cooperative launch */

void cpu_gang_open(cpu_gang *, cpu_device *);
void cpu_gang_close(cpu_gang *);
bool cpu_gang_run(cpu_gang *, cpu_grid *, cpu_worker *me); /* every block at once; false: no more threads to be had */

#endif
