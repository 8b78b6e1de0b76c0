/* SPDX-License-Identifier: MIT
 *
 * What a folder holds, with all below it, counted a little at a time: a lab's folder may be large, and its file system
 * slow. */
#ifndef MW_HOST_DISK_USE_H
#define MW_HOST_DISK_USE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

enum { DISK_USE_DEPTH = 100 };

typedef struct disk_use {
  uint64_t bytes, files; /* on the disk; folders count as files */
  bool     unseen;       /* some may hold anything: what cannot be read, folders in each other, over DISK_USE_DEPTH */
  DIR     *open[DISK_USE_DEPTH];
  int      depth;
  void    *linked; /* numbers of files with several names that were met: a tree of tsearch(3) */
} disk_use;

bool disk_use_begin(disk_use *, const char *folder); /* false if nothing of it can be read */
bool disk_use_go_on(disk_use *, int most);           /* looks at so many more; false once all are counted */
void disk_use_end(disk_use *);

#endif
