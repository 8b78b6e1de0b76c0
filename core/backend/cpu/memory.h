/* SPDX-License-Identifier: MIT
 *
 * Arrays: each in a mapping of its own, between inaccessible areas, its end at one or a few bytes before it. */
#ifndef MW_CPU_MEMORY_H
#define MW_CPU_MEMORY_H

#include <pthread.h>

#include "core/backend/backend.h"

typedef struct cpu_buffer {
  mw_buffer base;
  char *map; /* the whole mapping, guards included */
  size_t map_bytes;
  size_t slack;            /* bytes behind the array before the guard: hold a canary */
  struct cpu_buffer *next; /* among the freed that wait */
  uint64_t stamp;          /* freed: operations up to this ticket may still use it */
} cpu_buffer;

typedef struct cpu_memory {
  pthread_mutex_t lock;
  bool exact; /* $MOONWARP_CPU_CHECK: arrays end at the guard, to the element */
  cpu_buffer **arrays; /* live ones, by address */
  size_t count, room;
  atomic_size_t used; /* bytes, of live and waiting ones */
  atomic_int slacks;  /* live arrays with slack */
  cpu_buffer *waiting;
  atomic_bool any_waiting;
} cpu_memory;

typedef struct cpu_slack { /* the bytes between an array and its guard */
  const unsigned char *at;
  size_t bytes;
} cpu_slack;

typedef struct cpu_found { /* the array nearest to an address */
  bool found;
  uintptr_t start;
  size_t bytes;
} cpu_found;

void cpu_memory_open(cpu_memory *);
void cpu_memory_close(cpu_memory *);
mw_status cpu_memory_alloc(mw_stream *, size_t, mw_space, mw_buffer **out, mw_error *);
void cpu_memory_free(mw_buffer *);
mw_status cpu_memory_tell(mw_device *, size_t *free, size_t *total, mw_error *);
void cpu_memory_reap(mw_device *); /* unmaps freed arrays that no queued work can use any more */
cpu_found cpu_memory_nearest(cpu_memory *, uintptr_t address);
/* The first byte of the slack that was written to; 0: none was. */
uintptr_t cpu_slack_written(const cpu_slack *);
/* The same for the array that holds address; restores the canary. */
uintptr_t cpu_memory_overrun(cpu_memory *, uintptr_t address, cpu_slack *out);

/* transfer.c */
mw_status cpu_transfer_copy(mw_stream *, mw_place to, mw_place from, size_t, mw_error *);
mw_status cpu_transfer_fill(mw_stream *, mw_place, const void *pattern, size_t width, size_t count, mw_error *);

#endif
