/* SPDX-License-Identifier: MIT
 *
 * What a compiled unit (the shared object made from one .cu source) and the host program share. Included by the C
 * host and, through shim/moonwarp.h, by the generated C++: so no headers, no types that differ between the two. */
#ifndef MW_CPU_ABI_H
#define MW_CPU_ABI_H

#define MW_ABI_VERSION 15

typedef struct mw_dim3 {
  unsigned x, y, z;
} mw_dim3;

/* One launch, constant while it runs. */
typedef struct mw_grid {
  const void *args; /* the argument block, parameters at their C++ offsets */
  mw_dim3     grid, block;
  unsigned    dynamic_shared; /* bytes */
} mw_grid;

/* What a worker thread lends to the block it is running. */
typedef struct mw_worker {
  char              *dynamic_shared; /* extern __shared__ memory; its end touches a guard page */
  char              *static_shared;  /* the unit's __shared__ variables; likewise */
  unsigned long long block;          /* linear index of the block being run; stored before its first instruction */
  unsigned long long blocks;         /* how many neighbours are run with it */
  unsigned           number;         /* of its thread among those that run blocks; the script's and streams' have 0 */
} mw_worker;

/* One CUDA thread of the fiber engine. The unit's built-ins read it through the thread-local `self`. */
typedef struct mw_thread {
  mw_dim3        thread_idx, block_idx;
  const mw_grid *grid;
  mw_worker     *worker;
  unsigned       rank; /* linear thread index in the block: warp = rank / 32, lane = rank % 32 */
  struct mw_local *locals;  /* in check mode those that are followed, the innermost one: shim/check/cell.h */
  unsigned long long stamp; /* in check mode what its accesses leave in memory's shadow: shim/check/cell.h */
  struct mw_warp_log *log;  /* where its accesses are counted: shim/check/counter.h; NULL: they are not */
  unsigned long long path;  /* of calls and loops, on which it has come to where it is */
  unsigned calls;           /* functions that it is in */
  unsigned long long rounds; /* of loops that are in no other, so far */
} mw_thread;

enum mw_warp_op { /* what the lanes named in a mask do together */
  MW_WARP_SYNC,
  MW_WARP_SHFL,      /* arg: source lane within width */
  MW_WARP_SHFL_UP,   /* arg: delta */
  MW_WARP_SHFL_DOWN, /* arg: delta */
  MW_WARP_SHFL_XOR,  /* arg: lane mask */
  MW_WARP_BALLOT,
  MW_WARP_ALL,
  MW_WARP_ANY,
  MW_WARP_MATCH_ANY,
  MW_WARP_MATCH_ALL, /* *predicate set where not NULL */
  MW_WARP_ADD,       /* __reduce_*_sync on 32-bit values */
  MW_WARP_MIN,
  MW_WARP_MAX,
  MW_WARP_UMIN,
  MW_WARP_UMAX,
  MW_WARP_AND,
  MW_WARP_OR,
  MW_WARP_XOR,
};

enum mw_barrier_op { MW_BARRIER_SYNC, MW_BARRIER_COUNT, MW_BARRIER_AND, MW_BARRIER_OR };

typedef struct mw_warp_request {
  enum mw_warp_op    op;
  unsigned           mask;
  unsigned long long value;
  unsigned           bytes; /* significant bytes of value */
  int                arg, width;
  int               *predicate;
  const char        *what; /* "__shfl_down_sync" */
  const char        *file;
  int                line;
} mw_warp_request;

/* What the host gives a unit when it is loaded. */
typedef struct mw_runtime {
  /* fiber engine; column: distinguishes two barriers of one line, 0 if the compiler does not say */
  int  (*barrier)(enum mw_barrier_op, int value, const char *file, int line, int column);
  /* fiber engine: meets `count` threads, or all of the block where that is 0, at one of the 16 named barriers */
  void (*named_barrier)(unsigned id, unsigned count, const char *what, const char *file, int line);
  /* fiber engine, of a cuda::barrier: waits for the end of its phase; wakes those who do */
  void (*phase_wait)(const void *barrier, const char *file, int line);
  void (*phase_end)(const void *barrier);
  void (*grid_barrier)(const char *file, int line);                           /* fiber engine, cooperative launch */
  unsigned long long (*warp)(const mw_warp_request *);                        /* fiber engine */
  /* fiber engine: meets the lanes of the warp that can run; `place` grows with the text */
  void (*meet)(unsigned place);
  unsigned (*active_mask)(void);                                              /* fiber engine */
  void (*yield)(void);                                                        /* fiber engine: let other threads run */
  unsigned long long (*nanoseconds)(void);                                     /* any engine: a clock */
  int  (*print)(const char *format, ...) __attribute__((format(printf, 1, 2))); /* any engine */
  void (*fail)(const char *what, const char *file, int line) __attribute__((noreturn)); /* assert, __trap; file: NULL, not known */
  /* loop and split engine: a loop seems to wait for a thread that runs only after it */
  void (*spun)(const char *file, int line) __attribute__((noreturn));
  void (*overrun)(void) __attribute__((noreturn)); /* a local array was: the canary next to it is gone */
  const struct mw_check *check; /* for units of the check flavor: shim/check/cell.h */
} mw_runtime;

/* Reads that are written out, where an int counts the texels of a slice: all axes are clamped, or some have a border. */
enum mw_usual { MW_USUAL_NOT, MW_USUAL_CLAMPED, MW_USUAL_BORDER };
enum mw_address { MW_ADDRESS_WRAP, MW_ADDRESS_CLAMP, MW_ADDRESS_MIRROR, MW_ADDRESS_BORDER }; /* as CUDA numbers them */

/* What a kernel is given for a texture or a surface, by value: nothing that a thread stores can change it. */
typedef struct mw_image {
  char              *at;         /* the first texel; first of all, as in a parameter that is a pointer */
  unsigned long long row, slice; /* bytes; slice: of a layer or face as well */
  unsigned           side[3];    /* texels, at least 1; layers and faces are the third side */
  float              scale[3];   /* from coordinates to texels: 1, or of normalised ones the side */
  unsigned char      dtype, components, texel; /* mw_dtype of a component; texel: bytes */
  unsigned char      address[3]; /* mw_address */
  unsigned char      linear, normalised;
  unsigned char      as_float;   /* integers are read as numbers from 0 or -1 to 1 */
  unsigned char      raw;        /* a texel is read as it is */
  unsigned char      usual;      /* mw_usual */
  const struct mw_image *self;   /* the same in the host's memory, for what is too long to be compiled into a kernel */
} mw_image;

typedef struct mw_unit_param {
  const char   *name, *type;     /* "x", "const float *" */
  unsigned char dtype;           /* mw_dtype of the value or of what the pointer points to */
  unsigned char lanes;           /* 1, or 2 to 4 for float2, int4, ... */
  unsigned char pointer, is_const;
  unsigned      size, offset;
} mw_unit_param;

enum { MW_FIBERS_TO_COUNT = 2 };

typedef struct mw_unit_kernel {
  const char          *name; /* "memcopy", "scale<float>" */
  const mw_unit_param *params;
  unsigned             nparams, args_bytes;
  const char          *engine;     /* "loop", "split" or "fiber": which of the two entries below is set */
  const char          *engine_why; /* why not a faster engine; "" if none */
  int                  max_threads; /* __launch_bounds__, else 1024 */
  unsigned             shared_bytes; /* static __shared__ memory, as far as the unit knows it */
  /* loop and split: runs the blocks first ... last-1 (linear index, x fastest) one after the other. */
  void (*run)(const mw_grid *, mw_worker *, unsigned long long first, unsigned long long last);
  /* fiber: one thread of one block; self points to its mw_thread. For a barrier-free kernel the host simply calls it
   * for one thread after the other. */
  void (*thread)(const mw_grid *);
/* reaches a barrier, a warp operation or a loop that may wait: its threads need stacks of their own.
   * MW_FIBERS_TO_COUNT: only for counting, as it has loops */
  int needs_fibers;
  int waits;        /* it has a loop that waits for another thread, perhaps of a later block */
} mw_unit_kernel;

typedef struct mw_unit_variable {
  const char        *name;
  void              *address;
  unsigned long long bytes;
  unsigned char      dtype, lanes, is_const;
  unsigned char      fixed; /* of a const type: it may lie in memory that cannot be written */
} mw_unit_variable;

typedef struct mw_shared_variable { /* of a unit of the check flavor */
  const char        *name;
  unsigned long long offset, bytes;
  unsigned           element, dims[4]; /* bytes of an element; of an array the first dimensions, else 0 */
} mw_shared_variable;

/* What all __shared__ variables of a unit need, one after the other; known once it is bound. */
typedef struct mw_shared_layout {
  unsigned long long        bytes, align;
  const mw_shared_variable *variables; /* the first ones, in the check flavor; else none */
  unsigned                  nvariables;
} mw_shared_layout;

/* Every unit exports one of these as `mw_unit_table`. */
typedef struct mw_unit_table {
  int                     abi;
  const mw_unit_kernel   *kernels;
  unsigned                nkernels;
  const mw_unit_variable *variables;
  unsigned                nvariables;
  void (*bind)(const mw_runtime *);
  mw_thread **(*self)(void); /* address of the calling OS thread's `self`, which the scheduler sets at a switch */
  const mw_shared_layout *shared;
  char                   *guard; /* after all variables of the unit; the host makes it inaccessible */
  unsigned long long      guard_bytes;
  struct mw_check_site *sites; /* of the check flavor: where its code accesses memory; else NULL */
} mw_unit_table;

#endif
