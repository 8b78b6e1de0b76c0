/* SPDX-License-Identifier: MIT
 *
 * The one clock that spans of time are measured with. */
#ifndef MW_CLOCK_H
#define MW_CLOCK_H

#include <time.h>

/* Monotonic seconds since some moment before the start; async-signal-safe. */
static inline double mw_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
