/* SPDX-License-Identifier: MIT
 *
 * Check mode: judges every access of a kernel to memory by CUDA's rules, whatever its result is. A device in check mode
 * has one checker; a normal device has none. Units of the check flavor call hooks (shim/check/hooks.cpp), which pass on
 * what is not simply right.
 *
 *   checker.c   the life of a checker, and of a launch under it; epochs
 *   turn.c      who runs: one OS thread at a time
 *   access.c    an access against its cells
 *   order.c     which blocks are ordered by atomics and fences
 *   lanes.c     volatile accesses of lanes that count on each other's step
 *   parts.c     words of which several threads write different bytes
 *   finding.c   what was found, each once, with a count
 *   copy.c      asynchronous copies
 *   flight.c    those that nobody has waited for yet
 *   remedy.c    what to do about it
 *   place.c     from an address in code to file, line and text
 *   counter.c   what warps ask of memory, by line
 *   counter_list.c   the launches that were counted
 *   log.c       the requests of a warp, of which not all lanes have come yet
 *   request.c   what a request costs
 *   local.c     local variables
 *   call.c      calls of libraries
 *   shadow.c    cells by address
 *
 * The method is that of happens-before race detectors with a shadow cell per word: K. Serebryany and T. Iskhodzhanov,
 * "ThreadSanitizer: data race detection in practice" (2009), with the epochs of C. Flanagan and S. Freund, "FastTrack"
 * (2009); a block's barrier moves all of its threads on at once. */
#ifndef MW_CPU_CHECK_H
#define MW_CPU_CHECK_H

#include "core/backend/backend.h"
#include "core/backend/cpu/run/machine.h"
#include "core/backend/cpu/shim/check/cell.h"
#include "core/backend/cpu/shim/check/counter.h"

typedef struct cpu_checker cpu_checker;
typedef struct cpu_counter cpu_counter;
typedef struct cpu_counter_list cpu_counter_list;
typedef struct cpu_log cpu_log;

/* ---- shadow.c -------------------------------------------------------------------------------------------------- */

enum { CPU_SHADOW_BYTES = sizeof(mw_cell) / 4 }; /* of each byte */

typedef struct cpu_shadow_range {
  uintptr_t from;
  size_t bytes;
} cpu_shadow_range;

typedef struct cpu_shadow {
  mw_cell **chunks; /* by address >> MW_CHUNK_SHIFT */
  mw_cell **made;   /* those that there are */
  size_t nmade;
  cpu_shadow_range *ranges; /* memory that is checked */
  size_t nranges;
} cpu_shadow;

bool cpu_shadow_open(cpu_shadow *); /* false: the system gives no address space */
void cpu_shadow_close(cpu_shadow *);
/* Memory is there from now on; it holds values, or none yet. In the rest of a range around it no access is right. False:
 * the system gives no memory. */
bool cpu_shadow_add(cpu_shadow *, cpu_shadow_range memory, cpu_shadow_range all, bool has_values);
void cpu_shadow_remove(cpu_shadow *, uintptr_t from, size_t bytes); /* all of a range that was added */
void cpu_shadow_close_range(cpu_shadow *, uintptr_t from, size_t bytes); /* no access is right there, until it is fresh */
/* The cells of a range can be written from now on, and say nothing. False: no memory, and they are as before. */
bool cpu_shadow_open_range(cpu_shadow *, uintptr_t from, uintptr_t end);
void cpu_shadow_forget(cpu_shadow *, uintptr_t from, size_t bytes); /* nothing is known of it */
uintptr_t cpu_shadow_first_empty(const cpu_shadow *, uintptr_t from, size_t bytes); /* byte without a value; the end */
void cpu_shadow_fresh(cpu_shadow *, uintptr_t from, size_t bytes); /* it holds no values, and nobody has used it */
void cpu_shadow_written(cpu_shadow *, uintptr_t from, size_t bytes); /* by a copy or a fill: it holds values */
void cpu_shadow_copied(cpu_shadow *, uintptr_t to, uintptr_t from, size_t bytes); /* as far as it held values */
unsigned char *cpu_shadow_keep(const cpu_shadow *); /* which bytes hold values; mw_free */
void cpu_shadow_put(cpu_shadow *, const unsigned char *kept); /* the same ranges are there */
void cpu_shadow_clear_launches(cpu_shadow *); /* who read and wrote; what holds values stays */
void cpu_shadow_fold(cpu_shadow *, unsigned long long stamp); /* what the stamp's block did becomes its epoch 0 */
mw_cell *cpu_shadow_cell(const cpu_shadow *, uintptr_t address); /* NULL: nothing checked is there */
bool cpu_shadow_is_touched(const cpu_shadow *, cpu_shadow_range, const unsigned stamps[2]);
/* What launches of the stamps first to last did, as of mw_backend. */
int cpu_shadow_touched(const cpu_shadow *, cpu_shadow_range, const unsigned stamps[2], int most, mw_touch *out);

/* ---- checker.c ------------------------------------------------------------------------------------------------- */

typedef struct cpu_checked_launch { /* what a launch is called in findings */
  const char *kernel;
  const cpu_grid *grid;
  const char *source_name, *source_text; /* of its module */
  unsigned long long module; /* no other has the number */
  bool counters;             /* its unit can be */
  bool beside;               /* its blocks run side by side */
  uint64_t seed;             /* of the order by a seed in which it runs once more; 0: it is the launch itself */
  void *owner;
  void (*locate)(void *owner, uintptr_t address, mw_object *out); /* called by the worker that runs */
  void (*locate_fault)(void *owner, const cpu_fault *, mw_object *out);
} cpu_checked_launch;

cpu_checker *cpu_checker_open(mw_error *);
void cpu_checker_close(cpu_checker *); /* NULL: nothing */
cpu_shadow *cpu_checker_shadow(cpu_checker *);
const mw_runtime *cpu_checker_runtime(cpu_checker *); /* for bind of a checked unit */
/* Around the run of a checked unit's grid. begin sets grid->observer and grid->checker. */
void cpu_checker_begin(cpu_checker *, cpu_grid *, const cpu_checked_launch *);
const mw_check_mode *cpu_checker_mode(const cpu_checker *);
/* Before the end: the memory depends on the order of the launch; that of a seed has left other values. */
void cpu_checker_depends(cpu_checker *, const mw_object *, uint64_t seed);
bool cpu_checker_has_counters(const cpu_checker *); /* that launch */
/* Before the end: whether its warps had few requests open at a time. Then it does without fibers next time. */
bool cpu_checker_is_short(cpu_checker *);
/* Its blocks in the order of a seed, or a sample of them, where cpu_checker_shuffles says so. */
bool cpu_checker_shuffles(const cpu_checker *);
void cpu_checker_run(cpu_checker *, cpu_grid *, cpu_worker *);
/* Before the end: whether the launch may have used the memory, and that it has not used what is called so. */
bool cpu_checker_uses(cpu_checker *, uintptr_t from, size_t bytes);
void cpu_checker_unused(cpu_checker *, const mw_object *);
void cpu_checker_end(cpu_checker *, cpu_grid *); /* a fault of memory that has stopped it is a finding */
const mw_finding *cpu_checker_findings(cpu_checker *);
const mw_counter_launch *cpu_checker_counters(cpu_checker *, bool newest); /* while no launch runs */
void cpu_checker_judge(cpu_checker *, const mw_check_mode *); /* launches from now on; while none runs */
/* Before a library's function runs: what it reads and writes. */
void cpu_checker_call(cpu_checker *, const mw_call *);
/* As of mw_backend; while no launch runs. */
int cpu_checker_touched(const cpu_checker *, uintptr_t from, size_t bytes, int most, mw_touch *out);

/* ---- inside ---------------------------------------------------------------------------------------------------- */

typedef enum cpu_finding_kind {
  CPU_FINDING_BOUNDS,
  CPU_FINDING_UNINITIALISED,
  CPU_FINDING_RACE_SHARED,
  CPU_FINDING_RACE_GLOBAL,
  CPU_FINDING_WARP,
  CPU_FINDING_FENCE,
  CPU_FINDING_INDEX,
  CPU_FINDING_MISALIGNED,
  CPU_FINDING_BARRIER,
  CPU_FINDING_MASK,
  CPU_FINDING_OVERFLOW,
  CPU_FINDING_IDLE,
  CPU_FINDING_UNUSED,
  CPU_FINDING_SAMPLED,
  CPU_FINDING_HANG,
  CPU_FINDING_ORDER,
} cpu_finding_kind;

typedef struct cpu_party { /* of a finding */
  bool known, block_known;
  bool host; /* the script itself: it has no thread */
  unsigned long long block;
  unsigned rank;
  bool write;
  enum mw_access how;
  unsigned bytes;    /* 0: not known */
  const char *verb;  /* NULL: by write and how */
  const void *place; /* in the unit's code; NULL: unknown, or known by its line */
  const char *file;
  unsigned line;     /* 0: not known */
} cpu_party;

typedef struct cpu_scene { /* of a finding: where its first party was */
  unsigned block_threads;
  unsigned long long blocks;
  bool cooperative;
  bool met_block, met_flag; /* its block has seen another one's atomic write, or what somebody waits for */
  bool has_lock;            /* its thread has swapped a place by atomicCAS and not written it since */
  bool is_narrow;           /* both are atomic operations, one with the block's scope */
} cpu_scene;

/* A barrier of a block that some of its threads have not reached: they had ended, or were at another. */
enum { CPU_MISSED = 8 }; /* of a launch */
typedef struct cpu_missed {
  const char *file;
  int line;
  mw_dim3 block;
  uint32_t lanes[CPU_WARPS]; /* who has not, by warps */
} cpu_missed;

typedef struct cpu_noted { /* a finding with what tells it from others */
  mw_finding base;
  cpu_finding_kind kind;
  unsigned long long module;
  const void *places[2];
  unsigned lines[2];           /* of parties without a place */
  const struct cpu_noted *due; /* each time by threads that had this finding, an index out of its bounds */
  unsigned long long explained; /* how often by a race of the same read */
  cpu_scene scene;
  char advice[160];            /* a remedy of its own */
  struct cpu_noted *same;      /* an earlier one at the same lines, which counts it */
  bool changed;                /* a race of two writes: some have written different values */
  bool placed;                 /* lines and texts are known, or never will be */
  bool told;                   /* reported */
  struct cpu_noted *next;
} cpu_noted;

/* Threads of the launch that had an index out of its bounds or a misaligned address, by a hash of block and thread: what
 * such an access does is no finding of its own, of the latter only that the processor faults. */
enum { CPU_SLIPS = 256 };
typedef struct cpu_slip {
  unsigned long long block;
  unsigned rank;
  const cpu_noted *noted; /* NULL: no thread's */
} cpu_slip;

/* Words that held no value when they were read, by a hash of their address. What a race of that read explains is no
 * finding of its own. */
enum { CPU_EARLY = 1 << 13 };
typedef struct cpu_early {
  uintptr_t word;
  mw_check_bits reader; /* its stamp */
  cpu_noted *noted;
} cpu_early;

typedef struct cpu_doubt { /* a write over another: does it change what that one wrote? If volatile, it is a race then */
  bool open;
  cpu_noted *noted; /* the race that it is in any case; NULL: volatile */
  cpu_finding_kind kind;
  uintptr_t address;
  unsigned bytes;
  char before[16];
  cpu_party parties[2];
} cpu_doubt;

typedef struct cpu_turns { /* tickets: who runs checked code */
  pthread_mutex_t lock;
  pthread_cond_t next;
  unsigned long long asked, served;
} cpu_turns;

struct cpu_checker {
  mw_check hooks;
  mw_check_mode mode;
  mw_runtime runtime;
  cpu_shadow shadow;
  cpu_turns turns;
  unsigned long long launches;
  uint64_t seed;         /* the launch's */
  const void *waits_at;  /* the last atomic or volatile access */
  unsigned atomics;      /* and volatile accesses, by all launches */
  unsigned stamp_launch; /* 1 ... MW_CHECK_LAUNCHES - 1 */
  unsigned first_stamp;  /* of the launch; it may need several */
  pthread_mutex_t one;   /* held by a launch */
  cpu_grid *grid;        /* that runs */
  cpu_shuffle *shuffle;  /* of its blocks; NULL: they run in order */
  bool helped;           /* blocks of the launch ran side by side */
  bool cleared;          /* the cells have forgotten what the launch did first */
  unsigned first_atomic; /* how many atomics were before the launch */
  struct {
    unsigned long long begun, blocks, first, last; /* blocks of the launch; idle ones; the first of these; that runs */
  } idle;
  bool sampled;          /* some launch has left out blocks: who knows what they would have written */
  cpu_shadow_range *lent; /* shared memory of the workers that run it */
  unsigned nlent;
  const cpu_checked_launch *launch;
  mw_check_site *sites;       /* of the unit that runs */
  cpu_noted *findings, **last, *fault; /* fault: the last one noted */
  cpu_noted *told, *told_last;         /* those of launches that have ended, by base.next */
  cpu_slip slips[CPU_SLIPS];
  cpu_early early[CPU_EARLY];
  cpu_missed missed[CPU_MISSED]; /* of the launch */
  int nmissed;
  struct cpu_order *order; /* order.c */
  struct cpu_flights *flights; /* flight.c; NULL: no asynchronous copy so far */
  struct cpu_lanes *lanes; /* lanes.c; NULL: no volatile access so far */
  struct cpu_parts *parts; /* parts.c; NULL: no such word so far */
  cpu_counter *counter;    /* NULL: nothing has been counted yet */
  bool counters;           /* the launch that runs is */
  cpu_log *logs;           /* of the worker that has run last */
  const cpu_worker *logged;
  cpu_doubt doubt;
};

static inline cpu_checker *cpu_checker_now(void) {
  cpu_grid *grid = atomic_load_explicit(&cpu_current->grid, memory_order_relaxed);
  return grid->checker;
}

static inline mw_thread *cpu_checker_thread(void) { /* that runs on the calling OS thread */
  cpu_worker *worker = cpu_current;
  return worker->in_fibers ? &cpu_fibers_lane(worker->fibers)->thread : worker->plain;
}

/* turn.c: the right to run checked code; rest now and then lets other threads and blocks run, for one that waits by
 * atomics in a loop that was not known for it. */
void cpu_turn_take(cpu_grid *, cpu_worker *);
void cpu_turn_give(cpu_grid *, cpu_worker *);
void cpu_turn_rest(void);
void cpu_turn_preempt(void); /* the same in an order by a seed; nothing else */

/* access.c: the functions of mw_check. */
void cpu_check_access(const void *, unsigned bytes, int what, enum mw_access, const void *place, unsigned site);
void cpu_check_atomic(const void *, unsigned bytes, int read, int write, enum mw_access, const void *place,
                      unsigned site);
void cpu_check_fence(int block_only);
void cpu_check_rule(int what, const char *file, unsigned line, long long value, long long other, const char *type);

/* order.c */
void cpu_order_begin_block(cpu_checker *, cpu_worker *);
void cpu_order_end_launch(cpu_checker *);
/* Lanes of a warp have met, and not all of its live ones; until the warp's next epoch they count as ordered. */
void cpu_order_lanes(cpu_block_fibers *, unsigned warp, uint32_t lanes);
void cpu_order_next_epoch(cpu_checker *, cpu_worker *);
void cpu_order_fold(cpu_checker *, cpu_worker *); /* all that the worker's block did becomes its epoch 0 */
bool cpu_order_within_warp(cpu_checker *, const mw_thread *, unsigned other_rank);
bool cpu_order_any_lane(cpu_checker *, const mw_thread *);
void cpu_order_fence(cpu_checker *, mw_thread *, bool block_only);
/* An atomic or volatile write of that place; swaps: by an atomicCAS, which may be how a lock is taken. */
void cpu_order_release(cpu_checker *, uintptr_t, const mw_thread *, bool swaps);
void cpu_order_acquire(cpu_checker *, uintptr_t, const mw_thread *, bool by_volatile); /* and a read of it */
/* The thread waits in a loop; what it reads next by an atomic or volatile access is a flag. */
void cpu_order_wait(cpu_checker *, const mw_thread *);
bool cpu_order_is_flag(cpu_checker *, uintptr_t);
/* The thread has swapped a place by atomicCAS since its block's last barrier, and has not written it by another atomic
 * operation. */
bool cpu_order_has_lock(cpu_checker *, const mw_thread *);
/* The thread's block has seen a release of the other access's block at another place. */
bool cpu_order_have_met(cpu_checker *, mw_check_bits other, const mw_thread *, uintptr_t);
/* Whether another access of the block since its last barrier, of which `other` is the cell, is ordered before the thread
 * by atomics and fences. */
bool cpu_order_in_block(cpu_checker *, mw_check_bits other, const mw_thread *);
/* Whether another block's access, of which `other` is the cell, is ordered before one of the thread, by which of the
 * releases that it has seen; whether any block's may be. */
typedef enum cpu_reliance { CPU_RELY_ON_ALL, CPU_RELY_ON_SETTLED, CPU_RELY_ON_FENCED } cpu_reliance;
bool cpu_order_blocks(cpu_checker *, mw_check_bits other, const mw_thread *, cpu_reliance);
bool cpu_order_any(cpu_checker *, const mw_thread *);

/* lanes.c: of a volatile access; what was before is forgotten where stamps come again. True: it is the write of a finding,
 * which another lane should have read. */
bool cpu_lanes_access(cpu_checker *, uintptr_t, const mw_thread *, const cpu_party *);
void cpu_lanes_forget(cpu_checker *);

/* parts.c: who wrote bytes of a word before the write that its cell is about to keep, of the bytes of `mask`. */
void cpu_parts_keep(cpu_checker *, uintptr_t word, mw_check_bits write, unsigned mask);
mw_check_bits cpu_parts_find(cpu_checker *, uintptr_t word, unsigned mask); /* 0: nobody */
void cpu_parts_forget(cpu_checker *);
/* local.c: functions of mw_check; is the address of the running thread's stack, and of which of its variables? */
void cpu_check_local(mw_local *, int begins);
void cpu_check_used(const void *, const char *file, unsigned line);
bool cpu_is_on_stack(uintptr_t);
const mw_local *cpu_local_at(const mw_thread *, uintptr_t);
mw_object cpu_local_object(const mw_local *, uintptr_t);

/* finding.c: parties may be NULL. What it is about: what has the address, or this object. */
void cpu_finding_note(cpu_checker *, cpu_finding_kind, uintptr_t address, const cpu_party *first,
                      const cpu_party *second, const char *remark);
void cpu_finding_settle(cpu_checker *); /* the doubt of the last volatile write: before other threads go on */
void cpu_finding_tell(cpu_checker *, cpu_finding_kind, const cpu_party *first, const cpu_party *second,
                      const mw_object *);
void cpu_finding_fault(cpu_checker *, const cpu_fault *); /* of memory */
void cpu_finding_leave(cpu_checker *) __attribute__((noreturn)); /* ends the launch with the last finding as its fault */
void cpu_findings_place(cpu_checker *);
void cpu_findings_free(cpu_checker *);

/* Whether an address is of the shared memory that a worker lends to a block. */
bool cpu_is_shared(const cpu_grid *, const mw_worker *, uintptr_t address);

/* request.c: sectors and distinct bytes of a load or store; passes over the banks, and those beyond what its size needs;
 * distinct addresses of atomics, and the most lanes at one. */
typedef struct cpu_moved {
  size_t sectors, bytes;
} cpu_moved;
typedef struct cpu_wavefronts {
  size_t all, conflicts;
} cpu_wavefronts;
typedef struct cpu_contention {
  size_t addresses, most;
} cpu_contention;
cpu_moved cpu_request_moved(uint32_t lanes, const uint64_t addresses[MW_CUDA_WARP], unsigned bytes);
cpu_wavefronts cpu_request_wavefronts(uint32_t lanes, const uint64_t addresses[MW_CUDA_WARP], unsigned bytes);
cpu_contention cpu_request_contention(uint32_t lanes, const uint64_t addresses[MW_CUDA_WARP]);

/* log.c */
typedef struct cpu_log_half {
  mw_request **chunks;
  unsigned count, nchunks;
} cpu_log_half;
enum { CPU_LOG_SHORT = 1024, CPU_LOG_FOUND = 16 };
struct cpu_log {
  mw_warp_log warp;         /* what the hooks see; first */
  mw_request none;          /* which a lane without a request has joined last */
  mw_request all;           /* which all have joined, before the first one of a place and path */
  mw_request **buckets;     /* open ones by hash */
  cpu_log_half halves[2], *newer, *older;
  struct {
    const mw_request *first;
    mw_request *at;
  } found[MW_CUDA_WARP][CPU_LOG_FOUND]; /* of several of one place and path, by the first: where the lane has come to */
  bool has_found;
  unsigned long long until; /* lanes that have made fewer rounds of loops do not wait for others */
};
typedef void cpu_log_count(void *owner, const mw_request *);
void cpu_log_open(cpu_log *);
void cpu_log_free(cpu_log *);
bool cpu_log_is_empty(const cpu_log *);
/* For the thread; waits: it can wait for other lanes. */
bool cpu_log_is_full(const cpu_log *, const mw_thread *, bool waits);
/* The first request of that place and path that the lane has not joined; NULL if none. */
mw_request *cpu_log_find(cpu_log *, mw_count_what, unsigned long long path, unsigned lane);
mw_request *cpu_log_add(cpu_log *, mw_count_what, unsigned long long path);
void cpu_log_join(cpu_log *, mw_request *, unsigned lane, uintptr_t address);
void cpu_log_close(cpu_log *, cpu_log_count *, void *owner);       /* all that are open */
void cpu_log_close_older(cpu_log *, cpu_log_count *, void *owner); /* those opened before the last such call */

/* counter_list.c */
cpu_counter_list *cpu_counter_list_make(void);
void cpu_counter_list_free(cpu_counter_list *);
void cpu_counter_list_add(mw_counter_launch *, const mw_counter_line *); /* what is counted there, to the line's and to the sum */
void cpu_counter_list_append(cpu_counter_list *, const mw_counter_launch *, unsigned long long module); /* takes its lines over */
const mw_counter_launch *cpu_counter_list_all(cpu_counter_list *); /* later launches do not change it; NULL: empty */
const mw_counter_launch *cpu_counter_list_newest(const cpu_counter_list *); /* NULL: none yet */

/* counter.c */
cpu_counter *cpu_counter_make(cpu_checker *);
void cpu_counter_free(cpu_counter *); /* NULL: nothing */
cpu_log *cpu_counter_logs(cpu_counter *, const cpu_worker *);                /* of its warps */
void cpu_counter_warp(cpu_counter *, const cpu_worker *, unsigned warp);     /* all its lanes have met, ... */
void cpu_counter_block(cpu_counter *, const cpu_worker *);                   /* ... or all of the block */
bool cpu_counter_is_short(cpu_counter *); /* see cpu_checker_is_short */
/* Too many requests of the warp are open, and its lanes that can run wait, the furthest after so many rounds of loops. */
void cpu_counter_full(cpu_counter *, const cpu_worker *, unsigned warp, const mw_thread *behind,
                      unsigned long long furthest);
void cpu_counter_barrier(cpu_counter *, const char *file, int line);         /* of a warp with its block */
void cpu_counter_end(cpu_counter *, const cpu_grid *);                       /* of the launch */
const mw_counter_launch *cpu_counter_launches(const cpu_counter *, bool newest); /* as of mw_backend */
void cpu_check_count(unsigned long long what, const void *address); /* the function of mw_check */

/* flight.c: the running block's copies. find: who makes the one on its way to the address; false: none is. */
typedef struct cpu_flight {
  uintptr_t to, from; /* from 0: zeros */
  unsigned bytes, batch;
  const void *barrier; /* that tells of it; NULL: its thread waits for it */
  cpu_party party;
  unsigned site;
} cpu_flight;
typedef struct cpu_flights_of_thread {
  cpu_flight *at;
  unsigned count, batches, waited; /* batches made; those before are waited for */
} cpu_flights_of_thread;
void cpu_flights_begin_block(cpu_checker *, const cpu_worker *);
void cpu_flights_free(cpu_checker *);
bool cpu_flight_find(const cpu_checker *, uintptr_t, cpu_party *out);
cpu_flights_of_thread *cpu_flights_now(cpu_checker *, unsigned rank);
/* Those of all threads of which the barrier tells, and forgets them. */
void cpu_flights_end(cpu_checker *, const void *barrier, void (*end)(cpu_checker *, const cpu_flight *));

/* copy.c: the function of mw_check. */
void cpu_check_copy(int what, const void *to, const void *from, unsigned bytes, const void *barrier, const void *place,
                    unsigned site);

/* remedy.c: of one whose lines are known. */
const char *cpu_remedy_of(const cpu_checker *, cpu_noted *);
extern const char cpu_in_flight[], cpu_volatile[]; /* remarks */

/* place.c: file and line of a place in a loaded unit, outside the shim; false: not known. */
bool cpu_place_find(const cpu_checked_launch *, const void *place, char *file, size_t size, int *line);
/* The same of several places of one unit; line 0: not known. */
void cpu_places_find(const cpu_checked_launch *, const void *const *places, size_t count,
                     void (*found)(void *owner, const void *place, const char *file, int line), void *owner);
/* The text of a line of a source, without what stands around it. "": not known. */
void cpu_place_text(const cpu_checked_launch *, const char *file, int line, char *out, size_t size);

#endif
