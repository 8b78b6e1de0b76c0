/* SPDX-License-Identifier: MIT
 *
 * The CPU device: what its parts share. */
#ifndef MW_CPU_DEVICE_H
#define MW_CPU_DEVICE_H

#include "core/backend/cpu/memory.h"
#include "core/backend/cpu/pool.h"
#include "core/backend/cpu/worker.h"

typedef struct cpu_stream cpu_stream;

struct cpu_device {
  mw_device base;
  cpu_worker *host; /* serves the script's thread */
  cpu_pool pool;
  cpu_gang gang;
  cpu_memory memory;
  pthread_mutex_t lock;        /* the list of streams */
  cpu_stream *streams;         /* all but the default one; also those destroyed whose work still runs */
  cpu_stream *per_thread;      /* one of them, or NULL: the per-thread default stream, from its first use on */
  _Atomic uint64_t tickets;    /* operations ever queued */
  atomic_int pending;          /* operations queued and not finished, all streams */
  atomic_int pending_blocking; /* of those, in streams that the default stream waits for */
  atomic_bool cancel;          /* Ctrl-C: queued operations are dropped */
};

mw_status cpu_device_open(const char *which, mw_device **out, mw_error *);
void cpu_device_close(mw_device *);
mw_status cpu_device_synchronize(mw_device *, mw_error *);
cpu_worker *cpu_device_host_worker(cpu_device *); /* attached to the calling thread */

/* probe.c */
void cpu_probe(mw_probe *out);
void cpu_probe_info(mw_device_info *out);
void cpu_probe_state(mw_device *, mw_device_state *);
int cpu_probe_workers(void);             /* usable cores, or $MOONWARP_CPU_WORKERS */
size_t cpu_probe_system_memory(void);    /* bytes this process may use: the machine's or the control group's */
size_t cpu_probe_available_memory(void); /* bytes free now */

#endif
