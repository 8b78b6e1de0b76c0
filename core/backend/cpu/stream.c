/* SPDX-License-Identifier: MIT
 *
 * Streams. The script's thread fills slots of a ring and the stream's thread empties them; a slot keeps its memory, so
 * queueing allocates nothing once the ring has gone round. After Ctrl-C what is queued is dropped, not run. */
#include "core/backend/cpu/stream.h"

#include "core/backend/cpu/fault.h"
#include "core/backend/cpu/graph.h"

#include <string.h>

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 }; /* as CUDA numbers them */
static const double SPIN = 40e-6, LOOK = 0.02, GRACE = 0.2;

void cpu_stream_priorities(mw_device *device, int *least, int *greatest) {
  (void)device;
  *least = LEAST_PRIORITY;
  *greatest = GREATEST_PRIORITY;
}

/* ---- operations ------------------------------------------------------------------------------------------------ */

static mw_status wait_event(const cpu_op *op, mw_error *err) {
  while (!cpu_event_await(op->mark.event, op->mark.number, LOOK))
    if (atomic_load(&mw_interrupted) || atomic_load(&cpu_interrupts) != op->interrupts)
      return mw_fail(err, MW_INTERRUPTED, "interrupted");
  return MW_OK;
}

mw_status cpu_op_run(cpu_device *device, cpu_worker *worker, int priority, cpu_op *op, mw_error *err) {
  switch (op->kind) {
  case CPU_OP_LAUNCH:
    return cpu_grid_launch(device, worker, &op->launch, priority, err);
  case CPU_OP_COPY:
    return cpu_transfer_run_copy(device, worker, op->copy.to, op->copy.from, op->copy.bytes, priority, err);
  case CPU_OP_FILL:
    return cpu_transfer_run_fill(device, worker, op->fill.to, op->fill.pattern, op->fill.width, op->fill.count,
                                 priority, err);
  case CPU_OP_RECORD:
    cpu_event_reach(op->mark.event, op->mark.number);
    return MW_OK;
  case CPU_OP_WAIT:
    return wait_event(op, err);
  case CPU_OP_CALL:
    op->call.run(op->call.data);
    return MW_OK;
  case CPU_OP_GRAPH:
    return cpu_graph_run(op->graph, device, worker, priority, err);
  }
  return MW_OK;
}

/* An operation after Ctrl-C: nothing is computed, but nobody waits for ever and no callback is lost. */
static void skip(cpu_op *op) {
  if (op->kind == CPU_OP_RECORD) cpu_event_reach(op->mark.event, op->mark.number);
  if (op->kind == CPU_OP_CALL) op->call.run(op->call.data);
}

static void hold(const cpu_op *op) {
  if (op->kind == CPU_OP_RECORD || op->kind == CPU_OP_WAIT) cpu_event_retain(op->mark.event);
  if (op->kind == CPU_OP_GRAPH) cpu_graph_retain(op->graph);
}

static void let_go(const cpu_op *op) {
  if (op->kind == CPU_OP_RECORD || op->kind == CPU_OP_WAIT) cpu_event_release(op->mark.event);
  if (op->kind == CPU_OP_GRAPH) cpu_graph_release(op->graph);
}

/* ---- the stream's thread --------------------------------------------------------------------------------------- */

static bool idle(const cpu_stream *stream) {
  return atomic_load(&stream->queued) == atomic_load(&stream->done);
}

/* With the lock: spins without it for a moment, then sleeps. */
static void wait_for_work(cpu_stream *stream) {
  pthread_mutex_unlock(&stream->lock);
  const double until = cpu_now() + SPIN;
  while (idle(stream) && cpu_now() < until) cpu_pause();
  pthread_mutex_lock(&stream->lock);
  stream->thread_sleeps = true;
  while (idle(stream) && !stream->dying) pthread_cond_wait(&stream->work, &stream->lock);
  stream->thread_sleeps = false;
}

static void keep_error(cpu_stream *stream, const mw_error *error) {
  if (error->status == MW_INTERRUPTED) return; /* whoever waits is told by itself */
  pthread_mutex_lock(&stream->lock);
  if (!atomic_load(&stream->failed)) {
    stream->error = *error;
    atomic_store(&stream->failed, true);
  }
  pthread_mutex_unlock(&stream->lock);
}

static void run_slot(cpu_stream *stream, cpu_op *op) {
  cpu_device *device = (cpu_device *)stream->base.device;
  if (atomic_load(&device->cancel) || op->interrupts != atomic_load(&cpu_interrupts)) {
    skip(op);
  } else {
    mw_error error;
    error.log = NULL;
    if (cpu_op_run(device, stream->worker, stream->base.priority, op, &error) != MW_OK) keep_error(stream, &error);
  }
  let_go(op);
}

/* With the lock. */
static void finish_slot(cpu_stream *stream) {
  cpu_device *device = (cpu_device *)stream->base.device;
  uint64_t done = atomic_load(&stream->done) + 1;
  bool more = done != atomic_load(&stream->queued);
  atomic_store(&stream->oldest, more ? stream->slots[done % CPU_SLOTS].op.ticket : UINT64_MAX);
  atomic_store(&stream->done, done);
  if (stream->blocking) atomic_fetch_sub(&device->pending_blocking, 1);
  atomic_fetch_sub(&device->pending, 1);
  if (stream->watchers) pthread_cond_broadcast(&stream->progress);
}

static void *stream_thread(void *argument) {
  cpu_stream *stream = argument;
  cpu_worker_attach(stream->worker, false);
  cpu_current = stream->worker;
  pthread_mutex_lock(&stream->lock);
  while (!idle(stream) || !stream->dying) {
    if (idle(stream)) {
      wait_for_work(stream);
      continue;
    }
    cpu_op *op = &stream->slots[atomic_load(&stream->done) % CPU_SLOTS].op;
    pthread_mutex_unlock(&stream->lock);
    run_slot(stream, op);
    pthread_mutex_lock(&stream->lock);
    finish_slot(stream);
  }
  stream->finished = true;
  pthread_cond_broadcast(&stream->progress);
  pthread_mutex_unlock(&stream->lock);
  cpu_worker_detach(stream->worker);
  return NULL;
}

/* ---- queueing -------------------------------------------------------------------------------------------------- */

/* With the lock: waits until done reaches the number; false: Ctrl-C. */
static bool watch(cpu_stream *stream, uint64_t number) {
  bool patient = true;
  stream->watchers++;
  while (atomic_load(&stream->done) < number && patient) {
    cpu_wait_briefly(&stream->progress, &stream->lock, LOOK);
    patient = !atomic_load(&mw_interrupted);
  }
  stream->watchers--;
  return patient;
}

static mw_status start_thread(cpu_stream *stream, mw_error *err) {
  if (stream->started) return MW_OK;
  if (!stream->slots) stream->slots = mw_calloc(CPU_SLOTS, sizeof *stream->slots);
  if (cpu_thread_start(&stream->thread, stream_thread, stream))
    return mw_fail(err, MW_NO_MEMORY, "the system gives no thread for a stream");
  stream->started = true;
  return MW_OK;
}

static void fill_slot(cpu_slot *slot, const cpu_op *op, size_t args_bytes) {
  slot->op = *op;
  if (op->kind != CPU_OP_LAUNCH) return;
  char *args = slot->args;
  if (args_bytes > CPU_SLOT_ARGS) {
    if (args_bytes > slot->large_bytes) {
      slot->large = mw_realloc(slot->large, args_bytes);
      slot->large_bytes = args_bytes;
    }
    args = slot->large;
  }
  if (args_bytes) memcpy(args, op->launch.args, args_bytes);
  slot->op.launch.args = args;
}

static void enqueue(cpu_stream *stream, const cpu_op *op, size_t args_bytes) {
  cpu_device *device = (cpu_device *)stream->base.device;
  uint64_t at = atomic_load(&stream->queued);
  cpu_slot *slot = &stream->slots[at % CPU_SLOTS];
  fill_slot(slot, op, args_bytes);
  hold(op);
  slot->op.ticket = atomic_fetch_add(&device->tickets, 1) + 1;
  slot->op.interrupts = atomic_load(&cpu_interrupts);
  if (idle(stream)) atomic_store(&stream->oldest, slot->op.ticket);
  atomic_fetch_add(&device->pending, 1);
  if (stream->blocking) atomic_fetch_add(&device->pending_blocking, 1);
  atomic_store(&stream->queued, at + 1);
  if (stream->thread_sleeps) pthread_cond_signal(&stream->work);
}

static mw_status push(cpu_stream *stream, const cpu_op *op, size_t args_bytes, mw_error *err) {
  pthread_mutex_lock(&stream->lock);
  mw_status status = start_thread(stream, err);
  bool room = true;
  uint64_t queued = atomic_load(&stream->queued);
  if (status == MW_OK && queued - atomic_load(&stream->done) >= CPU_SLOTS) room = watch(stream, queued - CPU_SLOTS + 1);
  if (status == MW_OK && room) enqueue(stream, op, args_bytes);
  pthread_mutex_unlock(&stream->lock);
  return room ? status : cpu_streams_cancel((cpu_device *)stream->base.device, err);
}

/* The default stream: after what the blocking streams were given, in this thread. */
static mw_status run_now(cpu_stream *stream, const cpu_op *op, mw_error *err) {
  cpu_device *device = (cpu_device *)stream->base.device;
  if (atomic_load_explicit(&device->pending_blocking, memory_order_acquire)) {
    mw_status status = cpu_streams_drain(device, true, err);
    if (status != MW_OK) return status;
  }
  cpu_op now = *op;
  now.interrupts = atomic_load_explicit(&cpu_interrupts, memory_order_relaxed);
  mw_status status = cpu_op_run(device, cpu_device_host_worker(device), stream->base.priority, &now, err);
  return status == MW_INTERRUPTED ? cpu_streams_cancel(device, err) : status;
}

mw_status cpu_stream_submit(cpu_stream *stream, const cpu_op *op, size_t args_bytes, mw_error *err) {
  if (stream->base.capturing) return cpu_capture_op(stream, op, args_bytes);
  return stream->worker ? push(stream, op, args_bytes, err) : run_now(stream, op, err);
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

mw_status cpu_stream_drain(cpu_stream *stream, mw_error *err) {
  const uint64_t number = atomic_load(&stream->queued);
  const double until = cpu_now() + SPIN;
  while (atomic_load(&stream->done) < number && cpu_now() < until) cpu_pause();
  if (atomic_load(&stream->done) >= number) return MW_OK;
  pthread_mutex_lock(&stream->lock);
  bool patient = watch(stream, number);
  pthread_mutex_unlock(&stream->lock);
  return patient ? MW_OK : cpu_streams_cancel((cpu_device *)stream->base.device, err);
}

/* Only the script's thread changes the list, so it may walk it without the lock. */
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
    if (stream->started && !stream->finished) pthread_kill(stream->thread, cpu_fault_abort_signal());
    pthread_mutex_unlock(&stream->lock);
  }
}

static void wait_for_quiet(cpu_device *device) {
  const double begin = cpu_now();
  const struct timespec nap = {.tv_nsec = 1000000};
  while (atomic_load(&device->pending)) {
    nanosleep(&nap, NULL);
    if (cpu_now() - begin > GRACE && (atomic_load(&mw_interrupted) || atomic_load(&cpu_interrupts)))
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
  return atomic_load(&((cpu_device *)base->device)->pending_blocking) ? MW_NOT_READY : MW_OK;
}

mw_status cpu_stream_synchronize(mw_stream *base, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  mw_status status =
      stream->worker ? cpu_stream_drain(stream, err) : cpu_streams_drain((cpu_device *)base->device, true, err);
  cpu_memory_reap(base->device);
  return status == MW_OK ? cpu_stream_take_error(stream, err) : status;
}

/* ---- what the binding submits ---------------------------------------------------------------------------------- */

cpu_launch cpu_launch_from(const mw_launch *launch) {
  const uint32_t *g = launch->grid, *b = launch->block;
  return (cpu_launch){
      .kernel = (cpu_kernel *)launch->kernel,
      .grid = {g[0], g[1], g[2]},
      .block = {b[0], b[1], b[2]},
      .shared = launch->shared,
      .cooperative = launch->cooperative,
      .args = launch->args,
  };
}

mw_status cpu_stream_launch(mw_stream *base, const mw_launch *launch, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  mw_status status = cpu_stream_take_error(stream, err);
  if (status != MW_OK) return status;
  cpu_op op;
  op.kind = CPU_OP_LAUNCH;
  op.launch = cpu_launch_from(launch);
  return cpu_stream_submit(stream, &op, launch->kernel->args_bytes, err);
}

mw_status cpu_stream_callback(mw_stream *base, mw_callback call, mw_error *err) {
  const cpu_op op = {.kind = CPU_OP_CALL, .call = call};
  return cpu_stream_submit((cpu_stream *)base, &op, 0, err);
}

mw_status cpu_stream_wait(mw_stream *base, mw_event *event_base, mw_error *err) {
  cpu_event *event = (cpu_event *)event_base;
  if (event->capture) return cpu_capture_wait((cpu_stream *)base, event);
  const uint64_t number = atomic_load(&event->recorded);
  if (atomic_load(&event->done) >= number) return MW_OK;
  const cpu_op op = {.kind = CPU_OP_WAIT, .mark = {event, number}};
  return cpu_stream_submit((cpu_stream *)base, &op, 0, err);
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

mw_status cpu_stream_make(mw_device *base, bool blocking, int priority, mw_stream **out, mw_error *err) {
  cpu_device *device = (cpu_device *)base;
  (void)err;
  if (priority > LEAST_PRIORITY) priority = LEAST_PRIORITY;
  if (priority < GREATEST_PRIORITY) priority = GREATEST_PRIORITY;
  cpu_stream_reap(device, false);
  cpu_stream *stream = make(device, blocking, priority);
  stream->worker = cpu_worker_make(device);
  pthread_mutex_lock(&device->lock);
  stream->next = device->streams;
  device->streams = stream;
  pthread_mutex_unlock(&device->lock);
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

void cpu_stream_free(cpu_stream *stream) {
  if (stream->started) pthread_join(stream->thread, NULL);
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

static void tell_to_end(cpu_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  stream->dying = true;
  pthread_cond_signal(&stream->work);
  pthread_mutex_unlock(&stream->lock);
}

void cpu_stream_reap(cpu_device *device, bool all) {
  if (all) wait_for_quiet(device);
  for (cpu_stream **place = &device->streams; *place;) {
    cpu_stream *stream = *place;
    if (all) tell_to_end(stream);
    if (!all && !is_over(stream)) {
      place = &stream->next;
      continue;
    }
    pthread_mutex_lock(&device->lock);
    *place = stream->next;
    pthread_mutex_unlock(&device->lock);
    cpu_stream_free(stream);
  }
}

void cpu_stream_destroy(mw_stream *base) {
  cpu_stream *stream = (cpu_stream *)base;
  if (base->capturing) cpu_capture_break(stream);
  tell_to_end(stream);
  cpu_stream_reap((cpu_device *)base->device, false);
}
