/* SPDX-License-Identifier: MIT
 *
 * Events: points in a stream, with times that the device takes. */
#include "core/backend/cuda/objects.h"

static cuda_event *event_of(mw_event *event) {
  return (cuda_event *)event;
}

mw_status cuda_event_create(mw_device *base, bool timing, mw_event **out, mw_error *err) {
  cuda_device *device = cuda_device_of(base);
  cuda_marker marker;
  mw_status status = CUDA_CALL(device, err, cuEventCreate, &marker, timing ? 0 : CUDA_EVENT_DISABLE_TIMING);
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
  event_of(event)->captured = stream->capturing;
  return CUDA_CALL(device, err, cuEventRecord, event_of(event)->marker, ((cuda_stream *)stream)->queue);
}

mw_status cuda_event_query(mw_event *event, mw_error *err) {
  cuda_device *device = cuda_device_of(event->device);
  return CUDA_CALL(device, err, cuEventQuery, event_of(event)->marker);
}

mw_status cuda_event_synchronize(mw_event *event, mw_error *err) {
  mw_status status = cuda_enter(cuda_device_of(event->device), err);
  return status == MW_OK ? cuda_wait_event(event_of(event), err) : status;
}

mw_status cuda_event_elapsed(mw_event *from, mw_event *to, double *seconds, mw_error *err) {
  cuda_device *device = cuda_device_of(to->device);
  float milliseconds = 0;
  mw_status status =
      CUDA_CALL(device, err, cuEventElapsedTime, &milliseconds, event_of(from)->marker, event_of(to)->marker);
  *seconds = 1e-3 * (double)milliseconds;
  return status;
}
