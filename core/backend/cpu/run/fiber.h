/* SPDX-License-Identifier: MIT
 *
 * Fibers: a stack of their own and the switch between them. Knows no block and no kernel. A fiber stays on the OS
 * thread that made it. */
#ifndef MW_CPU_FIBER_H
#define MW_CPU_FIBER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cpu_stack {
  char *low; /* usable from low to low + bytes */
  size_t bytes;
  size_t guard_below, guard_above; /* inaccessible bytes next to it */
} cpu_stack;

typedef struct cpu_fiber {
  void *stopped; /* its stack pointer while another fiber runs */
  cpu_stack stack;
  void *fake_stack; /* AddressSanitizer's, while another fiber runs */
  void *sanitizer;  /* ThreadSanitizer's name for it */
} cpu_fiber;

enum { CPU_FIBER_COLOUR = 192 /* bytes by which one colour shifts */ };

/* Makes a fiber that starts in entry(argument) at the first switch to it; entry never returns. colour shifts the top
 * of the stack so that the same frames of different fibers do not share cache sets. */
void cpu_fiber_make(cpu_fiber *, cpu_stack, unsigned colour, void (*entry)(void *), void *argument);
void cpu_fiber_drop(cpu_fiber *); /* what the sanitizers hold; the stack stays */
void cpu_fiber_home(cpu_fiber *); /* makes one of the calling OS thread's own stack */
void cpu_fiber_switch(cpu_fiber *from, cpu_fiber *to);
void cpu_fiber_started(cpu_fiber *);     /* entry's first act: reports to AddressSanitizer that the switch is done */
bool cpu_fiber_between(void);            /* in the middle of a switch, which AddressSanitizer must see end */
void cpu_fiber_escape(cpu_fiber *home);  /* before a longjmp from some fiber to the home stack ... */
void cpu_fiber_escaped(cpu_fiber *home); /* ... and after it */

#endif
