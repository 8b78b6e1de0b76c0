/* SPDX-License-Identifier: MIT
 *
 * Events. A record gets a number when it is asked for; it has happened when `done` reaches that number. */
#include "core/backend/cpu/objects.h"

#include <assert.h>

static const double LOOK = 0.02; /* seconds between two looks at Ctrl-C */

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

static void release(cpu_event *event) {
  if (atomic_fetch_sub(&event->refs, 1) != 1) return;
  pthread_cond_destroy(&event->reached);
  pthread_mutex_destroy(&event->lock);
  mw_free(event);
}

void cpu_event_destroy(mw_event *event) {
  cpu_capture_forget((cpu_event *)event);
  release((cpu_event *)event);
}

/* ---- happening ------------------------------------------------------------------------------------------------- */

static void reach(cpu_event *event, uint64_t number) {
  pthread_mutex_lock(&event->lock);
  if (number > atomic_load(&event->done)) {
    event->time = mw_clock();
    atomic_store(&event->done, number);
  }
  pthread_cond_broadcast(&event->reached);
  pthread_mutex_unlock(&event->lock);
}

/* False: not in that time. */
static bool await(cpu_event *event, uint64_t number, double seconds) {
  if (atomic_load(&event->done) >= number) return true;
  const double until = mw_clock() + seconds;
  pthread_mutex_lock(&event->lock);
  while (atomic_load(&event->done) < number) {
    double left = until - mw_clock();
    if (left <= 0) break;
    cpu_wait_briefly(&event->reached, &event->lock, left);
  }
  bool happened = atomic_load(&event->done) >= number;
  pthread_mutex_unlock(&event->lock);
  return happened;
}

/* ---- in streams ------------------------------------------------------------------------------------------------ */

static void hold_event(const cpu_op *op) {
  atomic_fetch_add(&op->mark.event->refs, 1);
}

static void release_event(const cpu_op *op) {
  release(op->mark.event);
}

static mw_status run_record(const cpu_op *op, cpu_stream *stream, cpu_worker *me, mw_error *err) {
  (void)stream, (void)me, (void)err;
  reach(op->mark.event, op->mark.number);
  return MW_OK;
}

static mw_status run_wait(const cpu_op *op, cpu_stream *stream, cpu_worker *me, mw_error *err) {
  (void)stream, (void)me;
  while (!await(op->mark.event, op->mark.number, LOOK))
    if (atomic_load(&mw_interrupted) || atomic_load(&cpu_interrupts) != op->interrupts)
      return mw_fail(err, MW_INTERRUPTED, "interrupted");
  return MW_OK;
}

static const cpu_op_type record_op = {.run = run_record, .hold = hold_event, .release = release_event, .always = true};
static const cpu_op_type wait_op = {.run = run_wait, .hold = hold_event, .release = release_event};

mw_status cpu_event_record(mw_event *base, mw_stream *stream, mw_error *err) {
  cpu_event *event = (cpu_event *)base;
  if (stream->capturing) return cpu_capture_record((cpu_stream *)stream, event);
  cpu_capture_forget(event);
  cpu_op op = {.type = &record_op, .mark = {event, atomic_fetch_add(&event->recorded, 1) + 1}};
  return cpu_stream_submit((cpu_stream *)stream, &op, err);
}

mw_status cpu_stream_wait(mw_stream *base, mw_event *event_base, mw_error *err) {
  cpu_event *event = (cpu_event *)event_base;
  if (event->capture) return cpu_capture_wait((cpu_stream *)base, event);
  const uint64_t number = atomic_load(&event->recorded);
  if (atomic_load(&event->done) >= number) return MW_OK;
  cpu_op op = {.type = &wait_op, .mark = {event, number}};
  return cpu_stream_submit((cpu_stream *)base, &op, err);
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

mw_status cpu_event_query(mw_event *base, mw_error *err) {
  const cpu_event *event = (const cpu_event *)base;
  (void)err;
  return atomic_load(&event->done) >= atomic_load(&event->recorded) ? MW_OK : MW_NOT_READY;
}

mw_status cpu_event_synchronize(mw_event *base, mw_error *err) {
  cpu_event *event = (cpu_event *)base;
  const uint64_t last = atomic_load(&event->recorded);
  while (!await(event, last, LOOK))
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
