/* SPDX-License-Identifier: MIT
 *
 * The limits of a compilation, which the user may change: $MOONWARP_COMPILE_SECONDS of processor time (default 300) and
 * $MOONWARP_COMPILE_MEMORY bytes (default 4 GiB); 0 means none. */
#ifndef MW_COMPILE_LIMITS_H
#define MW_COMPILE_LIMITS_H

#include "core/compile/process.h"

enum { MW_SOURCE_MOST = 64 << 20 }; /* bytes of a source, before and after preprocessing */

/* A compiler that waits, as for a file that gives nothing, takes no processor time: it has 20 times as long. */
void mw_compile_limit(mw_process *); /* sets every limit of it, and the hint */
double mw_compile_seconds(void);
/* "; MOONWARP_COMPILE_MEMORY sets the limit..." if the log says that a limit was reached, or the compiler crashed; else
 * "". */
const char *mw_compile_hint(const char *log);

#endif
