/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C: one flag and one hook; and who may want it. */
#include "core/base/interrupt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
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
  static const double seconds = 10;
  const char *given = getenv("MOONWARP_PATIENCE");
  return given && *given ? atof(given) : seconds;
}

void mw_say_waiting(const char *kernel, const char *what) {
  static _Atomic(const char *) said;
  if (!isatty(STDERR_FILENO) || atomic_exchange(&said, kernel) == kernel) return;
  const char *const texts[] = {"moonwarp: kernel '", kernel, "' ", what, "\n"};
  enum { TEXTS = sizeof texts / sizeof *texts };
  struct iovec parts[TEXTS];
  for (int i = 0; i < TEXTS; i++) parts[i] = (struct iovec){(void *)texts[i], strlen(texts[i])};
  if (writev(STDERR_FILENO, parts, TEXTS) < 0) return; /* who does not read is not told */
}
