/* SPDX-License-Identifier: MIT
 *
 * Streams, events and graphs. A handle points to a struct of ours; NULL and the two constants of CUDA's are the default
 * streams. */
#include <stdint.h>

#include "core/runtime/runtime.h"

struct CUstream_st {
  mw_stream *stream;
  runtime_place last; /* launch: what fails later is told with its line */
  unsigned flags;
};

struct CUevent_st {
  mw_event *event;
  struct CUstream_st *stream; /* it was recorded in; NULL: a default one */
  bool recorded;
};

struct CUgraph_st {
  mw_graph *graph;
};

static struct CUstream_st legacy;

static const mw_backend *backend(void) {
  return runtime.device->backend;
}

static struct CUstream_st *stream_of(cudaStream_t handle) {
  return (uintptr_t)handle <= (uintptr_t)cudaStreamPerThread ? &legacy : handle;
}

mw_stream *runtime_stream(cudaStream_t handle) {
  mw_stream *own = NULL;
  mw_error error = {0};
  if (handle == cudaStreamPerThread) {
    if (backend()->stream_per_thread(runtime.device, &own, &error)) runtime_error(&error, NULL);
    return own;
  }
  const struct CUstream_st *stream = stream_of(handle);
  return stream == &legacy ? runtime.device->main : stream->stream;
}

runtime_place *runtime_last_launch(cudaStream_t handle) {
  return &stream_of(handle)->last;
}

cudaError_t runtime_synchronize(void) {
  mw_error error = {0};
  return backend()->synchronize(runtime.device, &error) ? runtime_error(&error, &legacy.last) : cudaSuccess;
}

/* ---- streams ---------------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority) {
  RUNTIME_ENTER(result);
  mw_error error = {0};
  mw_stream *stream;
  if (backend()->stream_create(runtime.device, !(flags & cudaStreamNonBlocking), priority, &stream, &error))
    return result = runtime_error(&error, NULL);
  *out = mw_calloc(1, sizeof **out);
  **out = (struct CUstream_st){.stream = stream, .flags = flags};
  return result = cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  RUNTIME_ENTER(result);
  if (stream_of(handle) == &legacy) return result = cudaErrorInvalidResourceHandle;
  backend()->stream_destroy(handle->stream);
  mw_free(handle);
  return result = cudaSuccess;
}

static cudaError_t stream_wait(cudaStream_t handle, bool ask) {
  mw_error error = {0};
  mw_stream *stream = runtime_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  const mw_status status =
      ask ? backend()->stream_query(stream, &error) : backend()->stream_synchronize(stream, &error);
  if (status == MW_NOT_READY) return cudaErrorNotReady;
  return status ? runtime_error(&error, runtime_last_launch(handle)) : cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return RUNTIME_CALL(stream_wait(handle, false));
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return RUNTIME_CALL(stream_wait(handle, true));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  (void)flags;
  RUNTIME_ENTER(result);
  mw_error error = {0};
  mw_stream *stream = runtime_stream(handle);
  if (!stream || !event) return result = cudaErrorInvalidResourceHandle;
  if (!event->recorded) return result = cudaSuccess;
  return result = backend()->stream_wait(stream, event->event, &error) ? runtime_error(&error, NULL) : cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority) {
  RUNTIME_ENTER(result);
  const mw_stream *stream = runtime_stream(handle);
  if (stream) *priority = stream->priority;
  return result = stream ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned *flags) {
  *flags = stream_of(handle)->flags;
  return cudaSuccess;
}

/* ---- functions of the host in a stream -------------------------------------------------------------------------- */

typedef struct queued {
  cudaStreamCallback_t callback; /* NULL: plain */
  cudaHostFn_t plain;
  cudaStream_t stream;
  void *data;
} queued;

static void queued_run(void *data) {
  const queued call = *(queued *)data;
  mw_free(data);
  runtime_called_back = true;
  if (call.callback)
    call.callback(call.stream, runtime.lost, call.data);
  else
    call.plain(call.data);
  runtime_called_back = false;
}

static cudaError_t queue(const queued *call) {
  mw_error error = {0};
  mw_stream *stream = runtime_stream(call->stream);
  if (!stream) return cudaErrorInvalidResourceHandle;
  queued *copy = mw_malloc(sizeof *copy);
  *copy = *call;
  if (!backend()->stream_callback(stream, (mw_callback){queued_run, copy}, &error)) return cudaSuccess;
  mw_free(copy);
  return runtime_error(&error, NULL);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags) {
  (void)flags;
  return RUNTIME_CALL(queue(&(queued){callback, NULL, stream, data}));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
  return RUNTIME_CALL(queue(&(queued){NULL, function, stream, data}));
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
  RUNTIME_ENTER(result);
  mw_error error = {0};
  mw_event *event;
  if (backend()->event_create(runtime.device, !(flags & cudaEventDisableTiming), &event, &error))
    return result = runtime_error(&error, NULL);
  *out = mw_calloc(1, sizeof **out);
  (*out)->event = event;
  return result = cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  RUNTIME_ENTER(result);
  if (!event) return result = cudaErrorInvalidResourceHandle;
  backend()->event_destroy(event->event);
  mw_free(event);
  return result = cudaSuccess;
}

static cudaError_t event_record(cudaEvent_t event, cudaStream_t handle) {
  mw_error error = {0};
  mw_stream *stream = runtime_stream(handle);
  if (!stream || !event) return cudaErrorInvalidResourceHandle;
  event->recorded = true;
  event->stream = stream_of(handle);
  return backend()->event_record(event->event, stream, &error) ? runtime_error(&error, &event->stream->last)
                                                               : cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return RUNTIME_CALL(event_record(event, stream));
}

static cudaError_t event_wait(cudaEvent_t event, bool ask) {
  mw_error error = {0};
  if (!event) return cudaErrorInvalidResourceHandle;
  if (!event->recorded) return cudaSuccess;
  const mw_status status =
      ask ? backend()->event_query(event->event, &error) : backend()->event_synchronize(event->event, &error);
  if (status == MW_NOT_READY) return cudaErrorNotReady;
  return status ? runtime_error(&error, NULL) : cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return RUNTIME_CALL(event_wait(event, false));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return RUNTIME_CALL(event_wait(event, true));
}

static cudaError_t event_elapsed(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  mw_error error = {0};
  double seconds = 0;
  if (!from || !to || !from->recorded || !to->recorded || !from->event->timing || !to->event->timing)
    return cudaErrorInvalidResourceHandle;
  const mw_status status = backend()->event_elapsed(from->event, to->event, &seconds, &error);
  if (status == MW_NOT_READY) return cudaErrorNotReady;
  *milliseconds = (float)(1e3 * seconds);
  return status ? runtime_error(&error, NULL) : cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return RUNTIME_CALL(event_elapsed(milliseconds, from, to));
}

/* ---- graphs: an executable one is the graph itself --------------------------------------------------------------- */

static cudaError_t capture(cudaStream_t handle, cudaGraph_t *out) {
  mw_error error = {0};
  mw_graph *graph = NULL;
  if (stream_of(handle) == &legacy) return cudaErrorNotSupported;
  const mw_status status =
      out ? backend()->capture_end(handle->stream, &graph, &error) : backend()->capture_begin(handle->stream, &error);
  if (status) return runtime_error(&error, NULL);
  if (!out) return cudaSuccess;
  *out = mw_malloc(sizeof **out);
  (*out)->graph = graph;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  (void)mode;
  return RUNTIME_CALL(capture(stream, NULL));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  return RUNTIME_CALL(capture(stream, graph));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
  (void)flags;
  *exec = (cudaGraphExec_t)(void *)graph;
  return cudaSuccess;
}

static cudaError_t replay(const struct CUgraph_st *graph, cudaStream_t handle) {
  mw_error error = {0};
  mw_stream *stream = runtime_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  return backend()->graph_launch(graph->graph, stream, &error) ? runtime_error(&error, runtime_last_launch(handle))
                                                               : cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return RUNTIME_CALL(replay((const struct CUgraph_st *)(const void *)exec, stream));
}
