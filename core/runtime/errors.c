/* SPDX-License-Identifier: MIT
 *
 * The runtime's errors: the last one of a thread, and that of a lost device, which every later call returns. */
#include <stdarg.h>
#include <stdio.h>

#include "core/runtime/runtime.h"

static _Thread_local cudaError_t last;

const char *cudaGetErrorString(cudaError_t error) {
#define TEXT_OF(name, value, text)                                                                                     \
  if (error == name) return text;
  MW_ERRORS(TEXT_OF)
  return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error) {
#define NAME_OF(name, value, text)                                                                                     \
  if (error == name) return #name;
  MW_ERRORS(NAME_OF)
  return "unrecognized error code";
}

_Thread_local bool runtime_called_back;

cudaError_t runtime_refused(void) {
  return runtime.lost ? runtime.lost : runtime_called_back ? cudaErrorNotPermitted : cudaSuccess;
}

bool runtime_enter(void) {
  const cudaError_t refused = runtime_refused();
  if (!refused) pthread_mutex_lock(&runtime.lock);
  if (refused == cudaErrorNotPermitted)
    runtime_tell(NULL, "a function that a stream calls (cudaLaunchHostFunc, cudaStreamAddCallback) may not call CUDA");
  if (refused) last = refused;
  return !refused;
}

cudaError_t runtime_leave(cudaError_t error) {
  pthread_mutex_unlock(&runtime.lock);
  if (error && error != cudaErrorNotReady) last = error;
  return error;
}

void runtime_left(const cudaError_t *result) {
  runtime_leave(*result);
}

cudaError_t cudaGetLastError(void) {
  const cudaError_t error = runtime.lost ? runtime.lost : last;
  last = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError(void) {
  return runtime.lost ? runtime.lost : last;
}

void runtime_tell(const runtime_place *place, const char *format, ...) {
  va_list args;
  fflush(stdout);
  fprintf(stderr, "moonwarp: ");
  if (place && place->line) fprintf(stderr, "%s:%d: ", place->file, place->line);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
}

static cudaError_t meaning(mw_status status) {
  switch (status) {
  case MW_OK:
    return cudaSuccess;
  case MW_NOT_READY:
    return cudaErrorNotReady;
  case MW_INVALID:
    return cudaErrorInvalidValue;
  case MW_NOT_FOUND:
    return cudaErrorInvalidDeviceFunction;
  case MW_NO_MEMORY:
    return cudaErrorMemoryAllocation;
  case MW_UNSUPPORTED:
    return cudaErrorNotSupported;
  case MW_FAULT:
    return cudaErrorIllegalAddress;
  default:
    return cudaErrorLaunchFailure;
  }
}

cudaError_t runtime_error(mw_error *error, const runtime_place *place) {
  const mw_status status = error->status;
  const cudaError_t result = meaning(status);
  if (status != MW_OK && status != MW_NOT_READY && status != MW_NO_MEMORY) {
    runtime_tell(place && place->line ? place : &runtime.latest, "%s", error->text);
    if (error->log && *error->log) fprintf(stderr, "%s\n", error->log);
    runtime.failed = true;
  }
  if (status == MW_FAULT) runtime.lost = result;
  mw_error_clear(error);
  *error = (mw_error){0};
  return result;
}
