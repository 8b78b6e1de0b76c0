/* SPDX-License-Identifier: MIT
 *
 * Runs the calls of a frame: in order with a stream, or at once. */
#include <string.h>

#include "core/bind/native.h"

/* ---- one call ---------------------------------------------------------------------------------------------------- */

static void store_real(int dtype, void *at, double result) {
  const mw_word word = {.d = result};
  if (dtype == MW_F32)
    *(float *)at = word.f;
  else
    *(double *)at = word.d;
}

static mw_status run_call(const native_variant *v, const native_call *call, mw_word *words, mw_error *err) {
  int64_t w[MW_CALL_WORDS] = {0};
  double r[MW_CALL_REALS] = {0};
  int nw = 0, nr = 0;
  for (int i = 0; i < call->count; i++) {
    mw_word *word = &words[call->operands[i].at];
    if (call->operands[i].kind == REAL)
      r[nr++] = word->d;
    else
      w[nw++] = call->operands[i].kind == WORD ? word->i : (intptr_t)word;
  }
  if (call->result == STORED && call->dtype != MW_I32) {
    store_real(call->dtype, words[call->to].p, mw_shared_call_real(call->function, w, r));
    return MW_OK;
  }
  const int64_t result = mw_shared_call(call->function, w, r);
  if (call->result == VALUE) words[call->to].i = result;
  if (call->result == STORED) *(int32_t *)words[call->to].p = (int32_t)result;
  if (call->result != STATUS || (int)result == 0) return MW_OK;
  const char *why = v->explain ? v->explain((int)result) : "status";
  return mw_fail(err, MW_DRIVER, "%s: %s failed: %s (%d)", v->name, call->name, why, (int)result);
}

static mw_status run_calls(const native_variant *v, const native_calls *calls, int first, int last, mw_word *words,
                           mw_error *err) {
  mw_status status = MW_OK;
  for (int i = first; i < last && status == MW_OK; i++) status = run_call(v, &calls->list[i], words, err);
  return status;
}

/* What was not made needs no end; made: all of it was. */
static mw_status close_all(const native_variant *v, bool made, mw_word *words, mw_status status, mw_error *err) {
  for (int i = 0; i < v->closing.count; i++) {
    const native_call *call = &v->closing.list[i];
    if (!made && call->count && !words[call->operands[0].at].i) continue;
    const mw_status closed = run_call(v, call, words, status == MW_OK ? err : NULL);
    if (status == MW_OK) status = closed;
  }
  return status;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

uint64_t native_serial(mw_stream *stream) {
  static uint64_t last;
  if (!stream->serial) stream->serial = ++last;
  return stream->serial;
}

/* A stream that has been destroyed leaves its address to another one, so its number is what is remembered. Where calls
 * come later, from several threads, nothing is, and it is told each time. */
static mw_status follow(native_value *self, void *queue, uint64_t stream, mw_error *err) {
  if (!self || !self->variant->follow.count) return MW_OK;
  if (self->device->backend->calls_later) return run_call(self->variant, self->variant->follow.list, self->words, err);
  if (self->stream == stream) return MW_OK;
  self->words[QUEUE].p = queue;
  const mw_status status = run_call(self->variant, self->variant->follow.list, self->words, err);
  if (status == MW_OK) self->stream = stream;
  return status;
}

static mw_status follow_both(const native_frame *frame, void *queue, mw_error *err) {
  const mw_status status = follow(frame->variant->handle, queue, frame->stream, err);
  return status == MW_OK ? follow(frame->object, queue, frame->stream, err) : status;
}

static void next_item(const native_variant *v, mw_word *words) {
  for (int i = 0; i < v->narrays; i++)
    words[v->arrays[i].at].i += words[v->arrays[i].at + ITEMS].i * (int64_t)mw_dtype_size((mw_dtype)v->arrays[i].dtype);
}

mw_status native_run(const mw_call *call, void *queue, mw_error *err) {
  const native_frame *frame = (const native_frame *)call;
  const native_variant *v = frame->variant;
  mw_word words[MOST_WORDS];
  mw_status status = follow_both(frame, queue, err);
  memcpy(words, frame->words, (size_t)v->words * sizeof *words);
  words[QUEUE].p = queue;
  if (frame->prepares && status == MW_OK) status = run_calls(v, &v->sizes, 0, v->sizes.count, words, err);
  const int64_t many = v->many ? words[v->many].i : 1, items = v->plain ? 1 : many;
  const int first = many > 1 ? 0 : v->plain, last = many > 1 && v->plain ? v->plain : v->calls.count;
  for (int64_t item = 0; item < items && status == MW_OK; item++) {
    status = run_calls(v, &v->calls, first, last, words, err);
    if (item + 1 < items) next_item(v, words);
  }
  return close_all(v, false, words, status, err);
}

/* ---- at once ----------------------------------------------------------------------------------------------------- */

typedef struct immediate { /* in the default stream, which is done when the backend's call returns */
  mw_call call;
  native_frame *frame;
  native_moment moment;
} immediate;

static mw_status run_at_once(const mw_call *call, void *queue, mw_error *err) {
  const immediate *now = (const immediate *)call;
  native_frame *frame = now->frame;
  const native_variant *v = frame->variant;
  frame->words[QUEUE].p = queue;
  if (now->moment == NATIVE_SIZES) return run_calls(v, &v->sizes, 0, v->sizes.count, frame->words, err);
  if (now->moment != NATIVE_MAKING) return close_all(v, now->moment == NATIVE_END, frame->words, MW_OK, err);
  const mw_status status = follow_both(frame, queue, err);
  return status == MW_OK ? run_calls(v, &v->calls, 0, v->calls.count, frame->words, err) : status;
}

mw_status native_run_now(native_moment moment, native_frame *frame, mw_device *device, mw_error *err) {
  const immediate now = {{.name = frame->variant->name, .run = run_at_once, .bytes = sizeof now}, frame, moment};
  return device->backend->call(device->main, &now.call, err);
}
