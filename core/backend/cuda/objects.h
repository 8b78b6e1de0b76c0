/* SPDX-License-Identifier: MIT
 *
 * The objects of the CUDA backend and what its files give each other. ops.c holds the table that core/bind calls and
 * is the folder's page of contents.
 *
 * One thread, the script's, makes every call, so nothing here is locked. A device keeps lists of its streams and
 * buffers: a buffer that several streams used is freed after all of them, and a stream that is destroyed
 * leaves no buffer pointing at it. Every entry into the driver goes through cuda_enter, which rejects a lost device
 * and makes its context current, and every result through CUDA_TRY. */
#ifndef MW_CUDA_OBJECTS_H
#define MW_CUDA_OBJECTS_H

#include "core/backend/backend.h"
#include "core/backend/cuda/cubin.h"
#include "core/backend/cuda/driver.h"
#include "core/compile/refusals.h"
#include "core/source/signature.h"

typedef struct cuda_device cuda_device;
typedef struct cuda_stream cuda_stream;
typedef struct cuda_buffer cuda_buffer;
typedef struct cuda_event cuda_event;
typedef struct cuda_module cuda_module;
typedef struct cuda_kernel cuda_kernel;
typedef struct cuda_graph cuda_graph;
typedef struct cuda_unit cuda_unit;

struct cuda_stream {
  mw_stream base;
  cuda_queue queue; /* NULL: the default stream */
  bool blocking;    /* waits for the default stream and is waited for by it */
  bool dead;        /* destroyed during a capture; goes when the capture ends */
  cuda_stream *next;
};

struct cuda_device {
  mw_device base;
  cuda_ordinal ordinal;
  cuda_context context;
  cuda_pool pool;         /* NULL: no stream-ordered allocation */
  cuda_marker join;       /* orders one stream after another; free again after each use */
  size_t reserved_shared; /* per block, by the hardware */
  cuda_stream main;
  cuda_stream per_thread; /* CU_STREAM_PER_THREAD; among the streams from its first use on */
  cuda_stream *streams;   /* the main one not among them */
  cuda_buffer *buffers;
  cuda_buffer *deferred; /* freed during a capture */
  cuda_module *retired; /* unloaded during a capture */
  cuda_kernel *last;    /* launched */
  bool sync_each;       /* MOONWARP_SYNC=1 */
  bool abandoned;       /* a wait was interrupted: work may never end */
  uint64_t asked, peers; /* a bit for each ordinal: the access to its memory was asked for, and is open */
  uint64_t told;         /* the same: whether it was said that copies go through the host */
  cuda_device *next;    /* open */
  bool lost;
  char lost_why[512];
};

struct cuda_buffer {
  mw_buffer base;
  cuda_buffer *previous, *next;
  bool pooled;     /* by cuMemAllocAsync */
  bool registered; /* plain host memory that was pinned */
  bool surface;    /* an image that is one, not a texture */
  cuda_handle image; /* of MW_SPACE_IMAGE, to whose address it points */
};

struct cuda_event {
  mw_event base;
  cuda_marker marker;
  bool captured; /* recorded in a capture */
};

typedef struct cuda_lowered { /* a template and what its kernel is called in the code */
  char *expression, *symbol;
} cuda_lowered;

struct cuda_unit { /* one compilation */
  void *image;     /* cubin, or PTX text */
  size_t image_bytes;
  bool ptx, from_cache;
  char *log;
  char *assembler_log; /* what ptxas said of its functions; NULL: it did not run */
  char *device_code; /* what was compiled instead of the source: core/compile/front.h; "": the source as it is */
  mw_refusals refused; /* kernels that the device code is without */
  cuda_lowered *lowered;
  int nlowered;
  cuda_image read;
  cuda_code code; /* NULL on an offline device */
  cuda_unit *next;
};

struct cuda_kernel {
  mw_kernel base; /* name and params are owned */
  cuda_function function;
  size_t dynamic_limit; /* dynamic shared memory it may use now */
  int carveout;         /* as the function has it now, of mw_launch */
  mw_prefer prefer;
  const cuda_entry *entry;
  cuda_kernel *next;
};

struct cuda_module {
  mw_module base;
  mw_source source; /* its own copy, for templates and PTX later */
  cuda_unit *units; /* the first one is the module itself */
  cuda_kernel *kernels;
  char **names;
  char *declarations; /* see cuda_declarations; NULL: not read yet */
  int graphs;  /* that hold kernels of it */
  bool closed; /* unloaded when the last graph goes */
  cuda_module *next_retired;
};

typedef struct cuda_launched { /* a kernel node */
  cuda_node node;
  mw_launch launch; /* but for its arguments, which are gone */
} cuda_launched;

struct cuda_graph {
  mw_graph base;
  cuda_drawing drawing;
  cuda_replay replay;
  cuda_launched *launched;
};

/* ---- status.c: results of the driver --------------------------------------------------------------------------- */

extern _Thread_local cuda_context cuda_current;

mw_status cuda_failed(cuda_device *, cuda_result, const char *call, mw_error *); /* of a result that is not CUDA_OK */
mw_status cuda_reject_lost(const cuda_device *, mw_error *);
mw_status cuda_make_current(cuda_device *, mw_error *);

#define CUDA_TRY(device, err, call, ...) cuda_check(device, cuda_driver.call(__VA_ARGS__), #call, err)

static inline mw_status cuda_check(cuda_device *device, cuda_result code, const char *call, mw_error *err) {
  return code == CUDA_OK ? MW_OK : cuda_failed(device, code, call, err);
}

static inline mw_status cuda_enter(cuda_device *device, mw_error *err) {
  if (device->lost) return cuda_reject_lost(device, err);
  return cuda_current == device->context ? MW_OK : cuda_make_current(device, err);
}

/* The same of a device that may not be the current one. */
#define CUDA_CALL(device, err, call, ...)                                                                              \
  ({                                                                                                                   \
    mw_status entered_ = cuda_enter(device, err);                                                                      \
    entered_ == MW_OK ? CUDA_TRY(device, err, call, __VA_ARGS__) : entered_;                                           \
  })

static inline cuda_device *cuda_device_of(mw_device *device) {
  return (cuda_device *)device;
}

/* ---- wait.c ---------------------------------------------------------------------------------------------------- */

extern cuda_device *cuda_open_devices;
extern cuda_graph *cuda_capture; /* being recorded, by streams of any device; NULL: none */
mw_status cuda_wait(cuda_stream *, mw_error *); /* until its work is done; Ctrl-C ends it */
mw_status cuda_wait_event(cuda_event *, mw_error *);
mw_status cuda_wait_all(cuda_device *, mw_error *); /* for all streams but those being captured */
bool cuda_stuck(cuda_device *);                     /* waiting for it may never end */
bool cuda_others_settled(const cuda_device *);      /* waits for all other open devices; false: Ctrl-C ended the wait */
void cuda_order(cuda_device *, cuda_queue first, cuda_queue then); /* what is in `first` now runs before what enters */
void cuda_order_others(cuda_device *, cuda_queue then); /* the same of all that other devices have queued */

/* ---- device.c, probe.c, offline.c ------------------------------------------------------------------------------ */

void cuda_probe(mw_probe *);
mw_status cuda_open(const char *which, mw_device **, mw_error *);
void cuda_close(mw_device *);
mw_status cuda_synchronize(mw_device *, mw_error *);
void cuda_state(mw_device *, mw_device_state *);
mw_status cuda_memory(mw_device *, size_t *free, size_t *total, mw_error *);
void cuda_describe_driver(char *text, size_t size); /* "CUDA driver 13.0, NVRTC 13.0" */
mw_status cuda_offline_open(const char *arch, mw_device **, mw_error *);

/* ---- memory.c, pages.c, copy.c ----------------------------------------------------------------------------------- */

mw_status cuda_alloc(mw_stream *, size_t, mw_space, mw_dtype, mw_buffer **, mw_error *);
void cuda_free(mw_buffer *);
void cuda_free_deferred(cuda_device *);
void cuda_leave_stream(cuda_device *, cuda_stream *); /* no buffer points at it any more */
mw_status cuda_prefetch(mw_stream *, mw_place, size_t, bool to_host, mw_error *);
mw_status cuda_advise(mw_place, size_t, mw_advice, bool set, bool by_host, mw_error *);
mw_status cuda_pin(mw_buffer *, mw_error *);
mw_buffer *cuda_buffer_new(cuda_device *, void *address, size_t bytes, mw_space);
mw_status cuda_copy(mw_stream *, mw_place to, mw_place from, size_t, mw_error *);
mw_status cuda_fill(mw_stream *, mw_place, const void *pattern, size_t width, size_t count, mw_error *);

/* ---- peer.c ----------------------------------------------------------------------------------------------------- */

bool cuda_peer(mw_device *, int index, mw_peer *);
bool cuda_reaches(mw_device *, mw_device *other);
void cuda_reach(cuda_device *, cuda_device *other); /* before a copy: opens the access both ways, or says why not */
void cuda_forget_peer(const cuda_device *); /* its context goes, and with it the access to its memory */

/* ---- texture.c ------------------------------------------------------------------------------------------------- */

mw_status cuda_texels(mw_stream *, const mw_image_shape *, mw_buffer **, mw_error *);
mw_status cuda_texels_copy(mw_stream *, const mw_image_shape *, mw_buffer *, mw_place array, bool to_array, mw_error *);
mw_status cuda_texture_make(mw_stream *, const mw_image_shape *, const mw_sampling *, mw_place, mw_buffer **, mw_error *);

/* ---- stream.c, event.c, graph.c -------------------------------------------------------------------------------- */

void cuda_reap_streams(cuda_device *);
mw_status cuda_stream_create(mw_device *, bool blocking, int priority, mw_stream **, mw_error *);
void cuda_stream_destroy(mw_stream *);
mw_status cuda_stream_per_thread(mw_device *, mw_stream **, mw_error *);
mw_status cuda_stream_wait(mw_stream *, mw_event *, mw_error *);
mw_status cuda_stream_call(mw_stream *, const mw_call *, mw_error *);
mw_status cuda_stream_callback(mw_stream *, mw_callback, mw_error *);
mw_status cuda_stream_query(mw_stream *, mw_error *);
mw_status cuda_stream_synchronize(mw_stream *, mw_error *);
void cuda_check_mode(mw_device *, const mw_check_mode *);
const mw_finding *cuda_findings(mw_device *);
const mw_counter_launch *cuda_counters(mw_device *, bool newest);
int cuda_touched(const mw_buffer *, int most, mw_touch *out);
void cuda_priorities(mw_device *, int *least, int *greatest);

mw_status cuda_event_create(mw_device *, bool timing, mw_event **, mw_error *);
void cuda_event_destroy(mw_event *);
mw_status cuda_event_record(mw_event *, mw_stream *, mw_error *);
mw_status cuda_event_query(mw_event *, mw_error *);
mw_status cuda_event_synchronize(mw_event *, mw_error *);
mw_status cuda_event_elapsed(mw_event *from, mw_event *to, double *seconds, mw_error *);

mw_status cuda_capture_begin(mw_stream *, mw_error *);
mw_status cuda_capture_end(mw_stream *, mw_graph **, mw_error *);
mw_status cuda_capture_note(cuda_stream *, const mw_launch *, mw_error *); /* after a launch during a capture */
mw_status cuda_graph_launch(mw_graph *, mw_stream *, mw_error *);
mw_status cuda_graph_update(mw_graph *, int node, const mw_launch *, mw_error *);
mw_status cuda_graph_dot(mw_graph *, char **, mw_error *);
void cuda_graph_destroy(mw_graph *);

/* ---- nvrtc.c, binary.c, module.c, kernel.c, text.c, occupancy.c -------------------------------------------------- */

/* reduced: only its device code is compiled, without a try of the source as it is. */
mw_status cuda_compile_unit(const mw_device *, const mw_source *, bool reduced, cuda_unit **, mw_error *);
mw_status cuda_compile_ptx(const mw_device *, const mw_source *, bool reduced, char **, mw_error *);
static inline bool cuda_is_reduced(const cuda_unit *unit) {
  return unit->device_code && *unit->device_code;
}
/* The source's device code, the user's own headers read in; NULL: there is no kernel in it. */
char *cuda_device_code(const mw_device *, const mw_source *, const cuda_image *);
/* What was compiled: the source, or its device code. */
static inline const char *cuda_compiled_text(const cuda_module *module) {
  return cuda_is_reduced(module->units) ? module->units->device_code : module->source.text;
}
mw_status cuda_binary_unit(const mw_device *, const mw_source *, cuda_unit **, mw_error *); /* what is compiled already */
void cuda_unit_free(cuda_unit *);

mw_status cuda_compile(mw_device *, const mw_source *, mw_module **, mw_error *);
void cuda_unload(mw_module *);
void cuda_module_release(cuda_module *); /* by a graph, once for each of its kernel nodes */
void cuda_unload_retired(cuda_device *);
mw_status cuda_module_instantiate(cuda_module *, const char *expression, cuda_unit **, mw_error *);
mw_status cuda_variable(mw_module *, const char *name, mw_buffer **, mw_param *, mw_error *);
mw_status cuda_text(mw_module *, const char *kind, char **, mw_error *);

mw_status cuda_kernel_get(mw_module *, const char *name, mw_kernel **, mw_error *);
void cuda_kernel_free(cuda_kernel *);
mw_status cuda_launch(mw_stream *, const mw_launch *, mw_error *);
mw_status cuda_allow_shared(cuda_kernel *, size_t dynamic, mw_error *); /* raises its limit where it must */
mw_status cuda_divide_cache(cuda_kernel *, int carveout, mw_prefer, mw_error *);
/* What was compiled, with the user's own headers read in. */
const char *cuda_declarations(cuda_module *);
void cuda_params_of(const cuda_entry *, const char *source, mw_signature *); /* its parameters; see params.c */

mw_status cuda_occupancy(mw_kernel *, int threads, size_t shared, mw_occupancy *, mw_error *);

#endif
