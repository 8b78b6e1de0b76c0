/* SPDX-License-Identifier: MIT
 *
 * The processes below one: who they are, how much memory they hold, and their end. */
#ifndef MW_HOST_FAMILY_H
#define MW_HOST_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FAMILY_MOST = 4096 };

typedef struct family {
  pid_t  members[FAMILY_MOST];
  size_t count;
} family;

/* Of the whole machine, threads too. */
typedef struct family_census {
  uint64_t alive;
  uint64_t births; /* changes when one begins */
} family_census;

void     family_find(family *, pid_t above, size_t most); /* `most` of those below, at most FAMILY_MOST; reads /proc */
uint64_t family_memory(const family *); /* resident bytes; what forks share counts once where it is much */
void     family_kill(const family *, int signal_number);
family_census family_count(void); /* cheap: one small file of /proc */

#endif
