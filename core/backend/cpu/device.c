/* SPDX-License-Identifier: MIT
 *
 * Opening and closing. An open device has no threads yet and owns little memory: the pool, stacks and queues are made
 * when they are first needed. */
#include "core/backend/cpu/device.h"

#include "core/backend/cpu/fault.h"
#include "core/backend/cpu/graph.h"
#include "core/backend/cpu/stream.h"

#include <string.h>

mw_status cpu_device_open(const char *which, mw_device **out, mw_error *err) {
  if (strcmp(which, "0"))
    return mw_fail(err, MW_NO_DEVICE, "no device \"cpu:%s\": there is one cpu device, \"cpu\"", which);
  cpu_device *device = mw_calloc(1, sizeof *device);
  cpu_probe_info(&device->base.info);
  pthread_mutex_init(&device->lock, NULL);
  cpu_memory_open(&device->memory);
  device->host = cpu_worker_make(device);
  cpu_pool_open(&device->pool, device, device->base.info.multiprocessors - 1);
  cpu_gang_open(&device->gang, device);
  device->base.main = &cpu_stream_main(device)->base;
  cpu_fault_install();
  *out = &device->base;
  return MW_OK;
}

void cpu_device_close(mw_device *base) {
  cpu_device *device = (cpu_device *)base;
  if (atomic_load(&mw_interrupted)) cpu_streams_cancel(device, NULL);
  cpu_stream_reap(device, true);
  cpu_gang_close(&device->gang);
  cpu_pool_close(&device->pool);
  cpu_stream_free((cpu_stream *)base->main);
  cpu_memory_reap(base);
  cpu_memory_close(&device->memory);
  cpu_worker_detach(device->host);
  cpu_worker_free(device->host);
  cpu_fault_remove();
  pthread_mutex_destroy(&device->lock);
  mw_free(device);
}

/* A script may move to another thread (a coroutine library, a test): its worker moves along. */
cpu_worker *cpu_device_host_worker(cpu_device *device) {
  cpu_worker *worker = device->host;
  if (worker->attached && pthread_equal(worker->thread, pthread_self())) return worker;
  cpu_worker_detach(worker);
  cpu_worker_attach(worker, true);
  return worker;
}

mw_status cpu_device_synchronize(mw_device *base, mw_error *err) {
  cpu_device *device = (cpu_device *)base;
  mw_status status = cpu_streams_drain(device, false, err);
  if (status != MW_OK) return status;
  cpu_memory_reap(base);
  pthread_mutex_lock(&device->lock);
  for (cpu_stream *stream = device->streams; stream && status == MW_OK; stream = stream->next)
    status = cpu_stream_take_error(stream, err);
  pthread_mutex_unlock(&device->lock);
  return status;
}
