/* SPDX-License-Identifier: MIT
 *
 * Opening and closing. An open device has no threads yet and owns little memory: the pool, stacks and queues are made
 * when they are first needed. */
#include "core/backend/cpu/objects.h"

#include <stdlib.h>
#include <string.h>

enum { COPIES = 5 }; /* of all arrays, while a launch is compared */
enum { MOST_THREADS = 1024 };

static const double POOL_SPIN = 50e-6; /* seconds that a thread of the pool spins before it sleeps */

mw_status cpu_device_open(const char *which, mw_device **out, mw_error *err) {
  const bool check = !strcmp(which, "check"), compare = !strcmp(which, "engines");
  const int threads = which[strspn(which, "0123456789")] ? 0 : atoi(which);
  if (strcmp(which, "0") && !check && !compare && (threads < 1 || threads > MOST_THREADS))
    return mw_fail(
        err, MW_NO_DEVICE,
        "no device \"cpu:%s\": there is one cpu device, \"cpu\"; \"cpu:N\" runs kernels on N threads, at most %d",
        which, MOST_THREADS);
  cpu_checker *checker = check ? cpu_checker_open(err) : NULL;
  if (check && !checker) return err->status;
  cpu_device *device = mw_calloc(1, sizeof *device);
  cpu_probe_info(&device->base.info);
  if (threads) {
    device->base.info.multiprocessors = threads;
    snprintf(device->base.info.id, sizeof device->base.info.id, "cpu:%d", threads);
  }
  if (check) {
    strcpy(device->base.info.id, "cpu:check");
    device->base.info.memory_total /= 1 + CPU_SHADOW_BYTES;
  }
  if (compare) {
    strcpy(device->base.info.id, "cpu:engines");
    device->base.info.memory_total /= COPIES;
    device->comparer = cpu_comparer_open();
  }
  device->base.info.compares = compare;
  device->base.info.checks = device->base.info.traces = check;
  device->checker = checker;
  cpu_memory_open(&device->memory, check ? cpu_checker_shadow(checker) : NULL);
  device->host = cpu_worker_make();
  cpu_pool_open(&device->pool, check ? 0 : device->base.info.multiprocessors - 1, POOL_SPIN);
  cpu_coop_open(&device->coop);
  device->base.main = &cpu_stream_main(device)->base;
  cpu_fault_install();
  *out = &device->base;
  return MW_OK;
}

void cpu_device_close(mw_device *base) {
  cpu_device *device = (cpu_device *)base;
  if (atomic_load(&mw_interrupted)) cpu_streams_cancel(device, NULL);
  cpu_streams_close(device);
  cpu_coop_close(&device->coop);
  cpu_crew_free(&device->crew);
  cpu_pool_close(&device->pool);
  cpu_stream_free((cpu_stream *)base->main);
  cpu_streams_reap(device);
  cpu_memory_close(&device->memory);
  cpu_checker_close(device->checker);
  cpu_comparer_close(device->comparer);
  cpu_worker_detach(device->host);
  cpu_worker_free(device->host);
  cpu_fault_remove();
  mw_free(device);
}

void cpu_device_check_mode(mw_device *base, const mw_check_mode *mode) {
  cpu_device *device = (cpu_device *)base;
  if (!device->checker) return;
  cpu_streams_drain(device, false, &(mw_error){0}); /* what failed is reported by a stream's next use */
  base->counts = mode->counts;
  cpu_checker_judge(device->checker, mode);
}

const mw_counter_launch *cpu_device_counters(mw_device *base, bool newest) {
  cpu_device *device = (cpu_device *)base;
  if (!device->checker) return NULL;
  cpu_streams_drain(device, false, &(mw_error){0}); /* as above */
  return cpu_checker_counters(device->checker, newest);
}

const mw_finding *cpu_device_findings(mw_device *base) {
  const cpu_comparer *comparer = ((cpu_device *)base)->comparer;
  cpu_checker *checker = ((cpu_device *)base)->checker;
  if (comparer) return cpu_comparer_findings(comparer);
  return checker ? cpu_checker_findings(checker) : NULL;
}

int cpu_device_touched(const mw_buffer *buffer, int most, mw_touch *out) {
  cpu_checker *checker = ((cpu_device *)buffer->device)->checker;
  return checker ? cpu_checker_touched(checker, (uintptr_t)buffer->address, buffer->bytes, most, out) : 0;
}

mw_status cpu_device_synchronize(mw_device *base, mw_error *err) {
  cpu_device *device = (cpu_device *)base;
  mw_status status = cpu_streams_drain(device, false, err);
  if (status != MW_OK) return status;
  cpu_streams_reap(device);
  for (cpu_stream *stream = device->streams; stream && status == MW_OK; stream = stream->next)
    status = cpu_stream_take_error(stream, err);
  return status;
}
