/* SPDX-License-Identifier: MIT
 *
 * Copies and fills. Each end of a copy is one of three things: memory that the driver addresses (device, pinned,
 * managed, a variable), plain host memory, or another device's memory that the host can address, which counts as plain.
 * A copy with a plain end returns after the bytes have moved. */
#include <string.h>

#include "core/backend/cuda/objects.h"

typedef struct end { /* of a copy */
  void *at;
  cuda_device *device; /* NULL: plain host memory */
  bool on_device;      /* not host memory at all */
} end;

static cuda_address address(const void *pointer) {
  return (cuda_address)(uintptr_t)pointer;
}

static end end_of(const mw_place *place, const mw_backend *own) {
  const mw_buffer *buffer = place->buffer;
  if (!buffer) return (end){.at = place->host};
  end out = {.at = (char *)buffer->address + place->offset};
  bool plain = buffer->device->backend != own || buffer->space == MW_SPACE_PAGEABLE;
  if (!plain) out.device = cuda_device_of(buffer->device);
  out.on_device = !plain && (buffer->space == MW_SPACE_DEVICE || buffer->space == MW_SPACE_GLOBAL);
  return out;
}

/* ---- between devices ------------------------------------------------------------------------------------------- */

/* Direct access makes the copy faster where the hardware has it; the copy works without. A graph takes the call that
 * finds out by itself whose memory it is given. */
static mw_status copy_peer(cuda_stream *stream, end to, end from, size_t bytes, mw_error *err) {
  cuda_device *own = cuda_device_of(stream->base.device);
  cuda_reach(to.device, from.device);
  mw_status status = cuda_enter(own, err);
  if (status != MW_OK) return status;
  if (stream->base.capturing)
    return CUDA_TRY(own, err, cuMemcpyAsync, address(to.at), address(from.at), bytes, stream->queue);
  return CUDA_TRY(own, err, cuMemcpyPeerAsync, address(to.at), to.device->context, address(from.at),
                  from.device->context, bytes, stream->queue);
}

/* ---- copy ------------------------------------------------------------------------------------------------------ */

static mw_status copy_plain(cuda_device *device, cuda_stream *stream, end to, end from, size_t bytes, mw_error *err) {
  if (stream->base.capturing)
    return mw_fail(err, MW_INVALID,
                   "a copy with plain host memory cannot be captured into a graph: use a pinned array");
  mw_status status = MW_OK;
  bool by_host = !to.on_device && !from.on_device;
  if (by_host)
    status = cuda_wait(stream, err);
  else if (to.on_device)
    status = CUDA_TRY(device, err, cuMemcpyHtoDAsync_v2, address(to.at), from.at, bytes, stream->queue);
  else
    status = CUDA_TRY(device, err, cuMemcpyDtoHAsync_v2, to.at, address(from.at), bytes, stream->queue);
  if (status != MW_OK) return status;
  if (!by_host) return cuda_wait(stream, err);
  memmove(to.at, from.at, bytes);
  return MW_OK;
}

mw_status cuda_copy(mw_stream *base, mw_place to_place, mw_place from_place, size_t bytes, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  cuda_stream *stream = (cuda_stream *)base;
  const mw_backend *own = base->device->backend;
  end to = end_of(&to_place, own), from = end_of(&from_place, own);
  mw_status status = cuda_enter(device, err);
  if (status != MW_OK || bytes == 0) return status;
  if (!to.device || !from.device) return copy_plain(device, stream, to, from, bytes, err);
  if (!to.on_device || !from.on_device)
    return CUDA_TRY(device, err, cuMemcpyAsync, address(to.at), address(from.at), bytes, stream->queue);
  if (to.device != from.device) return copy_peer(stream, to, from, bytes, err);
  return CUDA_TRY(device, err, cuMemcpyDtoDAsync_v2, address(to.at), address(from.at), bytes, stream->queue);
}

/* ---- fill ------------------------------------------------------------------------------------------------------ */

static mw_status fill_plain(cuda_stream *stream, char *at, const void *pattern, size_t width, size_t count,
                            mw_error *err) {
  if (stream->base.capturing)
    return mw_fail(err, MW_INVALID, "filling plain host memory cannot be captured into a graph: use a device array");
  mw_status status = cuda_wait(stream, err);
  for (size_t i = 0; i < count && status == MW_OK; i++) memcpy(at + i * width, pattern, width);
  return status;
}

/* Two passes of every other 32-bit word; one where both halves are the same (0, -1, the NaN of new arrays). */
static mw_status fill_64(cuda_device *device, cuda_queue queue, cuda_address at, const uint32_t *pattern, size_t count,
                         mw_error *err) {
  if (pattern[0] == pattern[1]) return CUDA_TRY(device, err, cuMemsetD32Async, at, pattern[0], 2 * count, queue);
  mw_status status = MW_OK;
  for (unsigned i = 0; i < 2 && status == MW_OK; i++)
    status = CUDA_TRY(device, err, cuMemsetD2D32Async, at + 4 * i, 8, pattern[i], 1, count, queue);
  return status;
}

mw_status cuda_fill(mw_stream *base, mw_place place, const void *pattern, size_t width, size_t count, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  cuda_stream *stream = (cuda_stream *)base;
  end to = end_of(&place, base->device->backend);
  uint32_t words[2] = {0, 0};
  mw_status status = cuda_enter(device, err);
  if (status != MW_OK || count == 0) return status;
  if (!to.device) return fill_plain(stream, to.at, pattern, width, count, err);
  memcpy(words, pattern, width);
  cuda_address at = address(to.at);
  if (width == 8) return fill_64(device, stream->queue, at, words, count, err);
  if (width == 4) return CUDA_TRY(device, err, cuMemsetD32Async, at, words[0], count, stream->queue);
  if (width == 2) return CUDA_TRY(device, err, cuMemsetD16Async, at, (unsigned short)words[0], count, stream->queue);
  return CUDA_TRY(device, err, cuMemsetD8Async, at, (unsigned char)words[0], count, stream->queue);
}
