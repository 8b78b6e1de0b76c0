/* SPDX-License-Identifier: MIT
 *
 * Other GPUs: which there are, and the access to their memory, which is opened when it is first needed. */
#include <stdio.h>

#include "core/backend/cuda/objects.h"

static bool link_has(unsigned attribute, cuda_ordinal from, cuda_ordinal to) {
  int value = 0;
  return cuda_driver.cuDeviceGetP2PAttribute(&value, attribute, from, to) == CUDA_OK && value;
}

bool cuda_peer(mw_device *base, int index, mw_peer *out) {
  const cuda_device *device = cuda_device_of(base);
  cuda_ordinal peer;
  const int ordinal = index + (index >= device->ordinal);
  int can = 0;
  if (ordinal >= cuda_driver.devices || cuda_driver.cuDeviceGet(&peer, ordinal) != CUDA_OK) return false;
  cuda_driver.cuDeviceCanAccessPeer(&can, device->ordinal, peer);
  *out = (mw_peer){.access = can, .atomics = can && link_has(CUDA_P2P_NATIVE_ATOMICS, device->ordinal, peer)};
  snprintf(out->id, sizeof out->id, "cuda:%d", ordinal);
  return true;
}

/* Access to a context's memory does not reach its pool's. */
static bool open_access(cuda_device *device, const cuda_device *peer) {
  const cuda_access access = {{CUDA_LOCATION_DEVICE, device->ordinal}, CUDA_ACCESS_READ_WRITE};
  int can = 0;
  cuda_driver.cuDeviceCanAccessPeer(&can, device->ordinal, peer->ordinal);
  if (!can || cuda_enter(device, NULL) != MW_OK) return false;
  const cuda_result code = cuda_driver.cuCtxEnablePeerAccess(peer->context, 0);
  if (code != CUDA_OK && code != CUDA_PEER_ALREADY_ENABLED) return false;
  return !peer->pool || cuda_driver.cuMemPoolSetAccess(peer->pool, &access, 1) == CUDA_OK;
}

bool cuda_reaches(mw_device *base, mw_device *other) {
  cuda_device *device = cuda_device_of(base);
  const cuda_device *peer = cuda_device_of(other);
  const uint64_t bit = UINT64_C(1) << (peer->ordinal & 63);
  if (device->asked & bit) return device->peers & bit;
  device->asked |= bit;
  if (open_access(device, peer)) device->peers |= bit;
  return device->peers & bit;
}

void cuda_reach(cuda_device *device, cuda_device *other) {
  const bool there = cuda_reaches(&device->base, &other->base), back = cuda_reaches(&other->base, &device->base);
  cuda_device *first = device->ordinal < other->ordinal ? device : other;
  const cuda_device *second = first == device ? other : device;
  const uint64_t bit = UINT64_C(1) << (second->ordinal & 63);
  if (there || back || first->told & bit) return;
  first->told |= bit;
  fprintf(stderr,
          "moonwarp: warning: cuda:%d and cuda:%d do not reach each other's memory: copies between them go through the "
          "host's\n",
          first->ordinal, second->ordinal);
}

void cuda_forget_peer(const cuda_device *gone) {
  for (cuda_device *d = cuda_open_devices; d; d = d->next) {
    d->asked &= ~(UINT64_C(1) << (gone->ordinal & 63));
    d->peers &= d->asked;
  }
}
