/* SPDX-License-Identifier: MIT
 *
 * The floors for tests/bench/multi_gpu.lua: cuMemcpyPeerAsync between two devices and ncclAllReduce of both, in C loops
 * of the same process, on arrays of the script's. The contexts are those that moonwarp uses. */
#include "native.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CALL(name, arguments) static int(*name) arguments;
#define CALLS(X)                                                                                                       \
  X(cuCtxGetCurrent, (void **))                                                                                        \
  X(cuCtxSetCurrent, (void *))                                                                                         \
  X(cuDevicePrimaryCtxRetain, (void **, int))                                                                          \
  X(cuStreamCreate, (void **, unsigned))                                                                               \
  X(cuStreamSynchronize, (void *))                                                                                     \
  X(cuMemcpyPeerAsync, (uint64_t, void *, uint64_t, void *, size_t, void *))
#define NCCL_CALLS(X)                                                                                                  \
  X(ncclCommInitAll, (void **, int, const int *))                                                                      \
  X(ncclGroupStart, (void))                                                                                            \
  X(ncclGroupEnd, (void))                                                                                              \
  X(ncclAllReduce, (const void *, void *, size_t, int, int, void *, void *))
CALLS(CALL)
NCCL_CALLS(CALL)

enum { DEVICES = 2, FLOAT = 7, SUM = 0, NON_BLOCKING = 1 };

native_function peers, copies, nccl, all_reduces;

static void *contexts[DEVICES], *streams[DEVICES], *comms[DEVICES];

static const char *outcome(const char *what, int failed) {
  static char text[64];
  snprintf(text, sizeof text, "bare_peers: %s says %d", what, failed);
  return failed ? text : NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int wait_for_all(void) {
  int failed = 0;
  for (int i = 0; i < DEVICES; i++) {
    failed |= cuCtxSetCurrent(contexts[i]);
    failed |= cuStreamSynchronize(streams[i]);
  }
  return failed;
}

static int find(void *library, const char *name, void *to) {
  void *address = dlsym(library, name);
  memcpy(to, &address, sizeof address);
  return !address;
}

/* peers(): before the others; a stream for each of two devices */
const char *peers(const native_value *v, double *result) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *before = NULL;
  int failed = 0;
  (void)v, (void)result;
  if (!library) return "bare_peers: libcuda is not loaded; open a CUDA device first";
#define FIND(name, arguments) failed |= find(library, #name, &name);
  CALLS(FIND)
  if (failed) return "bare_peers: libcuda lacks a function";
  cuCtxGetCurrent(&before);
  for (int i = 0; i < DEVICES; i++) {
    failed |= cuDevicePrimaryCtxRetain(&contexts[i], i);
    failed |= cuCtxSetCurrent(contexts[i]);
    failed |= cuStreamCreate(&streams[i], NON_BLOCKING);
  }
  cuCtxSetCurrent(before);
  return outcome("the driver", failed);
}

/* copies(bytes, count, to, from, to, from) -> seconds of one: from device 0 to 1 in a stream of 0, and if the second
 * pair is not 0, from 1 to 0 in a stream of 1 at the same time */
const char *copies(const native_value *v, double *result) {
  const size_t bytes = (size_t)v[0].integer;
  const int count = (int)v[1].integer;
  void *before = NULL;
  cuCtxGetCurrent(&before);
  int failed = wait_for_all();
  const double start = now();
  for (int i = 0; i < count; i++) {
    failed |=
        cuMemcpyPeerAsync((uint64_t)v[2].integer, contexts[1], (uint64_t)v[3].integer, contexts[0], bytes, streams[0]);
    if (v[4].integer)
      failed |= cuMemcpyPeerAsync((uint64_t)v[4].integer, contexts[0], (uint64_t)v[5].integer, contexts[1], bytes,
                                  streams[1]);
  }
  failed |= wait_for_all();
  *result = (now() - start) / count;
  cuCtxSetCurrent(before);
  return outcome("the driver", failed);
}

/* nccl(path): a communicator of both */
const char *nccl(const native_value *v, double *result) {
  void *library = dlopen(v[0].text, RTLD_NOW);
  const int devices[DEVICES] = {0, 1};
  int failed = 0;
  (void)result;
  if (!library) return "bare_peers: NCCL does not load";
  NCCL_CALLS(FIND)
  if (failed) return "bare_peers: NCCL lacks a function";
  return outcome("ncclCommInitAll", ncclCommInitAll(comms, DEVICES, devices));
}

/* all_reduces(floats, count, out, in, out, in) -> seconds of one, by arrays of device 0, then of device 1 */
const char *all_reduces(const native_value *v, double *result) {
  const size_t floats = (size_t)v[0].integer;
  const int count = (int)v[1].integer;
  void *before = NULL;
  cuCtxGetCurrent(&before);
  int failed = wait_for_all();
  const double start = now();
  for (int i = 0; i < count; i++) {
    failed |= ncclGroupStart();
    for (int d = 0; d < DEVICES; d++)
      failed |= ncclAllReduce(NATIVE_ARRAY(void, v[3 + 2 * d]), NATIVE_ARRAY(void, v[2 + 2 * d]), floats, FLOAT, SUM,
                              comms[d], streams[d]);
    failed |= ncclGroupEnd();
  }
  failed |= wait_for_all();
  *result = (now() - start) / count;
  cuCtxSetCurrent(before);
  return outcome("NCCL", failed);
}
