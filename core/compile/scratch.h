/* SPDX-License-Identifier: MIT
 *
 * Private folders for what a compiler writes. Those that killed processes left behind are removed. */
#ifndef MW_COMPILE_SCRATCH_H
#define MW_COMPILE_SCRATCH_H

#include <stdbool.h>

#define MW_SCRATCH_FILE "unit.so" /* the one file a folder may hold */

typedef struct mw_scratch {
  char path[512];
  int fd; /* holds the lock that says that the folder is in use */
} mw_scratch;

bool mw_scratch_make(mw_scratch *); /* below $TMPDIR, else /tmp; false: errno, and path says where */
void mw_scratch_drop(mw_scratch *);

#endif
