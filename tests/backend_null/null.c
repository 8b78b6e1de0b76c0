/* SPDX-License-Identifier: MIT
 *
 * The null backend: memory is host memory, copies and fills are done at once, kernels are declared and do nothing. It
 * counts the calls it gets, and asserts what backend.h says that the binding has checked: a broken promise ends the
 * process with the line here. A test's own registry lists it, so that it also proves that a backend is a folder and a
 * line. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>

#include "core/backend/refs.h"
#include "core/backend/reject.h"
#include "core/source/declared.h"

enum { DEVICES = 2, MOST_BUFFERS = 4096, MOST_CALLS = 64 };

typedef struct null_device {
  mw_device base;
  mw_stream main, per_thread;
  int streams, events, graphs, modules; /* alive */
  bool capturing;
} null_device;

typedef struct null_buffer {
  mw_buffer base;
  const mw_stream *user; /* some stream other than its own that has used it */
} null_buffer;

typedef struct null_event {
  mw_event base;
  bool recorded, captured;
  double time;
} null_event;

typedef struct null_kernel {
  mw_kernel base;
  mw_param params[64];
  char name[256];
  struct null_kernel *next;
} null_kernel;

typedef struct null_module {
  mw_module base;
  char *text;
  const char **names;
  mw_declared_kernel *declared;
  null_kernel *kernels;
} null_module;

typedef struct null_graph {
  mw_graph base;
  const mw_kernel *kernels[256];
} null_graph;

static null_buffer *buffers[MOST_BUFFERS];
static null_graph *capture; /* under way */
static const mw_stream *captured;
static mw_event *marks[16];   /* recorded in it */
static mw_stream *joined[16]; /* wait for those */
static int nmarks, njoined;

/* ---- counting -------------------------------------------------------------------------------------------------- */

static struct call {
  const char *name;
  int count;
} calls[MOST_CALLS];

static void count(const char *name) {
  struct call *call = calls;
  while (call->name && strcmp(call->name, name) != 0) call++;
  assert(call < calls + MOST_CALLS - 1);
  call->name = name;
  call->count++;
}

#define CALLED() count(__func__ + strlen("null_"))

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
  for (int i = 0; i < MOST_BUFFERS; i++) live += buffers[i] != NULL;
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

static null_device *device_of(const mw_device *device) {
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
  null_device *device = device_of(base);
  assert(base->refs == 0 && !device->streams && !device->events && !device->graphs && !device->modules);
  for (int i = 0; i < MOST_BUFFERS; i++) assert(!buffers[i] || buffers[i]->base.device != base);
  mw_free(device);
}

static mw_status null_memory(mw_device *device, size_t *free_bytes, size_t *total, mw_error *err) {
  CALLED();
  (void)err;
  *free_bytes = device->info.memory_total / 2;
  *total = device->info.memory_total;
  return MW_OK;
}

static mw_status null_synchronize(mw_device *device, mw_error *err) {
  CALLED();
  (void)err;
  assert(!device_of(device)->capturing);
  return MW_OK;
}

static void null_state(mw_device *device, mw_device_state *out) {
  CALLED();
  (void)device;
  out->clock_hz = 1e9;
  out->throttle = MW_THROTTLE_POWER | MW_THROTTLE_HEAT;
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static null_buffer *add_buffer(mw_device *device, mw_stream *stream, size_t bytes, mw_space space) {
  int slot = 0;
  while (slot < MOST_BUFFERS && buffers[slot]) slot++;
  assert(slot < MOST_BUFFERS);
  null_buffer *buffer = buffers[slot] = mw_calloc(1, sizeof *buffer);
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
  null_buffer *buffer = add_buffer(stream->device, stream, bytes, space);
  buffer->base.address = mw_malloc(bytes);
  *out = &buffer->base;
  return MW_OK;
}

static void null_free(mw_buffer *base) {
  CALLED();
  null_buffer *buffer = (null_buffer *)base;
  int slot = 0;
  while (slot < MOST_BUFFERS && buffers[slot] != buffer) slot++;
  assert(slot < MOST_BUFFERS && base->refs == 0);
  assert(!buffer->user || base->multi_stream); /* else a free on `stream` only would come too early */
  buffers[slot] = NULL;
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
  assert(buffer->refs > 0 && buffer->space == MW_SPACE_PAGEABLE && !device_of(buffer->device)->capturing);
  buffer->space = MW_SPACE_PINNED;
  return MW_OK;
}

/* ---- modules and kernels --------------------------------------------------------------------------------------- */

static mw_status null_compile(mw_device *device, const mw_source *source, mw_module **out, mw_error *err) {
  CALLED();
  assert(!source->form == !source->code && (!source->form || source->code_bytes > 0));
  if (source->form) return mw_reject_binary(device, source, err);
  if (strstr(source->text, "#error")) return mw_fail(err, MW_COMPILE, "compiling '%s' failed: #error", source->name);
  null_module *module = mw_calloc(1, sizeof *module);
  module->text = mw_strdup(source->text);
  int all = mw_declared_kernels(source->text, &module->declared), n = 0;
  module->names = mw_calloc((size_t)all + 1, sizeof *module->names);
  for (int i = 0; i < all; i++)
    if (!module->declared[i].is_template) module->names[n++] = module->declared[i].name;
  module->base = (mw_module){.device = device, .kernel_names = module->names, .log = ""};
  snprintf(module->base.name, sizeof module->base.name, "%s", source->name);
  device_of(device)->modules++;
  *out = &module->base;
  return MW_OK;
}

static void null_unload(mw_module *base) {
  CALLED();
  null_module *module = (null_module *)base;
  assert(base->refs == 0);
  for (int i = 0; i < MOST_BUFFERS; i++) assert(!buffers[i] || buffers[i]->base.owner != base);
  for (null_kernel *k = module->kernels, *next; k; k = next) {
    next = k->next;
    mw_free(k);
  }
  device_of(base->device)->modules--;
  mw_free(module->declared);
  mw_free(module->names);
  mw_free(module->text);
  mw_free(module);
}

static bool is_word(char c) {
  return c == '_' || isalnum((unsigned char)c);
}

/* A copy of the text with another word for one. */
static char *replaced(const char *text, const char *word, const char *by, size_t length) {
  size_t words = 1, width = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at++) words++;
  char *out = mw_malloc(strlen(text) + words * length + 1), *to = out;
  while (*text) {
    bool whole = !strncmp(text, word, width) && (to == out || !is_word(to[-1])) && !is_word(text[width]);
    memcpy(to, whole ? by : text, whole ? length : 1);
    to += whole ? length : 1;
    text += whole ? width : 1;
  }
  *to = '\0';
  return out;
}

/* "scale<float>" of "template <class T> ... T *x": the text with float for each T; as our own kernels are written. */
static char *instance_text(const char *text, const char *name) {
  static const char number[] = "unsigned long long";
  const char *angle = strchr(name, '<');
  char *plain = replaced(text, "u64", number, sizeof number - 1);
  if (!angle) return plain;
  char *instance = replaced(plain, "T", angle + 1, strcspn(angle + 1, ",>"));
  mw_free(plain);
  return instance;
}

/* A type that the text does not give, such as a typedef's, is taken for a pointer. */
static size_t place_params(mw_param *params, int n) {
  size_t at = 0;
  for (int i = 0; i < n; i++) {
    if (!params[i].size) {
      params[i].pointer = true;
      params[i].dtype = MW_VOID;
      params[i].size = sizeof(void *);
    }
    size_t align = params[i].size % 8 == 0 ? 8 : params[i].size % 4 == 0 ? 4 : params[i].size % 2 == 0 ? 2 : 1;
    at = (at + align - 1) / align * align;
    params[i].offset = (uint32_t)at;
    at += params[i].size;
  }
  return at;
}

static mw_status null_kernel_get(mw_module *base, const char *name, mw_kernel **out, mw_error *err) {
  CALLED();
  null_module *module = (null_module *)base;
  null_kernel *kernel = mw_calloc(1, sizeof *kernel);
  char *text = instance_text(module->text, name);
  int n = mw_declared_params(text, name, kernel->params, 64);
  mw_free(text);
  if (n < 0 || n > 64) {
    mw_free(kernel);
    return mw_fail(err, MW_NOT_FOUND, "module '%s' has no kernel '%s'", base->name, name);
  }
  snprintf(kernel->name, sizeof kernel->name, "%s", name);
  kernel->base = (mw_kernel){.module = base,
                             .name = kernel->name,
                             .params = kernel->params,
                             .nparams = n,
                             .max_threads = 1024,
                             .spill_stores = -1,
                             .spill_loads = -1,
                             .engine = "null",
                             .engine_why = ""};
  kernel->base.args_bytes = place_params(kernel->params, n);
  kernel->next = module->kernels;
  module->kernels = kernel;
  *out = &kernel->base;
  return MW_OK;
}

static mw_status null_variable(mw_module *base, const char *name, mw_buffer **out, mw_param *type, mw_error *err) {
  CALLED();
  static double memory[512];
  if (!mw_declared_variable(((null_module *)base)->text, name, type))
    return mw_fail(err, MW_NOT_FOUND, "module '%s' has no device variable '%s'", base->name, name);
  *out = &add_buffer(base->device, base->device->main, type->size, MW_SPACE_GLOBAL)->base;
  (*out)->address = memory;
  (*out)->owner = base;
  return MW_OK;
}

static mw_status null_text(mw_module *module, const char *kind, char **out, mw_error *err) {
  CALLED();
  (void)out;
  assert(!strcmp(kind, "ptx") || !strcmp(kind, "sass") || !strcmp(kind, "cpp"));
  return mw_fail(err, MW_UNSUPPORTED, "%s has no %s", module->device->info.id, kind);
}

static mw_status null_occupancy(mw_kernel *kernel, int threads, size_t shared, mw_occupancy *out, mw_error *err) {
  CALLED();
  (void)err;
  const mw_device_info *info = &kernel->module->device->info;
  assert(threads >= 1 && threads <= info->max_threads_per_block && shared <= info->shared_per_block_optin);
  *out = (mw_occupancy){.blocks = info->max_threads_per_multiprocessor / threads, .limit = MW_LIMIT_THREADS};
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
      const mw_buffer *b = buffers[slot] ? &buffers[slot]->base : NULL;
      if (b && address >= (char *)b->address && address < (char *)b->address + b->bytes) break;
    }
    assert(slot < MOST_BUFFERS);
    if (address) note_use(buffers[slot], stream);
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
  device_of(device)->streams++;
  return MW_OK;
}

static void null_stream_destroy(mw_stream *stream) {
  CALLED();
  assert(stream != captured && (!capture || !stream->capturing));
  device_of(stream->device)->streams--;
  for (int i = 0; i < MOST_BUFFERS; i++) {
    if (buffers[i] && buffers[i]->base.stream == stream) buffers[i]->base.stream = stream->device->main;
  }
  mw_free(stream);
}

static mw_status null_stream_per_thread(mw_device *device, mw_stream **out, mw_error *err) {
  CALLED();
  (void)err;
  *out = &device_of(device)->per_thread;
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
  if (!stream->capturing) joined[njoined++] = stream;
  stream->capturing = true;
  return MW_OK;
}

static mw_status null_stream_callback(mw_stream *stream, mw_callback callback, mw_error *err) {
  CALLED();
  (void)err;
  assert(!stream->capturing);
  callback.run(callback.data);
  return MW_OK;
}

static mw_status null_stream_query(mw_stream *stream, mw_error *err) {
  CALLED();
  (void)err;
  assert(!stream->capturing);
  return MW_OK;
}

static mw_status null_stream_synchronize(mw_stream *stream, mw_error *err) {
  CALLED();
  (void)err;
  assert(!stream->capturing);
  return MW_OK;
}

static void null_check_mode(mw_device *device, const mw_check_mode *mode) {
  (void)device, (void)mode;
}

static const mw_finding *null_findings(mw_device *device) {
  (void)device;
  return NULL;
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
  device_of(device)->events++;
  *out = &event->base;
  return MW_OK;
}

static void null_event_destroy(mw_event *event) {
  CALLED();
  device_of(event->device)->events--;
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
  assert(nmarks < 16);
  if (event->captured) marks[nmarks++] = base;
  return MW_OK;
}

static mw_status null_event_query(mw_event *event, mw_error *err) {
  CALLED();
  (void)err;
  assert(((null_event *)event)->recorded && !((null_event *)event)->captured);
  return MW_OK;
}

static mw_status null_event_synchronize(mw_event *event, mw_error *err) {
  CALLED();
  (void)err;
  assert(((null_event *)event)->recorded && !((null_event *)event)->captured);
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

/* ---- graphs ---------------------------------------------------------------------------------------------------- */

static mw_status null_capture_begin(mw_stream *stream, mw_error *err) {
  CALLED();
  (void)err;
  assert(!capture && stream != stream->device->main);
  capture = mw_calloc(1, sizeof *capture);
  capture->base.device = stream->device;
  captured = stream;
  nmarks = njoined = 0;
  device_of(stream->device)->capturing = stream->capturing = true;
  device_of(stream->device)->graphs++;
  return MW_OK;
}

static void null_graph_destroy(mw_graph *graph) {
  CALLED();
  device_of(graph->device)->graphs--;
  mw_free(graph);
}

static mw_status null_capture_end(mw_stream *stream, mw_graph **out, mw_error *err) {
  CALLED();
  (void)err;
  assert(capture && stream == captured);
  null_graph *graph = capture;
  capture = NULL;
  captured = NULL;
  device_of(stream->device)->capturing = stream->capturing = false;
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
    .stream_callback = null_stream_callback,
    .stream_query = null_stream_query,
    .stream_synchronize = null_stream_synchronize,
    .check_mode = null_check_mode,
    .findings = null_findings,
    .touched = null_touched,
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
