/* SPDX-License-Identifier: MIT
 *
 * Counted devices, modules and buffers. A child counts its device, a kernel its module, a view its buffer, so nothing
 * dangles whatever order a script or the collector closes things in. The last release closes, unloads or frees. */
#ifndef MW_REFS_H
#define MW_REFS_H

#include "core/backend/backend.h"

static inline mw_status mw_device_open(const mw_backend *backend, const char *which, mw_device **out, mw_error *err) {
  mw_status status = backend->open(which, out, err);
  if (status != MW_OK) return status;
  (*out)->backend = backend;
  atomic_init(&(*out)->refs, 1);
  return MW_OK;
}

static inline void mw_device_retain(mw_device *device) {
  atomic_fetch_add(&device->refs, 1);
}

static inline void mw_device_release(mw_device *device) {
  if (atomic_fetch_sub(&device->refs, 1) != 1) return;
  if (device->attached) device->backend->synchronize(device, NULL);
  for (mw_attached *next, *a = device->attached; a; a = next) {
    next = a->next;
    a->close(a, device);
  }
  device->backend->close(device);
}

static inline void mw_module_retain(mw_module *module) {
  atomic_fetch_add(&module->refs, 1);
}

static inline void mw_module_release(mw_module *module) {
  if (atomic_fetch_sub(&module->refs, 1) != 1) return;
  mw_device *device = module->device;
  device->backend->unload(module);
  mw_device_release(device);
}

static inline void mw_buffer_retain(mw_buffer *buffer) {
  atomic_fetch_add(&buffer->refs, 1);
}

static inline void mw_buffer_release(mw_buffer *buffer) {
  if (atomic_fetch_sub(&buffer->refs, 1) != 1) return;
  mw_device *device = buffer->device;
  mw_module *owner = buffer->owner;
  mw_buffer *texels = buffer->texels;
  mw_free(buffer->accesses);
  device->backend->free(buffer);
  if (owner) mw_module_release(owner);
  if (texels) mw_buffer_release(texels);
  mw_device_release(device);
}

/* Runs for every array of every launch: one comparison, no lock. Only the script's thread calls it. */
static inline void mw_buffer_use(mw_buffer *buffer, mw_stream *stream) {
  if (buffer->stream != stream) {
    buffer->multi_stream = true;
    if (buffer->device != stream->device) buffer->abroad = true;
  }
  if (buffer->texels) mw_buffer_use(buffer->texels, stream);
}

#endif
