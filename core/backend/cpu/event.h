/* SPDX-License-Identifier: MIT
 *
 * Events: a moment in a stream. Queued operations hold a reference, so an event may be destroyed at any time. */
#ifndef MW_CPU_EVENT_H
#define MW_CPU_EVENT_H

#include <pthread.h>

#include "core/backend/backend.h"

typedef struct cpu_graph cpu_graph;

typedef struct cpu_event {
  mw_event base;
  atomic_int refs;
  pthread_mutex_t lock;
  pthread_cond_t reached;
  _Atomic uint64_t recorded, done; /* the number of the last record asked for, and of the last that happened */
  double time;                     /* of that, seconds */
  /* recorded in a captured stream: the nodes whoever waits for it depends on */
  cpu_graph *capture;
  int *nodes;
  int nnodes;
} cpu_event;

mw_status cpu_event_make(mw_device *, bool timing, mw_event **out, mw_error *);
void cpu_event_destroy(mw_event *);
mw_status cpu_event_record(mw_event *, mw_stream *, mw_error *);
mw_status cpu_event_query(mw_event *, mw_error *);
mw_status cpu_event_synchronize(mw_event *, mw_error *);
mw_status cpu_event_elapsed(mw_event *from, mw_event *to, double *seconds, mw_error *);

void cpu_event_retain(cpu_event *);
void cpu_event_release(cpu_event *);
void cpu_event_reach(cpu_event *, uint64_t number);                 /* record `number` happens now */
bool cpu_event_await(cpu_event *, uint64_t number, double seconds); /* false: not reached in that time */

#endif
