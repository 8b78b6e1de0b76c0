/* SPDX-License-Identifier: MIT
 *
 * Streams: the default one runs its work in the calling thread, the others queue it for a thread of their own.
 * One operation has one form everywhere: run at once, in a stream's slot, or as a graph's node. */
#ifndef MW_CPU_STREAM_H
#define MW_CPU_STREAM_H

#include "core/backend/cpu/device.h"
#include "core/backend/cpu/event.h"
#include "core/backend/cpu/grid.h"

typedef struct cpu_graph cpu_graph;

typedef enum cpu_op_kind {
  CPU_OP_LAUNCH,
  CPU_OP_COPY,
  CPU_OP_FILL,
  CPU_OP_RECORD,
  CPU_OP_WAIT,
  CPU_OP_CALL,
  CPU_OP_GRAPH
} cpu_op_kind;

typedef struct cpu_op {
  cpu_op_kind kind;
  uint64_t ticket;
  unsigned interrupts; /* Ctrl-C so far when it was queued: dropped after another one */
  union {
    cpu_launch launch;
    struct {
      char *to;
      const char *from;
      size_t bytes;
    } copy;
    struct {
      char *to;
      uint64_t pattern;
      size_t width, count;
    } fill;
    struct {
      cpu_event *event;
      uint64_t number;
    } mark; /* record: becomes record `number`; wait: for that one */
    mw_callback call;
    cpu_graph *graph;
  };
} cpu_op;

enum { CPU_SLOTS = 128, CPU_SLOT_ARGS = 512 };

typedef struct cpu_slot {
  cpu_op op;
  char *large; /* for argument blocks over CPU_SLOT_ARGS; grows, kept */
  size_t large_bytes;
  _Alignas(16) char args[CPU_SLOT_ARGS];
} cpu_slot;

struct cpu_stream {
  mw_stream base;
  bool blocking;
  cpu_stream *next;
  cpu_worker *worker; /* NULL on the default stream */
  pthread_t thread;
  bool started, dying, finished;
  pthread_mutex_t lock;
  pthread_cond_t work, progress; /* the thread waits for work, others for progress */
  bool thread_sleeps;
  int watchers;
  cpu_slot *slots;
  _Atomic uint64_t queued, done; /* operations */
  _Atomic uint64_t oldest;       /* ticket of the first unfinished one; UINT64_MAX: none */
  mw_error error;                /* of asynchronous work, not reported yet */
  atomic_bool failed;
  /* while it is captured; see capture.c */
  cpu_graph *capture;
  bool capture_origin;
  int *tails; /* nodes the next one depends on */
  int ntails, tails_room;
};

mw_status cpu_stream_make(mw_device *, bool blocking, int priority, mw_stream **out, mw_error *);
void cpu_stream_destroy(mw_stream *);
mw_status cpu_stream_per_thread(mw_device *, mw_stream **out, mw_error *);
mw_status cpu_stream_wait(mw_stream *, mw_event *, mw_error *);
mw_status cpu_stream_callback(mw_stream *, mw_callback, mw_error *);
mw_status cpu_stream_query(mw_stream *, mw_error *);
mw_status cpu_stream_synchronize(mw_stream *, mw_error *);
mw_status cpu_stream_launch(mw_stream *, const mw_launch *, mw_error *);
void cpu_stream_priorities(mw_device *, int *least, int *greatest);

cpu_stream *cpu_stream_main(cpu_device *);    /* makes the default stream */
void cpu_stream_free(cpu_stream *);           /* joins its thread */
void cpu_stream_reap(cpu_device *, bool all); /* frees destroyed streams whose work is done; all: waits for it */

/* Runs, queues or captures one operation. args_bytes: of a launch's argument block, copied where it must outlive the
 * call. */
mw_status cpu_stream_submit(cpu_stream *, const cpu_op *, size_t args_bytes, mw_error *);
mw_status cpu_op_run(cpu_device *, cpu_worker *, int priority, cpu_op *, mw_error *);
cpu_launch cpu_launch_from(const mw_launch *); /* args stay the caller's */

/* transfer.c */
mw_status cpu_transfer_run_copy(cpu_device *, cpu_worker *, char *to, const char *from, size_t bytes, int priority,
                                mw_error *);
mw_status cpu_transfer_run_fill(cpu_device *, cpu_worker *, char *to, uint64_t pattern, size_t width, size_t count,
                                int priority, mw_error *);

/* Waits until every operation queued so far is done. only_blocking: in blocking streams. Ctrl-C: MW_INTERRUPTED. */
mw_status cpu_streams_drain(cpu_device *, bool only_blocking, mw_error *);
mw_status cpu_stream_drain(cpu_stream *, mw_error *);
mw_status cpu_stream_take_error(cpu_stream *, mw_error *); /* MW_OK: none */
mw_status cpu_streams_cancel(cpu_device *, mw_error *);    /* ends all work after Ctrl-C; returns MW_INTERRUPTED */

#endif
