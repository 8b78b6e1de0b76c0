/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libcuda.so.1, so that the CUDA backend is tested where there is no GPU: MOONWARP_LIBCUDA names it.
 * Memory is the host's, streams run at once, events are clocks, launches are counted and, for the few kernels in the
 * table below, carried out. Behaviour is steered by environment variables, read at each call:
 *   MOCK_CUDA_DEVICES=2  MOCK_CUDA_VERSION=12040  MOCK_CUDA_ARCH=80  MOCK_CUDA_MEMORY=bytes  MOCK_CUDA_POOLS=0
 *   MOCK_CUDA_HANG=1                     streams and events never become ready
 *   MOCK_CUDA_FAIL=cuLaunchKernel:700:3  the third such call from now on fails with 700 (sticky where CUDA's is)
 *   MOCK_CUDA_LEAKS=1                    what is still alive at exit is told on standard error */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/backend/cuda/driver.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define PROTOTYPE(name, arguments) cuda_result name arguments;
CUDA_DRIVER_CALLS(PROTOTYPE)

enum { INVALID_VALUE = 1, NOT_SUPPORTED = 801, STREAM_CAPTURE_UNSUPPORTED = 900, STREAM_CAPTURE_IMPLICIT = 906 };
enum { MOST_NODES = 64, MOST_ARGUMENTS = 8 };

struct CUctx_st { int device; };
struct CUevent_st { double seconds; bool recorded, timing; };
struct CUmod_st { char *image; size_t bytes; struct variable { char name[128]; void *storage; size_t bytes; } variables[16]; };
struct CUfunc_st { struct CUmod_st *module; char name[256]; int dynamic; struct CUfunc_st *next; };
struct CUgraphNode_st { unsigned type; struct CUfunc_st *function; uint64_t values[MOST_ARGUMENTS]; int after; };
struct CUgraph_st { struct CUgraphNode_st nodes[MOST_NODES]; int count; };
struct CUgraphExec_st { struct CUgraph_st drawing; struct CUgraph_st *of; };
struct CUstream_st { bool capturing, non_blocking; struct CUgraph_st *graph; cuda_node last; };

/* ---- what tests ask ------------------------------------------------------------------------------------------------ */

enum kind { MEMORY, PINNED, STREAM, EVENT, MODULE, GRAPH, REPLAY, CONTEXT, KINDS };
static const char *const kind_names[KINDS] = {"memory", "pinned", "stream", "event", "module", "graph", "replay", "context"};
static int live[KINDS];
static size_t used, cached;
static char last_kernel[256];
static struct CUfunc_st *functions;

static const char *const call_names[] = {
#define NAME(name, arguments) #name,
    CUDA_DRIVER_CALLS(NAME)};
enum { CALLS = sizeof call_names / sizeof *call_names };
static int call_counts[CALLS];

int mock_cuda_live(const char *kind);
int mock_cuda_calls(const char *name);
const char *mock_cuda_last_kernel(void);

int mock_cuda_live(const char *kind) {
  for (int i = 0; i < KINDS; i++)
    if (strcmp(kind, kind_names[i]) == 0) return live[i];
  return -1;
}

int mock_cuda_calls(const char *name) {
  for (int i = 0; i < CALLS; i++)
    if (strcmp(name, call_names[i]) == 0) return call_counts[i];
  return -1;
}

const char *mock_cuda_last_kernel(void) { return last_kernel; }

static void __attribute__((destructor)) tell_leaks(void) {
  const char *wanted = getenv("MOCK_CUDA_LEAKS");
  for (int i = 0; i < KINDS; i++)
    if (wanted && *wanted == '1' && live[i]) fprintf(stderr, "mock libcuda: leak: %d %s\n", live[i], kind_names[i]);
  while (functions) {
    struct CUfunc_st *next = functions->next;
    free(functions);
    functions = next;
  }
}

/* ---- entering a call ----------------------------------------------------------------------------------------------- */

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? atol(text) : otherwise;
}

static cuda_result injected(const char *call) {
  static char plan[256];
  static int  seen;
  static cuda_result sticky;
  const char *now = getenv("MOCK_CUDA_FAIL");
  if (strcmp(plan, now ? now : "") != 0) {
    snprintf(plan, sizeof plan, "%s", now ? now : "");
    seen = 0;
    sticky = 0;
  }
  if (sticky) return sticky;
  char   name[64];
  unsigned code;
  int    nth;
  if (!*plan || sscanf(plan, "%63[^:]:%u:%d", name, &code, &nth) != 3 || strcmp(name, call) != 0 || ++seen != nth)
    return CUDA_OK;
  if (code >= 700 && code < 720 && code != 701 && code != 704) sticky = code;
  return code;
}

static cuda_result enter(int index) {
  call_counts[index]++;
  return injected(call_names[index]);
}

enum {
#define INDEX(name, arguments) index_##name,
  CUDA_DRIVER_CALLS(INDEX)
};

#define ENTER(name)                                                                                                    \
  do {                                                                                                                 \
    cuda_result injected_code = enter(index_##name);                                                                   \
    if (injected_code) return injected_code;                                                                           \
  } while (0)

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- driver and devices -------------------------------------------------------------------------------------------- */

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
  *name = code == CUDA_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : code == CUDA_OUT_OF_MEMORY
                                           ? "CUDA_ERROR_OUT_OF_MEMORY"
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

static size_t total_memory(void) { return (size_t)setting("MOCK_CUDA_MEMORY", 1L << 30); }

cuda_result cuDeviceTotalMem_v2(size_t *bytes, cuda_ordinal device) {
  *bytes = total_memory();
  return CUDA_OK;
}

cuda_result cuDeviceGetAttribute(int *value, unsigned attribute, cuda_ordinal device) {
  static const int values[128] = {
      [1] = 1024,  [2] = 1024,    [3] = 1024,     [4] = 64,      [5] = 2147483647, [6] = 65535, [7] = 65535, [8] = 49152,
      [9] = 65536, [10] = 32,     [12] = 65536,   [13] = 1980000, [16] = 4,        [32] = 1,    [36] = 3201000,
      [37] = 6144, [38] = 1 << 20, [39] = 2048,   [40] = 3,      [81] = 233472,    [82] = 65536, [83] = 1,
      [95] = 1,    [97] = 232448, [106] = 32,     [111] = 1024,
  };
  int arch = (int)setting("MOCK_CUDA_ARCH", 90);
  ENTER(cuDeviceGetAttribute);
  if (attribute >= 128) return INVALID_VALUE;
  *value = attribute == CUDA_ATTR_CAPABILITY_MAJOR         ? arch / 10
           : attribute == CUDA_ATTR_CAPABILITY_MINOR       ? arch % 10
           : attribute == CUDA_ATTR_MEMORY_POOLS_SUPPORTED ? (int)setting("MOCK_CUDA_POOLS", 1)
                                                           : values[attribute];
  return CUDA_OK;
}

cuda_result cuDeviceGetDefaultMemPool(cuda_pool *pool, cuda_ordinal device) {
  *pool = (cuda_pool)&used;
  return CUDA_OK;
}

cuda_result cuDeviceCanAccessPeer(int *can, cuda_ordinal device, cuda_ordinal peer) {
  *can = 1;
  return CUDA_OK;
}

cuda_result cuDevicePrimaryCtxRetain(cuda_context *context, cuda_ordinal device) {
  static struct CUctx_st contexts[16];
  ENTER(cuDevicePrimaryCtxRetain);
  contexts[device].device = device;
  *context = &contexts[device];
  live[CONTEXT]++;
  return CUDA_OK;
}

cuda_result cuDevicePrimaryCtxRelease_v2(cuda_ordinal device) {
  live[CONTEXT]--;
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

cuda_result cuCtxEnablePeerAccess(cuda_context context, unsigned flags) { return CUDA_OK; }

/* ---- memory -------------------------------------------------------------------------------------------------------- */

enum { HEAD = 256 }; /* keeps CUDA's alignment */

static cuda_result take(size_t bytes, void **out, enum kind kind) {
  if (bytes > total_memory() || used + cached > total_memory() - bytes) return CUDA_OUT_OF_MEMORY;
  char *block = aligned_alloc(HEAD, (HEAD + bytes + HEAD - 1) / HEAD * HEAD);
  if (!block) return CUDA_OUT_OF_MEMORY;
  memcpy(block, &bytes, sizeof bytes);
  memset(block + HEAD, 0xcd, bytes);
  used += bytes;
  live[kind]++;
  *out = block + HEAD;
  return CUDA_OK;
}

static size_t give(void *address, enum kind kind) {
  size_t bytes;
  memcpy(&bytes, (char *)address - HEAD, sizeof bytes);
  free((char *)address - HEAD);
  used -= bytes;
  live[kind]--;
  return bytes;
}

static void *host(cuda_address address) { return (void *)(uintptr_t)address; }

static cuda_result take_device(cuda_address *out, size_t bytes) {
  void *address = NULL;
  cuda_result code = current ? take(bytes, &address, MEMORY) : 201;
  *out = (cuda_address)(uintptr_t)address;
  return code;
}

cuda_result cuMemGetInfo_v2(size_t *left, size_t *total) {
  ENTER(cuMemGetInfo_v2);
  *total = total_memory();
  *left = *total - used - cached;
  return CUDA_OK;
}

cuda_result cuMemAlloc_v2(cuda_address *out, size_t bytes) {
  ENTER(cuMemAlloc_v2);
  return take_device(out, bytes);
}

cuda_result cuMemFree_v2(cuda_address address) {
  ENTER(cuMemFree_v2);
  give(host(address), MEMORY);
  return CUDA_OK;
}

cuda_result cuMemAllocAsync(cuda_address *out, size_t bytes, cuda_queue stream) {
  ENTER(cuMemAllocAsync);
  return take_device(out, bytes);
}

cuda_result cuMemFreeAsync(cuda_address address, cuda_queue stream) {
  ENTER(cuMemFreeAsync);
  cached += give(host(address), MEMORY); /* until the pool is trimmed */
  return CUDA_OK;
}

cuda_result cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
  ENTER(cuMemHostAlloc);
  return take(bytes, out, PINNED);
}

cuda_result cuMemFreeHost(void *address) {
  ENTER(cuMemFreeHost);
  give(address, PINNED);
  return CUDA_OK;
}

cuda_result cuMemAllocManaged(cuda_address *out, size_t bytes, unsigned flags) {
  ENTER(cuMemAllocManaged);
  return take_device(out, bytes);
}

cuda_result cuMemPoolSetAttribute(cuda_pool pool, unsigned attribute, void *value) { return CUDA_OK; }

cuda_result cuMemPoolTrimTo(cuda_pool pool, size_t keep) {
  ENTER(cuMemPoolTrimTo);
  cached = 0;
  return CUDA_OK;
}

/* ---- streams: at once, or a node of the graph that is captured ------------------------------------------------------- */

static int capturing; /* streams */

static cuda_node add_node(cuda_queue stream, unsigned type) {
  struct CUgraph_st *graph = stream->graph;
  if (graph->count == MOST_NODES) return NULL;
  cuda_node node = &graph->nodes[graph->count++];
  *node = (struct CUgraphNode_st){.type = type, .after = stream->last ? (int)(stream->last - graph->nodes) : -1};
  stream->last = node;
  return node;
}

/* True: the work was noted as a node and is not to be done now. */
static bool noted(cuda_queue stream, unsigned type) { return stream && stream->capturing && add_node(stream, type); }

static cuda_result move(cuda_queue stream, void *to, const void *from, size_t bytes) {
  if (!stream && capturing) return STREAM_CAPTURE_IMPLICIT;
  if (!noted(stream, CUDA_NODE_MEMCPY)) memmove(to, from, bytes);
  return CUDA_OK;
}

cuda_result cuMemcpyHtoDAsync_v2(cuda_address to, const void *from, size_t bytes, cuda_queue stream) {
  ENTER(cuMemcpyHtoDAsync_v2);
  return move(stream, host(to), from, bytes);
}

cuda_result cuMemcpyDtoHAsync_v2(void *to, cuda_address from, size_t bytes, cuda_queue stream) {
  ENTER(cuMemcpyDtoHAsync_v2);
  return move(stream, to, host(from), bytes);
}

cuda_result cuMemcpyDtoDAsync_v2(cuda_address to, cuda_address from, size_t bytes, cuda_queue stream) {
  ENTER(cuMemcpyDtoDAsync_v2);
  return move(stream, host(to), host(from), bytes);
}

cuda_result cuMemcpyAsync(cuda_address to, cuda_address from, size_t bytes, cuda_queue stream) {
  ENTER(cuMemcpyAsync);
  return move(stream, host(to), host(from), bytes);
}

cuda_result cuMemcpyPeerAsync(cuda_address to, cuda_context a, cuda_address from, cuda_context b, size_t bytes,
                              cuda_queue stream) {
  ENTER(cuMemcpyPeerAsync);
  return a == b ? INVALID_VALUE : move(stream, host(to), host(from), bytes);
}

static cuda_result set(cuda_queue stream, char *at, const void *pattern, size_t width, size_t pitch, size_t count) {
  if (!stream && capturing) return STREAM_CAPTURE_IMPLICIT;
  if (noted(stream, CUDA_NODE_MEMSET)) return CUDA_OK;
  for (size_t i = 0; i < count; i++) memcpy(at + i * pitch, pattern, width);
  return CUDA_OK;
}

cuda_result cuMemsetD8Async(cuda_address at, unsigned char value, size_t count, cuda_queue stream) {
  ENTER(cuMemsetD8Async);
  return set(stream, host(at), &value, 1, 1, count);
}

cuda_result cuMemsetD16Async(cuda_address at, unsigned short value, size_t count, cuda_queue stream) {
  ENTER(cuMemsetD16Async);
  return set(stream, host(at), &value, 2, 2, count);
}

cuda_result cuMemsetD32Async(cuda_address at, unsigned value, size_t count, cuda_queue stream) {
  ENTER(cuMemsetD32Async);
  return set(stream, host(at), &value, 4, 4, count);
}

cuda_result cuMemsetD2D32Async(cuda_address at, size_t pitch, unsigned value, size_t width, size_t height,
                               cuda_queue stream) {
  ENTER(cuMemsetD2D32Async);
  return width == 1 ? set(stream, host(at), &value, 4, pitch, height) : NOT_SUPPORTED;
}

cuda_result cuStreamCreateWithPriority(cuda_queue *stream, unsigned flags, int priority) {
  ENTER(cuStreamCreateWithPriority);
  *stream = calloc(1, sizeof **stream);
  (*stream)->non_blocking = flags & CUDA_STREAM_NON_BLOCKING;
  live[STREAM]++;
  return CUDA_OK;
}

cuda_result cuStreamDestroy_v2(cuda_queue stream) {
  ENTER(cuStreamDestroy_v2);
  free(stream);
  live[STREAM]--;
  return CUDA_OK;
}

cuda_result cuStreamWaitEvent(cuda_queue stream, cuda_marker event, unsigned flags) {
  ENTER(cuStreamWaitEvent);
  return CUDA_OK;
}

static cuda_result ready(void) { return setting("MOCK_CUDA_HANG", 0) ? CUDA_NOT_READY : CUDA_OK; }

cuda_result cuStreamQuery(cuda_queue stream) {
  ENTER(cuStreamQuery);
  return stream && stream->capturing ? STREAM_CAPTURE_UNSUPPORTED : ready();
}

cuda_result cuStreamSynchronize(cuda_queue stream) {
  ENTER(cuStreamSynchronize);
  return CUDA_OK;
}

cuda_result cuLaunchHostFunc(cuda_queue stream, void (*run)(void *), void *data) {
  ENTER(cuLaunchHostFunc);
  run(data);
  return CUDA_OK;
}

/* ---- modules ------------------------------------------------------------------------------------------------------- */

static size_t image_size(const char *image) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
  if (memcmp(image, ELFMAG, SELFMAG) != 0) return strlen(image);
  size_t size = head->e_shoff + (size_t)head->e_shnum * sizeof(Elf64_Shdr);
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + head->e_shoff);
  for (int i = 0; i < head->e_shnum; i++)
    if (sections[i].sh_type != SHT_NOBITS && sections[i].sh_offset + sections[i].sh_size > size)
      size = sections[i].sh_offset + sections[i].sh_size;
  return size;
}

cuda_result cuModuleLoadDataEx(cuda_code *module, const void *image, unsigned count, unsigned *options, void **values) {
  ENTER(cuModuleLoadDataEx);
  *module = calloc(1, sizeof **module);
  (*module)->bytes = image_size(image);
  (*module)->image = aligned_alloc(16, ((*module)->bytes + 16) / 16 * 16);
  memcpy((*module)->image, image, (*module)->bytes);
  live[MODULE]++;
  return CUDA_OK;
}

cuda_result cuModuleUnload(cuda_code module) {
  ENTER(cuModuleUnload);
  for (int i = 0; i < 16; i++) free(module->variables[i].storage);
  free(module->image);
  free(module);
  live[MODULE]--;
  return CUDA_OK;
}

cuda_result cuModuleGetFunction(cuda_function *function, cuda_code module, const char *name) {
  ENTER(cuModuleGetFunction);
  if (!memmem(module->image, module->bytes, name, strlen(name) + 1)) return CUDA_NOT_FOUND;
  *function = calloc(1, sizeof **function);
  **function = (struct CUfunc_st){.module = module, .dynamic = 49152, .next = functions};
  snprintf((*function)->name, sizeof(*function)->name, "%s", name);
  functions = *function;
  return CUDA_OK;
}

static size_t symbol_size(const char *image, const char *name) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + head->e_shoff);
  for (int i = 0; i < head->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(image + sections[i].sh_offset);
    const char *names = image + sections[sections[i].sh_link].sh_offset;
    for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
      if (strcmp(names + symbols[k].st_name, name) == 0) return symbols[k].st_size;
  }
  return 0;
}

cuda_result cuModuleGetGlobal_v2(cuda_address *address, size_t *bytes, cuda_code module, const char *name) {
  ENTER(cuModuleGetGlobal_v2);
  for (int i = 0; i < 16; i++) {
    struct variable *v = &module->variables[i];
    if (!v->storage) {
      v->bytes = symbol_size(module->image, name);
      if (!v->bytes) return CUDA_NOT_FOUND;
      snprintf(v->name, sizeof v->name, "%s", name);
      v->storage = calloc(1, v->bytes);
    }
    if (strcmp(v->name, name) != 0) continue;
    *address = (cuda_address)(uintptr_t)v->storage;
    *bytes = v->bytes;
    return CUDA_OK;
  }
  return CUDA_NOT_FOUND;
}

cuda_result cuFuncGetAttribute(int *value, unsigned attribute, cuda_function function) {
  ENTER(cuFuncGetAttribute);
  *value = attribute == CUDA_FUNC_MAX_THREADS_PER_BLOCK ? 1024
           : attribute == CUDA_FUNC_NUM_REGS            ? 32
           : attribute == CUDA_FUNC_MAX_DYNAMIC_SHARED  ? function->dynamic
                                                        : 0;
  return CUDA_OK;
}

cuda_result cuFuncSetAttribute(cuda_function function, unsigned attribute, int value) {
  ENTER(cuFuncSetAttribute);
  if (attribute != CUDA_FUNC_MAX_DYNAMIC_SHARED) return INVALID_VALUE;
  function->dynamic = value;
  return CUDA_OK;
}

cuda_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cuda_function function, int threads, size_t shared) {
  ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  *blocks = 2048 / threads;
  return CUDA_OK;
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

static void run_fill(const uint64_t *v) { /* fill(float *x, float value, int n) */
  float value, *x = host(v[0]);
  memcpy(&value, &v[1], sizeof value);
  for (int i = 0; i < (int)v[2]; i++) x[i] = value;
}

static void run_copy(const uint64_t *v) { /* copy(double *to, const double *from, int n) */
  memcpy(host(v[0]), host(v[1]), (size_t)(int)v[2] * sizeof(double));
}

static const struct known {
  const char *name;
  int         sizes[MOST_ARGUMENTS];
  void (*run)(const uint64_t *values);
} known[] = {{"_Z4fillPffi", {8, 4, 4}, run_fill}, {"_Z4copyPdPKdi", {8, 8, 4}, run_copy}};

static const struct known *find_known(const char *name) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, name) == 0) return &known[i];
  return NULL;
}

static void take_values(cuda_function function, void **params, uint64_t *values) {
  const struct known *k = find_known(function->name);
  memset(values, 0, MOST_ARGUMENTS * sizeof *values);
  for (int i = 0; k && i < MOST_ARGUMENTS && k->sizes[i]; i++) memcpy(&values[i], params[i], (size_t)k->sizes[i]);
}

static void run(cuda_function function, const uint64_t *values) {
  const struct known *k = find_known(function->name);
  snprintf(last_kernel, sizeof last_kernel, "%s", function->name);
  if (k) k->run(values);
}

static cuda_result launch(cuda_function function, unsigned shared, cuda_queue stream, void **params) {
  uint64_t values[MOST_ARGUMENTS];
  if ((int)shared > function->dynamic) return INVALID_VALUE;
  if (!stream && capturing) return STREAM_CAPTURE_IMPLICIT;
  take_values(function, params, values);
  if (!noted(stream, CUDA_NODE_KERNEL)) {
    run(function, values);
    return CUDA_OK;
  }
  stream->last->function = function;
  memcpy(stream->last->values, values, sizeof values);
  return CUDA_OK;
}

cuda_result cuLaunchKernel(cuda_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                           unsigned bz, unsigned shared, cuda_queue stream, void **params, void **extra) {
  ENTER(cuLaunchKernel);
  return gx * gy * gz && bx * by * bz ? launch(function, shared, stream, params) : INVALID_VALUE;
}

cuda_result cuLaunchCooperativeKernel(cuda_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                      unsigned by, unsigned bz, unsigned shared, cuda_queue stream, void **params) {
  ENTER(cuLaunchCooperativeKernel);
  return launch(function, shared, stream, params);
}

/* ---- events -------------------------------------------------------------------------------------------------------- */

cuda_result cuEventCreate(cuda_marker *event, unsigned flags) {
  ENTER(cuEventCreate);
  *event = calloc(1, sizeof **event);
  (*event)->timing = !(flags & CUDA_EVENT_DISABLE_TIMING);
  live[EVENT]++;
  return CUDA_OK;
}

cuda_result cuEventDestroy_v2(cuda_marker event) {
  ENTER(cuEventDestroy_v2);
  free(event);
  live[EVENT]--;
  return CUDA_OK;
}

cuda_result cuEventRecord(cuda_marker event, cuda_queue stream) {
  ENTER(cuEventRecord);
  event->seconds = now_seconds();
  event->recorded = true;
  return CUDA_OK;
}

cuda_result cuEventQuery(cuda_marker event) {
  ENTER(cuEventQuery);
  return ready();
}

cuda_result cuEventElapsedTime(float *milliseconds, cuda_marker from, cuda_marker to) {
  ENTER(cuEventElapsedTime);
  if (!from->recorded || !to->recorded || !from->timing || !to->timing) return 400;
  *milliseconds = (float)(1e3 * (to->seconds - from->seconds));
  return CUDA_OK;
}

/* ---- graphs -------------------------------------------------------------------------------------------------------- */

cuda_result cuStreamBeginCapture_v2(cuda_queue stream, unsigned mode) {
  ENTER(cuStreamBeginCapture_v2);
  if (!stream) return STREAM_CAPTURE_UNSUPPORTED;
  stream->capturing = true;
  stream->graph = calloc(1, sizeof *stream->graph);
  stream->last = NULL;
  live[GRAPH]++;
  capturing++;
  return CUDA_OK;
}

cuda_result cuStreamEndCapture(cuda_queue stream, cuda_drawing *graph) {
  ENTER(cuStreamEndCapture);
  stream->capturing = false;
  *graph = stream->graph;
  capturing--;
  return CUDA_OK;
}

cuda_result cuStreamGetCaptureInfo_v2(cuda_queue stream, unsigned *status, unsigned long *id, cuda_drawing *graph,
                                      const cuda_node **after, size_t *count) {
  ENTER(cuStreamGetCaptureInfo_v2);
  *status = stream->capturing ? CUDA_CAPTURE_ACTIVE : 0;
  if (after) *after = &stream->last;
  if (count) *count = stream->capturing && stream->last ? 1 : 0;
  return CUDA_OK;
}

cuda_result cuGraphInstantiateWithFlags(cuda_replay *replay, cuda_drawing graph, unsigned long long flags) {
  ENTER(cuGraphInstantiateWithFlags);
  *replay = calloc(1, sizeof **replay);
  (*replay)->drawing = *graph;
  (*replay)->of = graph;
  live[REPLAY]++;
  return CUDA_OK;
}

cuda_result cuGraphLaunch(cuda_replay replay, cuda_queue stream) {
  ENTER(cuGraphLaunch);
  for (int i = 0; i < replay->drawing.count; i++)
    if (replay->drawing.nodes[i].type == CUDA_NODE_KERNEL)
      run(replay->drawing.nodes[i].function, replay->drawing.nodes[i].values);
  return CUDA_OK;
}

cuda_result cuGraphExecKernelNodeSetParams_v2(cuda_replay replay, cuda_node node, const cuda_node_params *params) {
  ENTER(cuGraphExecKernelNodeSetParams_v2);
  long index = node - replay->of->nodes;
  if (index < 0 || index >= replay->drawing.count || params->func != node->function) return INVALID_VALUE;
  take_values(params->func, params->params, replay->drawing.nodes[index].values);
  return CUDA_OK;
}

cuda_result cuGraphGetNodes(cuda_drawing graph, cuda_node *nodes, size_t *count) {
  ENTER(cuGraphGetNodes);
  for (int i = 0; nodes && i < graph->count; i++) nodes[i] = &graph->nodes[i];
  *count = (size_t)graph->count;
  return CUDA_OK;
}

cuda_result cuGraphGetEdges(cuda_drawing graph, cuda_node *from, cuda_node *to, size_t *count) {
  ENTER(cuGraphGetEdges);
  size_t n = 0;
  for (int i = 0; i < graph->count; i++) {
    if (graph->nodes[i].after < 0) continue;
    if (from) from[n] = &graph->nodes[graph->nodes[i].after];
    if (to) to[n] = &graph->nodes[i];
    n++;
  }
  *count = n;
  return CUDA_OK;
}

cuda_result cuGraphNodeGetType(cuda_node node, unsigned *type) {
  ENTER(cuGraphNodeGetType);
  *type = node->type;
  return CUDA_OK;
}

cuda_result cuGraphExecDestroy(cuda_replay replay) {
  ENTER(cuGraphExecDestroy);
  free(replay);
  live[REPLAY]--;
  return CUDA_OK;
}

cuda_result cuGraphDestroy(cuda_drawing graph) {
  ENTER(cuGraphDestroy);
  free(graph);
  live[GRAPH]--;
  return CUDA_OK;
}
