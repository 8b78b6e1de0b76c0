/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C: one flag and one hook. */
#include "core/base/interrupt.h"

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
