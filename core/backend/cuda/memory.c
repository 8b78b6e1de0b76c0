/* SPDX-License-Identifier: MIT
 *
 * Arrays' memory: device memory from the stream-ordered pool, pinned, pageable and managed memory, and the order in
 * which it is given back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cuda/objects.h"
#include "core/backend/refs.h"

enum { PAGE = 4096 };

/* ---- the list of buffers --------------------------------------------------------------------------------------- */

mw_buffer *cuda_buffer_new(cuda_device *device, void *address, size_t bytes, mw_space space) {
  cuda_buffer *buffer = mw_calloc(1, sizeof *buffer);
  buffer->base = (mw_buffer){.device = &device->base, .address = address, .bytes = bytes, .space = space};
  buffer->base.host = space == MW_SPACE_PINNED || space == MW_SPACE_PAGEABLE || space == MW_SPACE_MANAGED;
  buffer->base.stream = device->base.main;
  atomic_init(&buffer->base.refs, 1);
  buffer->next = device->buffers;
  if (buffer->next) buffer->next->previous = buffer;
  device->buffers = buffer;
  mw_device_retain(&device->base);
  return &buffer->base;
}

static void unlink_buffer(cuda_device *device, cuda_buffer *buffer) {
  if (buffer->previous)
    buffer->previous->next = buffer->next;
  else
    device->buffers = buffer->next;
  if (buffer->next) buffer->next->previous = buffer->previous;
}

void cuda_leave_stream(cuda_device *device, cuda_stream *stream) {
  for (cuda_buffer *b = device->buffers; b; b = b->next)
    if (b->base.stream == &stream->base) {
      b->base.stream = device->base.main;
      b->base.multi_stream = true;
    }
}

/* ---- allocation ------------------------------------------------------------------------------------------------ */

static bool implied(const cuda_stream *first, const cuda_stream *then) { /* by the default stream's own rule */
  return (!first->queue && then->blocking) || (!then->queue && first->blocking);
}

/* Pool memory may be used once the allocating stream has reached the allocation: the others wait for that. */
static void order_others_after(cuda_device *device, cuda_stream *own) {
  if (cuda_driver.cuStreamQuery(own->queue) != CUDA_NOT_READY) return;
  if (!implied(own, &device->main)) cuda_order(device, own->queue, NULL);
  for (cuda_stream *s = device->streams; s; s = s->next)
    if (s != own && !implied(own, s)) cuda_order(device, own->queue, s->queue);
}

/* Without a stream: of the device itself, as a relaxed capture permits. */
static mw_status alloc_device(cuda_device *device, cuda_stream *stream, size_t bytes, cuda_address *out,
                              mw_error *err) {
  if (!device->pool || !stream) return CUDA_TRY(device, err, cuMemAlloc_v2, out, bytes);
  mw_status status = CUDA_TRY(device, err, cuMemAllocAsync, out, bytes, stream->queue);
  if (status == MW_OK) order_others_after(device, stream);
  return status;
}

static mw_status alloc_once(cuda_device *device, cuda_stream *stream, size_t bytes, mw_space space, void **out,
                            mw_error *err) {
  cuda_address address = 0;
  mw_status status;
  switch (space) {
  case MW_SPACE_PINNED:
    return CUDA_TRY(device, err, cuMemHostAlloc, out, bytes, CUDA_HOST_PORTABLE | CUDA_HOST_DEVICEMAP);
  case MW_SPACE_PAGEABLE:
    bytes = (bytes + PAGE - 1) / PAGE * PAGE; /* its pages are its own: it may be pinned later */
    return posix_memalign(out, PAGE, bytes) == 0 ? MW_OK : MW_NO_MEMORY;
  case MW_SPACE_MANAGED:
    status = CUDA_TRY(device, err, cuMemAllocManaged, &address, bytes, CUDA_MANAGED_GLOBAL);
    break;
  default:
    status = alloc_device(device, cuda_capture ? NULL : stream, bytes, &address, err);
  }
  *out = (void *)(uintptr_t)address;
  return status;
}

static mw_status out_of_memory(const cuda_device *device, size_t bytes, mw_space space, mw_error *err) {
  char wanted[32], left[32], all[32];
  size_t available = 0, total = 0;
  mw_bytes_text(wanted, (double)bytes);
  if (space == MW_SPACE_PINNED || space == MW_SPACE_PAGEABLE)
    return mw_fail(err, MW_NO_MEMORY, "out of %s host memory: wanted %s", space == MW_SPACE_PINNED ? "pinned" : "plain",
                   wanted);
  cuda_driver.cuMemGetInfo_v2(&available, &total);
  return mw_fail(err, MW_NO_MEMORY, "out of memory on %s: wanted %s, free %s of %s", device->base.info.id, wanted,
                 mw_bytes_text(left, (double)available), mw_bytes_text(all, (double)total));
}

/* Frees that wait in streams happen, and the pool gives back what it keeps. */
static mw_status drain(cuda_device *device, mw_error *err) {
  mw_status status = cuda_wait_all(device, err);
  if (status == MW_OK && device->pool) cuda_driver.cuMemPoolTrimTo(device->pool, 0);
  return status;
}

mw_status cuda_alloc(mw_stream *base, size_t bytes, mw_space space, mw_dtype type, mw_buffer **out, mw_error *err) {
  (void)type;
  cuda_device *device = cuda_device_of(base->device);
  cuda_stream *stream = (cuda_stream *)base;
  void *address = NULL;
  mw_status status = cuda_enter(device, err);
  if (status != MW_OK) return status;
  if (cuda_capture && space != MW_SPACE_PAGEABLE && space != MW_SPACE_WORK)
    return mw_fail(err, MW_INVALID, "an array cannot be made while a graph is captured: make it before");
  status = alloc_once(device, stream, bytes, space, &address, err);
  if (status == MW_NO_MEMORY && space != MW_SPACE_PAGEABLE && !cuda_capture) {
    status = drain(device, err);
    if (status == MW_OK) status = alloc_once(device, stream, bytes, space, &address, err);
  }
  if (status == MW_NO_MEMORY) return out_of_memory(device, bytes, space, err);
  if (status != MW_OK) return status;
  if (space == MW_SPACE_WORK) space = MW_SPACE_DEVICE;
  mw_buffer *buffer = cuda_buffer_new(device, address, bytes, space);
  buffer->stream = base;
  ((cuda_buffer *)buffer)->pooled = space == MW_SPACE_DEVICE && device->pool && !cuda_capture;
  *out = buffer;
  return MW_OK;
}

/* ---- giving it back -------------------------------------------------------------------------------------------- */

static void join_users(cuda_device *device, mw_buffer *buffer) {
  cuda_stream *own = (cuda_stream *)buffer->stream;
  if (buffer->abroad) cuda_order_others(device, own->queue);
  if (!buffer->multi_stream) return;
  if (!implied(&device->main, own)) cuda_order(device, NULL, own->queue);
  for (cuda_stream *s = device->streams; s; s = s->next)
    if (s != own && !implied(s, own)) cuda_order(device, s->queue, own->queue);
}

/* Host memory may go only when no copy uses it any more, on another device neither; false: a wait was interrupted, so
 * it stays. */
static bool settled(cuda_device *device, mw_buffer *buffer) {
  if (cuda_stuck(device)) return false;
  join_users(device, buffer);
  if (cuda_wait((cuda_stream *)buffer->stream, NULL) == MW_INTERRUPTED) return false;
  return !(buffer->abroad || (buffer->multi_stream && buffer->host)) ||
         (cuda_others_settled(device) && cuda_enter(device, NULL) == MW_OK);
}

static void destroy_image(const cuda_buffer *buffer) {
  if (buffer->surface)
    cuda_driver.cuSurfObjectDestroy(buffer->image);
  else
    cuda_driver.cuTexObjectDestroy(buffer->image);
}

static void give_back(cuda_device *device, cuda_buffer *buffer) {
  cuda_address address = (cuda_address)(uintptr_t)buffer->base.address;
  if (buffer->pooled) {
    join_users(device, &buffer->base);
    cuda_driver.cuMemFreeAsync(address, ((cuda_stream *)buffer->base.stream)->queue);
  } else if (settled(device, &buffer->base)) {
    if (buffer->registered) {
      cuda_driver.cuMemHostUnregister(buffer->base.address);
      free(buffer->base.address); /* from posix_memalign */
    } else if (buffer->base.space == MW_SPACE_TEXELS) {
      cuda_driver.cuArrayDestroy(buffer->base.address);
    } else if (buffer->base.space == MW_SPACE_IMAGE) {
      destroy_image(buffer);
    } else if (buffer->base.space == MW_SPACE_PINNED) {
      cuda_driver.cuMemFreeHost(buffer->base.address);
    } else {
      cuda_driver.cuMemFree_v2(address);
    }
  }
}

static void free_now(cuda_device *device, cuda_buffer *buffer) {
  mw_space space = buffer->base.space;
  bool usable = !device->lost && cuda_enter(device, NULL) == MW_OK;
  if (space == MW_SPACE_PAGEABLE) {
    if (!usable || settled(device, &buffer->base)) free(buffer->base.address); /* from posix_memalign */
  } else if (space != MW_SPACE_GLOBAL && usable) {
    give_back(device, buffer);
  }
  mw_free(buffer);
}

void cuda_free(mw_buffer *base) {
  cuda_device *device = cuda_device_of(base->device);
  cuda_buffer *buffer = (cuda_buffer *)base;
  unlink_buffer(device, buffer);
  if (!cuda_capture) {
    free_now(device, buffer);
    return;
  }
  mw_device_retain(base->device); /* until cuda_free_deferred */
  buffer->next = device->deferred;
  device->deferred = buffer;
}

void cuda_free_deferred(cuda_device *device) {
  for (cuda_buffer *b = device->deferred, *next; b; b = next) {
    next = b->next;
    device->deferred = next;
    free_now(device, b);
    mw_device_release(&device->base);
  }
}
