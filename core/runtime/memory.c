/* SPDX-License-Identifier: MIT
 *
 * Memory: what the program allocates, sorted by address, so that a pointer finds its array; copies, fills, and device
 * variables. */
#include <string.h>

#include "core/runtime/runtime.h"

enum { PITCH = 512 }; /* bytes, of rows */

static mw_buffer **arrays;
static size_t narrays;

typedef struct variable {
  const runtime_symbol *symbol;
  mw_buffer *buffer;
  struct variable *next;
} variable;

static variable *variables;

/* ---- arrays by their addresses ---------------------------------------------------------------------------------- */

/* How many begin at or below the address. */
static size_t rank_of(const void *address) {
  size_t low = 0, high = narrays;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if ((const char *)arrays[middle]->address <= (const char *)address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The one that holds the address; NULL: none. */
static mw_buffer *array_at(const void *address) {
  const size_t rank = rank_of(address);
  if (!rank) return NULL;
  mw_buffer *buffer = arrays[rank - 1];
  return (size_t)((const char *)address - (char *)buffer->address) < buffer->bytes ? buffer : NULL;
}

mw_place runtime_locate(const void *address) {
  mw_buffer *buffer = array_at(address);
  if (!buffer) return (mw_place){.host = (void *)(uintptr_t)address};
  return (mw_place){buffer, (size_t)((const char *)address - (char *)buffer->address), NULL};
}

static void enlist(mw_buffer *buffer) {
  arrays = mw_grow(arrays, narrays, sizeof *arrays);
  const size_t rank = rank_of(buffer->address);
  memmove(arrays + rank + 1, arrays + rank, (narrays++ - rank) * sizeof *arrays);
  arrays[rank] = buffer;
}

static cudaError_t allocate(void **out, size_t bytes, mw_space space) {
  mw_error error = {0};
  mw_device *device = runtime.device;
  mw_buffer *buffer;
  if (!out) return cudaErrorInvalidValue;
  *out = NULL;
  if (!bytes) return cudaSuccess;
  if (device->backend->alloc(device->main, bytes, space, MW_U8, &buffer, &error)) return runtime_error(&error, NULL);
  enlist(buffer);
  *out = buffer->address;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **out, size_t bytes) {
  return RUNTIME_CALL(allocate(out, bytes, MW_SPACE_DEVICE));
}

cudaError_t cudaMallocHost(void **out, size_t bytes) {
  return RUNTIME_CALL(allocate(out, bytes, MW_SPACE_PINNED));
}

cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags) {
  (void)flags;
  return RUNTIME_CALL(allocate(out, bytes, MW_SPACE_MANAGED));
}

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
  *pitch = (width + PITCH - 1) / PITCH * PITCH;
  return cudaMalloc(out, *pitch * height);
}

cudaError_t cudaFree(void *address) {
  RUNTIME_ENTER(result);
  if (!address) return result = cudaSuccess;
  mw_buffer *buffer = array_at(address);
  if (!buffer || buffer->address != address) return result = cudaErrorInvalidValue;
  const cudaError_t status = runtime_synchronize(); /* as cudaFree does */
  const size_t rank = rank_of(address);
  memmove(arrays + rank - 1, arrays + rank, (narrays-- - rank) * sizeof *arrays);
  mw_buffer_release(buffer);
  return result = status;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  RUNTIME_ENTER(result);
  mw_error error = {0};
  if (runtime.device->backend->memory(runtime.device, free, total, &error)) return result = runtime_error(&error, NULL);
  return result = cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *address) {
  static const enum cudaMemoryType types[] = {[MW_SPACE_DEVICE] = cudaMemoryTypeDevice,
                                              [MW_SPACE_PINNED] = cudaMemoryTypeHost,
                                              [MW_SPACE_MANAGED] = cudaMemoryTypeManaged};
  RUNTIME_ENTER(result);
  const mw_buffer *buffer = array_at(address);
  void *at = (void *)(uintptr_t)address;
  *out = (struct cudaPointerAttributes){buffer ? types[buffer->space] : cudaMemoryTypeUnregistered, 0, at, at};
  if (out->type == cudaMemoryTypeDevice) out->hostPointer = NULL;
  return result = cudaSuccess;
}

/* ---- copies ----------------------------------------------------------------------------------------------------- */

/* Does an array end before so many bytes from the place? */
static bool too_long(const mw_place *place, size_t bytes, const char *call) {
  if (!place->buffer || bytes <= place->buffer->bytes - place->offset) return false;
  runtime_tell(NULL, "%s of %zu bytes: the array has %zu, of which it begins at byte %zu", call, bytes,
               place->buffer->bytes, place->offset);
  return true;
}

static bool is_device(const mw_place *place) {
  return place->buffer && place->buffer->space == MW_SPACE_DEVICE;
}

static bool wrong_way(const mw_place *to, const mw_place *from, enum cudaMemcpyKind kind) {
  const bool wrong = (kind == cudaMemcpyHostToDevice && is_device(from)) ||
                     (kind == cudaMemcpyDeviceToHost && is_device(to)) ||
                     (kind == cudaMemcpyHostToHost && (is_device(to) || is_device(from)));
  if (wrong)
    runtime_tell(NULL, "cudaMemcpy: the direction does not fit: a pointer of the device is given for the host's");
  return wrong;
}

static cudaError_t copy(mw_place to, mw_place from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t handle) {
  mw_error error = {0};
  mw_stream *stream = runtime_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!bytes) return cudaSuccess;
  if (too_long(&to, bytes, "cudaMemcpy") || too_long(&from, bytes, "cudaMemcpy")) return cudaErrorInvalidValue;
  if (wrong_way(&to, &from, kind)) return cudaErrorInvalidMemcpyDirection;
  if (!to.buffer && !from.buffer) {
    const cudaError_t status = runtime_synchronize();
    if (!status) memmove(to.host, from.host, bytes);
    return status;
  }
  if (to.buffer) mw_buffer_use(to.buffer, stream);
  if (from.buffer) mw_buffer_use(from.buffer, stream);
  if (stream->device->backend->copy(stream, to, from, bytes, &error))
    return runtime_error(&error, runtime_last_launch(handle));
  return cudaSuccess;
}

/* One without a stream is complete when it returns. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  if (!runtime_enter()) return runtime_refused();
  cudaError_t status = copy(runtime_locate(to), runtime_locate(from), bytes, kind, NULL);
  return runtime_leave(status);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return RUNTIME_CALL(copy(runtime_locate(to), runtime_locate(from), bytes, kind, stream));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  RUNTIME_ENTER(result);
  cudaError_t status = width > to_pitch || width > from_pitch ? cudaErrorInvalidPitchValue : cudaSuccess;
  for (size_t i = 0; i < height && !status; i++)
    status = copy(runtime_locate((char *)to + i * to_pitch), runtime_locate((const char *)from + i * from_pitch), width,
                  kind, stream);
  return result = status;
}

/* ---- fills ------------------------------------------------------------------------------------------------------ */

static cudaError_t fill(void *to, int value, size_t bytes, cudaStream_t handle) {
  mw_error error = {0};
  const unsigned char byte = (unsigned char)value;
  const mw_place place = runtime_locate(to);
  mw_stream *stream = runtime_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!bytes) return cudaSuccess;
  if (too_long(&place, bytes, "cudaMemset")) return cudaErrorInvalidValue;
  if (!place.buffer) {
    const cudaError_t status = runtime_synchronize();
    if (!status) memset(to, value, bytes);
    return status;
  }
  mw_buffer_use(place.buffer, stream);
  if (stream->device->backend->fill(stream, place, &byte, 1, bytes, &error))
    return runtime_error(&error, runtime_last_launch(handle));
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
  return RUNTIME_CALL(fill(to, value, bytes, stream));
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  RUNTIME_ENTER(result);
  cudaError_t status = width > pitch ? cudaErrorInvalidPitchValue : cudaSuccess;
  for (size_t i = 0; i < height && !status; i++) status = fill((char *)to + i * pitch, value, width, stream);
  return result = status;
}

/* ---- device variables ------------------------------------------------------------------------------------------- */

/* The symbol of the host's variable at an address; NULL: none. */
static const runtime_symbol *symbol_at(const void *address) {
  const uint64_t at = (uint64_t)((const char *)address - runtime.base);
  for (size_t i = 0; i < runtime.symbols.count; i++) {
    const runtime_symbol *symbol = &runtime.symbols.at[i];
    if (symbol->source < 0 && symbol->address == at && symbol->bytes) return symbol;
  }
  return NULL;
}

/* The device's variable for the host's at an address, made at the first use. NULL: there is none. */
static mw_buffer *variable_of(const void *address) {
  const runtime_symbol *symbol = symbol_at(address);
  mw_param type;
  if (!symbol) return NULL;
  for (variable *v = variables; v; v = v->next)
    if (v->symbol == symbol) return v->buffer;
  for (int i = 0; i < runtime.nmodules; i++) {
    mw_module *module = runtime.modules[i];
    mw_buffer *buffer;
    mw_error error = {0};
    const bool found = module && !module->device->backend->variable(module, symbol->name, &buffer, &type, &error);
    mw_error_clear(&error);
    if (!found) continue;
    variable *v = mw_malloc(sizeof *v);
    *v = (variable){symbol, buffer, variables};
    variables = v;
    return buffer;
  }
  return NULL;
}

static cudaError_t copy_symbol(const void *symbol, void *host, size_t bytes, size_t offset, bool to_symbol,
                               cudaStream_t stream) {
  mw_buffer *buffer = variable_of(symbol);
  if (!buffer) return cudaErrorInvalidSymbol;
  if (offset > buffer->bytes || bytes > buffer->bytes - offset) return cudaErrorInvalidValue;
  const mw_place there = {buffer, offset, NULL}, here = runtime_locate(host);
  return to_symbol ? copy(there, here, bytes, cudaMemcpyDefault, stream)
                   : copy(here, there, bytes, cudaMemcpyDefault, stream);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)kind;
  return RUNTIME_CALL(copy_symbol(symbol, (void *)(uintptr_t)from, bytes, offset, true, stream));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)kind;
  return RUNTIME_CALL(copy_symbol(symbol, to, bytes, offset, false, stream));
}

static cudaError_t symbol_tell(const void *symbol, void **address, size_t *bytes) {
  const mw_buffer *buffer = variable_of(symbol);
  if (!buffer) return cudaErrorInvalidSymbol;
  if (address) *address = buffer->address;
  if (bytes) *bytes = buffer->bytes;
  return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
  return RUNTIME_CALL(symbol_tell(symbol, address, NULL));
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  return RUNTIME_CALL(symbol_tell(symbol, NULL, bytes));
}
