/* SPDX-License-Identifier: MIT
 *
 * One OS thread that runs blocks: what it lends to a unit, the place a fault returns to, the text its kernels print.
 * Used by the script's thread, the pool's threads, the streams' threads and the gang's threads alike. */
#ifndef MW_CPU_WORKER_H
#define MW_CPU_WORKER_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>

#include "core/backend/backend.h"
#include "core/backend/cpu/abi.h"

typedef struct cpu_device cpu_device;
typedef struct cpu_grid cpu_grid;
typedef struct cpu_crew cpu_crew;
typedef struct cpu_away cpu_away;

typedef enum cpu_fault_kind {
  CPU_FAULT_NONE,
  CPU_FAULT_SIGNAL,  /* the processor stopped it: signal, code, address and write tell how */
  CPU_FAULT_FAIL,    /* assert, __trap: text tells */
  CPU_FAULT_RULE,    /* a rule of CUDA was broken: text is the whole sentence */
  CPU_FAULT_ABORTED, /* another block failed, or Ctrl-C */
} cpu_fault_kind;

typedef enum cpu_target { /* what a faulting address means */
  CPU_TARGET_ARRAY,     /* outside every array, as far as is known */
  CPU_TARGET_UNDER,     /* the guard below the stack: too much of it was used */
  CPU_TARGET_LOCAL,     /* the guard above the stack, or a canary in it: a local array was overrun */
  CPU_TARGET_NO_CODE,   /* a jump to where no code is, as a return from an overwritten frame is */
  CPU_TARGET_DYNAMIC,   /* beside dynamic shared memory */
  CPU_TARGET_STATIC,    /* beside static shared memory */
  CPU_TARGET_VARIABLE,  /* beside the unit's device variables */
} cpu_target;

typedef struct cpu_fault {
  cpu_fault_kind kind;
  cpu_target target;
  uintptr_t base; /* the memory whose guard it was, where that is not an array's ... */
  size_t bytes;   /* ... else 0 */
  const mw_unit_variable *variable; /* the one beside it; its module keeps it */
  int signal, code;
  uintptr_t address;
  bool write, direction_known;
  bool on_fiber;
  unsigned long long block;  /* linear index; the first, where several were run together */
  unsigned long long blocks; /* how many */
  bool has_thread;          /* thread is known */
  mw_dim3 thread;
  char text[640];
} cpu_fault;

typedef struct cpu_shared { /* shared memory: its end touches a guard, its start is less than a page above one */
  char *map;
  size_t room;  /* without the guards */
  size_t bytes; /* that the guards stand for now */
  char *at;
} cpu_shared;

typedef struct cpu_worker {
  mw_worker lent; /* what the unit sees */
  cpu_device *device;
  pthread_t thread;            /* the OS thread it serves now */
  jmp_buf trap;                /* where a fault returns to while armed */
  volatile sig_atomic_t armed; /* a kernel is running: a fault is the kernel's */
  volatile sig_atomic_t busy;  /* inside the runtime: not to be aborted now */
  _Atomic(cpu_grid *) grid;    /* the one it takes part in, else NULL */
  cpu_fault fault;             /* of the last guarded run */
  mw_thread alone;
  mw_thread *plain;            /* the thread of a barrier-free kernel in the fiber flavor that runs now */
  cpu_crew *crew;              /* the fiber engine's; made at its first use */
  cpu_away *away;              /* the other engines' stack; made at its first use */
  unsigned long long first, last; /* the blocks of the run */
  bool in_crew;                /* a block is running in fibers */
  bool mute;                   /* print nothing: a block is run again only to name a thread */
  cpu_shared dynamic, fixed;   /* extern __shared__ memory, and the static one of the unit */
  char *text;                  /* printed, not yet written out */
  size_t text_used, text_size;
  char *signal_stack;
  bool stack_lent; /* to its thread; false: that had one already */
  bool attached, has_timer;
  timer_t timer; /* ends a block of the script's own thread some time after Ctrl-C */
} cpu_worker;

enum { CPU_SHARED_MOST = 227 << 10, CPU_SHARED_GUARD = 1 << 20 };

extern __thread cpu_worker *cpu_current __attribute__((tls_model("initial-exec")));

cpu_worker *cpu_worker_make(cpu_device *);
void cpu_worker_free(cpu_worker *);
/* Makes the worker serve the calling OS thread: alternate signal stack; with_timer for the script's own thread. */
void cpu_worker_attach(cpu_worker *, bool with_timer);
void cpu_worker_detach(cpu_worker *); /* by the same OS thread */

/* Runs blocks first ... last-1 of the grid. False: something stopped it, worker->fault says what. */
bool cpu_worker_run(cpu_worker *, cpu_grid *, unsigned long long first, unsigned long long last);
void cpu_worker_enter(cpu_worker *, cpu_grid *); /* before the first run of a grid: shared memory, crew */
bool cpu_shared_beside(const cpu_shared *, uintptr_t address); /* in its guards? */
void cpu_worker_leave(cpu_worker *);             /* after the last: writes out what the kernel printed */

/* What kernels print. cpu_worker_print may be called inside a kernel only. */
int cpu_worker_print(cpu_worker *, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Starts a thread that takes no signals but faults and the private one. */
int cpu_thread_start(pthread_t *, void *(*)(void *), void *argument);

double cpu_now(void); /* CLOCK_MONOTONIC in seconds */

#endif
