/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libcuda.so.1, so that the CUDA backend is tested without a GPU: MOONWARP_LIBCUDA names it.
 * Memory is the host's, streams run at once, events are clocks, launches are counted and, for the few kernels in the
 * table of run.c, carried out. Behaviour is steered by environment variables, read at each call:
 *   MOCK_CUDA_PEERS=0                    no device reaches another's memory
 *   MOCK_CUDA_DEVICES=2  MOCK_CUDA_VERSION=12040  MOCK_CUDA_ARCH=80  MOCK_CUDA_MEMORY=bytes  MOCK_CUDA_POOLS=0
 *   MOCK_CUDA_HANG=1                     streams and events never become ready
 *   MOCK_CUDA_FORCED=3                   the library's blocking kernel runs out of time in its first three launches
 *   MOCK_CUDA_PAGEABLE=1                 kernels reach plain host memory
 *   MOCK_CUDA_CONCURRENT=0               no concurrent access to managed memory
 *   MOCK_CUDA_TELL=1                     hints (prefetch, advice, carveout, ...) are told on standard output
 *   MOCK_CUDA_FAIL=cuLaunchKernel:700:3  the third such call from now on fails with 700 (sticky where CUDA's is)
 *   MOCK_CUDA_LEAKS=1                    what is still alive at exit is told on standard error */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/mock/mock.h"

/* ---- what tests ask -------------------------------------------------------------------------------------------- */

static const char *const kind_names[KINDS] = {"memory", "pinned", "registered", "stream", "event", "module",
                                              "graph",  "replay", "context",    "texels", "image"};
int mock_live[KINDS];
static size_t used, cached;
static char last_kernel[256];

static const char *const call_names[] = {
#define NAME(name, arguments) #name,
    CUDA_DRIVER_CALLS(NAME)};
enum { CALLS = sizeof call_names / sizeof *call_names };
static int call_counts[CALLS];

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? atol(text) : otherwise;
}

static int count_of(const char *name, const char *const *names, const int *counts, int n) {
  for (int i = 0; i < n; i++)
    if (strcmp(name, names[i]) == 0) return counts[i];
  return -1;
}

int mock_cuda_live(const char *kind) {
  return count_of(kind, kind_names, mock_live, KINDS);
}

int mock_cuda_calls(const char *name) {
  return count_of(name, call_names, call_counts, CALLS);
}

const char *mock_cuda_last_kernel(void) {
  return last_kernel;
}

void mock_ran(const char *kernel) {
  snprintf(last_kernel, sizeof last_kernel, "%s", kernel);
}

cuda_result mock_tell(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (setting("MOCK_CUDA_TELL", 0)) vfprintf(stdout, format, arguments);
  va_end(arguments);
  return CUDA_OK;
}

static void __attribute__((destructor)) tell_leaks(void) {
  for (int i = 0; i < KINDS && setting("MOCK_CUDA_LEAKS", 0); i++)
    if (mock_live[i]) fprintf(stderr, "mock libcuda: leak: %d %s\n", mock_live[i], kind_names[i]);
}

/* ---- the mock's own memory ------------------------------------------------------------------------------------- */

typedef struct block {
  _Alignas(256) struct block *next; /* as aligned as what CUDA gives */
  size_t bytes;
} block;

static block *blocks;

void *mock_new(size_t bytes) {
  size_t whole = sizeof(block) * (2 + bytes / sizeof(block));
  block *b = aligned_alloc(sizeof(block), whole);
  if (!b) return NULL;
  memset(b, 0, sizeof *b);
  if (bytes < 1 << 20) memset(b + 1, 0, bytes);
  b->bytes = bytes;
  b->next = blocks;
  blocks = b;
  return b + 1;
}

void mock_drop(void *address) {
  if (!address) return;
  block **at = &blocks, *b = (block *)address - 1;
  while (*at != b) at = &(*at)->next;
  *at = b->next;
  free(b);
}

size_t mock_size(const void *address) {
  return ((const block *)address - 1)->bytes;
}

/* ---- entering a call ------------------------------------------------------------------------------------------- */

static cuda_result injected(const char *call) {
  static char plan[256];
  static int seen;
  static cuda_result sticky;
  const char *now = getenv("MOCK_CUDA_FAIL");
  if (strcmp(plan, now ? now : "") != 0) {
    snprintf(plan, sizeof plan, "%s", now ? now : "");
    seen = 0;
    sticky = 0;
  }
  if (sticky) return sticky;
  char name[64];
  unsigned code;
  int nth;
  if (!*plan || sscanf(plan, "%63[^:]:%u:%d", name, &code, &nth) != 3 || strcmp(name, call) != 0 || ++seen != nth)
    return CUDA_OK;
  if (code >= 700 && code < 720 && code != 701 && code != 704) sticky = code;
  return code;
}

cuda_result mock_enter(int index) {
  call_counts[index]++;
  return injected(call_names[index]);
}

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- driver and devices ---------------------------------------------------------------------------------------- */

static __thread cuda_context current;

cuda_result cuInit(unsigned flags) {
  ENTER(cuInit);
  return setting("MOCK_CUDA_DEVICES", 1) ? CUDA_OK : CUDA_NO_DEVICE;
}

cuda_result cuDriverGetVersion(int *version) {
  ENTER(cuDriverGetVersion);
  *version = (int)setting("MOCK_CUDA_VERSION", 13000);
  return CUDA_OK;
}

cuda_result cuGetErrorName(cuda_result code, const char **name) {
  static char other[32];
  snprintf(other, sizeof other, "CUDA_ERROR_%u", code);
  *name = code == CUDA_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == CUDA_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                       : other;
  return CUDA_OK;
}

cuda_result cuGetErrorString(cuda_result code, const char **text) {
  *text = code == CUDA_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "a failure of the mock";
  return CUDA_OK;
}

cuda_result cuDeviceGetCount(int *count) {
  ENTER(cuDeviceGetCount);
  *count = (int)setting("MOCK_CUDA_DEVICES", 1);
  return CUDA_OK;
}

cuda_result cuDeviceGet(cuda_ordinal *device, int ordinal) {
  ENTER(cuDeviceGet);
  *device = ordinal;
  return CUDA_OK;
}

cuda_result cuDeviceGetName(char *name, int size, cuda_ordinal device) {
  snprintf(name, (size_t)size, "Mock GPU %d", device);
  return CUDA_OK;
}

cuda_result cuDeviceGetUuid_v2(cuda_uuid *uuid, cuda_ordinal device) {
  memset(uuid->bytes, 0xab, sizeof uuid->bytes);
  return CUDA_OK;
}

cuda_result cuDeviceGetPCIBusId(char *text, int size, cuda_ordinal device) {
  snprintf(text, (size_t)size, "0000:%02d:00.0", device);
  return CUDA_OK;
}

static size_t total_memory(void) {
  return (size_t)setting("MOCK_CUDA_MEMORY", 1L << 30);
}

cuda_result cuDeviceTotalMem_v2(size_t *bytes, cuda_ordinal device) {
  *bytes = total_memory();
  return CUDA_OK;
}

cuda_result cuDeviceGetAttribute(int *value, unsigned attribute, cuda_ordinal device) {
  static const int values[128] = {
      [1] = 1024,     [2] = 1024,  [3] = 1024,     [4] = 64,      [5] = 2147483647, [6] = 65535,   [7] = 65535,
      [8] = 49152,    [9] = 65536, [10] = 32,      [12] = 65536,  [13] = 1980000,   [16] = 4,      [32] = 1,
      [36] = 3201000, [37] = 6144, [38] = 1 << 20, [39] = 2048,   [40] = 3,         [81] = 233472, [82] = 65536,
      [83] = 1,       [91] = 1,    [95] = 1,       [97] = 232448, [99] = 1,         [106] = 32,    [111] = 1024,
  };
  int arch = (int)setting("MOCK_CUDA_ARCH", 90);
  ENTER(cuDeviceGetAttribute);
  if (attribute >= 128) return INVALID_VALUE;
  *value = attribute == CUDA_ATTR_CAPABILITY_MAJOR            ? arch / 10
           : attribute == CUDA_ATTR_CAPABILITY_MINOR          ? arch % 10
           : attribute == CUDA_ATTR_MEMORY_POOLS_SUPPORTED    ? (int)setting("MOCK_CUDA_POOLS", 1)
           : attribute == CUDA_ATTR_CONCURRENT_MANAGED_ACCESS ? (int)setting("MOCK_CUDA_CONCURRENT", 1)
           : attribute == CUDA_ATTR_PAGEABLE_ACCESS           ? (int)setting("MOCK_CUDA_PAGEABLE", 0)
                                                              : values[attribute];
  return CUDA_OK;
}

cuda_result cuDeviceGetDefaultMemPool(cuda_pool *pool, cuda_ordinal device) {
  *pool = (cuda_pool)&used;
  return CUDA_OK;
}

cuda_result cuDeviceCanAccessPeer(int *can, cuda_ordinal device, cuda_ordinal peer) {
  *can = (int)setting("MOCK_CUDA_PEERS", 1);
  return CUDA_OK;
}

cuda_result cuDeviceGetP2PAttribute(int *value, unsigned attribute, cuda_ordinal device, cuda_ordinal peer) {
  *value = 1;
  return CUDA_OK;
}

cuda_result cuDevicePrimaryCtxRetain(cuda_context *context, cuda_ordinal device) {
  static struct CUctx_st contexts[16];
  ENTER(cuDevicePrimaryCtxRetain);
  contexts[device].device = device;
  *context = &contexts[device];
  mock_live[CONTEXT]++;
  return CUDA_OK;
}

cuda_result cuCtxSetCurrent(cuda_context context) {
  ENTER(cuCtxSetCurrent);
  current = context;
  return CUDA_OK;
}

cuda_result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0;
  *greatest = -5;
  return CUDA_OK;
}

cuda_result cuCtxEnablePeerAccess(cuda_context context, unsigned flags) {
  ENTER(cuCtxEnablePeerAccess);
  return CUDA_OK;
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static cuda_result take(size_t bytes, void **out, enum kind kind) {
  if (bytes > total_memory() || used + cached > total_memory() - bytes) return CUDA_OUT_OF_MEMORY;
  *out = mock_new(bytes);
  if (!*out) return CUDA_OUT_OF_MEMORY;
  memset(*out, 0xcd, bytes);
  used += bytes;
  mock_live[kind]++;
  return CUDA_OK;
}

static size_t give(void *address) {
  size_t bytes = mock_size(address);
  mock_drop(address);
  used -= bytes;
  return bytes;
}

static void *host(cuda_address address) {
  return (void *)(uintptr_t)address;
}

static cuda_result take_device(cuda_address *out, size_t bytes) {
  void *address = NULL;
  cuda_result code = current ? take(bytes, &address, MEMORY) : 201;
  *out = (cuda_address)(uintptr_t)address;
  return code;
}

/* What is given back; "object" is of the call. */
#define ENDS(name, type, kind, ending)                                                                                 \
  cuda_result name(type object) {                                                                                      \
    ENTER(name);                                                                                                       \
    ending;                                                                                                            \
    mock_live[kind]--;                                                                                                 \
    return CUDA_OK;                                                                                                    \
  }
ENDS(cuMemFree_v2, cuda_address, MEMORY, give(host(object)))
ENDS(cuMemFreeHost, void *, PINNED, give(object))
ENDS(cuArrayDestroy, cuda_array, TEXELS, mock_drop(object))
ENDS(cuEventDestroy_v2, cuda_marker, EVENT, mock_drop(object))
ENDS(cuTexObjectDestroy, cuda_handle, IMAGE, )
ENDS(cuSurfObjectDestroy, cuda_handle, IMAGE, )
ENDS(cuDevicePrimaryCtxRelease_v2, cuda_ordinal, CONTEXT, )

cuda_result cuMemGetInfo_v2(size_t *left, size_t *total) {
  ENTER(cuMemGetInfo_v2);
  *total = total_memory();
  *left = *total - used - cached;
  return CUDA_OK;
}

#define TAKES(name, ...)                                                                                               \
  cuda_result name(cuda_address *out, size_t bytes __VA_ARGS__) {                                                      \
    ENTER(name);                                                                                                       \
    return take_device(out, bytes);                                                                                    \
  }
TAKES(cuMemAlloc_v2)
TAKES(cuMemAllocManaged, , unsigned flags)
TAKES(cuMemAllocAsync, , cuda_queue stream)

cuda_result cuMemFreeAsync(cuda_address address, cuda_queue stream) {
  ENTER(cuMemFreeAsync);
  mock_live[MEMORY]--;
  cached += give(host(address)); /* until the pool is trimmed */
  return CUDA_OK;
}

cuda_result cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
  ENTER(cuMemHostAlloc);
  return take(bytes, out, PINNED);
}

cuda_result cuMemPoolSetAttribute(cuda_pool pool, unsigned attribute, void *value) {
  return CUDA_OK;
}

cuda_result cuMemPoolSetAccess(cuda_pool pool, const cuda_access *access, size_t count) {
  ENTER(cuMemPoolSetAccess);
  return count == 1 && access->location.type == CUDA_LOCATION_DEVICE ? CUDA_OK : INVALID_VALUE;
}

cuda_result cuMemPoolTrimTo(cuda_pool pool, size_t keep) {
  ENTER(cuMemPoolTrimTo);
  cached = 0;
  return CUDA_OK;
}

/* ---- streams: at once, or a node of the graph that is captured ------------------------------------------------- */

cuda_queue mock_streams;

cuda_queue mock_queue(cuda_queue stream) {
  static struct CUstream_st per_thread;
  static bool listed;
  if (stream != CUDA_STREAM_PER_THREAD) return stream;
  per_thread.next = listed ? per_thread.next : mock_streams;
  if (!listed) mock_streams = &per_thread;
  listed = true;
  return &per_thread;
}

/* The default stream would wait for a blocking stream that is captured. */
cuda_result mock_allowed(cuda_queue stream) {
  if (stream) return stream->graph && stream->graph->invalid ? STREAM_CAPTURE_INVALIDATED : CUDA_OK;
  for (cuda_queue s = mock_streams; s; s = s->next)
    if (s->graph && !s->non_blocking) return STREAM_CAPTURE_IMPLICIT;
  return CUDA_OK;
}

static bool add_node(cuda_queue stream, unsigned type) {
  struct CUgraph_st *graph = stream->graph;
  if (graph->count == MOST_NODES) return false;
  cuda_node node = &graph->nodes[graph->count++];
  *node = (struct CUgraphNode_st){.type = type, .nafter = stream->tails.count};
  for (int i = 0; i < stream->tails.count; i++) node->after[i] = (int)(stream->tails.node[i] - graph->nodes);
  stream->tails = (struct tails){{node}, 1};
  return true;
}

static void add_tails(struct tails *to, const struct tails *from) {
  for (int i = 0; i < from->count; i++) {
    bool there = to->count == MOST_TAILS;
    for (int k = 0; k < to->count; k++) there = there || to->node[k] == from->node[i];
    if (!there) to->node[to->count++] = from->node[i];
  }
}

static struct CUgraph_st *open_capture(unsigned number) {
  for (cuda_queue s = mock_streams; s; s = s->next)
    if (s->graph && s->graph->capture == number) return s->graph;
  return NULL;
}

/* True: the work was noted as a node and is not to be done now. */
bool mock_noted(cuda_queue stream, unsigned type) {
  return stream && stream->graph && add_node(stream, type);
}

void mock_move(const struct move *m) {
  if (m->from) memmove(m->to, m->from, m->bytes);
  for (size_t i = 0; !m->from && i < m->count; i++) memcpy(m->to + i * m->pitch, &m->pattern, m->bytes);
}

static cuda_result do_move(cuda_queue stream, unsigned type, const struct move *m) {
  stream = mock_queue(stream);
  cuda_result code = mock_allowed(stream);
  if (code != CUDA_OK) return code;
  if (mock_noted(stream, type))
    stream->tails.node[0]->move = *m;
  else
    mock_move(m);
  return CUDA_OK;
}

static cuda_result move(cuda_queue stream, void *to, const void *from, size_t bytes) {
  return do_move(stream, CUDA_NODE_MEMCPY, &(struct move){.to = to, .from = from, .bytes = bytes});
}

#define COPIES(name, to_type, from_type)                                                                               \
  cuda_result name(to_type to, from_type from, size_t bytes, cuda_queue stream) {                                      \
    ENTER(name);                                                                                                       \
    return move(stream, (void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);                                  \
  }
COPIES(cuMemcpyHtoDAsync_v2, cuda_address, const void *)
COPIES(cuMemcpyDtoHAsync_v2, void *, cuda_address)
COPIES(cuMemcpyDtoDAsync_v2, cuda_address, cuda_address)
COPIES(cuMemcpyAsync, cuda_address, cuda_address)

cuda_result cuMemcpyPeerAsync(cuda_address to, cuda_context a, cuda_address from, cuda_context b, size_t bytes,
                              cuda_queue stream) {
  ENTER(cuMemcpyPeerAsync);
  return a == b ? INVALID_VALUE : move(stream, host(to), host(from), bytes);
}

/* ---- textures: texels are memory in rows, objects are numbers --------------------------------------------------- */

cuda_result cuArray3DCreate_v2(cuda_array *out, const cuda_array_shape *shape) {
  ENTER(cuArray3DCreate_v2);
  const size_t rows = shape->height ? shape->height : 1, slices = shape->depth ? shape->depth : 1;
  const size_t component = shape->format % 8 == 3 || shape->format == 10 || shape->format == 32 ? 4 : 2;
  if (shape->channels == 3) return INVALID_VALUE;
  mock_tell("array %zu %zu %zu format %u x %u flags %u\n", shape->width, shape->height, shape->depth, shape->format,
            shape->channels, shape->flags);
  *out = mock_new(shape->width * rows * slices * shape->channels * component);
  mock_live[TEXELS]++;
  return CUDA_OK;
}

static char *copy_end(const cuda_copy_end *end) {
  return end->type == CUDA_MEMORY_ARRAY ? (char *)end->array : host(end->address);
}

cuda_result cuMemcpy3DAsync_v2(const cuda_copy_3d *copy, cuda_queue stream) {
  ENTER(cuMemcpy3DAsync_v2);
  return move(stream, copy_end(&copy->to), copy_end(&copy->from), copy->width * copy->height * copy->depth);
}

static cuda_result new_image(cuda_handle *out) {
  static cuda_handle number;
  *out = ++number;
  mock_live[IMAGE]++;
  return CUDA_OK;
}

cuda_result cuTexObjectCreate(cuda_handle *out, const cuda_resource *resource, const cuda_sampling *how,
                              const void *view) {
  ENTER(cuTexObjectCreate);
  if (resource->type == CUDA_RESOURCE_PITCHED && resource->memory.pitch % 32) return INVALID_VALUE;
  mock_tell("texture %u filter %u flags %u address %u %u\n", resource->type, how->filter, how->flags, how->address[0],
            how->address[1]);
  return new_image(out);
}

cuda_result cuSurfObjectCreate(cuda_handle *out, const cuda_resource *resource) {
  ENTER(cuSurfObjectCreate);
  return resource->type == CUDA_RESOURCE_ARRAY ? new_image(out) : INVALID_VALUE;
}

static cuda_result set(cuda_queue stream, char *at, const void *pattern, size_t width, size_t pitch, size_t count) {
  struct move m = {.to = at, .bytes = width, .pitch = pitch, .count = count};
  memcpy(&m.pattern, pattern, width);
  return do_move(stream, CUDA_NODE_MEMSET, &m);
}

#define SETS(name, type)                                                                                               \
  cuda_result name(cuda_address at, type value, size_t count, cuda_queue stream) {                                     \
    ENTER(name);                                                                                                       \
    return set(stream, host(at), &value, sizeof value, sizeof value, count);                                           \
  }
SETS(cuMemsetD8Async, unsigned char)
SETS(cuMemsetD16Async, unsigned short)
SETS(cuMemsetD32Async, unsigned)

cuda_result cuMemsetD2D32Async(cuda_address at, size_t pitch, unsigned value, size_t width, size_t height,
                               cuda_queue stream) {
  ENTER(cuMemsetD2D32Async);
  return width == 1 ? set(stream, host(at), &value, 4, pitch, height) : NOT_SUPPORTED;
}

cuda_result cuStreamCreateWithPriority(cuda_queue *stream, unsigned flags, int priority) {
  ENTER(cuStreamCreateWithPriority);
  *stream = mock_new(sizeof **stream);
  (*stream)->non_blocking = flags & CUDA_STREAM_NON_BLOCKING;
  (*stream)->next = mock_streams;
  mock_streams = *stream;
  mock_live[STREAM]++;
  return CUDA_OK;
}

cuda_result cuStreamDestroy_v2(cuda_queue stream) {
  ENTER(cuStreamDestroy_v2);
  cuda_queue *at = &mock_streams;
  while (*at != stream) at = &(*at)->next;
  *at = stream->next;
  mock_drop(stream);
  mock_live[STREAM]--;
  return CUDA_OK;
}

cuda_result cuStreamWaitEvent(cuda_queue stream, cuda_marker event, unsigned flags) {
  ENTER(cuStreamWaitEvent);
  stream = mock_queue(stream);
  if (!event->recorded) return CUDA_OK;
  if (!event->capture && stream && stream->graph) {
    stream->graph->invalid = true;
    return STREAM_CAPTURE_ISOLATION;
  }
  if (!event->capture) return mock_allowed(stream);
  struct CUgraph_st *graph = open_capture(event->capture);
  if (!graph) return INVALID_VALUE;
  if (!stream) return STREAM_CAPTURE_IMPLICIT;
  if (stream->graph && stream->graph != graph) return STREAM_CAPTURE_MERGE;
  stream->graph = graph;
  add_tails(&stream->tails, &event->tails);
  return CUDA_OK;
}

static cuda_result ready(void) {
  return setting("MOCK_CUDA_HANG", 0) ? CUDA_NOT_READY : CUDA_OK;
}

cuda_result cuStreamQuery(cuda_queue stream) {
  ENTER(cuStreamQuery);
  stream = mock_queue(stream);
  cuda_result code = stream && stream->graph ? STREAM_CAPTURE_UNSUPPORTED : mock_allowed(stream);
  return code == CUDA_OK ? ready() : code;
}

cuda_result cuLaunchHostFunc(cuda_queue stream, void (*run)(void *), void *data) {
  ENTER(cuLaunchHostFunc);
  run(data);
  return CUDA_OK;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

cuda_result cuEventCreate(cuda_marker *event, unsigned flags) {
  ENTER(cuEventCreate);
  *event = mock_new(sizeof **event);
  (*event)->timing = !(flags & CUDA_EVENT_DISABLE_TIMING);
  mock_live[EVENT]++;
  return CUDA_OK;
}

cuda_result cuEventRecord(cuda_marker event, cuda_queue stream) {
  ENTER(cuEventRecord);
  stream = mock_queue(stream);
  cuda_result code = mock_allowed(stream);
  if (code != CUDA_OK) return code;
  event->seconds = now_seconds();
  event->recorded = true;
  event->capture = stream && stream->graph ? stream->graph->capture : 0;
  if (event->capture) event->tails = stream->tails;
  return CUDA_OK;
}

cuda_result cuEventQuery(cuda_marker event) {
  ENTER(cuEventQuery);
  if (event->capture) return open_capture(event->capture) ? CAPTURED_EVENT : INVALID_VALUE;
  return event->recorded ? ready() : CUDA_OK;
}

cuda_result cuEventElapsedTime(float *milliseconds, cuda_marker from, cuda_marker to) {
  ENTER(cuEventElapsedTime);
  if (!from->recorded || !to->recorded || !from->timing || !to->timing) return INVALID_HANDLE;
  if (from->capture || to->capture) return INVALID_VALUE;
  if (ready() != CUDA_OK) return CUDA_NOT_READY;
  *milliseconds = (float)(1e3 * (to->seconds - from->seconds));
  return CUDA_OK;
}
