/* SPDX-License-Identifier: MIT
 *
 * Switching to the stack that blocks run on and back, and looking at the bytes above its frames afterwards. */
#include "core/backend/cpu/away.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Frames that end at a page's end share their place in the page with arrays, which end there too; the processor then
 * takes loads of the one for stores to the other (a reduction ran at a quarter of its speed). So they begin lower, and
 * what is above holds a canary. */
enum { COLOUR = 7, ABOVE = COLOUR * CPU_FIBER_COLOUR, CANARY = 0xC5 };

static unsigned char *above(const cpu_away *away) {
  return (unsigned char *)away->map + CPU_AWAY_GUARD + CPU_AWAY_STACK - ABOVE;
}

static bool overrun(const cpu_away *away) {
  const unsigned char *at = above(away);
  return at[0] != CANARY || memcmp(at, at + 1, ABOVE - 1) != 0;
}

static cpu_away *make(void) {
  const size_t bytes = (size_t)CPU_AWAY_GUARD + CPU_AWAY_STACK + CPU_AWAY_ABOVE;
  char *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return NULL;
  if (mprotect(map + CPU_AWAY_GUARD, CPU_AWAY_STACK, PROT_READ | PROT_WRITE)) {
    munmap(map, bytes);
    return NULL;
  }
  madvise(map + CPU_AWAY_GUARD, CPU_AWAY_STACK, MADV_NOHUGEPAGE); /* else a few KiB of frames would take 2 MiB */
  cpu_away *away = mw_calloc(1, sizeof *away);
  away->map = map;
  away->map_bytes = bytes;
  return away;
}

void cpu_away_free(cpu_away *away) {
  if (!away) return;
  if (away->made) cpu_fiber_drop(&away->fiber);
  munmap(away->map, away->map_bytes);
  mw_free(away);
}

/* A kernel may have overwritten this very frame: after it everything comes from the worker. */
static void away_main(void *argument) {
  (void)argument;
  cpu_fiber_started(&cpu_current->away->fiber);
  for (;;) {
    cpu_away *away = cpu_current->away;
    away->grid->run(away->grid, cpu_current, away->first, away->last);
    away = cpu_current->away;
    cpu_fiber_switch(&away->fiber, &away->home);
  }
}

bool cpu_away_prepare(cpu_worker *worker) {
  if (!worker->away) worker->away = make();
  cpu_away *away = worker->away;
  if (!away) {
    worker->fault = (cpu_fault){.kind = CPU_FAULT_RULE, .block = worker->first};
    snprintf(worker->fault.text, sizeof worker->fault.text, "the system has no memory for its stack");
    return false;
  }
  if (away->made) return true;
  memset(above(away), CANARY, ABOVE);
  cpu_fiber_make(&away->fiber, away->map + CPU_AWAY_GUARD, CPU_AWAY_STACK, COLOUR, away_main, NULL);
  return away->made = true;
}

void cpu_away_run(cpu_worker *worker, cpu_grid *grid, unsigned long long first, unsigned long long last) {
  cpu_away *away = worker->away;
  away->grid = grid;
  away->first = first;
  away->last = last;
  cpu_fiber_home(&away->home);
  away->there = true;
  cpu_fiber_switch(&away->home, &away->fiber);
  away->there = false;
  if (!overrun(away)) return;
  worker->fault =
      (cpu_fault){.kind = CPU_FAULT_SIGNAL, .target = CPU_TARGET_LOCAL, .block = first, .blocks = last - first};
  away->made = false;
}

void cpu_away_left(cpu_away *away) {
  cpu_fiber_escaped(&away->home);
  away->there = away->made = false;
}
