/* SPDX-License-Identifier: MIT
 *
 * Fibers: stacks of their own and the switch between them. Knows nothing of blocks or kernels; block.c schedules.
 * A fiber stays on the OS thread that made it. */
#ifndef MW_CPU_FIBER_H
#define MW_CPU_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cpu_fiber {
  void *stopped; /* its stack pointer while another fiber runs (where there is no assembly: its ucontext) */
  char *low;     /* its stack: usable from low to low + bytes */
  size_t bytes;
  void *fake_stack; /* AddressSanitizer's, while another fiber runs */
  void *sanitizer;  /* ThreadSanitizer's name for it */
} cpu_fiber;

/* A slab is the stacks of 32 fibers (one warp) in one mapping, each between inaccessible pages. */
enum { CPU_SLAB = 32, CPU_FIBER_COLOUR = 192 /* bytes by which one colour shifts */ };
typedef struct cpu_slab {
  char *base;
  size_t stack; /* bytes a stack; the slot is one page more */
} cpu_slab;

size_t cpu_stack_bytes(void);  /* a fiber's stack: $MOONWARP_CPU_STACK bytes, else 64 KiB */
int cpu_slab_make(cpu_slab *); /* 0, or -1 where the system gives no memory */
void cpu_slab_free(cpu_slab *);
/* The stack of fiber `rank` (0 ... 31 in its slab). */
void cpu_slab_stack(const cpu_slab *, unsigned rank, char **low, size_t *bytes);

/* Makes a fiber that starts in entry(argument) at the first switch to it; entry never returns. colour shifts the top
 * of the stack so that the same frames of different fibers do not share cache sets. */
void cpu_fiber_make(cpu_fiber *, char *low, size_t bytes, unsigned colour, void (*entry)(void *), void *argument);
void cpu_fiber_drop(cpu_fiber *); /* what the sanitizers and ucontext hold; the stack stays */
void cpu_fiber_home(cpu_fiber *); /* makes one of the calling OS thread's own stack */
void cpu_fiber_switch(cpu_fiber *from, cpu_fiber *to);
void cpu_fiber_started(cpu_fiber *);     /* entry's first act: tells AddressSanitizer that the switch is done */
/* The calling thread is on its way from one to another, and AddressSanitizer would not stand to see it leave. */
bool cpu_fiber_between(void);
void cpu_fiber_escape(cpu_fiber *home);  /* before a longjmp from some fiber to the home stack ... */
void cpu_fiber_escaped(cpu_fiber *home); /* ... and after it */

#endif
