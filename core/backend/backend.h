/* SPDX-License-Identifier: MIT
 *
 * The one interface between the Lua binding and a device.
 *
 * A Lua call such as go(x, y, n) enters core/bind (checks every argument, packs them into the kernel's own argument
 * block), crosses this header as one plain-C call, and reaches the device through exactly one of core/backend/cuda
 * and core/backend/cpu. A status travels back the same way and becomes a Lua error only in core/bind/error.c.
 * Nothing below knows Lua, and core/bind includes no header of a backend, but for the compiler's name in services.c.
 * Sizes are bytes unless a name says otherwise.
 *
 * Objects begin with the public part declared here; a backend embeds it as the first member of its own struct.
 * Functions that can fail return a status and fill the mw_error unless that is MW_OK, or MW_NOT_READY of a query; the
 * mw_error may be NULL. Texts that they return are freed by mw_free. The calling thread is the script's own thread
 * throughout; a backend's other threads never call back except through mw_callback. */
#ifndef MW_BACKEND_H
#define MW_BACKEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/backend/counters.h"
#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/compile/source.h"
#include "core/source/types.h"

typedef struct mw_backend mw_backend;
typedef struct mw_device  mw_device;
typedef struct mw_buffer  mw_buffer;
typedef struct mw_module  mw_module;
typedef struct mw_kernel  mw_kernel;
typedef struct mw_stream  mw_stream;
typedef struct mw_event   mw_event;
typedef struct mw_graph   mw_graph;

/* ---- what devices say of themselves ---------------------------------------------------------------------------- */

typedef struct mw_device_info {
  char     id[32];    /* "cpu", "cuda:0", "cuda:sm_90" */
  char     name[128]; /* "NVIDIA H200", "AMD EPYC ..." */
  char     arch[32];  /* "sm_90", "x86-64" */
  int      capability_major, capability_minor; /* 0, 0 on the CPU device */
  int      multiprocessors;                    /* the CPU device: threads that run blocks, the script's too */
  int      warp_size;
  int      max_threads_per_block, max_threads_per_multiprocessor, max_blocks_per_multiprocessor;
  int      max_block[3], max_grid[3];
  size_t   shared_per_block, shared_per_block_optin, shared_per_multiprocessor;
  int      registers_per_block, registers_per_multiprocessor;
  size_t   constant_bytes, l2_bytes;
  size_t   cache_bytes;   /* of the last cache before memory, where data may stay from launch to launch */
  size_t   memory_total;  /* on the CPU device three quarters of what the process may use */
  double   clock_hz, memory_clock_hz; /* 0: unknown */
  int      bus_bits;                  /* 0: unknown */
  double   peak_bandwidth;            /* bytes per second; 0: unknown */
  int      async_engines;
  bool     cooperative, managed, ecc;
  bool     pageable_access; /* a launch may take arrays of MW_SPACE_PAGEABLE */
  bool     concurrent_managed_access; /* pages of managed memory move one by one, while kernels run */
  bool     host_register; /* pin() works */
  bool     queue_gate;  /* a kernel that waits for the host's word in pinned memory holds the work queued after it */
  bool     checks;      /* every access of a kernel to memory is judged; nothing is timed, no array is filled at birth */
  bool     compares;    /* each launch is run by another engine as well, and compared; nothing is timed */
  bool     traces;      /* touched() knows which bytes a launch has touched */
  bool     offline;     /* an architecture without a device: compiles, reports occupancy, cannot run */
  char     pci[32];     /* "" on the CPU device */
  char     uuid[48];    /* "" where the device has none */
  char     driver[64];  /* "CUDA driver 13.0, NVRTC 13.0" or the host compiler and its version */
} mw_device_info;

typedef enum mw_throttle { /* bits */
  MW_THROTTLE_IDLE     = 1,
  MW_THROTTLE_CLOCKS   = 2,   /* the clocks that someone set */
  MW_THROTTLE_POWER    = 4,   /* the power limit */
  MW_THROTTLE_HARDWARE = 8,   /* temperature or power, far beyond the limits */
  MW_THROTTLE_SYNC     = 16,  /* the clock of a group of devices */
  MW_THROTTLE_HEAT     = 32,
  MW_THROTTLE_BRAKE    = 64,  /* asked for by the power supply */
  MW_THROTTLE_DISPLAY  = 128, /* the clocks that a display needs */
} mw_throttle;

typedef struct mw_device_state { /* at one moment, only read; -1 and "": unknown */
  double clock_hz, memory_clock_hz, clock_max_hz, memory_clock_max_hz;
  double temperature;        /* degrees Celsius */
  double power, power_limit; /* W */
  double energy;             /* J that it has used since some moment; what counts is the difference of two */
  double utilisation;        /* 0 to 1, of the last moments */
  double load;               /* processes that want a core, over the last minute */
  int    throttle;           /* of mw_throttle: why the clock is not higher */
  char   governor[32];
  char   driver[80];         /* the version of the kernel driver, "580.65.06" */
} mw_device_state;

typedef struct mw_probe {
  int  devices;      /* how many can be opened, offline ones not counted */
  char reason[512];  /* what makes them usable, or why not: what was looked for and where */
  char compiler[64]; /* of the host, which kernels need: "clang++ 14.0.6"; "" if they need none or there is none */
} mw_probe;

/* ---- objects --------------------------------------------------------------------------------------------------- */

typedef struct mw_compared { /* launches of a device that compares */
  size_t launches;             /* compared */
  size_t fibers, cooperative;  /* not compared: their own engine is the one to compare with; all blocks at once */
  size_t formless;             /* nor these: the other form does not compile */
} mw_compared;

struct mw_device {
  const mw_backend *backend; /* set, as refs is to 1, by mw_device_open */
  mw_device_info    info;   /* filled by open, constant afterwards */
  mw_stream        *main;   /* the default stream: docs/architecture/devices.md; NULL when offline */
  bool              counters; /* the last check_mode said so; the backend's */
  mw_compared       compared; /* the backend's */
  atomic_int        refs;   /* the script's handle and every child count one; see refs.h */
  struct mw_attached *attached; /* the binding's: closed before the device is */
};

typedef struct mw_attached { /* what the binding keeps of a device: what it has read of libraries, their handles */
  struct mw_attached *next;
  int                 key;
  void              (*close)(struct mw_attached *, mw_device *); /* frees it; nothing is queued any more */
} mw_attached;

typedef enum mw_space {
  MW_SPACE_DEVICE,   /* the device's own memory */
  MW_SPACE_PINNED,   /* host memory the device copies from and to directly */
  MW_SPACE_PAGEABLE, /* plain host memory */
  MW_SPACE_MANAGED,  /* one address for host and device */
  MW_SPACE_GLOBAL,   /* a __device__ or __constant__ variable of a module; not owned */
  MW_SPACE_WORK,     /* device memory to be written first: it can be had in a capture; arrays have none */
  MW_SPACE_TEXELS,   /* of a texture or surface, in the device's own layout; the address is the backend's */
  MW_SPACE_IMAGE,    /* a texture or surface object; at the address is what a kernel's parameter is given */
} mw_space;

struct mw_buffer {
  mw_device *device;
  void      *address;     /* as the device sees it; also the host's address where `host` is set */
  size_t     bytes;
  mw_space   space;
  bool       host;        /* the host may read and write at address */
  bool       multi_stream;   /* some stream other than `stream` has used it, so the free is ordered after all streams */
  bool       abroad;      /* streams of other devices have, too: the free is ordered after theirs as well */
  mw_stream *stream;      /* the stream it was allocated on; on CUDA the default one once that is gone */
  mw_module *owner;       /* for MW_SPACE_GLOBAL: the module that holds the variable; counted by the binding */
  mw_buffer *texels;      /* for MW_SPACE_IMAGE: the memory that it reads; counted by the binding */
  void      *accesses;    /* the binding's: queued operations that touch it; NULL: none was. From mw_malloc */
  atomic_int refs;        /* arrays and views that share it */
};

/* Limits of a kernel, the same on every device; the bytes of arguments are CUDA's. */
enum { MW_MOST_PARAMS = 1024, MW_MOST_ARGS = 32764, MW_MOST_NAME = 254 };

struct mw_kernel {
  mw_module      *module;
  int             handles;     /* open ones of the script: without any its launches are closed, too */
  const char     *name;        /* as asked for: "memcopy", "scale<float>" */
  const mw_param *params;
  int             nparams;
  size_t          args_bytes;  /* size of the argument block, parameters at their C++ offsets */
  int             registers;   /* per thread; 0 on the CPU device */
  int             max_threads; /* largest block this kernel can run in */
  size_t          shared_bytes, local_bytes, const_bytes; /* static shared per block; local per thread */
  int             spill_stores, spill_loads; /* bytes of code's accesses to spilled registers; -1: not known */
  const char     *engine;      /* "cuda"; "loop", "split" or "fiber" on the CPU device */
  const char     *engine_why;  /* why not a faster one; "" if none */
};

struct mw_module {
  mw_device  *device;
  atomic_int  refs;        /* the script's handle, its kernels' handles, its variables; set to 1 by the binding */
  char        name[256];   /* as messages call it: a file name or "source" */
  const char *const *kernel_names; /* plain (not template) kernels in source order, NULL-terminated; owned */
  const char *log;         /* the compiler's warnings; "" if none; owned */
  bool        from_cache;
};

struct mw_stream {
  mw_device    *device;
  int           priority;
  bool          capturing;
  bool          acted;     /* the binding's, as the next: launched, since it was looked at */
  unsigned char order;     /* its place in the order of operations, from 1; 0: none yet */
  uint64_t      serial;    /* no other stream of the process has it; 0: none yet. The binding's */
};
struct mw_event  { mw_device *device; bool timing; };
struct mw_graph  { mw_device *device; int nodes; /* kernel launches, in the order captured */ };

/* ---- requests -------------------------------------------------------------------------------------------------- */

typedef struct mw_place { /* one end of a copy */
  mw_buffer *buffer;      /* NULL: plain host memory at host */
  size_t     offset;      /* into buffer */
  void      *host;
} mw_place;

typedef enum mw_image_kind { /* of textures and surfaces; the first two lie in an array's memory */
  MW_IMAGE_LINEAR,
  MW_IMAGE_PITCHED,
  MW_IMAGE_1D,
  MW_IMAGE_2D,
  MW_IMAGE_3D,
  MW_IMAGE_1D_LAYERED,
  MW_IMAGE_2D_LAYERED,
  MW_IMAGE_CUBE,
} mw_image_kind;

typedef struct mw_image_shape {
  mw_image_kind kind;
  mw_dtype      dtype;      /* of a component: up to 32 bits */
  int           components; /* of a texel: 1, 2 or 4 */
  uint32_t      side[3];    /* texels, 1 where there is no such side; layers and faces are the third */
  bool          writable;   /* surfaces may write to it */
} mw_image_shape;

typedef struct mw_sampling { /* how a texture reads */
  int  address[3]; /* of each side, as CUDA numbers them: wrap, clamp, mirror, border */
  bool linear, normalised, as_float;
} mw_sampling;

typedef enum mw_advice { /* of managed memory */
  MW_ADVICE_READ_MOSTLY,        /* each side may keep a copy of a page until one writes it */
  MW_ADVICE_PREFERRED_LOCATION, /* where pages stay if they can */
  MW_ADVICE_ACCESSED_BY,        /* who keeps a mapping of them, wherever they are */
} mw_advice;

/* Which gets more of the memory that shared memory and the first-level cache are made of. */
typedef enum mw_prefer { MW_PREFER_NONE, MW_PREFER_SHARED, MW_PREFER_L1, MW_PREFER_EQUAL } mw_prefer;
enum { MW_CARVEOUT_ANY = -1 }; /* the driver chooses */

typedef struct mw_launch {
  mw_kernel  *kernel;
  uint32_t    grid[3], block[3];
  size_t      shared;      /* dynamic shared memory, bytes */
  bool        cooperative;
  int         carveout;    /* shared memory's part of it, per cent */
  mw_prefer   prefer;      /* these two are hints, without effect on the CPU device */
  void       *args;        /* the argument block, copied before launch returns */
  void      **params;      /* nparams pointers into args, for CUDA */
} mw_launch;

typedef enum mw_limit { /* of the blocks that a multiprocessor holds */
  MW_LIMIT_THREADS,
  MW_LIMIT_REGISTERS,
  MW_LIMIT_SHARED,
  MW_LIMIT_BLOCKS,
} mw_limit;

typedef struct mw_occupancy {
  int      blocks;       /* a multiprocessor */
  mw_limit limit;
  size_t   shared_bytes; /* a block takes, with what the hardware adds */
} mw_occupancy;

typedef struct mw_party { /* of a finding: who did it, and where */
  bool        known, block_known;
  bool        host;  /* the script itself, which is no thread */
  uint32_t    block[3], thread[3];
  const char *verb;  /* "read", "write", "atomic" */
  int         bytes; /* 0: not known */
  char        file[1024];
  int         line;       /* 0: not known */
  char        text[256];  /* of the line */
} mw_party;

typedef struct mw_object { /* memory that a finding is about */
  const char *kind;      /* "array", "shared", "dynamic shared", "variable", "static array"; NULL: not known */
  char        name[96];  /* of the variable, or of the parameter that points to the array; "": none */
  int         parameter; /* index from 1; 0: none */
  bool        indexed;
  long long   index;     /* of the element as the kernel counts, from 0; of an array from where the parameter points to */
  char        text[512]; /* "parameter 1 'x', index 4" */
} mw_object;

typedef struct mw_finding { /* what check mode found in a kernel */
  const char *kind, *remedy;
  char        kernel[128];
  size_t      launch;     /* index among the device's */
  mw_party    parties[2]; /* the second one of races */
  mw_object   object;
  char        remark[96];
  size_t      count;
  bool        intended;    /* the source says so */
  bool        warning;     /* it may be meant: fails nothing */
  size_t      seed;        /* of the order in which it was found first, by --check=schedule; 0: of none */
  const struct mw_finding *next;
} mw_finding;

typedef struct mw_check_mode { /* how a device in check mode judges */
  bool     strict; /* what GPUs since Volta permit is found as well */
  uint64_t seed;   /* of the order in which threads and blocks run; 0: in order */
  uint64_t orders; /* each launch is run in so many, of this seed and those that follow; 0: in one */
  uint64_t blocks; /* so many of a launch are run; 0: all */
  bool     counters; /* what warps ask of memory is counted, by launches of modules that are compiled from now on */
} mw_check_mode;

typedef struct mw_counter_line {
  const char *file, *text; /* text: of the line; "": not known */
  int         line;
  mw_counters counters;
} mw_counter_line;

typedef struct mw_counter_launch { /* a launch that was counted, or the sum over several of one configuration */
  char             kernel[128];
  size_t           launch;   /* index among the device's; the first of several */
  size_t           launches; /* that it is the sum of */
  uint32_t         grid[3], block[3];
  size_t           blocks, blocks_run; /* of the grid; fewer ran: the launch was a sample, or it failed */
  mw_counters      counters;
  mw_counter_line *lines; /* by file and line */
  size_t           nlines;
  const struct mw_counter_launch *next;
} mw_counter_launch;

typedef enum mw_touch_kind { MW_TOUCH_READ, MW_TOUCH_WRITE, MW_TOUCH_ATOMIC } mw_touch_kind;

typedef struct mw_touch { /* what a launch did with bytes of a buffer; atomic: by atomic or volatile accesses only */
  mw_touch_kind kind;
  size_t        from, bytes;
} mw_touch;

typedef struct mw_peer { /* another device of the backend */
  char id[32];
  bool access;  /* kernels reach its memory */
  bool atomics; /* also by atomic operations */
} mw_peer;

typedef struct mw_callback { /* run is called once, on any thread, when the stream reaches it, after Ctrl-C too */
  void (*run)(void *data);
  void *data;
} mw_callback;

typedef struct mw_range { /* an array that a call takes */
  const char *name;
  void       *at;
  size_t      bytes, element; /* bytes of an element */
  bool        reads, writes;  /* each of its elements */
} mw_range;

/* A call of a library's function, which knows the device's memory and streams by itself. Begins a struct of `bytes`
 * bytes, which is copied as it is where it must outlive the call. */
typedef struct mw_call {
  const char *name;
  /* queue: of the stream, as the device's libraries take it; NULL on the CPU device */
  mw_status (*run)(const struct mw_call *, void *queue, mw_error *);
  size_t      bytes;
  const char *file; /* of the script that calls, and the line; NULL: not known */
  int         line, nranges; /* nranges: in check mode only */
  size_t      ranges; /* from the struct's begin */
} mw_call;

static inline const mw_range *mw_call_ranges(const mw_call *call) {
  return (const mw_range *)((const char *)call + call->ranges);
}

/* ---- the table a backend fills; every entry is mandatory -------------------------------------------------------
 *
 * Misuse never gets here; below this line it is asserted at most. The binding has checked that
 * - objects are open, and of the device or the backend that they are used with;
 * - a device that is offline is asked to compile only, and for a kernel's attributes and its occupancy;
 * - sizes are above 0, and places with their bytes lie inside their buffers;
 * - what is prefetched or advised of is managed memory, what is pinned pageable, and the device's info says that it can;
 * - arguments have the types of their parameters, and grid, block, threads and shared memory are within the limits of
 *   device and kernel, of occupancy as of a launch; a cooperative launch only where the device can;
 * - an event that is waited for, asked or timed was recorded, and one that is timed was made for it;
 * - one stream at a time is captured, one made for it, which lives until capture_end is called for it;
 * - while it is, no stream that takes part is queried, synchronized, given a callback, a prefetch or bytes of the
 *   script's, no memory is pinned, and the device is not synchronized;
 * - an event that was recorded in a capture is waited for by a stream other than the default one, before that capture
 *   ends, and never asked or timed; a stream in a capture waits for no other event;
 * - a graph's node that is updated exists, and keeps its kernel and its shape;
 * - no stream is captured while texels or images are made; arrays that texels are copied from and to are the device's,
 *   and not pageable; what an image reads has the shape's type and bytes, and begins at a multiple of 512 of its buffer;
 *   rows of MW_IMAGE_PITCHED are multiples of 32 bytes. */

struct mw_backend {
  const char *name;    /* "cpu", "cuda": its devices' ids begin with it */
  const char *kind;    /* "cpu": the processor that the script runs on; "gpu": another one, with its own memory */
  bool        numbered; /* devices are NAME:0, NAME:1, ...; else there is one, NAME */
  bool        sized;    /* NAME:4 is that device with four threads */
  bool        parted;   /* NAME:0/2 is the first of two that share its threads; in check mode NAME:WORD:0/2 */
  bool        calls_later; /* call runs when the stream is there, and each time a graph is launched */
  const char *offline; /* NAME:PREFIXnn is an architecture without a device: "sm_"; NULL if none */
  const char *checks;  /* NAME:WORD is its device in check mode: "check"; NULL if none */
  const char *compares; /* NAME:WORD is its device that compares engines; NULL if none */

  void      (*probe)             (mw_probe *out); /* never fails, opens no device */
  /* which: what follows NAME: in the id, "0" if nothing does. Called by mw_device_open (refs.h) only. */
  mw_status (*open)              (const char *which, mw_device **out, mw_error *);
  void      (*close)             (mw_device *);   /* by mw_device_release only */
  mw_status (*memory)            (mw_device *, size_t *free, size_t *total, mw_error *);
  mw_status (*synchronize)       (mw_device *, mw_error *); /* all streams; reports what failed in one of them */
  /* The other devices of the backend that can be opened, by index from 0; false: there are no more. */
  bool      (*peer)              (mw_device *, int index, mw_peer *out);
  /* Whether kernels reach the memory of that device of the backend; opens the access where it has to be opened. */
  bool      (*reaches)           (mw_device *, mw_device *other);
  /* Fills what is known now of what the caller has set to unknown. Never fails, changes nothing. */
  void      (*state)             (mw_device *, mw_device_state *);

  /* bytes > 0; uninitialised; refs = 1, and the device is counted. */
  mw_status (*alloc)             (mw_stream *, size_t bytes, mw_space, mw_dtype, mw_buffer **out, mw_error *);
  void      (*free)              (mw_buffer *);   /* after the work queued so far; by mw_buffer_release only */
  /* In order with the stream. With plain host memory at one end it returns after the bytes have moved; another
   * backend's memory that the host can address is host memory. */
  mw_status (*copy)              (mw_stream *, mw_place to, mw_place from, size_t bytes, mw_error *);
  /* Writes the pattern of width 1, 2, 4 or 8 count times. */
  mw_status (*fill)              (mw_stream *, mw_place, const void *pattern, size_t width, size_t count, mw_error *);

  /* Moves the pages that the bytes touch to the device, or to the host; in order with the stream. */
  mw_status (*prefetch)          (mw_stream *, mw_place, size_t bytes, bool to_host, mw_error *);
  /* At once. set: false takes the advice back. by_host: the location is the host, else the device. */
  mw_status (*advise)            (mw_place, size_t bytes, mw_advice, bool set, bool by_host, mw_error *);
  mw_status (*pin)               (mw_buffer *, mw_error *); /* its space is MW_SPACE_PINNED then, until it is freed */

  /* Texels of that shape, uninitialised; not of the kinds that lie in an array's memory. As alloc. */
  mw_status (*texels)            (mw_stream *, const mw_image_shape *, mw_buffer **out, mw_error *);
  /* All of them from or to so many bytes of an array, row by row without gaps; as copy. */
  mw_status (*texels_copy)       (mw_stream *, const mw_image_shape *, mw_buffer *texels, mw_place array, bool to_array,
                                  mw_error *);
  /* A texture, or without a sampling a surface, of texels or an array's memory; `texels` is set but not counted. */
  mw_status (*image)             (mw_stream *, const mw_image_shape *, const mw_sampling *, mw_place texels,
                                  mw_buffer **out, mw_error *);

  mw_status (*compile)           (mw_device *, const mw_source *, mw_module **out, mw_error *); /* or from the cache */
  void      (*unload)            (mw_module *);   /* waits for its launches; by mw_module_release only */
  mw_status (*kernel)            (mw_module *, const char *name, mw_kernel **out, mw_error *); /* owned by the module */
  /* type describes an element. refs = 1, and the device is counted; `owner` is set but not counted. */
  mw_status (*variable)          (mw_module *, const char *name, mw_buffer **out, mw_param *type, mw_error *);
  mw_status (*text)              (mw_module *, const char *kind, char **out, mw_error *); /* "ptx", "sass", "cpp" */

  mw_status (*occupancy)         (mw_kernel *, int threads, size_t shared, mw_occupancy *out, mw_error *);
  /* Allocates nothing, but for a stream's first launches and in a capture. */
  mw_status (*launch)            (mw_stream *, const mw_launch *, mw_error *);

  /* How a device that checks judges launches from now on; waits for those before. */
  void      (*check_mode)        (mw_device *, const mw_check_mode *);
  /* What check mode, or comparing, has found on the device so far, in order; NULL: nothing. The device's. */
  const mw_finding *(*findings)  (mw_device *);
  /* In check mode: what the launch that ended last touched of the buffer, by kind, of each the first `most` ranges;
   * out has room for 3 * most. How many there are; 0 of a device that does not check. */
  int       (*touched)           (const mw_buffer *, int most, mw_touch *out);
  /* What was counted so far, in order, after waiting for queued work; many launches of one configuration may be one
   * sum, but later launches change no list that was asked for. newest: the last launch only. NULL: none. The device's. */
  const mw_counter_launch *(*counters)  (mw_device *, bool newest);

  mw_status (*stream_create)     (mw_device *, bool blocking, int priority, mw_stream **out, mw_error *);
  void      (*stream_destroy)    (mw_stream *);   /* its work still finishes */
  /* The device's own stream, the same one at each call; never destroyed. */
  mw_status (*stream_per_thread) (mw_device *, mw_stream **out, mw_error *);
  mw_status (*stream_wait)       (mw_stream *, mw_event *, mw_error *); /* joins the capture the event is of */
  mw_status (*stream_callback)   (mw_stream *, mw_callback, mw_error *);
  /* In order with the stream, also in a graph: what is called queues by itself, unless the backend calls later. */
  mw_status (*call)              (mw_stream *, const mw_call *, mw_error *);
  mw_status (*stream_query)      (mw_stream *, mw_error *); /* MW_OK, MW_NOT_READY, or what failed in it */
  mw_status (*stream_synchronize)(mw_stream *, mw_error *); /* reports what failed in it */
  void      (*priorities)        (mw_device *, int *least, int *greatest);

  mw_status (*event_create)      (mw_device *, bool timing, mw_event **out, mw_error *);
  void      (*event_destroy)     (mw_event *);
  mw_status (*event_record)      (mw_event *, mw_stream *, mw_error *);
  mw_status (*event_query)       (mw_event *, mw_error *); /* MW_OK, MW_NOT_READY, or an error */
  mw_status (*event_synchronize) (mw_event *, mw_error *);
  mw_status (*event_elapsed)     (mw_event *from, mw_event *to, double *seconds, mw_error *); /* or MW_NOT_READY */

  mw_status (*capture_begin)     (mw_stream *, mw_error *);
  /* out may be NULL: discard. A failure ends the capture as well. */
  mw_status (*capture_end)       (mw_stream *, mw_graph **out, mw_error *);
  mw_status (*graph_launch)      (mw_graph *, mw_stream *, mw_error *);
  mw_status (*graph_update)      (mw_graph *, int node, const mw_launch *, mw_error *); /* from 0 */
  mw_status (*graph_dot)         (mw_graph *, char **out, mw_error *);
  void      (*graph_destroy)     (mw_graph *);
};

/* ---- the backends (registry.c) --------------------------------------------------------------------------------- */

extern const mw_backend *const mw_backends[]; /* best first, NULL-terminated */

#endif
