/* SPDX-License-Identifier: MIT
 *
 * Opening and closing. An open device has no threads yet and owns little memory: the pool, stacks and queues are made
 * when they are first needed. */
#include "core/backend/cpu/objects.h"

#include <string.h>

enum { COPIES = 5 }; /* of all arrays, while a launch is compared */
enum { MOST_THREADS = 1024 };

static const double POOL_SPIN = 50e-6; /* seconds that a thread of the pool spins before it sleeps */

/* ---- ids ------------------------------------------------------------------------------------------------------- */

typedef struct wish { /* what an id asks for */
  bool check, compare;
  int threads; /* 0: all that there are */
  int part, parts;
} wish;

/* "0", "N", "I/N", "check", "check:I/N" or "engines". */
static bool read_wish(const char *which, wish *w) {
  int read = 0;
  *w = (wish){.parts = 1, .check = !strncmp(which, "check", 5), .compare = !strcmp(which, "engines")};
  if (w->check) which += 5;
  if (w->compare || !strcmp(which, w->check ? "" : "0")) return true;
  if (w->check && *which++ != ':') return false;
  if (which[strspn(which, "0123456789/")]) return false;
  if (sscanf(which, "%d/%d%n", &w->part, &w->parts, &read) == 2)
    return !which[read] && w->part < w->parts && w->parts <= CPU_MOST_PARTS;
  w->parts = 1;
  return !w->check && sscanf(which, "%d%n", &w->threads, &read) == 1 && !which[read] && w->threads >= 1 &&
         w->threads <= MOST_THREADS;
}

/* The name and what the device has of the machine. */
static void set_info(mw_device_info *info, const wish *w) {
  cpu_probe_info(info);
  const int all = info->multiprocessors, share = all * (w->part + 1) / w->parts - all * w->part / w->parts;
  if (w->threads) snprintf(info->id, sizeof info->id, "cpu:%d", w->threads);
  if (w->check) strcpy(info->id, "cpu:check");
  if (w->compare) strcpy(info->id, "cpu:engines");
  if (w->parts > 1) cpu_peer_id(info->id, sizeof info->id, w->check, w->part, w->parts);
  info->multiprocessors = w->threads ? w->threads : share ? share : 1;
  info->memory_total /= (size_t)w->parts * (w->check ? 1 + CPU_SHADOW_BYTES : w->compare ? COPIES : 1);
  info->compares = w->compare;
  info->checks = info->traces = w->check;
}

/* ---- families ---------------------------------------------------------------------------------------------------- */

static cpu_family *families; /* of several parts */

static cpu_family *find_family(const wish *w) {
  cpu_family *family = families;
  while (family && (family->parts != w->parts || !family->checker == w->check)) family = family->next;
  return w->parts > 1 ? family : NULL;
}

static cpu_family *open_family(const wish *w, mw_error *err) {
  cpu_family *family = find_family(w);
  if (family) return family;
  cpu_checker *checker = w->check ? cpu_checker_open(err) : NULL;
  if (w->check && !checker) return NULL;
  family = mw_calloc(1, sizeof *family);
  family->parts = w->parts;
  family->checker = checker;
  cpu_memory_open(&family->memory, checker ? cpu_checker_shadow(checker) : NULL);
  if (w->parts == 1) return family;
  family->next = families;
  families = family;
  return family;
}

static void join_family(cpu_device *device, cpu_family *family, int part) {
  device->family = family;
  device->part = part;
  device->memory = &family->memory;
  device->checker = family->checker;
  family->open++;
  if (!family->teller) family->teller = device;
  cpu_peer_enter(device);
}

static void leave_family(cpu_device *device) {
  cpu_family *family = device->family, **at = &families;
  if (family->teller == device) family->teller = NULL;
  if (--family->open) return;
  while (*at && *at != family) at = &(*at)->next;
  if (*at) *at = family->next;
  cpu_memory_close(&family->memory);
  cpu_checker_close(family->checker);
  mw_free(family);
}

/* ---- open and close -------------------------------------------------------------------------------------------- */

mw_status cpu_device_open(const char *which, mw_device **out, mw_error *err) {
  wish w;
  if (!read_wish(which, &w))
    return mw_fail(err, MW_NO_DEVICE,
                   "no device \"cpu:%s\": there is one cpu device, \"cpu\"; \"cpu:N\" runs kernels on N threads, at "
                   "most %d; \"cpu:0/2\" and \"cpu:1/2\" are two that share its threads, and at most %d do",
                   which, MOST_THREADS, CPU_MOST_PARTS);
  cpu_family *family = open_family(&w, err);
  if (!family) return err->status;
  cpu_device *device = mw_calloc(1, sizeof *device);
  set_info(&device->base.info, &w);
  join_family(device, family, w.part);
  device->comparer = w.compare ? cpu_comparer_open() : NULL;
  device->host = cpu_worker_make();
  cpu_pool_open(&device->pool, w.check ? 0 : device->base.info.multiprocessors - 1, POOL_SPIN);
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
  cpu_peer_leave(device);
  leave_family(device);
  cpu_comparer_close(device->comparer);
  cpu_worker_detach(device->host);
  cpu_worker_free(device->host);
  cpu_fault_remove();
  mw_free(device);
}

/* ---- check mode ------------------------------------------------------------------------------------------------ */

void cpu_device_check_mode(mw_device *base, const mw_check_mode *mode) {
  cpu_device *device = (cpu_device *)base;
  if (!device->checker) return;
  cpu_streams_drain(device, false, &(mw_error){0}); /* what failed is reported by a stream's next use */
  base->counters = mode->counters;
  cpu_checker_judge(device->checker, mode);
}

const mw_counter_launch *cpu_device_counters(mw_device *base, bool newest) {
  cpu_device *device = (cpu_device *)base;
  if (!device->checker || (!newest && device->family->teller != device)) return NULL;
  cpu_streams_drain(device, false, &(mw_error){0}); /* as above */
  return cpu_checker_counters(device->checker, newest);
}

const mw_finding *cpu_device_findings(mw_device *base) {
  const cpu_comparer *comparer = ((cpu_device *)base)->comparer;
  cpu_checker *checker = ((cpu_device *)base)->checker;
  if (comparer) return cpu_comparer_findings(comparer);
  const bool tells = checker && ((cpu_device *)base)->family->teller == (cpu_device *)base;
  return tells ? cpu_checker_findings(checker) : NULL;
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
