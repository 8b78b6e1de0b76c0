/* SPDX-License-Identifier: MIT
 *
 * Where the pages of memory are: the fake driver has no pages, it tells what it was asked for. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/mock/mock.h"

static cuda_result __attribute__((format(printf, 1, 2))) tell(const char *format, ...) {
  const char *wanted = getenv("MOCK_CUDA_PAGES");
  va_list arguments;
  va_start(arguments, format);
  if (wanted && *wanted == '1') vfprintf(stdout, format, arguments);
  va_end(arguments);
  return CUDA_OK;
}

cuda_result cuMemPrefetchAsync(cuda_address at, size_t bytes, cuda_ordinal to, cuda_queue stream) {
  ENTER(cuMemPrefetchAsync);
  if (stream && stream->graph) return STREAM_CAPTURE_UNSUPPORTED;
  return tell("prefetch %zu bytes to %d in a %s\n", bytes, to, stream ? "stream" : "default stream");
}

cuda_result cuMemAdvise(cuda_address at, size_t bytes, unsigned advice, cuda_ordinal where) {
  ENTER(cuMemAdvise);
  return tell("advice %u of %zu bytes by %d\n", advice, bytes, where);
}

cuda_result cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
  ENTER(cuMemHostRegister_v2);
  if (flags != (CUDA_HOST_PORTABLE | CUDA_HOST_DEVICEMAP)) return INVALID_VALUE;
  mock_live[REGISTERED]++;
  return tell("register %zu bytes\n", bytes);
}

cuda_result cuMemHostUnregister(void *address) {
  ENTER(cuMemHostUnregister);
  mock_live[REGISTERED]--;
  return tell("unregister\n");
}
