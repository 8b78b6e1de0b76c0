/* SPDX-License-Identifier: MIT
 *
 * Kernels: found by their site or their function in the host part, checked, launched. */
#include <string.h>

#include "core/runtime/runtime.h"

/* What cuda_runtime.h declares for generated calls. */
struct moonwarp_site {
  void *kernel;
};
void moonwarp_configure(dim3, dim3, size_t, cudaStream_t, const char *, int) __attribute__((visibility("default")));
void moonwarp_launch(struct moonwarp_site *, void **) __attribute__((visibility("default")));

typedef struct configuration {
  uint32_t grid[3], block[3];
  size_t shared;
  cudaStream_t stream;
  runtime_place place;
  bool cooperative;
} configuration;

/* The <<<...>>> whose kernels are not called yet, the innermost last: an argument may launch a kernel itself. Few,
 * as memory of threads is scarce where lua5.4 loads the module. */
enum { NESTED = 4 };
static _Thread_local configuration pending[NESTED];
static _Thread_local int npending;

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

/* By the address of its site, or of its function; NULL: it is no kernel. */
static runtime_kernel *kernel_at(const void *address) {
  const uint64_t at = (uint64_t)((const char *)address - runtime.base);
  for (int i = 0; i < runtime.nkernels; i++)
    if (runtime.kernels[i].symbol->address == at || runtime.kernels[i].symbol->function == at)
      return &runtime.kernels[i];
  return NULL;
}

static size_t arguments_room(const mw_kernel *kernel) {
  return (kernel->args_bytes + 15) / 16 * 16;
}

static void arguments_place(mw_launch *launch) {
  const mw_kernel *kernel = launch->kernel;
  const size_t room = arguments_room(kernel);
  launch->args = mw_calloc(1, room + (size_t)kernel->nparams * sizeof(void *) + 1);
  launch->params = (void **)(void *)((char *)launch->args + room);
  for (int i = 0; i < kernel->nparams; i++) launch->params[i] = (char *)launch->args + kernel->params[i].offset;
}

/* The device's kernel, compiled at the first use where it is not yet. */
static cudaError_t resolve(runtime_kernel *kernel, const runtime_place *place) {
  const runtime_symbol *symbol = kernel->symbol;
  mw_module *module = symbol->source < runtime.nmodules ? runtime.modules[symbol->source] : NULL;
  mw_error error = {0};
  if (kernel->launch.kernel) return cudaSuccess;
  if (symbol->unnamed) {
    runtime_tell(place,
                 "kernel '%s': its template arguments have no name that the CPU device reads, such as those of a "
                 "lambda; instantiate it with a named class",
                 symbol->name);
    runtime.failed = true;
    return cudaErrorInvalidDeviceFunction;
  }
  if (!module)
    mw_fail(&error, MW_NOT_FOUND, "kernel '%s': there is no code for it", symbol->name);
  else
    module->device->backend->kernel(module, symbol->signature ? symbol->signature : symbol->name,
                                    &kernel->launch.kernel, &error);
  if (error.status) return runtime_error(&error, place);
  kernel->launch.carveout = MW_CARVEOUT_ANY;
  arguments_place(&kernel->launch);
  return cudaSuccess;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static bool over(const uint32_t got[3], const int most[3]) {
  for (int axis = 0; axis < 3; axis++)
    if (got[axis] < 1 || got[axis] > (uint32_t)most[axis]) return true;
  return false;
}

/* What a GPU refuses without a word is told. */
static cudaError_t check(const runtime_kernel *kernel, const configuration *c) {
  const mw_kernel *code = kernel->launch.kernel;
  const mw_device_info *info = &runtime.device->info;
  const uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
  const int most = code->max_threads && code->max_threads < info->max_threads_per_block ? code->max_threads
                                                                                        : info->max_threads_per_block;
  const size_t allowed = kernel->shared_allowed ? info->shared_per_block_optin : info->shared_per_block;
  if (over(c->grid, info->max_grid)) {
    runtime_tell(&c->place, "kernel '%s' is not launched: grid %ux%ux%u, each side is 1 to %dx%dx%d", code->name,
                 c->grid[0], c->grid[1], c->grid[2], info->max_grid[0], info->max_grid[1], info->max_grid[2]);
    return cudaErrorInvalidConfiguration;
  }
  if (over(c->block, info->max_block) || threads > (uint64_t)most) {
    runtime_tell(&c->place, "kernel '%s' is not launched: block %ux%ux%u has %llu threads, 1 to %d are possible",
                 code->name, c->block[0], c->block[1], c->block[2], (unsigned long long)threads, most);
    return cudaErrorInvalidConfiguration;
  }
  if (c->shared + code->shared_bytes > allowed) {
    runtime_tell(&c->place,
                 "kernel '%s' is not launched: %zu bytes of dynamic and %zu of static shared memory, %zu together are "
                 "possible",
                 code->name, c->shared, code->shared_bytes, allowed);
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

static cudaError_t launch(runtime_kernel *kernel, const configuration *c, void **arguments) {
  mw_error error = {0};
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  cudaError_t status = resolve(kernel, &c->place);
  if (!status) status = check(kernel, c);
  if (status) return status;
  mw_launch *order = &kernel->launch;
  mw_stream *stream = runtime_stream(c->stream);
  if (!stream) return cudaErrorInvalidResourceHandle;
  memcpy(order->grid, c->grid, sizeof order->grid);
  memcpy(order->block, c->block, sizeof order->block);
  order->shared = c->shared;
  order->cooperative = c->cooperative;
  for (int i = 0; i < order->kernel->nparams; i++)
    memcpy(order->params[i], arguments[i], order->kernel->params[i].size);
  *runtime_last_launch(c->stream) = runtime.latest = c->place;
  stream->acted = true;
  if (stream->device->backend->launch(stream, order, &error)) return runtime_error(&error, &c->place);
  return cudaSuccess;
}

void moonwarp_configure(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const char *file, int line) {
  if (npending == NESTED) memmove(pending, pending + 1, (size_t)--npending * sizeof *pending); /* left by exceptions */
  pending[npending++] =
      (configuration){{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream, {file, line}, false};
}

/* A call that nvcc does not compile. */
static cudaError_t unconfigured(const runtime_kernel *kernel) {
  runtime_tell(NULL, "kernel '%s' is called without <<<grid, block>>>, and is not launched",
               kernel ? kernel->symbol->name : "?");
  runtime.failed = true;
  return cudaErrorMissingConfiguration;
}

void moonwarp_launch(struct moonwarp_site *site, void **arguments) {
  const configuration *c = npending ? &pending[--npending] : NULL;
  if (!runtime_enter()) return;
  if (!site->kernel) site->kernel = kernel_at(site);
  runtime_leave(c ? launch(site->kernel, c, arguments) : unconfigured(site->kernel));
}

static cudaError_t launch_function(const void *function, const configuration *c, void **arguments) {
  return RUNTIME_CALL(launch(kernel_at(function), c, arguments));
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream, const char *file, int line) {
  const configuration c = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream, {file, line}, false};
  return launch_function(function, &c, arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t stream, const char *file, int line) {
  const configuration c = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream, {file, line}, true};
  return launch_function(function, &c, arguments);
}

/* ---- what kernels need ------------------------------------------------------------------------------------------ */

static cudaError_t find(const void *function, runtime_kernel **out) {
  *out = kernel_at(function);
  return *out ? resolve(*out, NULL) : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value) {
  RUNTIME_ENTER(result);
  runtime_kernel *kernel;
  const cudaError_t status = find(function, &kernel);
  if (status || attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return result = status;
  if (value < 0 || (size_t)value > runtime.device->info.shared_per_block_optin) return result = cudaErrorInvalidValue;
  kernel->shared_allowed = value;
  return result = cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function) {
  RUNTIME_ENTER(result);
  runtime_kernel *kernel;
  const cudaError_t status = find(function, &kernel);
  if (status) return result = status;
  const mw_kernel *code = kernel->launch.kernel;
  const size_t shared = runtime.device->info.shared_per_block;
  memset(out, 0, sizeof *out);
  out->sharedSizeBytes = code->shared_bytes;
  out->localSizeBytes = code->local_bytes;
  out->constSizeBytes = code->const_bytes;
  out->numRegs = code->registers;
  out->maxThreadsPerBlock = code->max_threads ? code->max_threads : runtime.device->info.max_threads_per_block;
  out->maxDynamicSharedSizeBytes = kernel->shared_allowed
                                       ? kernel->shared_allowed
                                       : (int)(shared - (code->shared_bytes < shared ? code->shared_bytes : shared));
  return result = cudaSuccess;
}

static cudaError_t occupancy(int *blocks, const void *function, int threads, size_t shared) {
  runtime_kernel *kernel;
  mw_occupancy found;
  mw_error error = {0};
  const cudaError_t status = find(function, &kernel);
  if (status) return status;
  if (threads < 1 || threads > runtime.device->info.max_threads_per_block) return cudaErrorInvalidValue;
  if (runtime.device->backend->occupancy(kernel->launch.kernel, threads, shared, &found, &error))
    return runtime_error(&error, NULL);
  *blocks = found.blocks;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                          size_t shared) {
  return RUNTIME_CALL(occupancy(blocks, function, threads, shared));
}
