/* SPDX-License-Identifier: MIT
 *
 * Devices, memory, launches, streams, events and graphs of the null backend. */
#include "tests/backend_null/null.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>

#include "core/backend/refs.h"

enum { DEVICES = 2, MOST_CALLS = 64, MOST_JOINED = 64 };

typedef struct null_event {
  mw_event base;
  bool recorded, captured;
  double time;
} null_event;

typedef struct null_graph {
  mw_graph base;
  const mw_kernel *kernels[256];
} null_graph;

null_buffer *null_buffers[MOST_BUFFERS];
static null_graph *capture; /* under way */
static const mw_stream *captured;
static mw_event *marks[MOST_JOINED];   /* recorded in it */
static mw_stream *joined[MOST_JOINED]; /* wait for those */
static int nmarks, njoined;

/* ---- counting -------------------------------------------------------------------------------------------------- */

static struct call {
  const char *name;
  int count;
} calls[MOST_CALLS];

void null_count(const char *name) {
  struct call *call = calls;
  while (call->name && strcmp(call->name, name) != 0) call++;
  assert(call < calls + MOST_CALLS - 1);
  call->name = name;
  call->count++;
}

/* null.calls(name): how often the entry of that name has been called. */
static int calls_of(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const struct call *call = calls;
  while (call->name && strcmp(call->name, name) != 0) call++;
  lua_pushinteger(L, call->count);
  return 1;
}

/* null.buffers(): how many are alive. */
static int live_buffers(lua_State *L) {
  int live = 0;
  for (int i = 0; i < MOST_BUFFERS; i++) live += null_buffers[i] != NULL;
  lua_pushinteger(L, live);
  return 1;
}

__attribute__((visibility("default"))) int luaopen_moonwarp_null(lua_State *);

int luaopen_moonwarp_null(lua_State *L) {
  static const luaL_Reg functions[] = {{"buffers", live_buffers}, {"calls", calls_of}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

/* ---- devices --------------------------------------------------------------------------------------------------- */

null_device *null_device_of(const mw_device *device) {
  return (null_device *)(uintptr_t)device;
}

static void null_probe(mw_probe *out) {
  *out = (mw_probe){.devices = DEVICES, .reason = "kernels do not run"};
}

static void describe(mw_device_info *info, int number) {
  *info = (mw_device_info){
      .name = "null device",
      .arch = "null",
      .multiprocessors = 4,
      .warp_size = 32,
      .max_threads_per_block = 1024,
      .max_threads_per_multiprocessor = 2048,
      .max_blocks_per_multiprocessor = 32,
      .max_block = {1024, 1024, 64},
      .max_grid = {INT32_MAX, 65535, 65535},
      .shared_per_block = 48 << 10,
      .shared_per_block_optin = 96 << 10,
      .shared_per_multiprocessor = 96 << 10,
      .constant_bytes = 64 << 10,
      .l2_bytes = 1 << 20,
      .cache_bytes = 1 << 20,
      .memory_total = (size_t)1 << 30,
      .async_engines = 1,
      .cooperative = true,
      .managed = true,
      .pageable_access = true,
      .concurrent_managed_access = true,
      .host_register = true,
      .driver = "none",
  };
  snprintf(info->id, sizeof info->id, "null:%d", number);
}

static mw_status null_open(const char *which, mw_device **out, mw_error *err) {
  CALLED();
  char *end;
  long number = strtol(which, &end, 10);
  if (*end || end == which || number < 0 || number >= DEVICES)
    return mw_fail(err, MW_NO_DEVICE, "no such device: null:%s; there are %d, from null:0", which, DEVICES);
  null_device *device = mw_calloc(1, sizeof *device);
  describe(&device->base.info, (int)number);
  device->main.device = device->per_thread.device = &device->base;
  device->base.main = &device->main;
  *out = &device->base;
  return MW_OK;
}

static void null_close(mw_device *base) {
  CALLED();
  null_device *device = null_device_of(base);
  assert(base->refs == 0 && !device->streams && !device->events && !device->graphs && !device->modules);
  for (int i = 0; i < MOST_BUFFERS; i++) assert(!null_buffers[i] || null_buffers[i]->base.device != base);
  mw_free(device);
}

static mw_status null_memory(mw_device *device, size_t *free_bytes, size_t *total, mw_error *err) {
  CALLED();
  (void)err;
  *free_bytes = device->info.memory_total / 2;
  *total = device->info.memory_total;
  return MW_OK;
}

static void null_state(mw_device *device, mw_device_state *out) {
  CALLED();
  (void)device;
  out->clock_hz = 1e9;
  out->throttle = MW_THROTTLE_POWER | MW_THROTTLE_HEAT;
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

null_buffer *null_add_buffer(mw_device *device, mw_stream *stream, size_t bytes, mw_space space) {
  int slot = 0;
  while (slot < MOST_BUFFERS && null_buffers[slot]) slot++;
  assert(slot < MOST_BUFFERS);
  null_buffer *buffer = null_buffers[slot] = mw_calloc(1, sizeof *buffer);
  buffer->base = (mw_buffer){.device = device, .bytes = bytes, .space = space, .host = true, .stream = stream};
  atomic_init(&buffer->base.refs, 1);
  mw_device_retain(device);
  return buffer;
}

static mw_status null_alloc(mw_stream *stream, size_t bytes, mw_space space, mw_dtype type, mw_buffer **out,
                            mw_error *err) {
  (void)type;
  CALLED();
  assert(bytes > 0 && space != MW_SPACE_GLOBAL);
  size_t most = stream->device->info.memory_total;
  char wanted[32], all[32];
  if (bytes > most)
    return mw_fail(err, MW_NO_MEMORY, "out of memory on %s: wanted %s, free %s of %s", stream->device->info.id,
                   mw_bytes_text(wanted, (double)bytes), mw_bytes_text(all, (double)most), all);
  null_buffer *buffer = null_add_buffer(stream->device, stream, bytes, space);
  buffer->base.address = mw_malloc(bytes);
  *out = &buffer->base;
  return MW_OK;
}

static void null_free(mw_buffer *base) {
  CALLED();
  null_buffer *buffer = (null_buffer *)base;
  int slot = 0;
  while (slot < MOST_BUFFERS && null_buffers[slot] != buffer) slot++;
  assert(slot < MOST_BUFFERS && base->refs == 0);
  assert(!buffer->user || base->multi_stream); /* else a free on `stream` only would come too early */
  null_buffers[slot] = NULL;
  if (base->space != MW_SPACE_GLOBAL) mw_free(base->address);
  mw_free(buffer);
}

static void note_use(null_buffer *buffer, const mw_stream *stream) {
  if (stream != buffer->base.stream) buffer->user = stream;
}

static char *bytes_at(mw_place place, size_t bytes) {
  if (!place.buffer) return place.host;
  assert(place.buffer->refs > 0 && place.offset <= place.buffer->bytes && bytes <= place.buffer->bytes - place.offset);
  return (char *)place.buffer->address + place.offset;
}

static mw_status null_copy(mw_stream *stream, mw_place to, mw_place from, size_t bytes, mw_error *err) {
  CALLED();
  (void)err;
  assert(bytes > 0 && (to.buffer || from.buffer));
  assert(!stream->capturing || (to.buffer && from.buffer));
  if (!stream->capturing) memmove(bytes_at(to, bytes), bytes_at(from, bytes), bytes);
  return MW_OK;
}

static mw_status null_fill(mw_stream *stream, mw_place place, const void *pattern, size_t width, size_t n,
                           mw_error *err) {
  CALLED();
  (void)err;
  assert(n > 0 && (width == 1 || width == 2 || width == 4 || width == 8));
  char *at = bytes_at(place, n * width);
  for (size_t i = 0; i < n && !stream->capturing; i++) memcpy(at + i * width, pattern, width);
  return MW_OK;
}

static size_t image_bytes(const mw_image_shape *shape) {
  assert(shape->components == 1 || shape->components == 2 || shape->components == 4);
  assert(shape->side[0] && shape->side[1] && shape->side[2] && mw_dtype_size(shape->dtype) <= 4);
  return mw_dtype_size(shape->dtype) * (size_t)shape->components * shape->side[0] * shape->side[1] * shape->side[2];
}

static mw_status null_texels(mw_stream *stream, const mw_image_shape *shape, mw_buffer **out, mw_error *err) {
  CALLED();
  (void)err;
  assert(shape->kind > MW_IMAGE_PITCHED && !capture);
  *out = &null_add_buffer(stream->device, stream, image_bytes(shape), MW_SPACE_TEXELS)->base;
  (*out)->address = mw_malloc(image_bytes(shape));
  return MW_OK;
}

static mw_status null_texels_copy(mw_stream *stream, const mw_image_shape *shape, mw_buffer *texels, mw_place array,
                                  bool to_array, mw_error *err) {
  CALLED();
  (void)err;
  assert(texels->space == MW_SPACE_TEXELS && array.buffer->space != MW_SPACE_PAGEABLE);
  char *at = bytes_at(array, image_bytes(shape)), *own = texels->address;
  if (!stream->capturing) memmove(to_array ? at : own, to_array ? own : at, image_bytes(shape));
  return MW_OK;
}

static mw_status null_image(mw_stream *stream, const mw_image_shape *shape, const mw_sampling *sampling,
                            mw_place texels, mw_buffer **out, mw_error *err) {
  CALLED();
  (void)err;
  const bool in_array = texels.buffer->space != MW_SPACE_TEXELS;
  assert(bytes_at(texels, image_bytes(shape)) && !capture && (sampling || shape->writable));
  assert(in_array == (shape->kind <= MW_IMAGE_PITCHED) && texels.offset % 512 == 0 && (!in_array || sampling));
  *out = &null_add_buffer(stream->device, stream, sizeof(void *), MW_SPACE_IMAGE)->base;
  (*out)->address = mw_calloc(1, 64);
  (*out)->texels = texels.buffer;
  return MW_OK;
}

static mw_status null_prefetch(mw_stream *stream, mw_place place, size_t bytes, bool to_host, mw_error *err) {
  CALLED();
  (void)to_host, (void)err;
  assert(bytes > 0 && bytes_at(place, bytes) && place.buffer->space == MW_SPACE_MANAGED && !stream->capturing);
  assert(place.buffer->device == stream->device);
  note_use((null_buffer *)place.buffer, stream);
  return MW_OK;
}

static mw_status null_advise(mw_place place, size_t bytes, mw_advice advice, bool set, bool by_host, mw_error *err) {
  CALLED();
  (void)advice, (void)set, (void)by_host, (void)err;
  assert(bytes > 0 && bytes_at(place, bytes) && place.buffer->space == MW_SPACE_MANAGED);
  return MW_OK;
}

static mw_status null_pin(mw_buffer *buffer, mw_error *err) {
  CALLED();
  (void)err;
  assert(buffer->refs > 0 && buffer->space == MW_SPACE_PAGEABLE && !null_device_of(buffer->device)->capturing);
  buffer->space = MW_SPACE_PINNED;
  return MW_OK;
}

/* ---- launches -------------------------------------------------------------------------------------------------- */

/* The arguments are where the parameters say, and pointers lead into memory that is alive. */
static void check_arguments(const mw_stream *stream, const mw_launch *l) {
  for (int i = 0; i < l->kernel->nparams; i++) {
    const mw_param *p = &l->kernel->params[i];
    const char *address;
    assert(l->params[i] == (char *)l->args + p->offset && p->offset + p->size <= l->kernel->args_bytes);
    if (!p->pointer) continue;
    memcpy(&address, l->params[i], sizeof address);
    int slot = 0;
    for (; address && slot < MOST_BUFFERS; slot++) {
      const mw_buffer *b = null_buffers[slot] ? &null_buffers[slot]->base : NULL;
      if (b && address >= (char *)b->address && address < (char *)b->address + b->bytes) break;
    }
    assert(slot < MOST_BUFFERS);
    if (address) note_use(null_buffers[slot], stream);
  }
}

static void check_launch(const mw_stream *stream, const mw_launch *l) {
  const mw_device_info *info = &stream->device->info;
  assert(l->kernel->module->device == stream->device && l->kernel->module->refs > 0);
  for (int axis = 0; axis < 3; axis++) {
    assert(l->grid[axis] >= 1 && l->grid[axis] <= (uint32_t)info->max_grid[axis]);
    assert(l->block[axis] >= 1 && l->block[axis] <= (uint32_t)info->max_block[axis]);
  }
  assert((int)(l->block[0] * l->block[1] * l->block[2]) <= l->kernel->max_threads);
  assert(l->shared <= info->shared_per_block_optin);
  assert(l->carveout >= MW_CARVEOUT_ANY && l->carveout <= 100 && l->prefer <= MW_PREFER_EQUAL);
  check_arguments(stream, l);
}

static mw_status null_launch(mw_stream *stream, const mw_launch *l, mw_error *err) {
  CALLED();
  (void)err;
  check_launch(stream, l);
  if (!stream->capturing) return MW_OK;
  assert(capture && capture->base.nodes < 256);
  capture->kernels[capture->base.nodes++] = l->kernel;
  return MW_OK;
}

/* ---- streams and events: everything has happened when it returns ----------------------------------------------- */

static mw_status null_stream_create(mw_device *device, bool blocking, int priority, mw_stream **out, mw_error *err) {
  CALLED();
  (void)blocking, (void)err;
  assert(priority >= -1 && priority <= 0);
  *out = mw_calloc(1, sizeof **out);
  **out = (mw_stream){.device = device, .priority = priority};
  null_device_of(device)->streams++;
  return MW_OK;
}

static void null_stream_destroy(mw_stream *stream) {
  CALLED();
  assert(stream != captured);
  for (int i = 0; i < njoined; i++)
    if (joined[i] == stream) joined[i--] = joined[--njoined];
  null_device_of(stream->device)->streams--;
  for (int i = 0; i < MOST_BUFFERS; i++) {
    if (null_buffers[i] && null_buffers[i]->base.stream == stream) null_buffers[i]->base.stream = stream->device->main;
  }
  mw_free(stream);
}

static mw_status null_stream_per_thread(mw_device *device, mw_stream **out, mw_error *err) {
  CALLED();
  (void)err;
  *out = &null_device_of(device)->per_thread;
  return MW_OK;
}

static mw_status null_stream_wait(mw_stream *stream, mw_event *base, mw_error *err) {
  CALLED();
  (void)err;
  const null_event *event = (const null_event *)base;
  assert(event->recorded && stream->device->backend == base->device->backend);
  if (!event->captured) {
    assert(!stream->capturing);
    return MW_OK;
  }
  bool here = false;
  for (int i = 0; i < nmarks; i++) here = here || marks[i] == base;
  assert(capture && here && stream != stream->device->main);
  assert(njoined < MOST_JOINED);
  if (!stream->capturing) joined[njoined++] = stream;
  stream->capturing = true;
  return MW_OK;
}

static mw_status null_call(mw_stream *stream, const mw_call *call, mw_error *err) {
  (void)stream;
  return call->run(call, NULL, err);
}

static mw_status null_stream_callback(mw_stream *stream, mw_callback callback, mw_error *err) {
  CALLED();
  (void)err;
  assert(!stream->capturing);
  callback.run(callback.data);
  return MW_OK;
}

static void null_check_mode(mw_device *device, const mw_check_mode *mode) {
  (void)device, (void)mode;
}

static const mw_finding *null_findings(mw_device *device) {
  (void)device;
  return NULL;
}

static const mw_counter_launch *null_counters(mw_device *device, bool newest) {
  (void)device, (void)newest;
  return NULL;
}

static bool null_peer(mw_device *device, int index, mw_peer *out) {
  null_count("peer");
  if (index >= DEVICES - 1) return false;
  *out = (mw_peer){.access = false};
  snprintf(out->id, sizeof out->id, "null:%d", index + (index >= device->info.id[5] - '0'));
  return true;
}

static bool null_reaches(mw_device *device, mw_device *other) {
  (void)device, (void)other;
  null_count("reaches");
  return false;
}

static int null_touched(const mw_buffer *buffer, int most, mw_touch *out) {
  (void)buffer, (void)most, (void)out;
  return 0;
}

static void null_priorities(mw_device *device, int *least, int *greatest) {
  CALLED();
  (void)device;
  *least = 0;
  *greatest = -1;
}

static mw_status null_event_create(mw_device *device, bool timing, mw_event **out, mw_error *err) {
  CALLED();
  (void)err;
  null_event *event = mw_calloc(1, sizeof *event);
  event->base = (mw_event){device, timing};
  null_device_of(device)->events++;
  *out = &event->base;
  return MW_OK;
}

static void null_event_destroy(mw_event *event) {
  CALLED();
  null_device_of(event->device)->events--;
  mw_free(event);
}

static mw_status null_event_record(mw_event *base, mw_stream *stream, mw_error *err) {
  CALLED();
  (void)err;
  struct timespec now;
  null_event *event = (null_event *)base;
  assert(base->device == stream->device);
  clock_gettime(CLOCK_MONOTONIC, &now);
  event->recorded = true;
  event->captured = stream->capturing;
  event->time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  assert(nmarks < MOST_JOINED);
  if (event->captured) marks[nmarks++] = base;
  return MW_OK;
}

static mw_status null_event_elapsed(mw_event *from, mw_event *to, double *seconds, mw_error *err) {
  CALLED();
  (void)err;
  const null_event *first = (null_event *)from, *second = (null_event *)to;
  assert(from->timing && to->timing && from->device == to->device);
  assert(first->recorded && second->recorded && !first->captured && !second->captured);
  *seconds = second->time - first->time;
  return MW_OK;
}

/* ---- asking and waiting: everything has happened, but what is captured ------------------------------------------ */

#define IS_DONE(name, type, condition)                                                                                 \
  static mw_status name(type *of, mw_error *err) {                                                                     \
    CALLED();                                                                                                          \
    (void)err;                                                                                                         \
    assert(condition);                                                                                                 \
    return MW_OK;                                                                                                      \
  }
IS_DONE(null_synchronize, mw_device, !null_device_of(of)->capturing)
IS_DONE(null_stream_query, mw_stream, !of->capturing)
IS_DONE(null_stream_synchronize, mw_stream, !of->capturing)
IS_DONE(null_event_query, mw_event, ((null_event *)of)->recorded && !((null_event *)of)->captured)
IS_DONE(null_event_synchronize, mw_event, ((null_event *)of)->recorded && !((null_event *)of)->captured)

/* ---- graphs ---------------------------------------------------------------------------------------------------- */

static mw_status null_capture_begin(mw_stream *stream, mw_error *err) {
  CALLED();
  (void)err;
  assert(!capture && stream != stream->device->main);
  capture = mw_calloc(1, sizeof *capture);
  capture->base.device = stream->device;
  captured = stream;
  nmarks = njoined = 0;
  null_device_of(stream->device)->capturing = stream->capturing = true;
  null_device_of(stream->device)->graphs++;
  return MW_OK;
}

static void null_graph_destroy(mw_graph *graph) {
  CALLED();
  null_device_of(graph->device)->graphs--;
  mw_free(graph);
}

static mw_status null_capture_end(mw_stream *stream, mw_graph **out, mw_error *err) {
  CALLED();
  (void)err;
  assert(capture && stream == captured);
  null_graph *graph = capture;
  capture = NULL;
  captured = NULL;
  null_device_of(stream->device)->capturing = stream->capturing = false;
  for (int i = 0; i < njoined; i++) joined[i]->capturing = false;
  if (out)
    *out = &graph->base;
  else
    null_graph_destroy(&graph->base);
  return MW_OK;
}

static mw_status null_graph_launch(mw_graph *graph, mw_stream *stream, mw_error *err) {
  CALLED();
  (void)err;
  assert(graph->device == stream->device);
  return MW_OK;
}

static mw_status null_graph_update(mw_graph *graph, int node, const mw_launch *l, mw_error *err) {
  CALLED();
  (void)err;
  assert(node >= 0 && node < graph->nodes && ((null_graph *)graph)->kernels[node] == l->kernel);
  check_launch(graph->device->main, l);
  return MW_OK;
}

static mw_status null_graph_dot(mw_graph *graph, char **out, mw_error *err) {
  CALLED();
  (void)graph, (void)err;
  *out = mw_strdup("digraph null {\n}\n");
  return MW_OK;
}

const mw_backend mw_null_backend = {
    .name = "null",
    .kind = "cpu",
    .numbered = true,
    .probe = null_probe,
    .open = null_open,
    .close = null_close,
    .memory = null_memory,
    .synchronize = null_synchronize,
    .state = null_state,
    .alloc = null_alloc,
    .free = null_free,
    .copy = null_copy,
    .fill = null_fill,
    .prefetch = null_prefetch,
    .advise = null_advise,
    .pin = null_pin,
    .texels = null_texels,
    .texels_copy = null_texels_copy,
    .image = null_image,
    .compile = null_compile,
    .unload = null_unload,
    .kernel = null_kernel_get,
    .variable = null_variable,
    .text = null_text,
    .occupancy = null_occupancy,
    .launch = null_launch,
    .stream_create = null_stream_create,
    .stream_destroy = null_stream_destroy,
    .stream_per_thread = null_stream_per_thread,
    .stream_wait = null_stream_wait,
    .call = null_call,
    .stream_callback = null_stream_callback,
    .stream_query = null_stream_query,
    .stream_synchronize = null_stream_synchronize,
    .check_mode = null_check_mode,
    .findings = null_findings,
    .counters = null_counters,
    .touched = null_touched,
    .peer = null_peer,
    .reaches = null_reaches,
    .priorities = null_priorities,
    .event_create = null_event_create,
    .event_destroy = null_event_destroy,
    .event_record = null_event_record,
    .event_query = null_event_query,
    .event_synchronize = null_event_synchronize,
    .event_elapsed = null_event_elapsed,
    .capture_begin = null_capture_begin,
    .capture_end = null_capture_end,
    .graph_launch = null_graph_launch,
    .graph_update = null_graph_update,
    .graph_dot = null_graph_dot,
    .graph_destroy = null_graph_destroy,
};
