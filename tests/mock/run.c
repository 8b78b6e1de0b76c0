/* SPDX-License-Identifier: MIT
 *
 * The fake driver's modules, launches and graphs. A module takes any code; a function is found where its name stands
 * in it; the few kernels of the table below are carried out on the host, all others only counted. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mock/mock.h"

static void *host(uint64_t address) {
  return (void *)(uintptr_t)address;
}

/* ---- modules --------------------------------------------------------------------------------------------------- */

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
  *module = mock_new(sizeof **module);
  (*module)->bytes = image_size(image);
  (*module)->image = mock_new((*module)->bytes + 1);
  memcpy((*module)->image, image, (*module)->bytes);
  mock_live[MODULE]++;
  return CUDA_OK;
}

cuda_result cuModuleUnload(cuda_code module) {
  ENTER(cuModuleUnload);
  for (int i = 0; i < 16; i++) mock_drop(module->variables[i].storage);
  mock_drop(module->image);
  mock_drop(module);
  mock_live[MODULE]--;
  return CUDA_OK;
}

cuda_result cuModuleGetFunction(cuda_function *function, cuda_code module, const char *name) {
  ENTER(cuModuleGetFunction);
  size_t length = strlen(name) + (memcmp(module->image, ELFMAG, SELFMAG) == 0); /* in PTX no zero ends a name */
  if (!memmem(module->image, module->bytes, name, length)) return CUDA_NOT_FOUND;
  *function = mock_new(sizeof **function);
  **function = (struct CUfunc_st){.module = module, .dynamic = 49152};
  snprintf((*function)->name, sizeof(*function)->name, "%s", name);
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
      v->storage = mock_new(v->bytes);
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
  if (attribute == CUDA_FUNC_CARVEOUT) return mock_tell("%s: carveout %d\n", function->name, value);
  if (attribute != CUDA_FUNC_MAX_DYNAMIC_SHARED) return INVALID_VALUE;
  function->dynamic = value;
  return CUDA_OK;
}

cuda_result cuFuncSetCacheConfig(cuda_function function, unsigned prefer) {
  ENTER(cuFuncSetCacheConfig);
  return mock_tell("%s: cache %u\n", function->name, prefer);
}

cuda_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cuda_function function, int threads,
                                                        size_t shared) {
  ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  *blocks = 2048 / threads;
  return CUDA_OK;
}

/* ---- launches -------------------------------------------------------------------------------------------------- */

static void run_fill(const uint64_t *v) { /* fill(float *x, float value, int n) */
  float value, *x = host(v[0]);
  memcpy(&value, &v[1], sizeof value);
  for (int i = 0; i < (int)v[2]; i++) x[i] = value;
}

static void run_copy(const uint64_t *v) { /* copy(double *to, const double *from, int n) */
  memcpy(host(v[0]), host(v[1]), (size_t)(int)v[2] * sizeof(double));
}

/* moonwarp::fill<T>(T *x, T value, unsigned long long n) of kernels/moonwarp/array.cu */
static void run_fill_words(const uint64_t *v) {
  uint32_t value = (uint32_t)v[1], *x = host(v[0]);
  for (uint64_t i = 0; i < v[2]; i++) x[i] = value;
}

static void run_fill_doubles(const uint64_t *v) {
  uint64_t *x = host(v[0]);
  for (uint64_t i = 0; i < v[2]; i++) x[i] = v[1];
}

/* moonwarp::hold(unsigned *gate, unsigned ticket, unsigned long long limit): as if the host came too late, for the
 * first MOCK_CUDA_FORCED launches of it. */
static void run_hold(const uint64_t *v) {
  static long forced;
  const char *most = getenv("MOCK_CUDA_FORCED");
  if (most && forced++ < atol(most)) ((unsigned *)host(v[0]))[1] = (unsigned)v[1];
}

static const struct known {
  const char *name;
  int sizes[MOST_ARGUMENTS];
  void (*run)(const uint64_t *values);
} known[] = {{"_Z4fillPffi", {8, 4, 4}, run_fill},
             {"_Z4copyPdPKdi", {8, 8, 4}, run_copy},
             {"_ZN8moonwarp4holdEPjjy", {8, 4, 8}, run_hold},
             {"_ZN8moonwarp4fillIfEEvPT_S1_y", {8, 4, 8}, run_fill_words},
             {"_ZN8moonwarp4fillIiEEvPT_S1_y", {8, 4, 8}, run_fill_words},
             {"_ZN8moonwarp4fillIdEEvPT_S1_y", {8, 8, 8}, run_fill_doubles}};

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
  mock_ran(function->name);
  if (k) k->run(values);
}

static cuda_result launch(cuda_function function, unsigned shared, cuda_queue stream, void **params) {
  uint64_t values[MOST_ARGUMENTS];
  stream = mock_queue(stream);
  if ((int)shared > function->dynamic) return INVALID_VALUE;
  cuda_result code = mock_allowed(stream);
  if (code != CUDA_OK) return code;
  take_values(function, params, values);
  if (!mock_noted(stream, CUDA_NODE_KERNEL)) {
    run(function, values);
    return CUDA_OK;
  }
  stream->tails.node[0]->function = function;
  memcpy(stream->tails.node[0]->values, values, sizeof values);
  return CUDA_OK;
}

cuda_result cuLaunchKernel(cuda_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                           unsigned bz, unsigned shared, cuda_queue stream, void **params, void **extra) {
  ENTER(cuLaunchKernel);
  bool empty = !gx || !gy || !gz || !bx || !by || !bz;
  return empty ? INVALID_VALUE : launch(function, shared, stream, params);
}

cuda_result cuLaunchCooperativeKernel(cuda_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                      unsigned by, unsigned bz, unsigned shared, cuda_queue stream, void **params) {
  ENTER(cuLaunchCooperativeKernel);
  return launch(function, shared, stream, params);
}

/* ---- graphs ---------------------------------------------------------------------------------------------------- */

cuda_result cuStreamBeginCapture_v2(cuda_queue stream, unsigned mode) {
  static unsigned captures;
  ENTER(cuStreamBeginCapture_v2);
  stream = mock_queue(stream);
  if (!stream || stream->graph) return STREAM_CAPTURE_UNSUPPORTED;
  stream->origin = true;
  stream->graph = mock_new(sizeof *stream->graph);
  stream->graph->capture = ++captures;
  stream->tails.count = 0;
  mock_live[GRAPH]++;
  return CUDA_OK;
}

/* Nodes come after all they follow: one pass from the last to the first marks all that leads to the tails. */
static bool all_joined(cuda_queue origin) {
  const struct CUgraph_st *graph = origin->graph;
  bool reached[MOST_NODES] = {false}, joined = true;
  for (int i = 0; i < origin->tails.count; i++) reached[origin->tails.node[i] - graph->nodes] = true;
  for (int node = graph->count - 1; node >= 0; node--)
    for (int i = 0; reached[node] && i < graph->nodes[node].nafter; i++) reached[graph->nodes[node].after[i]] = true;
  for (cuda_queue s = mock_streams; s; s = s->next)
    for (int i = 0; s->graph == graph && i < s->tails.count; i++)
      joined = joined && reached[s->tails.node[i] - graph->nodes];
  return joined;
}

cuda_result cuStreamEndCapture(cuda_queue stream, cuda_drawing *graph) {
  ENTER(cuStreamEndCapture);
  stream = mock_queue(stream);
  struct CUgraph_st *made = stream->graph;
  if (!made) return INVALID_VALUE;
  if (!stream->origin) return STREAM_CAPTURE_UNMATCHED;
  cuda_result code = made->invalid ? STREAM_CAPTURE_INVALIDATED : !all_joined(stream) ? CUDA_CAPTURE_UNJOINED : CUDA_OK;
  for (cuda_queue s = mock_streams; s; s = s->next) {
    if (s->graph != made) continue;
    s->graph = NULL;
    s->origin = false;
    s->tails.count = 0;
  }
  *graph = code == CUDA_OK ? made : NULL;
  if (code != CUDA_OK) cuGraphDestroy(made);
  return code;
}

cuda_result cuStreamGetCaptureInfo_v2(cuda_queue stream, unsigned *status, unsigned long *id, cuda_drawing *graph,
                                      const cuda_node **after, size_t *count) {
  ENTER(cuStreamGetCaptureInfo_v2);
  stream = mock_queue(stream);
  *status = stream->graph ? CUDA_CAPTURE_ACTIVE + stream->graph->invalid : 0;
  if (after) *after = stream->tails.node;
  if (count) *count = (size_t)stream->tails.count;
  return CUDA_OK;
}

cuda_result cuGraphInstantiateWithFlags(cuda_replay *replay, cuda_drawing graph, unsigned long long flags) {
  ENTER(cuGraphInstantiateWithFlags);
  *replay = mock_new(sizeof **replay);
  (*replay)->drawing = *graph;
  (*replay)->of = graph;
  mock_live[REPLAY]++;
  return CUDA_OK;
}

cuda_result cuGraphLaunch(cuda_replay replay, cuda_queue stream) {
  ENTER(cuGraphLaunch);
  for (int i = 0; i < replay->drawing.count; i++) {
    const struct CUgraphNode_st *node = &replay->drawing.nodes[i];
    if (node->type == CUDA_NODE_KERNEL)
      run(node->function, node->values);
    else
      mock_move(&node->move);
  }
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
    for (int k = 0; k < graph->nodes[i].nafter; k++, n++) {
      if (from) from[n] = &graph->nodes[graph->nodes[i].after[k]];
      if (to) to[n] = &graph->nodes[i];
    }
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
  mock_drop(replay);
  mock_live[REPLAY]--;
  return CUDA_OK;
}

cuda_result cuGraphDestroy(cuda_drawing graph) {
  ENTER(cuGraphDestroy);
  mock_drop(graph);
  mock_live[GRAPH]--;
  return CUDA_OK;
}
