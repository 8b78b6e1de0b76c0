/* SPDX-License-Identifier: MIT
 *
 * The stacks that kernels run on: slabs for the fibers of a warp, and one for each worker's loop and split blocks. The
 * bytes above the frames of the latter are looked at after each run. */
#include "core/backend/cpu/run/machine.h"

#include "core/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13: guard pages without a mapping of their own */
#endif

enum { DEFAULT_STACK = 64 << 10, LEAST_STACK = 16 << 10, MOST_STACK = 64 << 20 };
enum { AWAY_STACK = 8 << 20, AWAY_BELOW = 1 << 20, AWAY_ABOVE = 16 << 20 };

/* Frames that end at a page's end share their place in the page with arrays, which end there too; the processor then
 * takes loads of the one for stores to the other (a reduction ran at a quarter of its speed). So they begin lower, and
 * what is above holds a canary. */
enum { COLOUR = 7, ABOVE = COLOUR * CPU_FIBER_COLOUR };

/* ---- the fibers' stacks ---------------------------------------------------------------------------------------- */

size_t cpu_stack_bytes(void) {
  const char *wish = getenv("MOONWARP_CPU_STACK");
  long long bytes = wish ? atoll(wish) : DEFAULT_STACK;
  if (bytes < LEAST_STACK) bytes = wish ? LEAST_STACK : DEFAULT_STACK;
  if (bytes > MOST_STACK) bytes = MOST_STACK;
  size_t page = cpu_page_bytes();
  return ((size_t)bytes + page - 1) / page * page;
}

static size_t slab_bytes(const cpu_slab *slab) {
  return CPU_SLAB * (slab->stack + cpu_page_bytes()) + cpu_page_bytes();
}

int cpu_slab_make(cpu_slab *slab) {
  slab->stack = cpu_stack_bytes();
  const size_t page = cpu_page_bytes(), slot = slab->stack + page, bytes = slab_bytes(slab);
  char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return -1;
  madvise(base, bytes, MADV_NOHUGEPAGE); /* else 64 KiB of stack would take 2 MiB of memory */
  for (unsigned i = 0; i <= CPU_SLAB; i++) {
    if (madvise(base + i * slot, page, MADV_GUARD_INSTALL) && mprotect(base + i * slot, page, PROT_NONE)) {
      munmap(base, bytes);
      return -1;
    }
  }
  slab->base = base;
  return 0;
}

void cpu_slab_free(cpu_slab *slab) {
  if (slab->base) munmap(slab->base, slab_bytes(slab));
  slab->base = NULL;
}

cpu_stack cpu_slab_stack(const cpu_slab *slab, unsigned rank) {
  const size_t page = cpu_page_bytes();
  return (cpu_stack){slab->base + rank * (slab->stack + page) + page, slab->stack, page, page};
}

/* ---- the other engines' stack ---------------------------------------------------------------------------------- */

static unsigned char *above(const cpu_kernel_stack *kernel_stack) {
  return (unsigned char *)kernel_stack->map + AWAY_BELOW + AWAY_STACK - ABOVE;
}

static bool overrun(const cpu_kernel_stack *kernel_stack) {
  const unsigned char *at = above(kernel_stack);
  return at[0] != CPU_CANARY || memcmp(at, at + 1, ABOVE - 1) != 0;
}

static bool map_kernel_stack(cpu_kernel_stack *kernel_stack) {
  const size_t bytes = (size_t)AWAY_BELOW + AWAY_STACK + AWAY_ABOVE;
  char *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return false;
  if (mprotect(map + AWAY_BELOW, AWAY_STACK, PROT_READ | PROT_WRITE)) {
    munmap(map, bytes);
    return false;
  }
  madvise(map + AWAY_BELOW, AWAY_STACK, MADV_NOHUGEPAGE); /* else a few KiB of frames would take 2 MiB */
  kernel_stack->map = map;
  return true;
}

void cpu_stack_free(cpu_kernel_stack *kernel_stack) {
  if (!kernel_stack->map) return;
  cpu_fiber_drop(&kernel_stack->fiber);
  munmap(kernel_stack->map, (size_t)AWAY_BELOW + AWAY_STACK + AWAY_ABOVE);
}

/* A kernel may have overwritten this very frame: after it everything comes from the worker. */
static void kernel_stack_main(void *argument) {
  (void)argument;
  cpu_fiber_started(&cpu_current->kernel_stack.fiber);
  for (;;) {
    cpu_grid *grid = atomic_load_explicit(&cpu_current->grid, memory_order_relaxed);
    grid->run(grid, cpu_current, cpu_current->first, cpu_current->last);
    cpu_fiber_switch(&cpu_current->kernel_stack.fiber, &cpu_current->home);
  }
}

bool cpu_stack_prepare(cpu_worker *worker) {
  cpu_kernel_stack *kernel_stack = &worker->kernel_stack;
  if (kernel_stack->made) return true;
  if (!kernel_stack->map && !map_kernel_stack(kernel_stack)) {
    worker->fault = (cpu_fault){.kind = CPU_FAULT_RULE, .block = worker->first};
    snprintf(worker->fault.text, sizeof worker->fault.text, "the system has no memory for its stack");
    return false;
  }
  memset(above(kernel_stack), CPU_CANARY, ABOVE);
  const cpu_stack stack = {kernel_stack->map + AWAY_BELOW, AWAY_STACK, AWAY_BELOW, AWAY_ABOVE};
  cpu_fiber_make(&kernel_stack->fiber, stack, COLOUR, kernel_stack_main, NULL);
  return kernel_stack->made = true;
}

void cpu_stack_run(cpu_worker *worker) {
  cpu_kernel_stack *kernel_stack = &worker->kernel_stack;
  kernel_stack->made = false; /* until it has come back whole */
  kernel_stack->there = true;
  cpu_fiber_switch(&worker->home, &kernel_stack->fiber);
  kernel_stack->there = false;
  kernel_stack->made = !overrun(kernel_stack);
  if (kernel_stack->made) return;
  worker->fault = (cpu_fault){.kind = CPU_FAULT_SIGNAL,
                              .target = CPU_TARGET_LOCAL,
                              .block = worker->first,
                              .blocks = worker->last - worker->first};
}
