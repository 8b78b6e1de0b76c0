/* SPDX-License-Identifier: MIT
 *
 * Starts another program with limits, in a process group that ends with this process. */
#ifndef MW_COMPILE_SPAWN_H
#define MW_COMPILE_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

/* Of each process of the program; 0: no limit of ours. */
typedef struct mw_process_limits {
  uint64_t seconds; /* of processor time */
  uint64_t memory;  /* bytes of address space */
  uint64_t file;    /* bytes of any file that it writes */
} mw_process_limits;

typedef struct mw_spawn_order {
  const char *path;
  const char *const *argv, *const *env; /* both end in NULL */
  int in, out, err;                     /* its first three files */
  mw_process_limits limits;
} mw_spawn_order;

/* pid: also the number of its group. life: a file to close once the program has ended; while it is open, the end of this
 * process, even by SIGKILL, kills the group. Returns 0 or an errno. */
int mw_spawn(const mw_spawn_order *, pid_t *pid, int *life);

#endif
