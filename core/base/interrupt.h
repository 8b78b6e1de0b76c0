/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C, as every layer sees it. The host's SIGINT handler calls mw_interrupt(); loops that may run long ask
 * mw_interrupted; a backend whose kernels run on the calling thread registers a hook that ends them. The host clears
 * mw_interrupted once the interruption has become an error of the script. */
#ifndef MW_INTERRUPT_H
#define MW_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

extern atomic_bool mw_interrupted; /* asked by loops that may run long */

typedef void (*mw_interrupt_hook)(void); /* async-signal-safe, returns */

void mw_interrupt(void);                       /* sets mw_interrupted, then calls the hook; async-signal-safe */
void mw_interrupt_set_hook(mw_interrupt_hook); /* NULL: none */

/* The seconds after which a script that waits for a kernel says so: $MOONWARP_PATIENCE, else 10; 0: never. */
double mw_patience(void);
/* Names the kernel on standard error, if that is a terminal, the same one once. For signal handlers too: the C library's
 * dprintf formats texts on the stack. */
void mw_say_waiting(const char *kernel, const char *what);

#endif
