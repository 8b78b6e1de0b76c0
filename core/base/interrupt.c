/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C: one flag and one hook; and who may want it. */
#include "core/base/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

atomic_bool mw_interrupted;

static _Atomic(mw_interrupt_hook) hook;

void mw_interrupt_set_hook(mw_interrupt_hook function) {
  atomic_store(&hook, function);
}

void mw_interrupt(void) {
  atomic_store(&mw_interrupted, true);
  mw_interrupt_hook function = atomic_load(&hook);
  if (function) function();
}

double mw_patience(void) {
  const char *given = getenv("MOONWARP_PATIENCE");
  return given && *given ? atof(given) : 10;
}

void mw_say_waiting(const char *kernel, const char *what) {
  static _Atomic(const char *) said;
  if (isatty(STDERR_FILENO) && atomic_exchange(&said, kernel) != kernel)
    dprintf(STDERR_FILENO, "moonwarp: kernel '%s' %s\n", kernel, what);
}
