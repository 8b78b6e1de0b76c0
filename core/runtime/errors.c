/* SPDX-License-Identifier: MIT
 *
 * The runtime's errors: the last one of a thread, and that of a lost device, which every later call returns. */
#include <stdarg.h>
#include <stdio.h>

#include "core/runtime/runtime.h"

static _Thread_local cudaError_t last;

#define ERRORS(E)                                                                                                      \
  E(cudaSuccess, "no error")                                                                                           \
  E(cudaErrorInvalidValue, "invalid argument")                                                                         \
  E(cudaErrorMemoryAllocation, "out of memory")                                                                        \
  E(cudaErrorInitializationError, "initialization error")                                                              \
  E(cudaErrorCudartUnloading, "driver shutting down")                                                                  \
  E(cudaErrorProfilerDisabled, "profiler disabled")                                                                    \
  E(cudaErrorInvalidConfiguration, "invalid configuration argument")                                                   \
  E(cudaErrorInvalidPitchValue, "invalid pitch argument")                                                              \
  E(cudaErrorInvalidSymbol, "invalid device symbol")                                                                   \
  E(cudaErrorInvalidHostPointer, "invalid host pointer")                                                               \
  E(cudaErrorInvalidDevicePointer, "invalid device pointer")                                                           \
  E(cudaErrorInvalidTexture, "invalid texture reference")                                                              \
  E(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")                                              \
  E(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version")                       \
  E(cudaErrorMissingConfiguration, "__global__ function call is not configured")                                       \
  E(cudaErrorInvalidDeviceFunction, "invalid device function")                                                         \
  E(cudaErrorNoDevice, "no CUDA-capable device is detected")                                                           \
  E(cudaErrorInvalidDevice, "invalid device ordinal")                                                                  \
  E(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device")                       \
  E(cudaErrorInvalidResourceHandle, "invalid resource handle")                                                         \
  E(cudaErrorIllegalState, "the operation cannot be performed in the present state")                                   \
  E(cudaErrorSymbolNotFound, "named symbol not found")                                                                 \
  E(cudaErrorNotReady, "device not ready")                                                                             \
  E(cudaErrorIllegalAddress, "an illegal memory access was encountered")                                               \
  E(cudaErrorLaunchOutOfResources, "too many resources requested for launch")                                          \
  E(cudaErrorLaunchTimeout, "the launch timed out and was terminated")                                                 \
  E(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled")                                               \
  E(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled")                                                 \
  E(cudaErrorAssert, "device-side assert triggered")                                                                   \
  E(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped")               \
  E(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region")                     \
  E(cudaErrorLaunchFailure, "unspecified launch failure")                                                              \
  E(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch")                                       \
  E(cudaErrorNotPermitted, "operation not permitted")                                                                  \
  E(cudaErrorNotSupported, "operation not supported")                                                                  \
  E(cudaErrorUnknown, "unknown error")

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define TEXT_OF(name, text)                                                                                            \
  case name:                                                                                                           \
    return text;
    ERRORS(TEXT_OF)
  }
  return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define NAME_OF(name, text)                                                                                            \
  case name:                                                                                                           \
    return #name;
    ERRORS(NAME_OF)
  }
  return "unrecognized error code";
}

bool runtime_enter(void) {
  if (runtime.lost) {
    last = runtime.lost;
    return false;
  }
  pthread_mutex_lock(&runtime.lock);
  return true;
}

cudaError_t runtime_leave(cudaError_t error) {
  pthread_mutex_unlock(&runtime.lock);
  if (error && error != cudaErrorNotReady) last = error;
  return error;
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
    runtime_tell(place, "%s", error->text);
    if (error->log && *error->log) fprintf(stderr, "%s\n", error->log);
    runtime.failed = true;
  }
  if (status == MW_FAULT) runtime.lost = result;
  mw_error_clear(error);
  *error = (mw_error){0};
  return result;
}
