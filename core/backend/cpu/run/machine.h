/* SPDX-License-Identifier: MIT
 *
 * The CPU device has two layers. core/backend/cpu holds the nouns of backend.h, one file each, as core/backend/cuda
 * does. This folder is the machine below them: CUDA's grids, blocks, warps and threads on this computer's cores. The
 * machine knows compiled code (abi.h); it knows no device, array, module, stream or event. A file calls only what
 * stands below it here:
 *
 *   ../ops.c                         the table
 *   ../launch.c  ../copy.c           what streams run on the machine
 *   ../compare.c                     a launch by its own engine and by fibers
 *   ../explain.c ../locate.c         a fault in words; what an address is
 *   ../state.c                       what kernels can write
 *   ../device.c                      opening and closing
 *   ../module.c  ../memory.c  ../event.c
 *   ../stream.c                      the queues
 *   ../graph.c  ../kernel.c  ../occupancy.c  ../probe.c  ../twin.c  ../element.c
 *   interleave.c                     blocks side by side on one OS thread, in an order by a seed
 *   coop.c                           a thread for each block of a cooperative launch
 *   pool.c                           the threads that share a grid
 *   shuffle.c                        the blocks of a grid in another order, or a sample of them
 *   grid.c                           one launch while it runs
 *   worker.c                         an OS thread that runs blocks
 *   block.c                          barriers, and a block's life in fibers
 *   warp.c                           warp operations
 *   preempt.c                        where a thread lets others run first, in an order by a seed
 *   schedule.c                       which fiber of a block runs next
 *   stack.c  fault.c  print.c        where kernels run, how they end early, what they print
 *   permute.c                        orders by a seed
 *   fiber.c  thread.c                switches between stacks; OS threads, time, floating-point mode
 *
 * A script's own thread, the pool's threads and the streams' threads all run blocks in the same way: as a worker. */
#ifndef MW_CPU_MACHINE_H
#define MW_CPU_MACHINE_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#if !defined(__x86_64__)
#include <fenv.h>
#endif

#include "core/backend/cpu/abi.h"
#include "core/backend/cpu/run/fiber.h"
#include "core/base/clock.h"

typedef struct cpu_grid cpu_grid;
typedef struct cpu_shuffle cpu_shuffle;
typedef struct cpu_interleave cpu_interleave;
typedef struct cpu_worker cpu_worker;
typedef struct cpu_block_fibers cpu_block_fibers;

/* ---- thread.c -------------------------------------------------------------------------------------------------- */

extern __thread cpu_worker *cpu_current __attribute__((tls_model("initial-exec"))); /* whose blocks this thread runs */

#if defined(__x86_64__)
typedef unsigned cpu_float_mode;
#else
typedef fenv_t cpu_float_mode;
#endif

/* CUDA's mode: rounds to nearest and keeps denormals. True: that is a change, to be undone by leave. */
bool cpu_float_enter(cpu_float_mode *before);
void cpu_float_leave(const cpu_float_mode *before);

size_t cpu_page_bytes(void);
void cpu_pause(void); /* in a loop that spins */
/* Waits for a signal, at most so many seconds. */
void cpu_wait_briefly(pthread_cond_t *, pthread_mutex_t *, double seconds);
int cpu_thread_abort_signal(void); /* sent to a thread, ends the block that it runs where the block's grid is stopped */
/* Starts a thread that takes no signals but faults and the one above. 0, or the system's error number. */
int cpu_thread_start(pthread_t *, void *(*)(void *), void *argument);

/* ---- permute.c ------------------------------------------------------------------------------------------------- */

uint64_t cpu_mixed(uint64_t); /* another number, of which each bit depends on all of these */
#define CPU_REVERSED UINT64_MAX /* the seed of the order from the last number to the first */
/* What stands at a place of 0 ... count-1 in an order of these numbers. */
unsigned long long cpu_permuted(uint64_t seed, unsigned long long count, unsigned long long place);
uint64_t cpu_block_seed(uint64_t seed, unsigned long long block); /* of the order of a block's threads; 0: in order */

/* ---- fault.c: what ends a block early, and a grid -------------------------------------------------------------- */

typedef enum cpu_fault_kind {
  CPU_FAULT_NONE,
  CPU_FAULT_SIGNAL,  /* the processor stopped it: signal, code, address and write say how */
  CPU_FAULT_FAIL,    /* assert, __trap: text says what */
  CPU_FAULT_RULE,    /* a rule of CUDA was broken: text is the whole sentence */
  CPU_FAULT_ABORTED, /* another block failed, or Ctrl-C */
} cpu_fault_kind;

typedef enum cpu_target { /* what a faulting address means */
  CPU_TARGET_ARRAY,    /* outside every array, as far as is known */
  CPU_TARGET_UNDER,    /* the guard below the stack: too much of it was used */
  CPU_TARGET_LOCAL,    /* the guard above the stack, or a canary in it: a local array was overrun */
  CPU_TARGET_NO_CODE,  /* a jump to where no code is, as a return from an overwritten frame is */
  CPU_TARGET_DYNAMIC,  /* next to dynamic shared memory */
  CPU_TARGET_STATIC,   /* next to static shared memory */
  CPU_TARGET_VARIABLE, /* next to the unit's device variables */
} cpu_target;

typedef struct cpu_fault {
  cpu_fault_kind kind;
  cpu_target target;
  uintptr_t base;                   /* the memory whose guard it was, if it is not an array's ... */
  size_t bytes;                     /* ... else 0 */
  const mw_unit_variable *variable; /* the one next to it; its module keeps it */
  int signal, code;
  uintptr_t address;
  const void *place; /* after the instruction's first byte; NULL: not known */
  bool write, direction_known;
  bool on_fiber;
  unsigned long long block;  /* linear index; the first, where several were run together */
  unsigned long long blocks; /* how many */
  bool has_thread;           /* thread is known */
  mw_dim3 thread;
  char text[640];
} cpu_fault;

typedef struct cpu_stop { /* why a grid ends before its last block */
  atomic_int why;
  unsigned interrupts; /* cpu_interrupts when it began */
  cpu_fault fault;     /* the first one, where why is CPU_STOP_FAULT */
} cpu_stop;

enum { CPU_GOING, CPU_STOP_FAULT, CPU_STOP_INTERRUPT };

typedef struct cpu_redzone { /* the checked bytes next to an array: the pattern until something writes there */
  const unsigned char *start, *end; /* of the array */
  size_t before, after;
  uint16_t pattern;
  const void *was; /* instead the bytes from start to end are looked at, which were these; NULL: usually */
} cpu_redzone;

enum { CPU_CANARY = 0xC5 };

extern atomic_uint cpu_interrupts; /* how often Ctrl-C was pressed */

void cpu_fault_install(void); /* the signal handlers; counted: one for each open device */
void cpu_fault_remove(void);
/* Leaves the running kernel with worker->fault filled, from whatever stack it runs on. */
void cpu_fault_leave(cpu_worker *) __attribute__((noreturn));
/* Notes which block and thread the worker runs. */
void cpu_fault_place(cpu_worker *);
/* Leaves the running kernel where its thread has written there. */
void cpu_fault_check_redzone(cpu_worker *, const cpu_redzone *);
uintptr_t cpu_redzone_written(const cpu_redzone *); /* the byte next to the array that was written to; 0: none was */

void cpu_stop_begin(cpu_stop *);
bool cpu_stopped(cpu_stop *);                    /* also looks at Ctrl-C */
void cpu_stop_by(cpu_stop *, const cpu_fault *); /* keeps the first fault */

/* ---- stack.c: the stacks that kernels run on ------------------------------------------------------------------- */

enum { CPU_SLAB = 32 };
typedef struct cpu_slab { /* the stacks of the 32 fibers of a warp in one mapping, each between inaccessible pages */
  char *base;
  size_t stack; /* bytes per stack; the slot is one page more */
} cpu_slab;

size_t cpu_stack_bytes(void);  /* a fiber's stack: $MOONWARP_CPU_STACK bytes, else 64 KiB */
int cpu_slab_make(cpu_slab *); /* 0, or -1 if the system gives no memory */
void cpu_slab_free(cpu_slab *);
cpu_stack cpu_slab_stack(const cpu_slab *, unsigned rank); /* of fiber 0 ... 31 */

/* The stack that blocks of the loop and split engines run on: not the host's, since a kernel that overruns a local
 * array writes over the frames above it. Its top ends at an inaccessible area, so what runs on reaches that and not the
 * host; a return from it reads nothing there and takes everything from the worker. */
typedef struct cpu_kernel_stack {
  char *map;
  cpu_fiber fiber;
  bool made;  /* the fiber waits for work */
  bool there; /* a kernel runs on it */
} cpu_kernel_stack;

/* Makes the stack, before a signal may end the run. False: the system gives no memory; worker->fault says so. */
bool cpu_stack_prepare(cpu_worker *);
/* Runs the worker's blocks there; worker->fault says it where bytes above the frames were overwritten. */
void cpu_stack_run(cpu_worker *);
void cpu_stack_free(cpu_kernel_stack *);

/* ---- print.c: printf in kernels -------------------------------------------------------------------------------- */

typedef struct mw_text {
  char *bytes;
  size_t used, size;
} mw_text;

/* Inside a kernel only. */
int cpu_print(cpu_worker *, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void cpu_print_flush(mw_text *); /* to standard output */

/* ---- schedule.c, warp.c, block.c: one block in the fiber engine ------------------------------------------------ */

enum { MW_CUDA_WARP = 32, CPU_WARPS = 32, CPU_NAMED = 16 };

typedef struct cpu_lane { /* one CUDA thread */
  mw_thread thread;
  cpu_fiber fiber;
  const mw_warp_request *request; /* while it waits in a warp operation */
  unsigned long long result;
  const char *what, *file; /* where it waits */
  int line, column;
  unsigned named;    /* the named barrier it waits at */
  const void *phase; /* the cuda::barrier whose phase it waits for */
  const void *site;  /* caller of active_mask */
  unsigned place;    /* where it meets others in step */
  unsigned long long until; /* it is held: see cpu_preempt */
  unsigned worked;          /* points that it has passed since it waited last */
} cpu_lane;

typedef struct cpu_group { /* lanes that meet in a warp operation */
  uint32_t mask, arrived;
} cpu_group;

typedef struct cpu_warp { /* one bit per lane; a lane is in exactly one of ready ... exited */
  uint32_t ready, at_barrier, at_named, at_phase, at_warp, at_grid, asking, meeting, resting, held, exited;
  uint32_t spinning; /* of the ready ones: in a loop that waits */
  unsigned left;     /* how often some that met went on, and others stayed */
  unsigned spins;    /* of others, while some have met */
  cpu_lane *lanes;
  cpu_slab slab;
  unsigned ngroups;
  cpu_group groups[MW_CUDA_WARP];
} cpu_warp;

typedef struct cpu_named { /* a named barrier being gathered */
  unsigned arrived, count; /* count 0: all threads that have not exited */
} cpu_named;

/* The threads of a block and the rules they meet under; a worker's, used again for every block it runs. */
struct cpu_block_fibers {
  cpu_worker *worker;
  cpu_grid *grid;
  mw_thread **self;
  unsigned threads, live, current;
  unsigned yields;
  uint64_t order; /* in which threads run: 0, CPU_REVERSED, or what the next random number comes of */
  uint32_t ready_warps;
  bool dirty;     /* fibers were left in the middle of a kernel: make them again */
  bool abandoned; /* a fiber gave the block up; worker->fault says why */
  bool paused;    /* it goes on where it is when it is run again */
  unsigned made;  /* warps whose fibers exist */
  /* the block barrier being gathered */
  unsigned arrived, truths;
  unsigned apart; /* threads that wait at another barrier of the same name */
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

typedef struct cpu_grid_barrier { /* the grid barrier of a cooperative launch */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned blocks, waiting, finished;
  bool told; /* that not all come */
  unsigned long turn;
} cpu_grid_barrier;

static inline cpu_lane *cpu_fibers_lane(cpu_block_fibers *fibers) { /* the running one */
  return &fibers->warps[fibers->current / MW_CUDA_WARP].lanes[fibers->current % MW_CUDA_WARP];
}

static inline uint32_t cpu_warp_lanes(const cpu_warp *warp) { /* all that have not exited */
  return warp->ready | warp->at_barrier | warp->at_named | warp->at_phase | warp->at_warp | warp->at_grid |
         warp->asking | warp->meeting | warp->resting | warp->held;
}

/* Takes the running lane out of the ready ones into the set that lies at so many bytes in a warp; it waits at a named
 * place. */
static inline cpu_lane *cpu_fibers_stop(cpu_block_fibers *fibers, size_t set, const char *what, const char *file,
                                        int line) {
  cpu_warp *warp = &fibers->warps[fibers->current / MW_CUDA_WARP];
  const uint32_t bit = 1u << fibers->current % MW_CUDA_WARP;
  cpu_lane *lane = cpu_fibers_lane(fibers);
  lane->what = what;
  lane->file = file;
  lane->line = line;
  lane->column = 0;
  warp->ready &= ~bit;
  *(uint32_t *)((char *)warp + set) |= bit;
  return lane;
}

cpu_block_fibers *cpu_fibers_make(cpu_worker *);
void cpu_fibers_free(cpu_block_fibers *);
/* Fibers for so many warps, which begin in entry(lane); false: the system gives no memory for their stacks. */
bool cpu_fibers_prepare(cpu_block_fibers *, unsigned warps, void (*entry)(void *));
void cpu_fibers_start(cpu_block_fibers *); /* runs threads, thread 0 first, until none can run */
void cpu_fibers_pause(cpu_block_fibers *); /* leaves the block as it is ... */
void cpu_fibers_resume(cpu_block_fibers *); /* ... and continues it */
void cpu_fibers_wait(cpu_block_fibers *);  /* runs others until the running lane's ready bit, cleared before, is set */
/* Lets the next warp go on (after CPU_WARPS the first one), and in it the first lane: warps take turns between warp operations, and lanes follow each
 * other. So code that leaves out a barrier computes what it does on GPUs, where the warps of a block keep step. */
void cpu_fibers_go_on(cpu_block_fibers *, unsigned after_warp);
void cpu_fibers_yield(cpu_block_fibers *); /* runs the others in turn; the running lane stays ready */
/* Runs the others of its warp until all that can run have met, wait in a loop, or are elsewhere. Who is behind in the
 * text then goes on first, so that those who have taken different ways come together again. */
void cpu_fibers_meet(cpu_block_fibers *, unsigned place);
void cpu_fibers_spin(cpu_block_fibers *, bool begins); /* around a yield of a lane that waits in a loop */
void cpu_fibers_rest(cpu_block_fibers *); /* runs the others of its warp until all rest that can run */
void cpu_fibers_wake(cpu_block_fibers *, unsigned warp, uint32_t lanes);
bool cpu_fibers_wake_held(cpu_block_fibers *, unsigned long long until); /* those held until then; false: none is */
void cpu_fibers_abandon(cpu_block_fibers *, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

unsigned long long cpu_warp_meet(cpu_block_fibers *, const mw_warp_request *);
void cpu_warp_settle(cpu_block_fibers *, unsigned warp); /* groups completed by an exit */

/* Runs block `block` of the grid, or continues it where it was paused. False: it was given up, worker->fault says
 * why. */
bool cpu_fibers_run(cpu_block_fibers *, cpu_grid *, unsigned long long block);
void cpu_grid_barrier_leave(cpu_grid_barrier *); /* a block does not come to the grid barrier again */
mw_dim3 cpu_block_index(const cpu_grid *, unsigned long long linear);

extern const mw_runtime cpu_runtime; /* what units call */

/* ---- worker.c: one OS thread that runs blocks ------------------------------------------------------------------ */

typedef struct cpu_shared { /* shared memory: its end touches a guard, its start is less than a page above one */
  char *map;
  size_t room;  /* without the guards */
  size_t bytes; /* that the guards stand for now */
  char *at;
} cpu_shared;

enum { CPU_SHARED_MOST = 227 << 10, CPU_SHARED_GUARD = 1 << 20 };

typedef void cpu_worker_main(void *owner, cpu_worker *);

struct cpu_worker {
  mw_worker ctx;         /* what the unit sees */
  pthread_t thread;      /* the OS thread it serves */
  cpu_worker_main *main; /* what that runs, with owner, where it was started for the worker */
  void *owner;
  jmp_buf trap;                   /* where a fault returns to while armed */
  volatile sig_atomic_t armed;    /* a kernel is running: a fault is the kernel's */
  volatile sig_atomic_t busy;     /* inside the runtime: not to be aborted now */
  _Atomic(cpu_grid *) grid;       /* the one it takes part in, else NULL */
  cpu_fault fault;                /* of the last guarded run */
  unsigned long long first, last; /* the blocks of the run: first ... last-1 */
  cpu_fiber home;                 /* the OS thread's own stack */
  cpu_kernel_stack kernel_stack;  /* the stack of the loop and split engines; made at its first use */
  cpu_block_fibers *fibers;       /* the fiber engine's threads; made at its first use */
  bool in_fibers;                 /* a block is running in fibers */
  mw_thread alone;
  unsigned long long stamp; /* of the running block, in check mode: without warp epoch and thread */
  unsigned warp_epochs[CPU_WARPS];
  bool met_block, met_flag; /* the running block has seen what others write by atomics, in check mode */
  unsigned rests;              /* how often the running block has let others run */
  mw_thread *plain;            /* the thread of a barrier-free kernel in the fiber flavor that runs now */
  cpu_shared dynamic, fixed;   /* extern __shared__ memory, and the static one of the unit */
  mw_text text;                /* printed, not yet written out */
  bool mute;                   /* print nothing: a block is run again only to name a thread */
  cpu_worker *outer;           /* the thread's worker before enter, and its floating-point mode */
  bool float_changed;
  cpu_float_mode float_before;
  char *signal_stack;
  bool stack_given; /* to its thread; false: that had one already */
  bool attached, has_timer;
  cpu_worker *next_attached;
  timer_t timer; /* of the script's own thread: ends a block some time after Ctrl-C, and looks for what runs long */
  const char *volatile kernel; /* that the thread has launched and that is not done; NULL: none */
  volatile unsigned long launches, seen; /* so far; at the timer's last look */
  volatile sig_atomic_t watched, looks;  /* the timer looks at it; how often it saw the same launch */
};

cpu_worker *cpu_worker_make(void);
void cpu_worker_free(cpu_worker *); /* NULL: nothing */
/* Starts an OS thread for the worker, which runs main(owner, worker). 0, or the system's error number. */
int cpu_worker_start(cpu_worker *, cpu_worker_main *, void *owner);
void cpu_worker_join(cpu_worker *);        /* waits until main has returned */
cpu_worker *cpu_worker_here(cpu_worker *); /* makes it serve the calling thread, a script's; returns it */
void cpu_worker_detach(cpu_worker *);      /* ends that */
void cpu_worker_launches(cpu_worker *, const char *kernel); /* a launch begins; NULL: it is over */

void cpu_worker_enter(cpu_worker *, cpu_grid *); /* before the first run of a grid: shared memory, fibers, float mode */
/* Runs blocks first ... last-1 of the grid it has entered. False: something stopped it, worker->fault says what. */
bool cpu_worker_run(cpu_worker *, unsigned long long first, unsigned long long last);
void cpu_worker_leave(cpu_worker *); /* after the last: writes out what the kernel printed */
/* Takes those that are in blocks of the grid, which is stopped, out of them. */
void cpu_worker_evict(cpu_worker *const *, int count, const cpu_grid *);

/* ---- grid.c: one launch while it runs -------------------------------------------------------------------------- */

typedef struct cpu_breach { /* of a rule for barriers or for masks */
  bool mask, hang;           /* of a mask; threads wait for ever; else of a barrier */
  bool apart;                /* both lanes wait, at different ones */
  const cpu_lane *lanes[2];  /* who; NULL: not known */
  const char *verbs[2];      /* what they do */
  const char *text;          /* of what */
  const char *remark;        /* NULL: none */
  const char *remedy;        /* NULL: the usual one */
} cpu_breach;

/* Who follows a grid that runs, in check mode. */
typedef struct cpu_observer {
  void (*take_turn)(cpu_grid *, cpu_worker *); /* before its blocks, and where a thread of it has waited ... */
  void (*give_turn)(cpu_grid *, cpu_worker *); /* ... and the opposites: one OS thread at a time runs checked code */
  void (*block)(cpu_grid *, cpu_worker *);     /* a block begins */
  void (*thread)(mw_thread *, cpu_worker *);   /* before the first instruction of a thread of it */
  void (*barrier)(cpu_block_fibers *);         /* all threads of the block have met ... */
  void (*named)(cpu_block_fibers *, unsigned warp, uint32_t lanes, bool last); /* ... or these, warp by warp, ... */
  void (*warp)(cpu_block_fibers *, unsigned warp, uint32_t lanes, bool orders); /* ... or these of one warp */
  void (*grid)(cpu_grid *);                                                    /* all blocks */
  unsigned (*rested)(cpu_block_fibers *, unsigned warp, uint32_t lanes); /* all that can run: who of them goes on? */
  void (*breach)(cpu_block_fibers *, const cpu_breach *);
} cpu_observer;

typedef void cpu_grid_run_function(cpu_grid *, cpu_worker *, unsigned long long first, unsigned long long last);

/* Its blocks, who takes part, what stopped it. Copies and fills of large arrays are grids too, with their own run
 * function and no unit. Lives on the stack of the thread that launches it. */
struct cpu_grid {
  mw_grid abi;
  const mw_unit_kernel *unit; /* NULL: a copy or a fill */
  const mw_unit_table *table;
  cpu_grid_run_function *run;
  bool fibers;          /* each thread of a block has its own stack */
  bool on_kernel_stack; /* the blocks run on the worker's other stack */
  const void *data;     /* of a copy or a fill */
  unsigned long long blocks;
  double block_seconds; /* estimate of one block on one thread; 0: unknown */
  int priority;
  cpu_grid_barrier *grid_barrier; /* where its blocks run together */
  bool cooperative;
  /* shared by those who take part */
  _Atomic unsigned long long next;
  unsigned long long chunk;
  atomic_int users;         /* pool threads inside */
  bool launcher_sleeps;     /* under the pool's lock */
  cpu_grid *link;           /* in the pool's list */
  const cpu_observer *observer; /* NULL: none */
  bool strict;                  /* it is to know of breaches that GPUs since Volta permit */
  void *checker;                /* the observer's */
  const cpu_redzone *watch; /* looked at after every thread: which one writes there? NULL: usually */
  uint64_t seed;            /* of the order of a block's threads; 0: in order */
  void (*help)(cpu_shuffle *); /* called where fibers wait, of a grid without an observer; NULL: usually */
  cpu_shuffle *shuffle;
  cpu_interleave *interleave; /* its blocks run side by side; NULL: usually */
  cpu_stop stop;
};

void cpu_grid_begin(cpu_grid *, const mw_grid *, const mw_unit_kernel *, const mw_unit_table *, int priority);
void cpu_grid_leave_fibers(cpu_grid *); /* which it does not need */
void cpu_grid_take_fibers(cpu_grid *);  /* although it may not need them */
/* For work that is not a kernel: run is called for pieces 0 ... blocks-1. */
void cpu_grid_begin_work(cpu_grid *, cpu_grid_run_function *, const void *data, unsigned long long blocks,
                         double block_seconds, int priority);
unsigned long long cpu_grid_take_part(cpu_grid *, cpu_worker *); /* runs chunks until none are left; the blocks run */
/* Runs these blocks; false: something stopped them, which the grid keeps. */
bool cpu_grid_run(cpu_grid *, cpu_worker *, unsigned long long first, unsigned long long last);

/* ---- shuffle.c: its blocks in another order, or a sample of them ----------------------------------------------- */

struct cpu_shuffle {
  cpu_grid *grid;
  uint64_t seed;
  unsigned long long wanted; /* blocks to be run */
  unsigned long long place, ran, first_left; /* in the order; so many have begun; all before this one have */
  unsigned char *begun;      /* a bit for each block */
  bool mute;                 /* the helper prints nothing */
  cpu_worker *helper;        /* runs the first blocks that are left, while one that may wait for them runs; NULL: none */
  atomic_bool helped;        /* it was asked for */
  atomic_bool ended;         /* the helper's thread has */
  bool over;                 /* those wanted have run */
  pthread_mutex_t lock;
};

/* Runs so many of the grid's blocks in the order of a seed: the first one, the last one and others if not all. Returns
 * how many have run: more, if one seemed to wait for others. */
unsigned long long cpu_shuffle_run(cpu_shuffle *, cpu_grid *, cpu_worker *);
void cpu_shuffle_help(cpu_shuffle *); /* a block waits: starts those that are left, the first ones first */

/* ---- pool.c, coop.c: the threads besides the launching one ------------------------------------------------------ */

typedef struct cpu_pool {
  atomic_int helpers; /* threads besides the launching one: wanted, and once started, there */
  double spin;        /* seconds that a thread spins before it sleeps */
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  cpu_grid *grids;    /* with blocks to hand out, most urgent first */
  atomic_uint posted; /* changes with every grid posted: the spinning ones watch it */
  atomic_int sleeping;
  bool quit;
  cpu_worker **workers;
  atomic_int started; /* of them */
} cpu_pool;

void cpu_pool_open(cpu_pool *, int helpers, double spin);
void cpu_pool_close(cpu_pool *);
bool cpu_pool_grow(cpu_pool *, int helpers);               /* starts threads; false: the system gives fewer */
void cpu_pool_run(cpu_pool *, cpu_grid *, cpu_worker *);   /* to its end; the worker serves the calling thread */
void cpu_pool_share(cpu_pool *, cpu_grid *, cpu_worker *); /* the same, by all threads from the first block on */

typedef struct cpu_coop {
  cpu_pool pool;
  pthread_mutex_t use;           /* one cooperative launch at a time */
  cpu_grid_barrier grid_barrier; /* its blocks' */
} cpu_coop;

enum { CPU_COOP_MOST = 256 }; /* blocks of a cooperative launch */

void cpu_coop_open(cpu_coop *);
void cpu_coop_close(cpu_coop *);
bool cpu_coop_run(cpu_coop *, cpu_grid *, cpu_worker *); /* all blocks at once; false: too few threads */

/* ---- interleave.c, preempt.c: blocks side by side on one OS thread, in check mode ------------------------------- */

typedef struct cpu_resident { /* who runs a block next to others */
  cpu_worker *worker;
  unsigned long long block, until; /* until: it is held */
  bool ended, at_grid;
} cpu_resident;

typedef struct cpu_crew { /* the residents' workers, kept from launch to launch */
  cpu_worker **workers;
  unsigned count;
  cpu_grid_barrier grid_barrier; /* of a cooperative launch */
} cpu_crew;

struct cpu_interleave {
  cpu_grid *grid;
  uint64_t random;                  /* what the next number comes of */
  unsigned rarity;                  /* a thread is preempted at one of 2^rarity points */
  unsigned long long points;        /* where others might have run, so far */
  unsigned long long changed;       /* the point of the last change of memory that others see */
  unsigned long long quiet;         /* rounds of waiting since somebody has done something */
  struct {
    const void *at;
    unsigned bytes;
    char was[16];
  } written;                        /* what was about to be written last, as it was */
  cpu_resident residents[CPU_COOP_MOST], *running;
  unsigned count, live;             /* residents; those whose blocks have not ended */
  unsigned long long next;          /* the block to begin when one ends */
  const char *wrong;                /* at the grid barrier; NULL: nothing */
};

uint64_t cpu_interleave_draw(cpu_interleave *);
/* Runs the grid in the order of a seed, so many blocks at a time, which begin in the order of their numbers; of a
 * cooperative launch all. 0: no thread is preempted. Muted if `me` is. */
void cpu_interleave_run(cpu_crew *, cpu_grid *, cpu_worker *me, uint64_t seed, unsigned residents, bool cooperative);
void cpu_crew_free(cpu_crew *);

/* The running thread is about to do what others see; or waits for others. They may run first, it may be held. */
void cpu_preempt(cpu_block_fibers *, bool waits);
void cpu_preempt_written(cpu_interleave *, const void *, unsigned bytes); /* is about to be written */
const char *cpu_preempt_at_grid(cpu_block_fibers *); /* until all blocks are at the grid barrier; the problem */

#endif
