/* SPDX-License-Identifier: MIT
 *
 * Events. A record gets a number when it is asked for; it has happened when `done` reaches that number. */
#include "core/backend/cpu/event.h"

#include "core/backend/cpu/graph.h"
#include "core/backend/cpu/stream.h"

#include <assert.h>

mw_status cpu_event_make(mw_device *device, bool timing, mw_event **out, mw_error *err) {
  (void)err;
  cpu_event *event = mw_calloc(1, sizeof *event);
  event->base = (mw_event){device, timing};
  atomic_init(&event->refs, 1);
  pthread_mutex_init(&event->lock, NULL);
  pthread_cond_init(&event->reached, NULL);
  *out = &event->base;
  return MW_OK;
}

void cpu_event_retain(cpu_event *event) {
  atomic_fetch_add(&event->refs, 1);
}

void cpu_event_release(cpu_event *event) {
  if (atomic_fetch_sub(&event->refs, 1) != 1) return;
  pthread_cond_destroy(&event->reached);
  pthread_mutex_destroy(&event->lock);
  mw_free(event);
}

void cpu_event_destroy(mw_event *event) {
  cpu_capture_forget((cpu_event *)event);
  cpu_event_release((cpu_event *)event);
}

/* ---- happening ------------------------------------------------------------------------------------------------- */

void cpu_event_reach(cpu_event *event, uint64_t number) {
  pthread_mutex_lock(&event->lock);
  if (number > atomic_load(&event->done)) {
    event->time = cpu_now();
    atomic_store(&event->done, number);
  }
  pthread_cond_broadcast(&event->reached);
  pthread_mutex_unlock(&event->lock);
}

bool cpu_event_await(cpu_event *event, uint64_t number, double seconds) {
  if (atomic_load(&event->done) >= number) return true;
  const double until = cpu_now() + seconds;
  pthread_mutex_lock(&event->lock);
  while (atomic_load(&event->done) < number) {
    double left = until - cpu_now();
    if (left <= 0) break;
    cpu_wait_briefly(&event->reached, &event->lock, left);
  }
  bool happened = atomic_load(&event->done) >= number;
  pthread_mutex_unlock(&event->lock);
  return happened;
}

/* ---- what the binding asks ------------------------------------------------------------------------------------- */

mw_status cpu_event_record(mw_event *base, mw_stream *stream, mw_error *err) {
  cpu_event *event = (cpu_event *)base;
  if (stream->capturing) return cpu_capture_record((cpu_stream *)stream, event);
  cpu_capture_forget(event);
  const cpu_op op = {.kind = CPU_OP_RECORD, .mark = {event, atomic_fetch_add(&event->recorded, 1) + 1}};
  return cpu_stream_submit((cpu_stream *)stream, &op, 0, err);
}

mw_status cpu_event_query(mw_event *base, mw_error *err) {
  const cpu_event *event = (const cpu_event *)base;
  (void)err;
  return atomic_load(&event->done) >= atomic_load(&event->recorded) ? MW_OK : MW_NOT_READY;
}

mw_status cpu_event_synchronize(mw_event *base, mw_error *err) {
  cpu_event *event = (cpu_event *)base;
  const uint64_t last = atomic_load(&event->recorded);
  while (!cpu_event_await(event, last, 0.02))
    if (atomic_load(&mw_interrupted)) return cpu_streams_cancel((cpu_device *)base->device, err);
  return MW_OK;
}

mw_status cpu_event_elapsed(mw_event *from, mw_event *to, double *seconds, mw_error *err) {
  const cpu_event *earlier = (const cpu_event *)from, *later = (const cpu_event *)to;
  assert(from->timing && to->timing && !earlier->capture && !later->capture);
  if (cpu_event_query(from, err) != MW_OK || cpu_event_query(to, err) != MW_OK) return MW_NOT_READY;
  *seconds = later->time - earlier->time;
  return MW_OK;
}
