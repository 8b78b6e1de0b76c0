/* SPDX-License-Identifier: MIT
 *
 * Streams: making and destroying them, and what is queued in them. */
#include "core/backend/cuda/objects.h"

static cuda_stream *stream_of(mw_stream *stream) {
  return (cuda_stream *)stream;
}

mw_status cuda_stream_create(mw_device *base, bool blocking, int priority, mw_stream **out, mw_error *err) {
  cuda_device *device = cuda_device_of(base);
  cuda_queue queue;
  unsigned flags = blocking ? 0 : CUDA_STREAM_NON_BLOCKING;
  mw_status status = CUDA_CALL(device, err, cuStreamCreateWithPriority, &queue, flags, priority);
  if (status != MW_OK) return status;
  cuda_stream *stream = mw_calloc(1, sizeof *stream);
  stream->base = (mw_stream){.device = base, .priority = priority};
  stream->queue = queue;
  stream->blocking = blocking;
  stream->next = device->streams;
  device->streams = stream;
  *out = &stream->base;
  return MW_OK;
}

/* The driver has it already. It waits for the default stream and is waited for by it, as blocking streams do. */
mw_status cuda_stream_per_thread(mw_device *base, mw_stream **out, mw_error *err) {
  (void)err;
  cuda_device *device = cuda_device_of(base);
  cuda_stream *stream = &device->per_thread;
  if (!stream->queue) {
    *stream = (cuda_stream){.base.device = base, .queue = CUDA_STREAM_PER_THREAD, .blocking = true};
    stream->next = device->streams;
    device->streams = stream;
  }
  *out = &stream->base;
  return MW_OK;
}

static void unlink_stream(cuda_device *device, cuda_stream *stream) {
  cuda_stream **at = &device->streams;
  while (*at && *at != stream) at = &(*at)->next;
  if (*at) *at = stream->next;
}

/* Arrays that this stream used are freed on the default stream later, which therefore waits for it here. */
static void remove_stream(cuda_device *device, cuda_stream *stream) {
  unlink_stream(device, stream);
  cuda_leave_stream(device, stream);
  if (!device->lost && cuda_enter(device, NULL) == MW_OK) {
    if (cuda_driver.cuStreamQuery(stream->queue) == CUDA_NOT_READY) cuda_order(device, stream->queue, NULL);
    cuda_driver.cuStreamDestroy_v2(stream->queue);
  }
  mw_free(stream);
}

void cuda_stream_destroy(mw_stream *base) {
  cuda_device *device = cuda_device_of(base->device);
  if (cuda_capture)
    stream_of(base)->dead = true;
  else
    remove_stream(device, stream_of(base));
}

void cuda_reap_streams(cuda_device *device) {
  for (cuda_stream *s = device->streams, *next; s; s = next) {
    next = s->next;
    if (s->dead) remove_stream(device, s);
  }
}

/* A stream that waits for an event of the capture joins it. */
mw_status cuda_stream_wait(mw_stream *stream, mw_event *base, mw_error *err) {
  cuda_device *device = cuda_device_of(stream->device);
  const cuda_event *event = (const cuda_event *)base;
  mw_status status = CUDA_CALL(device, err, cuStreamWaitEvent, stream_of(stream)->queue, event->marker, 0);
  if (status == MW_OK && event->captured) stream->capturing = true;
  return status;
}

mw_status cuda_stream_callback(mw_stream *stream, mw_callback callback, mw_error *err) {
  cuda_device *device = cuda_device_of(stream->device);
  return CUDA_CALL(device, err, cuLaunchHostFunc, stream_of(stream)->queue, callback.run, callback.data);
}

/* Its libraries queue what they do. */
mw_status cuda_stream_call(mw_stream *base, const mw_call *call, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  cuda_stream *stream = stream_of(base);
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK) status = call->run(call, stream->queue, err);
  return status == MW_OK && device->sync_each && !base->capturing ? cuda_wait(stream, err) : status;
}

mw_status cuda_stream_query(mw_stream *stream, mw_error *err) {
  cuda_device *device = cuda_device_of(stream->device);
  return CUDA_CALL(device, err, cuStreamQuery, stream_of(stream)->queue);
}

mw_status cuda_stream_synchronize(mw_stream *stream, mw_error *err) {
  cuda_device *device = cuda_device_of(stream->device);
  mw_status status = cuda_enter(device, err);
  return status == MW_OK ? cuda_wait(stream_of(stream), err) : status;
}

void cuda_priorities(mw_device *base, int *least, int *greatest) {
  cuda_device *device = cuda_device_of(base);
  *least = *greatest = 0;
  if (base->info.offline || device->lost || cuda_enter(device, NULL) != MW_OK) return;
  cuda_driver.cuCtxGetStreamPriorityRange(least, greatest);
}
