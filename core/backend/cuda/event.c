/* SPDX-License-Identifier: MIT
 *
 * Events: points in a stream, with times that the device takes. */
#include "core/backend/cuda/objects.h"

static cuda_event *event_of(mw_event *event) {
  return (cuda_event *)event;
}

mw_status cuda_event_create(mw_device *base, bool timing, mw_event **out, mw_error *err) {
  CUDA_ONLINE(base, "event", err);
  cuda_device *device = cuda_device_of(base);
  cuda_marker marker;
  mw_status status = cuda_enter(device, err);
  unsigned flags = timing ? 0 : CUDA_EVENT_DISABLE_TIMING;
  if (status == MW_OK) status = CUDA_TRY(device, err, cuEventCreate, &marker, flags);
  if (status != MW_OK) return status;
  cuda_event *event = mw_calloc(1, sizeof *event);
  event->base = (mw_event){.device = base, .timing = timing};
  event->marker = marker;
  *out = &event->base;
  return MW_OK;
}

void cuda_event_destroy(mw_event *event) {
  cuda_device *device = cuda_device_of(event->device);
  if (!device->lost && cuda_enter(device, NULL) == MW_OK) cuda_driver.cuEventDestroy_v2(event_of(event)->marker);
  mw_free(event);
}

mw_status cuda_event_record(mw_event *event, mw_stream *stream, mw_error *err) {
  cuda_device *device = cuda_device_of(event->device);
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK)
    status = CUDA_TRY(device, err, cuEventRecord, event_of(event)->marker, ((cuda_stream *)stream)->queue);
  if (status != MW_OK) return status;
  event_of(event)->recorded = true;
  event_of(event)->captured = stream->capturing ? device->captures : 0;
  return MW_OK;
}

mw_status cuda_refuse_captured(const cuda_event *event, mw_error *err) {
  if (!event->captured) return MW_OK;
  return mw_fail(err, MW_INVALID,
                 "the event was recorded while a stream was captured: it marks a place in a graph, not a moment");
}

mw_status cuda_event_query(mw_event *event, mw_error *err) {
  cuda_device *device = cuda_device_of(event->device);
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK) status = cuda_refuse_captured(event_of(event), err);
  if (status != MW_OK) return status;
  cuda_result code = cuda_driver.cuEventQuery(event_of(event)->marker);
  return code == CUDA_NOT_READY ? MW_NOT_READY : cuda_check(device, code, "cuEventQuery", err);
}

static mw_status require_time(const cuda_event *event, const char *which, mw_error *err) {
  if (!event->base.timing)
    return mw_fail(err, MW_INVALID, "the %s event was made without timing: make it with timing = true", which);
  if (!event->recorded) return mw_fail(err, MW_INVALID, "the %s event has not been recorded", which);
  return cuda_refuse_captured(event, err);
}

mw_status cuda_event_elapsed(mw_event *from, mw_event *to, double *seconds, mw_error *err) {
  cuda_device *device = cuda_device_of(to->device);
  float milliseconds = 0;
  mw_status status = require_time(event_of(from), "earlier", err);
  if (status == MW_OK) status = require_time(event_of(to), "later", err);
  if (status == MW_OK) status = cuda_enter(device, err);
  if (status != MW_OK) return status;
  cuda_result code = cuda_driver.cuEventElapsedTime(&milliseconds, event_of(from)->marker, event_of(to)->marker);
  if (code == CUDA_NOT_READY) return mw_fail(err, MW_NOT_READY, "an event has not happened yet: synchronize it first");
  *seconds = 1e-3 * (double)milliseconds;
  return cuda_check(device, code, "cuEventElapsedTime", err);
}
