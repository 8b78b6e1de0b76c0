/* SPDX-License-Identifier: MIT
 *
 * What processes hold in files that have no name: memory of memfd_create, deleted files on a disk. Only their
 * descriptors show them. */
#ifndef MW_HOST_HELD_H
#define MW_HOST_HELD_H

#include <stdint.h>
#include <sys/types.h>

#include "core/host/process_tree.h"

enum { HELD_MOST = 1 << 17 }; /* descriptors that are looked at */

typedef struct held {
  uint64_t memory, disk; /* bytes */
  uint64_t descriptors;  /* more than HELD_MOST: others may hold more */
} held;

held     held_by(const process_tree *, dev_t disk); /* a file that several have open counts once */
uint64_t held_mapped(const process_tree *); /* of that memory, what is also resident in the processes. Slow */

#endif
