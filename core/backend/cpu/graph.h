/* SPDX-License-Identifier: MIT
 *
 * Graphs: operations recorded from captured streams, replayed in the order of capture (which respects every
 * dependency). Queued replays hold a reference. */
#ifndef MW_CPU_GRAPH_H
#define MW_CPU_GRAPH_H

#include "core/backend/cpu/stream.h"

typedef struct cpu_node {
  cpu_op op;
  void *args; /* a launch's own copy of its argument block */
  size_t args_bytes;
  int *needs; /* nodes it depends on */
  int nneeds;
} cpu_node;

struct cpu_graph {
  mw_graph base;
  atomic_int refs; /* the binding's, each queued replay, each event recorded in the capture, each graph it is part of */
  cpu_node *nodes;
  int count, room;
  bool open; /* being captured */
};

mw_status cpu_graph_begin(mw_stream *, mw_error *);
mw_status cpu_graph_end(mw_stream *, mw_graph **out, mw_error *);
mw_status cpu_graph_launch(mw_graph *, mw_stream *, mw_error *);
mw_status cpu_graph_update(mw_graph *, int node, const mw_launch *, mw_error *);
mw_status cpu_graph_dot(mw_graph *, char **out, mw_error *);
void cpu_graph_destroy(mw_graph *);

/* capture.c: what a captured stream does with an operation. */
mw_status cpu_capture_op(cpu_stream *, const cpu_op *, size_t args_bytes);
mw_status cpu_capture_record(cpu_stream *, cpu_event *);
mw_status cpu_capture_wait(cpu_stream *, cpu_event *);
void cpu_capture_forget(cpu_event *); /* the event's place in a capture */
void cpu_capture_break(cpu_stream *); /* a captured stream goes away */

void cpu_graph_retain(cpu_graph *);
void cpu_graph_release(cpu_graph *);
mw_status cpu_graph_run(cpu_graph *, cpu_device *, cpu_worker *, int priority, mw_error *);

#endif
