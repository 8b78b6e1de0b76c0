/* SPDX-License-Identifier: MIT
 *
 * The objects of the CPU backend and what its files give each other. ops.c holds the table that core/bind calls;
 * run/machine.h shows the floors.
 *
 * The script's thread makes every call, and only it changes the list of streams or frees memory. A stream queues
 * operations for its own thread; the default stream runs them in the script's thread. An operation has one form
 * everywhere: run at once, in a stream's slot, or as a graph's node. */
#ifndef MW_CPU_OBJECTS_H
#define MW_CPU_OBJECTS_H

#include <stdio.h>

#include "core/backend/backend.h"
#include "core/backend/cpu/check/check.h"
#include "core/backend/cpu/run/machine.h"
#include "core/backend/cpu/translate/unit.h"

typedef struct cpu_device cpu_device;
typedef struct cpu_stream cpu_stream;
typedef struct cpu_event cpu_event;
typedef struct cpu_graph cpu_graph;
typedef struct cpu_op cpu_op;
typedef struct cpu_module cpu_module;
typedef struct cpu_comparer cpu_comparer;
typedef struct cpu_twin cpu_twin;

typedef struct cpu_kernel {
  mw_kernel base; /* name, engine_why and params are owned */
  const mw_unit_kernel *unit;
  const cpu_unit *owner;
  const char *instance;         /* the template instance its unit was loaded for; NULL: the module's own unit */
  _Atomic double block_seconds; /* of one block on one thread, from its last launches; 0: none yet */
  bool is_short;                /* in its last launch that was counted: see cpu_checker_is_short; under the checker's lock */
  struct cpu_kernel *next;
} cpu_kernel;

/* ---- operations: what a stream is given ------------------------------------------------------------------------ */

typedef struct cpu_op_type {
  mw_status (*run)(const cpu_op *, cpu_stream *, cpu_worker *me, mw_error *);
  void (*hold)(const cpu_op *);          /* counts what it refers to, when it is queued; NULL: nothing */
  void (*release)(const cpu_op *);       /* the opposite, when it has run */
  void (*label)(const cpu_op *, FILE *); /* in the picture of a graph; NULL: it cannot be part of one */
  bool always;                           /* also runs after Ctrl-C, so that no thread waits for ever */
  bool launch;                           /* of a kernel */
} cpu_op_type;

struct cpu_op {
  const cpu_op_type *type;
  uint64_t ticket;
  unsigned interrupts; /* Ctrl-C so far when it was queued: dropped after another one */
  /* what is copied where it must outlive the call: a launch's argument block, a library's call */
  const void *args;
  size_t args_bytes;
  union {
    struct {
      cpu_kernel *kernel;
      mw_grid abi; /* without the arguments */
      bool cooperative;
    } launch;
    struct {
      char *to;
      const char *from;
      size_t bytes;
      cpu_shadow *shadow; /* of what is written; else NULL */
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
};

/* ---- the objects ----------------------------------------------------------------------------------------------- */

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
  /* while it is captured; see graph.c */
  cpu_graph *capture;
  int *tails; /* nodes the next one depends on */
  int ntails;
};

struct cpu_event { /* queued operations hold a reference, so it may be destroyed at any time */
  mw_event base;
  atomic_int refs;
  pthread_mutex_t lock;
  pthread_cond_t reached;
  _Atomic uint64_t recorded, done; /* the number of the last record asked for, and of the last that happened */
  double time;                     /* of that, seconds */
  /* recorded in a captured stream: the nodes that a wait for it depends on */
  cpu_graph *capture;
  int *nodes;
  int nnodes;
};

typedef struct cpu_node {
  cpu_op op;
  mw_device *device; /* of the stream that was given it */
  int *needs; /* nodes it depends on */
  int nneeds;
} cpu_node;

struct cpu_graph {
  mw_graph base;
  atomic_int refs; /* the binding's, each queued replay, each event recorded in the capture, each graph it is part of */
  cpu_node *nodes; /* in the order of capture, which respects every dependency */
  int count;
  bool open; /* being captured */
};

typedef struct cpu_deferred { /* something to do after the work that is queued */
  struct cpu_deferred *next;
  uint64_t ticket; /* of the last operation it waits for */
  void (*run)(struct cpu_deferred *);
} cpu_deferred;

typedef struct cpu_buffer {
  mw_buffer base;
  cpu_deferred unmap; /* once it is freed */
  char *map;          /* the whole mapping, guards included */
  size_t map_bytes;
  cpu_redzone redzone;
  mw_dtype dtype;
} cpu_buffer;

typedef struct mw_span mw_span;

typedef struct cpu_found { /* an array near an address */
  bool found;
  uintptr_t start;
  size_t bytes;
} cpu_found;

enum { CPU_FREED = 64 };

typedef struct cpu_memory {
  pthread_mutex_t lock; /* the list, in which streams look for what a fault has met */
  cpu_buffer **arrays;  /* live ones, by address */
  size_t count;
  atomic_int redzones; /* live arrays with a redzone */
  cpu_shadow *shadow;  /* in check mode; else NULL */
  mw_span *range;      /* likewise: where arrays lie far apart; NULL: the system gives no such address space */
  cpu_found freed[CPU_FREED]; /* likewise: the last ones */
  size_t nfreed;
} cpu_memory;

/* Devices that share the processor's threads, and each other's memory; another device is a family of its own. */
typedef struct cpu_family {
  int parts, open; /* open: how many of them are */
  cpu_memory memory;
  cpu_checker *checker; /* in check mode; else NULL */
  cpu_device *teller;   /* of the open ones the one that tells what the checker has found */
  struct cpu_family *next;
} cpu_family;

struct cpu_device {
  mw_device base;
  cpu_worker *host; /* serves the script's thread */
  cpu_pool pool;
  cpu_coop coop;
  cpu_crew crew;
  cpu_family *family;
  int part;                    /* of the family, from 0 */
  cpu_memory *memory;          /* the family's, as the next */
  cpu_checker *checker;        /* in check mode; else NULL */
  size_t used;                 /* bytes, of live and deferred arrays */
  cpu_comparer *comparer;      /* where launches compare the engines; else NULL */
  cpu_module *modules;
  cpu_stream *streams;         /* all but the default one; also those destroyed whose work still runs */
  cpu_stream *per_thread;      /* one of them, or NULL: the per-thread default stream, from its first use on */
  cpu_deferred *deferred;
  _Atomic uint64_t tickets;    /* operations ever queued */
  atomic_int pending;          /* operations queued and not finished, all streams */
  atomic_int pending_blocking; /* of those, in streams that the default stream waits for */
  atomic_bool cancel;          /* Ctrl-C: queued operations are dropped */
  cpu_device *next;            /* open */
};

static inline cpu_device *cpu_device_of(const mw_stream *stream) {
  return (cpu_device *)stream->device;
}

/* ---- probe.c, device.c ----------------------------------------------------------------------------------------- */

void cpu_probe(mw_probe *);
void cpu_probe_info(mw_device_info *);
void cpu_probe_state(mw_device *, mw_device_state *);
size_t cpu_probe_available_memory(void); /* bytes free now */
mw_status cpu_device_open(const char *which, mw_device **, mw_error *);
void cpu_device_close(mw_device *);
void cpu_device_check_mode(mw_device *, const mw_check_mode *);
const mw_finding *cpu_device_findings(mw_device *);
const mw_counter_launch *cpu_device_counters(mw_device *, bool newest);
int cpu_device_touched(const mw_buffer *, int most, mw_touch *out);
mw_status cpu_device_synchronize(mw_device *, mw_error *);

/* ---- peer.c ---------------------------------------------------------------------------------------------------- */

enum { CPU_MOST_PARTS = 64 };

extern cpu_device *cpu_open_devices;
void cpu_peer_enter(cpu_device *); /* it is open */
void cpu_peer_leave(const cpu_device *);
void cpu_peer_id(char *id, size_t size, bool check, int part, int parts); /* "cpu:check:0/2" */
bool cpu_peer(mw_device *, int index, mw_peer *);
bool cpu_reaches(mw_device *, mw_device *other);

/* ---- memory.c, copy.c ------------------------------------------------------------------------------------------ */

void cpu_memory_open(cpu_memory *, cpu_shadow *);
void cpu_memory_close(cpu_memory *);
mw_status cpu_memory_alloc(mw_stream *, size_t, mw_space, mw_dtype, mw_buffer **, mw_error *);
void cpu_memory_free(mw_buffer *);
mw_status cpu_memory_info(mw_device *, size_t *free, size_t *total, mw_error *);
cpu_found cpu_memory_nearest(cpu_memory *, uintptr_t address);
typedef struct cpu_neighbours { /* the arrays on both sides of an address */
  cpu_found nearest, other;
} cpu_neighbours;
cpu_neighbours cpu_memory_neighbours(cpu_memory *, uintptr_t address);
size_t cpu_memory_pages(const cpu_buffer *, char **from); /* that the array lies in */
/* In check mode: the freed array to which the address belonged; its address space is not used again soon. */
cpu_found cpu_memory_freed(cpu_memory *, uintptr_t address);
uintptr_t cpu_found_distance(const cpu_found *, uintptr_t address); /* bytes between them; 0: inside */
/* The first parameter from `first` on next to whose array something was written, and the byte next to the array; -1:
 * none. Restores the pattern. */
int cpu_memory_overrun(cpu_memory *, const mw_kernel *, const void *args, int first, cpu_redzone *, uintptr_t *byte);
mw_status cpu_copy(mw_stream *, mw_place to, mw_place from, size_t, mw_error *);
mw_status cpu_fill(mw_stream *, mw_place, const void *pattern, size_t width, size_t count, mw_error *);
mw_status cpu_prefetch(mw_stream *, mw_place, size_t, bool to_host, mw_error *);
mw_status cpu_advise(mw_place, size_t, mw_advice, bool set, bool by_host, mw_error *);
mw_status cpu_pin(mw_buffer *, mw_error *);

/* ---- texture.c ------------------------------------------------------------------------------------------------- */

mw_status cpu_texels(mw_stream *, const mw_image_shape *, mw_buffer **, mw_error *);
mw_status cpu_texels_copy(mw_stream *, const mw_image_shape *, mw_buffer *, mw_place array, bool to_array, mw_error *);
mw_status cpu_texture_make(mw_stream *, const mw_image_shape *, const mw_sampling *, mw_place, mw_buffer **, mw_error *);

/* ---- module.c, kernel.c, occupancy.c --------------------------------------------------------------------------- */

mw_status cpu_module_compile(mw_device *, const mw_source *, mw_module **, mw_error *);
void cpu_module_unload(mw_module *);
mw_status cpu_module_kernel(mw_module *, const char *name, mw_kernel **, mw_error *);
mw_status cpu_module_variable(mw_module *, const char *name, mw_buffer **, mw_param *type, mw_error *);
/* Name and text of the source. Returns a number that no other module has. */
unsigned long long cpu_module_source(const mw_module *, const char **name, const char **text);
const mw_source *cpu_module_options(const mw_module *); /* that it was compiled with */
mw_status cpu_module_text(mw_module *, const char *kind, char **, mw_error *);
typedef struct cpu_variant { /* a kernel in the fiber flavor */
  const mw_unit_kernel *kernel;
  const mw_unit_table *table;
  const cpu_twin *there, *back; /* from the kernel's own unit, and to it; NULL: that is the fiber flavor */
} cpu_variant;

/* Compiles it at the first call; false: it does not compile. */
bool cpu_module_fiber_variant(cpu_kernel *, cpu_variant *);
/* All that kernels can write, of all modules, as the script sees it. */
void cpu_modules_variables(const cpu_device *, void visit(void *owner, const mw_unit_variable *), void *owner);
cpu_kernel *cpu_kernel_make(mw_module *, const char *name, const cpu_unit *, const mw_unit_kernel *,
                            const char *instance, const char *why);
void cpu_kernel_free(cpu_kernel *);
mw_status cpu_occupancy(mw_kernel *, int threads, size_t shared, mw_occupancy *, mw_error *);

/* ---- twin.c ---------------------------------------------------------------------------------------------------- */

cpu_twin *cpu_twin_make(const cpu_unit *from, const cpu_unit *to); /* of one program */
void cpu_twin_free(cpu_twin *);                                    /* NULL: nothing */
/* Addresses of the first unit's functions and variables in the memory become those of the other's. */
void cpu_twin_carry(const cpu_twin *, void *memory, size_t bytes);
void cpu_twin_carry_variables(const cpu_twin *); /* their values, from the first unit to the other */

/* ---- state.c --------------------------------------------------------------------------------------------------- */

typedef struct cpu_region { /* an array or a variable */
  char *at, *from; /* from: of its pages */
  size_t bytes, room;
  mw_dtype dtype;
  const mw_unit_variable *variable; /* NULL: it is an array */
} cpu_region;

typedef struct cpu_state {
  cpu_region *regions;
  size_t count, bytes; /* of all rooms */
} cpu_state;

cpu_state *cpu_state_open(cpu_device *); /* of now: no array or module may come or go */
void cpu_state_close(cpu_state *);
char *cpu_state_keep(const cpu_state *); /* a copy, region by region; mw_free */
void cpu_state_put(const cpu_state *, const char *kept);
void cpu_state_carry(const cpu_state *, const cpu_twin *); /* addresses in arrays */

/* ---- element.c ------------------------------------------------------------------------------------------------- */

enum { CPU_ELEMENT_TEXT = 32 };

size_t cpu_element_bytes(mw_dtype); /* 1 of what has no number's type */
double cpu_element_number(mw_dtype, const void *); /* of a type of floats */
double cpu_element_ulp(mw_dtype);                  /* of 1; 0: not of floats */
/* Equal, both NaN, or floats that are at most so many units in the last place apart, or so much. */
bool cpu_element_is_near(mw_dtype, const void *, const void *, unsigned ulps, double most);
void cpu_element_text(char out[CPU_ELEMENT_TEXT], mw_dtype, const void *);

/* ---- locate.c -------------------------------------------------------------------------------------------------- */

enum { CPU_NULL_REACH = 64 << 10 }; /* addresses below are of a null pointer */

typedef struct cpu_launched {
  cpu_device *device;
  cpu_kernel *kernel;
  const cpu_grid *grid;
} cpu_launched;

/* What an address is, or is next to, in a launch: called by a worker that runs it. */
void cpu_locate(const cpu_launched *, uintptr_t address, mw_object *out);
void cpu_locate_fault(const cpu_launched *, const cpu_fault *, mw_object *out);
/* The array that was meant by an address outside of all, and how far away it is. */
cpu_found cpu_locate_meant(const cpu_launched *, uintptr_t address);
void cpu_locate_array(const cpu_launched *, uintptr_t address, mw_object *out);
bool cpu_locate_element(const cpu_launched *, uintptr_t address, mw_object *out); /* of a parameter's array */
bool cpu_locate_variable(const mw_unit_variable *, uintptr_t address, mw_object *out); /* false: it is not there */
void cpu_locate_distance(char *out, size_t size, const cpu_found *, uintptr_t address); /* "just past the end of" */
uintptr_t cpu_locate_pointer(const cpu_grid *, const mw_param *); /* the argument, or what it begins with */
/* The start of the element that holds the byte: of what was written, some bytes may equal the pattern. */
uintptr_t cpu_locate_start(const mw_param *, uintptr_t base, uintptr_t byte);

/* ---- launch.c, explain.c --------------------------------------------------------------------------------------- */

mw_status cpu_launch(mw_stream *, const mw_launch *, mw_error *);
mw_status cpu_graph_launch(mw_graph *, mw_stream *, mw_error *);
mw_status cpu_graph_update(mw_graph *, int node, const mw_launch *, mw_error *);
/* The error for a kernel's grid that stopped with a fault; runs the block again to name the thread where that is not
 * known. */
mw_status cpu_explain(cpu_device *, cpu_worker *me, cpu_kernel *, cpu_grid *, mw_error *);
/* The error for a write next to an array that the guard page could not see; MW_OK: none. Runs the launch again to
 * find the thread. */
mw_status cpu_explain_redzone(cpu_device *, cpu_worker *me, cpu_kernel *, cpu_grid *, mw_error *);

/* ---- orders.c -------------------------------------------------------------------------------------------------- */

/* A launch in check mode that is run in several orders. begin: NULL: the system has not the memory. next puts back what
 * was there before the next order, whose seed is 0 for the one without preemption; false: all have run. look: an order has
 * ended well, under its checker. end says of an error in which order it came. */
typedef struct cpu_orders cpu_orders;

cpu_orders *cpu_orders_begin(cpu_device *, const char *kernel, mw_error *);
bool cpu_orders_next(cpu_orders *);
uint64_t cpu_orders_seed(const cpu_orders *);
void cpu_orders_look(cpu_orders *, const cpu_launched *);
mw_status cpu_orders_end(cpu_orders *, mw_status, mw_error *);

/* ---- compare.c ------------------------------------------------------------------------------------------------- */

typedef struct cpu_comparison cpu_comparison;

cpu_comparer *cpu_comparer_open(void);
void cpu_comparer_close(cpu_comparer *); /* NULL: nothing */
const mw_finding *cpu_comparer_findings(const cpu_comparer *);
/* Around a launch by its own engine; begin counts it, and is NULL where nothing is to be compared. end runs it by
 * fibers, unless it failed, and leaves what it has left. */
cpu_comparison *cpu_compare_begin(cpu_device *, cpu_kernel *, const mw_grid *, bool cooperative);
mw_status cpu_compare_end(cpu_comparison *, cpu_worker *me, mw_status, mw_error *);

/* ---- stream.c, event.c, graph.c -------------------------------------------------------------------------------- */

mw_status cpu_stream_make(mw_device *, bool blocking, int priority, mw_stream **, mw_error *);
void cpu_stream_destroy(mw_stream *);
mw_status cpu_stream_per_thread(mw_device *, mw_stream **, mw_error *);
mw_status cpu_stream_call(mw_stream *, const mw_call *, mw_error *);
mw_status cpu_stream_callback(mw_stream *, mw_callback, mw_error *);
mw_status cpu_stream_query(mw_stream *, mw_error *);
mw_status cpu_stream_synchronize(mw_stream *, mw_error *);
void cpu_stream_priorities(mw_device *, int *least, int *greatest);

cpu_stream *cpu_stream_main(cpu_device *);                         /* makes the default stream */
void cpu_stream_free(cpu_stream *);                                /* joins its thread */
mw_status cpu_stream_submit(cpu_stream *, cpu_op *, mw_error *);   /* runs, queues or captures one operation */
mw_status cpu_stream_drain(cpu_stream *, mw_error *);              /* until all work queued so far is done */
mw_status cpu_stream_take_error(cpu_stream *, mw_error *);         /* of earlier work; MW_OK: none */
/* Waits until every operation queued so far is done. only_blocking: in blocking streams. Ctrl-C: MW_INTERRUPTED. */
mw_status cpu_streams_drain(cpu_device *, bool only_blocking, mw_error *);
mw_status cpu_streams_cancel(cpu_device *, mw_error *); /* ends all work after Ctrl-C; returns MW_INTERRUPTED */
void cpu_streams_close(cpu_device *);                   /* frees all but the default one, after their work */
void cpu_streams_defer(cpu_device *, cpu_deferred *);   /* runs it once all that is queued so far is done, in ... */
void cpu_streams_reap(cpu_device *);                    /* ... some call of this, or at once where nothing is */

mw_status cpu_event_make(mw_device *, bool timing, mw_event **, mw_error *);
void cpu_event_destroy(mw_event *);
mw_status cpu_event_record(mw_event *, mw_stream *, mw_error *);
mw_status cpu_event_query(mw_event *, mw_error *);
mw_status cpu_event_synchronize(mw_event *, mw_error *);
mw_status cpu_event_elapsed(mw_event *from, mw_event *to, double *seconds, mw_error *);
mw_status cpu_stream_wait(mw_stream *, mw_event *, mw_error *);

mw_status cpu_capture_begin(mw_stream *, mw_error *);
mw_status cpu_capture_end(mw_stream *, mw_graph **, mw_error *);
mw_status cpu_graph_dot(mw_graph *, char **, mw_error *);
void cpu_graph_hold(cpu_graph *);
void cpu_graph_release(mw_graph *);
cpu_node *cpu_graph_nth_launch(cpu_graph *, int index); /* from 0; NULL: there are fewer */
/* What a captured stream does with an operation, and what becomes of events recorded in it. */
mw_status cpu_capture_op(cpu_stream *, const cpu_op *);
mw_status cpu_capture_record(cpu_stream *, cpu_event *);
mw_status cpu_capture_wait(cpu_stream *, cpu_event *);
void cpu_capture_forget(cpu_event *); /* the event's place in a capture */
void cpu_capture_leave(cpu_stream *); /* a stream leaves its capture */

#endif
