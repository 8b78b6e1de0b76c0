/* SPDX-License-Identifier: MIT
 *
 * Waiting for streams and events, and ordering one stream after another. Waiting polls: short waits spin, long ones nap
 * between two looks, so that Ctrl-C ends them; a blocking call of the driver could not be interrupted. */
#include <time.h>

#include "core/backend/cuda/objects.h"
#include "core/base/clock.h"

enum { NAP_NS = 50 * 1000 };

static const double SPIN_SECONDS = 5e-3;

cuda_device *cuda_open_devices;
cuda_graph *cuda_capture;

typedef cuda_result (*question)(const void *of);

static mw_status wait_for(cuda_device *device, question ask, const void *of, const char *call, mw_error *err) {
  cuda_result code = ask(of);
  const double began = code == CUDA_NOT_READY ? mw_clock() : 0, patience = code == CUDA_NOT_READY ? mw_patience() : 0;
  for (; code == CUDA_NOT_READY; code = ask(of)) {
    if (atomic_load_explicit(&mw_interrupted, memory_order_relaxed)) {
      device->abandoned = true;
      return mw_fail(err, MW_INTERRUPTED, "interrupted while waiting for %s", device->base.info.id);
    }
    const double waited = mw_clock() - began;
    if (patience > 0 && waited > patience && device->last)
      mw_say_waiting(device->last->base.name, "was launched last, and the device is still busy; Ctrl-C ends the wait");
    if (waited > SPIN_SECONDS) nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
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

mw_status cuda_wait_event(cuda_event *event, mw_error *err) {
  return wait_for(cuda_device_of(event->base.device), ask_event, event, "cuEventQuery", err);
}

mw_status cuda_wait_all(cuda_device *device, mw_error *err) {
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK) status = cuda_wait(&device->main, err);
  for (cuda_stream *s = device->streams; s && status == MW_OK; s = s->next)
    if (!s->base.capturing) status = cuda_wait(s, err);
  return status;
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

bool cuda_others_settled(const cuda_device *device) {
  for (cuda_device *d = cuda_open_devices; d; d = d->next)
    if (d != device && !d->lost && (cuda_stuck(d) || cuda_wait_all(d, NULL) == MW_INTERRUPTED)) return false;
  return true;
}

/* A failure shows at the next checked call. */
void cuda_order(cuda_device *device, cuda_queue first, cuda_queue then) {
  if (first == then || cuda_driver.cuEventRecord(device->join, first) != CUDA_OK) return;
  cuda_driver.cuStreamWaitEvent(then, device->join, 0);
}

static void order_after(cuda_device *device, cuda_queue then, cuda_device *other, const cuda_stream *stream) {
  if (cuda_enter(other, NULL) != MW_OK || cuda_driver.cuStreamQuery(stream->queue) != CUDA_NOT_READY) return;
  if (cuda_driver.cuEventRecord(other->join, stream->queue) != CUDA_OK || cuda_enter(device, NULL) != MW_OK) return;
  cuda_driver.cuStreamWaitEvent(then, other->join, 0);
}

void cuda_order_others(cuda_device *device, cuda_queue then) {
  for (cuda_device *d = cuda_open_devices; d; d = d->next) {
    if (d == device || d->lost) continue;
    order_after(device, then, d, &d->main);
    for (const cuda_stream *s = d->streams; s; s = s->next) order_after(device, then, d, s);
  }
  cuda_enter(device, NULL);
}
