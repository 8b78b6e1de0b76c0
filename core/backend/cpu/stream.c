/* SPDX-License-Identifier: MIT
 *
 * Streams. The script's thread fills slots of a ring and the stream's thread empties them; a slot keeps its memory, so
 * queueing allocates nothing once the ring has gone round. After Ctrl-C queued work is dropped, not run. */
#include "core/backend/cpu/objects.h"

#include <string.h>

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 }; /* as CUDA numbers them */
static const double SPIN = 40e-6, LOOK = 0.02, GRACE = 0.2;

void cpu_stream_priorities(mw_device *device, int *least, int *greatest) {
  (void)device;
  *least = LEAST_PRIORITY;
  *greatest = GREATEST_PRIORITY;
}

/* ---- the stream's thread --------------------------------------------------------------------------------------- */

static bool idle(const cpu_stream *stream) {
  return atomic_load(&stream->queued) == atomic_load(&stream->done);
}

/* With the lock: spins without it for a moment, then sleeps. */
static void wait_for_work(cpu_stream *stream) {
  pthread_mutex_unlock(&stream->lock);
  const double until = mw_clock() + SPIN;
  while (idle(stream) && mw_clock() < until) cpu_pause();
  pthread_mutex_lock(&stream->lock);
  stream->thread_sleeps = true;
  while (idle(stream) && !stream->dying) pthread_cond_wait(&stream->work, &stream->lock);
  stream->thread_sleeps = false;
}

static void keep_error(cpu_stream *stream, const mw_error *error) {
  if (error->status == MW_INTERRUPTED) return; /* a waiting caller learns of it by itself */
  pthread_mutex_lock(&stream->lock);
  if (!atomic_load(&stream->failed)) {
    stream->error = *error;
    atomic_store(&stream->failed, true);
  }
  pthread_mutex_unlock(&stream->lock);
}

static void run_slot(cpu_stream *stream, const cpu_op *op) {
  const bool dropped =
      atomic_load(&cpu_device_of(&stream->base)->cancel) || op->interrupts != atomic_load(&cpu_interrupts);
  mw_error error;
  error.log = NULL;
  if (!dropped || op->type->always)
    if (op->type->run(op, stream, stream->worker, &error) != MW_OK) keep_error(stream, &error);
  if (op->type->release) op->type->release(op);
}

/* With the lock. */
static void finish_slot(cpu_stream *stream) {
  cpu_device *device = cpu_device_of(&stream->base);
  uint64_t done = atomic_load(&stream->done) + 1;
  bool more = done != atomic_load(&stream->queued);
  atomic_store(&stream->oldest, more ? stream->slots[done % CPU_SLOTS].op.ticket : UINT64_MAX);
  atomic_store(&stream->done, done);
  if (stream->blocking) atomic_fetch_sub(&device->pending_blocking, 1);
  atomic_fetch_sub(&device->pending, 1);
  if (stream->watchers) pthread_cond_broadcast(&stream->progress);
}

static void stream_thread(void *owner, cpu_worker *me) {
  cpu_stream *stream = owner;
  (void)me;
  pthread_mutex_lock(&stream->lock);
  while (!idle(stream) || !stream->dying) {
    if (idle(stream)) {
      wait_for_work(stream);
      continue;
    }
    const cpu_op *op = &stream->slots[atomic_load(&stream->done) % CPU_SLOTS].op;
    pthread_mutex_unlock(&stream->lock);
    run_slot(stream, op);
    pthread_mutex_lock(&stream->lock);
    finish_slot(stream);
  }
  stream->finished = true;
  pthread_cond_broadcast(&stream->progress);
  pthread_mutex_unlock(&stream->lock);
}

/* ---- queueing -------------------------------------------------------------------------------------------------- */

/* With the lock: waits until done reaches the number; false: Ctrl-C. */
static bool watch(cpu_stream *stream, uint64_t number) {
  const double begin = mw_clock(), seconds = mw_patience();
  bool patient = true;
  stream->watchers++;
  while (atomic_load(&stream->done) < number && patient) {
    cpu_wait_briefly(&stream->progress, &stream->lock, LOOK);
    patient = !atomic_load(&mw_interrupted);
    const cpu_op *op = &stream->slots[atomic_load(&stream->done) % CPU_SLOTS].op;
    if (!idle(stream) && op->type->launch && seconds > 0 && mw_clock() - begin > seconds)
      mw_say_waiting(op->launch.kernel->base.name, "is still running; Ctrl-C ends it");
  }
  stream->watchers--;
  return patient;
}

static mw_status start_thread(cpu_stream *stream, mw_error *err) {
  if (stream->started) return MW_OK;
  if (!stream->slots) stream->slots = mw_calloc(CPU_SLOTS, sizeof *stream->slots);
  if (cpu_worker_start(stream->worker, stream_thread, stream))
    return mw_fail(err, MW_NO_MEMORY, "the system gives no thread for a stream");
  stream->started = true;
  return MW_OK;
}

static void fill_slot(cpu_slot *slot, const cpu_op *op) {
  slot->op = *op;
  if (!op->args_bytes) return;
  if (op->args_bytes > CPU_SLOT_ARGS && op->args_bytes > slot->large_bytes) {
    slot->large = mw_realloc(slot->large, op->args_bytes);
    slot->large_bytes = op->args_bytes;
  }
  slot->op.args = memcpy(op->args_bytes > CPU_SLOT_ARGS ? slot->large : slot->args, op->args, op->args_bytes);
}

static void enqueue(cpu_stream *stream, const cpu_op *op) {
  cpu_device *device = cpu_device_of(&stream->base);
  uint64_t at = atomic_load(&stream->queued);
  cpu_slot *slot = &stream->slots[at % CPU_SLOTS];
  fill_slot(slot, op);
  if (op->type->hold) op->type->hold(op);
  slot->op.ticket = atomic_fetch_add(&device->tickets, 1) + 1;
  if (idle(stream)) atomic_store(&stream->oldest, slot->op.ticket);
  atomic_fetch_add(&device->pending, 1);
  if (stream->blocking) atomic_fetch_add(&device->pending_blocking, 1);
  atomic_store(&stream->queued, at + 1);
  if (stream->thread_sleeps) pthread_cond_signal(&stream->work);
}

static mw_status push(cpu_stream *stream, const cpu_op *op, mw_error *err) {
  pthread_mutex_lock(&stream->lock);
  mw_status status = start_thread(stream, err);
  bool room = true;
  uint64_t queued = atomic_load(&stream->queued);
  if (status == MW_OK && queued - atomic_load(&stream->done) >= CPU_SLOTS) room = watch(stream, queued - CPU_SLOTS + 1);
  if (status == MW_OK && room) enqueue(stream, op);
  pthread_mutex_unlock(&stream->lock);
  return room ? status : cpu_streams_cancel(cpu_device_of(&stream->base), err);
}

/* The default stream: after what the blocking streams were given, in this thread. */
static mw_status run_now(cpu_stream *stream, const cpu_op *op, mw_error *err) {
  cpu_device *device = cpu_device_of(&stream->base);
  if (atomic_load_explicit(&device->pending_blocking, memory_order_acquire)) {
    mw_status status = cpu_streams_drain(device, true, err);
    if (status != MW_OK) return status;
  }
  mw_status status = op->type->run(op, stream, cpu_worker_here(device->host), err);
  return status == MW_INTERRUPTED ? cpu_streams_cancel(device, err) : status;
}

mw_status cpu_stream_submit(cpu_stream *stream, cpu_op *op, mw_error *err) {
  op->interrupts = atomic_load_explicit(&cpu_interrupts, memory_order_relaxed);
  if (stream->base.capturing) return cpu_capture_op(stream, op);
  const cpu_device *device = cpu_device_of(&stream->base);
  const bool one_by_one = device->comparer || (device->checker && cpu_checker_mode(device->checker)->orders);
  return stream->worker && !one_by_one ? push(stream, op, err) : run_now(stream, op, err);
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

mw_status cpu_stream_drain(cpu_stream *stream, mw_error *err) {
  const uint64_t number = atomic_load(&stream->queued);
  const double until = mw_clock() + SPIN;
  while (atomic_load(&stream->done) < number && mw_clock() < until) cpu_pause();
  if (atomic_load(&stream->done) >= number) return MW_OK;
  pthread_mutex_lock(&stream->lock);
  bool patient = watch(stream, number);
  pthread_mutex_unlock(&stream->lock);
  return patient ? MW_OK : cpu_streams_cancel(cpu_device_of(&stream->base), err);
}

mw_status cpu_streams_drain(cpu_device *device, bool only_blocking, mw_error *err) {
  mw_status status = MW_OK;
  for (cpu_stream *stream = device->streams; stream && status == MW_OK; stream = stream->next)
    if (stream->blocking || !only_blocking) status = cpu_stream_drain(stream, err);
  return status;
}

/* Takes the streams' threads out of blocks that do not end by themselves; only stopped grids are left. */
static void evict_streams(cpu_device *device) {
  for (cpu_stream *stream = device->streams; stream; stream = stream->next) {
    pthread_mutex_lock(&stream->lock);
    if (stream->started && !stream->finished) pthread_kill(stream->worker->thread, cpu_thread_abort_signal());
    pthread_mutex_unlock(&stream->lock);
  }
}

static void wait_for_quiet(cpu_device *device) {
  const double begin = mw_clock();
  const struct timespec nap = {.tv_nsec = 1000000};
  while (atomic_load(&device->pending)) {
    nanosleep(&nap, NULL);
    if (mw_clock() - begin > GRACE && (atomic_load(&mw_interrupted) || atomic_load(&cpu_interrupts)))
      evict_streams(device);
  }
}

mw_status cpu_streams_cancel(cpu_device *device, mw_error *err) {
  atomic_store(&device->cancel, true);
  wait_for_quiet(device);
  atomic_store(&device->cancel, false);
  return mw_fail(err, MW_INTERRUPTED, "interrupted");
}

mw_status cpu_stream_take_error(cpu_stream *stream, mw_error *err) {
  if (!atomic_load_explicit(&stream->failed, memory_order_acquire)) return MW_OK;
  pthread_mutex_lock(&stream->lock);
  mw_status status = mw_fail(err, stream->error.status, "%s", stream->error.text);
  atomic_store(&stream->failed, false);
  pthread_mutex_unlock(&stream->lock);
  return status;
}

mw_status cpu_stream_query(mw_stream *base, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  const bool quiet = idle(stream); /* before the error is looked at: one that comes in between is told next time */
  mw_status status = cpu_stream_take_error(stream, err);
  if (status != MW_OK) return status;
  if (stream->worker) return quiet ? MW_OK : MW_NOT_READY;
  return atomic_load(&cpu_device_of(base)->pending_blocking) ? MW_NOT_READY : MW_OK;
}

mw_status cpu_stream_synchronize(mw_stream *base, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  mw_status status = stream->worker ? cpu_stream_drain(stream, err) : cpu_streams_drain(cpu_device_of(base), true, err);
  cpu_streams_reap(cpu_device_of(base));
  return status == MW_OK ? cpu_stream_take_error(stream, err) : status;
}

/* ---- callbacks ------------------------------------------------------------------------------------------------- */

static mw_status run_call(const cpu_op *op, cpu_stream *stream, cpu_worker *me, mw_error *err) {
  (void)stream, (void)me, (void)err;
  op->call.run(op->call.data);
  return MW_OK;
}

static const cpu_op_type call_op = {.run = run_call, .always = true};

mw_status cpu_stream_callback(mw_stream *base, mw_callback call, mw_error *err) {
  cpu_op op = {.type = &call_op, .call = call};
  return cpu_stream_submit((cpu_stream *)base, &op, err);
}

/* ---- calls of libraries ---------------------------------------------------------------------------------------- */

static mw_status run_library(const cpu_op *op, cpu_stream *stream, cpu_worker *me, mw_error *err) {
  (void)me;
  const mw_call *call = op->args;
  if (call->nranges) cpu_checker_call(cpu_device_of(&stream->base)->checker, call);
  return call->run(call, NULL, err);
}

static void label_library(const cpu_op *op, FILE *out) {
  fprintf(out, "%s", ((const mw_call *)op->args)->name);
}

static const cpu_op_type library_op = {.run = run_library, .label = label_library};

mw_status cpu_stream_call(mw_stream *base, const mw_call *call, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  mw_status status = cpu_stream_take_error(stream, err);
  if (status != MW_OK) return status;
  cpu_op op = {.type = &library_op, .args = call, .args_bytes = call->bytes};
  return cpu_stream_submit(stream, &op, err);
}

/* ---- what waits for queued work -------------------------------------------------------------------------------- */

void cpu_streams_defer(cpu_device *device, cpu_deferred *deferred) {
  if (!atomic_load(&device->pending)) {
    deferred->run(deferred);
    return;
  }
  deferred->ticket = atomic_load(&device->tickets);
  deferred->next = device->deferred;
  device->deferred = deferred;
}

/* The ticket of the oldest operation not done yet. */
static uint64_t oldest_ticket(const cpu_device *device) {
  uint64_t oldest = UINT64_MAX;
  for (cpu_stream *stream = device->streams; stream; stream = stream->next) {
    uint64_t ticket = atomic_load(&stream->oldest);
    if (ticket < oldest) oldest = ticket;
  }
  return oldest;
}

void cpu_streams_reap(cpu_device *device) {
  if (!device->deferred) return;
  const uint64_t oldest = oldest_ticket(device);
  for (cpu_deferred **place = &device->deferred; *place;) {
    cpu_deferred *deferred = *place;
    if (deferred->ticket >= oldest) {
      place = &deferred->next;
      continue;
    }
    *place = deferred->next;
    deferred->run(deferred);
  }
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static cpu_stream *make(cpu_device *device, bool blocking, int priority) {
  cpu_stream *stream = mw_calloc(1, sizeof *stream);
  stream->base = (mw_stream){.device = &device->base, .priority = priority};
  stream->blocking = blocking;
  atomic_init(&stream->oldest, UINT64_MAX);
  pthread_mutex_init(&stream->lock, NULL);
  pthread_cond_init(&stream->work, NULL);
  pthread_cond_init(&stream->progress, NULL);
  return stream;
}

cpu_stream *cpu_stream_main(cpu_device *device) {
  return make(device, true, LEAST_PRIORITY);
}

void cpu_stream_free(cpu_stream *stream) {
  if (stream->started) cpu_worker_join(stream->worker);
  for (int i = 0; stream->slots && i < CPU_SLOTS; i++) mw_free(stream->slots[i].large);
  mw_free(stream->slots);
  mw_free(stream->tails);
  cpu_worker_free(stream->worker);
  pthread_cond_destroy(&stream->progress);
  pthread_cond_destroy(&stream->work);
  pthread_mutex_destroy(&stream->lock);
  mw_free(stream);
}

static bool is_over(cpu_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  bool over = stream->dying && (stream->finished || !stream->started);
  pthread_mutex_unlock(&stream->lock);
  return over;
}

static void report_end(cpu_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  stream->dying = true;
  pthread_cond_signal(&stream->work);
  pthread_mutex_unlock(&stream->lock);
}

/* Frees destroyed streams whose work is done. */
static void free_ended(cpu_device *device) {
  for (cpu_stream **place = &device->streams; *place;) {
    cpu_stream *stream = *place;
    if (!is_over(stream)) {
      place = &stream->next;
      continue;
    }
    *place = stream->next;
    cpu_stream_free(stream);
  }
}

mw_status cpu_stream_make(mw_device *base, bool blocking, int priority, mw_stream **out, mw_error *err) {
  cpu_device *device = (cpu_device *)base;
  (void)err;
  if (priority > LEAST_PRIORITY) priority = LEAST_PRIORITY;
  if (priority < GREATEST_PRIORITY) priority = GREATEST_PRIORITY;
  free_ended(device);
  cpu_stream *stream = make(device, blocking, priority);
  stream->worker = cpu_worker_make();
  stream->next = device->streams;
  device->streams = stream;
  *out = &stream->base;
  return MW_OK;
}

/* CUDA's rule: it waits for the legacy default stream and is waited for by it, and by no other. */
mw_status cpu_stream_per_thread(mw_device *base, mw_stream **out, mw_error *err) {
  cpu_device *device = (cpu_device *)base;
  mw_stream *made = NULL;
  mw_status status = device->per_thread ? MW_OK : cpu_stream_make(base, true, LEAST_PRIORITY, &made, err);
  if (made) device->per_thread = (cpu_stream *)made;
  if (status == MW_OK) *out = &device->per_thread->base;
  return status;
}

void cpu_streams_close(cpu_device *device) {
  wait_for_quiet(device);
  while (device->streams) {
    cpu_stream *stream = device->streams;
    report_end(stream);
    device->streams = stream->next;
    cpu_stream_free(stream);
  }
}

void cpu_stream_destroy(mw_stream *base) {
  cpu_stream *stream = (cpu_stream *)base;
  if (base->capturing) cpu_capture_leave(stream);
  report_end(stream);
  free_ended(cpu_device_of(base));
}
