/* SPDX-License-Identifier: MIT
 *
 * Private folders for what a compiler writes. Those that killed processes left behind are removed. */
#ifndef MW_COMPILE_SCRATCH_H
#define MW_COMPILE_SCRATCH_H

#include <stdbool.h>

/* All that a folder may hold: one file, and a folder of files. */
#define MW_SCRATCH_FILE      "unit.so"
#define MW_SCRATCH_TEMPORARY "temporary"

typedef struct mw_scratch {
  char path[512];
  char temporary[544]; /* the compiler's TMPDIR */
  int  fd; /* holds the lock that says that the folder is in use */
} mw_scratch;

bool mw_scratch_make(mw_scratch *); /* below $TMPDIR, else /tmp; false: errno, and path says where */
void mw_scratch_drop(mw_scratch *);

#endif
