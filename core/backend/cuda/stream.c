/* SPDX-License-Identifier: MIT
 *
 * Streams, and waiting for them. Waiting polls: short waits spin, long ones nap between two looks, so that Ctrl-C ends
 * them; a blocking call of the driver could not be interrupted. */
#include <time.h>

#include "core/backend/cuda/objects.h"

enum { SPIN_NS = 200 * 1000, NAP_NS = 50 * 1000 };

static cuda_stream *stream_of(mw_stream *stream) {
  return (cuda_stream *)stream;
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

typedef cuda_result (*question)(const void *of);

static mw_status wait_for(cuda_device *device, question ask, const void *of, const char *call, mw_error *err) {
  cuda_result code = ask(of);
  int64_t began = code == CUDA_NOT_READY ? now_ns() : 0;
  for (; code == CUDA_NOT_READY; code = ask(of)) {
    if (atomic_load_explicit(&mw_interrupted, memory_order_relaxed)) {
      device->abandoned = true;
      return mw_fail(err, MW_INTERRUPTED, "interrupted while waiting for %s", device->base.info.id);
    }
    if (now_ns() - began > SPIN_NS) nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
  }
  return cuda_check(device, code, call, err);
}

static cuda_result ask_stream(const void *stream) {
  return cuda_driver.cuStreamQuery(((const cuda_stream *)stream)->queue);
}

static cuda_result ask_event(const void *event) {
  return cuda_driver.cuEventQuery(((const cuda_event *)event)->marker);
}

mw_status cuda_wait(cuda_stream *stream, mw_error *err) {
  return wait_for(cuda_device_of(stream->base.device), ask_stream, stream, "cuStreamQuery", err);
}

mw_status cuda_event_synchronize(mw_event *event, mw_error *err) {
  cuda_device *device = cuda_device_of(event->device);
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK) status = cuda_refuse_captured((cuda_event *)event, err);
  return status == MW_OK ? wait_for(device, ask_event, event, "cuEventQuery", err) : status;
}

static bool is_idle(cuda_device *device) {
  bool idle = cuda_enter(device, NULL) == MW_OK && ask_stream(&device->main) != CUDA_NOT_READY;
  for (cuda_stream *s = device->streams; s && idle; s = s->next) idle = ask_stream(s) != CUDA_NOT_READY;
  return idle;
}

/* A kernel that was interrupted once may run for ever, and no second Ctrl-C ends the wait of a release. */
bool cuda_stuck(cuda_device *device) {
  if (device->abandoned && !device->lost) device->abandoned = !is_idle(device);
  return device->lost || device->abandoned;
}

/* ---- ordering -------------------------------------------------------------------------------------------------- */

/* What is in `first` now runs before what enters `then` later. A failure shows at the next checked call. */
void cuda_order(cuda_device *device, cuda_queue first, cuda_queue then) {
  if (first == then || cuda_driver.cuEventRecord(device->join, first) != CUDA_OK) return;
  cuda_driver.cuStreamWaitEvent(then, device->join, 0);
}

mw_status cuda_refuse_capturing(const char *what, mw_error *err) {
  return mw_fail(err, MW_INVALID, "a stream is being captured: you can %s after the capture has ended", what);
}

/* ---- streams --------------------------------------------------------------------------------------------------- */

mw_status cuda_stream_create(mw_device *base, bool blocking, int priority, mw_stream **out, mw_error *err) {
  CUDA_ONLINE(base, "stream", err);
  cuda_device *device = cuda_device_of(base);
  cuda_queue queue;
  mw_status status = cuda_enter(device, err);
  unsigned flags = blocking ? 0 : CUDA_STREAM_NON_BLOCKING;
  if (status == MW_OK) status = CUDA_TRY(device, err, cuStreamCreateWithPriority, &queue, flags, priority);
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
  CUDA_ONLINE(base, "stream", err);
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
  if (device->capture)
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

/* Said before the driver is asked: a wait that it refuses ends the capture. */
static mw_status check_wait(const cuda_stream *stream, const cuda_event *event, mw_error *err) {
  const cuda_device *device = cuda_device_of(stream->base.device);
  if (!event->captured && stream->base.capturing)
    return mw_fail(err, MW_INVALID, "a captured stream cannot wait for an event recorded outside the capture");
  if (!event->captured) return MW_OK;
  if (!device->capture || event->captured != device->captures)
    return mw_fail(err, MW_INVALID, "the event was recorded in a capture that has ended: record it again");
  return stream->queue ? MW_OK : mw_fail(err, MW_INVALID, "the default stream cannot join a capture");
}

/* A stream that waits for an event of the capture joins it. */
mw_status cuda_stream_wait(mw_stream *stream, mw_event *base, mw_error *err) {
  cuda_device *device = cuda_device_of(stream->device);
  const cuda_event *event = (const cuda_event *)base;
  if (!event->recorded) return MW_OK;
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK) status = check_wait(stream_of(stream), event, err);
  if (status == MW_OK) status = CUDA_TRY(device, err, cuStreamWaitEvent, stream_of(stream)->queue, event->marker, 0);
  if (status == MW_OK && event->captured) stream->capturing = true;
  return status;
}

mw_status cuda_stream_callback(mw_stream *stream, mw_callback callback, mw_error *err) {
  cuda_device *device = cuda_device_of(stream->device);
  mw_status status = cuda_enter(device, err);
  if (stream->capturing) return mw_fail(err, MW_INVALID, "a callback cannot be part of a graph");
  if (status != MW_OK) return status;
  return CUDA_TRY(device, err, cuLaunchHostFunc, stream_of(stream)->queue, callback.run, callback.data);
}

mw_status cuda_stream_query(mw_stream *stream, mw_error *err) {
  cuda_device *device = cuda_device_of(stream->device);
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK && stream->capturing) status = cuda_refuse_capturing("query it", err);
  if (status != MW_OK) return status;
  cuda_result code = ask_stream(stream);
  return code == CUDA_NOT_READY ? MW_NOT_READY : cuda_check(device, code, "cuStreamQuery", err);
}

mw_status cuda_stream_synchronize(mw_stream *stream, mw_error *err) {
  cuda_device *device = cuda_device_of(stream->device);
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK && stream->capturing) status = cuda_refuse_capturing("synchronize it", err);
  return status == MW_OK ? cuda_wait(stream_of(stream), err) : status;
}

void cuda_priorities(mw_device *base, int *least, int *greatest) {
  cuda_device *device = cuda_device_of(base);
  *least = *greatest = 0;
  if (base->info.offline || device->lost || cuda_enter(device, NULL) != MW_OK) return;
  cuda_driver.cuCtxGetStreamPriorityRange(least, greatest);
}
