/* SPDX-License-Identifier: MIT
 *
 * Where the pages of memory are: managed memory that is moved ahead of its use or has advice, and plain host memory
 * that is locked in place. */
#include "core/backend/cuda/objects.h"

static cuda_address address_of(mw_place place) {
  return (cuda_address)(uintptr_t)place.buffer->address + place.offset;
}

static cuda_ordinal location(const cuda_device *device, bool host) {
  return host ? CUDA_CPU : device->ordinal;
}

mw_status cuda_prefetch(mw_stream *base, mw_place place, size_t bytes, bool to_host, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  return CUDA_CALL(device, err, cuMemPrefetchAsync, address_of(place), bytes, location(device, to_host),
                   ((cuda_stream *)base)->queue);
}

mw_status cuda_advise(mw_place place, size_t bytes, mw_advice advice, bool set, bool by_host, mw_error *err) {
  cuda_device *device = cuda_device_of(place.buffer->device);
  const unsigned code = CUDA_ADVISE_SET_READ_MOSTLY + 2 * (unsigned)advice + !set;
  return CUDA_CALL(device, err, cuMemAdvise, address_of(place), bytes, code, location(device, by_host));
}

mw_status cuda_pin(mw_buffer *buffer, mw_error *err) {
  cuda_device *device = cuda_device_of(buffer->device);
  mw_status status = CUDA_CALL(device, err, cuMemHostRegister_v2, buffer->address, buffer->bytes,
                               CUDA_HOST_PORTABLE | CUDA_HOST_DEVICEMAP);
  if (status != MW_OK) return status;
  buffer->space = MW_SPACE_PINNED;
  ((cuda_buffer *)buffer)->registered = true;
  return MW_OK;
}
