/* SPDX-License-Identifier: MIT
 *
 * Where the pages of memory are: the fake driver has no pages, it tells what it was asked for. */
#include "tests/mock/mock.h"

cuda_result cuMemPrefetchAsync(cuda_address at, size_t bytes, cuda_ordinal to, cuda_queue stream) {
  ENTER(cuMemPrefetchAsync);
  if (stream && stream->graph) return STREAM_CAPTURE_UNSUPPORTED;
  return mock_tell("prefetch %zu bytes to %d in a %s\n", bytes, to, stream ? "stream" : "default stream");
}

cuda_result cuMemAdvise(cuda_address at, size_t bytes, unsigned advice, cuda_ordinal where) {
  ENTER(cuMemAdvise);
  return mock_tell("advice %u of %zu bytes by %d\n", advice, bytes, where);
}

cuda_result cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
  ENTER(cuMemHostRegister_v2);
  if (flags != (CUDA_HOST_PORTABLE | CUDA_HOST_DEVICEMAP)) return INVALID_VALUE;
  mock_live[REGISTERED]++;
  return mock_tell("register %zu bytes\n", bytes);
}

cuda_result cuMemHostUnregister(void *address) {
  ENTER(cuMemHostUnregister);
  mock_live[REGISTERED]--;
  return mock_tell("unregister\n");
}
